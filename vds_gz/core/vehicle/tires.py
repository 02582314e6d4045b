"""The forces of two axles' tyres on a rigid body, and how they change its motion.

All forces are divided by the vehicle's mass [m/s^2]. The motion is that of the centre of gravity.

Sources: Pacejka, Tire and Vehicle Dynamics (2012), chapters 1 and 4, for the single-track model and the magic formula;
Althoff and Wuersching, CommonRoad: Vehicle Models (2020), section 7, for the equations with small angles;
Chan and Tsai, On explicit two-derivative Runge-Kutta methods (2010), for the integrator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol, TypeAlias

from vds_gz.core.vehicle.trigonometry import direction, sine_cosine

#: Velocity of the centre of gravity along +x and +y, and the yaw rate [m/s, m/s, rad/s].
PlanarVelocity: TypeAlias = "tuple[float, float, float]"

#: Weights of the integrators.
SIXTH, THIRD, TWELFTH = 1.0 / 6.0, 1.0 / 3.0, 1.0 / 12.0

#: Numbers of coefficients of a tyre's shape and of its derivative.
POWERS, SLOPE_POWERS = 12, 8

#: A steering angle that changes more than this in a step counts as a jump [rad].
STEERING_JUMP = 0.1

#: tan(pi / 6), above which a slip angle is measured from pi / 3, and tan(pi / 3).
TAN_30, TAN_60 = 0.57735026918962576, 1.73205080756887729


@dataclass(frozen=True, slots=True)
class TireShape:
    """Coefficients of polynomials in the cosine of an angle from 0 to pi / 2, for a shape factor C.

    ``p`` are those of ``sin(C angle) / sin(angle)``, from the lowest power on, ``q`` those of ``C cos(C angle)``.
    """

    p: list[float]
    q: list[float]


class TireCoefficients(Protocol):
    """Coefficients of any vehicle on tyres; ``SingleTrackCoefficients`` describes them."""

    dt: float
    cg_x: float
    steered_lever: float
    mass_per_inertia: float
    shape: TireShape
    curvature_factor: float
    is_curved: bool
    small_angles: bool
    least_speed: float
    drag: float
    rolling: float
    rolling_rate: float


class Forces(NamedTuple):
    """Forces on a vehicle during a step, divided by its mass [m/s^2]."""

    drive_force_fixed: float  # driving force of the fixed axle, along its wheels
    drive_force_steered: float  # driving force of the steered axle, along its wheels
    grip_fixed: float  # maximum lateral force of the fixed axle; with small angles, force per slip angle
    grip_steered: float  # the same of the steered axle
    stiffness_factor_fixed: float  # fixed axle's slope B of the magic formula [1/rad]
    stiffness_factor_steered: float  # the same of the steered axle [1/rad]
    slope: float  # gravity along +x
    bank: float  # gravity along +y


class TireContact(NamedTuple):
    """An axle's contact with the road: its motion and its forces."""

    v_along: float  # velocity along the wheels [m/s]
    v_across: float  # velocity across the wheels [m/s]
    rolling: float  # magnitude of ``v_along``, at least the least speed [m/s]
    stiffness: float  # derivative of the lateral force by the slip angle [m/s^2]
    longitudinal: float  # force along +x [m/s^2]
    lateral: float  # force along +y [m/s^2]


@cache
def tire_shape(factor: float) -> TireShape:
    """The polynomials for a shape factor from 1 to 2."""

    def ratio(cosine: float) -> float:
        sine = math.sqrt(1.0 - cosine * cosine)
        return sine_cosine(factor * direction(sine, cosine))[0] / sine

    def derivative(cosine: float) -> float:
        return factor * sine_cosine(factor * direction(math.sqrt(1.0 - cosine * cosine), cosine))[1]

    return TireShape(_powers(ratio, POWERS), _powers(derivative, SLOPE_POWERS))


def _powers(function: Callable[[float], float], count: int) -> list[float]:
    """Coefficients of the polynomial that interpolates a function at Chebyshev's points from 0 to 1, by Newton."""
    points = [0.5 - 0.5 * sine_cosine(math.pi * (k + 0.5) / count)[1] for k in range(count)]
    differences = list(map(function, points))
    for order in range(1, count):
        for k in range(count - 1, order - 1, -1):
            differences[k] = (differences[k] - differences[k - 1]) / (points[k] - points[k - order])
    powers = [0.0] * count
    for point, difference in zip(reversed(points), reversed(differences), strict=True):
        powers = [low - point * power for low, power in zip([difference, *powers], [*powers, 0.0], strict=True)][:count]
    return powers


