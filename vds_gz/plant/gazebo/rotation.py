"""Orientations as Gazebo has them: quaternions (x, y, z, w) of length 1."""

from __future__ import annotations

import math

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


def heading(q: Quaternion) -> float:
    """Angle of the body's x axis on the map [rad]."""
    x, y, z, w = q
    return math.atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)


def into_body(q: Quaternion, v: Vector) -> Vector:
    """A vector of the world in the body's axes."""
    x, y, z, w = q
    # v + 2 w (u x v) + 2 u x (u x v), with u the inverse rotation's axis
    a = (-y * v[2] + z * v[1], -z * v[0] + x * v[2], -x * v[1] + y * v[0])
    b = (-y * a[2] + z * a[1], -z * a[0] + x * a[2], -x * a[1] + y * a[0])
    return tuple(v[i] + 2.0 * (w * a[i] + b[i]) for i in range(3))  # type: ignore[return-value]


def turn_about_z(before: Quaternion, after: Quaternion) -> float:
    """How far the body has turned about its own z axis between two orientations, a small turn apart [rad]."""
    x, y, z, w = before
    a, b, c, d = after
    part_z = w * c - z * d - x * b + y * a
    part_w = w * d + x * a + y * b + z * c
    return 2.0 * math.atan2(part_z, part_w) if part_w >= 0.0 else 2.0 * math.atan2(-part_z, -part_w)
