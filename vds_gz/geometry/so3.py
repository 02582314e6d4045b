"""Orientations: quaternions (x, y, z, w) of length 1, as Gazebo and ROS have them."""

from __future__ import annotations

import math

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


def angles(q: Quaternion) -> Vector:
    """Roll, pitch and heading [rad]: turns about z by the heading, the new y by the pitch, the new x by the roll."""
    x, y, z, w = q
    return (
        math.atan2(2.0 * (w * x + y * z), w * w + z * z - x * x - y * y),
        math.asin(max(-1.0, min(2.0 * (w * y - x * z), 1.0))),
        math.atan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z),
    )


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
    """The orientation that lies so far on the way from one to another that is a small turn away."""
    sign = 1.0 if sum(a * b for a, b in zip(before, after, strict=True)) >= 0.0 else -1.0
    total = [a + part * (sign * b - a) for a, b in zip(before, after, strict=True)]
    norm = math.sqrt(sum(number * number for number in total))
    x, y, z, w = (number / norm for number in total)
    return x, y, z, w


def into_body(q: Quaternion, v: Vector) -> Vector:
    """A vector of the world in the body's axes."""
    x, y, z, w = q
    # v + 2 w (u x v) + 2 u x (u x v), with u the inverse rotation's axis
    a = (-y * v[2] + z * v[1], -z * v[0] + x * v[2], -x * v[1] + y * v[0])
    b = (-y * a[2] + z * a[1], -z * a[0] + x * a[2], -x * a[1] + y * a[0])
    return tuple(v[i] + 2.0 * (w * a[i] + b[i]) for i in range(3))  # type: ignore[return-value]


def turned(before: Quaternion, after: Quaternion) -> Vector:
    """How far the body has turned about each of its own axes from one orientation to another [rad]."""
    x, y, z, w = before
    a, b, c, d = after
    # The turn as a quaternion: the inverse of the one times the other.
    axis = (w * a - x * d - y * c + z * b, w * b - y * d - z * a + x * c, w * c - z * d - x * b + y * a)
    cosine = w * d + x * a + y * b + z * c
    sine = math.hypot(*axis)
    if sine == 0.0:
        return 0.0, 0.0, 0.0
    angle = 2.0 * math.atan2(sine, cosine) if cosine >= 0.0 else -2.0 * math.atan2(sine, -cosine)
    return axis[0] / sine * angle, axis[1] / sine * angle, axis[2] / sine * angle
