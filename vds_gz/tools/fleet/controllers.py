"""Controllers that follow a path: the interface, pure pursuit, Stanley, and a linear-quadratic regulator.

A controller is a group of parameters, coefficients, and a function that runs in lanes.

Pure pursuit drives the arc through a point of the path ahead. Stanley steers by the errors at the front axle.

Sources: R. C. Coulter, Implementation of the Pure Pursuit Path Tracking Algorithm, CMU-RI-TR-92-01 (1992);
G. M. Hoffmann, C. J. Tomlin, M. Montemerlo and S. Thrun, Autonomous Automobile Trajectory Tracking for Off-Road
Driving, American Control Conference (2007), equation 5, with a softened speed.

The linear-quadratic regulator knows the path's curvature ahead. Its model, in errors from the path at a constant
speed v: lateral error y' = v psi, heading error psi' = v (kappa - w), curvature of the vehicle
kappa' = (u - kappa) / tau, where w is the curvature of the path. With the deviations k = kappa - w and q = u - w, the
model is sampled exactly over a period, and the path enters by changes of its curvature alone:

    x[n + 1] = A x[n] + B q[n] + D (w[n + 1] - w[n]),    x = (y, psi, k),    D = (0, 0, -1).

It minimizes the sum of (y / y0)^2 + (psi / psi0)^2 + (q / q0)^2. With P the solution of Riccati's equation,
K = (R + B' P B)^-1 B' P A and E = A - B K, the optimum that knows all changes to come is

    q[n] = -K x[n] - (R + B' P B)^-1 B' z[n],    z[n] = P D (w[n + 1] - w[n]) + E' z[n + 1].

Source: M. Tomizuka, Optimal Continuous Finite Preview Problem, IEEE Transactions on Automatic Control 20 (1975); R. S.
Sharp and V. Valtetsiotis, Optimal Preview Car Steering Control, Vehicle System Dynamics Supplement 35 (2001).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.compiling import compiled
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.controller_parameters import (
    ControllerParameters,
    LqrParameters,
    PurePursuitParameters,
    StanleyParameters,
)
from vds_gz.core.share import in_words
from vds_gz.core.vehicle.actuators import or_infinite, wrap
from vds_gz.core.vehicle.command import ACKERMANN, MAXIMUM, TWIST, Command, CommandKind
from vds_gz.core.vehicle.trigonometry import direction, exponential, sine_cosine
from vds_gz.core.vehicle.vehicle_model import AnyModel, MotionState
from vds_gz.tools.fleet.tracking import (
    CURVATURE,
    HEADING,
    RUNNING,
    Course,
    Following,
    Tracking,
    point_at,
    project,
    value_at,
)

#: Assumed maximum speed of a vehicle without a limit [m/s].
FASTEST = 50.0

P = TypeVar("P", bound=ControllerParameters)


class Gains(Protocol):
    """Fields that the coefficients of all controllers have."""

    following: Following


G = TypeVar("G", bound=Gains)


@dataclass(frozen=True, slots=True)
class ControlledVehicle:
    """The properties of a vehicle that its controller uses."""

    model: str  # name of its model
    kind: CommandKind  # ACKERMANN for commands of speed and steering angle, or TWIST for speed and yaw rate
    wheel_base: float  # position of the steered axle along +x from the reference point [m]; 0 without one
    max_speed: float  # [m/s]
    period: float  # time between commands [s]
    spacing: float  # distance between the path's points [m]

    def following(self, p: ControllerParameters) -> Following:
        """The coefficients that all controllers have.

        The vehicle's position is searched along the path within 1.5 times its maximum distance in a period.
        """
        fastest = min(max(self.max_speed, p.speed), MAXIMUM)
        reach = 2 + math.ceil(1.5 * fastest * self.period / self.spacing)
        steers = self.kind == ACKERMANN
        return Following(steers, self.wheel_base, reach, p.speed, or_infinite(p.lateral_acceleration))


@dataclass(frozen=True)
class Controller(Generic[P, G]):
    """A controller of parameters ``P`` and coefficients ``G``.

    Attributes:
        name: Its name in files.
        parameters: The parameter group.
        coefficients: (parameters, vehicle) -> the object ``g`` of the control function.
        control: (course, g, s, f, u) sets the command ``u`` by the vehicle's state ``s`` and its tracking ``f``. It
            runs in lanes: numbers and attributes, without lists.
    """

    name: str
    parameters: type[P]
    coefficients: Callable[[P, ControlledVehicle], G]
    control: Callable[[Course, G, MotionState, Tracking, Command], None]


#: A controller that is selected by name at run time.
AnyController: TypeAlias = Controller[Any, Any]


def controlled_vehicle(model: AnyModel, parameters: object, period: float, spacing: float) -> ControlledVehicle:
    """The properties of a vehicle for its controller."""
    geometry, limits = model.geometry(parameters), model.limits(parameters)
    wheel_base = geometry.signed_wheel_base
    if ACKERMANN in model.accepts and wheel_base:
        kind = ACKERMANN
    elif TWIST in model.accepts:
        kind = TWIST
    else:
        raise ArgumentError(
            f"no controller can drive vehicle model '{model.name}': it takes no twist, and no Ackermann command with a "
            "steered and a fixed axle"
        )
    return ControlledVehicle(
        model.name, kind, wheel_base, limits.speed if limits.speed > 0.0 else FASTEST, period, spacing
    )


def command_curvature(c: Following, f: Tracking, u: Command, curvature: float) -> None:
    """Command the reference speed along a curvature, positive to the left [1/m].

    After the end of a run, the speed is 0 and the steering angle stays.
    """
    u.v_x = f.reference_speed
    if c.steers:
        if f.status == RUNNING:
            u.steering_angle = direction(curvature * c.wheel_base, 1.0)
    else:
        u.yaw_rate = curvature * f.reference_speed


#: Squared distance below which a target gives no direction [m^2].
NO_DISTANCE = 1e-12


@dataclass(slots=True)
class PurePursuitGains:
    """Distance [m] and time [s] to the target point, along the path."""

    following: Following
    look_ahead: float
    look_ahead_time: float


def pure_pursuit_coefficients(p: PurePursuitParameters, vehicle: ControlledVehicle) -> PurePursuitGains:
    """Coefficients for a vehicle."""
    return PurePursuitGains(vehicle.following(p), p.look_ahead, p.look_ahead_time)


def pure_pursuit_control(course: Course, g: PurePursuitGains, s: MotionState, f: Tracking, u: Command) -> None:
    """The arc from the reference point along the vehicle to the point ahead: curvature 2 y / d^2."""
    distance = max(g.look_ahead, g.look_ahead_time * s.v_x)
    x, y = point_at(course.points, course.closed, f.position + distance / course.spacing)
    sine, cosine = sine_cosine(s.heading)
    to_x, to_y = x - s.x, y - s.y
    longitudinal, lateral = cosine * to_x + sine * to_y, cosine * to_y - sine * to_x
    squared = longitudinal * longitudinal + lateral * lateral
    command_curvature(g.following, f, u, 2.0 * lateral / squared if squared > NO_DISTANCE else 0.0)


PURE_PURSUIT = Controller(
    name="pure_pursuit",
    parameters=PurePursuitParameters,
    coefficients=pure_pursuit_coefficients,
    control=pure_pursuit_control,
)


@dataclass(slots=True)
class StanleyGains:
    """Gain [1/s] and softening speed [m/s]."""

    following: Following
    gain: float
    softening: float


def stanley_coefficients(p: StanleyParameters, vehicle: ControlledVehicle) -> StanleyGains:
    """Coefficients for a vehicle."""
    if not vehicle.wheel_base > 0.0:
        raise ArgumentError(
            f"controller 'stanley' steers a front axle, and a vehicle of model '{vehicle.model}' has none; "
            "take pure_pursuit or lqr"
        )
    return StanleyGains(vehicle.following(p), p.gain, p.softening)


def stanley_control(course: Course, g: StanleyGains, s: MotionState, f: Tracking, u: Command) -> None:
    """Steer by the errors at the middle of the front axle."""
    u.v_x = f.reference_speed
    if f.status == RUNNING:
        wheel_base = g.following.wheel_base
        sine, cosine = sine_cosine(s.heading)
        ahead = f.position + wheel_base / course.spacing
        x, y = s.x + wheel_base * cosine, s.y + wheel_base * sine
        position, lateral = project(course.points, course.closed, g.following.reach, x, y, ahead)
        heading_error = wrap(s.heading - value_at(course.points, course.closed, position, HEADING))
        u.steering_angle = -wrap(heading_error + direction(g.gain * lateral, g.softening + abs(s.v_x)))


STANLEY = Controller(
    name="stanley", parameters=StanleyParameters, coefficients=stanley_coefficients, control=stanley_control
)


#: Minimum speed by which a yaw rate is divided to give a curvature [m/s].
SLOWEST = 0.05

#: Riccati's iteration ends when no diagonal element changes by more than this part of it, or after this many steps.
PRECISION, MOST_ITERATIONS = 1e-12, 100_000


@dataclass(slots=True)
class LqrGains:
    """The numbers of model and regulator, as in the module's docstring."""

    following: Following
    y_psi: float  # y_psi, y_k, psi_k, decay: A = [1, y_psi, y_k; 0, 1, psi_k; 0, 0, decay]
    y_k: float
    psi_k: float
    decay: float
    b_y: float  # b_y, b_psi, b_k: B
    b_psi: float
    b_k: float
    k_y: float  # k_y, k_psi, k_k: K
    k_psi: float
    k_k: float
    d_y: float  # d_y, d_psi, d_k: P D
    d_psi: float
    d_k: float
    inverse: float  # (R + B' P B)^-1
    steps: int  # periods of preview
    period: float  # time between commands [s]


