"""Commands of a vehicle, and until when they hold."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, replace
from enum import IntEnum
from operator import attrgetter
from typing import NamedTuple

from vds_gz.errors import NUMBER


class CommandKind(IntEnum):
    """What a command gives, and which of its numbers count."""

    TWIST = 0
    ACKERMANN = 1
    #: Halves of an Ackermann command that come by topics of their own.
    SPEED = 2
    STEERING = 3
    #: A driver's accelerator, brake and steering.
    PEDALS = 4
    #: Autoware's Control: velocity, acceleration and tire angle.
    CONTROL = 5
    #: The gear of ``PEDALS`` and ``CONTROL``, which has its own topic.
    GEAR = 6
    #: A model's own inputs, as a log of Autoware's models holds them: the acceleration is along +x in every gear.
    DIRECT = 7
    #: Commands have ended: brake to a standstill, and leave the steering as it is.
    STOP = 8


class Gear(IntEnum):
    """Gears by their codes in autoware_vehicle_msgs/GearCommand; 3 to 19 are further forward gears."""

    NONE = 0
    NEUTRAL = 1
    DRIVE = 2
    REVERSE = 20
    REVERSE_2 = 21
    PARK = 22
    LOW = 23
    LOW_2 = 24

    # In tables and messages a gear is its code.
    __str__ = __repr__ = int.__repr__


TWIST, ACKERMANN, SPEED, STEERING, PEDALS, CONTROL, GEAR, DIRECT, STOP = CommandKind
NONE, NEUTRAL, DRIVE, REVERSE, REVERSE_2, PARK, LOW, LOW_2 = Gear

#: Kinds that have a gear, and that end in ``STOP`` when they time out. Zero would be no pedal, which is to roll on.
DRIVEN = (PEDALS, CONTROL, DIRECT)

MAXIMUM_GEAR = max(Gear)
#: In a command: the gear stays as it is.
KEEP_GEAR = -1

#: No velocity [m/s], yaw rate [rad/s] or angle [rad] beyond this is meant, and none overflows below it.
MAXIMUM = 1e6

#: Numbers of a command that are bounded by :data:`MAXIMUM`.
MEASURES = (
    "v_x",
    "v_y",
    "yaw_rate",
    "steering_angle",
    "accel_pedal",
    "brake_pedal",
    "steering_command",
    "target_acceleration",
    "slope",
)
_measures = attrgetter(*MEASURES)

NEVER = 2**63 - 1


@dataclass(slots=True)
class Command:
    """One command, as the models read it.

    Attributes:
        kind: ``TWIST`` reads ``v_x``, ``v_y``, ``yaw_rate``; ``ACKERMANN`` reads ``v_x`` and the three after the yaw
            rate; ``PEDALS`` reads pedals and steering command, ``CONTROL`` and ``DIRECT`` read ``v_x``, target
            acceleration and steering angle, and all three read gear and slope.
        v_x, v_y: Velocity of base_link [m/s]; for ``ACKERMANN``, ``v_x`` is the speed of the reference point.
        yaw_rate: [rad/s].
        steering_angle: Angle of the middle steered wheel [rad].
        steering_rate: Maximum steering rate [rad/s], infinite for the actuator's own.
        acceleration: Maximum acceleration [m/s^2], infinite for the actuator's own.
        accel_pedal, brake_pedal: Positions of the pedals as the model's maps have them, mostly 0 to 1. Of a model
            without an accelerator map, ``accel_pedal`` is an acceleration [m/s^2].
        steering_command: What the model's steering takes: a tire angle or a steering wheel's [rad], or a voltage.
        target_acceleration: Acceleration reference [m/s^2], positive is faster in the gear's direction.
        gear: Code of a gear, or ``KEEP_GEAR``.
        slope: Acceleration along +x that the road's slope gives [m/s^2], uphill negative.
    """

    kind: CommandKind = TWIST
    v_x: float = 0.0
    v_y: float = 0.0
    yaw_rate: float = 0.0
    steering_angle: float = 0.0
    steering_rate: float = math.inf
    acceleration: float = math.inf
    accel_pedal: float = 0.0
    brake_pedal: float = 0.0
    steering_command: float = 0.0
    target_acceleration: float = 0.0
    gear: int = DRIVE
    slope: float = 0.0


def twist(v_x: float, v_y: float, yaw_rate: float) -> Command:
    """A velocity of base_link [m/s, m/s, rad/s]."""
    _check_numbers(v_x=v_x, v_y=v_y, yaw_rate=yaw_rate)
    return Command(TWIST, v_x, v_y, yaw_rate)


def ackermann(speed: float, steering_angle: float, steering_rate: float = 0.0, acceleration: float = 0.0) -> Command:
    """A speed [m/s] and a steering angle [rad]; a rate or an acceleration of 0 means as fast as possible."""
    _check_numbers(speed=speed, steering_angle=steering_angle, steering_rate=steering_rate, acceleration=acceleration)
    return Command(ACKERMANN, speed, 0.0, 0.0, steering_angle, _limit(steering_rate), _limit(acceleration))


def pedals(accel: float, brake: float, steering: float, gear: int = KEEP_GEAR, slope: float = 0.0) -> Command:
    """Accelerator, brake and steering command, in the model's own units."""
    _check_numbers(accel=accel, brake=brake, steering=steering, gear=gear, slope=slope)
    return Command(PEDALS, accel_pedal=accel, brake_pedal=brake, steering_command=steering, gear=gear, slope=slope)


