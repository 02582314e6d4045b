"""A pinhole camera for colour: parameters, rays of its pixels, and its topics, ``Image`` and ``CameraInfo``.

The camera looks along x; columns of the image go to the right (-y), rows down (-z). As in Gazebo, the principal point
(cx, cy) is measured from the image's corner, so that the middle of the first pixel is at (0.5, 0.5) (gz-sensors 8,
CameraSensor.cc, BuildProjectionMatrix). Fields, encodings and frames are those of Gazebo's cameras through
``ros_gz_bridge``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array, Floats, Pixels
from vds_gz.core.parameters.declaration import ParameterGroup, integer, real
from vds_gz.core.parameters.sensor_parameters import check_rising, kind, parent, place, rate, straight
from vds_gz.core.ros.graph import Graph, Message
from vds_gz.core.ros.messages.packed import PackedMessage
from vds_gz.core.sensing.body import BodyState, FramePose, mounted, placement
from vds_gz.core.sensing.sensor import GazeboSide, SensorSetup, SensorType, Stream
from vds_gz.core.sensing.shading import SKY, shaded, srgb
from vds_gz.core.world.ray_caster import NOTHING
from vds_gz.core.world.scene import Scene

IMAGE = Stream("image_raw", "sensor_msgs/msg/Image", "image", "gz.msgs.Image", optical=True)
CAMERA_INFO = Stream("camera_info", "sensor_msgs/msg/CameraInfo", "camera_info", "gz.msgs.CameraInfo", optical=True)

#: Maximum number of pixels along an axis, which bounds memory.
MOST_PIXELS = 8192

#: Bytes of a pixel.
PIXEL = {"rgb8": 3, "32FC1": 4}


@dataclass(frozen=True, slots=True)
class Camera(ParameterGroup):
    """A colour camera without distortion that looks along the x axis."""

    type: str = kind("camera")
    parent: str = parent()
    xyz: tuple[float, float, float] = place(0.65, 0.0, 1.0)
    rpy: tuple[float, float, float] = straight()
    rate: float = rate(10.0)
    columns: int = integer(640, "width of the image in pixels", minimum=1, maximum=MOST_PIXELS)
    rows: int = integer(480, "height of the image in pixels", minimum=1, maximum=MOST_PIXELS)
    fx: float = real(400.0, "pixel", "horizontal focal length", minimum=1e-3)
    fy: float = real(400.0, "pixel", "vertical focal length", minimum=1e-3)
    cx: float = real(320.0, "pixel", "column of the principal point")
    cy: float = real(240.0, "pixel", "row of the principal point")
    clip_min: float = real(0.01, "m", "near clipping plane", positive=True)
    clip_max: float = real(1e4, "m", "far clipping plane", positive=True)

    def check_together(self) -> None:
        """Refuse a near clipping plane that is not nearer than the far one."""
        check_rising("clip_min", self.clip_min, "clip_max", self.clip_max)


class View(NamedTuple):
    """A camera's image."""

    depth: Floats  # depth along the optical axis [m], infinite without a hit; of shape (rows, columns)
    colour: Pixels | None  # red, green and blue, of shape (rows, columns, 3); None if it was not requested


