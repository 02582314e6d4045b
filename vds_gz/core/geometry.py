"""Poses in the plane, SE(2), and in space, SE(3); rotations as unit quaternions (x, y, z, w).

The name of a transform has its two frames: ``T_map_base`` is the pose of base_link in the map, and takes points of
base_link to the map. ``T_map_odom.then(T_odom_base)`` is ``T_map_base``. Likewise ``q_map_base`` is a rotation alone.
The name of a vector ends with the frame of its axes: ``gravity_base`` is ``into_body(q_map_base, gravity_map)``. Frames
are those of REP-105, ``reference`` (a model's reference point), ``sensor``, and Gazebo's ``model``; a world is the map.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

#: Acceleration of gravity [m/s^2].
GRAVITY = 9.81

#: The identity.
IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)

#: A pitch whose sine is this close to +-1 counts as +-90 degrees, where roll and heading turn about the same axis.
_GIMBAL_LOCK = 1e-12


def angles(q: Quaternion) -> Vector:
    """Roll, pitch and heading [rad]: turns about z by the heading, the new y by the pitch, the new x by the roll.

    At a pitch of +-90 degrees the heading is 0.
    """
    x, y, z, w = q
    sine = 2.0 * (w * y - x * z)
    toward_x, toward_y = w * w + x * x - y * y - z * z, 2.0 * (w * z + x * y)
    pitch = math.atan2(sine, math.hypot(toward_x, toward_y))
    if abs(sine) > 1.0 - _GIMBAL_LOCK:
        return math.remainder(2.0 * math.atan2(x, w), math.tau), pitch, 0.0
    return math.atan2(2.0 * (w * x + y * z), w * w + z * z - x * x - y * y), pitch, math.atan2(toward_y, toward_x)


def quaternion(roll: float, pitch: float, heading: float) -> Quaternion:
    """The orientation after turns about z by the heading, the new y by the pitch, the new x by the roll."""
    sin_r, cos_r = math.sin(0.5 * roll), math.cos(0.5 * roll)
    sin_p, cos_p = math.sin(0.5 * pitch), math.cos(0.5 * pitch)
    sin_h, cos_h = math.sin(0.5 * heading), math.cos(0.5 * heading)
    return (
        sin_r * cos_p * cos_h - cos_r * sin_p * sin_h,
        cos_r * sin_p * cos_h + sin_r * cos_p * sin_h,
        cos_r * cos_p * sin_h - sin_r * sin_p * cos_h,
        cos_r * cos_p * cos_h + sin_r * sin_p * sin_h,
    )


def between(before: Quaternion, after: Quaternion, part: float) -> Quaternion:
    """The orientation at a fraction ``part`` of a turn from one orientation to another; the turn must be small."""
    sign = 1.0 if sum(a * b for a, b in zip(before, after, strict=True)) >= 0.0 else -1.0
    total = [a + part * (sign * b - a) for a, b in zip(before, after, strict=True)]
    norm = math.sqrt(sum(number * number for number in total))
    x, y, z, w = (number / norm for number in total)
    return x, y, z, w


def product(first: Quaternion, second: Quaternion) -> Quaternion:
    """The orientation after a first turn, then a second one about the turned axes."""
    a, b, c, d = first
    x, y, z, w = second
    return (
        d * x + a * w + b * z - c * y,
        d * y - a * z + b * w + c * x,
        d * z + a * y - b * x + c * w,
        d * w - a * x - b * y - c * z,
    )


def inverse(q: Quaternion) -> Quaternion:
    """The inverse rotation."""
    x, y, z, w = q
    return -x, -y, -z, w


def cross(a: Vector, b: Vector) -> Vector:
    """The cross product of two vectors."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def into_world(q: Quaternion, v: Vector) -> Vector:
    """A vector in the body's axes, in the axes of the world."""
    x, y, z, w = q
    # v + 2 w (u x v) + 2 u x (u x v), with u the rotation's axis
    a = (y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0])
    b = (y * a[2] - z * a[1], z * a[0] - x * a[2], x * a[1] - y * a[0])
    return v[0] + 2.0 * (w * a[0] + b[0]), v[1] + 2.0 * (w * a[1] + b[1]), v[2] + 2.0 * (w * a[2] + b[2])


def into_body(q: Quaternion, v: Vector) -> Vector:
    """A vector in the axes of the world, in the body's axes."""
    return into_world(inverse(q), v)


