"""The configuration of a vehicle: which model, its parameters and those of its node, from a preset or a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vds_gz.errors import ArgumentError
from vds_gz.parameters import load, yaml_writer
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.override import Override
from vds_gz.parameters.yaml_reader import read_parameter_file
from vds_gz.share import share
from vds_gz.vehicle.catalogue import models

#: The node that simulates a vehicle, and its section in parameter files.
NODE_NAME = "sim_node"


def parameter_groups() -> dict[str, type[Any]]:
    """The parameter group of every vehicle model, by the model's name."""
    return {name: model.parameters for name, model in models().items()}


def load_parameters(overrides: Iterable[Override]) -> NodeParameters:
    """Parameters with these values and defaults for the rest.

    Raises:
        ParameterError: A name is unknown, or a value is not allowed.
    """
    return load.load(overrides, parameter_groups())


def default_parameters() -> NodeParameters:
    """The defaults of everything, with the parameters of all models."""
    return NodeParameters(model_params={name: group() for name, group in parameter_groups().items()})


def parameters_of_file(path: str | Path) -> NodeParameters:
    """The parameters in a ROS 2 parameter file for the node.

    Raises:
        ArgumentError: It is no parameter file of the node.
        ParameterError: A value in it is wrong.
    """
    return load_parameters(read_parameter_file(str(path), f"/{NODE_NAME}"))


def parameters_of_preset(name: str) -> NodeParameters:
    """The parameters of a vehicle that comes with the package.

    Raises:
        ArgumentError: There is no such preset.
    """
    return parameters_of_file(preset_file(name))


def preset_file(name: str) -> Path:
    """The parameter file of a preset, e.g. of ``deepracer``.

    Raises:
        ArgumentError: There is no such preset.
    """
    if name not in preset_names():
        raise ArgumentError(f"there is no preset '{name}'; presets are {', '.join(preset_names())}")
    return share("config", f"{name}.yaml")


def preset_names() -> list[str]:
    """The vehicles that come with the package: files of ``config/`` with a section for the node."""
    files = share("config").glob("*.yaml")
    return sorted(file.stem for file in files if f"\n{NODE_NAME}:" in "\n" + file.read_text(encoding="utf-8"))


def write_parameters(path: Path, overrides: Iterable[Override], head: str) -> None:
    """Write a parameter file of the node, after seeing that the node will take it.

    Args:
        path: The file.
        overrides: Names and values; of several for one name the last counts. Their origins become remarks.
        head: Remark at the top.

    Raises:
        ParameterError: The node would refuse them.
    """
    overrides = list(overrides)
    load_parameters(overrides)
    yaml_writer.write(path, overrides, head)
