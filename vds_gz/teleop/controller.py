"""When a command goes out, and when the vehicle is stopped. Times are readings of the monotonic clock [ns]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum

from vds_gz.parameters.teleop import JoystickParameters
from vds_gz.teleop.driver_input import STANDSTILL, STOPS, Drive
from vds_gz.teleop.mapping import JoyError, drive


class Mode(Enum):
    """Whether the joystick drives, or why not."""

    WAITING = "no message has come yet"
    DRIVING = "the joystick drives"
    RELEASED = "no enabling button is held"
    REFUSED = "the last message cannot be used"
    LOST = "the messages have ceased"


class JoystickController:
    """Makes of a joystick's messages, which come when they like, commands at a steady rate.

    Attributes:
        parameters: May be replaced at any time.
        mode: Whether it drives.
        reason: The same in words, with particulars.
    """

    def __init__(self, parameters: JoystickParameters) -> None:
        """Wait for a first message."""
        self.parameters = parameters
        self.mode = Mode.WAITING
        self.reason = Mode.WAITING.value
        self._wanted = STANDSTILL
        self._stops = 0
        self._heard = 0
        self._next = 0

    def joy(self, axes: Sequence[float], buttons: Sequence[int], now: int) -> None:
        """A message has come."""
        self._heard = now
        try:
            wanted = drive(self.parameters, axes, buttons)
        except JoyError as error:
            self.stop(Mode.REFUSED, str(error), now)
            return
        if wanted is None:
            self.stop(Mode.RELEASED, Mode.RELEASED.value, now)
        else:
            self.mode, self.reason = Mode.DRIVING, Mode.DRIVING.value
            self._wanted = wanted

    def stop(self, mode: Mode, reason: str, now: int) -> None:
        """Stop the vehicle, if it does not stand already; the first command to stop goes out at once."""
        if self.mode in (Mode.DRIVING, Mode.WAITING):
            self._stops = STOPS
            self._next = now
        self.mode, self.reason = mode, reason

    def due(self, now: int) -> Drive | None:
        """The command that goes out now, if one does."""
        silence = (now - self._heard) * 1e-9
        if self.mode is Mode.DRIVING and silence > self.parameters.joy_timeout:
            self.stop(Mode.LOST, f"no message has come for {silence:.2f} s", now)
        if now < self._next or not self.moving:
            return None
        period = round(1e9 / self.parameters.publish_rate)
        late = now - self._next
        self._next = self._next + period if late < period else now + period
        if self.mode is Mode.DRIVING:
            return self._wanted
        self._stops -= 1
        return STANDSTILL

    @property
    def moving(self) -> bool:
        """The vehicle may be moving by our command: it is driven, or has not been stopped often enough."""
        return self.mode is Mode.DRIVING or self._stops > 0

    def seconds_until_due(self, now: int) -> float:
        """How long :meth:`due` will have nothing [s]; infinite if only a message can change that."""
        return (self._next - now) * 1e-9 if self.moving else math.inf
