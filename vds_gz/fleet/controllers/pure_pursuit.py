"""Pure pursuit: the arc through a point of the path ahead.

Source: R. C. Coulter, Implementation of the Pure Pursuit Path Tracking Algorithm, CMU-RI-TR-92-01 (1992).
"""

from __future__ import annotations

from dataclasses import dataclass

from vds_gz.fleet.controllers.controller import Controller, Plant, command_curvature
from vds_gz.fleet.projection import point_at
from vds_gz.fleet.tracking import Course, Following, Tracking
from vds_gz.parameters.controllers import PurePursuitParameters
from vds_gz.vehicle.command import Command
from vds_gz.vehicle.model import MotionState
from vds_gz.vehicle.trigonometry import sine_cosine

#: A target nearer than this gives no direction [m^2].
NO_DISTANCE = 1e-12


@dataclass(slots=True)
class PurePursuitGains:
    """Distance [m] and time [s] to the point that is aimed at, along the path."""

    following: Following
    look_ahead: float
    look_ahead_time: float


def coefficients(p: PurePursuitParameters, plant: Plant) -> PurePursuitGains:
    """Coefficients for a vehicle."""
    return PurePursuitGains(plant.following(p), p.look_ahead, p.look_ahead_time)


def control(course: Course, g: PurePursuitGains, s: MotionState, f: Tracking, u: Command) -> None:
    """The arc from the reference point along the vehicle to the point ahead: curvature 2 y / d^2."""
    distance = max(g.look_ahead, g.look_ahead_time * s.v_x)
    x, y = point_at(course.points, course.closed, f.position + distance / course.spacing)
    sine, cosine = sine_cosine(s.heading)
    to_x, to_y = x - s.x, y - s.y
    longitudinal, lateral = cosine * to_x + sine * to_y, cosine * to_y - sine * to_x
    squared = longitudinal * longitudinal + lateral * lateral
    command_curvature(g.following, f, u, 2.0 * lateral / squared if squared > NO_DISTANCE else 0.0)


PURE_PURSUIT = Controller(
    name="pure_pursuit", parameters=PurePursuitParameters, coefficients=coefficients, control=control
)
