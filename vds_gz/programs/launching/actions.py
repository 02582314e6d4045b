"""Arguments and actions of launch files that belong to no single vehicle, and checks of required packages.

The launch system is imported inside the functions, so that this module can be imported where there is no ROS.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from vds_gz.core import files
from vds_gz.core.configuration import preset_names
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import Value, describe
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.share import PACKAGE, share

if TYPE_CHECKING:
    from launch.action import Action
    from launch.actions import DeclareLaunchArgument
    from launch_ros.actions import Node

#: An argument that was left out: the parameter file decides.
AS_IN_FILE = ""

BOOLEANS = {"true": True, "false": False}


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
    """The argument that starts robot_state_publisher."""
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
        raise ArgumentError(f"launch argument '{name}' is '{text}'; it must be true or false") from None


def number(text: str, name: str) -> float:
    """The value of a launch argument that is a number."""
    try:
        value = files.number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ArgumentError(f"launch argument '{name}' is '{text}'; it must be a finite number")
    return value


def whole_number(text: str, name: str) -> int:
    """The value of a launch argument that is a whole number."""
    try:
        return files.whole_number(text)
    except ValueError:
        raise ArgumentError(f"launch argument '{name}' is '{text}'; it must be a whole number") from None


def given(arguments: Mapping[str, str], names: Iterable[str]) -> dict[str, Value]:
    """The node's parameters that launch arguments of the same name set."""
    known = {parameter.name: parameter for parameter in describe(NodeParameters())}
    values: dict[str, Value] = {}
    for name in names:
        text = arguments[name]
        if text == AS_IN_FILE:
            continue
        kind = known[name].type
        values[name] = boolean(text, name) if kind == "bool" else number(text, name) if kind == "double" else text
    return values


#: The first robot_state_publisher that can take the description from the topic.
DESCRIPTION_BY_TOPIC = (3, 5, 3)

#: Delay before a recorded drive [s]: ``vds-gz drive`` waits only for the first vehicle.
SETTLING = 3.0


def require(purpose: str, *packages: str, part_of: str = "", instead: str = "") -> None:
    """Refuse to continue if a ROS package is not installed; the message says how to install it."""
    missing = [package for package in packages if not installed(package)]
    if not missing:
        return
    distribution = os.environ.get("ROS_DISTRO", "<distribution>")
    debian = [f"ros-{distribution}-{package.replace('_', '-')}" for package in ([part_of] if part_of else missing)]
    kind = "packages" if len(missing) > 1 else "package"
    raise ArgumentError(
        f"{purpose} needs the ROS {kind} {', '.join(missing)}: sudo apt install {' '.join(debian)}"
        + (f", or {instead}" if instead else "")
    )


def installed(package: str) -> bool:
    """Whether a ROS package is installed."""
    from ament_index_python.packages import PackageNotFoundError, get_package_prefix

    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def description_by_topic() -> bool:
    """Whether the installed robot_state_publisher can take the description from the topic.

    Since release 3.5.3 it can (Rolling of October 2025, Lyrical); that of Jazzy and Kilted knows the parameter only.
    """
    from ament_index_python.packages import get_package_share_directory

    manifest = Path(get_package_share_directory("robot_state_publisher"), "package.xml")
    version = ElementTree.parse(manifest).getroot().findtext("version", "0")
    return tuple(map(int, version.split("."))) >= DESCRIPTION_BY_TOPIC


def rviz(layout: str, use_sim_time: bool, namespace: str = "", remaps: Sequence[tuple[str, str]] = ()) -> Node:
    """The action that starts RViz with a layout of config/rviz."""
    from launch_ros.actions import Node

    require("rviz:=true", "rviz2", instead="launch with rviz:=false")
    return Node(
        package="rviz2",
        executable="rviz2",
        namespace=namespace,
        arguments=["--display-config", str(share("config", "rviz", layout))],
        parameters=[{"use_sim_time": use_sim_time}],
        remappings=remaps,
        output="log",
    )


def drive(log: str, use_sim_time: bool, *, loop: bool = False) -> Action:
    """The action that sends a log of commands, after a delay for the start of all vehicles."""
    from launch.actions import TimerAction
    from launch_ros.actions import Node

    arguments = ["drive", log, *(["--loop"] if loop else [])]
    node = Node(
        package=PACKAGE,
        executable="vds-gz",
        arguments=arguments,
        parameters=[{"use_sim_time": use_sim_time}],
        output="screen",
    )
    return TimerAction(period=SETTLING, actions=[node])
