"""``vds-gz model``: a vehicle as URDF, as SDF for Gazebo, or its topics for ros_gz_bridge."""

from __future__ import annotations

import argparse
from pathlib import Path

from vds_gz.core.configuration import load_parameters, preset_names
from vds_gz.core.description.gz_bridge import vehicle_bridge
from vds_gz.core.description.sdf import sdf
from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.ros.program_shell import DONE, CommandLine, command
from vds_gz.core.vehicle.catalogue import models

FORMATS = ("urdf", "sdf", "bridge")


@command("vds-gz model")
def main(argv: list[str]) -> int:
    """Write a vehicle."""
    options = _parser().parse_args(argv)
    text = written(load_parameters(options.vehicle), options.format, options.name)
    if options.output:
        Path(options.output).write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return DONE


def written(parameters: NodeParameters, form: str, name: str) -> str:
    """The vehicle in one of the :data:`FORMATS`."""
    model = models()[parameters.model]
    if form == "sdf":
        return sdf(model, parameters.vehicle, name, parameters.sensors)
    if form == "bridge":
        return vehicle_bridge(name, parameters.sensors, parameters.frame_prefix)
    return urdf(model.name, parameters.vehicle, model.xacro, parameters.sensors)


def _parser() -> argparse.ArgumentParser:
    parser = CommandLine(
        "vds-gz model",
        description="Write a vehicle and its sensors: as URDF; as SDF, complete for Gazebo; or its topics as "
        "configuration of ros_gz_bridge.",
        epilog=f"presets: {', '.join(preset_names())}. Exit code: 0 written, 2 wrong use or parameters",
    )
    parser.add_argument("vehicle", metavar="PRESET|FILE", help="a preset, or a ROS 2 parameter file for sim_node")
    parser.add_argument("--format", choices=FORMATS, default="sdf", help="default: %(default)s")
    parser.add_argument("--name", default="vehicle", help="name of the model in Gazebo (default: %(default)s)")
    parser.add_argument("-o", "--output", metavar="FILE", help="file to write; default: standard output")
    return parser
