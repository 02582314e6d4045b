"""The node's report on ``/diagnostics``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vds_gz.core.plant.base import Level, Status
from vds_gz.core.ros.arguments import full_node_name
from vds_gz.core.ros.graph import Graph
from vds_gz.core.ros.messages.fields import set_stamp
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import CommandInputs
from vds_gz.programs.interface.vehicle_status import CLOCK, COMMAND_TOPICS, SUFFIX
from vds_gz.programs.nodes.failures import Failures
from vds_gz.programs.nodes.simulation import Simulation
from vds_gz.programs.nodes.topic_check import TopicCheck


class Diagnostics:
    """The ``/diagnostics`` topic of a simulation."""

    def __init__(
        self,
        graph: Graph,
        simulation: Simulation,
        commands: CommandInputs,
        check: TopicCheck,
        failures: Failures,
        findings: Sequence[str] = (),
    ) -> None:
        """Join the graph; ``findings`` are those about the parameters."""
        topic = topics.DIAGNOSTICS
        self._graph = graph
        self._simulation = simulation
        self._commands = commands
        self._check = check
        self._failures = failures
        self._findings = findings
        self._publisher = graph.publisher(topic.name, topic.type, topic.qos)
        self._message = graph.message(topic.type)
        self._status = graph.message("diagnostic_msgs/msg/DiagnosticStatus")
        self._status.name = f"{full_node_name(graph.name, graph.namespace)[1:]}{SUFFIX}"
        self._status.hardware_id = simulation.plant.vehicle.model.name
        self._message.status = [self._status]
        self._byte = type(self._status.level)

    def publish(self) -> None:
        """Publish the status."""
        simulation, commands = self._simulation, self._commands
        now, arrival = simulation.now, commands.last_arrival
        age = None if arrival is None or now is None else max(0, now - arrival)
        publishers = {subscription.topic: subscription.publisher_count() for subscription in commands.subscriptions}
        plant, refused = simulation.plant.status(), commands.refusals.counts
        level, text = self._verdict(plant, age, publishers)
        for worse, faults in (
            (Level.ERROR, tuple(self._failures.texts.values())),
            (Level.WARN, self._check.faults),
        ):
            if faults:
                level, text = max(level, worse), "; ".join((text, *faults))
        values = [
            ("plant", simulation.plant.name),
            ("command age [s]", "none" if age is None else f"{age * 1e-9:.3f}"),
            (COMMAND_TOPICS, ", ".join(publishers)),
            (CLOCK, simulation.clock_name),
            ("command publishers", str(sum(publishers.values()))),
            ("refused messages", str(sum(refused.values()))),
            *((f"refused on {topic}", str(count)) for topic, count in sorted(refused.items())),
            ("maximum lateness [s]", f"{simulation.lateness() * 1e-9:.4f}"),
            ("outputs left out", str(simulation.dropped_outputs)),
            ("jumps of time", str(simulation.jumps)),
            *((part, f"failed: {text}") for part, text in self._failures.texts.items()),
            *((f"fault {number}", fault) for number, fault in enumerate(self._check.faults, 1)),
            *(
                (f"finding {number}", finding)
                for number, finding in enumerate((*self._findings, *self._check.findings), 1)
            ),
            ("real-time factor", f"{simulation.real_time_factor():.3f}"),
            *plant.values,
        ]
        set_stamp(self._message.header.stamp, now or 0)
        # rclpy has levels as bytes.
        self._status.level = bytes([level]) if self._byte is bytes else int(level)
        self._status.message = text
        self._status.values = [self._pair(key, value) for key, value in values]
        self._publisher.publish(self._message)

    def _verdict(self, plant: Status, age: int | None, publishers: Mapping[str, int]) -> tuple[Level, str]:
        """Level and message of the status, by the age of the last command [ns] and the publishers of each topic."""
        simulation = self._simulation
        if plant.level != Level.OK:
            return plant.level, f"{simulation.plant.name} plant: {plant.text}"
        if simulation.held:
            return Level.WARN, "paused"
        if simulation.now is None:
            return Level.WARN, "waiting for /clock"
        if (count := sum(publishers.values())) > 1:
            driving = [topic for topic, count in publishers.items() if count]
            return Level.WARN, f"{count} publishers send commands, on {', '.join(driving)}"
        if age is None:
            return Level.OK, "no command yet"
        return Level.OK, "the last command has timed out" if age > self._commands.max_age else "driving"

    def _pair(self, key: str, value: str) -> object:
        pair = self._graph.message("diagnostic_msgs/msg/KeyValue")
        pair.key, pair.value = key, value
        return pair
