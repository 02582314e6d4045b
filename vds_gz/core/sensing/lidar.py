"""What all lidars have in common: parameters, the grid of rays, ranges with noise, and motion during a scan.

A lidar has rows, one above the other, and columns, which it measures one after the other as it turns. As in Gazebo,
rays begin at the minimum range and see through what is nearer. A range with its noise is clamp(range + N(0, s), minimum
range, maximum range); rays without a hit return +inf (gz-sensors 8, Lidar.cc).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array, Floats, Integers
from vds_gz.core.parameters.declaration import ParameterGroup, choice, real
from vds_gz.core.parameters.sensor_parameters import check_rising, noise, parent, place, straight
from vds_gz.core.ros.graph import QoS
from vds_gz.core.sensing.body import BodyState, FramePose, mounted, placement, placements
from vds_gz.core.sensing.noise import SampleNoise, sample_number
from vds_gz.core.sensing.sensor import SensorSetup, Stream
from vds_gz.core.world.scene import Scene

#: Maximum number of rays or columns of a lidar, which bounds memory.
MOST_RAYS = 65_536

_TURN = 2.0 * math.pi - 1e-6  # a fan counts as a full turn if it lacks at most this [rad]


def scan_rate(default: float) -> float:
    """The parameter for the rate of a lidar; from its minimum on, an Ouster's times [ns] fit into 32 bits."""
    return real(default, "Hz", "scans per second", minimum=0.25, maximum=1000.0)


def min_range(default: float) -> float:
    """The parameter for the minimum range of a lidar."""
    return real(default, "m", "minimum range; nearer things are invisible", positive=True)


def max_range(default: float) -> float:
    """The parameter for the maximum range of a lidar."""
    return real(default, "m", "maximum range; farther things are invisible", positive=True)


def range_noise(default: float) -> float:
    """The parameter for the noise of a lidar."""
    return noise(default, "m", "standard deviation of a range")


@dataclass(frozen=True, eq=False, slots=True)
class RayGrid:
    """The rays of a lidar: one for each column and row."""

    azimuths: Array  # of the columns, counter-clockwise from ahead [rad]
    elevations: Array  # of the rows, up from the horizon [rad]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of columns and rows."""
        return len(self.azimuths), len(self.elevations)

    def directions(self) -> Array:
        """Unit vectors in the sensor's frame, of shape (columns, rows, 3)."""
        azimuth, elevation = self.azimuths[:, None], self.elevations[None, :]
        x, y = np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth)
        return np.stack([x, y, np.broadcast_to(np.sin(elevation), x.shape)], axis=-1)


def gazebo_azimuths(fov: float, columns: int) -> Array:
    """Azimuths of a model in Gazebo [rad], counter-clockwise from the lowest one, over a field of view [rad]."""
    last = 0.5 * fov if fov < _TURN else 0.5 * fov - fov / columns
    return np.linspace(-0.5 * fov, last, columns)


@dataclass(frozen=True, slots=True)
class Lidar(ParameterGroup):
    """The parameters that all lidars have; a derived class adds the rays."""

    parent: str = parent()
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
        check_rising("min_range", self.min_range, "max_range", self.max_range)

    def gazebo_grid(self) -> RayGrid:
        """The rays of the model in Gazebo: columns counter-clockwise from the lowest azimuth, rows from the lowest."""
        raise NotImplementedError

    def driver_grid(self) -> RayGrid:
        """The rays of the device, in the order in which its driver reports them."""
        raise NotImplementedError


class Echoes(NamedTuple):
    """Results of a lidar's scan, each of shape (columns, rows)."""

    ranges: Floats  # [m]; infinite without a hit
    retro: Floats  # retro-reflectivities; 0 without a hit


class RangeFinder:
    """The rays of a lidar.

    Attributes:
        directions: Unit vectors in the sensor's frame, of shape (columns, rows, 3).
    """

    def __init__(self, sensor: Lidar, grid: RayGrid) -> None:
        self._sensor = sensor
        self._shape = grid.shape
        self.directions = grid.directions()
        self._turned = np.empty_like(self.directions)

    def measure(self, scene: Scene | None, T_map_sensor: FramePose, random: np.random.Generator) -> Echoes:
        """Measure from one pose, or from one for each column."""
        if scene is None:
            return Echoes(np.full(self._shape, np.inf, np.float32), np.zeros(self._shape, np.float32))
        low, high = self._sensor.min_range, self._sensor.max_range
        rays = np.matmul(self.directions, T_map_sensor.rotation.swapaxes(-2, -1), out=self._turned).reshape(-1, 3)
        origins = np.atleast_2d(T_map_sensor.position)
        if len(origins) > 1:
            origins = np.repeat(origins, self._shape[1], axis=0)
        ranges, shapes = _between(low, high, scene, origins, rays)
        measured = noisy(ranges, self._sensor.std_noise, low, high, random)
        retro = scene.visuals.retro(shapes).astype(np.float32)
        return Echoes(measured.reshape(self._shape), retro.reshape(self._shape))


