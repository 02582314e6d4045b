"""The simulation node: commands in, the vehicle's response out. The loop is in :mod:`vds_gz.nodes.simulation`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from vds_gz.configuration import NODE_NAME, parameter_file, read_vehicle_file
from vds_gz.errors import VdsGzError
from vds_gz.interface import topics
from vds_gz.interface.commands import CommandInputs
from vds_gz.interface.initial_pose import InitialPose, InitialPoseInput
from vds_gz.interface.outputs import FrameNames
from vds_gz.interface.vehicle_status import CLOCK, COMMAND_TOPICS, SUFFIX
from vds_gz.nodes import services
from vds_gz.nodes.clock import make_clock
from vds_gz.nodes.observations import StateOutputs
from vds_gz.nodes.plants import make_plant
from vds_gz.nodes.preparation import Preparation, prepare
from vds_gz.nodes.sensors import make_sensors
from vds_gz.nodes.simulation import Simulation
from vds_gz.parameters.declaration import Value, describe
from vds_gz.parameters.load import replaced
from vds_gz.plant.base import Level, LinkError, Plant, Status
from vds_gz.ros.arguments import full_node_name, parse
from vds_gz.ros.factory import open_graph
from vds_gz.ros.graph import Graph, Severity
from vds_gz.ros.messages.fields import set_stamp
from vds_gz.ros.programs import DONE, CommandLine, StopRequest, command, on_signals

if TYPE_CHECKING:
    from vds_gz.world.surroundings import Surroundings


class Diagnostics:
    """The ``/diagnostics`` topic."""

    def __init__(
        self,
        graph: Graph,
        simulation: Simulation,
        commands: CommandInputs,
        observations: StateOutputs,
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
        """Publish the status."""
        simulation, commands = self._simulation, self._commands
        now, arrival = simulation.now, commands.last_arrival
        age = None if arrival is None or now is None else max(0, now - arrival)
        publishers = {subscription.topic: subscription.publisher_count() for subscription in commands.subscriptions}
        plant, refused = simulation.plant.status(), commands.refusals.counts
        level, text = self._verdict(plant, age, publishers)
        values = [
            ("plant", simulation.plant.name),
            ("command age [s]", "none" if age is None else f"{age * 1e-9:.3f}"),
            (COMMAND_TOPICS, ", ".join(publishers)),
            (CLOCK, simulation.clock_name),
            ("command publishers", str(sum(publishers.values()))),
            ("refused messages", str(sum(refused.values()))),
            *((f"refused on {topic}", str(count)) for topic, count in sorted(refused.items())),
            ("maximum lateness [s]", f"{simulation.lateness() * 1e-9:.4f}"),
            ("outputs left out", str(simulation.skipped + self._observations.left_out)),
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
        if simulation.now is None:
            return Level.WARN, "waiting for /clock"
        if simulation.held:
            return Level.WARN, "paused"
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


DESCRIPTION = """
The vehicle alone: commands in, its response out, until Ctrl-C. It takes what every ROS 2 node takes.
"""

EPILOG = """
examples:
  vds-gz node my_robot.yaml
  vds-gz node forklift --ros-args -p pub_rate:=100.0 -r twist_reference:=cmd_vel
  ros2 run vds_gz sim_node --ros-args --params-file my_robot.yaml -r __ns:=/robot1

`vds-gz parameters` prints all parameters, `vds-gz check FILE` checks a file.

