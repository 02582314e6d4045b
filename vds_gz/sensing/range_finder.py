"""Ranges as a lidar measures them: rays from where the sensor is, and noise.

As in Gazebo, rays begin at the least range, so that what is nearer is seen through, and the noise of a range is
clamp(range + N(0, s), least range, greatest range); what nothing was met by stays infinite (gz-sensors 8, Lidar.cc).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vds_gz.parameters.sensors import Lidar
from vds_gz.sensing.body_motion import Placement
from vds_gz.sensing.ray_grid import RayGrid
from vds_gz.world.scene import Scene

Floats = NDArray[np.float32]


class Echoes(NamedTuple):
    """What a turn of a lidar has met, each of shape (columns, rows).

    Attributes:
        ranges: How far away [m]; infinite where nothing was met.
        retro: Its retro-reflectivity; 0 where nothing was met.
    """

    ranges: Floats
    retro: Floats


class RangeFinder:
    """The rays of a lidar.

    Attributes:
        directions: Unit vectors in the sensor's frame, of shape (columns, rows, 3).
    """

    def __init__(self, sensor: Lidar, grid: RayGrid) -> None:
        """Point the rays.

        Args:
            sensor: Its parameters.
            grid: Which way the rays go.
        """
        self._sensor = sensor
        self._shape = grid.shape
        self.directions = grid.directions()
        self._turned = np.empty_like(self.directions)
        self._origins = np.empty_like(self.directions)

    def measure(self, scene: Scene | None, place: Placement, random: np.random.Generator) -> Echoes:
        """Send all rays.

        Args:
            scene: What there is to be met; none: nothing.
            place: The sensor in the world, one for all columns or one for each.
            random: Where the noise comes from.
        """
        if scene is None:
            return Echoes(np.full(self._shape, np.inf, np.float32), np.zeros(self._shape, np.float32))
        low, high = self._sensor.min_range, self._sensor.max_range
        rays = self._turned
        np.matmul(self.directions, place.rotation.swapaxes(-2, -1), out=rays)
        np.multiply(rays, low, out=self._origins)
        self._origins += place.position if place.position.ndim == 1 else place.position[:, None, :]
        beyond, shapes = scene.visuals.cast(self._origins.reshape(-1, 3), rays.reshape(-1, 3), high - low)
        beyond += low
        ranges = noisy(beyond, self._sensor.std_noise, low, high, random)
        retro = scene.visuals.retro(shapes).astype(np.float32)
        return Echoes(ranges.reshape(self._shape), retro.reshape(self._shape))


def noisy(
    ranges: NDArray[np.float64], deviation: float, low: float, high: float, random: np.random.Generator
) -> Floats:
    """Ranges with noise [m].

    Args:
        ranges: True ones, infinite where nothing was met.
        deviation: Standard deviation [m].
        low, high: No range leaves these bounds [m].
        random: Where the noise comes from.
    """
    found = random.standard_normal(ranges.shape, np.float32) if deviation else np.zeros(ranges.shape, np.float32)
    found *= np.float32(deviation)
    np.add(found, ranges, out=found, casting="same_kind")
    np.clip(found, low, high, out=found, where=np.isfinite(found))
    return found
