"""Position of a vehicle relative to a path: plain arithmetic, with the same bits interpreted and compiled.

``points`` are those of a :class:`~vds_gz.tools.fleet.path.Path`, and a position along it is counted in its spacings:
2.5 is half way between the points 2 and 3. On a closed path positions increase from lap to lap; an open one continues
straight beyond both ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from vds_gz.core.arrays import Array
from vds_gz.core.vehicle.actuators import wrap
from vds_gz.core.vehicle.vehicle_model import MotionState

#: Columns of a path's points: position [m], heading [rad], curvature [1/m], speed [m/s], radius [m].
X, Y, HEADING, CURVATURE, SPEED, RADIUS = range(6)

#: Squared distances that differ by less are equal [m^2].
AS_NEAR = 1e-9


def project(points: Array, closed: bool, reach: int, x: float, y: float, position: float) -> tuple[float, float]:
    """The nearest point of a path: its position along the path [spacings], and the offset to the left of it [m].

    ``reach`` segments are searched on each side of the last position, and at most one lap of a closed path, so a path
    may cross itself. The first one of equally near points counts. A point that is not finite has the last position and
    the offset NaN.
    """
    segments = points.shape[0] - 1
    here = math.floor(position)
    if closed:
        first = here - min(reach, segments // 2)
        last = min(here + reach, first + segments - 1)
    else:
        first = max(0, min(here - reach, segments - 1))
        last = max(0, min(here + reach, segments - 1))
    nearest = math.inf
    projected = position
    lateral = math.nan
    for segment in range(first, last + 1):
        k = segment % segments
        to_x, to_y = x - points[k, X], y - points[k, Y]
        along_x, along_y = points[k + 1, X] - points[k, X], points[k + 1, Y] - points[k, Y]
        square = along_x * along_x + along_y * along_y
        fraction = (to_x * along_x + to_y * along_y) / square
        within = min(max(fraction, 0.0), 1.0)
        off_x, off_y = to_x - within * along_x, to_y - within * along_y
        squared = off_x * off_x + off_y * off_y
        if squared < nearest - AS_NEAR:
            nearest = squared
            beyond = not closed and ((segment == 0 and fraction < 0.0) or (segment == segments - 1 and fraction > 1.0))
            projected = segment + (fraction if beyond else within)
            lateral = (along_x * to_y - along_y * to_x) / math.sqrt(square)
    return projected, lateral


def locate(points: Array, closed: bool, x: float, y: float) -> tuple[float, float]:
    """As :func:`project`, for a point whose last position along the path is unknown: all segments are searched."""
    segments = points.shape[0] - 1
    return project(points, closed, segments, x, y, float(segments // 2))


def point_at(points: Array, closed: bool, position: float) -> tuple[float, float]:
    """x and y [m] of a position along a path [spacings]; an open path continues straight beyond its ends."""
    segments = points.shape[0] - 1
    segment = math.floor(position)
    if not closed:
        segment = max(0, min(segment, segments - 1))
    fraction = position - segment
    k = segment % segments
    x, y = points[k, X], points[k, Y]
    return x + fraction * (points[k + 1, X] - x), y + fraction * (points[k + 1, Y] - y)


def value_at(points: Array, closed: bool, position: float, column: int) -> float:
    """Heading [rad] or curvature [1/m] at a position along a path [spacings]; beyond the ends, that of the end."""
    segments = points.shape[0] - 1
    segment = math.floor(position)
    if not closed:
        segment = max(0, min(segment, segments - 1))
    fraction = min(max(position - segment, 0.0), 1.0)
    k = segment % segments
    value = points[k, column]
    return float(value + fraction * (points[k + 1, column] - value))


def speed_at(points: Array, closed: bool, position: float) -> float:
    """The speed that a path gives at a position [m/s]; infinite if it gives none.

    It is the larger speed of the two points around it, so that a path may begin and end with a speed of 0.
    """
    segments = points.shape[0] - 1
    segment = math.floor(position)
    k = segment % segments if closed else max(0, min(segment, segments - 1))
    return float(max(points[k, SPEED], points[k + 1, SPEED]))


def radius_at(points: Array, closed: bool, position: float) -> float:
    """Radius [m] of the last path point at or before a position, see :attr:`~vds_gz.tools.fleet.path.Path.radius`."""
    segments = points.shape[0] - 1
    segment = math.floor(position)
    k = segment % segments if closed else max(0, min(segment, segments))
    return float(points[k, RADIUS])


#: Status of a run: running, finished, beyond the bound, NaN or infinite.
RUNNING, FINISHED, LEFT, DIVERGED = range(4)

#: Their names.
STATUSES = ("running", "finished", "left", "diverged")


class Course(NamedTuple):
    """A path for compiled functions."""

    points: Array  # points, closed, spacing: of the :class:`~vds_gz.tools.fleet.path.Path`
    closed: bool
    spacing: float
    bound: float  # A vehicle whose lateral error exceeds it has left the path [m]


@dataclass(slots=True)
class Following:
    """Properties of a vehicle and its controller that all controllers have."""

    steers: bool  # commands have a steering angle, else a yaw rate
    wheel_base: float  # position of the steered axle along +x from the reference point [m]; 0 without one
    reach: int  # number of segments of the path that are searched on each side for the vehicle
    speed: float  # speed reference without limits [m/s]
    lateral_acceleration: float  # limit [m/s^2], infinite without one


@dataclass(slots=True)
class Tracking:
    """Position of a vehicle relative to its path, and its measures so far."""

    status: int = RUNNING  # one of STATUSES, by its index
    position: float = 0.0  # position along the path [spacings]
    goal: float = math.inf  # position at which the run is finished [spacings]
    lateral: float = 0.0  # lateral error of the reference point [m], positive to the left of the path
    heading_error: float = 0.0  # from the path's heading to the vehicle's [rad]
    reference_speed: float = 0.0  # [m/s]; 0 as soon as the run has ended
    ended: float = math.inf  # time of the run's end [s]; infinite while it is running
    samples: int = 0  # number of periods in the measures
    lateral_square: float = 0.0  # lateral_square, heading_square, speed_square: sums of squared errors
    heading_square: float = 0.0
    speed_square: float = 0.0
    lateral_peak: float = 0.0  # lateral_peak, heading_peak, speed_peak: maximum absolute errors
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
