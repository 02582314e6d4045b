"""Ranges of a lidar: rays from the sensor, and noise.

As in Gazebo, rays begin at the minimum range, so they pass through anything nearer, and a range with its noise is
clamp(range + N(0, s), minimum range, maximum range); misses stay infinite (gz-sensors 8, Lidar.cc).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vds_gz.parameters.sensors import Lidar
from vds_gz.sensing.body_motion import Placement
from vds_gz.sensing.ray_grid import RayGrid
from vds_gz.world.scene import Scene
from vds_gz.world.shapes import Array, Indices

Floats = NDArray[np.float32]


class Echoes(NamedTuple):
    """Echoes of a lidar's scan, each of shape (columns, rows).

    Attributes:
        ranges: Ranges [m]; infinite without a hit.
        retro: Retro-reflectivities; 0 without a hit.
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
            grid: The directions of the rays.
        """
        self._sensor = sensor
        self._shape = grid.shape
        self.directions = grid.directions()
        self._turned = np.empty_like(self.directions)

    def measure(self, scene: Scene | None, place: Placement, random: np.random.Generator) -> Echoes:
        """Cast all rays.

        Args:
            scene: The visible scene; None if it is empty.
            place: The sensor in the world, one for all columns or one for each.
            random: The generator of the noise.
        """
        if scene is None:
            return Echoes(np.full(self._shape, np.inf, np.float32), np.zeros(self._shape, np.float32))
        low, high = self._sensor.min_range, self._sensor.max_range
        rays = np.matmul(self.directions, place.rotation.swapaxes(-2, -1), out=self._turned).reshape(-1, 3)
        origins = np.atleast_2d(place.position)
        if len(origins) > 1:
            origins = np.repeat(origins, self._shape[1], axis=0)
        ranges, shapes = _between(low, high, scene, origins, rays)
        found = noisy(ranges, self._sensor.std_noise, low, high, random)
        retro = scene.visuals.retro(shapes).astype(np.float32)
        return Echoes(found.reshape(self._shape), retro.reshape(self._shape))


def _between(low: float, high: float, scene: Scene, origins: Array, rays: Array) -> tuple[Array, Indices]:
    """Ranges and shapes of hits between two ranges [m]; rays that hit something nearer are cast once more."""
    ranges, shapes = scene.visuals.cast(origins, rays, high)
    near = np.flatnonzero(ranges < low)
    if len(near):
        begin = origins[near if len(origins) > 1 else [0]] + low * rays[near]
        beyond, shapes[near] = scene.visuals.cast(begin, rays[near], high - low)
        ranges[near] = low + beyond
    return ranges, shapes


def noisy(ranges: Array, deviation: float, low: float, high: float, random: np.random.Generator) -> Floats:
    """Ranges with noise [m].

    Args:
        ranges: True ranges, infinite without a hit.
        deviation: Standard deviation [m].
        low, high: Bounds of all ranges [m].
        random: The generator of the noise.
    """
    found = random.standard_normal(ranges.shape, np.float32) if deviation else np.zeros(ranges.shape, np.float32)
    found *= np.float32(deviation)
    np.add(found, ranges, out=found, casting="same_kind")
    np.clip(found, low, high, out=found)
    found[ranges == np.inf] = np.inf  # far cheaper than clipping only the others
    return found
