"""Drives that ros2_control moves: what the controllers' YAML says, in the names of all its releases since Humble.

Parameters: https://control.ros.org/jazzy/doc/ros2_controllers/doc/controllers_index.html
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.yaml_reader import read_sections
from vds_gz.tools.adopt.classic_plugins import Topics, topics_of
from vds_gz.tools.adopt.joint_drive import by_side, of_joints
from vds_gz.tools.adopt.plugins import names_of
from vds_gz.tools.adopt.robot_drive import DriveKind, Figure, NamedJoint, RobotDrive, fail, listed, symmetric
from vds_gz.tools.adopt.robot_files import RobotFiles
from vds_gz.tools.adopt.structure import Structure
from vds_gz.tools.adopt.xml_text import Tag

#: Names of the plugins that load ros2_control, and of ROS 1's.
PLUGINS = frozenset({"gz_ros2_control-system", "ign_ros2_control-system", "gazebo_ros2_control"})
ROS1_PLUGINS = frozenset({"gazebo_ros_control"})


@dataclass(frozen=True, eq=False)
class Ros2Controller:
    """A controller: its name, its type, its parameters, its plugin, its topics' names and the robot's joints."""

    name: str
    kind: str
    values: Mapping[str, Override]
    tag: Tag
    topics: Topics
    structure: Structure
    file: Path

    @property
    def what(self) -> str:
        """Type and name, for messages."""
        return f"{self.kind} '{self.name}'"

    @property
    def positions(self) -> bool:
        """Whether its commands are positions."""
        return "Position" in self.kind or self.text("interface_name", "") == "position"

    def figure(self, *names: str) -> Figure | None:
        """The first number of these names; None without one, or if it is NaN."""
        for name in names:
            if name in self.values:
                value, origin = self.values[name].value, self.values[name].origin
                if isinstance(value, bool) or not isinstance(value, int | float):
                    fail(origin, f"{name} is {value!r}; it must be a number")
                if math.isinf(value):
                    fail(origin, f"{name} is {value}; it must be finite")
                if not math.isnan(value):
                    return Figure(float(value), f"{name} in {origin.removeprefix('file ')}")
        return None

    def needed(self, *names: str) -> Figure:
        """A number that the controller must have."""
        figure = self.figure(*names)
        if figure is None:
            fail(str(self.file), f"{self.what} has no {names[0]}")
        return figure

    def joints(self, *names: str) -> list[NamedJoint]:
        """The joints of the first of these names that is there: one name or a list."""
        for name in names:
            if name in self.values:
                value, origin = self.values[name].value, self.values[name].origin
                joints = [value] if isinstance(value, str) else value
                if not isinstance(joints, list) or not all(isinstance(joint, str) and joint for joint in joints):
                    fail(origin, f"{name} is {value!r}; it must be a list of joints' names")
                if joints:
                    return [NamedJoint(str(joint), f"{name} in {origin.removeprefix('file ')}") for joint in joints]
        fail(str(self.file), f"{self.what} has no {names[0]}; it must list joints")

    def flag(self, name: str, default: bool) -> bool:
        """A boolean."""
        value = self.values[name].value if name in self.values else default
        return value if isinstance(value, bool) else default

    def text(self, name: str, default: str) -> str:
        """A text."""
        value = self.values[name].value if name in self.values else default
        return value if isinstance(value, str) and value else default

    def topic(self, name: str) -> str:
        """The name of one of its own topics."""
        return self.topics.name(name, self.name)


class Timeout(NamedTuple):
    """The parameter for the age at which a controller's command ends, its default and its unit [s]."""

    name: str
    default: float
    unit: float = 1.0
    zero_is_never: bool = False


