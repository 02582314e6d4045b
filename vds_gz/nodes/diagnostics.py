"""Once a second, how the node is: what a person needs to know when the vehicle does not obey."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vds_gz.interface import topics
from vds_gz.interface.commands import CommandInputs
from vds_gz.interface.conversions import set_stamp
from vds_gz.interface.vehicle_status import CLOCK, COMMAND_TOPICS, SUFFIX
from vds_gz.nodes.observations import Observations
from vds_gz.nodes.simulation import Simulation
from vds_gz.plant.base import Level, Status
from vds_gz.ros.graph import Graph
from vds_gz.ros.names import full_node_name


@dataclass(frozen=True, slots=True)
class Health:
    """What is known of the node's health.

    Attributes:
        command_age: Since the last command [s]; None if there has been none.
        timed_out: The last command is too old and was replaced by zero.
        publishers: Publishers by command topic.
        refused: Refused messages by topic.
        lateness: Maximum lateness of an output in the last second [s].
        skipped: Outputs left out because they were overdue, in all.
        real_time_factor: Simulated seconds per second, over the last second.
        paused: The vehicle is held.
        waiting: There is no time yet, because no ``/clock`` has come.
        clock: What gives the time, as in :class:`vds_gz.interface.vehicle_status.VehicleStatus`.
        plant: Name of what moves the vehicle.
        plant_status: How it is.
    """

    command_age: float | None
    timed_out: bool
    publishers: Mapping[str, int]
    refused: Mapping[str, int]
    lateness: float
    skipped: int
    real_time_factor: float
    paused: bool
    waiting: bool
    clock: str
    plant: str
    plant_status: Status

    def verdict(self) -> tuple[int, str]:
        """Level and message of the status. Levels go out as bytes with rclpy, see :meth:`Diagnostics.publish`."""
        plant = self.plant_status
        driving = [topic for topic, count in self.publishers.items() if count]
        if plant.level == Level.ERROR:
            return Level.ERROR, f"{self.plant} plant: {plant.text}"
        if plant.level == Level.WARN:
            return Level.WARN, f"{self.plant} plant: {plant.text}"
        if self.waiting:
            return Level.WARN, "waiting for /clock"
        if self.paused:
            return Level.WARN, "paused"
        if sum(self.publishers.values()) > 1:
            return Level.WARN, f"{sum(self.publishers.values())} publishers send commands, on {', '.join(driving)}"
        if self.command_age is None:
            return Level.OK, "no command yet"
        if self.timed_out:
            return Level.OK, "the last command has timed out"
        return Level.OK, "driving"

    def values(self) -> list[tuple[str, str]]:
        """Keys and values of the status."""
        age = "none" if self.command_age is None else f"{self.command_age:.3f}"
        return [
            ("plant", self.plant),
            ("command age [s]", age),
            (COMMAND_TOPICS, ", ".join(self.publishers)),
            (CLOCK, self.clock),
            ("command publishers", str(sum(self.publishers.values()))),
            ("refused messages", str(sum(self.refused.values()))),
            *((f"refused on {topic}", str(count)) for topic, count in sorted(self.refused.items())),
            ("maximum lateness [s]", f"{self.lateness:.4f}"),
            ("outputs left out", str(self.skipped)),
            ("real-time factor", f"{self.real_time_factor:.3f}"),
            *self.plant_status.values,
        ]


class Diagnostics:
    """The ``/diagnostics`` topic."""

    def __init__(
        self,
        graph: Graph,
        simulation: Simulation,
        commands: CommandInputs,
        observations: Observations,
    ) -> None:
        """Announce the topic.

        Args:
            graph: Where to publish.
            simulation: What is reported on.
            commands: Its commands.
            observations: Its outputs.
        """
        topic = topics.DIAGNOSTICS
        self._graph = graph
        self._simulation = simulation
        self._commands = commands
        self._observations = observations
        self._publisher = graph.publisher(topic.name, topic.type, topic.qos)
        self._message = graph.message(topic.type)
        self._status = graph.message("diagnostic_msgs/msg/DiagnosticStatus")
        self._status.name = f"{full_node_name(graph.name, graph.namespace)[1:]}{SUFFIX}"
        self._status.hardware_id = simulation.plant.vehicle.model.name
        self._message.status = [self._status]
        self._byte = type(self._status.level)

    def publish(self) -> None:
        """Report how the node is."""
        health = self._health()
        level, text = health.verdict()
        set_stamp(self._message.header.stamp, self._simulation.now or 0)
        self._status.level = bytes([level]) if self._byte is bytes else int(level)
        self._status.message = text
        self._status.values = [self._pair(key, value) for key, value in health.values()]
        self._publisher.publish(self._message)

    def _health(self) -> Health:
        simulation, commands = self._simulation, self._commands
        now, arrival = simulation.now, commands.last_arrival
        age = None if arrival is None or now is None else max(0, now - arrival)
        return Health(
            command_age=None if age is None else age * 1e-9,
            timed_out=age is not None and age > commands.max_age,
            publishers={subscription.topic: subscription.publisher_count() for subscription in commands.subscriptions},
            refused=commands.refusals.counts,
            lateness=simulation.lateness() * 1e-9,
            skipped=simulation.skipped + self._observations.left_out,
            real_time_factor=simulation.real_time_factor(),
            paused=simulation.held,
            waiting=now is None,
            clock=simulation.clock_name,
            plant=simulation.plant.name,
            plant_status=simulation.plant.status(),
        )

    def _pair(self, key: str, value: str) -> object:
        pair = self._graph.message("diagnostic_msgs/msg/KeyValue")
        pair.key, pair.value = key, value
        return pair
