"""``vds-gz run``: starts a vehicle and a driver, records, and draws the response."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from vds_gz.cli.shared_options import (
    add_domain_option,
    add_except_option,
    add_topic_option,
    add_vehicle_options,
    enter_domain,
    parameter_file_of,
    split_ros_arguments,
)
from vds_gz.core.configuration import NODE_NAME as NODE
from vds_gz.core.configuration import in_world, parameters_of
from vds_gz.core.errors import ArgumentError, FailureError, GraphError, RecordingError
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.ros.arguments import Arguments, parse
from vds_gz.core.ros.program_shell import DONE, CommandLine, command, on_signals
from vds_gz.core.sensing.sensor_types import SensorTypes
from vds_gz.core.share import share
from vds_gz.core.world.load_world import load_world
from vds_gz.programs.commandlog import command_log
from vds_gz.tools.study.progress import progress
from vds_gz.tools.study.reading.recorded_run import read
from vds_gz.tools.study.recording import Recording
from vds_gz.tools.study.report.text import text_table
from vds_gz.tools.study.session import NODE_NAME, Session, write_parameters

#: Command logs of this package, by model, and that of other models.
DRIVES = {
    "bicycle": "parking_lot.csv",
    "four_wheel_steering": "parking_lot.csv",
    "omni": "omni.csv",
    "swerve": "omni.csv",
}
DEFAULT_DRIVE = "hall.csv"

DEFAULT_PRESET = "ackermann_car"

#: World of the default preset, and value of ``--world`` for no world.
DEFAULT_WORLD, NO_WORLD = "parking_lot", "none"

DESCRIPTION = """
Start a vehicle, drive it with a command log from a second process, record all topics, and draw the response. Without
options a car with a lidar is driven over a parking lot for 20 seconds. During the run, a live page in the browser
shows the vehicle, and a line of text its motion.

The vehicle is an ordinary ROS 2 node: meanwhile, `ros2 topic echo` and every other node on the network with the
same ROS_DOMAIN_ID sees it, and can send commands too.

The run's folder has
  recording.mcap   every topic, for ros2 bag, Foxglove, PlotJuggler, rosbags
  response.png     commanded and actual motion, the path in its world, contacts, and the measured and configured
                   parameters of each actuator
  response.json    the same numbers for programs
  parameters.yaml  the vehicle's parameters
  vehicle.log, driver.log, page.log   the output of the processes
"""

EPILOG = """
examples:
  vds-gz run --preset forklift
  vds-gz run --params my_robot.yaml --log my_bag/ --topic /cmd_vel
  vds-gz run --forever             drive on the live page, or publish commands; Ctrl-C ends it
  vds-gz run --preset vds_defaults --ros-args -p model:=omni -r __ns:=/robot1

exit code: 0 done, 1 the run failed, 2 wrong use
"""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The plan of a run."""

    name: str
    parameters: NodeParameters
    overrides: tuple[Override, ...]  # parameters of the file and of --world
    for_ros: list[str]  # the user's own ROS arguments, for the vehicle
    driver: list[str] | None  # arguments of the driver; None for no driver
    graph: Arguments
    sensors: tuple[str, ...]  # topics of sensors that are recorded

    @property
    def title(self) -> str:
        """Title of the run, for people."""
        return f"{self.name} ({self.parameters.model})"


