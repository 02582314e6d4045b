"""The ground under a vehicle: the plane through the points below its wheels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.geometry import Attitude, Pose
from vds_gz.core.world.intersection import HALF_SPACE, TRIANGLE
from vds_gz.core.world.ray_caster import RayCaster

SAME = 1e-9  # tolerance for slopes, and for heights [m, and parts of the height]
BEHIND = 1e-6  # distance behind a surface at which a ray continues [m]

DOWN = np.array([0.0, 0.0, -1.0])
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, slots=True)
class Plane:
    """All points (x, y, z) with ``z = height + slope_x x + slope_y y`` [m]."""

    height: float = 0.0
    slope_x: float = 0.0
    slope_y: float = 0.0

    @property
    def level(self) -> bool:
        """Whether the plane is level."""
        return self.slope_x == 0.0 and self.slope_y == 0.0

    def near(self, other: Plane) -> bool:
        """Whether the other plane equals this one, except for rounding."""
        slope_difference = abs(self.slope_x - other.slope_x) + abs(self.slope_y - other.slope_y)
        return slope_difference <= SAME and abs(self.height - other.height) <= SAME * (1.0 + abs(self.height))

    def at(self, x: float, y: float) -> float:
        """Its height at a place [m]."""
        return self.height + self.slope_x * x + self.slope_y * y

    def attitude(self, T_map_base: Pose) -> Attitude:
        """Attitude of a body on the plane, whose pose is that seen from above."""
        cosine, sine = math.cos(T_map_base.heading), math.sin(T_map_base.heading)
        forward = self.slope_x * cosine + self.slope_y * sine
        leftward = self.slope_y * cosine - self.slope_x * sine
        return Attitude(
            self.at(T_map_base.x, T_map_base.y), math.atan2(leftward, math.hypot(1.0, forward)), -math.atan(forward)
        )


def plane_through(points: Sequence[tuple[float, float, float]]) -> Plane:
    """The plane through three points, or the one nearest to more [m].

    The fit is by least squares of heights. Across points on a line, the plane is level.
    """
    count = len(points)
    x, y, z = (sum(point[axis] for point in points) / count for axis in range(3))
    xx = sum((point[0] - x) ** 2 for point in points)
    yy = sum((point[1] - y) ** 2 for point in points)
    xy = sum((point[0] - x) * (point[1] - y) for point in points)
    xz = sum((point[0] - x) * (point[2] - z) for point in points)
    yz = sum((point[1] - y) * (point[2] - z) for point in points)
    determinant, trace = xx * yy - xy * xy, xx + yy
    if determinant > 1e-9 * trace * trace:
        a, b = (yy * xz - xy * yz) / determinant, (xx * yz - xy * xz) / determinant
    elif trace > 0.0:  # on a line
        a, b = xz / trace, yz / trace
    else:
        a, b = 0.0, 0.0
    a, b = (slope if abs(slope) > SAME else 0.0 for slope in (a, b))
    return Plane(z - a * x - b * y, a, b)


def room_on(caster: RayCaster, plane: Plane, point: tuple[float, float], low: float, high: float) -> float:
    """The distance from a point within which the plane is certainly the ground [m].

    It is 0 unless the scene has one half space and the plane is its surface. On a level plane, things below ``low`` or
    above ``high`` [m], relative to the plane, are ignored.
    """
    packed = caster.packed
    solid = packed.kinds != HALF_SPACE
    half_spaces = packed.rows[~solid]
    if len(half_spaces) != 1 or half_spaces[0, 8] <= SAME or not _plane_of(half_spaces[0]).near(plane):
        return 0.0
    lower, upper = packed.lower[solid], packed.upper[solid]
    if not plane.level:
        low, high = -math.inf, math.inf
    relevant = (lower[:, 2] <= plane.height + high) & (upper[:, 2] >= plane.height + low)
    gaps = np.maximum(0.0, np.maximum(lower[relevant, :2] - point, point - upper[relevant, :2]))
    return float(np.hypot(gaps[:, 0], gaps[:, 1]).min(initial=math.inf))


def _plane_of(row: Array) -> Plane:
    """The plane that bounds a half space, by its row; it must not be vertical."""
    x, y, z = row[6:9]
    px, py, pz = row[9:12]
    return Plane(float(pz + (x * px + y * py) / z), float(-x / z), float(-y / z))


def ground_below(caster: RayCaster, points: Sequence[tuple[float, float, float]], reach: float) -> tuple[Array, Array]:
    """Height of the ground below each point [m], and its friction coefficient.

    Without ground, the height is minus infinity and the friction coefficient infinity.
    """
    origins = np.array(points)
    ranges, shapes = caster.cast(origins, np.broadcast_to(DOWN, origins.shape), reach)
    heights, friction = np.full(len(origins), -math.inf), np.full(len(origins), math.inf)
    hit = np.isfinite(ranges)
    heights[hit] = origins[hit, 2] - ranges[hit]
    friction[hit] = caster.friction(shapes[hit])
    return heights, friction


def surface_near(caster: RayCaster, point: tuple[float, float, float]) -> float:
    """Height of the surface below a point, or else of the one above [m]; infinity without either.

    For a point inside a solid, this is its upper side.
    """
    height, inside = _surface(caster, point, DOWN)
    if math.isfinite(height) and not inside:
        return height
    height, below = _surface(caster, point, UP)
    if below:  # the lower side of a solid; its upper side is the ground
        height, _ = _surface(caster, (point[0], point[1], height + BEHIND), UP)
    return height


def _surface(caster: RayCaster, point: tuple[float, float, float], direction: Array) -> tuple[float, bool]:
    """Height of the first surface up or down from a point [m], and whether it is the lower side of a solid."""
    origin = np.array(point)
    ranges, shapes = caster.cast(origin, direction[None])
    if not np.isfinite(ranges[0]):
        return math.inf, False
    hits = caster.hits(origin, direction[None], ranges, shapes)
    solid = caster.packed.kinds[shapes[0]] != TRIANGLE
    return float(point[2] + direction[2] * ranges[0]), bool(solid and hits.normals[0, 2] < 0.0)
