"""A lidar: the grid of its rays, their ranges, its noise, and its motion during a scan.

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
from numpy.typing import NDArray

from vds_gz.core.arrays import Array, Floats, Integers
from vds_gz.core.parameters.sensor_parameters import (
    Helios26,
    Helios31,
    Helios70,
    Lidar,
    Lidar2d,
    OusterOs1,
    PlanarLidar,
    RplidarA2,
    VelodyneVlp16,
)
from vds_gz.core.sensing.body import BodyState, FramePose, mounted, placement, placements
from vds_gz.core.sensing.noise import SampleNoise, sample_number
from vds_gz.core.world.scene import Scene

FIRING = 55.296e-6  # time between two firings of a VLP-16 or a HELIOS [s]
MEASUREMENT = 125e-6  # time between two measurements of an RPLIDAR A2 [s]

_TURN = 2.0 * math.pi - 1e-6  # a fan counts as a full turn if it lacks at most this [rad]

#: Bands of evenly spaced rows of the HELIOS 32: bottom, top [degrees] and number of rows, as in models/sensors.
_BANDS: dict[type[Lidar], tuple[tuple[float, float, int], ...]] = {
    Helios26: ((-16.0, -13.0, 3), (-12.5, -8.0, 4), (-7.0, 3.5, 22), (6.0, 10.0, 3)),
    Helios31: ((-16.0, 15.0, 32),),
    Helios70: ((-55.02, -8.0, 17), (-6.667, 6.667, 11), (8.754, 15.0, 4)),
}

#: Elevations of the rows of the real HELIOS 32 with 70 degrees [rad].
_HELIOS_70: Array = np.radians(
    [
        *(-55.020, -52.081, -49.142, -46.204, -43.265, -40.326, -37.387, -34.449, -31.510, -28.571, -25.632, -22.694),
        *(-19.755, -16.816, -13.877, -10.939, -8.000, -6.667, -5.333, -4.000, -2.667, -1.333, 0.000, 1.333),
        *(2.667, 4.000, 5.333, 6.667, 8.754, 10.841, 12.929, 15.0),
    ]
)


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


def column_count(sensor: Lidar) -> int:
    """Number of columns of a turn; devices with a fixed time per column have fewer at a higher rate."""
    if isinstance(sensor, OusterOs1):
        return sensor.columns
    if isinstance(sensor, Lidar2d):
        return sensor.rays
    if isinstance(sensor, RplidarA2):
        return round(1.0 / sensor.rate / MEASUREMENT)
    return int(1.0 / sensor.rate / FIRING)


def gazebo_bands(sensor: Lidar) -> tuple[Array, ...]:
    """Elevations of the rows from bottom to top [rad], one array for each lidar of the model in Gazebo."""
    if isinstance(sensor, PlanarLidar):
        return (np.zeros(1),)
    if isinstance(sensor, OusterOs1 | VelodyneVlp16):
        half = 0.5 * sensor.vertical_fov if sensor.rows > 1 else 0.0
        return (np.linspace(-half, half, sensor.rows),)
    return tuple(np.radians(np.linspace(*band)) for band in _BANDS[type(sensor)])


def gazebo_grid(sensor: Lidar) -> RayGrid:
    """The rays of the model in Gazebo: columns counter-clockwise from the lowest azimuth, rows from the lowest."""
    fov = sensor.fov if isinstance(sensor, PlanarLidar) else 2.0 * math.pi
    columns = column_count(sensor)
    last = 0.5 * fov if fov < _TURN else 0.5 * fov - fov / columns
    return RayGrid(np.linspace(-0.5 * fov, last, columns), np.concatenate(gazebo_bands(sensor)))


def driver_grid(sensor: Lidar) -> RayGrid:
    """The rays of the device, in the order in which its driver reports them.

    Spinning lidars turn clockwise; a HELIOS begins a turn ahead, the others behind. An Ouster counts its rows from the
    top. Planar scanners are reported counter-clockwise, from the lowest angle to the highest.
    """
    if isinstance(sensor, PlanarLidar):
        return RayGrid(np.linspace(-0.5 * sensor.fov, 0.5 * sensor.fov, column_count(sensor)), np.zeros(1))
    columns = column_count(sensor)
    elevations = np.concatenate(gazebo_bands(sensor))
    begin = math.pi
    if isinstance(sensor, OusterOs1):
        elevations = elevations[::-1]
    elif not isinstance(sensor, VelodyneVlp16):
        begin = 0.0
        elevations = _HELIOS_70 if isinstance(sensor, Helios70) else elevations
    return RayGrid(begin - 2.0 * math.pi / columns * np.arange(columns, dtype=np.float64), elevations)


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

    def measure(self, scene: Scene | None, place: FramePose, random: np.random.Generator) -> Echoes:
        """Measure from one place, or from one for each column."""
        if scene is None:
            return Echoes(np.full(self._shape, np.inf, np.float32), np.zeros(self._shape, np.float32))
        low, high = self._sensor.min_range, self._sensor.max_range
        rays = np.matmul(self.directions, place.rotation.swapaxes(-2, -1), out=self._turned).reshape(-1, 3)
        origins = np.atleast_2d(place.position)
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
        self.grid = driver_grid(sensor) if rotates else gazebo_grid(sensor)
        azimuths = self.grid.azimuths
        # The lidar turns once per scan, even if its field of view is only a part of the turn.
        swept = abs(float(azimuths[-1] - azimuths[0])) / (2.0 * math.pi)
        self.span = round(1e9 * swept / sensor.rate) if rotates else 0
        self._before_last = np.round(np.linspace(self.span, 0.0, len(azimuths))).astype(np.int64)
        self._rate = sensor.rate
        self._mount = mounted(sensor.xyz, sensor.rpy)
        self._finder = RangeFinder(sensor, self.grid)
        self.directions = self._finder.directions
        self._noise = SampleNoise(seed, name)

    @property
    def rays(self) -> int:
        """Number of rays of a scan."""
        return self.directions.size // 3

    def column_times(self, time: int) -> NDArray[np.int64]:
        """Times at which the columns are measured [ns], the last one at ``time``."""
        return time - self._before_last

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> Echoes:
        """The echoes of the scan that ends now."""
        now = states[-1]
        body = placements(states, self.column_times(now.time)) if self.span else placement(now.pose)
        random = self._noise.generator(sample_number(now.time, self._rate))
        return self._finder.measure(scene, body.then(self._mount), random)