@command("vds-gz run")
def main(argv: list[str]) -> int:
    """Run a vehicle."""
    own, for_ros = split_ros_arguments(argv)
    options = _parser().parse_args(own)
    enter_domain(options.domain)
    plan = _plan(options, for_ros)
    folder = _new_folder(Path(options.out), plan.name)
    try:
        _execute(plan, folder, show=not options.no_view)
        _evaluate(plan, folder)
    except (GraphError, ArgumentError, RecordingError) as error:
        raise FailureError(str(error)) from None
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = CommandLine("vds-gz run", description=DESCRIPTION, epilog=EPILOG)
    add_vehicle_options(parser, required=False, default=DEFAULT_PRESET)
    driver = parser.add_mutually_exclusive_group()
    driver.add_argument(
        "--log",
        metavar="FILE",
        help=f"commands: CSV file, bag, or {', '.join(command_log.drive_names())} (one for the model)",
    )
    driver.add_argument("--forever", action="store_true", help="no driver: wait for your own commands, until Ctrl-C")
    add_topic_option(parser)
    parser.add_argument(
        "--world",
        metavar="NAME|FILE",
        help="a world of this package, an SDF file or a map; none: no world (the world of the parameters; "
        f"{DEFAULT_WORLD} if no vehicle, parameters or log are given). In a world, a vehicle without sensors gets a "
        "lidar",
    )
    add_except_option(parser, "a sensor topic to leave out of the recording, e.g. lidar/points; repeatable")
    parser.add_argument("--out", metavar="DIR", default="runs", help="where to make the run's folder (runs)")
    parser.add_argument("--no-view", action="store_true", help="show no line and no live page during the run")
    add_domain_option(parser)
    parser.add_argument(
        "--ros-args", action="store_true", help="last: parameters (-p) and remaps (-r) as for any ROS 2 node"
    )
    return parser


def _plan(options: argparse.Namespace, for_ros: list[str]) -> RunPlan:
    file = Path(parameter_file_of(options))
    overrides = parse(["--ros-args", "--params-file", str(file)], NODE).overrides
    overrides += _world(options, overrides)
    own = parse(["--ros-args", *for_ros], NODE).overrides
    parameters = parameters_of([*overrides, *own])
    remaps = ["--ros-args", *_remaps(for_ros)]
    driver = None
    if not options.forever:
        log = options.log or str(share("config", "drives", DRIVES.get(parameters.model, DEFAULT_DRIVE)))
        command_log.read(log, options.topic)
        driver = [log, *(["--topic", options.topic] if options.topic else []), *remaps]
        if parameters.use_sim_time or parameters.be_reference_clock:
            driver += ["-p", "use_sim_time:=true"]
    sensors = _sensor_topics(parameters, options.left_out)
    return RunPlan(file.stem, parameters, overrides, for_ros, driver, parse(remaps, NODE_NAME), sensors)


def _sensor_topics(parameters: NodeParameters, left_out: Sequence[str]) -> tuple[str, ...]:
    """Topics of the vehicle's sensors, without those left out."""
    types = SensorTypes()
    topics = [
        stream.topic(name) for name, sensor in parameters.sensors.items() for stream in types[sensor.type].streams
    ]
    for topic in left_out:
        if topic not in topics:
            raise ArgumentError(f"--except {topic}: no sensor has this topic; there are {', '.join(topics) or 'none'}")
    return tuple(topic for topic in topics if topic not in left_out)


def _world(options: argparse.Namespace, overrides: Sequence[Override]) -> tuple[Override, ...]:
    """Overrides that set the world, and a lidar if the vehicle has no sensor."""
    plain = (options.preset, options.params, options.log) == (DEFAULT_PRESET, None, None)
    world = options.world or (DEFAULT_WORLD if plain else None)
    if world is None:
        return ()
    origin = f"--world {world}"
    if world == NO_WORLD:
        return (Override("world", "", origin),)
    return tuple(in_world(overrides, world, origin))


def _remaps(for_ros: list[str]) -> list[str]:
    """The remaps among ROS arguments, for driver and recorder: all but those that rename the vehicle's node."""
    pairs = pairwise(for_ros)
    remaps = [pair for pair in pairs if pair[0] in ("-r", "--remap") and not pair[1].startswith(("__node", "__name"))]
    return [argument for pair in remaps for argument in pair]


def _new_folder(parent: Path, name: str) -> Path:
    """A new folder for the run."""
    folder = first = parent / f"{datetime.now():%Y-%m-%d_%H-%M-%S}_{name}"
    count = 1
    while folder.exists():
        count += 1
        folder = first.with_name(f"{first.name}_{count}")
    folder.mkdir(parents=True)
    return folder


