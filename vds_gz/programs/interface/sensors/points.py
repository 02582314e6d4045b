"""The topics of lidars: point clouds, whose points are of a structured type, and scans in a plane."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vds_gz.core.parameters.sensor_parameters import (
    Helios26,
    Helios31,
    Helios70,
    Lidar2d,
    OusterOs1,
    PlanarLidar,
    RplidarA2,
    SpinningLidar,
    VelodyneVlp16,
)
from vds_gz.core.ros.graph import Graph, Message, QoS
from vds_gz.core.ros.messages.packed import PackedMessage
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.lidar import Echoes, LidarModel, gazebo_bands
from vds_gz.core.sensing.point_layout import PointLayout, driver_layout, gazebo_layouts
from vds_gz.core.sensing.sensor import GazeboSide, SensorType, Stream
from vds_gz.core.world.scene import Scene
from vds_gz.programs.interface.sensors.sensor_setup import SensorSetup

#: The clouds of lidars and of cameras that see depth, in the frame that looks along x.
POINTS = Stream("points", "sensor_msgs/msg/PointCloud2", "points", "gz.msgs.PointCloudPacked")

#: Numbers of formats in ``sensor_msgs/PointField``.
DATATYPES = {"u1": 2, "u2": 4, "u4": 6, "f4": 7, "f8": 8}


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


#: The quality of service of ``ouster-ros``: rclcpp's for the data of sensors.
SENSOR_DATA = QoS(depth=5, reliable=False)


class LidarOutput:
    """A lidar and its topic; ``publish`` sends the echoes of a turn between two times [ns]. Base class."""

    def __init__(self, setup: SensorSetup, stream: Stream, qos: QoS | None = None) -> None:
        sensor = setup.parameters
        assert isinstance(sensor, PlanarLidar | SpinningLidar)
        self._lidar = LidarModel(setup.name, sensor, setup.seed)
        self.rate, self.rays, self.span = sensor.rate, self._lidar.rays, self._lidar.span
        self._publisher = setup.publisher(stream, qos)

    @property
    def subscribed(self) -> bool:
        """Whether there are subscribers."""
        return self._publisher.subscription_count() > 0

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> None:
        """Measure and publish a turn, if there are subscribers and it did not begin before time 0."""
        now = states[-1].time
        if self.subscribed and now >= self.span:
            self.publish(self._lidar.measure(states, scene), now - self.span, now)

    def publish(self, echoes: Echoes, first: int, last: int) -> None:
        """Send the echoes."""
        raise NotImplementedError


class PointsOutput(LidarOutput):
    """The point cloud of a lidar."""

    def __init__(self, setup: SensorSetup) -> None:
        sensor = setup.parameters
        assert isinstance(sensor, SpinningLidar)
        by_driver = sensor.layout == "driver"
        super().__init__(setup, POINTS, SENSOR_DATA if by_driver and isinstance(sensor, OusterOs1) else None)
        directions = self._lidar.directions
        layouts: list[PointLayout]
        if by_driver:
            layouts = [driver_layout(sensor, directions, self._lidar.column_times(0))]
        else:
            layouts = gazebo_layouts(directions, gazebo_bands(sensor))
        self._clouds = []
        for layout in layouts:
            message = cloud_message(setup.graph, setup.frame(POINTS), layout.dtype, layout.shape)
            points = message.array("data").view(layout.dtype).reshape(layout.shape)
            layout.prepare(points)
            self._clouds.append((layout, message, points))

    def publish(self, echoes: Echoes, first: int, last: int) -> None:
        """Send a cloud, or one for each band of rows."""
        for layout, message, points in self._clouds:
            dense = layout.write(points, echoes, first * 1e-9)
            message.write(last if layout.stamped_last else first, (dense,))
            self._publisher.publish_raw(message.data)


def _lidar(group: type[SpinningLidar]) -> SensorType:
    side = GazeboSide(Path("sensors", f"{group().type}.xacro"), renders=True)
    return SensorType(group, (POINTS,), PointsOutput, gazebo=side)


HELIOS_26, HELIOS_31, HELIOS_70 = _lidar(Helios26), _lidar(Helios31), _lidar(Helios70)
OUSTER_OS1, VELODYNE_VLP16 = _lidar(OusterOs1), _lidar(VelodyneVlp16)


SCAN = Stream("scan", "sensor_msgs/msg/LaserScan", "scan", "gz.msgs.LaserScan")

#: The quality of every echo in the express modes of an RPLIDAR, by its SDK; without an echo it is 0.
EXPRESS_QUALITY = 47.0


class ScanOutput(LidarOutput):
    """The scan of a lidar in one plane.

    In the layout ``gazebo``, as from ``ros_gz_bridge``, all rays are at one time, and intensities are
    retro-reflectivities. In the layout ``driver``, as from ``sllidar_ros2``, the stamp is the first ray's, the time
    between rays is given, and intensities are the device's quality.
    """

    def __init__(self, setup: SensorSetup) -> None:
        sensor, graph = setup.parameters, setup.graph
        assert isinstance(sensor, PlanarLidar)
        super().__init__(setup, SCAN)
        self._by_driver = sensor.layout == "driver"
        message: Message = setup.message(SCAN)
        self._describe(message, sensor)
        message.ranges, message.intensities = (graph.numbers(len(self._lidar.grid.azimuths), "float32") for _ in "ri")
        self._message = PackedMessage(graph, SCAN.ros_type, message, ["header.stamp"], [])
        self._ranges, self._intensities = self._message.array("ranges"), self._message.array("intensities")

    def publish(self, echoes: Echoes, first: int, last: int) -> None:
        """Send a scan."""
        self._ranges[:] = echoes.ranges[:, 0]
        quality = np.where(np.isfinite(self._ranges), EXPRESS_QUALITY, 0.0)
        self._intensities[:] = quality if self._by_driver else echoes.retro[:, 0]
        self._message.write(first, ())
        self._publisher.publish_raw(self._message.data)

    def _describe(self, message: Message, sensor: PlanarLidar) -> None:
        """Write the constant fields."""
        azimuths = self._lidar.grid.azimuths
        message.angle_min, message.angle_max = float(azimuths[0]), float(azimuths[-1])
        message.angle_increment = (message.angle_max - message.angle_min) / (len(azimuths) - 1)
        message.range_min, message.range_max = sensor.min_range, sensor.max_range
        if self._by_driver:
            message.time_increment = self.span * 1e-9 / (len(azimuths) - 1)
            message.scan_time = 1.0 / sensor.rate


def _planar(group: type[PlanarLidar]) -> SensorType:
    side = GazeboSide(Path("sensors", f"{group().type}.xacro"), renders=True)
    return SensorType(group, (SCAN,), ScanOutput, gazebo=side)


LIDAR_2D, RPLIDAR_A2 = _planar(Lidar2d), _planar(RplidarA2)
