"""What the launch files share: a vehicle with everything that goes with it, from a few arguments.

The launch system is imported inside the functions, so that this module can be imported where there is no ROS.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from vds_gz.configuration import NODE_NAME, parameters_of, preset_names
from vds_gz.description.urdf import urdf
from vds_gz.errors import ArgumentError, VdsGzError
from vds_gz.interface import topics
from vds_gz.parameters.description import ParameterError, Value, describe
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.override import Override
from vds_gz.parameters.yaml_reader import read_parameter_file
from vds_gz.ros.names import check_namespace
from vds_gz.share import PACKAGE, share
from vds_gz.vehicle.catalogue import models

#: The first robot_state_publisher that can take the description from the topic.
DESCRIPTION_BY_TOPIC = (3, 5, 3)

#: An argument that was left out: the parameter file decides.
AS_IN_FILE = ""

#: Before a recorded drive begins [s]: it waits for the first vehicle that listens, not for all.
SETTLING = 3.0

BOOLEANS = {"true": True, "false": False}


class LaunchError(VdsGzError, RuntimeError):
    """A launch file cannot do what it was asked for. The message says why, and what would be right."""


# ---------------------------------------------------------------------- arguments


def vehicle_arguments() -> list[Any]:
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
        DeclareLaunchArgument(
            "robot_state_publisher",
            default_value="true",
            choices=[*BOOLEANS],
            description="Publish the transforms base_link -> wheels and sensors.",
        ),
        DeclareLaunchArgument("rviz", default_value="false", choices=[*BOOLEANS], description="Start RViz."),
        DeclareLaunchArgument(
            "log_level",
            default_value="info",
            choices=["debug", "info", "warn", "error", "fatal"],
            description="The least severity that is logged.",
        ),
    ]


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
        return float(text)
    except ValueError:
        raise LaunchError(f"launch argument '{name}' is '{text}'; it must be a number") from None


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


# ---------------------------------------------------------------------- a vehicle


@dataclass(frozen=True)
class Vehicle:
    """A simulated vehicle, as a launch file describes it.

    Attributes:
        params_file: Its parameter file, written for ``sim_node`` or for the node in its namespace.
        namespace: Its namespace; empty for none.
        overrides: Parameters that replace those of the file.
        remaps: Topics: name and other name.
        tf: The topic of its transforms; the static ones go to the same name with ``_static``.
        pose: Where to put it at the start: x [m], y [m], yaw [rad].
        log_level: The least severity that its nodes log.
    """

    params_file: str
    namespace: str = ""
    overrides: Mapping[str, Value] = field(default_factory=dict)
    remaps: Sequence[tuple[str, str]] = ()
    tf: str = topics.TF.name
    pose: tuple[float, float, float] = (0.0, 0.0, 0.0)
    log_level: str = "info"

    def values(self) -> list[Override]:
        """What the node is told, in the order of reading.

        In a namespace the section ``sim_node:`` of a file would not be the node's any more. Here it is, so that every
        parameter file goes with every namespace; a section for the node with its namespace comes second and wins.
        """
        plain = f"/{NODE_NAME}"
        full = self._absolute_namespace.rstrip("/") + plain
        read: list[Override] = []
        refused: ArgumentError | None = None
        for name in dict.fromkeys((plain, full)):
            try:
                found = read_parameter_file(self.params_file, name)
            except ArgumentError as error:
                refused = error
            else:
                read += [Override(one.name, one.value, one.origin) for one in found]
        if refused and not read:
            raise refused
        return read + [Override(name, value, "launch argument") for name, value in self.overrides.items()]

    def parameters(self) -> NodeParameters:
        """The parameters that the node will have.

        Raises:
            LaunchError: The node would refuse them.
        """
        try:
            return parameters_of(self.values())
        except (ArgumentError, ParameterError) as error:
            raise LaunchError(str(error)) from None

    @property
    def _absolute_namespace(self) -> str:
        return check_namespace("/" + self.namespace.strip("/"), "launch argument 'namespace'")

    @property
    def _remaps(self) -> list[tuple[str, str]]:
        if self.tf == topics.TF.name:
            return [*self.remaps]
        return [*self.remaps, (topics.TF.name, self.tf), (topics.TF_STATIC.name, f"{self.tf}_static")]

    def node(self) -> Any:
        """The action that starts the simulation; when it ends, so does everything."""
        from launch.actions import Shutdown
        from launch_ros.actions import Node

        self.parameters()  # What is wrong is said here, before anything starts.
        return Node(
            package=PACKAGE,
            executable=NODE_NAME,
            namespace=self.namespace,
            parameters=[{one.name: one.value for one in self.values()}],
            remappings=self._remaps,
            ros_arguments=["--log-level", self.log_level],
            output="screen",
            on_exit=Shutdown(reason=f"{NODE_NAME} has ended"),
        )

    def robot_state_publisher(self, by_topic: bool) -> Any:
        """The action that starts robot_state_publisher, which adds base_link -> wheels from joint_states.

        Args:
            by_topic: The description comes on the topic, from the node; else as a parameter, made here from the same
                parameters.
        """
        from launch_ros.actions import Node
        from launch_ros.parameter_descriptions import ParameterValue

        program = "robot_state_publisher"
        require(f"{program}:=true", program, instead=f"launch with {program}:=false")
        parameters = self.parameters()
        remaps = self._remaps
        if by_topic:
            description: dict[str, Any] = {"use_robot_description_topic": True}
        else:
            text = urdf(parameters.model, parameters.vehicle, models()[parameters.model].xacro, parameters.sensors)
            description = {topics.ROBOT_DESCRIPTION.name: ParameterValue(text, value_type=str)}
            # It would publish the description a second time, beside the node itself.
            remaps = [*remaps, (topics.ROBOT_DESCRIPTION.name, "~/robot_description")]
        others = {
            "use_sim_time": on_simulation_time(parameters),
            "frame_prefix": parameters.frame_prefix,
            "publish_frequency": min(parameters.pub_rate, 1000.0),
        }
        return Node(
            package=program,
            executable=program,
            namespace=self.namespace,
            parameters=[others, description],
            remappings=remaps,
            ros_arguments=["--log-level", self.log_level],
            output="screen",
        )

    def put(self) -> list[Any]:
        """The action that puts the vehicle at its pose, by ``initialpose``; none where it starts at the origin."""
        from launch.actions import ExecuteProcess

        if not any(self.pose):
            return []
        x, y, yaw = self.pose
        parameters = self.parameters()
        frame = parameters.frame_prefix + parameters.map_frame
        orientation = f"{{z: {math.sin(yaw / 2)!r}, w: {math.cos(yaw / 2)!r}}}"
        message = f"{{header: {{frame_id: {frame}}}, pose: {{pose: {{position: {{x: {x!r}, y: {y!r}}}, "
        message += f"orientation: {orientation}}}}}}}"
        topic = f"{self._absolute_namespace.rstrip('/')}/{topics.INITIALPOSE.name}"
        # `--once` waits for the node, but what is sent in the instant of finding it can still be lost.
        publish = ["ros2", "topic", "pub", "--times", "3", "--rate", "10", "--wait-matching-subscriptions", "1"]
        return [ExecuteProcess(cmd=[*publish, topic, topics.INITIALPOSE.type, message], name="put", output="log")]

    def rviz(self) -> Any:
        """The action that starts RViz with a view of this vehicle."""
        parameters = self.parameters()
        if parameters.frame_prefix:
            raise LaunchError(
                f"frame_prefix is '{parameters.frame_prefix}', and rviz:=true shows frames without prefix; "
                "launch with rviz:=false and set the fixed frame and the model's TF Prefix in RViz, as "
                "config/rviz/side_by_side.rviz does"
            )
        return rviz("vehicle.rviz", on_simulation_time(parameters), self.namespace, self._remaps)

    def actions(self, *, robot_state_publisher: bool = True, description: str = "auto") -> list[Any]:
        """Everything that starts this vehicle.

        Args:
            robot_state_publisher: Whether that is part of it.
            description: How it gets the description: ``topic``, ``parameter``, or ``auto``: whichever it can.
        """
        actions = [self.node(), *self.put()]
        if robot_state_publisher:
            by_topic = description_by_topic() if description == "auto" else description == "topic"
            actions.append(self.robot_state_publisher(by_topic))
        return actions


def on_simulation_time(parameters: NodeParameters) -> bool:
    """Whether the nodes beside this one must follow ``/clock``."""
    return parameters.use_sim_time or parameters.be_reference_clock


def rviz(layout: str, use_sim_time: bool, namespace: str = "", remaps: Sequence[tuple[str, str]] = ()) -> Any:
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


def common_map(vehicle: Vehicle, y: float) -> Any:
    """The action that hangs a vehicle's map frame up in the frame ``map``.

    Args:
        vehicle: One with a frame prefix.
        y: Where its map has its origin [m].
    """
    from launch_ros.actions import Node

    parameters = vehicle.parameters()
    child = parameters.frame_prefix + parameters.map_frame
    return Node(
        package="tf2_ros",
        executable="static_transform_publisher",
        name="common_map",
        namespace=vehicle.namespace,
        arguments=["--y", str(y), "--frame-id", parameters.map_frame, "--child-frame-id", child],
        output="log",
    )


def drive(log: str, use_sim_time: bool, *, loop: bool = False) -> Any:
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
