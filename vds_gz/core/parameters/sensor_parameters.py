"""Parameters of a vehicle's sensors, one group per type.

In a parameter file, a sensor has a name of the user's choice, ``sensors.<name>.<parameter>``; the parameter ``type``
selects the group:

    sensors:
      lidar1: {type: velodyne_vlp16, xyz: [0.5, 0.0, 0.7], rate: 10.0}
"""

from __future__ import annotations

import math
from dataclasses import Field, dataclass, fields
from typing import Any, ClassVar, NamedTuple, Protocol

from vds_gz.core import files
from vds_gz.core.parameters.declaration import (
    ParameterError,
    ParameterGroup,
    choice,
    flag,
    integer,
    real,
    reals,
    text,
)

#: The types of fix.
FIX_TYPES = ("fix", "float", "rtk", "none")


class FixRegion(NamedTuple):
    """A box of unlimited height in the world's axes [m], and the type of fix in it."""

    fix_type: str
    x_min: float
    y_min: float
    x_max: float
    y_max: float

    def contains(self, x: float, y: float) -> bool:
        """Whether a point [m] is in the box."""
        return self.x_min <= x <= self.x_max and self.y_min <= y <= self.y_max


def fix_regions(text: str) -> tuple[FixRegion, ...]:
    """The regions of the parameter ``regions``."""
    return tuple(_region(words.split()) for words in text.split(";") if words.strip())


def _region(words: list[str]) -> FixRegion:
    try:
        fix_type, (x_min, y_min, x_max, y_max) = words[0], map(files.number, words[1:])
    except ValueError:
        fix_type, x_min, y_min, x_max, y_max = "", 0.0, 0.0, 0.0, 0.0
    # also true for NaN
    if fix_type not in FIX_TYPES or not (x_min < x_max and y_min < y_max):
        known = ", ".join(FIX_TYPES)
        raise ParameterError(
            f"parameter 'regions' has '{' '.join(words)}'; each region must be one of {known}, then x_min, y_min, "
            "x_max, y_max in metres, each maximum greater than its minimum"
        )
    return FixRegion(fix_type, x_min, y_min, x_max, y_max)


#: Maximum numbers of rows, of rays or columns, and of pixels along an axis of a sensor, which bound memory.
MOST_ROWS, MOST_RAYS, MOST_PIXELS = 512, 65_536, 8192


class SensorParameters(Protocol):
    """The parameters of every sensor."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def type(self) -> str:
        """The type of the sensor."""

    @property
    def rate(self) -> float:
        """Measurements per second [Hz]."""


def kind(name: str) -> str:
    """The parameter for the type of a sensor."""
    return text(name, "type of the sensor")


def place(x: float, y: float, z: float) -> tuple[float, float, float]:
    """The parameter for the position of a sensor."""
    return reals((x, y, z), "m", "position in base_link")


def straight() -> tuple[float, float, float]:
    """The parameter for the orientation of a sensor."""
    return reals((0.0, 0.0, 0.0), "rad", "roll, pitch and yaw in base_link")


def rate(default: float) -> float:
    """The parameter for the rate of a sensor."""
    return real(default, "Hz", "measurements per second", positive=True, maximum=1000.0)


def scan_rate(default: float) -> float:
    """The parameter for the rate of a lidar; from its minimum on, an Ouster's times [ns] fit into 32 bits."""
    return real(default, "Hz", "scans per second", minimum=0.25, maximum=1000.0)


def min_range(default: float) -> float:
    """The parameter for the minimum range of a lidar."""
    return real(default, "m", "minimum range; nearer things are invisible", positive=True)


def max_range(default: float) -> float:
    """The parameter for the maximum range of a lidar."""
    return real(default, "m", "maximum range; farther things are invisible", positive=True)


def rows(default: int) -> int:
    """The parameter for the number of rings of a lidar."""
    return integer(default, "rings, one above the other; a single one is level", minimum=1, maximum=MOST_ROWS)


def vertical_fov(degrees: float) -> float:
    """The parameter for the vertical field of view of a lidar."""
    doc = "vertical field of view, from the lowest to the highest ring"
    return real(math.radians(degrees), "rad", doc, minimum=0.0, maximum=math.pi)


def field_of_view(default: float) -> float:
    """The parameter for the field of view of a scanner in one plane."""
    return real(default, "rad", "field of view, centred ahead", positive=True, maximum=2.0 * math.pi)


def range_noise(default: float) -> float:
    """The parameter for the noise of a lidar."""
    return noise(default, "m", "standard deviation of a range")


def noise(default: float, unit: str, doc: str) -> float:
    """A parameter for the standard deviation or the density of a noise."""
    return real(default, unit, doc, minimum=0.0)


def bias(unit: str) -> float:
    """A parameter for a constant bias."""
    doc = "mean magnitude of each axis' constant bias; its sign is random"
    return real(0.0, unit, doc)


def correlation_time(default: float, doc: str) -> float:
    """A parameter for the time constant of a Gauss-Markov process."""
    return real(default, "s", doc, minimum=1e-6, maximum=1e9)


