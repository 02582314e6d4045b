"""Parameters of the sensors that a vehicle may carry, one group a type.

In a parameter file they stand under the names that the user gives them, ``sensors.<name>.<parameter>``, and the
parameter ``type`` says which of these groups it is:

    sensors:
      lidar1: {type: velodyne_vlp16, xyz: [0.5, 0.0, 0.7], rate: 10.0}
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from difflib import get_close_matches

from vds_gz.parameters.declaration import ParameterError, ParameterGroup, choice, flag, integer, real, reals, text
from vds_gz.parameters.fix_regions import FIX_TYPES, fix_regions
from vds_gz.parameters.override import Override

#: The parameter that they are members of.
GROUP = "sensors"


def kind(name: str) -> str:
    """The parameter that says what a sensor is."""
    return text(name, "what it is")


def place(x: float, y: float, z: float) -> tuple[float, float, float]:
    """Where a sensor is."""
    return reals((x, y, z), "m", "place in base_link")


def straight() -> tuple[float, float, float]:
    """Which way a sensor looks."""
    return reals((0.0, 0.0, 0.0), "rad", "roll, pitch and yaw in base_link")


def rate(default: float) -> float:
    """How often a sensor measures."""
    return real(default, "Hz", "measurements per second", positive=True, maximum=1000.0)


def noise(default: float) -> float:
    """The noise of a range finder."""
    return real(default, "m", "standard deviation of a range", minimum=0.0)


def layout() -> str:
    """Whose messages a lidar sends."""
    return choice(
        "gazebo",
        ("gazebo", "driver"),
        "whose messages: Gazebo's, all points at one time, or those of the device's driver, each point with its time",
    )


def _rising(low_name: str, low: float, high_name: str, high: float) -> None:
    if low >= high:
        raise ParameterError(f"parameter '{low_name}' is {low:g}; it must be less than {high_name}, {high:g} [m]")


@dataclass(frozen=True, slots=True)
class Lidar(ParameterGroup):
    """What all range finders have."""

    xyz: tuple[float, float, float] = place(0.5, 0.0, 0.7)
    rpy: tuple[float, float, float] = straight()
    rate: float = rate(10.0)
    std_noise: float = noise(0.005)
    min_range: float = real(0.2, "m", "what is nearer is not seen", positive=True)
    max_range: float = real(110.0, "m", "what is farther is not seen", positive=True)
    layout: str = layout()

    def check_together(self) -> None:
        """Refuse what does not fit together."""
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

    min_range: float = real(0.5, "m", "what is nearer is not seen", positive=True)
    max_range: float = real(90.0, "m", "what is farther is not seen", positive=True)
    type: str = kind("ouster_os1")
    columns: int = integer(1024, "points in a turn: 512, 1024 or 2048", minimum=2)
    rows: int = integer(128, "points on top of each other", minimum=1)
    vertical_fov: float = real(
        math.radians(22.5), "rad", "between the lowest and the highest row", minimum=0.0, maximum=math.pi
    )


@dataclass(frozen=True, slots=True)
class VelodyneVlp16(Lidar):
    """A Velodyne VLP-16."""

    min_range: float = real(0.1, "m", "what is nearer is not seen", positive=True)
    max_range: float = real(80.0, "m", "what is farther is not seen", positive=True)
    type: str = kind("velodyne_vlp16")
    rows: int = integer(16, "points on top of each other", minimum=1)
    vertical_fov: float = real(
        math.radians(30.0), "rad", "between the lowest and the highest row", minimum=0.0, maximum=math.pi
    )


@dataclass(frozen=True, slots=True)
class Lidar2d(Lidar):
    """A laser scanner in one plane."""

    xyz: tuple[float, float, float] = place(1.8, 0.0, 0.7)
    rate: float = rate(20.0)
    std_noise: float = noise(0.01)
    min_range: float = real(0.05, "m", "what is nearer is not seen", positive=True)
    max_range: float = real(30.0, "m", "what is farther is not seen", positive=True)
    type: str = kind("lidar2d")
    fov: float = real(math.pi, "rad", "angle of the fan, its middle ahead", positive=True, maximum=2.0 * math.pi)
    rays: int = integer(181, "rays of a scan", minimum=2)


@dataclass(frozen=True, slots=True)
class RplidarA2(Lidar):
    """An RPLIDAR A2, which looks all around in one plane."""

    xyz: tuple[float, float, float] = place(1.8, 0.0, 0.7)
    std_noise: float = noise(0.01)
    min_range: float = real(0.05, "m", "what is nearer is not seen", positive=True)
    max_range: float = real(16.0, "m", "what is farther is not seen", positive=True)
    type: str = kind("rplidar_a2")
    fov: float = real(2.0 * math.pi, "rad", "angle of the fan, its middle ahead", positive=True, maximum=2.0 * math.pi)


@dataclass(frozen=True, slots=True)
class Imu(ParameterGroup):
    """An inertial measurement unit: white noise, and biases that walk at random. Kalibr's names serve as well."""

    type: str = kind("imu")
    xyz: tuple[float, float, float] = place(0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = straight()
    rate: float = rate(20.0)
    angular_velocity_white_noise: float = real(2e-4, "rad/s", "standard deviation of a sample", minimum=0.0)
    linear_acceleration_white_noise: float = real(0.017, "m/s^2", "standard deviation of a sample", minimum=0.0)
    angular_velocity_random_walk: float = real(0.0, "rad/s/sqrt(s)", "how fast the biases walk", minimum=0.0)
    linear_acceleration_random_walk: float = real(0.0, "m/s^2/sqrt(s)", "how fast the biases walk", minimum=0.0)
    gyroscope_noise_density: float = real(
        0.0, "rad/s/sqrt(Hz)", "as in kalibr, in place of angular_velocity_white_noise", minimum=0.0
    )
    accelerometer_noise_density: float = real(
        0.0, "m/s^2/sqrt(Hz)", "as in kalibr, in place of linear_acceleration_white_noise", minimum=0.0
    )
    gyroscope_random_walk: float = real(
        0.0, "rad/s^2/sqrt(Hz)", "as in kalibr, in place of angular_velocity_random_walk", minimum=0.0
    )
    accelerometer_random_walk: float = real(
        0.0, "m/s^3/sqrt(Hz)", "as in kalibr, in place of linear_acceleration_random_walk", minimum=0.0
    )
    angular_velocity_bias: float = real(0.0, "rad/s", "mean bias of each axis at the start; its sign is random")
    angular_velocity_bias_stddev: float = real(0.0, "rad/s", "standard deviation of that bias", minimum=0.0)
    linear_acceleration_bias: float = real(0.0, "m/s^2", "mean bias of each axis at the start; its sign is random")
    linear_acceleration_bias_stddev: float = real(0.0, "m/s^2", "standard deviation of that bias", minimum=0.0)
    bias_correlation_time: float = real(1e9, "s", "time in which a bias is forgotten", positive=True)
    measure_orientation: bool = flag(False, "it measures the orientation too, without noise")

    def check_together(self) -> None:
        """Refuse a noise that is given in both spellings."""
        for kalibr, ours in _SPELLINGS.items():
            if (density := getattr(self, kalibr)) and (value := getattr(self, ours)) != _default(Imu, ours):
                raise ParameterError(
                    f"parameters '{kalibr}' and '{ours}' are {density:g} and {value:g}; they mean the same noise, so "
                    "only one of them may be given"
                )


#: Kalibr's parameters of an IMU, and those that they take the place of.
_SPELLINGS = {
    "gyroscope_noise_density": "angular_velocity_white_noise",
    "accelerometer_noise_density": "linear_acceleration_white_noise",
    "gyroscope_random_walk": "angular_velocity_random_walk",
    "accelerometer_random_walk": "linear_acceleration_random_walk",
}


def _default(group: type[Imu], name: str) -> object:
    return next(item.default for item in fields(group) if item.name == name)


@dataclass(frozen=True, slots=True)
class Camera(ParameterGroup):
    """A colour camera without distortion; it looks along the x axis."""

    type: str = kind("camera")
    xyz: tuple[float, float, float] = place(0.65, 0.0, 1.0)
    rpy: tuple[float, float, float] = straight()
    rate: float = rate(10.0)
    columns: int = integer(640, "width of the image in pixels", minimum=1)
    rows: int = integer(480, "height of the image in pixels", minimum=1)
    fx: float = real(400.0, "pixel", "horizontal focal length", positive=True)
    fy: float = real(400.0, "pixel", "vertical focal length", positive=True)
    cx: float = real(320.0, "pixel", "column of the optical axis")
    cy: float = real(240.0, "pixel", "row of the optical axis")
    clip_min: float = real(0.01, "m", "what is nearer is not seen", positive=True)
    clip_max: float = real(1e4, "m", "what is farther is not seen", positive=True)

    def check_together(self) -> None:
        """Refuse what does not fit together."""
        _rising("clip_min", self.clip_min, "clip_max", self.clip_max)


@dataclass(frozen=True, slots=True)
class RgbdCamera(Camera):
    """A camera for colour and depth."""

    type: str = kind("rgbd_camera")
    depth_clip_min: float = real(0.01, "m", "what is nearer has no depth", positive=True)
    depth_clip_max: float = real(15.0, "m", "what is farther has no depth", positive=True)

    def check_together(self) -> None:
        """Refuse what does not fit together."""
        Camera.check_together(self)
        _rising("depth_clip_min", self.depth_clip_min, "depth_clip_max", self.depth_clip_max)


@dataclass(frozen=True, slots=True)
class Gnss(ParameterGroup):
    """A satellite navigation receiver. The world says where on Earth it is. Gazebo knows the white noise only."""

    type: str = kind("gnss")
    xyz: tuple[float, float, float] = place(0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = straight()
    rate: float = rate(1.0)
    horizontal_std_noise: float = real(2.0, "m", "standard deviation to the north and to the east", minimum=0.0)
    vertical_std_noise: float = real(4.0, "m", "standard deviation of the height", minimum=0.0)
    layout: str = choice(
        "gazebo",
        ("gazebo", "driver"),
        "gazebo: as Gazebo's receiver, whose noise to the east shrinks with the cosine of the latitude; driver: with "
        "covariance",
    )
    fix_type: str = choice("fix", FIX_TYPES, "where regions say nothing else")
    float_horizontal_std_noise: float = real(0.3, "m", "horizontal_std_noise while the fix is float", minimum=0.0)
    float_vertical_std_noise: float = real(0.5, "m", "vertical_std_noise while the fix is float", minimum=0.0)
    rtk_horizontal_std_noise: float = real(0.01, "m", "horizontal_std_noise while the fix is rtk", minimum=0.0)
    rtk_vertical_std_noise: float = real(0.02, "m", "vertical_std_noise while the fix is rtk", minimum=0.0)
    correlated_horizontal_std: float = real(
        0.0, "m", "standard deviation of an error that wanders (Gauss-Markov)", minimum=0.0
    )
    correlated_vertical_std: float = real(0.0, "m", "the same of the height", minimum=0.0)
    correlation_time: float = real(300.0, "s", "time in which that error wanders", positive=True)
    regions: str = text(
        "",
        "fix type or none, and a box in the world: 'none x_min y_min x_max y_max; float ...' [m]; the first counts",
    )

    def check_together(self) -> None:
        """Refuse regions that are none."""
        fix_regions(self.regions)


#: Lidars with one row, and those with several.
PlanarLidar = Lidar2d | RplidarA2
SpinningLidar = Helios26 | Helios31 | Helios70 | OusterOs1 | VelodyneVlp16

#: A sensor of any type.
Sensor = Lidar | Imu | Camera | Gnss

#: All types of sensors, by what ``type`` says.
TYPES: dict[str, type[Sensor]] = {
    group().type: group
    for group in (
        *(Helios26, Helios31, Helios70, OusterOs1, VelodyneVlp16, Lidar2d, RplidarA2),
        *(Imu, Camera, RgbdCamera, Gnss),
    )
}


def sensors_of(overrides: Iterable[Override]) -> dict[str, Sensor]:
    """The sensors that parameters speak of, by their names, in the order in which they appear; all values are defaults.

    Raises:
        ParameterError: One has no type, an unknown one, or a name that is not good for topics and frames.
    """
    origins: dict[str, str] = {}
    types: dict[str, Override] = {}
    for override in overrides:
        if (parts := override.name.split("."))[0] == GROUP and len(parts) == 3:
            origins.setdefault(parts[1], override.origin)
            if parts[2] == "type":
                types[parts[1]] = override
    return {name: _group(name, types.get(name), origin)() for name, origin in origins.items()}


def _group(name: str, override: Override | None, origin: str) -> type[Sensor]:
    """The group of a sensor's type."""
    known = ", ".join(TYPES)
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise ParameterError(
            f"sensor '{name}' ({origin}): its name must be a letter and then letters, digits or '_', as in 'lidar_1'"
        )
    if override is None:
        raise ParameterError(f"sensor '{name}' ({origin}) has no type; '{GROUP}.{name}.type' must be one of {known}")
    if str(override.value) not in TYPES:
        nearest = get_close_matches(str(override.value), TYPES, n=1, cutoff=0.0)[0]
        raise ParameterError(
            f"parameter '{override.name}' is '{override.value}' ({override.origin}); it must be one of {known}; "
            f"the nearest is '{nearest}'"
        )
    return TYPES[str(override.value)]
