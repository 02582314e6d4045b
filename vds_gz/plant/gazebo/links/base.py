"""What the plant needs of a way to reach a vehicle in Gazebo.

A link sees things in whatever thread its library calls it in. It puts what it saw into the plant's inbox, a deque,
whose ends may be used from different threads; the plant takes it out in the node's own thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from vds_gz.geometry.so3 import Quaternion, Vector


@dataclass(frozen=True, slots=True)
class Tick:
    """Gazebo's clock was at a time [ns]."""

    time: int


@dataclass(frozen=True, slots=True)
class Alive:
    """Gazebo is there, and paused or not; this comes also while its time stands still."""

    paused: bool


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the vehicle was in the world: time [ns], position [m], orientation (x, y, z, w)."""

    time: int
    position: Vector
    orientation: Quaternion


@dataclass(frozen=True, slots=True)
class JointReadings:
    """How the joints stood: time [ns], positions [rad] and velocities [rad/s] by Gazebo's names."""

    time: int
    positions: Mapping[str, float]
    velocities: Mapping[str, float]


Seen = Tick | Alive | Placement | JointReadings
Inbox = deque[Seen]


class GazeboLink(Protocol):
    """A way to reach a vehicle in Gazebo.

    Attributes:
        name: What ``gazebo.link`` calls it.
        lag_cause: The likely cause if the joints follow late.
        clock_topic: Full name of the ROS topic of Gazebo's clock; empty if the link needs none.
    """

    name: str
    lag_cause: str

    @property
    def clock_topic(self) -> str:
        """Where others get Gazebo's time over ROS."""

    def start(self, inbox: Inbox, wake: Callable[[], None]) -> None:
        """Begin to put what is seen into the inbox, and call ``wake``, from any thread, when the clock has ticked."""

    def poll(self) -> None:
        """Do what must be done now and then; called often, in the node's thread."""

    def send(self, velocities: Sequence[float], positions: Sequence[float]) -> None:
        """Let the wheels turn [rad/s] and the steering joints stand [rad], each in the order of the model's joints."""

    def set_pose(self, position: Vector, orientation: Quaternion) -> None:
        """Put the vehicle there [m]. It happens soon; no response is waited for.

        Raises:
            LinkError: The request cannot be sent.
        """

    def pause(self, paused: bool) -> None:
        """Let the world pause or go on. It happens soon; no response is waited for.

        Raises:
            LinkError: The request cannot be sent.
        """

    def fault(self) -> str:
        """What is wrong with the link itself, in words; empty if nothing is."""

    def close(self) -> None:
        """Leave, after what was sent has gone out."""
