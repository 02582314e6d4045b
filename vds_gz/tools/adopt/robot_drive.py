"""What adopt reads of a robot's drive, from whatever plugin or controller it has."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, NoReturn

from vds_gz.core.errors import ArgumentError
from vds_gz.tools.adopt.xml_text import Tag

DriveKind = Literal["differential", "ackermann", "four_wheel_steering", "swerve", "mecanum"]

#: Places of wheels of a mecanum drive, and of one that steers both axles.
CORNERS = ("front_left", "rear_left", "rear_right", "front_right")

#: A name of a ROS topic, absolute or relative.
_TOPIC = re.compile(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*", re.ASCII)


class Figure(NamedTuple):
    """A number of the robot, in SI units, and where it stands."""

    value: float
    origin: str
    given: bool = True  # else it is the default of the plugin


class NamedJoint(NamedTuple):
    """A joint that a plugin or controller names, and where."""

    joint: str
    place: str


@dataclass(slots=True)
class RobotDrive:
    """A drive of a robot.

    Attributes:
        kind: The kinematics.
        what: The plugin or controller, for the user.
        tag: The plugin that is exchanged.
        joints: Driven wheels by their place (``left`` and ``right``, or :data:`CORNERS`), and the hinges ``steering``,
            or ``steering_left`` and ``steering_right``, or ``steering_`` with each of the corners. A swerve drive has
            its wheels by numbers from ``1``, and their hinges with ``steering_`` before.
        figures: Geometry and the like by name: ``track``, ``kingpin_width``, ``wheel_base``, ``wheel_radius``,
            ``half_sum`` of wheel base and track [m], ``steering_limit`` [rad]. What is left out follows from the
            structure.
        limits: Limits by the name of their parameter below the model's.
        command_topic: The topic of its commands; ``stamped`` if they are TwistStamped.
        odometry_topic: The topic of its odometry.
        odom_frame, base_frame: Frames of its odometry.
        rate: Rate of its odometry [Hz].
        timeout: Age of a command at which it stops [s]; None if it never does.
        findings: What differs from the robot's own drive, or has no effect, for the user.
        controllers: Whether ros2_control moves the joints.
        joints_only: Whether only its joints are known, so that reversed axes are not its own drive's matter.
        drives_steered: Whether the wheels on the hinges are the driven ones of a tricycle.
    """

    kind: DriveKind
    what: str
    tag: Tag
    joints: dict[str, list[NamedJoint]] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)
    limits: dict[str, Figure] = field(default_factory=dict)
    command_topic: str = ""
    stamped: bool = False
    odometry_topic: str = ""
    odom_frame: str = "odom"
    base_frame: str = "base_link"
    rate: Figure = field(default_factory=lambda: Figure(50.0, "default", False))
    timeout: Figure | None = None
    findings: list[str] = field(default_factory=list)
    controllers: bool = False
    drives_steered: bool = False
    joints_only: bool = False

    def names(self, place: str) -> list[str]:
        """The joints of a place."""
        return [named.joint for named in self.joints.get(place, ())]

    def check(self) -> None:
        """Refuse joints that are there twice, and figures that no drive has."""
        places: dict[str, str] = {}
        for place, joints in self.joints.items():
            for joint, where in joints:
                if joint in places:
                    fail(where, f"joint '{joint}' is listed twice ({places[joint]}, {place}); list it once")
                places[joint] = place
        for name, figure in self.figures.items():
            if not figure.value > 0.0:
                fail(figure.origin, f"{name} is {figure.value:g}; it must be greater than 0")


def fail(place: str, reason: str) -> NoReturn:
    """Raise ArgumentError with the place."""
    raise ArgumentError(f"{place}: {reason}" if place else reason)


def symmetric(name: str, upper: Figure | None, lower: Figure | None, findings: list[str], unit: str) -> Figure | None:
    """One limit for both directions; the upper one where they differ, with a finding. None if there is none.

    Args:
        name: What is limited, for findings.
        upper: The limit in positive direction.
        lower: The one in negative direction, a negative number.
        findings: Where findings go.
        unit: Its unit, for findings.
    """
    upper, lower = (figure if figure and math.isfinite(figure.value) else None for figure in (upper, lower))
    if lower and lower.value == 0.0 and "velocity" in name:
        findings.append(f"the robot has no negative {name} ({lower.origin}); ours has, up to the same limit")
        lower = Figure(-upper.value, lower.origin) if upper else None
    for figure, sign in ((upper, 1.0), (lower, -1.0)):
        if figure and not figure.value * sign > 0.0:
            fail(figure.origin, f"the limit of the {name} is {figure.value:g} {unit}; with it the robot cannot move")
    if upper is None:
        if lower is not None:
            findings.append(f"only backward {name} is limited ({lower.value:g} {unit}); ours are not limited then")
        return None
    if lower is None:
        findings.append(f"{name} is limited to {upper.value:g} {unit} in one direction only; ours are limited in both")
    elif not math.isclose(-lower.value, upper.value, rel_tol=1e-6):
        findings.append(
            f"{name} is limited to {upper.value:g} and {lower.value:g} {unit}; ours to {upper.value:g} in both"
        )
    return upper


def ros_name(topic: str) -> bool:
    """Whether a topic can have this name in ROS."""
    return _TOPIC.fullmatch(topic) is not None


def listed(names: Iterable[str]) -> str:
    """Names for a message."""
    return ", ".join(names) or "none"
