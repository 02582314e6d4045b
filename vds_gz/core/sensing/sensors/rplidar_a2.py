"""The RPLIDAR A2 of Slamtec."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from vds_gz.core.parameters.sensor_parameters import kind
from vds_gz.core.sensing.lidar import max_range
from vds_gz.core.sensing.planar_lidar import SCAN, PlanarLidar, ScanOutput, field_of_view
from vds_gz.core.sensing.sensor import GazeboSide, SensorType

MEASUREMENT = 125e-6  # time between two measurements [s]


@dataclass(frozen=True, slots=True)
class RplidarA2(PlanarLidar):
    """An RPLIDAR A2, which scans in one plane, by default all around."""

    max_range: float = max_range(16.0)
    fov: float = field_of_view(2.0 * math.pi)
    type: str = kind("rplidar_a2")

    @property
    def column_count(self) -> int:
        """Number of rays of a scan, fewer at a higher rate."""
        return round(1.0 / self.rate / MEASUREMENT)


RPLIDAR_A2 = SensorType(
    RplidarA2, (SCAN,), ScanOutput, gazebo=GazeboSide(Path("sensors/rplidar_a2.xacro"), renders=True)
)
