"""What a vehicle's node reports of itself on ``/diagnostics``: it writes it, and who drives the vehicle reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vds_gz.interface import topics
from vds_gz.interface.messages import DiagnosticArray
from vds_gz.ros.names import is_topic

#: Ends the names of the status, after the node's full name without its first slash.
SUFFIX = ": vehicle"

#: Keys of values.
COMMAND_TOPICS, CLOCK = "command topics", "clock"

#: Clocks that are no topic: the system's, and one that only Gazebo and the node know.
SYSTEM_CLOCK, GAZEBO_CLOCK = "system", "Gazebo"


@dataclass(frozen=True, slots=True)
class VehicleStatus:
    """A vehicle's node as it reports itself.

    Attributes:
        node: Its full name.
        state: How it is, in words.
        command_topics: Full names of the topics on which it takes commands.
        clock: Full name of the topic by which it lives, or ``SYSTEM_CLOCK`` or ``GAZEBO_CLOCK``.
    """

    node: str
    state: str
    command_topics: tuple[str, ...]
    clock: str

    def __str__(self) -> str:
        takes = ", ".join(f"'{topic}'" for topic in self.command_topics) or "no topic"
        return f"'{self.node}' ({self.state}) takes commands on {takes}"


def vehicles(message: DiagnosticArray) -> Iterator[VehicleStatus]:
    """The vehicles that a ``DiagnosticArray`` reports."""
    for status in message.status:
        values = {pair.key: pair.value for pair in status.values}
        clock = values.get(CLOCK, "")
        # A peer may report any text.
        is_clock = clock in (SYSTEM_CLOCK, GAZEBO_CLOCK) or is_topic(clock, topics.CLOCK.type)
        if status.name.endswith(SUFFIX) and is_clock:
            takes = tuple(filter(None, values.get(COMMAND_TOPICS, "").split(", ")))
            yield VehicleStatus(f"/{status.name.removesuffix(SUFFIX)}", status.message, takes, clock)


def described(known: Iterable[VehicleStatus]) -> str:
    """The vehicles that there are, in words."""
    return "; ".join(map(str, known)) or "no vehicle reports itself on '/diagnostics'"
