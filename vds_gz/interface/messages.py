"""The messages that are read or written here, as far as that goes: both graphs have classes of their own for them."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
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

    covariance: Sequence[float]


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


class Transform(Protocol):
    """``geometry_msgs/Transform``."""

    @property
    def translation(self) -> Vector3:
        """Where the child's origin is [m]."""

    @property
    def rotation(self) -> Quaternion:
        """How the child is turned."""


class TransformStamped(Stamped, Protocol):
    """``geometry_msgs/TransformStamped``."""

    child_frame_id: str

    @property
    def transform(self) -> Transform:
        """From the child's frame to the header's."""


class ColorRGBA(Protocol):
    """``std_msgs/ColorRGBA``."""

    r: float
    g: float
    b: float
    a: float


class Marker(Stamped, Protocol):
    """``visualization_msgs/Marker``."""

    ns: str
    id: int
    type: int
    points: Sequence[Vector3]

    @property
    def pose(self) -> Pose:
        """Where it is."""

    @property
    def scale(self) -> Vector3:
        """Its extent along its own axes [m]."""

    @property
    def color(self) -> ColorRGBA:
        """Its colour."""


class Entity(Protocol):
    """``ros_gz_interfaces/Entity``."""

    name: str


class Contact(Protocol):
    """``ros_gz_interfaces/Contact``."""

    positions: Sequence[Vector3]

    @property
    def collision2(self) -> Entity:
        """What is touched."""


class Contacts(Stamped, Protocol):
    """``ros_gz_interfaces/Contacts``."""

    contacts: Sequence[Contact]


class MarkerArray(Protocol):
    """``visualization_msgs/MarkerArray``."""

    markers: Sequence[Marker]


class TFMessage(Protocol):
    """``tf2_msgs/TFMessage``."""

    transforms: Sequence[TransformStamped]


class Clock(Protocol):
    """``rosgraph_msgs/Clock``."""

    @property
    def clock(self) -> Stamp:
        """The time."""


class Twist(Protocol):
    """``geometry_msgs/Twist``."""

    @property
    def linear(self) -> Vector3:
        """Velocity [m/s]."""

    @property
    def angular(self) -> Vector3:
        """Rates about the axes [rad/s]."""


class TwistWithCovariance(Protocol):
    """``geometry_msgs/TwistWithCovariance``."""

    @property
    def twist(self) -> Twist:
        """The mean."""


class Odometry(PoseWithCovarianceStamped, Protocol):
    """``nav_msgs/Odometry``."""

    child_frame_id: str

    @property
    def twist(self) -> TwistWithCovariance:
        """The velocity."""


class LaserScan(Stamped, Protocol):
    """``sensor_msgs/LaserScan``."""

    angle_min: float
    angle_max: float
    angle_increment: float
    time_increment: float
    scan_time: float
    range_min: float
    range_max: float
    ranges: Sequence[float]
    intensities: Sequence[float]


class PointField(Protocol):
    """``sensor_msgs/PointField``."""

    name: str
    offset: int
    datatype: int
    count: int


class PointCloud2(Stamped, Protocol):
    """``sensor_msgs/PointCloud2``."""

    height: int
    width: int
    fields: Sequence[PointField]
    point_step: int
    row_step: int
    data: Sequence[int]


class Image(Stamped, Protocol):
    """``sensor_msgs/Image``."""

    height: int
    width: int
    encoding: str
    step: int
    data: Sequence[int]


class CameraInfo(Stamped, Protocol):
    """``sensor_msgs/CameraInfo``."""

    height: int
    width: int
    distortion_model: str
    d: Sequence[float]

    @property
    def k(self) -> MutableSequence[float]:
        """Intrinsic matrix, 3 x 3."""

    @property
    def r(self) -> MutableSequence[float]:
        """Rectification matrix, 3 x 3."""

    @property
    def p(self) -> MutableSequence[float]:
        """Projection matrix, 3 x 4."""


class Text(Protocol):
    """``std_msgs/String``."""

    data: str


class KeyValue(Protocol):
    """``diagnostic_msgs/KeyValue``."""

    key: str
    value: str


class DiagnosticStatus(Protocol):
    """``diagnostic_msgs/DiagnosticStatus``; rclpy has the level as a byte."""

    level: int | bytes
    name: str
    message: str

    @property
    def values(self) -> Sequence[KeyValue]:
        """Details."""


class DiagnosticArray(Stamped, Protocol):
    """``diagnostic_msgs/DiagnosticArray``."""

    @property
    def status(self) -> Sequence[DiagnosticStatus]:
        """One for each part."""