def _rising(low_name: str, low: float, high_name: str, high: float) -> None:
    if low >= high:
        raise ParameterError(f"parameter '{low_name}' is {low:g}; it must be less than {high_name}, {high:g} [m]")


@dataclass(frozen=True, slots=True)
class Lidar(ParameterGroup):
    """The parameters of all lidars."""

    xyz: tuple[float, float, float] = place(0.5, 0.0, 0.7)
    rpy: tuple[float, float, float] = straight()
    rate: float = scan_rate(10.0)
    std_noise: float = range_noise(0.005)
    min_range: float = min_range(0.2)
    max_range: float = max_range(110.0)
    layout: str = choice(
        "gazebo",
        ("gazebo", "driver"),
        "message layout: Gazebo's, all points at one time, or that of the device's driver, each point with its time",
    )

    def check_together(self) -> None:
        """Refuse a minimum range that is not less than the maximum."""
        _rising("min_range", self.min_range, "max_range", self.max_range)


@dataclass(frozen=True, slots=True)
class Helios26(Lidar):
    """A HELIOS 32 with rows from -16 to 10 degrees, dense about the horizon."""

    type: str = kind("helios_32_fov_26")


@dataclass(frozen=True, slots=True)
class Helios31(Lidar):
    """A HELIOS 32 with rows from -16 to 15 degrees, evenly spaced."""

    type: str = kind("helios_32_fov_31")


@dataclass(frozen=True, slots=True)
class Helios70(Lidar):
    """A HELIOS 32 with rows from -55 to 15 degrees, dense about the horizon."""

    type: str = kind("helios_32_fov_70")


@dataclass(frozen=True, slots=True)
class OusterOs1(Lidar):
    """An Ouster OS1."""

    min_range: float = min_range(0.5)
    max_range: float = max_range(90.0)
    type: str = kind("ouster_os1")
    columns: int = integer(1024, "columns of a scan; the device has 512, 1024 or 2048", minimum=2, maximum=MOST_RAYS)
    rows: int = rows(128)
    vertical_fov: float = vertical_fov(22.5)


@dataclass(frozen=True, slots=True)
class VelodyneVlp16(Lidar):
    """A Velodyne VLP-16."""

    min_range: float = min_range(0.1)
    max_range: float = max_range(80.0)
    type: str = kind("velodyne_vlp16")
    rows: int = rows(16)
    vertical_fov: float = vertical_fov(30.0)


@dataclass(frozen=True, slots=True)
class Lidar2d(Lidar):
    """A laser scanner in one plane."""

    xyz: tuple[float, float, float] = place(1.8, 0.0, 0.7)
    rate: float = scan_rate(20.0)
    std_noise: float = range_noise(0.01)
    min_range: float = min_range(0.05)
    max_range: float = max_range(30.0)
    type: str = kind("lidar2d")
    fov: float = field_of_view(math.pi)
    rays: int = integer(181, "rays of a scan", minimum=2, maximum=MOST_RAYS)


@dataclass(frozen=True, slots=True)
class RplidarA2(Lidar):
    """An RPLIDAR A2, which scans in one plane, by default all around."""

    xyz: tuple[float, float, float] = place(1.8, 0.0, 0.7)
    std_noise: float = range_noise(0.01)
    min_range: float = min_range(0.05)
    max_range: float = max_range(16.0)
    type: str = kind("rplidar_a2")
    fov: float = field_of_view(2.0 * math.pi)


