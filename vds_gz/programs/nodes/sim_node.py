"""The simulation node: commands in, the vehicle's response out. See :mod:`~vds_gz.programs.nodes.simulation`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Container, Iterator
from typing import TYPE_CHECKING

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C while it imports ends the program without a traceback

from vds_gz.core.configuration import NODE_NAME, parameter_file, read_vehicle_file
from vds_gz.core.errors import ArgumentError
from vds_gz.core.geometry import Attitude, Pose
from vds_gz.core.parameters.declaration import describe
from vds_gz.core.parameters.live_parameters import LiveParameters
from vds_gz.core.plant.base import LinkError, Plant
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.graph import Graph, Severity
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.ros.program_shell import DONE, CommandLine, StopRequest, command, on_signals
from vds_gz.core.vehicle.make_vehicle import configure_vehicle
from vds_gz.programs.interface.commands import CommandInputs
from vds_gz.programs.interface.initial_pose import InitialPoseInput
from vds_gz.programs.interface.outputs import FrameNames
from vds_gz.programs.nodes import node_services
from vds_gz.programs.nodes.clock import make_clock
from vds_gz.programs.nodes.diagnostics import Diagnostics
from vds_gz.programs.nodes.failures import Failures, named_parts
from vds_gz.programs.nodes.plant_selection import make_plant
from vds_gz.programs.nodes.preparation import Preparation, prepare
from vds_gz.programs.nodes.simulated_sensors import make_sensors
from vds_gz.programs.nodes.simulation import Simulation
from vds_gz.programs.nodes.topic_check import TopicCheck

if TYPE_CHECKING:
    from vds_gz.core.world.surroundings import Surroundings

DESCRIPTION = """
Simulate a vehicle until Ctrl-C: take commands and publish its response. All arguments of ROS 2 nodes are accepted.
"""

EPILOG = """
examples:
  vds-gz node my_robot.yaml
  vds-gz node forklift --ros-args -p pub_rate:=100.0 -r twist_reference:=cmd_vel
  ros2 run vds_gz sim_node --ros-args --params-file my_robot.yaml -r __ns:=/robot1

`vds-gz parameters` prints all parameters, `vds-gz check FILE` checks a file.

