"""What a vehicle's node reports of itself on ``/diagnostics``, and the time for stamps of commands by its clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from vds_gz.interface import topics
from vds_gz.interface.conversions import stamp_ns
from vds_gz.interface.messages import Clock, DiagnosticArray
from vds_gz.ros.graph import Graph
from vds_gz.ros.names import is_topic

#: Ends the names of the status, after the node's full name without its first slash.
SUFFIX = ": vehicle"

#: Keys of values.
COMMAND_TOPICS, CLOCK = "command topics", "clock"

#: Clocks that are no topic: the system's, and one that only Gazebo and the node know.
SYSTEM_CLOCK, GAZEBO_CLOCK = "system", "Gazebo"


#: A vehicle's node reports itself once a second; who listens for so long and has not is none of ours [s].
PATIENCE = 2.5


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


class VehicleTime:
    """The time for stamps of commands: that of the vehicle that takes commands from some topics.

    A vehicle refuses commands that seem old by its own clock.

    Its node reports on ``/diagnostics`` which topics it takes commands from and which clock it lives by: the system's,
    or a topic such as ``/clock``. A vehicle that reports nothing is taken to live by the system's. What the user gives
    as ``use_sim_time`` counts for more than any report: ``/clock`` if it is true, the system's clock if it is false.
    """

    def __init__(self, graph: Graph, use_sim_time: bool | None) -> None:
        """Listen; ``use_sim_time`` is what the user gave, None for nothing."""
        self._graph = graph
        self._command_topics: frozenset[str] = frozenset()
        self._given = use_sim_time
        self._clock: str | None = None
        self._times: dict[str, int | None] = {}
        self._vehicles: dict[str, VehicleStatus] = {}
        self._unheard = time.monotonic()
        self._heard: Callable[[], bool] = lambda: False
        diagnostics = topics.DIAGNOSTICS
        graph.subscribe(diagnostics.name, diagnostics.type, diagnostics.qos, self._on_diagnostics)
        if use_sim_time is not None:
            self._live_by(topics.CLOCK_IN.name if use_sim_time else SYSTEM_CLOCK)

    def follow(self, command_topics: Sequence[str], heard: Callable[[], bool]) -> None:
        """Live as a vehicle does.

        Args:
            command_topics: Full names of the topics from which it takes commands.
            heard: Whether anybody listens to them.
        """
        self._command_topics = frozenset(command_topics)
        self._heard = heard

    def now(self) -> int | None:
        """The present [ns] for pacing commands; None while it is not known.

        Where only Gazebo knows the vehicle's time, the system's takes its place.
        """
        clock = self._known_clock()
        if clock is None or clock in (SYSTEM_CLOCK, GAZEBO_CLOCK):
            return None if clock is None else time.time_ns()
        return self._times.get(clock)

    def stamp(self) -> int:
        """The present [ns] for stamps; 0, which is no time in ROS and never too old, while it is not known."""
        return 0 if self._clock == GAZEBO_CLOCK else self.now() or 0

    def missing(self) -> str:
        """What must come until the time is known."""
        if self._clock is None:
            return "no vehicle has reported yet which clock it lives by"
        return f"no one publishes '{self._clock}', the clock of the vehicle"

    def vehicles(self) -> str:
        """The vehicles that there are and what they take commands from, in words."""
        return described(self._vehicles.values())

    def _known_clock(self) -> str | None:
        if self._clock is not None:
            return self._clock
        if not self._heard():
            self._unheard = time.monotonic()
        return SYSTEM_CLOCK if time.monotonic() - self._unheard > PATIENCE else None

    def _on_diagnostics(self, message: DiagnosticArray, arrival: int) -> None:
        for one in vehicles(message):
            self._vehicles[one.node] = one
            if self._given is None and not self._command_topics.isdisjoint(one.command_topics):
                self._live_by(one.clock)

    def _live_by(self, clock: str) -> None:
        self._clock = clock
        if clock not in (SYSTEM_CLOCK, GAZEBO_CLOCK) and clock not in self._times:
            self._times[clock] = None
            as_clock = topics.CLOCK_IN
            self._graph.subscribe(clock, as_clock.type, as_clock.qos, lambda message, _: self._on_clock(clock, message))

    def _on_clock(self, clock: str, message: Clock) -> None:
        self._times[clock] = now = stamp_ns(message.clock)
        if clock == self._clock:
            self._graph.set_time(now)
