"""``vds-gz adopt``: puts the simulated actuators in front of a robot that somebody simulates in Gazebo already."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from vds_gz.core.ros.program_shell import DONE, CommandLine, command
from vds_gz.tools.adopt.geometry_check import GeometryCheck
from vds_gz.tools.adopt.parameter_text import rounded
from vds_gz.tools.adopt.robot_drive import Figure
from vds_gz.tools.adopt.write import Adoption, adopt, short


@command("vds-gz adopt")
def main(argv: list[str]) -> int:
    """Read a robot, write its folder and print what was found."""
    parser = CommandLine(
        "vds-gz adopt",
        usage="vds-gz adopt ROBOT [options] [NAME:=VALUE ...]",
        description="Read a robot's model with a drive plugin or ros2_control. Write a folder with a parameter file "
        "and a copy of the model whose joints follow our actuators. NAME:=VALUE are arguments of a xacro file.",
        epilog="examples:\n  vds-gz adopt turtlebot3_burger/model.sdf\n  vds-gz adopt world.sdf --model vehicle_blue\n"
        "  vds-gz adopt robot.urdf.xacro --output my_robot sim_mode:=true\n",
    )
    parser.add_argument("robot", metavar="ROBOT", help="an SDF, URDF or xacro file, or the folder of a model")
    parser.add_argument("--model", metavar="NAME", help="the robot, in a file with several models")
    parser.add_argument("--output", metavar="FOLDER", help="the folder to write (./ and the model's name)")
    parser.add_argument("--overwrite", action="store_true", help="write into a folder that has files already")
    parser.add_argument(
        "--controllers", metavar="FILE", help="the controllers' YAML, if the plugin names a file that is not here"
    )
    parser.add_argument(
        "--stamped",
        action=argparse.BooleanOptionalAction,
        help="the robot's commands are TwistStamped, or Twist, whatever its files say",
    )
    arguments = [word for word in argv if ":=" in word]
    options = parser.parse_args([word for word in argv if ":=" not in word])
    adoption, folder = adopt(
        Path(options.robot),
        Path(options.output) if options.output else None,
        model=options.model,
        controllers=Path(options.controllers) if options.controllers else None,
        stamped=options.stamped,
        arguments=arguments,
    )
    adoption.write(folder, overwrite=options.overwrite)
    print(report(adoption, folder))
    return DONE


def report(adoption: Adoption, folder: Path) -> str:
    """What was found and written, and the next commands."""
    robot, drive, vehicle = adoption.robot, adoption.drive, adoption.vehicle
    lines = [f"{robot.name}: {drive.what} in {drive.tag.place}, our model {vehicle.model}", ""]
    lines += _table([("", "robot", "joints and collisions"), *map(_checked, vehicle.checks)])
    given = [
        (name, f"{rounded(figure):g}", short(figure.origin, robot))
        for name, figure in vehicle.values.items()
        if _is_shown(figure)
    ]
    lines += ["", *_table([("parameter", "value", "from"), *given])]
    joints = [
        (ours, ", ".join(theirs), _motion_note(ours, vehicle.parts.driven))
        for ours, theirs in vehicle.parts.joints.items()
    ]
    lines += ["", *_table([("our joint", "robot's", ""), *joints])]
    topics = [tuple(remap.split(":=", 1)) for remap in adoption.start.remaps]
    frames = [("odom_frame", drive.odom_frame), ("base_frame", drive.base_frame)]
    lines += ["", *_table([("ours", "robot's"), *topics, *frames])]
    if adoption.sensors:
        lines += ["", *_table([("sensor", "type", "topic"), *((s.name, s.kind, s.topic) for s in adoption.sensors)])]
    disagreements = [_disagreement(check) for check in vehicle.checks if not check.agrees]
    findings = [*disagreements, *adoption.findings]
    if findings:
        lines += ["", *(f"finding: {short(finding, robot)}" for finding in findings)]
    lines += ["", adoption.diff.rstrip()]
    lines += ["", f"written: {folder}", *(f"  {name}" for name in [*adoption.files, *adoption.links])]
    where = shlex.quote(str(_short(folder)))
    lines += ["", "next:", f"  vds-gz gazebo {where}", f"  ros2 launch vds_gz gazebo.launch.py robot:={where}"]
    return "\n".join(lines)


def _checked(check: GeometryCheck) -> tuple[str, str, str]:
    plugin = "-" if check.plugin is None else f"{check.plugin.value:.6g}" + ("" if check.plugin.given else " (default)")
    model = "-" if check.model is None else f"{check.model:.6g}"
    return f"{check.name} [{check.unit}]", plugin, model + ("" if check.agrees else "  <- disagrees")


def _disagreement(check: GeometryCheck) -> str:
    assert check.plugin is not None
    assert check.model is not None
    return (
        f"{check.name}: the plugin has {check.plugin.value:.6g} {check.unit} ({check.plugin.origin}), joints and "
        f"collisions {check.model:.6g} {check.unit}; the plugin's counts, as in Gazebo"
    )


def _is_shown(figure: Figure) -> bool:
    return figure.origin != "unlimited"


def _motion_note(ours: str, driven: set[str]) -> str:
    return "" if ours in driven else "rolls freely"


def _short(folder: Path) -> Path:
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
