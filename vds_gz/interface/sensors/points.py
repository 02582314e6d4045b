"""Point clouds of lidars: ``sensor_msgs/PointCloud2``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vds_gz.interface.sensors.clouds import POINTS, cloud_message
from vds_gz.interface.sensors.setup import SensorSetup
from vds_gz.parameters.sensors import Helios26, Helios31, Helios70, OusterOs1, SpinningLidar, VelodyneVlp16
from vds_gz.ros.graph import Graph, QoS
from vds_gz.sensing.body import BodyState
from vds_gz.sensing.driver_points import driver_layout
from vds_gz.sensing.gazebo_points import gazebo_layouts
from vds_gz.sensing.lidar import LidarModel
from vds_gz.sensing.point_layout import PointLayout
from vds_gz.sensing.range_finder import Echoes
from vds_gz.sensing.ray_grid import gazebo_bands
from vds_gz.sensing.sensor import GazeboSide, SensorType
from vds_gz.world.scene import Scene

#: The quality of service of ``ouster-ros``: rclcpp's for the data of sensors.
SENSOR_DATA = QoS(depth=5, reliable=False)


class PointsOutput:
    """The point cloud of a lidar.

    Attributes:
        rate: Turns per second [Hz].
        rays: The rays of a turn.
        span: Time from the first column to the last one [ns].
    """

    def __init__(self, setup: SensorSetup) -> None:
        """Announce the topic."""
        sensor = setup.parameters
        assert isinstance(sensor, SpinningLidar)
        self._lidar = LidarModel(setup.name, sensor, setup.seed)
        self.rate, self.rays, self.span = sensor.rate, self._lidar.rays, self._lidar.span
        by_driver = sensor.layout == "driver"
        best_effort = by_driver and isinstance(sensor, OusterOs1)
        self._publisher = setup.publisher(POINTS, SENSOR_DATA if best_effort else None)
        layouts = _driver_layouts(sensor, self._lidar) if by_driver else _gazebo_layouts(sensor, self._lidar)
        self._clouds = [Cloud(setup.graph, setup.frame(POINTS), layout) for layout in layouts]

    @property
    def subscribed(self) -> bool:
        """Whether anybody listens."""
        return self._publisher.subscription_count() > 0

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> None:
        """Measure a turn, and publish it if there are subscribers; not one that began before time 0."""
        if not self.subscribed or states[-1].time < self.span:
            return
        echoes, now = self._lidar.measure(states, scene), states[-1].time
        for cloud in self._clouds:
            cloud.write(echoes, now - self.span, now)
            self._publisher.publish_raw(cloud.message.data)


def _gazebo_layouts(sensor: SpinningLidar, lidar: LidarModel) -> list[PointLayout]:
    return gazebo_layouts(lidar.directions, gazebo_bands(sensor))


def _driver_layouts(sensor: SpinningLidar, lidar: LidarModel) -> list[PointLayout]:
    return [driver_layout(sensor, lidar.directions, lidar.column_times(0))]


class Cloud:
    """One message of a turn.

    Attributes:
        message: Its bytes.
    """

    def __init__(self, graph: Graph, frame: str, layout: PointLayout) -> None:
        """Lay out the message."""
        self._layout = layout
        self.message = cloud_message(graph, frame, layout.dtype, layout.shape)
        self._points = self.message.array("data").view(layout.dtype).reshape(layout.shape)
        layout.prepare(self._points)

    def write(self, echoes: Echoes, first: int, last: int) -> None:
        """Write a turn whose columns were measured between two times [ns]."""
        dense = self._layout.write(self._points, echoes, first * 1e-9)
        self.message.write(last if self._layout.stamped_last else first, (dense,))


def _lidar(group: type[SpinningLidar]) -> SensorType:
    side = GazeboSide(Path("sensors", f"{group().type}.xacro"), renders=True)
    return SensorType(group, (POINTS,), PointsOutput, gazebo=side)


HELIOS_26, HELIOS_31, HELIOS_70 = _lidar(Helios26), _lidar(Helios31), _lidar(Helios70)
OUSTER_OS1, VELODYNE_VLP16 = _lidar(OusterOs1), _lidar(VelodyneVlp16)
