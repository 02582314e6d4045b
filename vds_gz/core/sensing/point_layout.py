"""Memory layouts of point clouds, as sent by drivers of real lidars and by Gazebo's sensors (gz-sensors 8)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.arrays import Array, Floats, Pixels
from vds_gz.core.parameters.sensor_parameters import OusterOs1, SpinningLidar, VelodyneVlp16
from vds_gz.core.sensing.lidar import Echoes

Points = NDArray[Any]  # points of a structured type, of shape (height, width)
Times = NDArray[np.int64]  # times of columns [ns], the last one at 0

_PLACES = {"x": ("<f4", 0), "y": ("<f4", 4), "z": ("<f4", 8)}


def _fields(step: int, **places: tuple[str, int]) -> np.dtype[Any]:
    """The type of a point of ``step`` bytes: x, y and z, then fields with a format and an offset each."""
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


class PointLayout:
    """Layout of the points of a lidar, or of some of its rows, in a message.

    Attributes:
        dtype: Fields of a point.
        shape: Height and width of the cloud.
        stamped_last: Whether the message's stamp is the time of the last column, else of the first one.
    """

    def __init__(
        self,
        dtype: np.dtype[Any],
        directions: Array,
        times: Times,
        *,
        rows: slice = slice(None),
        by_rows: bool = False,
        stamped_last: bool = False,
        missing: tuple[float, float] = (np.nan, 0.0),
    ) -> None:
        """Lay out the rays, given as directions of shape (columns, rows, 3), and the columns' times.

        ``by_rows``: a row of the cloud is a row of the lidar, else one of its columns. ``missing``: range and intensity
        of a ray without a hit.
        """
        directions = directions[:, rows]
        self.dtype, self.stamped_last = dtype, stamped_last
        self._directions = _components(directions.swapaxes(0, 1) if by_rows else directions)
        self._times, self._rows, self._by_rows = times, rows, by_rows
        self._missing = np.array(missing, np.float32)
        self.shape = self._directions["x"].shape

    def prepare(self, points: Points) -> None:
        """Write the constant fields: the numbers of the rings, and times relative to the message's stamp."""
        points["ring"] = np.arange(self.shape[0])[:, None] if self._by_rows else np.arange(self.shape[1])
        if "time" in self._names:
            points["time"] = 1e-9 * self._times[:, None]
        if "t" in self._names:
            points["t"] = self._times - self._times[0]

    def write(self, points: Points, echoes: Echoes, begin: float) -> bool:
        """Write the echoes of a turn whose first column is measured at ``begin`` [s]; return the cloud's ``is_dense``.

        It is False for clouds by columns, as from their drivers; for others, it is True if every ray has a hit.
        """
        ranges, retro = (
            np.ascontiguousarray(numbers[:, self._rows].T) if self._by_rows else numbers for numbers in echoes
        )
        met = np.isfinite(ranges)
        _write_places(points, np.where(met, ranges, self._missing[0]), self._directions)
        points["intensity"] = np.where(met, retro, self._missing[1])
        if "timestamp" in self._names:
            points["timestamp"] = begin + 1e-9 * (self._times - self._times[0])[:, None]
        if "range" in self._names:
            points["range"] = np.rint(1000.0 * np.where(met, ranges, np.float32(0.0)))
            points["reflectivity"] = np.clip(retro, 0.0, 65535.0)
        return self._by_rows and bool(met.all())

    @property
    def _names(self) -> tuple[str, ...]:
        return self.dtype.names or ()


#: The organized cloud of ``velodyne_pointcloud``: a row for each firing, rings in it from the lowest. The message has
#: the time of the last firing, and each point its time relative to it [s] (organized_cloudXYZIRT.cpp).
VELODYNE = _fields(22, intensity=("<f4", 12), ring=("<u2", 16), time=("<f4", 18))

#: The cloud of ``rslidar_sdk`` with points of type XYZIRT: a row for each firing, rings in it from the lowest. The
#: message has the time of the first firing, and each point its absolute time [s] (source_pointcloud_ros.hpp).
ROBOSENSE = _fields(26, intensity=("<f4", 12), ring=("<u2", 16), timestamp=("<f8", 18))

#: The cloud of ``ouster-ros`` with points of type "original", destaggered: rows from the highest. The message has the
#: time of the first column, and each point its time after it [ns]; ``range`` is in millimetres, 0 without a hit
#: (os_point.h, point_cloud_compose.h).
OUSTER = _fields(
    48,
    **{"intensity": ("<f4", 16), "t": ("<u4", 20), "reflectivity": ("<u2", 24)},
    **{"ring": ("<u2", 26), "ambient": ("<u2", 28), "range": ("<u4", 32)},
)

#: Rows of a cloud are rows of the lidar, the lowest first; rays without a hit are infinite, and all points have the
#: time of the message. Fields and offsets as gz-sensors 8 has them (GpuLidarSensor.cc), aligned for ROS.
GAZEBO = _fields(32, intensity=("<f4", 16), ring=("<u2", 24))


def driver_layout(sensor: SpinningLidar, directions: Array, times: Times) -> PointLayout:
    """The layout of a device's driver, for rays of shape (columns, rows, 3)."""
    if isinstance(sensor, VelodyneVlp16):
        return PointLayout(VELODYNE, directions, times, stamped_last=True, missing=(np.nan, np.nan))
    if isinstance(sensor, OusterOs1):
        return PointLayout(OUSTER, directions, times, by_rows=True)
    return PointLayout(ROBOSENSE, directions, times)


def gazebo_layouts(directions: Array, bands: tuple[Array, ...]) -> list[PointLayout]:
    """The layouts of a lidar that Gazebo has in several bands, see :func:`vds_gz.core.sensing.lidar.gazebo_bands`."""
    # Gazebo adds angles up, so no component is exactly 0, and an infinite range gives infinite coordinates, never NaN.
    directions = np.where(directions == 0.0, np.finfo(np.float32).tiny, directions)
    times, ends = np.zeros(len(directions), np.int64), np.cumsum([len(band) for band in bands]).tolist()
    return [
        PointLayout(GAZEBO, directions, times, rows=slice(*rows), by_rows=True, missing=(np.inf, 0.0))
        for rows in pairwise([0, *ends])
    ]


class ColouredLayout:
    """A point for each pixel, with the bytes (blue, green, red, 0) of its colour in a field of type float.

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

    def write(self, points: Points, depth: NDArray[np.float32], colour: Pixels) -> bool:
        """Write positions and colours of an image; return whether all points are finite.

        Pixels without a depth are infinite in all three coordinates, with the sign of the depth.
        """
        points = points.view(self._written)
        with np.errstate(invalid="ignore"):  # an infinite depth times 0, which is replaced below
            _write_places(points, depth, self._rays)
        finite = np.isfinite(depth)
        for axis in "xyz":
            points[axis][~finite] = depth[~finite]
        red, green, blue = (colour[..., k].astype(np.uint32) for k in range(3))
        points["rgb"] = red << 16 | green << 8 | blue
        return bool(finite.all())