exit code: 0 it was stopped, 2 wrong use
"""


class SimNode:
    """A vehicle on the graph.

    Attributes:
        graph: Its place there.
        simulation: The vehicle and its time.
    """

    def __init__(
        self,
        graph: Graph,
        preparation: Preparation,
        plant: Plant | None = None,
        stop: StopRequest | None = None,
    ) -> None:
        """Announce everything on the graph.

        Args:
            graph: The node's place on the graph.
            preparation: What it starts with.
            plant: What moves the vehicle; by default the plant that the parameters select.
            stop: What ends the node, besides its own services.

        Raises:
            LinkError: The plant that the parameters select is not available here.
        """
        self.graph = graph
        self._preparation = preparation
        self._parameters = parameters = preparation.parameters
        surroundings: Surroundings | None = None
        if plant is None:
            plant, surroundings = make_plant(graph, preparation)
        stop = stop or StopRequest()
        stop.wakes(graph.wake)
        clock = make_clock(parameters, follows=plant.gives_time)
        # First, so that the vehicle is soon ready for commands.
        self._commands = CommandInputs(
            graph,
            preparation.model.accepts,
            clock.now,
            plant.vehicle.enter,
            parameters.twist_reference_max_oldness,
            parameters.actuation_messages,
        )
        self._observations = observations = StateOutputs(graph, parameters, plant)
        map_frame = FrameNames.of(parameters).map
        sensors = make_sensors(graph, parameters, plant, preparation.scene, surroundings, flat_out=clock.flat_out)
        self.simulation = simulation = Simulation(
            graph, parameters, clock, plant, self._commands, observations, sensors, stop
        )
        InitialPoseInput(graph, map_frame, self._commands.refusals, self._on_initial_pose)
        services.offer(graph, simulation, map_frame, observations.amcl)
        graph.declare_parameters(describe(parameters), self._on_parameters)
        self._diagnostics = Diagnostics(graph, simulation, self._commands, observations)
        self._look = surroundings.look if surroundings else None
        simulation.every_second = self._every_second

    def run(self) -> None:
        """Run until the node is stopped; then send the last messages and leave the graph."""
        try:
            self.begin()
            self.simulation.run()
        finally:
            self.simulation.plant.close()
            self.graph.close()

    def begin(self) -> None:
        """Send the latched messages, and log what runs here and how to reach it."""
        self._observations.publish_latched(self.simulation.present() or 0, self._preparation)
        for hint in self._preparation.hints:
            self.graph.log(Severity.INFO, f"hint: {hint}")
        for line in self._introduction():
            self.graph.log(Severity.INFO, line)
        if self._look is not None:
            self._look()

    def _introduction(self) -> Iterator[str]:
        """Model and file; plant and world; topics in and where to look."""
        parameters, graph = self._parameters, self.graph
        yield f"model {parameters.model}, from {', '.join(self._preparation.sources) or 'its defaults'}"
        world = f"world {parameters.world}" if parameters.world else "no world"
        yield f"plant {self.simulation.plant.name}, {world}"
        options = f" --namespace {graph.namespace}" if graph.namespace != "/" else ""
        options += f" --node {graph.name}" if graph.name != NODE_NAME else ""
        inputs = ", ".join(subscription.topic for subscription in self._commands.subscriptions)
        yield f"commands on {inputs}; status on /diagnostics, picture by `vds-gz view{options}`"

    def _every_second(self) -> None:
        self._diagnostics.publish()
        if self._look is not None:
            self._look()

    def _on_initial_pose(self, given: InitialPose) -> None:
        amcl = self._observations.amcl
        if self._parameters.initialpose_moves_vehicle:
            try:
                self.simulation.set_pose(given.pose, given.attitude)
            except LinkError as error:
                self.graph.log(Severity.ERROR, f"the vehicle was not put anywhere: {error}")
                return
        if amcl is not None and self._parameters.localization.amcl.initialpose != "vehicle":
            amcl.initialise(given.pose, given.deviations)

    def _on_parameters(self, values: Mapping[str, Value]) -> None:
        """Take all new values, or none.

        Raises:
            ParameterError: They contradict each other.
        """
        before, self._parameters = self._parameters, replaced(self._parameters, values)
        self.simulation.configure(before, self._parameters)


@command(NODE_NAME)
def main(argv: list[str]) -> int:
    """Run the node until it is stopped.

    Returns:
        0 when it was stopped, 2 when something that it was given is wrong.
    """
    arguments = parse(argv, NODE_NAME)
    file = _parser().parse_args(arguments.rest).vehicle
    own = read_vehicle_file(parameter_file(file), arguments.full_name) if file else []
    preparation = prepare([*own, *arguments.overrides])
    stop = on_signals()
    graph = open_graph(arguments, NODE_NAME)
    try:
        node = SimNode(graph, preparation, stop=stop)
    except VdsGzError:
        graph.close()
        raise
    node.run()
    return DONE


def _parser() -> CommandLine:
    usage = """vds-gz node [PRESET|FILE] [--ros-args [-p NAME:=VALUE] [-r FROM:=TO] [-r __ns:=/NAMESPACE] ...]
       ros2 run vds_gz sim_node [the same]"""
    parser = CommandLine("vds-gz node", usage=usage, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("vehicle", metavar="PRESET|FILE", nargs="?", help="a preset, or a ROS 2 parameter file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
