"""The toolbox for custom commands: kinds of commands, and a :class:`CommandType` for the messages that carry them.

``examples/own_command.py`` and docs/extending.md show how they fit together. ``__all__`` is public.
"""

from vds_gz.core.ros.graph import QoS, Topic
from vds_gz.core.vehicle.command import (
    ACKERMANN,
    FOUR_WHEEL,
    GEAR,
    KEEP_GEAR,
    KINDS,
    SPEED,
    STEERING,
    STOP,
    TWIST,
    Command,
    CommandKind,
    SteadyMotion,
    ackermann,
    fault,
    four_wheel_steering,
    reference_of,
    twist,
)
from vds_gz.programs.interface.commands import CommandType, Values, command_type, command_types

__all__ = [
    # A type of command: a topic, the fields of its messages, and the command that they mean
    "CommandType",
    "Values",
    "Topic",
    "QoS",
    "command_types",
    "command_type",
    # What a message means: a command of a kind
    "Command",
    "twist",
    "ackermann",
    "four_wheel_steering",
    # The kinds, and a further one
    "CommandKind",
    "TWIST",
    "ACKERMANN",
    "FOUR_WHEEL",
    "SPEED",
    "STEERING",
    "GEAR",
    "KEEP_GEAR",
    "STOP",
    # What follows from a command: why it is refused, and the motion that it requests
    "fault",
    "reference_of",
    "SteadyMotion",
]

__doc__ = f"{__doc__}\nThe kinds, and their numbers of :class:`vds_gz.Command`:\n\n" + "".join(
    f"* {kind.name} ({int(kind)}): {', '.join(kind.fields) or 'none'}{', gear, slope' if kind.geared else ''}"
    f"{'; after its time-out a stop' if kind.stops else ''}\n"
    for kind in sorted(KINDS.values())
)
