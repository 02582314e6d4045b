"""The motion of a vehicle in its own plane, and how it stands out of the map's, as the motion of a body in space."""

from __future__ import annotations

from typing import NamedTuple

from vds_gz.geometry.attitude import Attitude
from vds_gz.geometry.se3 import Transform
from vds_gz.geometry.so3 import Vector, into_world, quaternion
from vds_gz.sensing.body import BodyState
from vds_gz.vehicle.vehicle import Motion

#: The attitude of a vehicle that never leaves the plane.
LEVEL = Attitude()


class Velocity(NamedTuple):
    """Of base_link, in its own axes [m/s, rad/s]."""

    linear: Vector
    angular: Vector

    @classmethod
    def of(cls, motion: Motion, attitude: Attitude | None) -> Velocity:
        """The velocity of a vehicle that moves and stands like this."""
        lifted = attitude or LEVEL
        return cls((motion.v_x, motion.v_y, lifted.v_z), (lifted.roll_rate, lifted.pitch_rate, motion.yaw_rate))


def body_state(
    time: int, motion: Motion, attitude: Attitude | None, before: Velocity | None, interval: float
) -> BodyState:
    """base_link at an instant.

    The acceleration of its origin is what its velocity gains in the body's axes, and what these turn the velocity by:
    ``dv/dt + w x v``, centripetal acceleration included.

    Args:
        time: The instant [ns].
        motion: Where it is, seen from above, and how it moves in its own plane.
        attitude: How it stands out of the map's plane; none if it never does.
        before: Its velocity a little earlier; none if that is not known, and then it gains none.
        interval: How much earlier [s].
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
    """How fast a velocity changes in the body's axes [m/s^2, rad/s^2]."""
    if before is None:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    (a, b, c), (d, e, f) = before.linear, before.angular
    (u, v, w), (p, q, r) = now.linear, now.angular
    linear = ((u - a) / interval, (v - b) / interval, (w - c) / interval)
    return linear, ((p - d) / interval, (q - e) / interval, (r - f) / interval)
