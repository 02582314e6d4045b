"""A vehicle with its nodes, for launch files.

The launch system is imported inside the functions, so that this module can be imported where there is no ROS.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vds_gz.core import files
from vds_gz.core.configuration import NODE_NAME, parameters_of, read_vehicle_file
from vds_gz.core.description.urdf_reader import BASE_LINK
from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import Override, Value
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.ros.arguments import check_namespace
from vds_gz.core.share import PACKAGE
from vds_gz.core.vehicle.catalogue import models
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import command_types
from vds_gz.programs.launching.actions import description_by_topic, require, rviz

if TYPE_CHECKING:
    from launch.action import Action
    from launch_ros.actions import Node


@dataclass(frozen=True)
class LaunchedVehicle:
    """A simulated vehicle, as a launch file describes it."""

    params_file: str  # its parameter file, written for ``sim_node`` or for the node in its namespace
    namespace: str = ""  # its namespace; empty for none
    overrides: Mapping[str, Value] = field(default_factory=dict)  # parameters that replace those of the file
    remaps: Sequence[tuple[str, str]] = ()  # topics: name and new name
    tf: str = topics.TF.name  # the topic of its transforms; the static ones go to the same name with ``_static``
    pose: tuple[float, float, float] = (0.0, 0.0, 0.0)  # its initial pose: x [m], y [m], yaw [rad]
    log_level: str = "info"  # the minimum severity that its nodes log

    def values(self) -> list[Override]:
        """The parameters for the node, in the order of reading.

        The section ``sim_node:`` applies in every namespace, see :func:`vds_gz.core.configuration.read_vehicle_file`.
        """
        read = read_vehicle_file(self.params_file, f"{self._absolute_namespace.rstrip('/')}/{NODE_NAME}")
        return read + [Override(name, value, "launch argument") for name, value in self.overrides.items()]

    def parameters(self) -> NodeParameters:
        """The parameters that the node will have."""
        return parameters_of(self.values())

    @property
    def _absolute_namespace(self) -> str:
        return check_namespace("/" + self.namespace.strip("/"), "launch argument 'namespace'")

    @property
    def _remaps(self) -> list[tuple[str, str]]:
        if self.tf == topics.TF.name:
            return [*self.remaps]
        return [*self.remaps, (topics.TF.name, self.tf), (topics.TF_STATIC.name, f"{self.tf}_static")]

    def node(self) -> Node:
        """The action that starts the simulation; its end ends the launch."""
        from launch.actions import Shutdown
        from launch_ros.actions import Node

        self.parameters()  # Errors are reported here, before anything starts.
        return Node(
            package=PACKAGE,
            executable=NODE_NAME,
            namespace=self.namespace,
            arguments=[self.params_file] if self.params_file else [],
            parameters=[dict(self.overrides)] if self.overrides else [],
            remappings=self._remaps,
            ros_arguments=["--log-level", self.log_level],
            output="screen",
            on_exit=Shutdown(reason=f"{NODE_NAME} has ended"),
        )

    def robot_state_publisher(self, description: str) -> Node:
        """The action that starts robot_state_publisher, which adds base_link -> wheels from joint_states.

        It takes the robot description from the ``topic``, as a ``parameter``, or as its version can (``auto``).
        """
        program = "robot_state_publisher"
        require(f"{program}:=true", program, instead=f"launch with {program}:=false")
        from launch_ros.actions import Node
        from launch_ros.parameter_descriptions import ParameterValue

        parameters = self.parameters()
        if parameters.base_frame != BASE_LINK:
            raise ArgumentError(
                f"parameter 'base_frame' is '{parameters.base_frame}', but the robot description made here begins at "
                f"'{BASE_LINK}'; use that, or start a {program} with your own description, and launch with "
                f"{program}:=false where the launch file has that argument"
            )
        remaps = self._remaps
        if description == "topic" or (description == "auto" and description_by_topic()):
            source: dict[str, object] = {"use_robot_description_topic": True}
        else:
            text = urdf(parameters.model, parameters.vehicle, models()[parameters.model].xacro, parameters.sensors)
            source = {topics.ROBOT_DESCRIPTION.name: ParameterValue(text, value_type=str)}
            # It would publish the description a second time, beside the node itself.
            remaps = [*remaps, (topics.ROBOT_DESCRIPTION.name, "~/robot_description")]
        settings = {
            "use_sim_time": on_simulation_time(parameters),
            "frame_prefix": parameters.frame_prefix,
            "publish_frequency": min(parameters.pub_rate, 1000.0),
        }
        return Node(
            package=program,
            executable=program,
            namespace=self.namespace,
            parameters=[settings, source],
            remappings=remaps,
            ros_arguments=["--log-level", self.log_level],
            output="screen",
        )

    def own_state_publisher(self, description: Path) -> Node:
        """The action that starts robot_state_publisher with a URDF file of the robot's own."""
        program = "robot_state_publisher"
        require(f"{program}:=true", program, instead=f"launch with {program}:=false")
        from launch_ros.actions import Node
        from launch_ros.parameter_descriptions import ParameterValue

        parameters = self.parameters()
        text = files.read_text(description)
        return Node(
            package=program,
            executable=program,
            namespace=self.namespace,
            parameters=[
                {"use_sim_time": on_simulation_time(parameters), "frame_prefix": parameters.frame_prefix},
                {topics.ROBOT_DESCRIPTION.name: ParameterValue(text, value_type=str)},
            ],
            ros_arguments=["--log-level", self.log_level],
            output="screen",
        )

    def set_initial_pose(self) -> list[Action]:
        """The action that sets the vehicle's pose, by ``initialpose``; none at the origin."""
        from launch.actions import ExecuteProcess

        if not any(self.pose):
            return []
        x, y, yaw = self.pose
        parameters = self.parameters()
        if not parameters.initialpose_moves_vehicle:
            raise ArgumentError(
                f"launch arguments x, y, yaw are {x:g}, {y:g}, {yaw:g}, but with localization.amcl.initialpose 'amcl' "
                "the initial pose does not move the vehicle; leave them out, or set it to 'both' or 'vehicle'"
            )
        frame = parameters.frame_prefix + parameters.map_frame
        orientation = f"{{z: {math.sin(yaw / 2)!r}, w: {math.cos(yaw / 2)!r}}}"
        message = f"{{header: {{frame_id: {frame}}}, pose: {{pose: {{position: {{x: {x!r}, y: {y!r}}}, "
        message += f"orientation: {orientation}}}}}}}"
        topic = f"{self._absolute_namespace.rstrip('/')}/{topics.INITIALPOSE.name}"
        # `--once` waits for the node, but a message at the instant of discovery can still be lost.
        publish = ["ros2", "topic", "pub", "--times", "3", "--rate", "10", "--wait-matching-subscriptions", "1"]
        return [
            ExecuteProcess(cmd=[*publish, topic, topics.INITIALPOSE.type, message], name="initialpose", output="log")
        ]

    def rviz(self) -> Node:
        """The action that starts RViz with a view of this vehicle."""
        parameters = self.parameters()
        if parameters.frame_prefix:
            raise ArgumentError(
                f"frame_prefix is '{parameters.frame_prefix}', and rviz:=true shows frames without prefix; "
                "launch with rviz:=false and set the fixed frame and the model's TF Prefix in RViz, as "
                "config/rviz/side_by_side.rviz does"
            )
        return rviz("vehicle.rviz", on_simulation_time(parameters), self.namespace, self._remaps)

    def common_map(self, y: float) -> Node:
        """The action that publishes the transform from ``map`` to the vehicle's map frame, at ``y`` [m]."""
        from launch_ros.actions import Node

        parameters = self.parameters()
        child = parameters.frame_prefix + parameters.map_frame
        return Node(
            package="tf2_ros",
            executable="static_transform_publisher",
            name="common_map",
            namespace=self.namespace,
            arguments=["--y", str(y), "--frame-id", parameters.map_frame, "--child-frame-id", child],
            output="log",
        )

    def actions(self, *, robot_state_publisher: bool = True, description: str = "auto") -> list[Action]:
        """Everything that starts this vehicle."""
        actions = [self.node(), *self.set_initial_pose()]
        if robot_state_publisher:
            actions.append(self.robot_state_publisher(description))
        return actions


def common_commands() -> list[tuple[str, str]]:
    """Remaps by which vehicles in different namespaces take the same commands."""
    return [(name, f"/{name}") for name in dict.fromkeys(kind.topic.name for kind in command_types())]


def on_simulation_time(parameters: NodeParameters) -> bool:
    """Whether the nodes beside this one must follow ``/clock``."""
    return parameters.use_sim_time or parameters.be_reference_clock
