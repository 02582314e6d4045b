"""Tracking of a path: errors, speed reference, measures. Plain arithmetic, which runs in lanes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from vds_gz.fleet.layout import Reals
from vds_gz.fleet.projection import HEADING, project, radius_at, speed_at, value_at
from vds_gz.vehicle.actuators import wrap
from vds_gz.vehicle.model import MotionState

#: Status of a run: running, finished, beyond the bound, NaN or infinite.
RUNNING, FINISHED, LEFT, DIVERGED = range(4)

#: Their names.
STATUSES = ("running", "finished", "left", "diverged")


class Course(NamedTuple):
    """A path for compiled functions.

    Attributes:
        points, closed, spacing: Of the :class:`~vds_gz.fleet.path.Path`.
        bound: A vehicle whose lateral error exceeds it has left the path [m].
    """

    points: Reals
    closed: bool
    spacing: float
    bound: float


@dataclass(slots=True)
class Following:
    """Properties of a vehicle and its controller that all controllers have.

    Attributes:
        steers: Commands have a steering angle, else a yaw rate.
        wheel_base: Position of the steered axle along +x from the reference point [m]; 0 without one.
        reach: Number of segments of the path that are searched on each side for the vehicle.
        speed: Speed reference without limits [m/s].
        lateral_acceleration: Limit [m/s^2], infinite without one.
    """

    steers: bool
    wheel_base: float
    reach: int
    speed: float
    lateral_acceleration: float


@dataclass(slots=True)
class Tracking:
    """Position of a vehicle relative to its path, and its measures so far.

    Attributes:
        status: One of ``STATUSES``, by its index.
        position: Position along the path [spacings].
        goal: Position at which the run is finished [spacings].
        lateral: Lateral error of the reference point [m], positive to the left of the path.
        heading_error: From the path's heading to the vehicle's [rad].
        reference_speed: [m/s]; 0 as soon as the run has ended.
        ended: Time of the run's end [s]; infinite while it is running.
        samples: Number of periods in the measures.
        lateral_square, heading_square, speed_square: Sums of squared errors.
        lateral_peak, heading_peak, speed_peak: Maximum absolute errors.
    """

    status: int = RUNNING
    position: float = 0.0
    goal: float = math.inf
    lateral: float = 0.0
    heading_error: float = 0.0
    reference_speed: float = 0.0
    ended: float = math.inf
    samples: int = 0
    lateral_square: float = 0.0
    heading_square: float = 0.0
    speed_square: float = 0.0
    lateral_peak: float = 0.0
    heading_peak: float = 0.0
    speed_peak: float = 0.0


def track(course: Course, c: Following, s: MotionState, f: Tracking, time: float) -> None:
    """Find the vehicle on its path at a time [s], set its speed reference, and count its errors.

    Runs that have ended do not change, and have a speed reference of 0.
    """
    if f.status != RUNNING:
        return
    position, lateral = project(course.points, course.closed, c.reach, s.x, s.y, f.position)
    heading_error = wrap(s.heading - value_at(course.points, course.closed, position, HEADING))
    f.position = position
    f.lateral = lateral
    f.heading_error = heading_error
    if not (abs(lateral) < math.inf and abs(heading_error) < math.inf and abs(s.v_x) < math.inf):
        f.status = DIVERGED
        f.ended = time
        f.reference_speed = 0.0
        return
    speed = min(c.speed, speed_at(course.points, course.closed, position))
    speed = min(speed, math.sqrt(c.lateral_acceleration * radius_at(course.points, course.closed, position)))
    count_errors(f, lateral, heading_error, s.v_x - speed)
    f.reference_speed = speed
    if abs(lateral) > course.bound:
        f.status = LEFT
    elif position >= f.goal:
        f.status = FINISHED
    if f.status != RUNNING:
        f.ended = time
        f.reference_speed = 0.0


def count_errors(f: Tracking, lateral: float, heading: float, speed: float) -> None:
    """Add one sample's errors to the measures."""
    f.samples += 1
    f.lateral_square += lateral * lateral
    f.heading_square += heading * heading
    f.speed_square += speed * speed
    f.lateral_peak = max(f.lateral_peak, abs(lateral))
    f.heading_peak = max(f.heading_peak, abs(heading))
    f.speed_peak = max(f.speed_peak, abs(speed))
