"""The drive plugins of Gazebo: how their names are written, what their elements mean, and the defaults.

Elements and defaults are those of the plugins' sources: ``DiffDrive.cc``, ``AckermannSteering.cc`` and
``MecanumDrive.cc`` of gz-sim, and for Gazebo Classic those of gazebo_plugins
(:mod:`vds_gz.tools.adopt.classic_plugins`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from vds_gz.tools.adopt.robot_drive import Figure, NamedJoint, RobotDrive, fail, listed, symmetric
from vds_gz.tools.adopt.structure import number
from vds_gz.tools.adopt.xml_text import Tag

#: ``gz-sim-diff-drive-system``, ``libignition-gazebo6-diff-drive-system.so``: the plugin's words.
_SYSTEM = re.compile(r"(?:lib)?(?:gz-sim|ignition-gazebo)\d*-([\w-]+?)-system(?:\.so|\.dylib|\.dll)?")
_CLASS = re.compile(r"(?:gz::sim|ignition::gazebo)(?:::v\d+)?::systems::(\w+)")
_LIBRARY = re.compile(r"(?:lib)?([\w-]+?)(?:\.so|\.dylib|\.dll)?")

#: Children of any plugin, which belong to no one.
_COMMON = {"ros", "debug", "always_on", "alwaysOn"}


def names_of(plugin: Tag) -> set[str]:
    """The names by which a plugin is known here: ``diff-drive``, or of Classic and ros2_control the library's."""
    file = plugin.get("filename", "").rpartition("/")[2].strip()
    names: set[str] = set()
    if match := _CLASS.fullmatch(plugin.get("name", "").strip()):
        names.add(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", match[1]).lower())
    if match := _SYSTEM.fullmatch(file) or _LIBRARY.fullmatch(file):
        names.add(match[1])
    return names


def plugins_of(model: Tag) -> Iterator[Tag]:
    """The plugins of an SDF model, or those of a URDF in its ``<gazebo>`` elements."""
    yield from model.tags("plugin")
    for extension in model.tags("gazebo"):
        yield from extension.tags("plugin")


@dataclass(slots=True)
class Settings:
    """The children of a plugin, and which of them were read; the model's name, and that of its canonical link."""

    plugin: Tag
    what: str
    model: str
    link: str
    findings: list[str] = field(default_factory=list)
    _read: set[str] = field(default_factory=set)

    def tag(self, name: str) -> Tag | None:
        """The first child of a name."""
        self._read.add(name)
        children = self.plugin.tags(name)
        return children[0] if children else None

    def text(self, name: str, default: str = "") -> str:
        """The text of a child."""
        tag = self.tag(name)
        return default if tag is None else (tag.text or "").strip()

    def figure(self, name: str, default: float) -> Figure:
        """The number of a child, or the plugin's default."""
        return self.optional(name) or Figure(default, f"default of {self.what}", False)

    def optional(self, name: str) -> Figure | None:
        """The number of a child; None without one."""
        tag = self.tag(name)
        if tag is None:
            return None
        return Figure(number((tag.text or "").strip(), tag, "the value"), f"<{name}> in {tag.place}")

    def joints(self, name: str) -> list[NamedJoint]:
        """The joints that children of a name list."""
        self._read.add(name)
        found = []
        for tag in self.plugin.tags(name):
            joint = (tag.text or "").strip()
            if not joint:
                tag.fail(f"<{name}> is empty; it must be the name of a joint")
            found.append(NamedJoint(joint, tag.place))
        return found

    def required(self, name: str) -> list[NamedJoint]:
        """At least one joint."""
        joints = self.joints(name)
        if not joints:
            self.plugin.fail(f"{self.what} has no <{name}>; it must have at least one")
        return joints

    def limit(self, quantity: str, unit: str, general: str, special: str = "") -> Figure | None:
        """A limit in both directions: ``max_velocity`` and ``min_velocity``, or ``max_linear_velocity`` first."""
        ends = []
        for end in ("max", "min"):
            given = self.optional(f"{end}_{general}")
            ends.append((self.optional(f"{end}_{special}") if special else None) or given)
        return symmetric(quantity, ends[0], ends[1], self.findings, unit)

    def unknown(self) -> list[str]:
        """Children that the plugin does not know, in words."""
        tags = [tag for tag in self.plugin.tags() if tag.tag not in self._read | _COMMON and ":" not in tag.tag]
        places: dict[str, int] = {}
        for tag in tags:
            places.setdefault(tag.tag, tag.line)
        names = listed(f"<{name}> (line {line})" for name, line in places.items())
        return [f"{self.what} does not know {names}, which has no effect"] if places else []


@dataclass(frozen=True, slots=True)
class PluginKind:
    """A drive plugin: its name for the user, the names of :func:`names_of`, and how its element is read."""

    what: str
    names: frozenset[str]
    read: Callable[[Settings], RobotDrive]


def _topics(settings: Settings, drive: RobotDrive) -> None:
    """Topics, frames and rate, as all plugins of gz-sim name them."""
    drive.command_topic = settings.text("topic") or f"/model/{settings.model}/cmd_vel"
    drive.odometry_topic = settings.text("odom_topic") or f"/model/{settings.model}/odometry"
    settings.text("tf_topic")
    drive.odom_frame = settings.text("frame_id") or f"{settings.model}/odom"
    drive.base_frame = settings.text("child_frame_id") or f"{settings.model}/{settings.link}"
    drive.rate = settings.figure("odom_publish_frequency", 50.0)


def _jerk(settings: Settings, *names: str) -> None:
    """A finding for limits of jerk, which our actuators do not have."""
    for name in names:
        if figure := settings.optional(name):
            settings.findings.append(f"<{name}> {figure.value:g} m/s^3 or rad/s^3 has no counterpart in our actuators")


def _body_limits(settings: Settings, drive: RobotDrive, linear: str = "", angular: str = "") -> None:
    """Limits of a command before it is split into wheel speeds."""
    for axis, prefix, unit in (("linear", linear, "m/s"), ("angular", angular, "rad/s")):
        for quantity, per in (("velocity", ""), ("acceleration", "^2")):
            special = f"{prefix}{quantity}" if prefix else ""
            if found := settings.limit(f"{axis} {quantity}", unit + per, quantity, special):
                drive.limits[f"max_{axis}_{quantity}"] = found
        if prefix:
            _jerk(settings, f"max_{prefix}jerk", f"min_{prefix}jerk")
    _jerk(settings, "max_jerk", "min_jerk")


def diff_drive(settings: Settings) -> RobotDrive:
    """gz-sim's DiffDrive."""
    drive = RobotDrive("differential", settings.what, settings.plugin, findings=settings.findings)
    drive.joints = {"left": settings.required("left_joint"), "right": settings.required("right_joint")}
    drive.figures = {
        "track": settings.figure("wheel_separation", 1.0),
        "wheel_radius": settings.figure("wheel_radius", 0.2),
    }
    _body_limits(settings, drive, "linear_", "angular_")
    _topics(settings, drive)
    return drive


def mecanum_drive(settings: Settings) -> RobotDrive:
    """gz-sim's MecanumDrive, whose kinematics is that of rollers in an X."""
    drive = RobotDrive("mecanum", settings.what, settings.plugin, findings=settings.findings)
    for corner in ("front_left", "front_right", "rear_left", "rear_right"):
        drive.joints[corner] = settings.required(f"{corner.replace('rear', 'back')}_joint")
    drive.figures = {
        "track": settings.figure("wheel_separation", 1.0),
        "wheel_base": settings.figure("wheelbase", 1.0),
        "wheel_radius": settings.figure("wheel_radius", 0.2),
    }
    _body_limits(settings, drive)
    _topics(settings, drive)
    return drive


def ackermann_steering(settings: Settings) -> RobotDrive:
    """gz-sim's AckermannSteering.

    It limits the turning radius to ``wheel_base / sin(steering_limit)``. Its hinges follow with a proportional gain,
    which is a lag of 1/gain, but the driven wheels have the speeds of the whole turn at once.
    """
    numbered = settings.text("actuator_number") and settings.text("use_actuator_msg") in ("true", "1")
    if settings.text("steering_only") in ("true", "1") or numbered:
        settings.plugin.fail(
            f"{settings.what} is in its mode <steering_only> or <use_actuator_msg>, where something else turns the "
            "wheels; adopt needs the mode with <left_joint> and <right_joint>"
        )
    drive = RobotDrive("ackermann", settings.what, settings.plugin, findings=settings.findings)
    drive.joints = {
        place: settings.required(name)
        for place, name in (
            ("left", "left_joint"),
            ("right", "right_joint"),
            ("steering_left", "left_steering_joint"),
            ("steering_right", "right_steering_joint"),
        )
    }
    limit = settings.figure("steering_limit", 0.5)
    if not 0.0 < limit.value < math.pi / 2:
        fail(limit.origin, f"the steering limit is {limit.value:g} rad; it must be greater than 0 and less than pi/2")
    gain = settings.figure("steer_p_gain", 1.0)
    if not gain.value > 0.0:
        fail(gain.origin, f"the gain of the steering is {gain.value:g}; it must be greater than 0")
    drive.figures = {
        "wheel_base": settings.figure("wheel_base", 1.0),
        "track": settings.figure("wheel_separation", 1.0),
        "kingpin_width": settings.figure("kingpin_width", 0.8),
        "wheel_radius": settings.figure("wheel_radius", 0.2),
        "steering_limit": Figure(
            math.atan(math.sin(limit.value)),
            f"atan(sin({limit.value:g})): the plugin limits the turning radius to wheel_base/sin(steering_limit), "
            + limit.origin,
            limit.given,
        ),
    }
    settings.findings.append(
        f"its hinges follow with a lag of {1.0 / gain.value:.3g} s, 1/steer_p_gain, and its driven wheels turn the car "
        "at once; ours have no lag: set time_constant of steering_actuator to have one"
    )
    for quantity, unit in (("velocity", "m/s"), ("acceleration", "m/s^2")):
        if found := settings.limit(f"linear and angular {quantity}", unit, quantity):
            drive.limits[f"drive_actuator.max_{quantity}"] = found
            settings.findings.append(
                f"<max_{quantity}> limits the yaw rate too ({found.value:g}); ours limits the speed only"
            )
    _jerk(settings, "max_jerk", "min_jerk")
    settings.text("use_actuator_msg")
    _topics(settings, drive)
    if (sub := settings.text("sub_topic")) and not settings.text("topic"):
        drive.command_topic = f"/model/{settings.model}/{sub}"
    return drive


OF_GZ_SIM = (
    PluginKind("DiffDrive", frozenset({"diff-drive"}), diff_drive),
    PluginKind("AckermannSteering", frozenset({"ackermann-steering"}), ackermann_steering),
    PluginKind("MecanumDrive", frozenset({"mecanum-drive"}), mecanum_drive),
)
