"""Layout of point clouds in bytes.

A layout has a structured type with the fields' names, types and offsets as in ``sensor_msgs/PointCloud2``, and writes
the echoes of a turn into an array of such points.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vds_gz.sensing.range_finder import Echoes, Floats
from vds_gz.world.shapes import Array

#: Points of a structured type, of shape (height, width).
Points = NDArray[Any]


class PointLayout(Protocol):
    """Layout of the points of a lidar, or of one of its bands, in a message.

    Attributes:
        dtype: Fields of a point.
        shape: Height and width of the cloud.
        stamped_last: The message's stamp is the time of the last column, else of the first one.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, int]
    stamped_last: bool

    def prepare(self, points: Points) -> None:
        """Write the constant fields."""

    def write(self, points: Points, echoes: Echoes, begin: float) -> bool:
        """Write the echoes of a turn.

        Args:
            points: The array to write into.
            echoes: All echoes of the lidar.
            begin: Time of the first column [s].

        Returns:
            Whether every point is finite.
        """


def fields(step: int, **places: tuple[str, int]) -> np.dtype[Any]:
    """A point of ``step`` bytes; each field has a format and an offset."""
    return np.dtype(
        {
            "names": list(places),
            "formats": [kind for kind, _ in places.values()],
            "offsets": [offset for _, offset in places.values()],
            "itemsize": step,
        }
    )


def write_places(points: Points, ranges: Floats, directions: Mapping[str, Floats]) -> None:
    """Write x, y and z [m] of points at these ranges in these directions, all of the points' shape."""
    for axis, component in directions.items():
        np.multiply(ranges, component, out=points[axis])


def components(directions: Array) -> dict[str, Floats]:
    """The x, y and z of directions, each contiguous."""
    return {axis: np.ascontiguousarray(directions[..., k], np.float32) for k, axis in enumerate("xyz")}
