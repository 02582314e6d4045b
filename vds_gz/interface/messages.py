"""The messages that are read or written here, as far as that goes: both graphs have classes of their own for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Stamp(Protocol):
    """``builtin_interfaces/Time``."""

    sec: int
    nanosec: int


class Header(Protocol):
    """``std_msgs/Header``."""

    frame_id: str

    @property
    def stamp(self) -> Stamp:
        """When."""


class Stamped(Protocol):
    """A message with a header."""

    @property
    def header(self) -> Header:
        """When, and in which frame."""


class Vector3(Protocol):
    """``geometry_msgs/Vector3``, and ``Point``."""

    x: float
    y: float
    z: float


class Quaternion(Protocol):
    """``geometry_msgs/Quaternion``."""

    x: float
    y: float
    z: float
    w: float


class Pose(Protocol):
    """``geometry_msgs/Pose``."""

    @property
    def position(self) -> Vector3:
        """Where [m]."""

    @property
    def orientation(self) -> Quaternion:
        """How it stands."""


class PoseWithCovariance(Protocol):
    """``geometry_msgs/PoseWithCovariance``."""

    @property
    def pose(self) -> Pose:
        """The mean."""


class PoseWithCovarianceStamped(Stamped, Protocol):
    """``geometry_msgs/PoseWithCovarianceStamped``."""

    @property
    def pose(self) -> PoseWithCovariance:
        """The pose."""


class JointState(Stamped, Protocol):
    """``sensor_msgs/JointState``."""

    name: list[str]
    position: Sequence[float]
    velocity: Sequence[float]


class TransformStamped(Stamped, Protocol):
    """``geometry_msgs/TransformStamped``."""

    child_frame_id: str


class Clock(Protocol):
    """``rosgraph_msgs/Clock``."""

    @property
    def clock(self) -> Stamp:
        """The time."""