class Pinhole:
    """The rays of a camera.

    Attributes:
        rays: Vectors to the pixels' middles at the depth 1, in the sensor's frame, of shape (rows, columns, 3).
    """

    def __init__(self, camera: Camera) -> None:
        self._camera = camera
        left = (camera.cx - 0.5 - np.arange(camera.columns)) / camera.fx
        up = (camera.cy - 0.5 - np.arange(camera.rows)) / camera.fy
        self.rays: Array = np.ones((camera.rows, camera.columns, 3))
        self.rays[..., 1], self.rays[..., 2] = left, up[:, None]
        self._lengths = np.linalg.norm(self.rays, axis=-1).ravel()

    def view(self, scene: Scene | None, T_map_sensor: FramePose, *, colour: bool) -> View:
        """Take an image."""
        near, far = self._camera.clip_min, self._camera.clip_max
        shape = self.rays.shape[:2]
        if scene is None:
            sky = np.broadcast_to(srgb(np.array(SKY)), self.rays.shape)
            return View(np.full(shape, np.inf, np.float32), sky if colour else None)
        directions = np.matmul(self.rays, T_map_sensor.rotation.T).reshape(-1, 3)
        origins = T_map_sensor.position + near * directions
        directions /= self._lengths[:, None]
        ranges, shapes = scene.visuals.cast(origins, directions, (far - near) * float(self._lengths.max()))
        depth = near + ranges / self._lengths
        too_far = depth > far
        depth[too_far], shapes[too_far] = np.inf, NOTHING
        seen = shaded(scene.visuals, origins, directions, ranges, shapes).reshape(self.rays.shape) if colour else None
        return View(depth.astype(np.float32).reshape(shape), seen)


#: Writes a view into a message, and returns the message's other numbers.
ViewWriter = Callable[[View], Sequence[float]]

#: Makes a message of a graph in a frame, and its writer.
MessageMaker = Callable[[Graph, str], tuple[PackedMessage, ViewWriter]]


class CameraOutput:
    """A camera and its topics; images without subscribers are not rendered.

    Attributes:
        coloured: The topics that show colours.
    """

    span = 0
    coloured = frozenset({IMAGE.ros})

    def __init__(self, setup: SensorSetup) -> None:
        sensor = setup.parameters
        assert isinstance(sensor, Camera)
        self.rate, self.rays = sensor.rate, sensor.columns * sensor.rows
        self.sensor = sensor
        self._T_base_sensor = mounted(sensor.xyz, sensor.rpy)
        self.pinhole = Pinhole(sensor)
        self._publishers = {stream.ros: setup.publisher(stream) for stream in setup.type.streams}
        self._messages = {stream.ros: make(setup.graph, setup.frame(stream)) for stream, make in self.makers().items()}

    def makers(self) -> dict[Stream, MessageMaker]:
        """The makers of the topics' messages."""
        return {IMAGE: self._image, CAMERA_INFO: self._information}

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
        if topics != [CAMERA_INFO.ros]:
            colour = not self.coloured.isdisjoint(topics)
            view = self.pinhole.view(scene, placement(now.pose).then(self._T_base_sensor), colour=colour)
        for topic in topics:
            message, write = self._messages[topic]
            message.write(now.time, write(view))
            self._publishers[topic].publish_raw(message.data)

    def _subscribed_topics(self) -> list[str]:
        return [topic for topic, publisher in self._publishers.items() if publisher.subscription_count()]

    def _image(self, graph: Graph, frame: str) -> tuple[PackedMessage, ViewWriter]:
        message = image_message(graph, frame, "rgb8", self.sensor)
        pixels = message.array("data").reshape(self.pinhole.rays.shape)

        def write(view: View) -> Sequence[float]:
            pixels[:] = view.colour
            return ()

        return message, write

    def _information(self, graph: Graph, frame: str) -> tuple[PackedMessage, ViewWriter]:
        """The intrinsic parameters of a camera without distortion, in pixels."""
        camera = self.sensor
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


def image_message(graph: Graph, frame: str, encoding: str, camera: Camera) -> PackedMessage:
    """An image of a camera without its pixels."""
    message: Message = graph.message(IMAGE.ros_type)
    message.header.frame_id = frame
    message.height, message.width, message.encoding = camera.rows, camera.columns, encoding
    message.step = camera.columns * PIXEL[encoding]
    message.data = graph.numbers(message.step * message.height, "uint8")
    return PackedMessage(graph, IMAGE.ros_type, message, ["header.stamp"], [])


CAMERA = SensorType(
    Camera, (IMAGE, CAMERA_INFO), CameraOutput, gazebo=GazeboSide(Path("sensors/camera.xacro"), renders=True)
)
