"""The forces of two axles' tyres on a rigid body, and how they change its motion.

All forces are divided by the vehicle's mass [m/s^2]. The motion is that of the centre of gravity.

Sources: Pacejka, Tire and Vehicle Dynamics (2012), chapters 1 and 4, for the single-track model and the magic formula;
Althoff and Wuersching, CommonRoad: Vehicle Models (2020), section 7, for the equations with small angles.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

from vds_gz.vehicle.trigonometry import direction, sine_cosine


class TireCoefficients(Protocol):
    """What the coefficients of a vehicle on tyres have; ``SingleTrackCoefficients`` describes them."""

    dt: float
    cg_x: float
    steered_lever: float
    agility: float
    slope_fixed: float
    slope_steered: float
    shape: float
    curvature: float
    is_curved: bool
    small_angles: bool
    least_speed: float
    drag: float
    rolling: float
    rolling_rate: float


class Forces(NamedTuple):
    """What acts on a vehicle for a step [m/s^2].

    Attributes:
        push_fixed, push_steered: Driving forces of the axles, along their wheels.
        grip_fixed, grip_steered: Largest lateral forces of the axles; with small angles, forces by slip angle.
        slope, bank: What gravity gives along +x and +y.
    """

    push_fixed: float
    push_steered: float
    grip_fixed: float
    grip_steered: float
    slope: float
    bank: float


def magic_formula(slip: float, slope: float, shape: float, curvature: float, is_curved: bool) -> float:
    """The share of the largest lateral force that a tyre has at a slip angle [rad].

    ``sin(C atan(B x - E (B x - atan(B x))))`` with slope B, shape C and curvature E.
    """
    x = slope * slip
    if is_curved:
        x -= curvature * (x - direction(x, 1.0))
    return sine_cosine(shape * direction(x, 1.0))[0]


def resistance(c: TireCoefficients, v_x: float) -> float:
    """Acceleration by air drag and rolling resistance [m/s^2]; the latter fades out towards standstill."""
    rolling = v_x * c.rolling_rate
    rolling = 1.0 if rolling > 1.0 else -1.0 if rolling < -1.0 else rolling
    return -c.drag * abs(v_x) * v_x - c.rolling * rolling


def accelerations(
    c: TireCoefficients, f: Forces, angle: float, v_x: float, v_y: float, yaw_rate: float
) -> tuple[float, float, float]:
    """Derivatives of the velocity of the centre of gravity in the vehicle's axes [m/s^2, m/s^2, rad/s^2].

    Args:
        c, f: Coefficients and forces.
        angle: Steering angle [rad].
        v_x, v_y: Velocity of the centre of gravity [m/s].
        yaw_rate: [rad/s].
    """
    if c.small_angles:
        return linear_accelerations(c, f, angle, v_x, v_y, yaw_rate)
    sine, cosine = sine_cosine(angle)
    across = v_y + c.steered_lever * yaw_rate
    least_speed = c.least_speed
    rolling = abs(v_x * cosine + across * sine)
    rolling = least_speed if rolling < least_speed else rolling
    slip = direction(across * cosine - v_x * sine, rolling)
    side = -f.grip_steered * magic_formula(slip, c.slope_steered, c.shape, c.curvature, c.is_curved)

    rolling = abs(v_x)
    rolling = least_speed if rolling < least_speed else rolling
    slip = direction(v_y - c.cg_x * yaw_rate, rolling)
    side_fixed = -f.grip_fixed * magic_formula(slip, c.slope_fixed, c.shape, c.curvature, c.is_curved)

    lateral = side * cosine + f.push_steered * sine
    a_x = f.push_fixed + f.push_steered * cosine - side * sine + f.slope + resistance(c, v_x)
    a_y = side_fixed + lateral + f.bank
    turning = (c.steered_lever * lateral - c.cg_x * side_fixed) * c.agility
    return a_x + yaw_rate * v_y, a_y - yaw_rate * v_x, turning


def linear_accelerations(
    c: TireCoefficients, f: Forces, angle: float, v_x: float, v_y: float, yaw_rate: float
) -> tuple[float, float, float]:
    """The same for small angles: forces are proportional to slip angles and act across, the push along the way.

    Slip angles are limited to a right angle, so that a vehicle beyond its critical speed stays finite.
    """
    ahead = -1.0 if v_x < 0.0 else 1.0
    speed = math.sqrt(v_x * v_x + v_y * v_y)
    rolls = speed > c.least_speed
    divisor = speed if rolls else c.least_speed
    drift = direction(v_y, abs(v_x))
    slip = (speed * (drift - ahead * angle) + c.steered_lever * yaw_rate) / divisor
    slip_fixed = (speed * drift - c.cg_x * yaw_rate) / divisor
    right_angle = 0.5 * math.pi
    slip = right_angle if slip > right_angle else -right_angle if slip < -right_angle else slip
    slip_fixed = right_angle if slip_fixed > right_angle else -right_angle if slip_fixed < -right_angle else slip_fixed
    side = -f.grip_steered * slip
    side_fixed = -f.grip_fixed * slip_fixed
    along = f.push_fixed + f.push_steered + f.slope + resistance(c, ahead * speed)
    across = side + side_fixed + f.bank - ahead * speed * yaw_rate
    cosine = abs(v_x) / divisor if rolls else 1.0
    sine = ahead * v_y / divisor if rolls else 0.0
    turning = (c.steered_lever * side - c.cg_x * side_fixed) * c.agility
    return along * cosine - across * sine, along * sine + across * cosine, turning
