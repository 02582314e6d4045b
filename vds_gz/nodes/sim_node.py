"""The simulation node: commands in, the vehicle's response out."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from time import monotonic_ns

from vds_gz.configuration import NODE_NAME, parameter_file, read_vehicle_file
from vds_gz.errors import VdsGzError
from vds_gz.interface import topics
from vds_gz.interface.conversions import stamp_ns
from vds_gz.interface.inputs import CommandInputs, InitialPose, InitialPoseInput, Refusals
from vds_gz.interface.messages import Clock as ClockMessage
from vds_gz.interface.outputs import Frames
from vds_gz.interface.sensors.setup import sensor_outputs
from vds_gz.interface.vehicle_status import GAZEBO_CLOCK, SYSTEM_CLOCK
from vds_gz.interface.world_markers import publish_world
from vds_gz.nodes import amcl_services, services, standard_services
from vds_gz.nodes.advance import TimeKeeper
from vds_gz.nodes.casting import Casting
from vds_gz.nodes.clock import make_clock
from vds_gz.nodes.diagnostics import Diagnostics
from vds_gz.nodes.health import HealthMonitor
from vds_gz.nodes.observations import Observations
from vds_gz.nodes.plants import make_plant
from vds_gz.nodes.preparation import Preparation, prepare
from vds_gz.nodes.sensors import Sensors
from vds_gz.nodes.service_actions import Simulation
from vds_gz.parameters.declaration import Value, describe
from vds_gz.parameters.load import replaced
from vds_gz.plant.base import Plant
from vds_gz.plant.gazebo.links.base import LinkError
from vds_gz.ros.arguments import parse
from vds_gz.ros.factory import open_graph
from vds_gz.ros.graph import Graph, Severity
from vds_gz.ros.programs import DONE, CommandLine, command
from vds_gz.ros.stopping import LONGEST_SLEEP, StopRequest, on_signals
from vds_gz.sensing.catalogue import needs_of
from vds_gz.vehicle.command import STOP, TWIST, Command
from vds_gz.vehicle.model import AnyModel
from vds_gz.vehicle.vehicle import NANOSECONDS
from vds_gz.world.scene import Scene
from vds_gz.world.surroundings import Surroundings

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

    Everything happens in the thread that calls :meth:`run`: it sleeps until the next output is due or a message comes,
    and then advances the vehicle to the instants at which something goes out.
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
            plant: What moves the vehicle; what the parameters say where none is given.
            stop: What ends the node, besides its own services.

        Raises:
            LinkError: What the parameters say cannot be had here.
        """
        self.graph = graph
        self._surroundings: Surroundings | None = None
        if plant is None:
            plant, self._surroundings = make_plant(graph, preparation)
        self.plant = plant
        parameters, model, scene = preparation.parameters, preparation.model, preparation.scene
        self._parameters = parameters
        self._preparation = preparation
        self._stop = stop or StopRequest()
        self._stop.wakes(graph.wake)
        self._time_moved = self._commanded = monotonic_ns()
        self._announce(model, scene)

    def _announce(self, model: AnyModel, scene: Scene | None) -> None:
        graph, parameters, plant, surroundings = self.graph, self._parameters, self.plant, self._surroundings
        self._clock = make_clock(parameters, follows=plant.gives_time)
        refusals, world = Refusals(graph), Frames.of(parameters).map
        # First of all, so that the vehicle is soon ready for commands.
        self._commands = CommandInputs(
            graph, model.accepts, refusals, self._clock.now, self._on_command, parameters.actuation_messages
        )
        self._commands.max_age = round(parameters.twist_reference_max_oldness * NANOSECONDS)
        self._observations = Observations(graph, parameters, plant)
        if scene is not None:
            publish_world(graph, world, scene.visuals.things)
        outputs = sensor_outputs(graph, parameters, model.joints(parameters.vehicle), beside_gazebo=plant.senses)
        rays = sum(output.rays * output.rate for output in outputs)
        if rays and self._clock.flat_out:
            rays = math.inf  # whatever is saved makes it faster
        casting = Casting(scene, rays, wait=parameters.be_reference_clock) if scene else None

        def scene_at(time: int) -> Scene | None:
            if casting is None:
                return None
            return surroundings.scene_at(time, casting.scene) if surroundings else casting.scene

        self._sensors = Sensors(
            outputs,
            plant,
            scene_at,
            lambda: casting is None or casting.ready,
            joints="joints" in needs_of(parameters.sensors.values()),
        )
        self._time = TimeKeeper(
            graph, parameters, self._clock, plant, self._observations, self._sensors, self._forget_commands
        )
        self._followed_topic = ""
        if parameters.use_sim_time and not plant.gives_time:
            clock = topics.CLOCK_IN
            self._followed_topic = graph.subscribe(clock.name, clock.type, clock.qos, self._on_clock).topic
        self._simulation = Simulation(plant, self._time, self._observations, self._stop)
        InitialPoseInput(graph, world, refusals, self._on_initial_pose)
        services.offer(graph, self._simulation)
        standard_services.offer(graph, self._simulation, world)
        if self._observations.amcl is not None:
            amcl_services.offer(graph, self._observations.amcl)
        graph.declare_parameters(describe(parameters), self._on_parameters)
        self._health = HealthMonitor(
            Diagnostics(graph, model.name),
            self._time,
            plant,
            self._commands,
            refusals,
            self._observations,
            self._clock_name,
        )

    def _clock_name(self) -> str:
        """What gives the time, for who drives."""
        if topic := self._time.clock_topic or self._followed_topic:
            return topic
        return (self.plant.clock_topic or GAZEBO_CLOCK) if self.plant.gives_time else SYSTEM_CLOCK

    # ------------------------------------------------------------------ the loop

    def run(self) -> None:
        """Run until the node is stopped; then send the last messages and leave the graph."""
        try:
            self.begin()
            while not self._stop.requested:
                idle = min(LONGEST_SLEEP, self._time.idle_seconds(), self._health.idle_seconds())
                self.spin_once(max(0.0, idle))
            self._time.finish()
        finally:
            self.plant.close()
            self.graph.close()

    def begin(self) -> None:
        """Send what is sent once, and log what runs here and how to reach it."""
        self._observations.publish_latched(self._clock.now(monotonic_ns()) or 0, self._preparation.urdf)
        for hint in self._preparation.hints:
            self.graph.log(Severity.INFO, f"hint: {hint}")
        for line in self._introduction():
            self.graph.log(Severity.INFO, line)

    def _introduction(self) -> Iterator[str]:
        """Model and file; plant and world; topics in and where to look."""
        parameters, graph = self._parameters, self.graph
        yield f"model {parameters.model}, from {', '.join(self._preparation.sources) or 'its defaults'}"
        yield f"plant {self.plant.name}, {f'world {parameters.world}' if parameters.world else 'no world'}"
        options = f" --namespace {graph.namespace}" if graph.namespace != "/" else ""
        options += f" --node {graph.name}" if graph.name != NODE_NAME else ""
        inputs = ", ".join(subscription.topic for subscription in self._commands.subscriptions)
        yield f"commands on {inputs}; status on /diagnostics, picture by `vds-gz view{options}`"

    def spin_once(self, seconds: float) -> None:
        """Do what is due; if nothing comes, wait so many seconds for it."""
        self.graph.wait(seconds)
        self._observe()
        self._time.catch_up()
        self._health.serve()
        if self._surroundings is not None:
            self._surroundings.look()

    def _observe(self) -> None:
        """Take in what was seen of the vehicle, and send the outputs that waited for it."""
        time = self.plant.observe()
        if time is not None:
            if time != self._time.now:
                self._end_standstill()
            self._clock.set(time, monotonic_ns())
        self._observations.publish(self._time.paused)
        self._sensors.measure()

    def _end_standstill(self) -> None:
        """Time goes on. Where it stood still for long, as in a pause, the last command is too old, though not by it."""
        monotonic = monotonic_ns()
        stood, self._time_moved = monotonic - self._time_moved, monotonic
        if self._time.now is not None and min(stood, monotonic - self._commanded) > self._commands.max_age:
            vehicle = self.plant.vehicle
            vehicle.enter(Command(TWIST if TWIST in vehicle.model.accepts else STOP), vehicle.time)

    # ------------------------------------------------------------------ what comes in

    def _on_clock(self, message: ClockMessage, arrival: int) -> None:
        self._clock.set(stamp_ns(message.clock), arrival)
        self._time.catch_up()

    def _on_command(self, command: Command, arrived: int, stamp: int | None) -> None:
        self._commanded = monotonic_ns()
        self.plant.vehicle.enter(command, arrived, stamp)

    def _forget_commands(self) -> None:
        self._commands.last_arrival = None

    def _on_initial_pose(self, given: InitialPose) -> None:
        amcl = self._observations.amcl
        if self._parameters.initialpose_moves_vehicle:
            try:
                self._simulation.set_pose(given.pose, given.attitude)
            except LinkError as error:
                self.graph.log(Severity.ERROR, f"the vehicle was not put anywhere: {error}")
                return
        if amcl is not None and self._parameters.localization.amcl.initialpose != "vehicle":
            amcl.initialise(given.pose, given.deviations)

    def _on_parameters(self, values: Mapping[str, Value]) -> None:
        """Take new values all together, or none.

        Raises:
            ParameterError: They do not fit each other.
        """
        before, parameters = self._parameters, replaced(self._parameters, values)
        self._parameters = parameters
        vehicle = self.plant.vehicle
        if parameters.vehicle != before.vehicle:
            vehicle.configure(parameters.vehicle)
        vehicle.max_command_age = parameters.twist_reference_max_oldness
        vehicle.dead_time_jitter = parameters.dead_time_jitter
        self._commands.max_age = round(parameters.twist_reference_max_oldness * NANOSECONDS)
        self._observations.configure(parameters)
        self._time.configure(before, parameters)


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
