"""Memory layouts of point clouds, as sent by drivers of real lidars and by Gazebo's sensors (gz-sensors 8)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.arrays import Array, Floats, Integers
from vds_gz.core.ros.graph import Graph, Message
from vds_gz.core.ros.messages.packed import PackedMessage
from vds_gz.core.sensing.lidar import Echoes
from vds_gz.core.sensing.sensor import Stream

#: The clouds of lidars and of cameras that see depth, in the frame that looks along x.
POINTS = Stream("points", "sensor_msgs/msg/PointCloud2", "points", "gz.msgs.PointCloudPacked")

#: Numbers of formats in ``sensor_msgs/PointField``.
DATATYPES = {"u1": 2, "u2": 4, "u4": 6, "f4": 7, "f8": 8}

Points = NDArray[Any]  # points of a structured type, of shape (height, width)

_PLACES = {"x": ("<f4", 0), "y": ("<f4", 4), "z": ("<f4", 8)}


def point_type(step: int, **places: tuple[str, int]) -> np.dtype[Any]:
    """The type of a point of ``step`` bytes: x, y and z, then fields with a format and an offset each."""
    formats, offsets = zip(*(_PLACES | places).values(), strict=True)
    names = [*_PLACES, *places]
    return np.dtype({"names": names, "formats": list(formats), "offsets": list(offsets), "itemsize": step})


def components(directions: Array) -> dict[str, Floats]:
    """The x, y and z of directions, each contiguous."""
    return {axis: np.ascontiguousarray(directions[..., k], np.float32) for k, axis in enumerate("xyz")}


def write_places(points: Points, ranges: Floats, directions: Mapping[str, Floats]) -> None:
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
        times: Integers,
        *,
        rows: slice = slice(None),
        by_rows: bool = False,
        stamped_last: bool = False,
        missing: tuple[float, float] = (np.nan, 0.0),
    ) -> None:
        """Lay out rays, given as directions of shape (columns, rows, 3), and the columns' times [ns], the last at 0.

        ``by_rows``: a row of the cloud is a row of the lidar, else one of its columns. ``missing``: range and intensity
        of a ray without a hit.
        """
        directions = directions[:, rows]
        self.dtype, self.stamped_last = dtype, stamped_last
        self._directions = components(directions.swapaxes(0, 1) if by_rows else directions)
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
        write_places(points, np.where(met, ranges, self._missing[0]), self._directions)
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


#: Rows of a cloud are rows of the lidar, the lowest first; rays without a hit are infinite, and all points have the
#: time of the message. Fields and offsets as gz-sensors 8 has them (GpuLidarSensor.cc), aligned for ROS.
GAZEBO = point_type(32, intensity=("<f4", 16), ring=("<u2", 24))


def gazebo_layouts(directions: Array, bands: tuple[Array, ...]) -> list[PointLayout]:
    """The layouts of a lidar that Gazebo has in several bands, see ``SpinningLidar.bands``."""
    # Gazebo adds angles up, so no component is exactly 0, and an infinite range gives infinite coordinates, never NaN.
    directions = np.where(directions == 0.0, np.finfo(np.float32).tiny, directions)
    times, ends = np.zeros(len(directions), np.int64), np.cumsum([len(band) for band in bands]).tolist()
    return [
        PointLayout(GAZEBO, directions, times, rows=slice(*rows), by_rows=True, missing=(np.inf, 0.0))
        for rows in pairwise([0, *ends])
    ]


def cloud_message(graph: Graph, frame: str, dtype: np.dtype[Any], shape: tuple[int, int]) -> PackedMessage:
    """A cloud of points of a structured type. Besides the points, only ``is_dense`` changes."""
    message: Message = graph.message(POINTS.ros_type)
    message.header.frame_id = frame
    message.height, message.width = shape
    message.point_step, message.row_step = dtype.itemsize, dtype.itemsize * shape[1]
    assert dtype.fields is not None
    message.fields = [graph.message("sensor_msgs/msg/PointField") for _ in dtype.fields]
    for field, (name, (format_, offset, *_)) in zip(message.fields, dtype.fields.items(), strict=True):
        field.name, field.offset, field.count = name, offset, 1
        field.datatype = DATATYPES[format_.str[1:]]
    message.data = graph.numbers(message.row_step * message.height, "uint8")
    return PackedMessage(graph, POINTS.ros_type, message, ["header.stamp"], ["is_dense"])