def read(tag: Tag, library: RobotFiles, structure: Structure, file: Path | None, stamped: bool | None) -> RobotDrive:
    """The drive of the controllers that a plugin loads.

    Args:
        tag: The plugin.
        library: Finds the files that the plugin names.
        structure: The robot's joints.
        file: The controllers' YAML; None for that which the plugin names.
        stamped: Whether commands are TwistStamped; None for what the YAML says.
    """
    paths = [file] if file is not None else list(_named(tag, library))
    if not paths:
        tag.fail("the plugin of ros2_control has no <parameters>; name the controllers' YAML file: --controllers FILE")
    found = [controller for path in paths for controller in _controllers(path, tag, structure, stamped)]
    able = [controller for controller in found if controller.kind in KINDS]
    forward = [controller for controller in found if controller.kind in FORWARD]
    if len(able) == 1:
        drive = KINDS[able[0].kind](able[0])
    elif not able and forward:
        drive = _forward(forward, structure)
    else:
        which = (
            f"{len(able)} controllers of wheels: {listed(c.name for c in able)}" if able else "no controller of wheels"
        )
        fail(
            str(paths[0]),
            f"it has {which} (types: {listed(sorted({c.kind for c in found}))}); adopt needs one of {listed(KINDS)}, "
            "or forward command controllers",
        )
    drive.controllers = "gazebo_ros2_control" not in names_of(tag)
    if not drive.controllers:
        drive.findings.append(
            "gazebo_ros2_control is of Gazebo Classic: no copy for link:=ros2_control is written; load gz_ros2_control"
        )
    return drive


def _named(tag: Tag, library: RobotFiles) -> Iterator[Path]:
    """The YAML files that a plugin names."""
    for parameters in tag.tags("parameters"):
        text = (parameters.text or "").strip()
        path = library.find(text, tag.file.parent)
        if path is None or not path.is_file():
            parameters.fail(
                f"<parameters> '{text}' is no file here; name the controllers' YAML file: --controllers FILE"
            )
        yield path


def _controllers(path: Path, tag: Tag, structure: Structure, stamped: bool | None) -> list[Ros2Controller]:
    """The controllers that the controller managers of a file load."""
    sections = read_sections(str(path))
    kinds: dict[str, str] = {}
    for section, values in sections:
        for override in values:  # in the manager's section as NAME.type, or as type in the controller's own
            name, _, last = override.name.rpartition(".")
            name, kind = name or section.rpartition("/")[2], override.value
            if last == "type" and "." not in name and isinstance(kind, str) and "/" in kind:
                kinds[name] = kind.rpartition("/")[2]
    topics = topics_of(tag)
    found = []
    for name, kind in kinds.items():
        own = [values for section, values in sections if section.rpartition("/")[2] in (name, "**")]
        parameters = {override.name: override for group in own for override in group}
        if stamped is not None:
            parameters["use_stamped_vel"] = Override("use_stamped_vel", stamped, "option of vds-gz adopt")
        found.append(Ros2Controller(name, kind, parameters, tag, topics, structure, path))
    return found


def _drive(c: Ros2Controller, kind: DriveKind, command: str, odometry: str, timeout: Timeout) -> RobotDrive:
    """A drive with topics, frames and rates of a controller."""
    drive = RobotDrive(kind, c.what, c.tag)
    drive.stamped = c.flag("use_stamped_vel", True)
    if "use_stamped_vel" not in c.values:
        drive.findings.append("use_stamped_vel is assumed true, as in Jazzy; if the commands are Twist: --no-stamped")
    name = command if drive.stamped else f"{command}_unstamped"
    if c.topics.remapped(name, c.name) is None and c.topics.remapped(command, c.name) is not None:
        name = command
    drive.command_topic = c.topic(name)
    drive.odometry_topic = c.topic(odometry)
    drive.odom_frame = c.text("odom_frame_id", "odom")
    drive.base_frame = c.text("base_frame_id", "base_link")
    drive.rate = c.figure("publish_rate") or Figure(50.0, f"default of {c.what}", False)
    drive.timeout = c.figure(timeout.name, "cmd_vel_timeout")
    if drive.timeout is None:
        drive.timeout = Figure(timeout.default, f"default of {c.what}", False)
    drive.timeout = drive.timeout._replace(value=drive.timeout.value * timeout.unit)
    if drive.timeout.value == 0.0 and not timeout.zero_is_never:
        drive.findings.append(
            f"{timeout.name} 0: {c.what} moves the robot for one cycle after each command; ours for "
            "twist_reference_max_oldness"
        )
        drive.timeout = None
    return drive


