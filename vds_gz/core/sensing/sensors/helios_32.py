"""The RoboSense HELIOS 32, with a vertical field of view of 26, 31 or 70 degrees."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from vds_gz.core.arrays import Array, Integers
from vds_gz.core.parameters.sensor_parameters import kind
from vds_gz.core.sensing.lidar import RayGrid
from vds_gz.core.sensing.point_layout import POINTS, PointLayout, point_type
from vds_gz.core.sensing.sensor import GazeboSide, SensorType
from vds_gz.core.sensing.spinning_lidar import PointsOutput, SpinningLidar, clockwise

#: The cloud of ``rslidar_sdk`` with points of type XYZIRT: a row for each firing, rings in it from the lowest. The
#: message has the time of the first firing, and each point its absolute time [s] (source_pointcloud_ros.hpp).
ROBOSENSE = point_type(26, intensity=("<f4", 12), ring=("<u2", 16), timestamp=("<f8", 18))

#: Elevations of the rows of the real HELIOS 32 with 70 degrees [rad].
HELIOS_70_ROWS: Array = np.radians(
    [
        *(-55.020, -52.081, -49.142, -46.204, -43.265, -40.326, -37.387, -34.449, -31.510, -28.571, -25.632, -22.694),
        *(-19.755, -16.816, -13.877, -10.939, -8.000, -6.667, -5.333, -4.000, -2.667, -1.333, 0.000, 1.333),
        *(2.667, 4.000, 5.333, 6.667, 8.754, 10.841, 12.929, 15.0),
    ]
)


@dataclass(frozen=True, slots=True)
class Helios32(SpinningLidar):
    """The parameters of every HELIOS 32."""

    #: Bands of evenly spaced rows: bottom, top [degrees] and number of rows, as in models/sensors.
    even_bands: ClassVar[tuple[tuple[float, float, int], ...]] = ()

    def bands(self) -> tuple[Array, ...]:
        """Bands of evenly spaced rows."""
        return tuple(np.radians(np.linspace(*band)) for band in self.even_bands)

    def driver_grid(self) -> RayGrid:
        """Columns from ahead."""
        return clockwise(0.0, self.column_count, np.concatenate(self.bands()))

    def driver_layout(self, directions: Array, times: Integers) -> PointLayout:
        """The layout of ``rslidar_sdk``."""
        return PointLayout(ROBOSENSE, directions, times)


@dataclass(frozen=True, slots=True)
class Helios26(Helios32):
    """A HELIOS 32 with rows from -16 to 10 degrees, dense about the horizon."""

    even_bands = ((-16.0, -13.0, 3), (-12.5, -8.0, 4), (-7.0, 3.5, 22), (6.0, 10.0, 3))

    type: str = kind("helios_32_fov_26")


@dataclass(frozen=True, slots=True)
class Helios31(Helios32):
    """A HELIOS 32 with rows from -16 to 15 degrees, evenly spaced."""

    even_bands = ((-16.0, 15.0, 32),)

    type: str = kind("helios_32_fov_31")


@dataclass(frozen=True, slots=True)
class Helios70(Helios32):
    """A HELIOS 32 with rows from -55 to 15 degrees, dense about the horizon."""

    even_bands = ((-55.02, -8.0, 17), (-6.667, 6.667, 11), (8.754, 15.0, 4))

    type: str = kind("helios_32_fov_70")

    def driver_grid(self) -> RayGrid:
        """Columns from ahead, with the exact rows of the device."""
        return clockwise(0.0, self.column_count, HELIOS_70_ROWS)


HELIOS_26, HELIOS_31, HELIOS_70 = (
    SensorType(group, (POINTS,), PointsOutput, gazebo=GazeboSide(Path(f"sensors/{group().type}.xacro"), renders=True))
    for group in (Helios26, Helios31, Helios70)
)
