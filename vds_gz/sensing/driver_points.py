"""Points as sent by drivers of real lidars: each with its time of measurement.

Positions are in the sensor's frame at that time, as from drivers that do not know the sensor's motion.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vds_gz.parameters.sensors import OusterOs1, SpinningLidar, VelodyneVlp16
from vds_gz.sensing.point_layout import PointLayout, Points, components, fields, write_places
from vds_gz.sensing.range_finder import Echoes, Floats
from vds_gz.world.shapes import Array

#: Times of columns [ns], the last one at 0.
Times = NDArray[np.int64]


def _or_nan(values: Floats, ranges: Floats) -> Floats:
    """Values of hits, else NaN."""
    return np.where(np.isfinite(ranges), values, np.float32(np.nan))


class VelodyneLayout:
    """The organized cloud of ``velodyne_pointcloud``: a row for each firing, rings in it from the lowest.

    The message has the time of the last firing, the points theirs relative to it [s] (organized_cloudXYZIRT.cpp).
    """

    dtype = fields(
        22, x=("<f4", 0), y=("<f4", 4), z=("<f4", 8), intensity=("<f4", 12), ring=("<u2", 16), time=("<f4", 18)
    )
    stamped_last = True

    def __init__(self, directions: Array, times: Times) -> None:
        """Lay out the rays, given as directions of shape (columns, rows, 3), and the columns' times."""
        self._directions = components(directions)
        self._times = times
        self.shape = self._directions["x"].shape

    def prepare(self, points: Points) -> None:
        """Number the rings, and write the times."""
        points["ring"] = np.arange(self.shape[1])
        points["time"] = 1e-9 * self._times[:, None]

    def write(self, points: Points, echoes: Echoes, begin: float) -> bool:
        """Write places and intensities."""
        write_places(points, _or_nan(echoes.ranges, echoes.ranges), self._directions)
        points["intensity"] = _or_nan(echoes.retro, echoes.ranges)
        return False


class RobosenseLayout:
    """The cloud of ``rslidar_sdk`` with points of type XYZIRT: a row for each firing, rings in it from the lowest.

    The message has the time of the first firing, and each point its own, of the same clock [s]
    (source_pointcloud_ros.hpp).
    """

    dtype = fields(
        26, x=("<f4", 0), y=("<f4", 4), z=("<f4", 8), intensity=("<f4", 12), ring=("<u2", 16), timestamp=("<f8", 18)
    )
    stamped_last = False

    def __init__(self, directions: Array, times: Times) -> None:
        """Lay out the rays, given as directions of shape (columns, rows, 3), and the columns' times."""
        self._directions = components(directions)
        self._after_first = 1e-9 * (times - times[0])[:, None]
        self.shape = self._directions["x"].shape

    def prepare(self, points: Points) -> None:
        """Number the rings."""
        points["ring"] = np.arange(self.shape[1])

    def write(self, points: Points, echoes: Echoes, begin: float) -> bool:
        """Write places, intensities and times."""
        write_places(points, _or_nan(echoes.ranges, echoes.ranges), self._directions)
        points["intensity"] = echoes.retro
        points["timestamp"] = begin + self._after_first
        return False


class OusterLayout:
    """The cloud of ``ouster-ros`` with points of type "original", destaggered: rows from the highest.

    The message has the time of the first column, the points theirs after it [ns]; ``range`` is in millimetres, 0
    without a hit (os_point.h, point_cloud_compose.h).
    """

    dtype = fields(
        48,
        **{"x": ("<f4", 0), "y": ("<f4", 4), "z": ("<f4", 8), "intensity": ("<f4", 16), "t": ("<u4", 20)},
        **{"reflectivity": ("<u2", 24), "ring": ("<u2", 26), "ambient": ("<u2", 28), "range": ("<u4", 32)},
    )
    stamped_last = False

    def __init__(self, directions: Array, times: Times) -> None:
        """Lay out the rays, given as directions of shape (columns, rows, 3), and the columns' times."""
        self._directions = components(directions.swapaxes(0, 1))
        self._after_first = times - times[0]
        self.shape = self._directions["x"].shape

    def prepare(self, points: Points) -> None:
        """Number the rings, and write the times."""
        points["ring"] = np.arange(self.shape[0])[:, None]
        points["t"] = self._after_first

    def write(self, points: Points, echoes: Echoes, begin: float) -> bool:
        """Write places, ranges and intensities."""
        ranges, retro = np.ascontiguousarray(echoes.ranges.T), echoes.retro.T
        met = np.isfinite(ranges)
        write_places(points, _or_nan(ranges, ranges), self._directions)
        points["range"] = np.rint(1000.0 * np.where(met, ranges, np.float32(0.0)))
        points["intensity"] = retro
        points["reflectivity"] = np.clip(retro, 0.0, 65535.0)
        return bool(met.all())


def driver_layout(sensor: SpinningLidar, directions: Array, times: Times) -> PointLayout:
    """The layout of a device's driver.

    Args:
        sensor: Parameters of the device.
        directions: Of its rays, of shape (columns, rows, 3).
        times: Of its columns [ns], the last one at 0.
    """
    if isinstance(sensor, VelodyneVlp16):
        return VelodyneLayout(directions, times)
    if isinstance(sensor, OusterOs1):
        return OusterLayout(directions, times)
    return RobosenseLayout(directions, times)
