"""The state vector of all models, its derivative, and two ways to integrate it over a step.

The vector is heading, speed, tire angle, lagging acceleration, x and y of the rear axle. The order of every sum is that
of Autoware's, so that the last digits agree.
"""

from __future__ import annotations

import math

from vds_gz.vehicle.autoware.arithmetic import limited
from vds_gz.vehicle.autoware.drive import ROLLING_ACCELERATION, drive_derivative
from vds_gz.vehicle.autoware.state import AutowareCoefficients, AutowareState
from vds_gz.vehicle.autoware.steering import steering_derivative

Vector = tuple[float, float, float, float, float, float]


def derivative(
    c: AutowareCoefficients, s: AutowareState, heading: float, speed: float, angle: float, lagging: float
) -> Vector:
    """Derivative of the state vector; references are held over the step."""
    v = limited(speed, c.drive.speed_limit)
    speeding, pushing = drive_derivative(c.drive, s.drive, v, lagging)
    steering = steering_derivative(c.steering, s.steering, speed, angle)
    turning = (v * math.tan(limited(angle, c.turning_limit))) / c.signed_wheelbase
    return turning, speeding, steering, pushing, v * math.cos(heading), v * math.sin(heading)


def runge_kutta(c: AutowareCoefficients, s: AutowareState) -> None:
    """The classical fourth-order Runge-Kutta method. The derivative does not depend on the position."""
    heading, v, angle, a = s.heading, s.v_x, s.steering.angle, s.acceleration
    dt = c.dt
    k1 = derivative(c, s, heading, v, angle, a)
    k2 = derivative(
        c,
        s,
        heading + (k1[0] * 0.5) * dt,
        v + (k1[1] * 0.5) * dt,
        angle + (k1[2] * 0.5) * dt,
        a + (k1[3] * 0.5) * dt,
    )
    k3 = derivative(
        c,
        s,
        heading + (k2[0] * 0.5) * dt,
        v + (k2[1] * 0.5) * dt,
        angle + (k2[2] * 0.5) * dt,
        a + (k2[3] * 0.5) * dt,
    )
    k4 = derivative(c, s, heading + k3[0] * dt, v + k3[1] * dt, angle + k3[2] * dt, a + k3[3] * dt)
    s.turn = change(c, k1[0], k2[0], k3[0], k4[0])
    s.v_x = v + change(c, k1[1], k2[1], k3[1], k4[1])
    s.steering.angle = angle + change(c, k1[2], k2[2], k3[2], k4[2])
    s.acceleration = a + change(c, k1[3], k2[3], k3[3], k4[3])
    s.advance_x = change(c, k1[4], k2[4], k3[4], k4[4])
    s.advance_y = change(c, k1[5], k2[5], k3[5], k4[5])


def change(c: AutowareCoefficients, k1: float, k2: float, k3: float, k4: float) -> float:
    """The increment of the four stages of the Runge-Kutta method."""
    return (c.weight * (((k1 + 2.0 * k2) + 2.0 * k3) + k4)) * c.weight_of_sum


def euler(c: AutowareCoefficients, s: AutowareState) -> None:
    """The explicit Euler method."""
    k = derivative(c, s, s.heading, s.v_x, s.steering.angle, s.drive_acceleration)
    s.turn = k[0] * c.dt
    s.v_x += k[1] * c.dt
    s.steering.angle += k[2] * c.dt
    s.drive_acceleration += k[3] * c.dt
    s.advance_x = k[4] * c.dt
    s.advance_y = k[5] * c.dt


def integrate(c: AutowareCoefficients, s: AutowareState) -> None:
    """Advance speed, tire angle and acceleration by one step; set how far the vehicle turns and moves in it."""
    if c.drive.kind == ROLLING_ACCELERATION:
        euler(c, s)
    else:
        runge_kutta(c, s)
