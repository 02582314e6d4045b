"""Commands of a vehicle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from operator import attrgetter

from vds_gz.core.errors import NUMBER


class CommandKind(IntEnum):
    """The kind of a command, which says which of its numbers are used."""

    TWIST = 0
    ACKERMANN = 1
    #: Halves of an Ackermann command, which have separate topics.
    SPEED = 2
    STEERING = 3
    #: A driver's accelerator, brake and steering.
    PEDALS = 4
    #: Autoware's Control: velocity, acceleration and tyre angle.
    CONTROL = 5
    #: A gear for the following commands in :data:`DRIVEN`; it has its own topic.
    GEAR = 6
    #: A model's own inputs, as a log of Autoware's models holds them: the acceleration is along +x in every gear.
    DIRECT = 7
    #: Commands have ended: brake to a standstill, and leave the steering as it is.
    STOP = 8


class GearCode(IntEnum):
    """Gears by their codes in autoware_vehicle_msgs/GearCommand; 3 to 19 are further forward gears."""

    NONE = 0
    NEUTRAL = 1
    DRIVE = 2
    REVERSE = 20
    REVERSE_2 = 21
    PARK = 22
    LOW = 23
    LOW_2 = 24

    # Tables and messages show the code.
    __str__ = __repr__ = int.__repr__


TWIST, ACKERMANN, SPEED, STEERING, PEDALS, CONTROL, GEAR, DIRECT, STOP = CommandKind
NONE, NEUTRAL, DRIVE, REVERSE, REVERSE_2, PARK, LOW, LOW_2 = GearCode

#: Kinds with a gear. After a time-out ``STOP`` replaces them; zero would mean no pedal, and the car would roll on.
DRIVEN = (PEDALS, CONTROL, DIRECT)

MAXIMUM_GEAR = max(GearCode)
#: In a command: keep the present gear.
KEEP_GEAR = -1

#: Maximum magnitude of the numbers in :data:`MEASURES`; up to it, no result overflows.
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
measures_of = attrgetter(*MEASURES)

#: A time after all others [ns].
NEVER = 2**63 - 1


@dataclass(slots=True)
class Command:
    """One command, as the models read it.

    Attributes:
        kind: ``TWIST`` reads ``v_x``, ``v_y``, ``yaw_rate``; ``ACKERMANN`` reads ``v_x`` and the three after the yaw
            rate, ``SPEED`` and ``STEERING`` half of these; ``PEDALS`` reads pedals and steering command; ``CONTROL``
            and ``DIRECT`` read ``v_x``, target acceleration and steering angle; the last three read gear and slope.
        v_x, v_y: Velocity of base_link [m/s]; for ``ACKERMANN``, ``v_x`` is the speed of the reference point.
        yaw_rate: [rad/s].
        steering_angle: Angle of the middle steered wheel [rad].
        steering_rate: Maximum steering rate [rad/s], infinite for the actuator's own.
        acceleration: Maximum acceleration [m/s^2], infinite for the actuator's own.
        accel_pedal, brake_pedal: Positions of the pedals as in the model's maps, mostly 0 to 1. In a model without an
            accelerator map, ``accel_pedal`` is an acceleration [m/s^2].
        steering_command: In the units of the model's steering: a tyre angle or a steering wheel's [rad], or a voltage.
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
    """Autoware's Control: velocity [m/s], acceleration [m/s^2] and tyre angle [rad]; each model uses some of them."""
    _check_numbers(velocity=velocity, acceleration=acceleration, steering_angle=steering_angle, gear=gear, slope=slope)
    return Command(
        CONTROL, velocity, steering_angle=steering_angle, target_acceleration=acceleration, gear=gear, slope=slope
    )


def gear(code: int) -> Command:
    """A gear, for all commands with ``KEEP_GEAR`` from now on."""
    _check_numbers(code=code)
    return Command(GEAR, gear=code)


def _check_numbers(**numbers: float) -> None:
    """Refuse arguments that are not numbers, by name."""
    for name, value in numbers.items():
        if type(value) is not float:  # nearly always it is
            NUMBER.check(name, value)


def _limit(value: float) -> float:
    """A limit of a message: 0 or less means unlimited; NaN stays, to be refused later."""
    return math.inf if value <= 0.0 else value
