"""Sine, cosine, direction of a vector, exponential and motion of a pose, from exactly rounded operations only.

Unlike functions of C libraries, they give the same bits interpreted, compiled and in SIMD lanes, on every processor.
In sine, cosine and direction, branches only select values, so compilers need no jumps.

Sources: S. Moshier and Sun's fdlibm (k_sin.c, k_cos.c, s_atan.c, e_exp.c) for the polynomials; Cody and Waite, Software
Manual for the Elementary Functions (1980), for the reductions by pi / 2 in three parts and log(2) in two parts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vds_gz.core.vehicle.vehicle_model import MotionState

#: tan(pi / 8), above which an angle is measured from pi / 4.
_TANGENT = 0.41421356237309503


def sine_cosine(angle: float) -> tuple[float, float]:
    """Sine and cosine of an angle [rad], within two units of the last digit up to a million radians."""
    # Adding and subtracting 1.5 * 2^52 rounds to the nearest integer.
    quarters = (angle * 0.6366197723675814 + 6755399441055744.0) - 6755399441055744.0
    x = angle - quarters * 1.57079632673412561417e00 - quarters * 6.07710050630396597660e-11
    x -= quarters * 2.02226624879595063154e-21
    z = x * x

    high = z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))
    low = z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + high))
    sine = x + z * x * (-1.66666666666666324348e-01 + low)

    high = z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))
    low = z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + high))
    half = 0.5 * z
    rest = 1.0 - half
    cosine = rest + ((1.0 - rest - half) + z * (z * (4.16666666666666019037e-02 + low)))

    if quarters == 0.0:
        return sine, cosine
    quarter = quarters - 4.0 * ((quarters * 0.25 + 6755399441055744.0) - 6755399441055744.0)
    if quarter == 0.0:
        return sine, cosine
    if quarter == 1.0:
        return cosine, -sine
    if quarter == -1.0:
        return -cosine, sine
    return -sine, -cosine


def direction(y: float, x: float) -> float:
    """The angle of a vector from the x axis, within [-pi, pi] [rad]; 0 for the zero vector, pi along -x."""
    steep = abs(y) > abs(x)
    short = abs(x) if steep else abs(y)
    long = abs(y) if steep else abs(x)
    long = 1.0 if long == 0.0 else long
    far = short > _TANGENT * long
    tangent = (short - long if far else short) / (short + long if far else long)
    z = tangent * tangent
    w = z * z

    high = w * (6.66107313738753120669e-02 + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02))
    odd = 3.33333333333329318027e-01 + w * (1.42857142725034663711e-01 + w * (9.09088713343650656196e-02 + high))
    high = w * (-7.69187620504482999495e-02 + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))
    even = -1.99999999998764832476e-01 + w * (-1.11111104054623557880e-01 + high)

    angle = tangent - tangent * (z * odd + w * even)
    angle = 0.25 * math.pi + angle if far else angle
    angle = 0.5 * math.pi - angle if steep else angle
    angle = math.pi - angle if x < 0.0 else angle
    return -angle if y < 0.0 else angle


def integrate_pose(s: MotionState, dt: float) -> None:
    """Move the reference point for ``dt`` seconds with its present velocity, along the heading at mid-step."""
    turn = s.yaw_rate * dt
    middle = s.heading + 0.5 * turn
    sine, cosine = sine_cosine(middle)
    s.x += (s.v_x * cosine - s.v_y * sine) * dt
    s.y += (s.v_x * sine + s.v_y * cosine) * dt
    s.heading += turn


def exponential(x: float) -> float:
    """The exponential of a number below 709, within one unit of the last digit."""
    if x < -746.0:
        return 0.0
    doublings = (x * 1.44269504088896338700 + 6755399441055744.0) - 6755399441055744.0
    high = x - doublings * 6.93147180369123816490e-01
    low = doublings * 1.90821492927058770002e-10
    r = high - low
    z = r * r
    high_powers = -1.65339022054652515390e-06 + z * 4.13813679705723846039e-08
    powers = -2.77777777770155933842e-03 + z * (6.61375632143793436117e-05 + z * high_powers)
    c = r - z * (1.66666666666666019037e-01 + z * powers)
    return math.ldexp(1.0 - ((low - r * c / (2.0 - c)) - high), int(doublings))
