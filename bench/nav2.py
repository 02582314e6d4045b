"""Measure Nav2 with a vehicle: ``python bench/nav2.py --help``, in a shell with ROS 2 and Nav2.

Starts ``nav2.launch.py``, sends goals one after the other and prints for each: whether it was reached, time, number of
recoveries, distance from the path, overshoot of the goal, and error of the localization. ``--json`` keeps all results.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from vds_gz.core.configuration import parameters_of_file
from vds_gz.core.errors import VdsGzError
from vds_gz.core.parameters.declaration import describe
from vds_gz.core.share import share

if TYPE_CHECKING:
    from nodes.nav2_watcher import Drive

#: The parameter file of each vehicle of nav2.launch.py.
VEHICLES = {"differential": "indoor_robot", "ackermann": "scaled_car"}

#: The controllers of config/nav2, by the names of their plugins there.
CONTROLLERS = {"FollowPath": "MPPI", "PurePursuit": "Regulated Pure Pursuit"}

#: x [m], y [m], heading [degrees]: through the door into the room and back, and around the shelves.
GOALS = (
    *((7.0, 4.0, 0.0), (8.5, 3.0, 90.0), (5.5, 5.0, 180.0), (-5.0, 1.6, 180.0), (-8.9, 0.0, -90.0)),
    *((-5.0, -2.8, 0.0), (3.5, -3.0, 0.0), (7.0, -2.0, 90.0), (-5.0, 4.6, 180.0), (0.0, 0.0, 0.0)),
)


def actuator_values(file: Path, **options: tuple[str, float | None]) -> dict[str, float]:
    """Values for parameters of all actuators of a vehicle, by name.

    Args:
        file: The vehicle's parameter file.
        options: By the last word of a parameter's name, the option that sets it, and its value or None.

    Raises:
        VdsGzError: No actuator has such a parameter, or it cannot have the value.
    """
    parameters = parameters_of_file(file)
    actuators = [
        parameter for parameter in describe(parameters.vehicle) if re.search(r"_actuators?\.\w+$", parameter.name)
    ]
    found = {}
    for name, (option, value) in options.items():
        if value is None:
            continue
        named = [actuator for actuator in actuators if actuator.name.endswith(f".{name}")]
        if not named:
            there = ", ".join(actuator.name for actuator in actuators) or "none"
            raise VdsGzError(
                f"{option} is {value:g}, and no actuator of {file} has the parameter '{name}'; there are: {there}"
            )
        for actuator in named:
            actuator.check(value, option)
            found[f"model_params.{parameters.model}.{actuator.name}"] = value
    return found


@contextmanager
def launched(arguments: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Nav2 and a vehicle, which run inside the context."""
    with log.open("w", encoding="utf-8") as output:
        command = ["ros2", "launch", "vds_gz", "nav2.launch.py", *arguments]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(30.0)
            with suppress(ProcessLookupError):  # what is left of its nodes would take part in the next run
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def tour(options: argparse.Namespace, file: Path, controller: str, values: dict[str, float]) -> list[Drive]:
    """Drive to each goal with one Nav2 and a vehicle of a file, with these parameters."""
    from nodes.nav2_watcher import watching  # not above: wrong options are refused where there is no ROS, too

    selected = {"controller": controller}
    if (options.vehicle, controller) == ("ackermann", "PurePursuit"):
        selected["planner"] = "Forwards"  # it cannot shunt
    log = Path(tempfile.mkdtemp(prefix="nav2_bench_"), "log")
    print(f"log: {log}", file=sys.stderr)
    arguments = [f"vehicle:={options.vehicle}", f"params_file:={file.resolve()}", *options.launch]
    with launched(arguments, log) as launch, watching(**selected) as watcher:
        watcher.ready(launch)
        watcher.set_parameters(values)
        drives = []
        for goal in options.goal or GOALS[: options.goals]:
            drives.append(watcher.drive(goal))
            print(row(drives[-1]), flush=True)
    return drives


def localization(drives: list[Drive]) -> str:
    """The largest errors of the localization, in words."""
    metres = [drive.mislocated for drive in drives if drive.mislocated is not None]
    radians = [drive.misheaded for drive in drives if drive.misheaded is not None]
    return f"{max(metres):.3f} m, {math.degrees(max(radians)):.1f}°" if metres else "(there was none)"


