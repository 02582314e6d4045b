"""The drive plugins of Gazebo Classic, as a source of numbers; ROS 1's versions write their elements in camel case.

Elements and defaults are those of gazebo_plugins, branches ``ros2`` and ``noetic-devel``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from vds_gz.tools.adopt.plugins import PluginKind, Settings
from vds_gz.tools.adopt.robot_drive import DriveKind, Figure, RobotDrive, fail
from vds_gz.tools.adopt.xml_text import Tag


def _either(settings: Settings, name: str, default: float) -> Figure:
    """A number by its name with underscores, or in camel case."""
    return settings.optional(name) or settings.figure(_camel(name), default)


def _text(settings: Settings, name: str, default: str) -> str:
    return settings.text(name) or settings.text(_camel(name)) or default


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _radius(settings: Settings, default: float) -> Figure:
    diameter = _either(settings, "wheel_diameter", default)
    return Figure(diameter.value / 2.0, diameter.origin, diameter.given)


def _drive(kind: DriveKind, settings: Settings, base_frame: str = "base_footprint") -> RobotDrive:
    return RobotDrive(kind, settings.what, settings.plugin, base_frame=base_frame, findings=settings.findings)


def _topics(settings: Settings, drive: RobotDrive) -> None:
    """Topics and frames: elements of ROS 1, remappings of ROS 2."""
    topics = topics_of(settings.plugin)
    drive.command_topic = topics.name(_text(settings, "command_topic", "cmd_vel"))
    drive.odometry_topic = topics.name(_text(settings, "odometry_topic", "odom"))
    drive.odom_frame = _text(settings, "odometry_frame", "odom")
    drive.base_frame = _text(settings, "robot_base_frame", drive.base_frame)
    drive.rate = _either(settings, "update_rate", 100.0)
    settings.findings.append(
        f"{settings.what} is of Gazebo Classic: other plugins of Classic in the model have no effect"
    )


@dataclass(frozen=True, slots=True)
class Topics:
    """The names of a plugin's topics: https://design.ros2.org/articles/static_remapping.html

    Attributes:
        namespace: Its namespace, without ``/`` at the ends.
        remaps: The remappings in ``<ros>``, from a name without ``~/`` and ``/`` at its start to another one.
    """

    namespace: str
    remaps: Mapping[str, str]

    def name(self, topic: str, node: str = "") -> str:
        """The name of a topic, or of a node's own topic."""
        if topic.startswith("/"):
            return topic
        name = self.remapped(topic, node) or _joined(node, topic)
        return name if name.startswith("/") else _joined(self.namespace, name)

    def remapped(self, topic: str, node: str = "") -> str | None:
        """The other name of a topic; None without one."""
        inner = _joined(node, topic)
        names = (topic, inner, _joined(self.namespace, inner))
        return next((self.remaps[name] for name in names if name in self.remaps), None)


def _joined(*names: str) -> str:
    return "/".join(filter(None, names))


def topics_of(plugin: Tag) -> Topics:
    """The names of a plugin's topics, by ``<ros>`` of ROS 2 or ``<robotNamespace>`` of ROS 1."""
    remaps = {}
    namespace = plugin.value("robotNamespace")
    for ros in plugin.tags("ros"):
        namespace = ros.value("namespace") or namespace
        for tag in ros.tags("remapping"):
            before, equals, after = (tag.text or "").strip().partition(":=")
            if equals and after:
                remaps[before.removeprefix("~/").lstrip("/")] = after
    return Topics(namespace.strip().strip("/"), remaps)


def diff_drive(settings: Settings) -> RobotDrive:
    """``libgazebo_ros_diff_drive.so``: one or several pairs of wheels, whose acceleration may be limited."""
    drive = _drive("differential", settings)
    drive.joints = {
        side: settings.joints(f"{side}_joint") or settings.required(f"{side}Joint") for side in ("left", "right")
    }
    settings.text("num_wheel_pairs")
    for name in ("wheel_separation", "wheel_diameter"):
        values = {(tag.text or "").strip() for tag in settings.plugin.tags(name, _camel(name))}
        if len(values) > 1:
            settings.findings.append(
                f"the pairs of wheels have different <{name}>: {', '.join(sorted(values))}; the first counts"
            )
    drive.figures = {
        "track": _either(settings, "wheel_separation", 0.34),
        "wheel_radius": _radius(settings, 0.15),
    }
    acceleration = settings.optional("max_wheel_acceleration") or settings.optional("wheelAcceleration")
    if acceleration and acceleration.value > 0.0:
        drive.limits["drive_actuators.max_acceleration"] = acceleration
    _topics(settings, drive)
    return drive


