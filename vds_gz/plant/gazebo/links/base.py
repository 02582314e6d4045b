"""The interface of links to a vehicle in Gazebo.

A link's library may call it in any thread. It puts its observations into the plant's inbox, a deque, whose ends may be
used from different threads; the plant reads them in the node's own thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from vds_gz.geometry import Quaternion, Vector


@dataclass(frozen=True, slots=True)
class Tick:
    """Gazebo's clock was at a time [ns]."""

    time: int


@dataclass(frozen=True, slots=True)
class Alive:
    """Gazebo runs, paused or not; this is also sent while its time stands still."""

    paused: bool


@dataclass(frozen=True, slots=True)
class Placement:
    """Pose of the vehicle in the world: time [ns], position [m], orientation (x, y, z, w)."""

    time: int
    position: Vector
    orientation: Quaternion


@dataclass(frozen=True, slots=True)
class JointReadings:
    """States of the joints: time [ns], positions [rad] and velocities [rad/s] by Gazebo's names."""

    time: int
    positions: Mapping[str, float]
    velocities: Mapping[str, float]


Seen = Tick | Alive | Placement | JointReadings
Inbox = deque[Seen]


class GazeboLink(Protocol):
    """A link to a vehicle in Gazebo.

    Attributes:
        name: Its name in ``gazebo.link``.
        lag_cause: The likely cause if the joints follow late.
        clock_topic: Full name of the ROS topic of Gazebo's clock; empty if the link needs none.
    """

    name: str
    lag_cause: str

    @property
    def clock_topic(self) -> str:
        """Full name of the ROS topic of Gazebo's clock."""

    def start(self, inbox: Inbox, wake: Callable[[], None]) -> None:
        """Begin to put observations into the inbox; call ``wake``, from any thread, when the clock has ticked."""

    def poll(self) -> None:
        """Do periodic work; called often, in the node's thread."""

    def send(self, velocities: Sequence[float], positions: Sequence[float]) -> None:
        """Command velocities of wheels [rad/s] and positions of steering joints [rad], in the model's order."""

    def set_pose(self, position: Vector, orientation: Quaternion) -> None:
        """Request a pose of the vehicle [m], without waiting for the response.

        Raises:
            LinkError: The request cannot be sent.
        """

    def pause(self, paused: bool) -> None:
        """Request the world to pause or resume, without waiting for the response.

        Raises:
            LinkError: The request cannot be sent.
        """

    def fault(self) -> str:
        """The fault of the link itself, in words; empty without one."""

    def close(self) -> None:
        """Close the link, after all messages have been sent."""
