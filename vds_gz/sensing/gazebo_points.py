"""Points as sent by Gazebo's lidar through ``ros_gz_bridge``."""

from __future__ import annotations

import numpy as np

from vds_gz.sensing.point_layout import PointLayout, Points, components, fields, write_places
from vds_gz.sensing.range_finder import Echoes
from vds_gz.world.shapes import Array


class GazeboLayout:
    """Rows of a cloud are rows of the lidar, the lowest first; rays without a hit are infinite.

    Fields and offsets as gz-sensors 8 has them (GpuLidarSensor.cc), aligned for ROS.
    """

    dtype = fields(32, x=("<f4", 0), y=("<f4", 4), z=("<f4", 8), intensity=("<f4", 16), ring=("<u2", 24))
    stamped_last = False

    def __init__(self, directions: Array, rows: slice) -> None:
        """Lay out some rows.

        Args:
            directions: Of all rays, of shape (columns, rows, 3).
            rows: Those that one lidar of Gazebo's has.
        """
        self._rows = rows
        # Gazebo sums angles up, so that none is exactly 0: an infinite range is infinite in all coordinates, never NaN.
        directions = np.where(directions == 0.0, np.finfo(np.float32).tiny, directions)
        self._directions = components(directions[:, rows].swapaxes(0, 1))
        self.shape = self._directions["x"].shape

    def prepare(self, points: Points) -> None:
        """Number the rings from the lowest."""
        points["ring"] = np.arange(self.shape[0])[:, None]

    def write(self, points: Points, echoes: Echoes, begin: float) -> bool:
        """Write places and intensities; all points have the time of the message."""
        ranges = np.ascontiguousarray(echoes.ranges[:, self._rows].T)
        write_places(points, ranges, self._directions)
        points["intensity"] = echoes.retro[:, self._rows].T
        return bool(np.isfinite(ranges).all())


def gazebo_layouts(directions: Array, bands: tuple[Array, ...]) -> list[PointLayout]:
    """The layouts of a lidar that Gazebo has in several bands, see :func:`vds_gz.sensing.ray_grid.gazebo_bands`."""
    ends = np.cumsum([len(band) for band in bands]).tolist()
    return [GazeboLayout(directions, slice(begin, end)) for begin, end in zip([0, *ends], ends, strict=False)]
