"""Five steerings: an ideal one, three given by the derivative of the tyre angle, and a mechanism.

Angles are those of the middle steered wheel [rad], left positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from vds_gz.autoware.vehicle.delay import DelayLine, empty_line, limited, outside
from vds_gz.autoware.vehicle.map_lookup import Map, interpolate
from vds_gz.autoware.vehicle.mechanism import (
    MechanismCoefficients,
    MechanismState,
    mechanism_at_rest,
)

#: The angle follows its reference at once.
IDEAL_ANGLE = 0
#: The angle follows with a first-order lag.
LAGGING_ANGLE = 1
#: The command is any quantity, such as a voltage; a map gives its steering rate.
RATE_MAP = 2
#: The command is the angle of the steering wheel; a variable gear ratio gives the tyre angle, which lags.
VARIABLE_RATIO = 3
#: The command is the angle of the steering wheel; a controller, a motor and mechanics turn the tyres.
MECHANISM = 4

#: Minimum gear ratio.
LEAST_RATIO = 1e-5


@dataclass(slots=True)
class AutowareSteeringCoefficients:
    """A steering's parameters, prepared for a fixed step length."""

    kind: int  # one of the steerings above
    physical: bool  # unphysical behaviour of Autoware's models is corrected
    delay_steps: int = 0  # dead time in steps
    command_limit: float = math.inf  # saturation of an angle reference [rad]
    angle_limit: float = math.inf  # end stops [rad]
    rate_limit: float = math.inf  # maximum steering rate [rad/s]
    time_constant: float = 0.0  # time constant of the lag [s]
    bias: float = 0.0  # offset of the sensor's reading [rad]
    dead_band: float = 0.0  # smallest deviation that has an effect [rad]
    scale: float = 1.0  # factor of an angle reference
    map: Map = field(default_factory=Map)  # steering rate [rad/s] by command and tyre angle [rad]
    ratio: float = 1.0  # gear ratio at standstill, straight ahead
    ratio_by_speed: float = 0.0  # increase of the gear ratio per speed squared [s^2/m^2]
    ratio_by_angle: float = 0.0  # decrease of the gear ratio per angle of the steering wheel [1/rad]
    gain: float = 0.0  # gain of the loop from a tyre angle reference to a steering rate [1/s]
    mechanism: MechanismCoefficients = field(default_factory=MechanismCoefficients)


@dataclass(slots=True)
class AutowareSteeringState:
    """Tyre angle, and commands in the dead time."""

    line: DelayLine  # dead time
    mechanism: MechanismState
    angle: float = 0.0  # tyre angle [rad]
    rate: float = 0.0  # steering rate [rad/s]
    command: float = 0.0  # output of the dead time
    target: float = 0.0  # target of a lagging angle [rad]


def steering_at_rest(c: AutowareSteeringCoefficients) -> AutowareSteeringState:
    """A steering that points ahead and never got a reference."""
    return AutowareSteeringState(empty_line(c.delay_steps), mechanism_at_rest(c.mechanism))


def prepare_steering(c: AutowareSteeringCoefficients, s: AutowareSteeringState) -> None:
    """Set what is constant during a step, and the angle of an ideal steering."""
    s.target = limited(s.command, c.command_limit) * c.scale
    if c.kind == IDEAL_ANGLE:
        s.angle = s.command


def steering_derivative(c: AutowareSteeringCoefficients, s: AutowareSteeringState, v: float, angle: float) -> float:
    """Derivative of the tyre angle [rad/s].

    Corrected (feedback): the angle within a step is fed back; else the angle at its beginning, and long steps
    overshoot.
    """
    measured = (angle if c.physical else s.angle) + c.bias
    if c.kind == LAGGING_ANGLE:
        return limited(-outside(measured - s.target, c.dead_band) / c.time_constant, c.rate_limit)
    if c.kind == VARIABLE_RATIO:
        return limited(-(measured - geared_angle(c, s.command, v, angle)) / c.time_constant, c.rate_limit)
    if c.kind == RATE_MAP:
        return limited(mapped_rate(c, s.command, v, angle), c.rate_limit)
    return 0.0


def mapped_rate(c: AutowareSteeringCoefficients, command: float, v: float, angle: float) -> float:
    """Steering rate for a command [rad/s].

    Corrected (steering map): the map is read at the tyre angle and gives a rate; else it is read at the speed, and its
    value is divided by the time constant.
    """
    if c.physical:
        return interpolate(c.map, command, angle)
    return interpolate(c.map, command, v) / c.time_constant


def geared_angle(c: AutowareSteeringCoefficients, wheel: float, v: float, angle: float) -> float:
    """The tyre angle [rad] for a steering wheel's angle [rad], at a speed [m/s] and the present tyre angle [rad]."""
    return wheel / gear_ratio(c, v, wheel_angle(c, v, angle))


def gear_ratio(c: AutowareSteeringCoefficients, v: float, wheel: float) -> float:
    """Steering wheel's angle divided by tyre angle; it rises with the speed, and falls with the wheel's angle [rad]."""
    ratio = c.ratio + c.ratio_by_speed * v * v - c.ratio_by_angle * abs(wheel)
    return ratio if ratio > LEAST_RATIO else LEAST_RATIO


def wheel_angle(c: AutowareSteeringCoefficients, v: float, angle: float) -> float:
    """The steering wheel's angle [rad] for a tyre angle [rad]: the solution of ``wheel = ratio(wheel) * angle``."""
    return ((c.ratio + c.ratio_by_speed * v * v) * angle) / (1.0 + c.ratio_by_angle * abs(angle))
