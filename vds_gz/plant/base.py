"""The interface of plants, which move the vehicle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from vds_gz.errors import VdsGzError
from vds_gz.geometry import Attitude, Pose, Transform, Vector, into_world, quaternion
from vds_gz.sensing.body import BodyState
from vds_gz.vehicle.model import JointStates
from vds_gz.vehicle.vehicle import AnyVehicle, Motion

if TYPE_CHECKING:
    from vds_gz.world.obstacles import Contact


class LinkError(VdsGzError, RuntimeError):
    """Gazebo, or a link to it, is not available, or a request failed. The message has the reason and a remedy."""


class Level(IntEnum):
    """Levels of a status, as in ``diagnostic_msgs/DiagnosticStatus``."""

    OK = 0
    WARN = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Status:
    """The health of a plant."""

    level: Level = Level.OK
    text: str = ""  # problem and remedy; empty without a problem
    values: tuple[tuple[str, str], ...] = ()  # further information: names and values


class Plant:
    """A vehicle's actuators and the motion of its wheels and body: base class.

    Attributes:
        name: Name of the plant.
        gives_time: Whether the plant gives simulated time, which :meth:`observe` returns.
        flat: Whether base_link stays level on the map's plane.
        senses: Whether the plant simulates the types of sensors that have a Gazebo side.
        waits: Whether :meth:`reset` and :meth:`pause` return after they have succeeded, and not as soon as the request
            is sent.
        place: The world that the plant itself simulates.
        vehicle: The vehicle with its actuators.
        contacts: Contacts of the vehicle in a world that the node simulates; None without one.
    """

    name: str
    gives_time = False
    flat = True
    senses = False
    waits = True
    place = "no world"
    vehicle: AnyVehicle
    contacts: Sequence[Contact] | None = None

    @property
    def clock_topic(self) -> str:
        """Full name of the topic on which other nodes receive the plant's time; empty if there is none."""
        return ""

    @property
    def paused(self) -> bool:
        """Whether the plant is paused."""
        return False

    def observe(self) -> int | None:
        """Process observations since the last call, if the plant gives time; return the present [ns] once known."""
        return None

    def advance(self, time: int) -> None:
        """Advance the actuators, and everything else that the node simulates, to a simulated time [ns]."""
        raise NotImplementedError

    def command(self, now: int) -> None:
        """Command the joints at the present [ns], if the plant gives time."""

    def seen(self, time: int) -> bool:
        """Whether motion and joint states at a time [ns] are known."""
        return True

    def motion(self, time: int) -> Motion:
        """True pose of base_link at a time [ns], seen from above, and its velocity in its own plane."""
        raise NotImplementedError

    def attitude(self, time: int) -> Attitude | None:
        """Attitude of base_link out of the plane at a time [ns]; None if it never leaves the plane."""
        return None

    def body(self, time: int) -> BodyState:
        """State of base_link at a time [ns] as a body in space, with accelerations for sensors."""
        raise NotImplementedError

    def joint_states(self, time: int) -> JointStates:
        """States of the joints at a time [ns]."""
        return self.vehicle.model.joint_states(self.vehicle.coefficients, self.vehicle.state)

    def set_pose(self, pose: Pose, attitude: Attitude | None = None) -> None:
        """Place base_link at a pose; without an attitude, level at its present height."""
        raise NotImplementedError

    def stand_still(self, time: int) -> None:
        """Stop in place and discard all commands; continue from ``time`` [ns], which may be in the past."""
        raise NotImplementedError

    def reset(self) -> Pose | None:
        """Restart at rest at the initial pose; return it, or None if the vehicle has not been observed yet."""
        raise NotImplementedError

    def pause(self, paused: bool) -> bool:
        """Pause or resume the plant; return whether the plant can. Otherwise the node must hold the vehicle."""
        return False

    def status(self) -> Status:
        """The health of the plant."""
        return Status()

    def close(self) -> None:
        """Stop all joints."""


LEVEL = Attitude()  # attitude of a vehicle that never leaves the plane


class BodyVelocity(NamedTuple):
    """Velocity of base_link in its own axes [m/s, rad/s]."""

    linear: Vector
    angular: Vector

    @classmethod
    def of(cls, motion: Motion, attitude: Attitude | None) -> BodyVelocity:
        """The velocity of a motion and the rates of an attitude."""
        lifted = attitude or LEVEL
        return cls((motion.v_x, motion.v_y, lifted.v_z), (lifted.roll_rate, lifted.pitch_rate, motion.yaw_rate))


def body_state(
    time: int, motion: Motion, attitude: Attitude | None, before: BodyVelocity | None, interval: float
) -> BodyState:
    """State of base_link at an instant.

    The acceleration of its origin is ``dv/dt + w x v``, with ``v`` in the body's axes: it includes the centripetal
    acceleration. ``dv/dt`` is computed from the velocity ``before``, an ``interval`` [s] earlier; it is 0 for None.
    """
    lifted = attitude or LEVEL
    orientation = quaternion(lifted.roll, lifted.pitch, motion.heading)
    now = BodyVelocity.of(motion, attitude)
    (u, v, w), (p, q, r) = now.linear, now.angular
    rate, spin = _rate(before, now, interval)
    acceleration = (rate[0] + q * w - r * v, rate[1] + r * u - p * w, rate[2] + p * v - q * u)
    pose = Transform((motion.x, motion.y, lifted.z), orientation)
    velocity = into_world(orientation, now.linear)
    return BodyState(time, pose, velocity, now.angular, into_world(orientation, acceleration), spin)


def _rate(before: BodyVelocity | None, now: BodyVelocity, interval: float) -> tuple[Vector, Vector]:
    """Rate of change of a velocity in the body's axes [m/s^2, rad/s^2]."""
    if before is None:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    (a, b, c), (d, e, f) = before.linear, before.angular
    (u, v, w), (p, q, r) = now.linear, now.angular
    linear = ((u - a) / interval, (v - b) / interval, (w - c) / interval)
    return linear, ((p - d) / interval, (q - e) / interval, (r - f) / interval)