def control(
    velocity: float, acceleration: float, steering_angle: float, gear: int = KEEP_GEAR, slope: float = 0.0
) -> Command:
    """Autoware's Control: a velocity [m/s], an acceleration [m/s^2], a tire angle [rad]; a model takes what it can."""
    _check_numbers(velocity=velocity, acceleration=acceleration, steering_angle=steering_angle, gear=gear, slope=slope)
    return Command(
        CONTROL, velocity, steering_angle=steering_angle, target_acceleration=acceleration, gear=gear, slope=slope
    )


def gear(code: int) -> Command:
    """A gear, for all commands with ``KEEP_GEAR`` from now on."""
    _check_numbers(code=code)
    return Command(GEAR, gear=code)


def _check_numbers(**numbers: float) -> None:
    """Refuse what is no number by its name, before a vehicle meets it."""
    for name, value in numbers.items():
        if type(value) is not float:  # nearly always it is
            NUMBER.check(name, value)


def fault(command: Command) -> str:
    """Why a command is not fit to enter a vehicle, in words; empty if it is."""
    measures = _measures(command)
    if not sum(map(abs, measures)) <= MAXIMUM:  # nearly never
        for name, value in zip(MEASURES, measures, strict=True):
            if not abs(value) <= MAXIMUM:
                return f"{name} is {value:g}; it must be a finite number within +-{MAXIMUM:g}"
    for name, value in (("steering_rate", command.steering_rate), ("acceleration", command.acceleration)):
        if not value >= 0.0:
            return f"{name} is {value:g}; it must be a number"
    if not KEEP_GEAR <= command.gear <= MAXIMUM_GEAR:
        return f"gear is {command.gear}; it must be a code of autoware_vehicle_msgs/GearCommand, 0 to {MAXIMUM_GEAR}"
    return ""


class TimedCommand(NamedTuple):
    """A command with the time it arrived and the time from which it no longer holds [ns]. A tuple, because there are
    very many."""

    command: Command
    arrived: int
    expires: int


class CommandQueue:
    """Commands in order of arrival, and the one that holds now.

    The last to arrive wins. Speed and steering angle may come apart; each then has its own time-out. What has timed out
    is replaced by zero, as fast as the actuators can; where zero would be to roll on (``DRIVEN``), by ``STOP``. A gear
    holds until another one comes.
    """

    def __init__(self) -> None:
        self._waiting: deque[TimedCommand] = deque()
        self.clear()

    def clear(self) -> None:
        """Forget everything, as when time jumps back."""
        self._waiting.clear()
        self._current = Command()
        self._speed_until = self._steering_until = NEVER
        self._gear: int = DRIVE
        self._holding = Command()

    @property
    def waits(self) -> bool:
        """Whether a command has not arrived yet."""
        return bool(self._waiting)

    def enter(self, timed: TimedCommand) -> None:
        """Add a command. One that claims to have arrived before its predecessor counts as arriving with it."""
        if self._waiting and timed.arrived < self._waiting[-1].arrived:
            timed = timed._replace(arrived=self._waiting[-1].arrived)
        self._waiting.append(timed)

    def at(self, time: int) -> Command:
        """The command that holds at ``time`` [ns]; times must not decrease from call to call."""
        changed = False
        while self._waiting and self._waiting[0].arrived <= time:
            self._take(self._waiting.popleft())
            changed = True
        if self._speed_until <= time:
            self._speed_until = NEVER
            kind = STOP if self._current.kind in DRIVEN else self._current.kind
            self._current = replace(self._current, kind=kind, v_x=0.0, v_y=0.0, yaw_rate=0.0, acceleration=math.inf)
            changed = True
        if self._steering_until <= time:
            self._steering_until = NEVER
            self._current = replace(self._current, steering_angle=0.0, steering_rate=math.inf)
            changed = True
        if changed:
            self._holding = self._current
        return self._holding

    def next_change(self) -> int:
        """When something will change at the earliest after the last :meth:`at` [ns]."""
        arrival = self._waiting[0].arrived if self._waiting else NEVER
        return min(self._speed_until, self._steering_until, arrival)

    def _take(self, timed: TimedCommand) -> None:
        command = timed.command
        if command.kind == GEAR:
            self._gear = command.gear
            self._current = replace(self._current, gear=self._gear)
        elif command.kind == SPEED:
            self._current = replace(self._ackermann(), v_x=command.v_x, acceleration=command.acceleration)
            self._speed_until = timed.expires
        elif command.kind == STEERING:
            self._current = replace(
                self._ackermann(), steering_angle=command.steering_angle, steering_rate=command.steering_rate
            )
            self._steering_until = timed.expires
        else:
            self._current = self._in_gear(command)
            self._speed_until = timed.expires
            self._steering_until = timed.expires

    def _in_gear(self, command: Command) -> Command:
        """The command with the gear that holds, if it has one."""
        if command.kind not in DRIVEN:
            return command
        if command.gear != KEEP_GEAR:
            self._gear = command.gear
        return replace(command, gear=self._gear)

    def _ackermann(self) -> Command:
        """The current command as one that a half can be put into."""
        if self._current.kind == ACKERMANN:
            return self._current
        self._speed_until = self._steering_until = NEVER
        return Command(ACKERMANN)


def _limit(value: float) -> float:
    """A limit of a message: 0 (and, for want of a meaning, less) is none; NaN stays, to be refused."""
    return math.inf if value <= 0.0 else value
