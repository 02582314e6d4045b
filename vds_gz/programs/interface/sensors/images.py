"""Cameras: ``sensor_msgs/Image``, ``CameraInfo``, and ``PointCloud2`` of depth cameras.

Fields, encodings and frames are those of Gazebo's cameras through ``ros_gz_bridge``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from vds_gz.core.parameters.sensor_parameters import Camera, RgbdCamera
from vds_gz.core.ros.graph import Graph, Message
from vds_gz.core.ros.messages.packed import PackedMessage
from vds_gz.core.sensing.body import BodyState, mounted, placement
from vds_gz.core.sensing.pinhole import Pinhole, View, clipped
from vds_gz.core.sensing.point_layout import ColouredLayout
from vds_gz.core.sensing.sensor import GazeboSide, SensorType, Stream
from vds_gz.core.world.scene import Scene
from vds_gz.programs.interface.sensors.points import POINTS, cloud_message
from vds_gz.programs.interface.sensors.sensor_setup import SensorSetup

IMAGE = Stream("image_raw", "sensor_msgs/msg/Image", "image", "gz.msgs.Image", optical=True)
CAMERA_INFO = Stream("camera_info", "sensor_msgs/msg/CameraInfo", "camera_info", "gz.msgs.CameraInfo", optical=True)
DEPTH = Stream("depth/image_raw", "sensor_msgs/msg/Image", "depth_image", "gz.msgs.Image", optical=True)

#: Bytes of a pixel.
PIXEL = {"rgb8": 3, "32FC1": 4}

#: Writes a view into a message, and returns the message's other numbers.
ViewWriter = Callable[[View], Sequence[float]]


class CameraOutput:
    """A camera for colour, or colour and depth; images without subscribers are not rendered."""

    span = 0

    def __init__(self, setup: SensorSetup) -> None:
        sensor = setup.parameters
        assert isinstance(sensor, Camera)
        self.rate, self.rays = sensor.rate, sensor.columns * sensor.rows
        self._sensor = sensor
        self._mount = mounted(sensor.xyz, sensor.rpy)
        self._pinhole = Pinhole(sensor)
        makers = {IMAGE: self._image, CAMERA_INFO: self._information, DEPTH: self._depth, POINTS: self._points}
        streams = setup.type.streams
        self._publishers = {stream.ros: setup.publisher(stream) for stream in streams}
        self._messages = {stream.ros: makers[stream](setup.graph, setup.frame(stream)) for stream in streams}

    @property
    def subscribed(self) -> bool:
        """Whether any of the topics has subscribers."""
        return bool(self._subscribed_topics())

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> None:
        """Render, and publish the topics with subscribers."""
        topics, now = self._subscribed_topics(), states[-1]
        if not topics:
            return
        view = View(np.empty((0, 0), np.float32), None)
        if topics != ["camera_info"]:
            colour = "image_raw" in topics or "points" in topics
            view = self._pinhole.view(scene, placement(now.pose).then(self._mount), colour=colour)
        for topic in topics:
            message, write = self._messages[topic]
            message.write(now.time, write(view))
            self._publishers[topic].publish_raw(message.data)

    def _subscribed_topics(self) -> list[str]:
        return [topic for topic, publisher in self._publishers.items() if publisher.subscription_count()]

    def _image(self, graph: Graph, frame: str) -> tuple[PackedMessage, ViewWriter]:
        message = _image_message(graph, frame, "rgb8", self._sensor)
        pixels = message.array("data").reshape(self._pinhole.rays.shape)

        def write(view: View) -> Sequence[float]:
            pixels[:] = view.colour
            return ()

        return message, write

    def _depth(self, graph: Graph, frame: str) -> tuple[PackedMessage, ViewWriter]:
        message = _image_message(graph, frame, "32FC1", self._sensor)
        pixels = message.array("data").view("<f4").reshape(self._pinhole.rays.shape[:2])

        def write(view: View) -> Sequence[float]:
            pixels[:] = self._clipped(view)
            return ()

        return message, write

    def _points(self, graph: Graph, frame: str) -> tuple[PackedMessage, ViewWriter]:
        layout = ColouredLayout(self._pinhole.rays)
        message = cloud_message(graph, frame, layout.dtype, layout.shape)
        points = message.array("data").view(layout.dtype).reshape(layout.shape)

        def write(view: View) -> Sequence[float]:
            assert view.colour is not None
            return (layout.write(points, self._clipped(view), view.colour),)

        return message, write

    def _information(self, graph: Graph, frame: str) -> tuple[PackedMessage, ViewWriter]:
        """The intrinsic parameters of a camera without distortion, in pixels."""
        camera = self._sensor
        message: Message = graph.message(CAMERA_INFO.ros_type)
        message.header.frame_id = frame
        message.height, message.width = camera.rows, camera.columns
        message.distortion_model, message.d = "plumb_bob", graph.numbers(5)
        for matrix, columns in ((message.k, 3), (message.p, 4)):
            matrix[0], matrix[2] = camera.fx, camera.cx
            matrix[columns + 1], matrix[columns + 2] = camera.fy, camera.cy
            matrix[2 * columns + 2] = 1.0
        message.r[0] = message.r[4] = message.r[8] = 1.0
        return PackedMessage(graph, CAMERA_INFO.ros_type, message, ["header.stamp"], []), lambda view: ()

    def _clipped(self, view: View) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        assert isinstance(self._sensor, RgbdCamera)
        return clipped(view.depth, self._sensor.depth_clip_min, self._sensor.depth_clip_max)


def _image_message(graph: Graph, frame: str, encoding: str, camera: Camera) -> PackedMessage:
    message: Message = graph.message(IMAGE.ros_type)
    message.header.frame_id = frame
    message.height, message.width, message.encoding = camera.rows, camera.columns, encoding
    message.step = camera.columns * PIXEL[encoding]
    message.data = graph.numbers(message.step * message.height, "uint8")
    return PackedMessage(graph, IMAGE.ros_type, message, ["header.stamp"], [])


CAMERA = SensorType(
    Camera,
    (IMAGE, CAMERA_INFO),
    CameraOutput,
    gazebo=GazeboSide(Path("sensors/camera.xacro"), renders=True),
)
# Its points are in the frame that looks along x, whatever Gazebo writes into them.
RGBD_CAMERA = SensorType(
    RgbdCamera,
    (IMAGE, CAMERA_INFO, DEPTH, POINTS),
    CameraOutput,
    gazebo=GazeboSide(Path("sensors/rgbd_camera.xacro"), renders=True),
)
