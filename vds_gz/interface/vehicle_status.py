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
    for one in message.status:
        found = {pair.key: pair.value for pair in one.values}
        clock = found.get(CLOCK, "")
        # A peer may report any text.
        if one.name.endswith(SUFFIX) and (clock in (SYSTEM_CLOCK, GAZEBO_CLOCK) or is_topic(clock, topics.CLOCK.type)):
            takes = tuple(filter(None, found.get(COMMAND_TOPICS, "").split(", ")))
            yield VehicleStatus(f"/{one.name.removesuffix(SUFFIX)}", one.message, takes, clock)


def described(known: Iterable[VehicleStatus]) -> str:
    """The vehicles that there are, in words."""
    return "; ".join(map(str, known)) or "no vehicle reports itself on '/diagnostics'"
