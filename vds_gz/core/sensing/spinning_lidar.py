"""What lidars with several rows have in common: parameters, rays and the topic of their point clouds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vds_gz.core.arrays import Array, Integers
from vds_gz.core.parameters.declaration import integer, real
from vds_gz.core.ros.graph import QoS
from vds_gz.core.sensing.lidar import Echoes, Lidar, LidarOutput, RayGrid, gazebo_azimuths
from vds_gz.core.sensing.point_layout import POINTS, PointLayout, cloud_message, gazebo_layouts
from vds_gz.core.sensing.sensor import SensorSetup

#: Maximum number of rows, which bounds memory.
MOST_ROWS = 512

FIRING = 55.296e-6  # time between two firings of a VLP-16 or a HELIOS [s]


def rows(default: int) -> int:
    """The parameter for the number of rings of a lidar."""
    return integer(default, "rings, one above the other; a single one is level", minimum=1, maximum=MOST_ROWS)


def vertical_fov(degrees: float) -> float:
    """The parameter for the vertical field of view of a lidar."""
    doc = "vertical field of view, from the lowest to the highest ring"
    return real(math.radians(degrees), "rad", doc, minimum=0.0, maximum=math.pi)


def even_rows(count: int, fov: float) -> Array:
    """Elevations of evenly spaced rows over a vertical field of view [rad]."""
    half = 0.5 * fov if count > 1 else 0.0
    return np.linspace(-half, half, count)


def clockwise(begin: float, columns: int, elevations: Array) -> RayGrid:
    """The rays of a lidar that turns clockwise from an azimuth [rad]."""
    return RayGrid(begin - 2.0 * math.pi / columns * np.arange(columns, dtype=np.float64), elevations)


@dataclass(frozen=True, slots=True)
class SpinningLidar(Lidar):
    """The parameters of a lidar with several rows, which turns clockwise.

    Attributes:
        driver_qos: The quality of service of the device's driver; None for that of the bridge.
    """

    driver_qos: ClassVar[QoS | None] = None

    @property
    def column_count(self) -> int:
        """Number of columns of a turn; by default, with a fixed time per column, fewer at a higher rate."""
        return int(1.0 / self.rate / FIRING)

    def bands(self) -> tuple[Array, ...]:
        """Elevations of the rows from bottom to top [rad], one array for each lidar of the model in Gazebo."""
        raise NotImplementedError

    def gazebo_grid(self) -> RayGrid:
        """The rays of the model in Gazebo."""
        return RayGrid(gazebo_azimuths(2.0 * math.pi, self.column_count), np.concatenate(self.bands()))

    def driver_grid(self) -> RayGrid:
        """The rays of the device; by default, its turn begins behind, and rows go from the lowest up."""
        return clockwise(math.pi, self.column_count, np.concatenate(self.bands()))

    def driver_layout(self, directions: Array, times: Integers) -> PointLayout:
        """The layout of the device's driver, for rays of shape (columns, rows, 3) and columns at times [ns]."""
        raise NotImplementedError


class PointsOutput(LidarOutput):
    """The point cloud of a lidar."""

    def __init__(self, setup: SensorSetup) -> None:
        sensor = setup.parameters
        assert isinstance(sensor, SpinningLidar)
        by_driver = sensor.layout == "driver"
        super().__init__(setup, POINTS, sensor.driver_qos if by_driver else None)
        directions = self._lidar.directions
        layouts: list[PointLayout]
        if by_driver:
            layouts = [sensor.driver_layout(directions, self._lidar.column_times(0))]
        else:
            layouts = gazebo_layouts(directions, sensor.bands())
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
