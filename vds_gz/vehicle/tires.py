"""The forces of two axles' tyres on a rigid body, and how they change its motion.

All forces are divided by the vehicle's mass [m/s^2]. The motion is that of the centre of gravity.

Sources: Pacejka, Tire and Vehicle Dynamics (2012), chapters 1 and 4, for the single-track model and the magic formula;
Althoff and Wuersching, CommonRoad: Vehicle Models (2020), section 7, for the equations with small angles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol, TypeAlias

from vds_gz.vehicle.trigonometry import direction, sine_cosine

#: Of the centre of gravity along +x and +y, and the yaw rate [m/s, m/s, rad/s].
Velocity: TypeAlias = "tuple[float, float, float]"

#: Simpson's rule and Kutta's method: weights are 1, 4 and 1 sixths.
SIXTH = 1.0 / 6.0
THIRD = 1.0 / 3.0


#: Number of powers in a tyre's shape.
POWERS = 12

#: tan(pi / 6), above which a slip angle is measured from pi / 3, and tan(pi / 3).
STEEP, STEEPER = 0.57735026918962576, 1.73205080756887729


@dataclass(frozen=True, slots=True)
class TireShape:
    """Powers of the cosine of an angle from 0 to pi / 2 in ``sin(C angle) / sin(angle)``, for a shape factor C."""

    p0: float
    p1: float
    p2: float
    p3: float
    p4: float
    p5: float
    p6: float
    p7: float
    p8: float
    p9: float
    p10: float
    p11: float


class TireCoefficients(Protocol):
    """What the coefficients of a vehicle on tyres have; ``SingleTrackCoefficients`` describes them."""

    dt: float
    cg_x: float
    steered_lever: float
    agility: float
    shape: TireShape
    curvature: float
    is_curved: bool
    small_angles: bool
    least_speed: float
    drag: float
    rolling: float
    rolling_rate: float


class Forces(NamedTuple):
    """What acts on a vehicle for a step [m/s^2]."""

    push_fixed: float  # push_fixed, push_steered: driving forces of the axles, along their wheels
    push_steered: float
    # grip_fixed, grip_steered: largest lateral forces of the axles; with small angles, forces by slip angle
    grip_fixed: float
    grip_steered: float
    slope_fixed: float  # slope_fixed, slope_steered: slope B of the magic formula [1/rad]
    slope_steered: float
    slope: float  # slope, bank: what gravity gives along +x and +y
    bank: float


@cache
def tire_shape(factor: float) -> TireShape:
    """The powers for a shape factor from 1 to 2: Newton's interpolation at Chebyshev's points."""
    count = POWERS
    points = [0.5 - 0.5 * sine_cosine(math.pi * (k + 0.5) / count)[1] for k in range(count)]
    differences = []
    for cosine in points:
        sine = math.sqrt(1.0 - cosine * cosine)
        differences.append(sine_cosine(factor * direction(sine, cosine))[0] / sine)
    for order in range(1, count):
        for k in range(count - 1, order - 1, -1):
            differences[k] = (differences[k] - differences[k - 1]) / (points[k] - points[k - order])
    powers = [0.0] * count
    for point, difference in zip(reversed(points), reversed(differences), strict=True):
        powers = [low - point * power for low, power in zip([difference, *powers], [*powers, 0.0], strict=True)][:count]
    return TireShape(*powers)


def magic_formula(side: float, ahead: float, slope: float, c: TireCoefficients) -> float:
    """The share of the largest lateral force that a tyre has at a slip angle, whose tangent is ``side / ahead``.

    ``sin(C atan(x - E (x - atan x)))`` with ``x`` the slip angle times slope B, shape C and curvature E. Polynomials
    follow it within 1e-9. They take half the time of exact functions, each of which waits for the one before. Even and
    odd powers of the cosine are separate, because those of its square do not wait for the root.
    """
    x = slope * arctangent(side, ahead)
    if c.is_curved:
        x -= c.curvature * (x - arctangent(x, 1.0))
    square = 1.0 / (1.0 + x * x)
    cosine = math.sqrt(square)
    p, y = c.shape, square * square
    even = (p.p0 + p.p2 * square) + (p.p4 + p.p6 * square) * y + (p.p8 + p.p10 * square) * (y * y)
    odd = (p.p1 + p.p3 * square) + (p.p5 + p.p7 * square) * y + (p.p9 + p.p11 * square) * (y * y)
    return x * cosine * (even + odd * cosine)


def arctangent(side: float, ahead: float) -> float:
    """The angle of a vector from the x axis, at most a right angle [rad]; its relative error is below 1e-10.

    The polynomial is Chebyshev's approximation up to tan(pi / 6).
    """
    width = abs(side)
    steep = width > STEEP * ahead
    tangent = (width - STEEPER * ahead if steep else width) / (ahead + STEEPER * width if steep else ahead)
    z = tangent * tangent
    y = z * z
    low = (0.99999999990626959 - 0.33333329725800195 * z) + (0.19999770058404095 - 0.14280068927838418 * z) * y
    high = (0.1104197985083775 - 0.086192523349913394 * z) + (0.058192520503663655 - 0.023186283721222258 * z) * y
    angle = tangent * (low + high * (y * y))
    angle = math.pi / 3.0 + angle if steep else angle
    return -angle if side < 0.0 else angle


def resistance(c: TireCoefficients, v_x: float) -> float:
    """Acceleration by air drag and rolling resistance [m/s^2]; the latter fades out towards standstill."""
    rolling = v_x * c.rolling_rate
    rolling = 1.0 if rolling > 1.0 else -1.0 if rolling < -1.0 else rolling
    return -c.drag * abs(v_x) * v_x - c.rolling * rolling


def accelerations(
    c: TireCoefficients, f: Forces, sine: float, cosine: float, v_x: float, v_y: float, yaw_rate: float
) -> tuple[float, float, float]:
    """Derivatives of the velocity of the centre of gravity in the vehicle's axes [m/s^2, m/s^2, rad/s^2].

    The steering angle is given by its sine and cosine; with small angles the "sine" is the angle itself [rad].
    """
    if c.small_angles:
        return linear_accelerations(c, f, sine, v_x, v_y, yaw_rate)
    across = v_y + c.steered_lever * yaw_rate
    least_speed = c.least_speed
    rolling = abs(v_x * cosine + across * sine)
    rolling = least_speed if rolling < least_speed else rolling
    side = -f.grip_steered * magic_formula(across * cosine - v_x * sine, rolling, f.slope_steered, c)

    rolling = abs(v_x)
    rolling = least_speed if rolling < least_speed else rolling
    side_fixed = -f.grip_fixed * magic_formula(v_y - c.cg_x * yaw_rate, rolling, f.slope_fixed, c)

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


def runge_kutta(
    c: TireCoefficients, f: Forces, angle: float, rate: float, sine: float, cosine: float, v: Velocity
) -> tuple[Velocity, Velocity]:
    """Velocity after a step and its mean, by Kutta's third-order method; the steering turns evenly to its angle.

    The wheel's direction at the middle and at the begin follows by turning it back by half of a step's turn, whose
    half-angle tangent has an error of its fifth power. That takes a quarter of the time of sines and cosines.
    """
    dt, half = c.dt, 0.5 * c.dt
    v_x, v_y, yaw_rate = v
    quarter_turn = 0.5 * rate * half
    tangent = quarter_turn + quarter_turn * quarter_turn * quarter_turn * THIRD
    scale = 2.0 / (1.0 + tangent * tangent)
    cos_turn, sin_turn = scale - 1.0, scale * tangent
    if c.small_angles:
        mid_sine, mid_cosine, first_sine, first_cosine, sine = angle - rate * half, 1.0, angle - rate * dt, 1.0, angle
    else:
        mid_sine, mid_cosine = sine * cos_turn - cosine * sin_turn, cosine * cos_turn + sine * sin_turn
        first_sine = mid_sine * cos_turn - mid_cosine * sin_turn
        first_cosine = mid_cosine * cos_turn + mid_sine * sin_turn
    a_x, a_y, turning = accelerations(c, f, first_sine, first_cosine, v_x, v_y, yaw_rate)
    mid_x, mid_y, mid_yaw = v_x + half * a_x, v_y + half * a_y, yaw_rate + half * turning
    b_x, b_y, bending = accelerations(c, f, mid_sine, mid_cosine, mid_x, mid_y, mid_yaw)
    end_x, end_y = v_x + dt * (2.0 * b_x - a_x), v_y + dt * (2.0 * b_y - a_y)
    end_yaw = yaw_rate + dt * (2.0 * bending - turning)
    d_x, d_y, swerving = accelerations(c, f, sine, cosine, end_x, end_y, end_yaw)
    sixth = dt * SIXTH
    new_x = v_x + sixth * (a_x + 4.0 * b_x + d_x)
    new_y = v_y + sixth * (a_y + 4.0 * b_y + d_y)
    new_yaw = yaw_rate + sixth * (turning + 4.0 * bending + swerving)
    mean_x = (v_x + 4.0 * mid_x + end_x) * SIXTH
    mean_y = (v_y + 4.0 * mid_y + end_y) * SIXTH
    mean_yaw = (yaw_rate + 4.0 * mid_yaw + end_yaw) * SIXTH
    return (new_x, new_y, new_yaw), (mean_x, mean_y, mean_yaw)


def rest_of_ellipse(grip: float, push: float) -> float:
    """What is left of a tyre's largest force for the lateral one, beside a driving force (all in m/s^2)."""
    rest = grip * grip - push * push
    return math.sqrt(rest if rest > 0.0 else 0.0)
