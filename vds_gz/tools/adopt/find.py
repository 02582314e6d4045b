"""The drive of a robot, whichever plugin moves it."""

from __future__ import annotations

import math
from pathlib import Path

from vds_gz.tools.adopt import geometry_check as geometry
from vds_gz.tools.adopt import joint_drive, ros2_controllers
from vds_gz.tools.adopt.classic_plugins import OF_CLASSIC, REFUSED
from vds_gz.tools.adopt.plugins import OF_GZ_SIM, PluginKind, Settings, names_of, plugins_of
from vds_gz.tools.adopt.robot_drive import NamedJoint, RobotDrive, listed
from vds_gz.tools.adopt.robot_file import RobotFile
from vds_gz.tools.adopt.structure import Structure, root_of
from vds_gz.tools.adopt.xml_text import Tag

#: Every kind of plugin that drives wheels.
KINDS: tuple[PluginKind, ...] = (*OF_GZ_SIM, *OF_CLASSIC)


def has_drive(model: Tag) -> bool:
    """Whether a model has a drive that is known here."""
    known = ros2_controllers.PLUGINS.union(ros2_controllers.ROS1_PLUGINS, *(kind.names for kind in (*KINDS, *REFUSED)))
    return any(names_of(plugin) & known for plugin in plugins_of(model))


def find_drive(
    robot: RobotFile, structure: Structure, controllers: Path | None = None, stamped: bool | None = None
) -> RobotDrive:
    """The drive of a robot.

    A plugin of gz-sim counts before ros2_control, and that before Gazebo Classic, because several may be left from
    earlier releases.

    Args:
        robot: The robot.
        structure: Its joints.
        controllers: The controllers' YAML, if it is not the file that the plugin names.
        stamped: Whether commands are TwistStamped; None for what the robot's files say.

    Raises:
        ArgumentError: There is no drive, several or an incomplete one.
        WorldError: The same, with the line in the robot's file.
    """
    plugins = list(plugins_of(robot.model))
    for kinds in (OF_GZ_SIM, OF_CLASSIC, REFUSED):
        if kinds is OF_CLASSIC and (plugin := _ros2_control(plugins)) is not None:
            return ros2_controllers.read(plugin, robot.library, structure, controllers, stamped)
        found = [(plugin, kind) for plugin in plugins for kind in kinds if names_of(plugin) & kind.names]
        if len(found) > 1:
            lines = listed(f"{kind.what} in line {plugin.line}" for plugin, kind in found)
            robot.model.fail(f"'{robot.name}' has {len(found)} drive plugins: {lines}; a robot must have one")
        for plugin, kind in found:
            settings = Settings(plugin, kind.what, robot.name, root_of(structure))
            drive = kind.read(settings)
            drive.findings += settings.unknown() if kinds is OF_GZ_SIM else []
            return drive
    if by_joints := _of_joints(robot, structure, plugins):
        return by_joints
    there = listed(sorted({plugin.get("filename", "") or plugin.get("name", "") for plugin in plugins}))
    inner = [tag for tag in robot.model.tags("model", "include") if not robot.is_urdf]
    remedy = "; a drive in an included model is found in that model's own file" if inner else ""
    robot.model.fail(
        f"'{robot.name}' has no drive that is known here; its plugins are {there}. Known are "
        f"{listed(kind.what for kind in KINDS)} and "
        f"gz_ros2_control{remedy}"
    )


def _ros2_control(plugins: list[Tag]) -> Tag | None:
    """The plugin that loads ros2_control; None without one."""
    found = [plugin for plugin in plugins if names_of(plugin) & ros2_controllers.PLUGINS]
    # A robot for several simulators may load one of ROS 1's or Classic's plugins beside it.
    found = [plugin for plugin in found if "gazebo_ros2_control" not in names_of(plugin)] or found
    return found[0] if found else None


def _of_joints(robot: RobotFile, structure: Structure, plugins: list[Tag]) -> RobotDrive | None:
    """A drive of which only the joints are known: those of transmissions, or of ros2_control without a plugin."""
    if not robot.is_urdf:
        return None
    exchanged = [plugin for plugin in plugins if names_of(plugin) & ros2_controllers.ROS1_PLUGINS]
    joints = joint_drive.transmissions(robot.model) or joint_drive.interfaces(robot.model)
    joints = [named for named in joints if named.joint in structure.joints and structure.joints[named.joint].turns]
    what = "joints of <transmission> or <ros2_control>"
    if exchanged and not joints:
        what, joints = "gazebo_ros_control", _by_shape(structure, exchanged[0])
    if not joints:
        return None
    drive = joint_drive.of_joints(what, exchanged[0] if exchanged else robot.model, joints, structure)
    drive.findings.append(
        "no plugin says the geometry, so it is that of the joints' poses and of the wheels' collisions"
    )
    return drive


def _by_shape(structure: Structure, plugin: Tag) -> list[NamedJoint]:
    """The joints that look like wheels of a fixed axle, and like hinges with stops that steer others."""
    hinges = [
        joint
        for joint in structure.joints.values()
        if joint.turns
        and geometry.vertical(joint)
        and math.isfinite(joint.upper)
        and geometry.steered_below(structure, joint)
    ]
    steered = [wheel.name for hinge in hinges for wheel in geometry.steered_below(structure, hinge)]
    joints = [*hinges, *geometry.rolling(structure, steered)]
    return [NamedJoint(joint.name, plugin.place) for joint in joints]
