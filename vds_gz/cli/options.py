"""``--preset`` and ``--params``: which vehicle a command of the study is about."""

from __future__ import annotations

import argparse
from pathlib import Path

from vds_gz.configuration import parameters_of_file, parameters_of_preset, preset_names
from vds_gz.parameters.node import NodeParameters


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
