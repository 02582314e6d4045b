"""Pure pursuit, the arc through a point of the path ahead, and Stanley, which steers by the errors at the front axle.

Sources: R. C. Coulter, Implementation of the Pure Pursuit Path Tracking Algorithm, CMU-RI-TR-92-01 (1992);
G. M. Hoffmann, C. J. Tomlin, M. Montemerlo and S. Thrun, Autonomous Automobile Trajectory Tracking for Off-Road
Driving, American Control Conference (2007), equation 5, with a softened speed.
"""

from __future__ import annotations

from dataclasses import dataclass

from vds_gz.errors import ArgumentError
from vds_gz.fleet.controllers.controller import ControlledVehicle, Controller, command_curvature
from vds_gz.fleet.tracking import HEADING, RUNNING, Course, Following, Tracking, point_at, project, value_at
from vds_gz.parameters.controllers import PurePursuitParameters, StanleyParameters
from vds_gz.vehicle.actuators import wrap
from vds_gz.vehicle.command import Command
from vds_gz.vehicle.model import MotionState
from vds_gz.vehicle.trigonometry import direction, sine_cosine

#: A target nearer than this gives no direction [m^2].
NO_DISTANCE = 1e-12


@dataclass(slots=True)
class PurePursuitGains:
    """Distance [m] and time [s] to the point that is aimed at, along the path."""

    following: Following
    look_ahead: float
    look_ahead_time: float


def pure_pursuit_coefficients(p: PurePursuitParameters, plant: ControlledVehicle) -> PurePursuitGains:
    """Coefficients for a vehicle."""
    return PurePursuitGains(plant.following(p), p.look_ahead, p.look_ahead_time)


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
    """Gain [1/s] and what softens it [m/s]."""

    following: Following
    gain: float
    softening: float


def stanley_coefficients(p: StanleyParameters, plant: ControlledVehicle) -> StanleyGains:
    """Coefficients for a vehicle.

    Raises:
        ArgumentError: It has no steered axle in front.
    """
    if not plant.wheel_base > 0.0:
        raise ArgumentError(
            f"controller 'stanley' steers a front axle, and a vehicle of model '{plant.model}' has none; "
            "take pure_pursuit or lqr"
        )
    return StanleyGains(plant.following(p), p.gain, p.softening)


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
