"""The Velodyne VLP-16."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vds_gz.core.arrays import Array, Integers
from vds_gz.core.parameters.sensor_parameters import kind
from vds_gz.core.sensing.lidar import max_range, min_range
from vds_gz.core.sensing.point_layout import POINTS, PointLayout, point_type
from vds_gz.core.sensing.sensor import GazeboSide, SensorType
from vds_gz.core.sensing.spinning_lidar import PointsOutput, SpinningLidar, even_rows, rows, vertical_fov

#: The organized cloud of ``velodyne_pointcloud``: a row for each firing, rings in it from the lowest. The message has
#: the time of the last firing, and each point its time relative to it [s] (organized_cloudXYZIRT.cpp).
VELODYNE = point_type(22, intensity=("<f4", 12), ring=("<u2", 16), time=("<f4", 18))


@dataclass(frozen=True, slots=True)
class VelodyneVlp16(SpinningLidar):
    """A Velodyne VLP-16."""

    min_range: float = min_range(0.1)
    max_range: float = max_range(80.0)
    type: str = kind("velodyne_vlp16")
    rows: int = rows(16)
    vertical_fov: float = vertical_fov(30.0)

    def bands(self) -> tuple[Array, ...]:
        """Evenly spaced rows."""
        return (even_rows(self.rows, self.vertical_fov),)

    def driver_layout(self, directions: Array, times: Integers) -> PointLayout:
        """The layout of ``velodyne_pointcloud``."""
        return PointLayout(VELODYNE, directions, times, stamped_last=True, missing=(np.nan, np.nan))


VELODYNE_VLP16 = SensorType(
    VelodyneVlp16,
    (POINTS,),
    PointsOutput,
    gazebo=GazeboSide(Path("sensors/velodyne_vlp16.xacro"), renders=True),
)
