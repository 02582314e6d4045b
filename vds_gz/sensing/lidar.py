"""A lidar on the vehicle: the origins and times of its rays, and its noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vds_gz.parameters.sensors import Lidar
from vds_gz.sensing.body import BodyState
from vds_gz.sensing.body_motion import mounted, placement, placements
from vds_gz.sensing.range_finder import Echoes, RangeFinder
from vds_gz.sensing.ray_grid import driver_grid, gazebo_grid
from vds_gz.sensing.sample_noise import SampleNoise, sample_number
from vds_gz.world.scene import Scene


class LidarModel:
    """A lidar whose columns are measured all at once, as in Gazebo, or one after the other, as on the device.

    Attributes:
        grid: Its rays.
        directions: Their unit vectors in the sensor's frame, of shape (columns, rows, 3).
        span: Time from the first column to the last one [ns]; 0 if all are measured at once.
    """

    def __init__(self, name: str, sensor: Lidar, seed: int) -> None:
        """Point the rays.

        Args:
            name: Name of the sensor; noise differs between names.
            sensor: Its parameters.
            seed: Seed of the noise.
        """
        rotates = sensor.layout == "driver"
        self.grid = driver_grid(sensor) if rotates else gazebo_grid(sensor)
        azimuths = self.grid.azimuths
        # It turns once per scan, even if its field of view is only a part of the turn.
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
        """Number of columns of a scan."""
        return self.directions.size // 3

    def column_times(self, time: int) -> NDArray[np.int64]:
        """Time of each column's measurement [ns], with the last one at ``time``."""
        return time - self._before_last

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> Echoes:
        """The echoes of the scan that ends now.

        Args:
            states: The body's states of the last :attr:`span` and the one before; the last one is the present.
            scene: The visible scene; None without a world.
        """
        now = states[-1]
        body = placements(states, self.column_times(now.time)) if self.span else placement(now.pose)
        random = self._noise.generator(sample_number(now.time, self._rate))
        return self._finder.measure(scene, body.then(self._mount), random)
