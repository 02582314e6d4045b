"""Scans of lidars in one plane: ``sensor_msgs/LaserScan``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vds_gz.interface.messages import LaserScan
from vds_gz.interface.sensors.setup import SensorSetup
from vds_gz.parameters.sensors import Lidar2d, PlanarLidar, RplidarA2
from vds_gz.ros.messages.packed import PackedMessage
from vds_gz.sensing.body import BodyState
from vds_gz.sensing.lidar import LidarModel
from vds_gz.sensing.sensor import GazeboSide, SensorType, Stream
from vds_gz.world.scene import Scene

SCAN = Stream("scan", "sensor_msgs/msg/LaserScan", "scan", "gz.msgs.LaserScan")

#: The quality of every echo in the express modes of an RPLIDAR, by its SDK; without an echo it is 0.
EXPRESS_QUALITY = 47.0


class ScanOutput:
    """The scan of a lidar in one plane.

    As through ``ros_gz_bridge``: all rays at one time, intensities are retro-reflectivities. As by ``sllidar_ros2``:
    stamped with the first ray, with the time between rays, and the device's quality for intensity.

    Attributes:
        rate: Scans per second [Hz].
        rays: The rays of a scan.
        span: Time from the first ray to the last one [ns].
    """

    def __init__(self, setup: SensorSetup) -> None:
        """Announce the topic."""
        sensor, graph = setup.parameters, setup.graph
        assert isinstance(sensor, PlanarLidar)
        self._lidar = LidarModel(setup.name, sensor, setup.seed)
        self.rate, self.rays, self.span = sensor.rate, self._lidar.rays, self._lidar.span
        self._by_driver = sensor.layout == "driver"
        self._publisher = setup.publisher(SCAN)
        message: LaserScan = setup.message(SCAN)
        self._describe(message, sensor)
        message.ranges, message.intensities = (graph.numbers(len(self._lidar.grid.azimuths), "float32") for _ in "ri")
        self._message = PackedMessage(graph, SCAN.ros_type, message, ["header.stamp"], [])
        self._ranges, self._intensities = self._message.array("ranges"), self._message.array("intensities")

    @property
    def subscribed(self) -> bool:
        """Whether anybody listens."""
        return self._publisher.subscription_count() > 0

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> None:
        """Scan, and publish if there are subscribers; not a scan that began before time 0."""
        if not self.subscribed or states[-1].time < self.span:
            return
        echoes = self._lidar.measure(states, scene)
        self._ranges[:] = echoes.ranges[:, 0]
        quality = np.where(np.isfinite(self._ranges), EXPRESS_QUALITY, 0.0)
        self._intensities[:] = quality if self._by_driver else echoes.retro[:, 0]
        self._message.write(states[-1].time - self.span, ())
        self._publisher.publish_raw(self._message.data)

    def _describe(self, message: LaserScan, sensor: PlanarLidar) -> None:
        """Write the constant fields."""
        azimuths = self._lidar.grid.azimuths
        message.angle_min, message.angle_max = float(azimuths[0]), float(azimuths[-1])
        message.angle_increment = (message.angle_max - message.angle_min) / (len(azimuths) - 1)
        message.range_min, message.range_max = sensor.min_range, sensor.max_range
        if self._by_driver:
            message.time_increment = self.span * 1e-9 / (len(azimuths) - 1)
            message.scan_time = 1.0 / sensor.rate


def _lidar(group: type[PlanarLidar]) -> SensorType:
    side = GazeboSide(Path("sensors", f"{group().type}.xacro"), renders=True)
    return SensorType(group, (SCAN,), ScanOutput, gazebo=side)


LIDAR_2D, RPLIDAR_A2 = _lidar(Lidar2d), _lidar(RplidarA2)
