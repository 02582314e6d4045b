"""Points of a cloud in memory, as drivers of real lidars and as Gazebo's sensors (gz-sensors 8) send them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vds_gz.parameters.sensors import OusterOs1, SpinningLidar, VelodyneVlp16
from vds_gz.sensing.lidar import Echoes, Floats
from vds_gz.sensing.pinhole import Bytes
from vds_gz.world.shapes import Array

Points = NDArray[Any]  # points of a structured type, of shape (height, width)


Times = NDArray[np.int64]  # times of columns [ns], the last one at 0

_PLACES = {"x": ("<f4", 0), "y": ("<f4", 4), "z": ("<f4", 8)}


def _fields(step: int, **places: tuple[str, int]) -> np.dtype[Any]:
    """A point of ``step`` bytes that begins with its place; each further field has a format and an offset."""
    formats, offsets = zip(*(_PLACES | places).values(), strict=True)
    names = [*_PLACES, *places]
    return np.dtype({"names": names, "formats": list(formats), "offsets": list(offsets), "itemsize": step})


def _components(directions: Array) -> dict[str, Floats]:
    """The x, y and z of directions, each contiguous."""
    return {axis: np.ascontiguousarray(directions[..., k], np.float32) for k, axis in enumerate("xyz")}


def _write_places(points: Points, ranges: Floats, directions: Mapping[str, Floats]) -> None:
    """Write x, y and z [m] of points at these ranges in these directions, all of the points' shape."""
    for axis, component in directions.items():
        np.multiply(ranges, component, out=points[axis])


def _or_nan(values: Floats, ranges: Floats) -> Floats:
    """Values of hits, else NaN."""
    return np.where(np.isfinite(ranges), values, np.float32(np.nan))


class PointLayout:
    """Layout of the points of a lidar, or of one of its bands, in a message.

    Attributes:
        dtype: Fields of a point.
        shape: Height and width of the cloud.
        stamped_last: The message's stamp is the time of the last column, else of the first one.
        transposed: A row of the cloud is a row of the lidar, else one of its columns.
    """

    dtype: np.dtype[Any]
    stamped_last = False
    transposed = False

    def __init__(self, directions: Array, times: Times) -> None:
        """Lay out the rays, given as directions of shape (columns, rows, 3), and the columns' times."""
        self._directions = _components(directions.swapaxes(0, 1) if self.transposed else directions)
        self._times = times
        self.shape = self._directions["x"].shape

    def prepare(self, points: Points) -> None:
        """Write the constant fields: the numbers of the rings."""
        points["ring"] = np.arange(self.shape[0])[:, None] if self.transposed else np.arange(self.shape[1])

    def write(self, points: Points, echoes: Echoes, begin: float) -> bool:
        """Write the echoes of a turn, whose first column has a time [s]; return whether every point is finite."""
        raise NotImplementedError


class VelodyneLayout(PointLayout):
    """The organized cloud of ``velodyne_pointcloud``: a row for each firing, rings in it from the lowest.

    The message has the time of the last firing, the points theirs relative to it [s] (organized_cloudXYZIRT.cpp).
    """

    dtype = _fields(22, intensity=("<f4", 12), ring=("<u2", 16), time=("<f4", 18))
    stamped_last = True

    def prepare(self, points: Points) -> None:
        """Number the rings, and write the times."""
        super().prepare(points)
        points["time"] = 1e-9 * self._times[:, None]

    def write(self, points: Points, echoes: Echoes, begin: float) -> bool:
        """Write places and intensities."""
        _write_places(points, _or_nan(echoes.ranges, echoes.ranges), self._directions)
        points["intensity"] = _or_nan(echoes.retro, echoes.ranges)
        return False


class RobosenseLayout(PointLayout):
    """The cloud of ``rslidar_sdk`` with points of type XYZIRT: a row for each firing, rings in it from the lowest.

    The message has the time of the first firing, and each point its own, of the same clock [s]
    (source_pointcloud_ros.hpp).
    """

    dtype = _fields(26, intensity=("<f4", 12), ring=("<u2", 16), timestamp=("<f8", 18))

    def write(self, points: Points, echoes: Echoes, begin: float) -> bool:
        """Write places, intensities and times."""
        _write_places(points, _or_nan(echoes.ranges, echoes.ranges), self._directions)
        points["intensity"] = echoes.retro
        points["timestamp"] = begin + 1e-9 * (self._times - self._times[0])[:, None]
        return False


