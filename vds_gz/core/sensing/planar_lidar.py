"""What lidars with one row have in common: parameters, rays and the topic of their scans."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vds_gz.core.parameters.declaration import real
from vds_gz.core.parameters.sensor_parameters import place
from vds_gz.core.ros.graph import Message
from vds_gz.core.ros.messages.packed import PackedMessage
from vds_gz.core.sensing.lidar import Echoes, Lidar, LidarOutput, RayGrid, gazebo_azimuths, min_range, range_noise
from vds_gz.core.sensing.sensor import SensorSetup, Stream


def field_of_view(default: float) -> float:
    """The parameter for the field of view of a scanner in one plane."""
    return real(default, "rad", "field of view, centred ahead", positive=True, maximum=2.0 * math.pi)


@dataclass(frozen=True, slots=True)
class PlanarLidar(Lidar):
    """The parameters of a laser scanner in one plane."""

    xyz: tuple[float, float, float] = place(1.8, 0.0, 0.7)
    std_noise: float = range_noise(0.01)
    min_range: float = min_range(0.05)
    fov: float = field_of_view(math.pi)

    @property
    def column_count(self) -> int:
        """Number of rays of a scan."""
        raise NotImplementedError

    def gazebo_grid(self) -> RayGrid:
        """The rays of the model in Gazebo."""
        return RayGrid(gazebo_azimuths(self.fov, self.column_count), np.zeros(1))

    def driver_grid(self) -> RayGrid:
        """The rays of the device, reported counter-clockwise from the lowest angle to the highest."""
        return RayGrid(np.linspace(-0.5 * self.fov, 0.5 * self.fov, self.column_count), np.zeros(1))


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
