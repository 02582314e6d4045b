"""What the node needs of whatever moves the vehicle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from vds_gz.errors import VdsGzError
from vds_gz.geometry.attitude import Attitude
from vds_gz.geometry.se2 import Pose
from vds_gz.sensing.body import BodyState
from vds_gz.vehicle.model import JointStates
from vds_gz.vehicle.vehicle import AnyVehicle, Motion

if TYPE_CHECKING:
    from vds_gz.world.obstacles import Contact


class LinkError(VdsGzError, RuntimeError):
    """A link is not available here, or a request to it failed. The message has the reason and what would be right."""


class Level(IntEnum):
    """How well something is, as in ``diagnostic_msgs/DiagnosticStatus``."""

    OK = 0
    WARN = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Status:
    """The state of what moves the vehicle, in words.

    Attributes:
        level: How well it is.
        text: What is wrong or unusual, and what would be right; empty if nothing is.
        values: What else is worth to be known: names and values.
    """

    level: Level = Level.OK
    text: str = ""
    values: tuple[tuple[str, str], ...] = ()


class Plant:
    """A vehicle's actuators and what their wheels move: base class.

    Attributes:
        name: What it is called.
        gives_time: Simulated time is the plant's; :meth:`observe` returns it.
        flat: base_link stays level on the map's plane.
        senses: It simulates sensors itself, those that have a Gazebo side.
        vehicle: The vehicle with its actuators.
        contacts: What it touches in a world of ours; none without one.
    """

    name: str
    gives_time = False
    flat = True
    senses = False
    vehicle: AnyVehicle
    contacts: Sequence[Contact] | None = None

    @property
    def clock_topic(self) -> str:
        """Full name of the topic on which others get the plant's time; empty if there is none."""
        return ""

    @property
    def paused(self) -> bool:
        """Whether what moves the vehicle is paused."""
        return False

    def observe(self) -> int | None:
        """Take in what was seen since the last call, if the plant gives the time. The present [ns] once it is known."""
        return None

    def advance(self, time: int) -> None:
        """Advance the actuators, and what else is ours, to a point in simulated time [ns]."""
        raise NotImplementedError

    def command(self, now: int) -> None:
        """Command the joints at the present [ns], if the plant gives the time."""

    def seen(self, time: int) -> bool:
        """Whether motion and joint states of a point in time [ns] are known."""
        return True

    def motion(self, time: int) -> Motion:
        """Where base_link truly is at a point in time [ns], seen from above, and how it moves in its own plane."""
        raise NotImplementedError

    def attitude(self, time: int) -> Attitude | None:
        """How base_link stands out of the plane then [ns]; none if it never does."""
        return None

    def body(self, time: int) -> BodyState:
        """base_link at a point in time [ns] as a body in space, with the accelerations that sensors feel."""
        raise NotImplementedError

    def joint_states(self, time: int) -> JointStates:
        """Where the joints stand at a point in time [ns]."""
        return self.vehicle.model.joint_states(self.vehicle.coefficients, self.vehicle.state)

    def set_pose(self, pose: Pose, attitude: Attitude | None = None) -> None:
        """Put base_link there; level and as high as it stands where no attitude is given."""
        raise NotImplementedError

    def stand_still(self, time: int) -> None:
        """Forget all commands and all motion but stay in place; go on from ``time`` [ns], be it in the past."""
        raise NotImplementedError

    def reset(self) -> Pose | None:
        """Start again at rest, where the vehicle began. Where that is; none if it has not been seen yet."""
        raise NotImplementedError

    def pause(self, paused: bool) -> bool:
        """Let what moves the vehicle pause or go on. Whether it can; else the node itself must hold the vehicle."""
        return False

    def status(self) -> Status:
        """The state of the link to what moves."""
        return Status()

    def close(self) -> None:
        """Leave no joint moving."""
