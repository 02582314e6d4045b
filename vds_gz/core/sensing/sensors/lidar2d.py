"""A laser scanner in one plane, without the traits of a device."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vds_gz.core.parameters.declaration import integer
from vds_gz.core.parameters.sensor_parameters import kind
from vds_gz.core.sensing.lidar import MOST_RAYS, max_range, scan_rate
from vds_gz.core.sensing.planar_lidar import SCAN, PlanarLidar, ScanOutput
from vds_gz.core.sensing.sensor import GazeboSide, SensorType


@dataclass(frozen=True, slots=True)
class Lidar2d(PlanarLidar):
    """A laser scanner in one plane."""

    rate: float = scan_rate(20.0)
    max_range: float = max_range(30.0)
    type: str = kind("lidar2d")
    rays: int = integer(181, "rays of a scan", minimum=2, maximum=MOST_RAYS)

    @property
    def column_count(self) -> int:
        """The rays, at every rate."""
        return self.rays


LIDAR_2D = SensorType(Lidar2d, (SCAN,), ScanOutput, gazebo=GazeboSide(Path("sensors/lidar2d.xacro"), renders=True))