@dataclass(frozen=True, slots=True)
class Imu(ParameterGroup):
    """An inertial measurement unit with white noise and with biases that have a random walk, also by kalibr's names."""

    type: str = kind("imu")
    xyz: tuple[float, float, float] = place(0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = straight()
    rate: float = rate(20.0)
    angular_velocity_white_noise: float = noise(2e-4, "rad/s", "standard deviation of a sample")
    linear_acceleration_white_noise: float = noise(0.017, "m/s^2", "standard deviation of a sample")
    angular_velocity_random_walk: float = noise(0.0, "rad/s/sqrt(s)", "random walk of the gyroscope's biases")
    linear_acceleration_random_walk: float = noise(0.0, "m/s^2/sqrt(s)", "random walk of the accelerometer's biases")
    gyroscope_noise_density: float = noise(
        0.0, "rad/s/sqrt(Hz)", "as in kalibr, in place of angular_velocity_white_noise"
    )
    accelerometer_noise_density: float = noise(
        0.0, "m/s^2/sqrt(Hz)", "as in kalibr, in place of linear_acceleration_white_noise"
    )
    gyroscope_random_walk: float = noise(
        0.0, "rad/s^2/sqrt(Hz)", "as in kalibr, in place of angular_velocity_random_walk"
    )
    accelerometer_random_walk: float = noise(
        0.0, "m/s^3/sqrt(Hz)", "as in kalibr, in place of linear_acceleration_random_walk"
    )
    angular_velocity_bias: float = bias("rad/s")
    angular_velocity_bias_stddev: float = noise(0.0, "rad/s", "standard deviation of that magnitude")
    linear_acceleration_bias: float = bias("m/s^2")
    linear_acceleration_bias_stddev: float = noise(0.0, "m/s^2", "standard deviation of that magnitude")
    bias_correlation_time: float = correlation_time(1e9, "correlation time of the random walk of the biases")
    measure_orientation: bool = flag(False, "measure the orientation too, without noise")
    orientation_reference_frame: str = choice(
        "ENU",
        ("ENU", "NED", "NWU", "start"),
        "frame of the measured orientation: ENU as in REP 145, others as in SDF, or the orientation at the start",
    )

    def check_together(self) -> None:
        """Refuse a noise that is given in both forms."""
        defaults = {item.name: item.default for item in fields(self)}
        for kalibr, ours in _SPELLINGS.items():
            if (density := getattr(self, kalibr)) and (value := getattr(self, ours)) != defaults[ours]:
                raise ParameterError(
                    f"parameters '{kalibr}' and '{ours}' are {density:g} and {value:g}; they mean the same noise, so "
                    "only one of them may be given"
                )


#: Kalibr's parameters of an IMU, and those that they replace.
_SPELLINGS = {
    "gyroscope_noise_density": "angular_velocity_white_noise",
    "accelerometer_noise_density": "linear_acceleration_white_noise",
    "gyroscope_random_walk": "angular_velocity_random_walk",
    "accelerometer_random_walk": "linear_acceleration_random_walk",
}


@dataclass(frozen=True, slots=True)
class Camera(ParameterGroup):
    """A colour camera without distortion that looks along the x axis."""

    type: str = kind("camera")
    xyz: tuple[float, float, float] = place(0.65, 0.0, 1.0)
    rpy: tuple[float, float, float] = straight()
    rate: float = rate(10.0)
    columns: int = integer(640, "width of the image in pixels", minimum=1, maximum=MOST_PIXELS)
    rows: int = integer(480, "height of the image in pixels", minimum=1, maximum=MOST_PIXELS)
    fx: float = real(400.0, "pixel", "horizontal focal length", minimum=1e-3)
    fy: float = real(400.0, "pixel", "vertical focal length", minimum=1e-3)
    cx: float = real(320.0, "pixel", "column of the principal point")
    cy: float = real(240.0, "pixel", "row of the principal point")
    clip_min: float = real(0.01, "m", "near clipping plane", positive=True)
    clip_max: float = real(1e4, "m", "far clipping plane", positive=True)

    def check_together(self) -> None:
        """Refuse a near clipping plane that is not nearer than the far one."""
        _rising("clip_min", self.clip_min, "clip_max", self.clip_max)


@dataclass(frozen=True, slots=True)
class RgbdCamera(Camera):
    """A camera for colour and depth."""

    type: str = kind("rgbd_camera")
    depth_clip_min: float = real(0.01, "m", "minimum depth; nearer points have none", positive=True)
    depth_clip_max: float = real(15.0, "m", "maximum depth; farther points have none", positive=True)

    def check_together(self) -> None:
        """Refuse clipping planes and depths whose minimum is not less than the maximum."""
        Camera.check_together(self)
        _rising("depth_clip_min", self.depth_clip_min, "depth_clip_max", self.depth_clip_max)


@dataclass(frozen=True, slots=True)
class Gnss(ParameterGroup):
    """A satellite navigation receiver. The world gives its place on Earth. Gazebo simulates only white noise."""

    type: str = kind("gnss")
    xyz: tuple[float, float, float] = place(0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = straight()
    rate: float = rate(1.0)
    horizontal_std_noise: float = noise(2.0, "m", "standard deviation to the north and to the east")
    vertical_std_noise: float = noise(4.0, "m", "standard deviation of the height")
    layout: str = choice(
        "gazebo",
        ("gazebo", "driver"),
        "gazebo: as Gazebo's receiver, whose noise to the east shrinks with the cosine of the latitude; driver: with "
        "covariance",
    )
    fix_type: str = choice("fix", FIX_TYPES, "type of fix outside of regions")
    float_horizontal_std_noise: float = noise(0.3, "m", "horizontal_std_noise while the fix is float")
    float_vertical_std_noise: float = noise(0.5, "m", "vertical_std_noise while the fix is float")
    rtk_horizontal_std_noise: float = noise(0.01, "m", "horizontal_std_noise while the fix is rtk")
    rtk_vertical_std_noise: float = noise(0.02, "m", "vertical_std_noise while the fix is rtk")
    correlated_horizontal_std: float = noise(
        0.0, "m", "standard deviation of a Gauss-Markov error, to the north and east"
    )
    correlated_vertical_std: float = noise(0.0, "m", "standard deviation of a Gauss-Markov error of the height")
    correlation_time: float = correlation_time(300.0, "correlation time of these errors")
    regions: str = text(
        "",
        "boxes in the world with their type of fix: 'none x_min y_min x_max y_max; float ...' [m]; the first counts",
    )

    def check_together(self) -> None:
        """Refuse invalid regions."""
        fix_regions(self.regions)


#: Lidars with one row, and those with several.
PlanarLidar = Lidar2d | RplidarA2
SpinningLidar = Helios26 | Helios31 | Helios70 | OusterOs1 | VelodyneVlp16
