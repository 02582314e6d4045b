"""Driving with a joystick: speed and direction from axes and buttons, times of commands, and stops.

Times are readings of the monotonic clock [ns].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum

from vds_gz.core.errors import VdsGzError
from vds_gz.core.parameters.teleop import JoystickParameters
from vds_gz.core.vehicle.command import SteadyMotion
from vds_gz.programs.teleop.driver_commands import STANDSTILL, STOPS

#: Tolerance beyond the end of an axis, because joystick drivers round [-].
ROUNDING = 0.01


class JoyError(VdsGzError, ValueError):
    """A message of the joystick cannot be used. The text says what is wrong and what would be right."""


def drive(parameters: JoystickParameters, axes: Sequence[float], buttons: Sequence[int]) -> SteadyMotion | None:
    """The driver's demand; None if no enabling button is held although one is required."""
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
    return SteadyMotion(v_x, lateral * linear.y, yaw_rate, turn * steering)


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


class Mode(Enum):
    """Whether the joystick drives, or why not."""

    WAITING = "no message has come yet"
    DRIVING = "the joystick drives"
    RELEASED = "no enabling button is held"
    REFUSED = "the last message cannot be used"
    LOST = "the messages have ceased"


class JoystickController:
    """Converts a joystick's messages, which arrive irregularly, into commands at a constant rate."""

    def __init__(self, parameters: JoystickParameters) -> None:
        self.parameters = parameters
        self.mode = Mode.WAITING
        self.reason = Mode.WAITING.value
        self._demand = STANDSTILL
        self._stops = 0
        self._heard = 0
        self._next = 0

    def joy(self, axes: Sequence[float], buttons: Sequence[int], now: int) -> None:
        """Take a message."""
        self._heard = now
        try:
            demand = drive(self.parameters, axes, buttons)
        except JoyError as error:
            self.stop(Mode.REFUSED, str(error), now)
            return
        if demand is None:
            self.stop(Mode.RELEASED, Mode.RELEASED.value, now)
        else:
            self.mode, self.reason = Mode.DRIVING, Mode.DRIVING.value
            self._demand = demand

    def stop(self, mode: Mode, reason: str, now: int) -> None:
        """Stop the vehicle, if it is not stopped already; the first stop command is sent at once."""
        if self.mode in (Mode.DRIVING, Mode.WAITING):
            self._stops = STOPS
            self._next = now
        self.mode, self.reason = mode, reason

    def due(self, now: int) -> SteadyMotion | None:
        """The command to send now, if any."""
        silence = (now - self._heard) * 1e-9
        if self.mode is Mode.DRIVING and silence > self.parameters.joy_timeout:
            self.stop(Mode.LOST, f"no message has come for {silence:.2f} s", now)
        if now < self._next or not self.moving:
            return None
        period = round(1e9 / self.parameters.publish_rate)
        late = now - self._next
        self._next = self._next + period if late < period else now + period
        if self.mode is Mode.DRIVING:
            return self._demand
        self._stops -= 1
        return STANDSTILL

    @property
    def moving(self) -> bool:
        """Whether this node may still move the vehicle: it drives, or has not sent enough stop commands."""
        return self.mode is Mode.DRIVING or self._stops > 0

    def seconds_until_due(self, now: int) -> float:
        """The time until :meth:`due` has a command [s]; infinite if only a message can change that."""
        return (self._next - now) * 1e-9 if self.moving else math.inf
