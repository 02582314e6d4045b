"""The interface of plants, which move the vehicle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from vds_gz.core.errors import VdsGzError
from vds_gz.core.geometry import Attitude, Pose, Transform, Vector, into_world, quaternion
from vds_gz.core.plant.trailer_bodies import trailer_bodies
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.vehicle.vehicle import AnyVehicle, Motion
from vds_gz.core.vehicle.vehicle_model import JointStates

if TYPE_CHECKING:
    from vds_gz.core.world.obstacles import Contact


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
    """What moves a vehicle: base class of plants.

    A plant has the vehicle's actuators, ``vehicle``, and moves the body as they command. The node enters commands into
    ``vehicle``. Dead time, lag and limits are the vehicle's; the plant moves wheels and steering as
    ``vehicle.model.joint_states(vehicle.coefficients, vehicle.state)`` says.

    **Time.** Times are nanoseconds. The plant's present is ``vehicle.time``; a plant keeps no other clock. The node
    sets it with ``vehicle.skip_to(time)`` when time begins, jumps ahead or goes on while the vehicle is held; nothing
    moves then. It is on whole steps: :meth:`advance` does ``vehicle.steps_until(time) - vehicle.steps`` of them.

    **Order of calls.** One thread calls the plant:

    1. The factory makes the plant. The vehicle is at rest at its initial pose.
    2. ``vehicle.skip_to(start)``, once the time is known.
    3. In every turn of the node's loop: :meth:`observe`, if the plant gives time. Then, for each instant at which an
       output or a measurement is due, :meth:`advance` to it, and :meth:`motion`, :meth:`joint_states`,
       :meth:`attitude` and :meth:`body` of it, each any number of times or never. At last :meth:`command`, if the plant
       gives time.
    4. Between turns, when a service asks for it: :meth:`set_pose`, :meth:`stand_still`, :meth:`reset`, :meth:`pause`.
       Once a second: :meth:`status`.
    5. :meth:`close`, once.

    **Two kinds.** A plant that follows the node's time is asked for the present only. Equal commands at equal times
    give equal bits, however often it is advanced. A plant that gives time (``gives_time``), such as another simulator,
    returns its present in :meth:`observe`. Outputs wait until :meth:`seen` is true, then ask for that earlier time.

    **Optional parts.** A plant has ``name`` and ``vehicle``, and overrides :meth:`advance`, :meth:`motion`,
    :meth:`set_pose`, :meth:`stand_still` and :meth:`reset`; :meth:`body` too, if the vehicle has sensors. A plant that
    gives time also overrides :meth:`observe`, :meth:`command` and :meth:`seen`. The rest has defaults.

    A plant raises :class:`LinkError` if the simulator or robot that moves the vehicle fails or does not answer.
    ``vds-gz check --plant NAME`` tests all this.

    Attributes:
        name: Name of the plant, as the parameter ``backend`` selects it.
        gives_time: The plant gives the simulated time, which :meth:`observe` returns.
        flat: base_link stays level on the map's plane, and :meth:`attitude` is not called.
        knows_pose: The plant knows where the vehicle is. If not, whatever moves the vehicle publishes its odometry,
            transforms and joint states.
        command_rate: How often :meth:`command` is called if the plant does not give time [Hz]; 0: never.
        simulates_sensors: The plant simulates the sensors that have a Gazebo side, as Gazebo does. Otherwise the node
            simulates all sensors.
        waits: :meth:`reset` and :meth:`pause` return after they have succeeded; false: as soon as the request is sent.
        place: The world that the plant simulates, in words, for the log.
        vehicle: The vehicle with its actuators. It belongs to the plant from its factory on.
        contacts: Contacts of the vehicle with a world at the present; None if they are not known, and no topic has
            them.
    """

    name: str
    gives_time = False
    flat = True
    knows_pose = True
    command_rate = 0.0
    simulates_sensors = False
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
        """Whether the plant is paused; false unless :meth:`pause` can pause it."""
        return False

    def observe(self) -> int | None:
        """Process all observations since the last call; only called if the plant gives time.

        Returns:
            The present in the plant's time [ns], None before it is known. It only goes back if the other simulator
            starts again.
        """
        return None

    def advance(self, time: int) -> None:
        """Advance the actuators, and the body if the node simulates it, to a time.

        Args:
            time: A simulated time [ns]. The vehicle does all steps that end by then; at an earlier time it does none.
        """
        raise NotImplementedError

    def command(self, now: int) -> None:
        """Send the commands of the joints, if the plant gives time, or has a ``command_rate``.

        Args:
            now: The present [ns].
        """

    def seen(self, time: int) -> bool:
        """Whether the plant knows motion and joint states.

        Args:
            time: A time to which the vehicle has advanced [ns].
        """
        return True

    def motion(self, time: int) -> Motion:
        """True pose of base_link, seen from above, and its velocity.

        Args:
            time: The present [ns], or an earlier time that was :meth:`seen`, if the plant gives time.

        Returns:
            x, y [m] and heading [rad] in the world; v_x, v_y [m/s] and yaw_rate [rad/s] in base_link's own axes. The
            heading may count full turns.
        """
        raise NotImplementedError

    def attitude(self, time: int) -> Attitude | None:
        """Height, roll and pitch of base_link, and their rates; only called if the plant is not ``flat``.

        Args:
            time: As for :meth:`motion` [ns].

        Returns:
            Height [m], roll and pitch [rad], and rates [m/s, rad/s] in base_link's own axes; None means level at 0.
        """
        return None

    def body(self, time: int) -> BodyState:
        """State of base_link as a body in space, with accelerations; called if the vehicle has sensors.

        :func:`body_state` makes it of motion, attitude and an earlier velocity.

        Args:
            time: As for :meth:`motion` [ns].

        Returns:
            The state. Its acceleration is that of base_link's origin in the world's axes [m/s^2], without gravity.
        """
        raise NotImplementedError

    def trailer_bodies(self, time: int, body: BodyState) -> list[BodyState]:
        """States of the trailers' frames, for the sensors on them; the vehicle has hitches.

        Args:
            time: As for :meth:`motion` [ns].
            body: State of base_link at this time.
        """
        states = self.joint_states(time)
        joints = self.vehicle.model.joints(self.vehicle.parameters)
        hitches = [i for i, joint in enumerate(joints) if joint.kind == "hitch"]
        angles, rates = ([values[i] for i in hitches] for values in (states.positions, states.velocities))
        return trailer_bodies(body, self.vehicle.coefficients, angles, rates)

    def joint_states(self, time: int) -> JointStates:
        """States of the joints. The default returns the commands of the actuators, with wheel positions of 0.

        Args:
            time: As for :meth:`motion` [ns].

        Returns:
            Positions [rad], where wheels count full turns, and velocities [rad/s] of all joints, in the order of
            ``vehicle.model.joints(vehicle.parameters)``.
        """
        return self.vehicle.model.joint_states(self.vehicle.coefficients, self.vehicle.state)

    def set_pose(self, pose: Pose, attitude: Attitude | None = None) -> None:
        """Place base_link; its velocity, joints, actuators and commands stay.

        Args:
            pose: x, y [m] and heading [rad] in the world.
            attitude: Height [m], roll and pitch [rad]; None for level at the present height. Its rates are ignored. A
                plant that keeps the vehicle on the ground ignores all of it.
        """
        raise NotImplementedError

    def stand_still(self, time: int) -> None:
        """Stop in place, with all actuators at rest, and discard all commands.

        Args:
            time: The time from which the plant continues [ns], which may be in the past.
        """
        raise NotImplementedError

    def reset(self) -> Pose | None:
        """Start again at rest at the initial pose, at the present time; discard commands, restart the random numbers.

        Returns:
            The initial pose [m, m, rad]; None if the vehicle has not been observed yet and cannot be put there.
        """
        raise NotImplementedError

    def pause(self, paused: bool) -> bool:
        """Pause what moves the vehicle, or resume it.

        Args:
            paused: Whether to pause.

        Returns:
            Whether the plant can. By default it cannot, and the node holds the vehicle: it does not advance it.
        """
        return False

    def status(self) -> Status:
        """The health of the plant, for diagnostics: a problem with its remedy, and values to show."""
        return Status()

    def close(self) -> None:
        """Stop all joints, and release everything; no call follows."""


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
    q_map_base = quaternion(lifted.roll, lifted.pitch, motion.heading)
    now = BodyVelocity.of(motion, attitude)
    (u, v, w), (p, q, r) = now.linear, now.angular
    rate, spin = _rate(before, now, interval)
    acceleration_base = (rate[0] + q * w - r * v, rate[1] + r * u - p * w, rate[2] + p * v - q * u)
    T_map_base = Transform((motion.x, motion.y, lifted.z), q_map_base)
    velocity_map, acceleration_map = into_world(q_map_base, now.linear), into_world(q_map_base, acceleration_base)
    return BodyState(time, T_map_base, velocity_map, now.angular, acceleration_map, spin)


def _rate(before: BodyVelocity | None, now: BodyVelocity, interval: float) -> tuple[Vector, Vector]:
    """Rate of change of a velocity in the body's axes [m/s^2, rad/s^2]."""
    if before is None:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    (a, b, c), (d, e, f) = before.linear, before.angular
    (u, v, w), (p, q, r) = now.linear, now.angular
    linear = ((u - a) / interval, (v - b) / interval, (w - c) / interval)
    return linear, ((p - d) / interval, (q - e) / interval, (r - f) / interval)
