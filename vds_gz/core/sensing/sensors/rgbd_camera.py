"""A camera for colour and depth, with depth images and point clouds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vds_gz.core.arrays import Array, Floats, Pixels
from vds_gz.core.parameters.declaration import real
from vds_gz.core.parameters.sensor_parameters import check_rising, kind
from vds_gz.core.ros.graph import Graph
from vds_gz.core.ros.messages.packed import PackedMessage
from vds_gz.core.sensing.point_layout import POINTS, Points, cloud_message, components, point_type, write_places
from vds_gz.core.sensing.sensor import GazeboSide, SensorType, Stream
from vds_gz.core.sensing.sensors.camera import (
    CAMERA_INFO,
    IMAGE,
    Camera,
    CameraOutput,
    MessageMaker,
    View,
    ViewWriter,
    image_message,
)

DEPTH = Stream("depth/image_raw", "sensor_msgs/msg/Image", "depth_image", "gz.msgs.Image", optical=True)


@dataclass(frozen=True, slots=True)
class RgbdCamera(Camera):
    """A camera for colour and depth."""

    type: str = kind("rgbd_camera")
    depth_clip_min: float = real(0.01, "m", "minimum depth; nearer points have none", positive=True)
    depth_clip_max: float = real(15.0, "m", "maximum depth; farther points have none", positive=True)

    def check_together(self) -> None:
        """Refuse clipping planes and depths whose minimum is not less than the maximum."""
        Camera.check_together(self)
        check_rising("depth_clip_min", self.depth_clip_min, "depth_clip_max", self.depth_clip_max)


def clipped(depth: Floats, near: float, far: float) -> Floats:
    """Depths [m], with -infinity for those less than ``near`` and infinity for those more than ``far``."""
    clipped_depth = np.where(depth > far, np.float32(np.inf), depth)
    clipped_depth[depth < near] = -np.inf
    return clipped_depth


class ColouredLayout:
    """A point for each pixel, with the bytes (blue, green, red, 0) of its colour in a field of type float.

    Attributes:
        dtype: Fields of a point.
        shape: Height and width of the cloud.
    """

    dtype = point_type(24, rgb=("<f4", 16))
    _written = point_type(24, rgb=("<u4", 16))

    def __init__(self, rays: Array) -> None:
        """Lay out the pixels, given as rays with the depth 1 and of shape (rows, columns, 3)."""
        self._rays = components(rays)
        self.shape = self._rays["x"].shape

    def write(self, points: Points, depth: Floats, colour: Pixels) -> bool:
        """Write positions and colours of an image; return whether all points are finite.

        Pixels without a depth are infinite in all three coordinates, with the sign of the depth.
        """
        points = points.view(self._written)
        with np.errstate(invalid="ignore"):  # an infinite depth times 0, which is replaced below
            write_places(points, depth, self._rays)
        finite = np.isfinite(depth)
        for axis in "xyz":
            points[axis][~finite] = depth[~finite]
        red, green, blue = (colour[..., k].astype(np.uint32) for k in range(3))
        points["rgb"] = red << 16 | green << 8 | blue
        return bool(finite.all())


class RgbdCameraOutput(CameraOutput):
    """A camera and its topics; depths are clipped to its range of depths."""

    coloured = frozenset({IMAGE.ros, POINTS.ros})
    sensor: RgbdCamera

    def makers(self) -> dict[Stream, MessageMaker]:
        """The makers of the topics' messages."""
        return {**super().makers(), DEPTH: self._depth, POINTS: self._points}

    def _depth(self, graph: Graph, frame: str) -> tuple[PackedMessage, ViewWriter]:
        message = image_message(graph, frame, "32FC1", self.sensor)
        pixels = message.array("data").view("<f4").reshape(self.pinhole.rays.shape[:2])

        def write(view: View) -> Sequence[float]:
            pixels[:] = self._clipped(view)
            return ()

        return message, write

    def _points(self, graph: Graph, frame: str) -> tuple[PackedMessage, ViewWriter]:
        layout = ColouredLayout(self.pinhole.rays)
        message = cloud_message(graph, frame, layout.dtype, layout.shape)
        points = message.array("data").view(layout.dtype).reshape(layout.shape)

        def write(view: View) -> Sequence[float]:
            assert view.colour is not None
            return (layout.write(points, self._clipped(view), view.colour),)

        return message, write

    def _clipped(self, view: View) -> Floats:
        return clipped(view.depth, self.sensor.depth_clip_min, self.sensor.depth_clip_max)


# Its points are in the frame that looks along x, whatever Gazebo writes into them.
RGBD_CAMERA = SensorType(
    RgbdCamera,
    (IMAGE, CAMERA_INFO, DEPTH, POINTS),
    RgbdCameraOutput,
    gazebo=GazeboSide(Path("sensors/rgbd_camera.xacro"), renders=True),
)
