"""Parameters of driving by hand. Those of the joystick have the names of teleop_twist_joy where it has the same."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from vds_gz.core.parameters.conversion import Group, checked, replaced
from vds_gz.core.parameters.declaration import (
    Override,
    ParameterError,
    ParameterGroup,
    choice,
    describe,
    flag,
    group,
    integer,
    real,
    text,
)

OUTPUTS = ("ackermann", "twist", "twist_stamped", "steering_and_velocity")
_OUTPUT = (
    "topics of the commands: ackermann (ackermann_cmd), twist (twist_reference), twist_stamped "
    "(twist_stamped_reference) or steering_and_velocity (steering_angle and velocity)"
)

_CLOCK = "stamp by /clock (true) or by the system's clock (false); if omitted, by the vehicle's clock"

#: Maximum scale [m/s, rad/s].
MAXIMUM = 1e3


def _scale(default: float, unit: str, doc: str, most: float = MAXIMUM) -> float:
    return real(default, unit, f"{doc}; negative: reversed", minimum=-most, maximum=most, live=True)


def _rate(default: float, doc: str) -> float:
    return real(default, "Hz", doc, positive=True, maximum=1000.0, live=True)


@dataclass(frozen=True, slots=True)
class LinearAxes(ParameterGroup):
    """The numbers of the axes for speeds."""

    x: int = integer(3, "axis of the speed, forwards positive", minimum=0, live=True)
    y: int = integer(-1, "axis of the lateral speed, left positive; twists only; -1: none", minimum=-1, live=True)


@dataclass(frozen=True, slots=True)
class AngularAxes(ParameterGroup):
    """The number of the axis that turns the vehicle."""

    yaw: int = integer(0, "axis of the steering, left positive", minimum=0, live=True)


@dataclass(frozen=True, slots=True)
class LinearScales(ParameterGroup):
    """Speeds with the sticks at their ends."""

    x: float = _scale(1.0, "m/s", "speed with the stick at its end")
    y: float = _scale(0.5, "m/s", "lateral speed with the stick at its end; twists only")


@dataclass(frozen=True, slots=True)
class AngularScales(ParameterGroup):
    """Yaw rate with the stick at its end."""

    yaw: float = _scale(1.0, "rad/s", "yaw rate with the stick at its end; twists only")


@dataclass(frozen=True, slots=True)
class JoystickParameters(ParameterGroup):
    """Parameters of driving with a joystick."""

    output: str = choice("ackermann", OUTPUTS, _OUTPUT)
    frame: str = text("base_link", "frame_id of messages that have one")
    use_sim_time: bool = flag(False, _CLOCK)
    publish_rate: float = _rate(50.0, "commands per second")
    joy_timeout: float = real(
        0.5,
        "s",
        "time without a message after which the joystick counts as lost and the vehicle stops",
        positive=True,
        live=True,
    )
    dead_zone: float = real(
        0.1, "", "part of an axis around its middle without effect", minimum=0.0, maximum=0.9, live=True
    )
    axis_linear: LinearAxes = group(LinearAxes)
    axis_angular: AngularAxes = group(AngularAxes)
    scale_linear: LinearScales = group(LinearScales)
    scale_linear_turbo: LinearScales = group(LinearScales, x=2.0, y=1.0)
    scale_angular: AngularScales = group(AngularScales)
    scale_angular_turbo: AngularScales = group(AngularScales)
    scale_steering: float = _scale(0.5, "rad", "steering angle with the stick at its end; not for twists", math.pi)
    scale_steering_turbo: float = _scale(
        0.5, "rad", "the same while the turbo button is held; smaller: calmer", math.pi
    )
    scale_reverse: float = real(
        1.0, "", "maximum reverse speed, relative to forward; 0: no reverse", minimum=0.0, maximum=1.0, live=True
    )
    inverted_reverse: bool = flag(
        False, "twists only: in reverse, the stick steers as in a car, by the angle of the wheels", live=True
    )
    require_enable_button: bool = flag(True, "a button must be held to drive", live=True)
    enable_button: int = integer(0, "button to be held, if require_enable_button is true", minimum=-1, live=True)
    enable_turbo_button: int = integer(-1, "button to drive with the turbo scales; -1: none", minimum=-1, live=True)

    def check_together(self) -> None:
        """Refuse a required button without a number."""
        if self.require_enable_button and self.enable_button < 0:
            raise ParameterError(
                f"parameter 'enable_button' is {self.enable_button}; it must be a button, 0 or more, unless "
                "require_enable_button is false"
            )


@dataclass(frozen=True, slots=True)
class KeyParameters(ParameterGroup):
    """Parameters of driving with keys."""

    output: str = choice("ackermann", OUTPUTS, _OUTPUT)
    frame: str = text("base_link", "frame_id of messages that have one")
    use_sim_time: bool = flag(False, _CLOCK)
    publish_rate: float = _rate(30.0, "commands per second")
    max_speed: float = real(1.0, "m/s", "maximum speed", positive=True, maximum=MAXIMUM)
    acceleration: float = real(1.0, "m/s^2", "change of speed while a key is held", positive=True)
    deceleration: float = real(2.0, "m/s^2", "change of speed with no key, or one against the motion", positive=True)
    max_steering_angle: float = real(
        0.5, "rad", "maximum steering angle; not for twists", positive=True, maximum=math.pi
    )
    max_yaw_rate: float = real(1.0, "rad/s", "maximum yaw rate; twists only", positive=True, maximum=MAXIMUM)
    steering_time: float = real(0.5, "s", "time from the middle to the maximum angle or yaw rate", positive=True)
    centering_time: float = real(0.25, "s", "time from the maximum back to the middle without a key", positive=True)


def load(overrides: Iterable[Override], group: Group) -> Group:
    """The group with these values."""
    return replaced(group, checked(overrides, {parameter.name: parameter for parameter in describe(group)}))