def magic_formula(side: float, ahead: float, stiffness_factor: float, c: TireCoefficients) -> tuple[float, float]:
    """The lateral force of a tyre as a share of its maximum, and the derivative by the slip angle [1/rad].

    ``side / ahead`` is the tangent of the slip angle. The formula is ``sin(C atan(x - E (x - atan x)))`` with shape C,
    curvature E and ``x``, the slip angle times slope B. Polynomials approximate it within 1e-9, in half the time of the
    exact functions, each of which waits for the one before. Even and odd powers of the cosine are separate, because the
    even ones do not wait for the root.
    """
    numerator, denominator = angle_fraction(side, ahead)
    numerator *= stiffness_factor
    if c.is_curved:
        x = numerator / denominator
        angle, denominator = angle_fraction(x, 1.0)
        stiffness_factor -= stiffness_factor * c.curvature_factor * (x * x / (1.0 + x * x))
        numerator = x * denominator - c.curvature_factor * (x * denominator - angle)
    inverse = 1.0 / (numerator * numerator + denominator * denominator)
    root = math.sqrt(inverse)
    square = denominator * denominator * inverse
    sine, cosine = numerator * root, denominator * root
    p, q, y = c.shape.p, c.shape.q, square * square
    even = (p[0] + p[2] * square) + (p[4] + p[6] * square) * y + (p[8] + p[10] * square) * (y * y)
    odd = (p[1] + p[3] * square) + (p[5] + p[7] * square) * y + (p[9] + p[11] * square) * (y * y)
    relative_force = sine * (even + odd * cosine)
    even = (q[0] + q[2] * square) + (q[4] + q[6] * square) * y
    odd = (q[1] + q[3] * square) + (q[5] + q[7] * square) * y
    return relative_force, stiffness_factor * square * (even + odd * cosine)


def angle_fraction(side: float, ahead: float) -> tuple[float, float]:
    """Numerator and denominator of the angle of a vector from the x axis, at most a right angle [rad].

    Their quotient is the best rational approximation up to tan(pi / 6), by Remez's method, with a relative error below
    1.1e-10. Both are multiplied by the sixth power of the tangent's divisor, so that no division is needed.
    """
    width = abs(side)
    steep = width > TAN_30 * ahead
    across = width - TAN_60 * ahead if steep else width
    along = ahead + TAN_60 * width if steep else ahead
    w, z = across * across, along * along
    ww, wz, zz = w * w, w * z, z * z
    numerator = across * along * (0.99999999989689653 * zz + 0.97540308360022455 * wz + 0.17240523139114823 * ww)
    denominator = zz * (z + 1.3087363913783327 * w) + ww * (0.40865171676647117 * z + 0.017311879957899355 * w)
    numerator = numerator + denominator * (math.pi / 3.0) if steep else numerator
    return -numerator if side < 0.0 else numerator, denominator


def resistance(c: TireCoefficients, v_x: float) -> float:
    """Acceleration by air drag and rolling resistance [m/s^2]; rolling resistance fades out towards standstill."""
    rolling = v_x * c.rolling_rate
    rolling = 1.0 if rolling > 1.0 else -1.0 if rolling < -1.0 else rolling
    return -c.drag * abs(v_x) * v_x - c.rolling * rolling


def accelerations(
    c: TireCoefficients, f: Forces, sine: float, cosine: float, v: PlanarVelocity
) -> tuple[PlanarVelocity, TireContact, TireContact]:
    """Derivatives of the velocity of the centre of gravity in the vehicle's axes [m/s^2, m/s^2, rad/s^2].

    ``sine`` and ``cosine`` are those of the steering angle. The contacts are those of the steered and the fixed axle.
    """
    v_x, v_y, yaw_rate = v
    across = v_y + c.steered_lever * yaw_rate
    v_along, v_across = v_x * cosine + across * sine, across * cosine - v_x * sine
    rolling = slip_angle_speed(c.least_speed, v_along)
    relative_force, slope = magic_formula(v_across, rolling, f.stiffness_factor_steered, c)
    force_steered = -f.grip_steered * relative_force

    v_across_fixed = v_y - c.cg_x * yaw_rate
    rolling_fixed = slip_angle_speed(c.least_speed, v_x)
    relative_force, slope_fixed = magic_formula(v_across_fixed, rolling_fixed, f.stiffness_factor_fixed, c)
    force_fixed = -f.grip_fixed * relative_force

    longitudinal = f.drive_force_steered * cosine - force_steered * sine
    lateral = force_steered * cosine + f.drive_force_steered * sine
    a_x = f.drive_force_fixed + longitudinal + f.slope + resistance(c, v_x) + yaw_rate * v_y
    a_y = force_fixed + lateral + f.bank - yaw_rate * v_x
    a_yaw = (c.steered_lever * lateral - c.cg_x * force_fixed) * c.mass_per_inertia
    return (
        (a_x, a_y, a_yaw),
        TireContact(v_along, v_across, rolling, -f.grip_steered * slope, longitudinal, lateral),
        TireContact(v_x, v_across_fixed, rolling_fixed, -f.grip_fixed * slope_fixed, f.drive_force_fixed, force_fixed),
    )