def _limit(c: Ros2Controller, drive: RobotDrive, axis: str, quantity: str, unit: str) -> Figure | None:
    """A limit in both directions; without its minimum, that is minus the maximum."""
    switch = f"{axis}.has_{quantity}_limits"
    if not c.flag(switch, True):
        return None
    upper = c.figure(f"{axis}.max_{quantity}")
    if upper and switch not in c.values:
        drive.findings.append(f"{switch} is not set: the limit counts, as in Jazzy; Humble's default is false")
    lower = c.figure(f"{axis}.min_{quantity}")
    if upper is not None and lower is None:
        lower = upper._replace(value=-upper.value)
    found = symmetric(f"{axis} {quantity}", upper, lower, drive.findings, unit)
    brake = c.figure(f"{axis}.max_deceleration") if quantity == "acceleration" else None
    if found and brake and not math.isclose(abs(brake.value), found.value, rel_tol=1e-6):
        drive.findings.append(
            f"{axis} decelerates by up to {abs(brake.value):g} {unit}; ours by {found.value:g}, as it accelerates"
        )
    return found


def _body_limits(c: Ros2Controller, drive: RobotDrive) -> None:
    for axis, name, unit in (("linear.x", "linear", "m/s"), ("angular.z", "angular", "rad/s")):
        for quantity, per in (("velocity", ""), ("acceleration", "^2")):
            if found := _limit(c, drive, axis, quantity, unit.replace("/s", f"/s{per}")):
                drive.limits[f"max_{name}_{quantity}"] = found
        for end in ("max", "min"):
            jerk = c.figure(f"{axis}.{end}_jerk") if c.flag(f"{axis}.has_jerk_limits", True) else None
            if jerk and jerk.value != 0.0:
                drive.findings.append(f"{axis}.{end}_jerk {jerk.value:g} has no counterpart in our actuators")


def _times(figure: Figure, factor: Figure | None) -> Figure:
    """A figure with its multiplier."""
    if factor is None or factor.value == 1.0:
        return figure
    return Figure(figure.value * factor.value, f"{figure.value:g} * {factor.value:g}: {figure.origin}")


def _diff_drive(c: Ros2Controller) -> RobotDrive:
    drive = _drive(c, "differential", "cmd_vel", "odom", Timeout("cmd_vel_timeout", 0.5, zero_is_never=True))
    drive.joints = {side: c.joints(f"{side}_wheel_names") for side in ("left", "right")}
    left, right = c.figure("left_wheel_radius_multiplier"), c.figure("right_wheel_radius_multiplier")
    if (left.value if left else 1.0) != (right.value if right else 1.0):
        drive.findings.append("the multipliers of the wheels' radii differ; that of the left wheels counts")
    drive.figures = {
        "track": _times(c.needed("wheel_separation"), c.figure("wheel_separation_multiplier")),
        "wheel_radius": _times(c.needed("wheel_radius"), left),
    }
    _body_limits(c, drive)
    return drive


_HALF_SUM = "kinematics.sum_of_robot_center_projection_on_X_Y_axis"


def _mecanum(c: Ros2Controller) -> RobotDrive:
    """mecanum_drive_controller, and others' of that type, which name joints and geometry in their own ways."""
    drive = _drive(c, "mecanum", "reference", "odometry", Timeout("reference_timeout", 0.0))
    for corner in ("front_left", "front_right", "rear_left", "rear_right"):
        names = [f"{corner}_wheel_command_joint_name", f"{corner}_wheel_name", f"{corner}_joint_name"]
        drive.joints[corner] = c.joints(*names, names[2].replace("rear", "back"))
    half, name = c.figure(_HALF_SUM), "wheel_separation_multiplier"
    if half is not None:
        drive.figures["half_sum"] = _times(half, c.figure(name))
    else:
        separation = c.needed("wheel_separation", "wheel_separation_y")
        drive.figures["track"] = _times(separation, c.figure(name, "wheel_separation_y_multiplier"))
        base = c.needed("wheel_base", "wheel_separation_x")
        drive.figures["wheel_base"] = _times(base, c.figure("wheel_separation_x_multiplier"))
    radius = c.needed("kinematics.wheels_radius", "wheel_radius")
    drive.figures["wheel_radius"] = _times(radius, c.figure("wheel_radius_multiplier"))
    for axis in ("x", "y", "theta"):
        if (offset := c.figure(f"kinematics.base_frame_offset.{axis}")) and offset.value != 0.0:
            drive.findings.append(f"kinematics.base_frame_offset.{axis} is {offset.value:g}; ours is 0")
    _body_limits(c, drive)
    return drive