def axes(q: Quaternion) -> tuple[Vector, Vector, Vector]:
    """The body's axes in the world: the columns of the rotation matrix."""
    return into_world(q, (1.0, 0.0, 0.0)), into_world(q, (0.0, 1.0, 0.0)), into_world(q, (0.0, 0.0, 1.0))


def of_axes(x: Vector, y: Vector, z: Vector) -> Quaternion:
    """The orientation of a body with these axes (Shepperd, Quaternion from Rotation Matrix, 1978)."""
    (a, b, c), (d, e, f), (g, h, i) = x, y, z
    candidates = (
        (1.0 + a - e - i, b + d, c + g, f - h),
        (b + d, 1.0 - a + e - i, f + h, g - c),
        (c + g, f + h, 1.0 - a - e + i, b - d),
        (f - h, g - c, b - d, 1.0 + a + e + i),
    )
    _, best = max((candidate[k], candidate) for k, candidate in enumerate(candidates))
    norm = math.sqrt(sum(part * part for part in best))
    qx, qy, qz, qw = (part / norm for part in best)
    return qx, qy, qz, qw


def turned(before: Quaternion, after: Quaternion) -> Vector:
    """The rotation vector from one orientation to another, in the body's axes [rad]."""
    x, y, z, cosine = product(inverse(before), after)
    sine = math.hypot(x, y, z)
    if sine == 0.0:
        return 0.0, 0.0, 0.0
    angle = 2.0 * math.atan2(sine, cosine) if cosine >= 0.0 else -2.0 * math.atan2(sine, -cosine)
    return x / sine * angle, y / sine * angle, z / sine * angle


@dataclass(frozen=True, slots=True)
class Attitude:
    """The part of base_link's pose and velocity that is out of the plane.

    The orientation is a turn by the heading about z, then by ``pitch`` about the new y, nose down positive, then by
    ``roll`` about the new x, as in REP-103.

    Attributes:
        z: Height in the map [m].
        roll, pitch: Angles [rad].
        v_z: Velocity along base_link's z axis [m/s].
        roll_rate, pitch_rate: Rates about base_link's x and y axes [rad/s].
    """

    z: float = 0.0
    roll: float = 0.0
    pitch: float = 0.0
    v_z: float = 0.0
    roll_rate: float = 0.0
    pitch_rate: float = 0.0

    def at_rest(self) -> Attitude:
        """The same height and angles, at rest."""
        return Attitude(self.z, self.roll, self.pitch)


#: The coordinate of a point [m], or of many points.
Coordinate = TypeVar("Coordinate", float, "NDArray[np.float64]")


@dataclass(frozen=True, slots=True)
class Pose:
    """A pose in the plane, or the corresponding transform [m, m, rad]."""

    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0

    def apply(self, x: Coordinate, y: Coordinate) -> tuple[Coordinate, Coordinate]:
        """Points in this frame [m], in its parent frame."""
        cosine, sine = math.cos(self.heading), math.sin(self.heading)
        return self.x + cosine * x - sine * y, self.y + sine * x + cosine * y

    def then(self, step: Pose) -> Pose:
        """This transform, followed by ``step`` in its frame."""
        return Pose(*self.apply(step.x, step.y), self.heading + step.heading)

    def inverse(self) -> Pose:
        """The inverse transform."""
        cosine, sine = math.cos(self.heading), math.sin(self.heading)
        return Pose(-cosine * self.x - sine * self.y, sine * self.x - cosine * self.y, -self.heading)

    def seen_from(self, origin: Pose) -> Pose:
        """This pose in the frame of another pose."""
        return origin.inverse().then(self)


@dataclass(frozen=True, slots=True)
class Transform:
    """A pose in space, or the corresponding transform: position [m] and orientation."""

    position: Vector = (0.0, 0.0, 0.0)
    orientation: Quaternion = IDENTITY

    def then(self, step: Transform) -> Transform:
        """This transform, followed by ``step`` in its frame."""
        return Transform(self.apply(step.position), product(self.orientation, step.orientation))

    def inverse(self) -> Transform:
        """The inverse transform."""
        back = inverse(self.orientation)
        x, y, z = into_world(back, self.position)
        return Transform((-x, -y, -z), back)

    def apply(self, point: Vector) -> Vector:
        """A point in this frame [m], in its parent frame."""
        (x, y, z), (dx, dy, dz) = self.position, into_world(self.orientation, point)
        return x + dx, y + dy, z + dz


def slope_acceleration(pitch: float) -> float:
    """Acceleration along +x by a slope [m/s^2], from the vehicle's pitch [rad], nose down positive."""
    return GRAVITY * math.sin(pitch)