class OusterLayout(PointLayout):
    """The cloud of ``ouster-ros`` with points of type "original", destaggered: rows from the highest.

    The message has the time of the first column, the points theirs after it [ns]; ``range`` is in millimetres, 0
    without a hit (os_point.h, point_cloud_compose.h).
    """

    dtype = _fields(
        48,
        **{"intensity": ("<f4", 16), "t": ("<u4", 20), "reflectivity": ("<u2", 24)},
        **{"ring": ("<u2", 26), "ambient": ("<u2", 28), "range": ("<u4", 32)},
    )
    transposed = True

    def prepare(self, points: Points) -> None:
        """Number the rings, and write the times."""
        super().prepare(points)
        points["t"] = self._times - self._times[0]

    def write(self, points: Points, echoes: Echoes, begin: float) -> bool:
        """Write places, ranges and intensities."""
        ranges, retro = np.ascontiguousarray(echoes.ranges.T), echoes.retro.T
        met = np.isfinite(ranges)
        _write_places(points, _or_nan(ranges, ranges), self._directions)
        points["range"] = np.rint(1000.0 * np.where(met, ranges, np.float32(0.0)))
        points["intensity"] = retro
        points["reflectivity"] = np.clip(retro, 0.0, 65535.0)
        return bool(met.all())


def driver_layout(sensor: SpinningLidar, directions: Array, times: Times) -> PointLayout:
    """The layout of a device's driver, for rays of shape (columns, rows, 3)."""
    if isinstance(sensor, VelodyneVlp16):
        return VelodyneLayout(directions, times)
    return (OusterLayout if isinstance(sensor, OusterOs1) else RobosenseLayout)(directions, times)


class GazeboLayout(PointLayout):
    """Rows of a cloud are rows of the lidar, the lowest first; rays without a hit are infinite.

    Fields and offsets as gz-sensors 8 has them (GpuLidarSensor.cc), aligned for ROS.
    """

    dtype = _fields(32, intensity=("<f4", 16), ring=("<u2", 24))
    transposed = True

    def __init__(self, directions: Array, rows: slice) -> None:
        """Lay out some rows of all rays, those that one lidar of Gazebo's has."""
        self._rows = rows
        # Gazebo sums angles up, so that none is exactly 0: an infinite range is infinite in all coordinates, never NaN.
        directions = np.where(directions == 0.0, np.finfo(np.float32).tiny, directions)
        super().__init__(directions[:, rows], np.zeros(len(directions), np.int64))

    def write(self, points: Points, echoes: Echoes, begin: float) -> bool:
        """Write places and intensities; all points have the time of the message."""
        ranges = np.ascontiguousarray(echoes.ranges[:, self._rows].T)
        _write_places(points, ranges, self._directions)
        points["intensity"] = echoes.retro[:, self._rows].T
        return bool(np.isfinite(ranges).all())


def gazebo_layouts(directions: Array, bands: tuple[Array, ...]) -> list[PointLayout]:
    """The layouts of a lidar that Gazebo has in several bands, see :func:`vds_gz.sensing.lidar.gazebo_bands`."""
    ends = np.cumsum([len(band) for band in bands]).tolist()
    return [GazeboLayout(directions, slice(begin, end)) for begin, end in zip([0, *ends], ends, strict=False)]


class ColouredLayout:
    """A point for each pixel; the colour is a number whose bytes are blue, green, red and 0, called a float.

    Attributes:
        dtype: Fields of a point.
        shape: Height and width of the cloud.
    """

    dtype = _fields(24, rgb=("<f4", 16))
    _written = _fields(24, rgb=("<u4", 16))

    def __init__(self, rays: Array) -> None:
        """Lay out the pixels, given as rays with the depth 1 and of shape (rows, columns, 3)."""
        self._rays = _components(rays)
        self.shape = self._rays["x"].shape

    def write(self, points: Points, depth: NDArray[np.float32], colour: Bytes) -> bool:
        """Write positions and colours of an image; return whether all points are finite.

        Pixels without a depth are infinite in all three coordinates, with the sign of the depth.
        """
        points = points.view(self._written)
        _write_places(points, depth, self._rays)
        finite = np.isfinite(depth)
        for axis in "xyz":
            points[axis][~finite] = depth[~finite]
        red, green, blue = (colour[..., k].astype(np.uint32) for k in range(3))
        points["rgb"] = red << 16 | green << 8 | blue
        return bool(finite.all())