def _steering(c: Ros2Controller) -> RobotDrive:
    """ackermann_, bicycle_ and tricycle_steering_controller; the order of their joints tells no side."""
    drive = _drive(c, "ackermann", "reference", "odometry", Timeout("reference_timeout", 1.0))
    front = c.flag("front_steering", True)
    axles = ("rear", "front") if front else ("front", "rear")
    traction = c.joints("traction_joints_names", f"{axles[0]}_wheels_names")
    hinges = c.joints("steering_joints_names", f"{axles[1]}_wheels_names")
    by_side(drive, c.structure, traction, hinges)
    drive.figures["wheel_base"] = c.needed("wheelbase")
    drive.figures["wheel_radius"] = c.needed(
        "traction_wheels_radius", "traction_wheel_radius", f"{axles[0]}_wheels_radius", f"{axles[0]}_wheel_radius"
    )
    track = c.figure("traction_track_width", f"{axles[0]}_wheel_track", "wheel_track")
    if track and len(traction) > 1:
        drive.figures["track"] = track
    # Without a width of its own, and always in Humble, the hinges are turned as if they had the other axle's.
    if len(hinges) > 1 and (kingpin := c.figure("steering_track_width") or track):
        drive.figures["kingpin_width"] = kingpin
    return drive


def _tricycle(c: Ros2Controller) -> RobotDrive:
    """tricycle_controller: one wheel that drives and steers. Its timeout is in milliseconds."""
    drive = _drive(c, "ackermann", "cmd_vel", "odom", Timeout("cmd_vel_timeout", 500.0, 1e-3))
    drive.drives_steered = True
    drive.joints = {"steering": c.joints("steering_joint_name"), "wheel": c.joints("traction_joint_name")}
    drive.figures = {"wheel_base": c.needed("wheelbase"), "wheel_radius": c.needed("wheel_radius")}
    if limit := c.figure("steering.max_position"):
        drive.figures["steering_limit"] = limit
    for axis, actuator in (("traction", "drive_actuator"), ("steering", "steering_actuator")):
        for quantity in ("max_velocity", "max_acceleration", "max_deceleration"):
            if figure := c.figure(f"{axis}.{quantity}"):
                drive.findings.append(f"{axis}.{quantity} {figure.value:g} is not taken; set the limits of {actuator}")
    return drive


def _forward(controllers: list[Ros2Controller], structure: Structure) -> RobotDrive:
    """Forward command controllers: hinges turn about the vertical, all else are wheels. The geometry is the model's."""
    c = controllers[0]
    joints = {controller: controller.joints("joints", "joint") for controller in controllers}
    angles = {named.joint for controller, group in joints.items() if controller.positions for named in group}
    every = [named for group in joints.values() for named in group]
    what = listed(dict.fromkeys(controller.kind for controller in controllers))
    drive = of_joints(what, c.tag, every, structure, angles)
    drive.findings.append(
        "forward controllers have no geometry: it is that of the joints' poses; the node takes the place of that which "
        "splits commands into joint commands"
    )
    return drive


#: Controllers of wheels, by their type.
KINDS: Mapping[str, Callable[[Ros2Controller], RobotDrive]] = {
    "DiffDriveController": _diff_drive,
    "AckermannSteeringController": _steering,
    "BicycleSteeringController": _steering,
    "TricycleSteeringController": _steering,
    "TricycleController": _tricycle,
    "MecanumDriveController": _mecanum,
}

FORWARD = frozenset({"ForwardCommandController", "JointGroupVelocityController", "JointGroupPositionController"})
