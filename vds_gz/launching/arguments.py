"""Arguments of the launch files: those of every vehicle, and what a text means.

The launch system is imported inside the functions, so that this module can be imported where there is no ROS.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from vds_gz.configuration import preset_names
from vds_gz.errors import VdsGzError
from vds_gz.parameters.declaration import Value, describe
from vds_gz.parameters.node import NodeParameters
from vds_gz.share import share

if TYPE_CHECKING:
    from launch.actions import DeclareLaunchArgument

#: An argument that was left out: the parameter file decides.
AS_IN_FILE = ""

BOOLEANS = {"true": True, "false": False}


class LaunchError(VdsGzError, RuntimeError):
    """A launch file cannot do what its arguments say. The message says why, and what would be right."""


def vehicle_arguments() -> list[DeclareLaunchArgument]:
    """The arguments of every launch file that starts one vehicle."""
    from launch.actions import DeclareLaunchArgument

    return [
        DeclareLaunchArgument(
            "preset",
            default_value="ackermann_car",
            choices=preset_names(),
            description="The vehicle: a parameter file of this package's config folder.",
        ),
        DeclareLaunchArgument(
            "params_file", default_value="", description="A parameter file of your own, instead of the preset."
        ),
        DeclareLaunchArgument("namespace", default_value="", description="Namespace of the nodes and their topics."),
        robot_state_publisher_argument(),
        DeclareLaunchArgument("rviz", default_value="false", choices=[*BOOLEANS], description="Start RViz."),
        DeclareLaunchArgument(
            "log_level",
            default_value="info",
            choices=["debug", "info", "warn", "error", "fatal"],
            description="The least severity that is logged.",
        ),
    ]


def robot_state_publisher_argument() -> DeclareLaunchArgument:
    """Whether that is started."""
    from launch.actions import DeclareLaunchArgument

    return DeclareLaunchArgument(
        "robot_state_publisher",
        default_value="true",
        choices=[*BOOLEANS],
        description="Publish the transforms base_link -> wheels and sensors.",
    )


def chosen_file(arguments: Mapping[str, str]) -> str:
    """The parameter file that the arguments of :func:`vehicle_arguments` select."""
    return arguments["params_file"] or str(share("config", f"{arguments['preset']}.yaml"))


def boolean(text: str, name: str) -> bool:
    """The value of a launch argument that is true or false."""
    try:
        return BOOLEANS[text.lower()]
    except KeyError:
        raise LaunchError(f"launch argument '{name}' is '{text}'; it must be true or false") from None


def number(text: str, name: str) -> float:
    """The value of a launch argument that is a number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise LaunchError(f"launch argument '{name}' is '{text}'; it must be a finite number")
    return value


def whole_number(text: str, name: str) -> int:
    """The value of a launch argument that is a whole number."""
    try:
        return int(text)
    except ValueError:
        raise LaunchError(f"launch argument '{name}' is '{text}'; it must be a whole number") from None


def given(arguments: Mapping[str, str], names: Iterable[str]) -> dict[str, Value]:
    """Those launch arguments that set the node's parameters of the same name and were not left out."""
    known = {one.name: one for one in describe(NodeParameters())}
    values: dict[str, Value] = {}
    for name in names:
        text = arguments[name]
        if text == AS_IN_FILE:
            continue
        kind = known[name].type
        values[name] = boolean(text, name) if kind == "bool" else number(text, name) if kind == "double" else text
    return values