def _between(low: float, high: float, scene: Scene, origins: Array, rays: Array) -> tuple[Array, Integers]:
    """Ranges and shapes of hits between two ranges [m]; rays with a nearer hit are cast again from ``low``."""
    ranges, shapes = scene.visuals.cast(origins, rays, high)
    near = np.flatnonzero(ranges < low)
    if len(near):
        begin = origins[near if len(origins) > 1 else [0]] + low * rays[near]
        beyond, shapes[near] = scene.visuals.cast(begin, rays[near], high - low)
        ranges[near] = low + beyond
    return ranges, shapes


def noisy(ranges: Array, deviation: float, low: float, high: float, random: np.random.Generator) -> Floats:
    """Ranges with noise, clamped to two bounds [m]; infinite ranges stay infinite."""
    measured = random.standard_normal(ranges.shape, np.float32) if deviation else np.zeros(ranges.shape, np.float32)
    measured *= np.float32(deviation)
    np.add(measured, ranges, out=measured, casting="same_kind")
    np.clip(measured, low, high, out=measured)
    measured[ranges == np.inf] = np.inf  # far cheaper than clipping only finite ranges
    return measured


class LidarModel:
    """A lidar whose columns are measured all at once, as in Gazebo, or one after the other, as on the device.

    Attributes:
        grid: Its rays.
        directions: Their unit vectors in the sensor's frame, of shape (columns, rows, 3).
        span: Time from the first column to the last one [ns]; 0 if all are measured at once.
    """

    def __init__(self, name: str, sensor: Lidar, seed: int) -> None:
        rotates = sensor.layout == "driver"
        self.grid = sensor.driver_grid() if rotates else sensor.gazebo_grid()
        azimuths = self.grid.azimuths
        # The lidar turns once per scan, even if its field of view is only a part of the turn.
        swept = abs(float(azimuths[-1] - azimuths[0])) / (2.0 * math.pi)
        self.span = round(1e9 * swept / sensor.rate) if rotates else 0
        self._before_last = np.round(np.linspace(self.span, 0.0, len(azimuths))).astype(np.int64)
        self._rate = sensor.rate
        self._T_base_sensor = mounted(sensor.xyz, sensor.rpy)
        self._finder = RangeFinder(sensor, self.grid)
        self.directions = self._finder.directions
        self._noise = SampleNoise(seed, name)

    @property
    def rays(self) -> int:
        """Number of rays of a scan."""
        return self.directions.size // 3

    def column_times(self, time: int) -> Integers:
        """Times at which the columns are measured [ns], the last one at ``time``."""
        return time - self._before_last

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> Echoes:
        """The echoes of the scan that ends now."""
        now = states[-1]
        T_map_base = placements(states, self.column_times(now.time)) if self.span else placement(now.pose)
        random = self._noise.generator(sample_number(now.time, self._rate))
        return self._finder.measure(scene, T_map_base.then(self._T_base_sensor), random)


class LidarOutput:
    """A lidar and its topic; ``publish`` sends the echoes of a turn between two times [ns]. Base class."""

    def __init__(self, setup: SensorSetup, stream: Stream, qos: QoS | None = None) -> None:
        sensor = setup.parameters
        assert isinstance(sensor, Lidar)
        self._lidar = LidarModel(setup.name, sensor, setup.seed)
        self.rate, self.rays, self.span = sensor.rate, self._lidar.rays, self._lidar.span
        self._publisher = setup.publisher(stream, qos)

    @property
    def subscribed(self) -> bool:
        """Whether there are subscribers."""
        return self._publisher.subscription_count() > 0

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> None:
        """Measure and publish a turn, if there are subscribers and it did not begin before time 0."""
        now = states[-1].time
        if self.subscribed and now >= self.span:
            self.publish(self._lidar.measure(states, scene), now - self.span, now)

    def publish(self, echoes: Echoes, first: int, last: int) -> None:
        """Send the echoes."""
        raise NotImplementedError
