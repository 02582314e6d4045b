"""Trailers as bodies in space, for the sensors on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vds_gz.core.geometry import Transform, into_body, into_world, quaternion
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.vehicle.trigonometry import sine_cosine


def trailer_bodies(body: BodyState, c: Any, angles: Sequence[float], rates: Sequence[float]) -> list[BodyState]:
    """States of the trailers' frames, on the ground below the middle of each axle, in the plane of the vehicle.

    The axle does not slip sideways, so its lateral acceleration is centripetal, and the trailer's yaw acceleration
    follows from that of the hitch.

    Args:
        body: State of base_link.
        c: Coefficients of the vehicle.
        angles, rates: Of the hitches [rad, rad/s].
    """
    bodies, hitch = [], -c.base_link_offset
    for t, angle, rate in zip(c.trailers, angles, rates, strict=True):
        hitch += t.hitch_offset
        body = _behind(body, hitch, t.drawbar, angle, rate)
        bodies.append(body)
        hitch = 0.0
    return bodies


def _behind(body: BodyState, hitch: float, drawbar: float, angle: float, rate: float) -> BodyState:
    """The trailer behind a body whose hitch is at x [m]."""
    sine, cosine = sine_cosine(angle)

    def turned(x: float, y: float) -> tuple[float, float]:
        return cosine * x + sine * y, cosine * y - sine * x

    v_x, v_y, v_z = into_body(body.pose.orientation, body.velocity)
    a_x, a_y, a_z = into_body(body.pose.orientation, body.acceleration)
    (p, q, r), (dp, dq, dr) = body.angular_velocity, body.angular_acceleration
    v_x, v_y = turned(v_x, v_y + r * hitch)
    a_x, a_y = turned(a_x - r * r * hitch, a_y + dr * hitch)
    yaw_rate = r + rate
    (p, q), (dp, dq) = turned(p, q), turned(dp, dq)
    pose = body.pose.then(Transform((hitch, 0.0, 0.0), quaternion(0.0, 0.0, angle)))
    pose = pose.then(Transform((-drawbar, 0.0, 0.0)))
    return replace(
        body,
        pose=pose,
        velocity=into_world(pose.orientation, (v_x, v_y - drawbar * yaw_rate, v_z)),
        angular_velocity=(p, q, yaw_rate),
        acceleration=into_world(pose.orientation, (a_x + drawbar * yaw_rate * yaw_rate, v_x * yaw_rate, a_z)),
        angular_acceleration=(dp, dq, (a_y - v_x * yaw_rate) / drawbar),
    )