def slip_angle_speed(least_speed: float, along: float) -> float:
    """The speed along a wheel from which its slip angle is computed [m/s]."""
    rolling = abs(along)
    return least_speed if rolling < least_speed else rolling


def force_rate(contact: TireContact, along_rate: float, across_rate: float) -> float:
    """Time derivative of an axle's lateral force, from the acceleration of its contact along and across [m/s^2]."""
    v_across, rolling = contact.v_across, contact.rolling
    force_slope = contact.stiffness / (v_across * v_across + rolling * rolling)
    rolling_rate = along_rate if contact.v_along == rolling else -along_rate if contact.v_along == -rolling else 0.0
    return force_slope * (rolling * across_rate - v_across * rolling_rate)


def derivatives(
    c: TireCoefficients, f: Forces, sine: float, cosine: float, rate: float, v: PlanarVelocity
) -> tuple[PlanarVelocity, PlanarVelocity]:
    """First and second derivatives of the velocity. The steering turns at a rate [rad/s]; a jump counts as no rate."""
    rate = rate if abs(rate * c.dt) < STEERING_JUMP else 0.0
    a, steered, fixed = accelerations(c, f, sine, cosine, v)
    a_x, a_y, a_yaw = a
    v_x, v_y, yaw_rate = v
    across = a_y + c.steered_lever * a_yaw
    along_rate = a_x * cosine + across * sine + rate * steered.v_across
    across_rate = across * cosine - a_x * sine - rate * steered.v_along
    steered_rate = force_rate(steered, along_rate, across_rate)
    fixed_rate = force_rate(fixed, a_x, a_y - c.cg_x * a_yaw)
    longitudinal_rate = -steered_rate * sine - rate * steered.lateral
    lateral_rate = steered_rate * cosine + rate * steered.longitudinal
    resistance_slope = -2.0 * c.drag * abs(v_x)
    resistance_slope -= c.rolling * c.rolling_rate if abs(v_x * c.rolling_rate) < 1.0 else 0.0
    jerk_x = longitudinal_rate + resistance_slope * a_x + a_yaw * v_y + yaw_rate * a_y
    jerk_y = fixed_rate + lateral_rate - a_yaw * v_x - yaw_rate * a_x
    return a, (jerk_x, jerk_y, (c.steered_lever * lateral_rate - c.cg_x * fixed_rate) * c.mass_per_inertia)


def two_derivative_step(
    c: TireCoefficients,
    f: Forces,
    sine: float,
    cosine: float,
    v: PlanarVelocity,
    a: PlanarVelocity,
    jerk: PlanarVelocity,
) -> tuple[PlanarVelocity, PlanarVelocity]:
    """Velocity after a step and mean velocity, of the third order for constant forces and steering, else of the second.

    The method uses two derivatives at the beginning and the accelerations at the end, where ``sine`` and ``cosine``
    are those of the steering angle. It evaluates the tyres twice a step; Kutta's third-order method needs three
    evaluations, one after the other.
    """
    dt, half = c.dt, 0.5 * c.dt
    (v_x, v_y, yaw_rate), (a_x, a_y, a_yaw), (jerk_x, jerk_y, jerk_yaw) = v, a, jerk
    end_x, end_y = v_x + dt * (a_x + half * jerk_x), v_y + dt * (a_y + half * jerk_y)
    end_yaw = yaw_rate + dt * (a_yaw + half * jerk_yaw)
    b_x, b_y, b_yaw = accelerations(c, f, sine, cosine, (end_x, end_y, end_yaw))[0]
    third, twelfth = dt * THIRD, dt * TWELFTH
    new_x = v_x + third * (2.0 * a_x + b_x + half * jerk_x)
    new_y = v_y + third * (2.0 * a_y + b_y + half * jerk_y)
    new_yaw = yaw_rate + third * (2.0 * a_yaw + b_yaw + half * jerk_yaw)
    mean_x = v_x + twelfth * (5.0 * a_x + b_x + dt * jerk_x)
    mean_y = v_y + twelfth * (5.0 * a_y + b_y + dt * jerk_y)
    mean_yaw = yaw_rate + twelfth * (5.0 * a_yaw + b_yaw + dt * jerk_yaw)
    return (new_x, new_y, new_yaw), (mean_x, mean_y, mean_yaw)


