"""From axes and buttons of a joystick to speed and direction. No state, no clock."""

from __future__ import annotations

from collections.abc import Sequence

from vds_gz.errors import VdsGzError
from vds_gz.parameters.teleop import JoystickParameters
from vds_gz.teleop.driver_input import Drive

#: Drivers round; so much beyond its end [-] an axis still is at its end.
ROUNDING = 0.01


class JoyError(VdsGzError, ValueError):
    """A message of the joystick cannot be used. The text says what is wrong and what would be right."""


def drive(parameters: JoystickParameters, axes: Sequence[float], buttons: Sequence[int]) -> Drive | None:
    """What the driver wants; None if no enabling button is held.

    Args:
        parameters: The layout.
        axes: -1 to 1 each; left and forwards positive.
        buttons: 0 if not pressed.

    Raises:
        JoyError: There are too few axes or buttons, or a value is no position of an axis.
    """
    p = parameters
    forwards = _axis(p, axes, "axis_linear.x", p.axis_linear.x)
    lateral = _axis(p, axes, "axis_linear.y", p.axis_linear.y)
    turn = _axis(p, axes, "axis_angular.yaw", p.axis_angular.yaw)
    turbo = _pressed(buttons, "enable_turbo_button", p.enable_turbo_button)
    enabled = not p.require_enable_button or _pressed(buttons, "enable_button", p.enable_button)
    if not (enabled or turbo):
        return None
    linear = p.scale_linear_turbo if turbo else p.scale_linear
    angular = p.scale_angular_turbo if turbo else p.scale_angular
    steering = p.scale_steering_turbo if turbo else p.scale_steering
    v_x = forwards * linear.x
    yaw_rate = turn * angular.yaw
    if v_x < 0.0:
        v_x *= p.scale_reverse
        yaw_rate *= -1.0 if p.inverted_reverse else 1.0
    return Drive(v_x, lateral * linear.y, yaw_rate, turn * steering)


def without_dead_zone(value: float, dead_zone: float) -> float:
    """The position of an axis beyond its dead zone: 0 at its edge, +-1 at the ends, straight between."""
    beyond = min(abs(value), 1.0) - dead_zone
    if beyond <= 0.0:
        return 0.0
    part = beyond / (1.0 - dead_zone)
    return part if value > 0.0 else -part


def _axis(parameters: JoystickParameters, axes: Sequence[float], name: str, number: int) -> float:
    if number < 0:
        return 0.0
    if number >= len(axes):
        raise JoyError(f"it has {len(axes)} axes, but {name} is {number}, so {number + 1} are needed")
    value = float(axes[number])
    if not abs(value) <= 1.0 + ROUNDING:
        raise JoyError(f"axis {number} ({name}) is {value:g}; it must be within -1 and 1")
    return without_dead_zone(value, parameters.dead_zone)


def _pressed(buttons: Sequence[int], name: str, number: int) -> bool:
    if number < 0:
        return False
    if number >= len(buttons):
        raise JoyError(f"it has {len(buttons)} buttons, but {name} is {number}, so {number + 1} are needed")
    return bool(buttons[number])
