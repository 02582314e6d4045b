"""A vehicle's report on ``/diagnostics``, and the time by the vehicle's clock, for stamps of commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from vds_gz.core.ros.arguments import is_topic
from vds_gz.core.ros.graph import Graph, Message
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.programs.interface import topics

#: End of the status's name, after the node's full name without its first slash.
SUFFIX = ": vehicle"

#: Keys of values.
COMMAND_TOPICS, CLOCK = "command topics", "clock"

#: Clocks that are not topics: the system's, and Gazebo's, which only the node receives.
SYSTEM_CLOCK, GAZEBO_CLOCK = "system", "Gazebo"

#: Time to wait for a report [s]; vehicles of this package report once a second.
PATIENCE = 2.5


@dataclass(frozen=True, slots=True)
class VehicleStatus:
    """The report of a vehicle's node."""

    node: str  # its full name
    state: str  # its state, in words
    command_topics: tuple[str, ...]  # full names of the topics on which it takes commands
    clock: str  # full name of its clock's topic, or ``SYSTEM_CLOCK`` or ``GAZEBO_CLOCK``

    def __str__(self) -> str:
        takes = ", ".join(f"'{topic}'" for topic in self.command_topics) or "no topic"
        return f"'{self.node}' ({self.state}) takes commands on {takes}"


def vehicles(message: Message) -> Iterator[VehicleStatus]:
    """The vehicles that a ``DiagnosticArray`` reports."""
    for status in message.status:
        values = {pair.key: pair.value for pair in status.values}
        clock = values.get(CLOCK, "")
        # Other nodes may report any text.
        is_clock = clock in (SYSTEM_CLOCK, GAZEBO_CLOCK) or is_topic(clock, topics.CLOCK.type)
        if status.name.endswith(SUFFIX) and is_clock:
            takes = tuple(filter(None, values.get(COMMAND_TOPICS, "").split(", ")))
            yield VehicleStatus(f"/{status.name.removesuffix(SUFFIX)}", status.message, takes, clock)


class VehicleTime:
    """The time for stamps of commands: that of the vehicle that takes them.

    A vehicle refuses commands that seem old by its own clock.

    Its node reports on ``/diagnostics`` which topics it takes commands from and which clock it uses: the system's,
    Gazebo's, or a topic such as ``/clock``. A vehicle without a report is assumed to use the system's.
    ``use_sim_time`` overrides the report: ``/clock`` if it is true, the system's clock if it is false.
    """

    def __init__(self, graph: Graph, use_sim_time: bool | None) -> None:
        """Listen to reports; ``use_sim_time`` is the user's choice, None without one."""
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
            self._use_clock(topics.CLOCK_IN.name if use_sim_time else SYSTEM_CLOCK)

    def follow(self, command_topics: Sequence[str], heard: Callable[[], bool]) -> None:
        """Follow the clock of the vehicle on these topics; ``heard`` returns whether they have a subscriber."""
        self._command_topics = frozenset(command_topics)
        self._heard = heard

    def now(self) -> int | None:
        """The present [ns] for the pace of commands; None while it is not known.

        If only Gazebo knows the vehicle's time, this is the system's.
        """
        if self._clock is None:
            if not self._heard():
                self._unheard = time.monotonic()
            return time.time_ns() if time.monotonic() - self._unheard > PATIENCE else None
        return time.time_ns() if self._clock in (SYSTEM_CLOCK, GAZEBO_CLOCK) else self._times.get(self._clock)

    def stamp(self) -> int:
        """The present [ns] for stamps; 0 if it is not known, which is no time in ROS and never too old."""
        return 0 if self._clock == GAZEBO_CLOCK else self.now() or 0

    def missing(self) -> str:
        """The reason why the time is not known, in words."""
        if self._clock is None:
            return "no vehicle has reported its clock yet"
        return f"nothing has been received on '{self._clock}', the clock of the vehicle"

    def vehicles(self) -> str:
        """The vehicles and their topics for commands, in words."""
        return "; ".join(map(str, self._vehicles.values())) or "no vehicle reports itself on '/diagnostics'"

    def _on_diagnostics(self, message: Message, arrival: int) -> None:
        for vehicle in vehicles(message):
            self._vehicles[vehicle.node] = vehicle
            if self._given is None and not self._command_topics.isdisjoint(vehicle.command_topics):
                self._use_clock(vehicle.clock)

    def _use_clock(self, clock: str) -> None:
        self._clock = clock
        if clock not in (SYSTEM_CLOCK, GAZEBO_CLOCK) and clock not in self._times:
            self._times[clock] = None
            as_clock = topics.CLOCK_IN
            self._graph.subscribe(clock, as_clock.type, as_clock.qos, lambda message, _: self._on_clock(clock, message))

    def _on_clock(self, clock: str, message: Message) -> None:
        self._times[clock] = now = stamp_ns(message.clock)
        if clock == self._clock:
            self._graph.set_time(now)
