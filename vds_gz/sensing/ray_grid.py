"""Directions of the rays of all types of lidars: of the model in Gazebo, and of the device.

A lidar has rows, one above the other, and columns, which it measures one by one as it turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vds_gz.parameters.sensors import (
    Helios26,
    Helios31,
    Helios70,
    Lidar,
    Lidar2d,
    OusterOs1,
    PlanarLidar,
    RplidarA2,
    VelodyneVlp16,
)
from vds_gz.world.shapes import Array

#: Times between two firings of VLP-16 and HELIOS, and between two measurements of an RPLIDAR A2 [s].
FIRING = 55.296e-6
MEASUREMENT = 125e-6

#: A fan counts as a full turn if it lacks at most this [rad].
_TURN = 2.0 * math.pi - 1e-6

#: Evenly spaced rows, bottom, top [degrees] and how many, of the HELIOS 32; see models/sensors.
_BANDS: dict[type[Lidar], tuple[tuple[float, float, int], ...]] = {
    Helios26: ((-16.0, -13.0, 3), (-12.5, -8.0, 4), (-7.0, 3.5, 22), (6.0, 10.0, 3)),
    Helios31: ((-16.0, 15.0, 32),),
    Helios70: ((-55.02, -8.0, 17), (-6.667, 6.667, 11), (8.754, 15.0, 4)),
}

#: Rows of the real HELIOS 32 with 70 degrees, in degrees there.
_HELIOS_70: Array = np.radians(
    [
        *(-55.020, -52.081, -49.142, -46.204, -43.265, -40.326, -37.387, -34.449, -31.510, -28.571, -25.632, -22.694),
        *(-19.755, -16.816, -13.877, -10.939, -8.000, -6.667, -5.333, -4.000, -2.667, -1.333, 0.000, 1.333),
        *(2.667, 4.000, 5.333, 6.667, 8.754, 10.841, 12.929, 15.0),
    ]
)


@dataclass(frozen=True, eq=False, slots=True)
class RayGrid:
    """The rays of a lidar: one for each column and row.

    Attributes:
        azimuths: Of the columns, counter-clockwise from ahead [rad].
        elevations: Of the rows, up from the horizon [rad].
    """

    azimuths: Array
    elevations: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of columns and rows."""
        return len(self.azimuths), len(self.elevations)

    def directions(self) -> Array:
        """Unit vectors in the sensor's frame, of shape (columns, rows, 3)."""
        azimuth, elevation = self.azimuths[:, None], self.elevations[None, :]
        x, y = np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth)
        return np.stack([x, y, np.broadcast_to(np.sin(elevation), x.shape)], axis=-1)


def column_count(sensor: Lidar) -> int:
    """Columns of a turn, or rays of a scan: a device with a fixed pace has fewer at a higher rate."""
    if isinstance(sensor, OusterOs1):
        return sensor.columns
    if isinstance(sensor, Lidar2d):
        return sensor.rays
    if isinstance(sensor, RplidarA2):
        return round(1.0 / sensor.rate / MEASUREMENT)
    return int(1.0 / sensor.rate / FIRING)


def gazebo_bands(sensor: Lidar) -> tuple[Array, ...]:
    """Elevations [rad] from bottom to top: one array for each lidar of the model in Gazebo."""
    if isinstance(sensor, PlanarLidar):
        return (np.zeros(1),)
    if isinstance(sensor, OusterOs1 | VelodyneVlp16):
        half = 0.5 * sensor.vertical_fov if sensor.rows > 1 else 0.0
        return (np.linspace(-half, half, sensor.rows),)
    return tuple(np.radians(np.linspace(*band)) for band in _BANDS[type(sensor)])


def gazebo_grid(sensor: Lidar) -> RayGrid:
    """The rays of the model in Gazebo: columns from right behind counter-clockwise, rows from the lowest."""
    fov = sensor.fov if isinstance(sensor, PlanarLidar) else 2.0 * math.pi
    columns = column_count(sensor)
    last = 0.5 * fov if fov < _TURN else 0.5 * fov - fov / columns
    return RayGrid(np.linspace(-0.5 * fov, last, columns), np.concatenate(gazebo_bands(sensor)))


def driver_grid(sensor: Lidar) -> RayGrid:
    """The rays of the device, in the order in which its driver reports them.

    Lidars that see all around turn clockwise; a HELIOS begins a turn ahead, the others behind. An Ouster counts its
    rows from the top. Scanners in one plane are reported counter-clockwise, from the lowest angle to the highest.
    """
    if isinstance(sensor, PlanarLidar):
        return RayGrid(np.linspace(-0.5 * sensor.fov, 0.5 * sensor.fov, column_count(sensor)), np.zeros(1))
    columns = column_count(sensor)
    elevations = np.concatenate(gazebo_bands(sensor))
    begin = math.pi
    if isinstance(sensor, OusterOs1):
        elevations = elevations[::-1]
    elif not isinstance(sensor, VelodyneVlp16):
        begin = 0.0
        elevations = _HELIOS_70 if isinstance(sensor, Helios70) else elevations
    return RayGrid(begin - 2.0 * math.pi / columns * np.arange(columns, dtype=np.float64), elevations)
