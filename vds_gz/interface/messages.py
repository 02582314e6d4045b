"""Protocols of the messages used here, with the fields used here; each kind of graph has its own classes for them."""

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
    stamp: Stamp  #: When


class Stamped(Protocol):
    """A message with a header."""

    header: Header  #: When, and in which frame


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

    position: Vector3  #: Where [m]
    orientation: Quaternion  #: How it stands


class PoseWithCovariance(Protocol):
    """``geometry_msgs/PoseWithCovariance``."""

    pose: Pose  #: The mean

    covariance: Sequence[float]


class PoseWithCovarianceStamped(Stamped, Protocol):
    """``geometry_msgs/PoseWithCovarianceStamped``."""

    pose: PoseWithCovariance  #: The pose


class JointState(Stamped, Protocol):
    """``sensor_msgs/JointState``."""

    name: list[str]
    position: Sequence[float]
    velocity: Sequence[float]


class Transform(Protocol):
    """``geometry_msgs/Transform``."""

    translation: Vector3  #: Where the child's origin is [m]
    rotation: Quaternion  #: How the child is turned


class TransformStamped(Stamped, Protocol):
    """``geometry_msgs/TransformStamped``."""

    child_frame_id: str
    transform: Transform  #: From the child's frame to the header's


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
    pose: Pose  #: Where it is
    scale: Vector3  #: Its extent along its own axes [m]
    color: ColorRGBA  #: Its colour


class Entity(Protocol):
    """``ros_gz_interfaces/Entity``."""

    name: str


class Contact(Protocol):
    """``ros_gz_interfaces/Contact``."""

    positions: Sequence[Vector3]
    collision2: Entity  #: What is touched


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

    clock: Stamp  #: The time


class Twist(Protocol):
    """``geometry_msgs/Twist``."""

    linear: Vector3  #: Velocity [m/s]
    angular: Vector3  #: Rates about the axes [rad/s]


class TwistWithCovariance(Protocol):
    """``geometry_msgs/TwistWithCovariance``."""

    twist: Twist  #: The mean


class Odometry(PoseWithCovarianceStamped, Protocol):
    """``nav_msgs/Odometry``."""

    child_frame_id: str
    twist: TwistWithCovariance  #: The velocity


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
    k: MutableSequence[float]  #: Intrinsic matrix, 3 x 3
    r: MutableSequence[float]  #: Rectification matrix, 3 x 3
    p: MutableSequence[float]  #: Projection matrix, 3 x 4


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
    values: Sequence[KeyValue]  #: Details


class DiagnosticArray(Stamped, Protocol):
    """``diagnostic_msgs/DiagnosticArray``."""

    status: Sequence[DiagnosticStatus]  #: One for each part
