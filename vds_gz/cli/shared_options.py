"""Options that several commands share."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from vds_gz.core import files
from vds_gz.core.configuration import NODE_NAME, parameters_of_file, preset_file, preset_names
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.yaml_reader import Interval, read_intervals
from vds_gz.tools.study.workers import Workers, workers_of


def split_ros_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments before ``--ros-args``, and those after it."""
    end = arguments.index("--ros-args") if "--ros-args" in arguments else len(arguments)
    return list(arguments[:end]), list(arguments[end + 1 :])


def number(text: str) -> float:
    """The value of an option: a finite number."""
    try:
        value = files.number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"'{text}' must be a finite number")
    return value


def positive(text: str) -> float:
    """The value of an option: a number greater than 0."""
    try:
        value = files.number(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' must be a finite number greater than 0")
    return value


def whole(least: int, most: int) -> Callable[[str], int]:
    """The value of an option: a whole number within bounds."""

    def number_within(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"'{text}' must be a whole number from {least} to {most}")
        return int(text)

    return number_within


def add_workers_option(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--workers``: the workers of a study's tasks."""
    parser.add_argument(
        "--workers",
        type=_workers,
        metavar="N|ADDRESS",
        help="N processes of this machine, or the workers of a Dask scheduler, as tcp://host:8786 or tls://host:8786 "
        "(auto: this process)",
    )


def _workers(text: str) -> Workers:
    try:
        return workers_of(text)
    except ArgumentError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_topic_option(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--topic``: the topic of a bag with the commands."""
    parser.add_argument("--topic", metavar="NAME", help="the topic of a bag, if several have commands")


def add_except_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option ``--except``: topics that are not recorded."""
    parser.add_argument("--except", metavar="TOPIC", dest="left_out", action="append", default=[], help=what)


def add_domain_option(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--domain``, which :func:`enter_domain` reads."""
    parser.add_argument(
        "--domain", type=whole(0, 232), metavar="ID", help="ROS_DOMAIN_ID (that of the environment, else 0)"
    )


def enter_domain(domain: int | None) -> None:
    """Join this domain, also for programs that this one starts."""
    if domain is not None:
        os.environ["ROS_DOMAIN_ID"] = str(domain)


def add_vehicle_options(
    parser: argparse.ArgumentParser, *, required: bool = True, default: str | None = None, shown_default: str = ""
) -> None:
    """Add the options that select a vehicle; the help shows ``shown_default`` where the program sets the default."""
    vehicle = parser.add_mutually_exclusive_group(required=required)
    shown = default or shown_default
    known = f"a vehicle: {', '.join(preset_names())}" + (f" ({shown})" if shown else "")
    vehicle.add_argument("--preset", metavar="NAME", default=default, help=known)
    vehicle.add_argument("--params", metavar="FILE", help="your own parameter file; `vds-gz check FILE` checks it")


def vehicle_of(options: argparse.Namespace) -> NodeParameters:
    """The selected parameters."""
    return parameters_of_file(parameter_file_of(options))


def parameter_file_of(options: argparse.Namespace) -> str:
    """The selected parameter file."""
    return options.params or str(preset_file(options.preset))


def intervals_of(vehicle: NodeParameters, file: str | Path) -> dict[str, Interval]:
    """The intervals in a vehicle's parameter file, by the names of parameters below those of its model."""
    group = f"model_params.{vehicle.model}."
    intervals = read_intervals(file, f"/{NODE_NAME}").items()
    return {name.removeprefix(group): interval for name, interval in intervals if name.startswith(group)}


def output_folder(path: str) -> Path:
    """The folder of ``-o``; a file of this name is refused before any work. Writers make the folder."""
    folder = Path(path)
    if file := next((part for part in (folder, *folder.parents) if part.is_file()), None):
        raise ArgumentError(f"-o '{folder}' must be a folder, but '{file}' is a file; give another name")
    return folder
