"""``--preset`` and ``--params``: which vehicle a command of the study is about."""

from __future__ import annotations

import argparse
from pathlib import Path

from vds_gz.parameters.load import load
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.yaml_reader import read_parameter_file
from vds_gz.ros.errors import ArgumentError
from vds_gz.share import share
from vds_gz.vehicle.catalogue import models

NODE = "/sim_node"


def add_vehicle_options(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Let a command line say which vehicle."""
    vehicle = parser.add_mutually_exclusive_group(required=required)
    vehicle.add_argument("--preset", metavar="NAME", help=f"a vehicle: {', '.join(preset_names())}")
    vehicle.add_argument("--params", metavar="FILE", help="your own parameter file; `vds-gz check FILE` looks it over")


def vehicle_of(options: argparse.Namespace) -> NodeParameters:
    """The parameters that were chosen.

    Raises:
        ArgumentError: There is no such preset or file.
        ParameterError: A value is wrong.
    """
    return parameters_of_file(Path(options.params)) if options.params else parameters_of_preset(options.preset)


def parameters_of_preset(name: str) -> NodeParameters:
    """The parameters of a vehicle of this package.

    Raises:
        ArgumentError: There is no such preset.
    """
    if name not in preset_names():
        raise ArgumentError(f"there is no preset '{name}'; there are {', '.join(preset_names())}")
    return parameters_of_file(share("config", f"{name}.yaml"))


def parameters_of_file(path: Path) -> NodeParameters:
    """The parameters in a file.

    Raises:
        ArgumentError: It is no parameter file of ours.
        ParameterError: A value is wrong.
    """
    return load(read_parameter_file(str(path), NODE), {name: model.parameters for name, model in models().items()})


def preset_names() -> list[str]:
    """Names of the vehicles that come with the package."""
    files = share("config").glob("*.yaml")
    return sorted(file.stem for file in files if "\nsim_node:" in "\n" + file.read_text(encoding="utf-8"))