def skid_steer(settings: Settings) -> RobotDrive:
    """``libgazebo_ros_skid_steer_drive.so`` of ROS 1."""
    drive = _drive("differential", settings)
    for side in ("left", "right"):
        drive.joints[side] = [
            *settings.required(f"{side}FrontJoint"),
            *settings.joints(f"{side}MiddleJoint"),
            *settings.required(f"{side}RearJoint"),
        ]
    drive.figures = {"track": _either(settings, "wheel_separation", 0.4), "wheel_radius": _radius(settings, 0.15)}
    _topics(settings, drive)
    return drive


def _angle_finding(settings: Settings) -> None:
    settings.findings.append(
        f"{settings.what} reads angular.z as the steering angle [rad]; the node reads it as the yaw rate [rad/s]"
    )


def ackermann_drive(settings: Settings) -> RobotDrive:
    """``libgazebo_ros_ackermann_drive.so``, which takes its geometry from the model."""
    drive = _drive("ackermann", settings)
    for side in ("left", "right"):
        drive.joints[side] = settings.required(f"rear_{side}_joint")
        settings.required(f"front_{side}_joint")  # the plugin only measures them
        drive.joints[f"steering_{side}"] = settings.required(f"{side}_steering_joint")
    settings.text("steering_wheel_joint")
    steer = settings.figure("max_steer", 0.6)
    if not 0.0 < steer.value < math.pi / 2:
        fail(steer.origin, f"the steering limit is {steer.value:g} rad; it must be greater than 0 and less than pi/2")
    drive.figures = {"steering_limit": steer}
    drive.limits["drive_actuator.max_velocity"] = settings.figure("max_speed", 20.0)
    _angle_finding(settings)
    _topics(settings, drive)
    return drive


def limo_ackermann(settings: Settings) -> RobotDrive:
    """``libgazebo_ros_ackerman.so``: the skid steer plugin with two hinges."""
    drive = skid_steer(settings)
    drive.kind = "ackermann"
    for side in ("left", "right"):
        drive.joints[f"steering_{side}"] = settings.required(f"{side}HingeJoint")
    return drive


def tricycle_drive(settings: Settings) -> RobotDrive:
    """``libgazebo_ros_tricycle_drive.so``: the front wheel steers and drives."""
    drive = _drive("ackermann", settings, base_frame="base_link")
    drive.drives_steered = True
    drive.joints["steering"] = settings.joints("steering_joint") or settings.required("steeringJoint")
    drive.joints["wheel"] = settings.joints("actuated_wheel_joint") or settings.required("frontWheelJoint")
    diameter = settings.optional("wheelDiameter") or settings.figure("actuated_wheel_diameter", 0.15)
    drive.figures["wheel_radius"] = Figure(diameter.value / 2.0, diameter.origin, diameter.given)
    drive.figures["steering_limit"] = Figure(math.pi / 2, f"fixed limit of {settings.what}", False)
    for name in ("max_wheel_acceleration", "max_steering_speed", "maxWheelAcceleration", "maxSteeringSpeed"):
        if (figure := settings.optional(name)) and figure.value > 0.0:
            settings.findings.append(f"<{name}> {figure.value:g} is not taken; set the actuators' limits")
    _angle_finding(settings)
    _topics(settings, drive)
    return drive


def planar_move(settings: Settings) -> RobotDrive:
    """``libgazebo_ros_planar_move.so`` moves the body itself."""
    settings.plugin.fail(
        f"{settings.what} moves the body without wheels, so no joints drive it; adopt needs a plugin or controllers "
        "that turn wheels. To keep this plugin, put the node in front of its topic, with backend: relay"
    )


OF_CLASSIC = (
    PluginKind("libgazebo_ros_diff_drive.so", frozenset({"gazebo_ros_diff_drive"}), diff_drive),
    PluginKind(
        "libgazebo_ros_skid_steer_drive.so",
        frozenset({"gazebo_ros_skid_steer_drive", "gazebo_ros_diffdrive_6wd"}),
        skid_steer,
    ),
    PluginKind("libgazebo_ros_ackermann_drive.so", frozenset({"gazebo_ros_ackermann_drive"}), ackermann_drive),
    PluginKind("libgazebo_ros_tricycle_drive.so", frozenset({"gazebo_ros_tricycle_drive"}), tricycle_drive),
    PluginKind("libgazebo_ros_ackerman.so", frozenset({"gazebo_ros_ackerman"}), limo_ackermann),
)

#: Plugins that move a body without wheels, of Classic and of gz-sim.
REFUSED = (
    PluginKind("libgazebo_ros_planar_move.so", frozenset({"gazebo_ros_planar_move"}), planar_move),
    PluginKind("VelocityControl", frozenset({"velocity-control"}), planar_move),
)