HEADER = """| goal | reached | time [s] | recoveries | off the path [m] | past the goal [m] | localization off by |
| --- | --- | --- | --- | --- | --- | --- |"""


def row(drive: Drive) -> str:
    """A line of the table."""
    x, y, heading = drive.goal
    return (
        f"| {x:g}, {y:g}, {math.degrees(heading):.0f}° | {'yes' if drive.reached else '**no**'} | {drive.seconds:.1f} "
        f"| {drive.recoveries} | {drive.off_path:.2f} | {drive.passed:.2f} "
        f"| {localization([drive])} |"
    )


def summary(drives: list[Drive]) -> str:
    """All drives of a tour in a line."""
    recoveries, seconds = sum(drive.recoveries for drive in drives), sum(drive.seconds for drive in drives)
    farthest, passed = max(drive.off_path for drive in drives), max(drive.passed for drive in drives)
    return (
        f"{sum(drive.reached for drive in drives)} of {len(drives)} reached, {recoveries} recoveries, {seconds:.0f} s, "
        f"at most {farthest:.2f} m off the path and {passed:.2f} m past the goal, localization off by at most "
        f"{localization(drives)}"
    )


def main() -> int:
    """Drive all tours; return 0 if each goal was reached, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vehicle", choices=[*VEHICLES], default="differential")
    parser.add_argument("--params-file", type=Path, help="the vehicle's parameter file; default: of --vehicle")
    parser.add_argument(
        "--controllers", nargs="+", default=[*CONTROLLERS], help="names in Nav2's file; default: %(default)s"
    )
    parser.add_argument(
        "--dead-times", nargs="+", type=float, default=[None], help="of all actuators [s]; default: as in its file"
    )
    parser.add_argument("--time-constant", type=float, help="of all actuators [s]; default: as in the vehicle's file")
    parser.add_argument(
        "--goals", type=int, choices=range(1, len(GOALS) + 1), default=len(GOALS), help="number of goals"
    )
    parser.add_argument(
        *("--goal", "-g"), nargs=3, type=float, action="append", metavar=("X", "Y", "DEGREES"), help="a custom goal"
    )
    parser.add_argument("--json", type=Path, help="file for all results")
    parser.add_argument("--launch", nargs="+", default=[], help="arguments of nav2.launch.py: localization:=amcl ...")
    options = parser.parse_args()
    ours = not any(argument.startswith("nav2_params_file:=") for argument in options.launch)
    if ours and (unknown := {*options.controllers} - {*CONTROLLERS}):
        parser.error(f"our files for Nav2 have no controller '{min(unknown)}'; they have {', '.join(CONTROLLERS)}")
    vehicle = str(options.params_file or options.vehicle)
    file = options.params_file or share("config", f"{VEHICLES[options.vehicle]}.yaml")
    lag = "--time-constant", options.time_constant
    try:
        values = [
            actuator_values(file, dead_time=("--dead-times", time), time_constant=lag) for time in options.dead_times
        ]
    except VdsGzError as error:
        parser.error(str(error))
    try:
        import_module("nodes.nav2_watcher")
    except ImportError as error:
        parser.error(f"ROS 2 and Nav2 are needed ({error}); source their setup.bash, and use their Python")
    os.environ.setdefault("ROS_DOMAIN_ID", str(os.getpid() % 100 + 1))
    runs = []
    for controller, (dead_time, own) in itertools.product(
        options.controllers, zip(options.dead_times, values, strict=True)
    ):
        of = "" if dead_time is None else f", dead time {dead_time:g} s"
        name = CONTROLLERS.get(controller, controller)
        print(f"\n{vehicle}, {name}{of}\n\n{HEADER}", flush=True)
        drives = tour(options, file, controller, own)
        print(f"\n{summary(drives)}", flush=True)
        run = {
            "vehicle": vehicle,
            "launch": options.launch,
            "controller": name,
            "dead_time": dead_time,
        }
        runs.append({**run, "drives": [asdict(drive) for drive in drives]})
        if options.json:
            options.json.write_text(json.dumps(runs), encoding="utf-8")
    return 0 if all(drive["reached"] for run in runs for drive in run["drives"]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
