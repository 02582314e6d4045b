"""Converts a vehicle's motion in its own plane and its attitude to the motion of a body in space."""

from __future__ import annotations

from typing import NamedTuple

from vds_gz.geometry.attitude import Attitude
from vds_gz.geometry.se3 import Transform
from vds_gz.geometry.so3 import Vector, into_world, quaternion
from vds_gz.sensing.body import BodyState
from vds_gz.vehicle.vehicle import Motion

#: Attitude of a vehicle that never leaves the plane.
LEVEL = Attitude()


class Velocity(NamedTuple):
    """Velocity of base_link in its own axes [m/s, rad/s]."""

    linear: Vector
    angular: Vector

    @classmethod
    def of(cls, motion: Motion, attitude: Attitude | None) -> Velocity:
        """The velocity of a vehicle with a motion and an attitude."""
        lifted = attitude or LEVEL
        return cls((motion.v_x, motion.v_y, lifted.v_z), (lifted.roll_rate, lifted.pitch_rate, motion.yaw_rate))


def body_state(
    time: int, motion: Motion, attitude: Attitude | None, before: Velocity | None, interval: float
) -> BodyState:
    """State of base_link at an instant.

    The acceleration of its origin is ``dv/dt + w x v``, with ``v`` in the body's axes: it includes the centripetal
    acceleration.

    Args:
        time: The instant [ns].
        motion: Its pose, seen from above, and its velocity in its own plane.
        attitude: Its attitude out of the map's plane; None if it never leaves the plane.
        before: Its velocity a little earlier; if None, the velocity is constant.
        interval: Time since then [s].
    """
    lifted = attitude or LEVEL
    orientation = quaternion(lifted.roll, lifted.pitch, motion.heading)
    now = Velocity.of(motion, attitude)
    (u, v, w), (p, q, r) = now.linear, now.angular
    gained, spun = _rate(before, now, interval)
    felt = (gained[0] + q * w - r * v, gained[1] + r * u - p * w, gained[2] + p * v - q * u)
    pose = Transform((motion.x, motion.y, lifted.z), orientation)
    return BodyState(time, pose, into_world(orientation, now.linear), now.angular, into_world(orientation, felt), spun)


def _rate(before: Velocity | None, now: Velocity, interval: float) -> tuple[Vector, Vector]:
    """Rate of change of a velocity in the body's axes [m/s^2, rad/s^2]."""
    if before is None:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    (a, b, c), (d, e, f) = before.linear, before.angular
    (u, v, w), (p, q, r) = now.linear, now.angular
    linear = ((u - a) / interval, (v - b) / interval, (w - c) / interval)
    return linear, ((p - d) / interval, (q - e) / interval, (r - f) / interval)
