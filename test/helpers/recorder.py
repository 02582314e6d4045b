"""A link to Gazebo without Gazebo, which keeps what it is sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vds_gz.core.plant.gazebo.links.gazebo_link import GazeboLink, ReadingQueue


class Recorder(GazeboLink):
    """A link that keeps the last velocities of wheels [rad/s] and positions of steering joints [rad]."""

    name = "ros2_control"
    lists_joints = True

    def __init__(self) -> None:
        self.sent: tuple[list[float], list[float]] = ([], [])

    def start(self, inbox: ReadingQueue, wake: Callable[[], None]) -> None:
        pass

    def send(self, velocities: Sequence[float], positions: Sequence[float]) -> None:
        self.sent = list(velocities), list(positions)