exit code: 0 it was stopped, 1 the vehicle model or the plant of another package failed, 2 wrong use
"""


class SimNode:
    """A vehicle on the graph.

    Attributes:
        graph: Its topics, services and parameters.
        live: Its parameters.
        simulation: Its loop.
    """

    def __init__(
        self,
        graph: Graph,
        preparation: Preparation,
        plant: Plant | None = None,
        stop: StopRequest | None = None,
    ) -> None:
        self.graph = graph
        self._preparation = preparation
        self.live = LiveParameters(preparation.parameters)
        plant, surroundings = (plant, None) if plant else make_plant(graph, preparation)
        try:
            self._join(plant, surroundings, stop or StopRequest())
        except BaseException:
            plant.close()  # it may have a process or a thread
            raise

    def _join(self, plant: Plant, surroundings: Surroundings | None, stop: StopRequest) -> None:
        """Open all topics and services of a plant's vehicle."""
        graph, preparation, live, parameters = self.graph, self._preparation, self.live, self.live.now
        stop.wakes(graph.wake)
        configure_vehicle(plant.vehicle, live)  # first, because a relay's vehicle refuses what its robot cannot do
        clock = make_clock(live, follows=plant.gives_time)
        failures = Failures(graph)
        # First, so that the vehicle is soon ready for commands.
        self._commands = CommandInputs(
            graph,
            preparation.model.accepts,
            clock.now,
            plant.vehicle.enter,
            parameters.twist_reference_max_oldness,
            parameters.actuation_messages,
            failures.add,
        )
        live.follow(lambda new: new.twist_reference_max_oldness, self._commands.set_max_age)
        sensors = make_sensors(graph, parameters, plant, preparation.scene, surroundings, clock.speed, failures)
        self.simulation = simulation = Simulation(graph, live, clock, plant, self._commands, sensors, stop)
        self._map_frame = FrameNames.of(parameters).map
        if plant.knows_pose:
            InitialPoseInput(graph, self._map_frame, self._commands.refusals, self._on_initial_pose)
        node_services.offer(graph, simulation, self._map_frame)
        graph.declare_parameters(describe(parameters), live.change)
        inputs = {subscription.topic for subscription in self._commands.subscriptions}
        refuse_loops(graph, inputs)
        takes = [endpoint for endpoint in graph.opened if endpoint.topic in inputs and not endpoint.publishes]
        self._check = TopicCheck(graph, takes)
        self._diagnostics = Diagnostics(graph, simulation, self._commands, self._check, failures, preparation.findings)
        self._look: Callable[[], object] = surroundings.look if surroundings else lambda: None
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
        preparation, outputs = self._preparation, self.simulation.state.outputs
        outputs.publish_latched(self.simulation.present() or 0, preparation.urdf, preparation.mounts())
        if preparation.scene is not None:
            from vds_gz.programs.interface.world_topics import publish_world

            publish_world(self.graph, self._map_frame, preparation.scene.visuals.things)
        for severity, findings in ((Severity.INFO, preparation.unused), (Severity.WARN, preparation.findings)):
            for finding in findings:
                self.graph.log(severity, f"finding: {finding}")
        for line in self._introduction():
            self.graph.log(Severity.INFO, line)
        self._look()

    def _introduction(self) -> Iterator[str]:
        """Lines about model and file, plant and world, and the topics for commands and status."""
        parameters, graph = self.live.now, self.graph
        yield f"model {parameters.model}, from {', '.join(self._preparation.sources) or 'its defaults'}"
        plant = self.simulation.plant
        yield f"plant {plant.name}, {f'world {parameters.world}' if parameters.world else plant.place}"
        options = f" --namespace {graph.namespace}" if graph.namespace != "/" else ""
        options += f" --node {graph.name}" if graph.name != NODE_NAME else ""
        inputs = ", ".join(subscription.topic for subscription in self._commands.subscriptions)
        yield f"commands on {inputs}; status on /diagnostics, picture by `vds-gz view{options}`"

    def _every_second(self) -> None:
        self._check.look()
        self._diagnostics.publish()
        self._look()

    def _on_initial_pose(self, pose: Pose, attitude: Attitude | None, deviations: tuple[float, float, float]) -> None:
        amcl, parameters = self.simulation.state.amcl, self.live.now
        if parameters.initialpose_moves_vehicle:
            try:
                self.simulation.set_pose(pose, attitude)
            except LinkError as error:
                self.graph.log(Severity.ERROR, f"the vehicle was not moved: {error}")
                return
        if amcl is not None and parameters.localization.amcl.initialpose != "vehicle":
            amcl.initialise(pose, deviations)


def refuse_loops(graph: Graph, inputs: Container[str]) -> None:
    """Refuse a node that would take its own output for a command, as after a wrong remap.

    Raises:
        ArgumentError: A topic is both input and output of the node.
    """
    for endpoint in graph.opened:
        if endpoint.publishes and endpoint.topic in inputs:
            raise ArgumentError(
                f"topic '{endpoint.topic}' would be a loop: this node reads its commands from it and publishes on it; "
                "remap one of them (-r), or set a relay's topic to another name"
            )


@command(NODE_NAME)
def main(argv: list[str]) -> int:
    """Run the node until it is stopped."""
    arguments = parse(argv, NODE_NAME)
    file = _parser().parse_args(arguments.rest).vehicle
    settings = read_vehicle_file(parameter_file(file), arguments.full_name) if file else []
    preparation = prepare([*settings, *arguments.overrides])
    stop = on_signals()
    graph = open_graph(arguments, NODE_NAME)
    with named_parts(preparation.model, preparation.parameters.backend):
        try:
            node = SimNode(graph, preparation, stop=stop)
        except Exception:
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
