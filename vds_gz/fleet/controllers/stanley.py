"""Stanley's controller: the steered wheels point along the path, and towards it by their middle's distance from it.

Source: G. M. Hoffmann, C. J. Tomlin, M. Montemerlo and S. Thrun, Autonomous Automobile Trajectory Tracking for Off-Road
Driving, American Control Conference (2007), equation 5, with a softened speed.
"""

from __future__ import annotations

from dataclasses import dataclass

from vds_gz.errors import ArgumentError
from vds_gz.fleet.controllers.controller import Controller, Plant
from vds_gz.fleet.projection import HEADING, project, value_at
from vds_gz.fleet.tracking import RUNNING, Course, Following, Tracking
from vds_gz.parameters.controllers import StanleyParameters
from vds_gz.vehicle.actuators import wrap
from vds_gz.vehicle.command import Command
from vds_gz.vehicle.model import MotionState
from vds_gz.vehicle.trigonometry import direction, sine_cosine


@dataclass(slots=True)
class StanleyGains:
    """Gain [1/s] and what softens it [m/s]."""

    following: Following
    gain: float
    softening: float


def coefficients(p: StanleyParameters, plant: Plant) -> StanleyGains:
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


def control(course: Course, g: StanleyGains, s: MotionState, f: Tracking, u: Command) -> None:
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


STANLEY = Controller(name="stanley", parameters=StanleyParameters, coefficients=coefficients, control=control)
