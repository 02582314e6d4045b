"""A linear-quadratic regulator that knows the path's curvature ahead.

The model, in errors from the path at a constant speed v: lateral error y' = v psi, heading error psi' = v (kappa - w),
curvature of the vehicle kappa' = (u - kappa) / tau, w being the path's. With deviations from the path's curvature,
k = kappa - w and q = u - w, it is sampled exactly over a period, and the path enters by changes of its curvature alone:

    x[n + 1] = A x[n] + B q[n] + D (w[n + 1] - w[n]),    x = (y, psi, k),    D = (0, 0, -1).

What is minimized is the sum of (y / y0)^2 + (psi / psi0)^2 + (q / q0)^2. With P the solution of Riccati's equation,
K = (R + B' P B)^-1 B' P A and E = A - B K, the optimum that knows all changes to come is

    q[n] = -K x[n] - (R + B' P B)^-1 B' z[n],    z[n] = P D (w[n + 1] - w[n]) + E' z[n + 1].

Source: M. Tomizuka, Optimal Continuous Finite Preview Problem, IEEE Transactions on Automatic Control 20 (1975); R. S.
Sharp and V. Valtetsiotis, Optimal Preview Car Steering Control, Vehicle System Dynamics Supplement 35 (2001).
"""

from __future__ import annotations

from dataclasses import dataclass

from vds_gz.compiling import compiled
from vds_gz.fleet.controllers.controller import ControlledVehicle, Controller, command_curvature
from vds_gz.fleet.tracking import CURVATURE, Course, Following, Tracking, value_at
from vds_gz.parameters.controllers import LqrParameters
from vds_gz.vehicle.command import Command
from vds_gz.vehicle.model import MotionState
from vds_gz.vehicle.trigonometry import exponential

#: Below this speed a yaw rate gives no curvature [m/s].
SLOWEST = 0.05

#: Riccati's iteration ends when nothing changes by more than this part of it, or after so many steps.
PRECISION, MOST_ITERATIONS = 1e-12, 100_000


@dataclass(slots=True)
class LqrGains:
    """The model's and the regulator's numbers, as the module has them.

    Attributes:
        y_psi, y_k, psi_k, decay: Entries of A above and on its diagonal, which else has ones.
        b_y, b_psi, b_k: B.
        k_y, k_psi, k_k: K.
        d_y, d_psi, d_k: P D.
        inverse: (R + B' P B)^-1.
        steps: Periods of preview.
        period: Time between commands [s].
    """

    following: Following
    y_psi: float
    y_k: float
    psi_k: float
    decay: float
    b_y: float
    b_psi: float
    b_k: float
    k_y: float
    k_psi: float
    k_k: float
    d_y: float
    d_psi: float
    d_k: float
    inverse: float
    steps: int
    period: float


def coefficients(p: LqrParameters, plant: ControlledVehicle) -> LqrGains:
    """Coefficients for a vehicle, at the speed of the parameters. Within their bounds all gains are finite."""
    lag, period, v = p.steering_time_constant, plant.period, p.speed
    decay = exponential(-period / lag) if lag > 0.0 else 0.0
    behind = lag * (1.0 - decay)
    y_psi, psi_k, y_k = v * period, v * behind, v * v * lag * (period - behind)
    b_y, b_psi, b_k = v * v * 0.5 * period * period - y_k, v * (period - behind), 1.0 - decay
    lateral, heading = p.curvature / p.lateral_error, p.curvature / p.heading_error
    model = y_psi, y_k, psi_k, decay, b_y, b_psi, b_k
    numbers: tuple[float, float, float, float, float, float, float] = compiled(regulator)(
        *model, lateral * lateral, heading * heading
    )
    return LqrGains(plant.following(p), *model, *numbers, round(p.preview / period), period)


def regulator(
    y_psi: float,
    y_k: float,
    psi_k: float,
    decay: float,
    b_y: float,
    b_psi: float,
    b_k: float,
    lateral_weight: float,
    heading_weight: float,
) -> tuple[float, float, float, float, float, float, float]:
    """K, P D and (R + B' P B)^-1 of the model, for R = 1, by iterating Riccati's equation P = Q + A' M A."""
    yy, yp, yk, pp, pk, kk = lateral_weight, 0.0, 0.0, heading_weight, 0.0, 0.0
    for _ in range(MOST_ITERATIONS):
        by = yy * b_y + yp * b_psi + yk * b_k
        bp = yp * b_y + pp * b_psi + pk * b_k
        bk = yk * b_y + pk * b_psi + kk * b_k
        inverse = 1.0 / (1.0 + b_y * by + b_psi * bp + b_k * bk)
        m_yy, m_yp, m_yk = yy - inverse * by * by, yp - inverse * by * bp, yk - inverse * by * bk
        m_pp, m_pk, m_kk = pp - inverse * bp * bp, pk - inverse * bp * bk, kk - inverse * bk * bk
        last = yy, pp, kk
        yy = lateral_weight + m_yy
        yp = y_psi * m_yy + m_yp
        yk = y_k * m_yy + psi_k * m_yp + decay * m_yk
        pp = heading_weight + y_psi * (y_psi * m_yy + 2.0 * m_yp) + m_pp
        k_column = y_k * m_yp + psi_k * m_pp + decay * m_pk
        pk = y_psi * yk + k_column
        kk = y_k * yk + psi_k * k_column + decay * (y_k * m_yk + psi_k * m_pk + decay * m_kk)
        change = max(abs(yy - last[0]) - PRECISION * yy, abs(pp - last[1]) - PRECISION * pp)
        if max(change, abs(kk - last[2]) - PRECISION * kk) <= 0.0:
            break
    by = yy * b_y + yp * b_psi + yk * b_k
    bp = yp * b_y + pp * b_psi + pk * b_k
    bk = yk * b_y + pk * b_psi + kk * b_k
    inverse = 1.0 / (1.0 + b_y * by + b_psi * bp + b_k * bk)
    k_y, k_psi, k_k = inverse * by, inverse * (y_psi * by + bp), inverse * (y_k * by + psi_k * bp + decay * bk)
    return k_y, k_psi, k_k, -yk, -pk, -kk, inverse


def control(course: Course, g: LqrGains, s: MotionState, f: Tracking, u: Command) -> None:
    """The path's curvature, less the regulator's feedback, and what its changes ahead are worth."""
    stride = max(s.v_x, 0.0) * g.period / course.spacing
    z_y, z_psi, z_k = 0.0, 0.0, 0.0
    path = value_at(course.points, course.closed, f.position + g.steps * stride, CURVATURE)
    for k in range(g.steps):
        nearer = value_at(course.points, course.closed, f.position + (g.steps - 1 - k) * stride, CURVATURE)
        change = path - nearer
        path = nearer
        b_z = g.b_y * z_y + g.b_psi * z_psi + g.b_k * z_k
        z_k = g.d_k * change + g.y_k * z_y + g.psi_k * z_psi + g.decay * z_k - g.k_k * b_z
        z_psi = g.d_psi * change + g.y_psi * z_y + z_psi - g.k_psi * b_z
        z_y = g.d_y * change + z_y - g.k_y * b_z
    deviation = s.yaw_rate / max(s.v_x, SLOWEST) - path
    feedback = g.k_y * f.lateral + g.k_psi * f.heading_error + g.k_k * deviation
    ahead = g.inverse * (g.b_y * z_y + g.b_psi * z_psi + g.b_k * z_k)
    command_curvature(g.following, f, u, path - feedback - ahead)


LQR = Controller(name="lqr", parameters=LqrParameters, coefficients=coefficients, control=control)