def lqr_coefficients(p: LqrParameters, vehicle: ControlledVehicle) -> LqrGains:
    """Coefficients for a vehicle at the parameters' speed. Within the parameters' bounds all gains are finite."""
    lag, period, v = p.steering_time_constant, vehicle.period, p.speed
    decay = exponential(-period / lag) if lag > 0.0 else 0.0
    behind = lag * (1.0 - decay)
    y_psi, psi_k, y_k = v * period, v * behind, v * v * lag * (period - behind)
    b_y, b_psi, b_k = v * v * 0.5 * period * period - y_k, v * (period - behind), 1.0 - decay
    lateral, heading = p.curvature / p.lateral_error, p.curvature / p.heading_error
    model = y_psi, y_k, psi_k, decay, b_y, b_psi, b_k
    numbers: tuple[float, float, float, float, float, float, float] = compiled(regulator)(
        *model, lateral * lateral, heading * heading
    )
    return LqrGains(vehicle.following(p), *model, *numbers, round(p.preview / period), period)


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


def lqr_control(course: Course, g: LqrGains, s: MotionState, f: Tracking, u: Command) -> None:
    """The path's curvature, less the regulator's feedback, and the effect of its changes ahead."""
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


LQR = Controller(name="lqr", parameters=LqrParameters, coefficients=lqr_coefficients, control=lqr_control)


CONTROLLERS: dict[str, AnyController] = {controller.name: controller for controller in (PURE_PURSUIT, STANLEY, LQR)}

#: A custom controller: from observations of shape (vehicles, numbers) to commands of shape (vehicles, 2).
Callback: TypeAlias = Callable[[NDArray[np.float64]], object]


def controller_named(name: str) -> AnyController | Callback:
    """The controller of a name, or the function that ``module:function`` names."""
    if name in CONTROLLERS:
        return CONTROLLERS[name]
    module, _, function = name.partition(":")
    if not (module and function):
        raise ArgumentError(
            f"controller '{name}' is unknown; there are {', '.join(CONTROLLERS)}, and module:function for your own"
        )
    try:
        attribute = getattr(import_module(module), function, None)
    except Exception as error:
        raise ArgumentError(f"controller '{name}': module '{module}' cannot be imported: {in_words(error)}") from error
    if not callable(attribute):
        raise ArgumentError(f"controller '{name}': module '{module}' has no function '{function}'")
    callback: Callback = attribute
    return callback