def linear_accelerations(
    c: TireCoefficients, f: Forces, angle: float, v_x: float, v_y: float, yaw_rate: float
) -> PlanarVelocity:
    """Accelerations for small angles.

    Lateral forces are proportional to slip angles and act across the direction of motion, driving forces along it.
    Slip angles are limited to a right angle, so that a vehicle beyond its critical speed stays finite.
    """
    sign = -1.0 if v_x < 0.0 else 1.0
    speed = math.sqrt(v_x * v_x + v_y * v_y)
    moves = speed > c.least_speed
    divisor = speed if moves else c.least_speed
    sideslip = direction(v_y, abs(v_x))
    slip = (speed * (sideslip - sign * angle) + c.steered_lever * yaw_rate) / divisor
    slip_fixed = (speed * sideslip - c.cg_x * yaw_rate) / divisor
    right_angle = 0.5 * math.pi
    slip = right_angle if slip > right_angle else -right_angle if slip < -right_angle else slip
    slip_fixed = right_angle if slip_fixed > right_angle else -right_angle if slip_fixed < -right_angle else slip_fixed
    force_steered = -f.grip_steered * slip
    force_fixed = -f.grip_fixed * slip_fixed
    along = f.drive_force_fixed + f.drive_force_steered + f.slope + resistance(c, sign * speed)
    across = force_steered + force_fixed + f.bank - sign * speed * yaw_rate
    cosine = abs(v_x) / divisor if moves else 1.0
    sine = sign * v_y / divisor if moves else 0.0
    a_yaw = (c.steered_lever * force_steered - c.cg_x * force_fixed) * c.mass_per_inertia
    return along * cosine - across * sine, along * sine + across * cosine, a_yaw


def kutta_step(
    c: TireCoefficients, f: Forces, angle: float, rate: float, v: PlanarVelocity
) -> tuple[PlanarVelocity, PlanarVelocity]:
    """Velocity after a step and mean velocity, for small angles, by Kutta's third-order method.

    The steering turns at a constant rate [rad/s] and reaches ``angle`` at the end of the step.
    """
    dt, half = c.dt, 0.5 * c.dt
    v_x, v_y, yaw_rate = v
    a_x, a_y, a_yaw = linear_accelerations(c, f, angle - rate * dt, v_x, v_y, yaw_rate)
    mid_x, mid_y, mid_yaw = v_x + half * a_x, v_y + half * a_y, yaw_rate + half * a_yaw
    b_x, b_y, b_yaw = linear_accelerations(c, f, angle - rate * half, mid_x, mid_y, mid_yaw)
    end_x, end_y = v_x + dt * (2.0 * b_x - a_x), v_y + dt * (2.0 * b_y - a_y)
    end_yaw = yaw_rate + dt * (2.0 * b_yaw - a_yaw)
    d_x, d_y, d_yaw = linear_accelerations(c, f, angle, end_x, end_y, end_yaw)
    sixth = dt * SIXTH
    new_x = v_x + sixth * (a_x + 4.0 * b_x + d_x)
    new_y = v_y + sixth * (a_y + 4.0 * b_y + d_y)
    new_yaw = yaw_rate + sixth * (a_yaw + 4.0 * b_yaw + d_yaw)
    mean_x = (v_x + 4.0 * mid_x + end_x) * SIXTH
    mean_y = (v_y + 4.0 * mid_y + end_y) * SIXTH
    mean_yaw = (yaw_rate + 4.0 * mid_yaw + end_yaw) * SIXTH
    return (new_x, new_y, new_yaw), (mean_x, mean_y, mean_yaw)


def friction_ellipse(grip: float, drive_force: float) -> float:
    """The maximum lateral force of a tyre that also has a driving force (all in m/s^2)."""
    square = grip * grip - drive_force * drive_force
    return math.sqrt(square if square > 0.0 else 0.0)
