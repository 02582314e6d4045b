"""The Ouster OS1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from vds_gz.core.arrays import Array, Integers
from vds_gz.core.parameters.declaration import integer
from vds_gz.core.parameters.sensor_parameters import kind
from vds_gz.core.ros.graph import QoS
from vds_gz.core.sensing.lidar import MOST_RAYS, RayGrid, max_range, min_range
from vds_gz.core.sensing.point_layout import POINTS, PointLayout, point_type
from vds_gz.core.sensing.sensor import GazeboSide, SensorType
from vds_gz.core.sensing.spinning_lidar import PointsOutput, SpinningLidar, clockwise, even_rows, rows, vertical_fov

#: The cloud of ``ouster-ros`` with points of type "original", destaggered: rows from the highest. The message has the
#: time of the first column, and each point its time after it [ns]; ``range`` is in millimetres, 0 without a hit
#: (os_point.h, point_cloud_compose.h).
OUSTER = point_type(
    48,
    **{"intensity": ("<f4", 16), "t": ("<u4", 20), "reflectivity": ("<u2", 24)},
    **{"ring": ("<u2", 26), "ambient": ("<u2", 28), "range": ("<u4", 32)},
)


@dataclass(frozen=True, slots=True)
class OusterOs1(SpinningLidar):
    """An Ouster OS1."""

    driver_qos: ClassVar[QoS | None] = QoS(depth=5, reliable=False)  # rclcpp's for the data of sensors

    min_range: float = min_range(0.5)
    max_range: float = max_range(90.0)
    type: str = kind("ouster_os1")
    columns: int = integer(1024, "columns of a scan; the device has 512, 1024 or 2048", minimum=2, maximum=MOST_RAYS)
    rows: int = rows(128)
    vertical_fov: float = vertical_fov(22.5)

    @property
    def column_count(self) -> int:
        """The columns, at every rate."""
        return self.columns

    def bands(self) -> tuple[Array, ...]:
        """Evenly spaced rows."""
        return (even_rows(self.rows, self.vertical_fov),)

    def driver_grid(self) -> RayGrid:
        """Rows from the top, and columns from behind."""
        return clockwise(math.pi, self.column_count, self.bands()[0][::-1])

    def driver_layout(self, directions: Array, times: Integers) -> PointLayout:
        """The layout of ``ouster-ros``."""
        return PointLayout(OUSTER, directions, times, by_rows=True)


OUSTER_OS1 = SensorType(
    OusterOs1, (POINTS,), PointsOutput, gazebo=GazeboSide(Path("sensors/ouster_os1.xacro"), renders=True)
)
