"""``vds-gz gazebo``: a Gazebo server with a vehicle in a world, and the node that drives it."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from vds_gz.cli.shared_options import add_vehicle_options, number, parameter_file_of, split_ros_arguments
from vds_gz.core.child_process import ChildProcess
from vds_gz.core.configuration import NODE_NAME, parameters_of
from vds_gz.core.description.sdf import moved_by, plugin, sdf
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.plant.gazebo.gazebo_server import Server, Spawn, populated
from vds_gz.core.plant.gazebo.links.link_types import WITHOUT_LAUNCH, runs_inside
from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.program_shell import LONGEST_SLEEP, CommandLine, StopRequest, command, on_signals
from vds_gz.core.sensing.sensor_types import SensorTypes
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.world.load_world import world_file
from vds_gz.tools.adopt.robot_folder import PARAMETERS, read_folder
from vds_gz.tools.adopt.start import SpawnPose, adopted_world, server_environment


@command("vds-gz gazebo")
def main(argv: list[str]) -> int:
    """Run server and node until one of them ends or both are stopped."""
    own, ros = split_ros_arguments(argv)
    parser = _parser()
    options = parser.parse_args(own)
    start = (options.x, options.y, options.z, options.roll, options.pitch, options.yaw)
    if options.robot is not None:
        return _adopted(parser, options, ros, start)
    options.preset, options.world = options.preset or "ackermann_car", options.world or "empty"
    options.name = options.name or "vehicle"
    arguments = node_arguments(parameter_file_of(options), ros, link=options.link, model=options.name)
    parameters = parameters_of(parse(arguments, NODE_NAME).overrides)
    world = world_file(options.world)
    vehicle = sdf(models()[parameters.model], parameters.vehicle, options.name, parameters.sensors)
    if runs_inside(options.link):
        vehicle = in_step(vehicle, arguments)
    name, text = populated(world, [Spawn(vehicle, start)], options.pace)
    arguments += ["-p", f"gazebo.world:={name}"]
    stop = on_signals()
    server = Server(
        text,
        headless=options.headless,
        run=not options.paused,
        rendering=renders(parameters),
        folder=world.parent,
        environment=environment(),
    )
    return together(server, None if runs_inside(options.link) else arguments, stop)


def _adopted(parser: CommandLine, options: argparse.Namespace, ros: Sequence[str], pose: SpawnPose) -> int:
    """The same with a robot that ``vds-gz adopt`` has written to a folder."""
    folder = read_folder(Path(options.robot))
    for name in ("preset", "params", "name"):
        if getattr(options, name) is not None:
            parser.error(
                f"--{name} cannot be combined with a robot's folder; its parameters are in '{options.robot}/robot.yaml'"
            )
    if runs_inside(options.link):
        parser.error(
            f"--link {options.link} has no counterpart for an adopted robot, whose joint controllers are in its model"
        )
    world, text, path = adopted_world(folder, options.world, pose, options.pace)
    arguments = node_arguments(
        str(folder.file(PARAMETERS)), [*folder.arguments(), *ros], link=options.link, model=folder.start.name
    )
    parameters_of(parse(arguments, NODE_NAME).overrides)
    arguments += ["-p", f"gazebo.world:={world}"]
    stop = on_signals()
    server = Server(
        text,
        headless=options.headless,
        run=not options.paused,
        rendering=folder.start.renders,
        folder=path.parent,
        environment=server_environment(folder.start, environment()),
    )
    return together(server, arguments, stop)


def node_arguments(file: str, ros: Sequence[str], *, link: str, model: str) -> list[str]:
    """The node's command line."""
    values = {"backend": "gazebo", "gazebo.link": link, "gazebo.model": model}
    parameters = [argument for key, value in values.items() for argument in ("-p", f"{key}:={value}")]
    return ["--ros-args", "--params-file", str(Path(file).resolve()), *parameters, *ros]


def in_step(text: str, arguments: Sequence[str], **settings: str) -> str:
    """The SDF of a vehicle with the node inside Gazebo instead of controllers."""
    loaded = {"module_name": "vds_gz.programs.nodes.gazebo_system", "arguments": shlex.join(arguments)}
    return moved_by(text, plugin("PythonSystemLoader", **loaded, **settings))


def environment() -> dict[str, str]:
    """Environment variables of the server, in which Python finds the same packages as here."""
    variables = dict(os.environ)
    variables["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return variables


def together(server: Server, arguments: Sequence[str] | None, stop: StopRequest) -> int:
    """Run the server, and a node with ``arguments``, until one ends or a signal comes; then end both, node first."""
    node = None
    if arguments is not None:
        node = ChildProcess([sys.executable, "-m", "vds_gz.cli", "node", *arguments])
    while not stop.requested and server.running() and (node is None or node.poll() is None):
        time.sleep(LONGEST_SLEEP)
    codes = [process.returncode for process in (node, server.process) if process is not None and process.returncode]
    if node is not None:
        node.stop()
    server.stop()
    return 1 if codes and not stop.requested else 0


def renders(parameters: NodeParameters) -> bool:
    """Whether a sensor needs rendering."""
    types = SensorTypes()
    sides = [types[sensor.type].gazebo for sensor in parameters.sensors.values()]
    return any(side.renders for side in sides if side)


def _parser() -> CommandLine:
    parser = CommandLine(
        "vds-gz gazebo", description="Start Gazebo with a vehicle in a world, and the node that drives its joints."
    )
    parser.add_argument("robot", metavar="FOLDER", nargs="?", help="a robot that vds-gz adopt has written")
    add_vehicle_options(parser, required=False, shown_default="ackermann_car")
    parser.add_argument(
        "--world", metavar="NAME|FILE", help="a world of this package, or an SDF file (empty, or the robot's own)"
    )
    parser.add_argument("--name", help="the model's name in Gazebo (vehicle)")
    parser.add_argument("--headless", action="store_true", help="without a window")
    parser.add_argument("--paused", action="store_true", help="begin paused")
    parser.add_argument("--pace", type=number, metavar="FACTOR", help="real-time factor; 0: unlimited (the world's)")
    parser.add_argument(
        "--link",
        choices=WITHOUT_LAUNCH,
        default="auto",
        help="the link to the joints; system: the node runs inside Gazebo (auto)",
    )
    for axis, what in (("x", "m"), ("y", "m"), ("z", "m"), ("roll", "rad"), ("pitch", "rad"), ("yaw", "rad")):
        parser.add_argument(f"--{axis}", type=number, default=0.0, metavar=what.upper(), help=f"start [{what}]")
    parser.epilog = "Last, after --ros-args: parameters (-p) and remaps (-r) as for any ROS 2 node."
    return parser


if __name__ == "__main__":
    sys.exit(main())