def _execute(plan: RunPlan, folder: Path, *, show: bool) -> None:
    """Run vehicle, driver and recorder."""
    until = f"driven by {Path(plan.driver[0]).name}" if plan.driver else "runs until Ctrl-C"
    print(f"{plan.title}, {until}", flush=True)
    if show:
        print("lines: time, commanded -> actual values and position, in SI units", flush=True)
    node = ["--ros-args", "--params-file", str(write_parameters(plan.overrides, folder)), *plan.for_ros]
    with Session(plan.title, node, plan.graph, folder, show=show, sensors=plan.sensors, stop=on_signals()) as session:
        if show:
            own_name = parse(["--ros-args", *plan.for_ros], NODE).name
            session.open_page(["--node", own_name, "--ros-args", *_remaps(plan.for_ros)])
        if plan.driver is None:
            session.watch()
        else:
            session.drive(plan.driver)


def _evaluate(plan: RunPlan, folder: Path) -> None:
    """Measure, draw, write and print the results."""
    print("measuring the response and drawing it ...", flush=True)
    from vds_gz.tools.study.report.run_figure import draw, summarize  # with scipy, which a run does not need

    with progress("evaluation", None) as advance:
        advance(0.0, "reading the recording")
        recording = read(folder / "recording.mcap")
        advance(0.0, "measuring the actuators")
        rows = summarize(recording, plan.parameters.vehicle)
        advance(0.0, "drawing the response")
        driven = f" driven by {Path(plan.driver[0]).name}" if plan.driver else ""
        scene = load_world(plan.parameters.world) if plan.parameters.world else None
        draw(recording, rows, plan.parameters, f"{plan.title}{driven}", folder / "response.png", scene)
    (folder / "response.json").write_text(_json(plan, recording, list(map(dataclasses.asdict, rows))), encoding="utf-8")
    cells = [(row.actuator, row.quantity, *row.texts()) for row in rows]
    print("\n" + text_table(("actuator", "", "configured", "measured"), cells))
    if recording.touches:
        print()
    for touch in recording.touches:
        print(touch)
    print(f"\nrecording  {folder / 'recording.mcap'}  ({recording.counts.total()} messages)")
    print(f"picture    {folder / 'response.png'}")
    print(f"numbers    {folder / 'response.json'}")
    print(next_steps(plan, folder))


def next_steps(plan: RunPlan, folder: Path) -> str:
    """Commands to go on with, as they work in the user's shell."""
    program = "ros2 run vds_gz vds-gz" if _is_of_ros() else "vds-gz"
    steps = [(f"{program} new {plan.parameters.model} > my_robot.yaml", "a parameter file for your own robot")]
    if plan.driver:
        files = shlex.join([str(folder / "recording.mcap"), str(folder / "parameters.yaml")])
        steps.insert(0, (f"{program} run --forever", "drive it yourself, on the live page or by topics"))
        steps.append((f"{program} compare {files}", "the recording beside its vehicle, simulated offline"))
    if not _is_of_ros() and (inactive := _inactive_environment()):
        activate = shlex.quote(f"{inactive}/bin/activate")
        steps.insert(0, (f"source {activate}", "makes vds-gz a command of this shell"))
    return "\nnext\n" + "\n".join(f"  {command}\n      {what}" for command, what in steps)


def _is_of_ros() -> bool:
    """Whether `ros2 run` started this program; its programs are not in the PATH."""
    return Path(sys.argv[0]).parts[-3:-1] == ("lib", "vds_gz")


def _inactive_environment() -> str:
    """The virtual environment of this program if the user's shell needs to activate it; empty otherwise."""
    if sys.prefix == sys.base_prefix or os.environ.get("VIRTUAL_ENV") == sys.prefix:
        return ""
    prefix, program = Path(sys.prefix), Path(shutil.which("vds-gz") or "")
    # pipx and uv link the program into another folder of the PATH. `./dev` has its environment in its own PATH only.
    if program.is_symlink() and program.resolve().parent == prefix.resolve() / "bin":
        return ""
    return str(prefix.relative_to(Path.cwd()) if prefix.is_relative_to(Path.cwd()) else prefix)


def _json(plan: RunPlan, recording: Recording, actuators: list[dict[str, object]]) -> str:
    content = {
        "vehicle": plan.name,
        "model": plan.parameters.model,
        "log": plan.driver[0] if plan.driver else None,
        "duration": float(recording.motion.time[-1]),
        "messages": dict(sorted(recording.counts.items())),
        "actuators": actuators,
        "touches": [dataclasses.asdict(touch) for touch in recording.touches],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
