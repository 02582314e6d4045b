"""Actions of launch files that belong to no single vehicle, and what has to be installed for them.

The launch system is imported inside the functions, so that this module can be imported where there is no ROS.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from vds_gz.launching.arguments import LaunchError
from vds_gz.share import PACKAGE, share

if TYPE_CHECKING:
    from launch.action import Action
    from launch_ros.actions import Node

#: The first robot_state_publisher that can take the description from the topic.
DESCRIPTION_BY_TOPIC = (3, 5, 3)

#: Before a recorded drive begins [s]: it waits for the first vehicle that listens, not for all.
SETTLING = 3.0


def require(purpose: str, *packages: str, part_of: str = "", instead: str = "") -> None:
    """Make sure that ROS packages are installed.

    Args:
        purpose: What needs them, for the message.
        packages: The packages.
        part_of: A package that brings them all.
        instead: What can be done without them, for the message.

    Raises:
        LaunchError: One is not; the message says how to install it.
    """
    missing = [package for package in packages if not installed(package)]
    if not missing:
        return
    distribution = os.environ.get("ROS_DISTRO", "<distribution>")
    debian = [f"ros-{distribution}-{package.replace('_', '-')}" for package in ([part_of] if part_of else missing)]
    kind = "packages" if len(missing) > 1 else "package"
    raise LaunchError(
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
    """Whether the robot_state_publisher that is installed can take the description from the topic.

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
    """The action that sends a log of commands, after a moment in which all vehicles can come up."""
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
