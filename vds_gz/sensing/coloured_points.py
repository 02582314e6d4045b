"""Coloured points as Gazebo's RGBD camera sends them through ``ros_gz_bridge`` (gz-sensors 8, RgbdCameraSensor.cc)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vds_gz.sensing.point_layout import Points, components, fields, write_places
from vds_gz.sensing.shading import Bytes
from vds_gz.world.shapes import Array

_PLACES = {"x": ("<f4", 0), "y": ("<f4", 4), "z": ("<f4", 8)}


class ColouredLayout:
    """A point for each pixel; the colour is a number whose bytes are blue, green, red and 0, called a float.

    Attributes:
        dtype: Fields of a point.
        shape: Height and width of the cloud.
    """

    dtype = fields(24, **_PLACES, rgb=("<f4", 16))
    _written = fields(24, **_PLACES, rgb=("<u4", 16))

    def __init__(self, rays: Array) -> None:
        """Lay out the pixels, given as rays with the depth 1 and of shape (rows, columns, 3)."""
        self._rays = components(rays)
        self.shape = self._rays["x"].shape

    def write(self, points: Points, depth: NDArray[np.float32], colour: Bytes) -> bool:
        """Write positions and colours of an image; return whether all points are finite.

        Pixels without a depth are infinite in all three coordinates, with the sign of the depth.
        """
        points = points.view(self._written)
        write_places(points, depth, self._rays)
        finite = np.isfinite(depth)
        for axis in "xyz":
            points[axis][~finite] = depth[~finite]
        red, green, blue = (colour[..., k].astype(np.uint32) for k in range(3))
        points["rgb"] = red << 16 | green << 8 | blue
        return bool(finite.all())
