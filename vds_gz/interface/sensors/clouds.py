"""Messages ``sensor_msgs/PointCloud2`` whose points are of a structured type."""

from __future__ import annotations

from typing import Any

import numpy as np

from vds_gz.interface.messages import PointCloud2
from vds_gz.ros.graph import Graph
from vds_gz.ros.messages.packed import PackedMessage
from vds_gz.sensing.sensor import Stream

#: The clouds of lidars and of cameras that see depth, in the frame that looks along x.
POINTS = Stream("points", "sensor_msgs/msg/PointCloud2", "points", "gz.msgs.PointCloudPacked")

#: Numbers of formats in ``sensor_msgs/PointField``.
DATATYPES = {"u1": 2, "u2": 4, "u4": 6, "f4": 7, "f8": 8}


def cloud_message(graph: Graph, frame: str, dtype: np.dtype[Any], shape: tuple[int, int]) -> PackedMessage:
    """A cloud of points of a structured type. The only number that changes besides the points is ``is_dense``.

    Args:
        graph: Serializes it.
        frame: Its frame.
        dtype: Fields of a point.
        shape: Height and width.
    """
    message: PointCloud2 = graph.message(POINTS.ros_type)
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
