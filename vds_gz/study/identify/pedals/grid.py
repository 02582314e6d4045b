"""The keys of a map of pedals: speeds and positions, and how smooth a map between them is expected to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.study.identify.estimates import Array

#: A second difference of the map is expected to be within this [m/s^2]: from pedal to pedal, from speed to speed.
CURVATURE = 1.0, 0.5


@dataclass(frozen=True, slots=True)
class Grid:
    """Keys of columns [m/s], and of rows: brake negative, accelerator positive."""

    speeds: Array
    pedals: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, columns."""
        return len(self.pedals), len(self.speeds)

    @property
    def none(self) -> int:
        """The row of no pedal."""
        return int(np.searchsorted(self.pedals, 0.0))

    def thinned(self) -> Grid:
        """The same with fewer cells."""
        rows = np.concatenate((self.pedals[: self.none : 2], self.pedals[self.none :: 2], self.pedals[-1:]))
        return Grid(np.unique(np.concatenate((self.speeds[::3], self.speeds[-1:]))), np.unique(rows))

    def curvature(self) -> Array:
        """Second differences along both directions over what is expected of them, (differences, cells)."""
        places = np.arange(len(self.pedals) * len(self.speeds)).reshape(self.shape)
        rows = [np.zeros((0, places.size))]
        for keys, lines, expected in zip((self.pedals, self.speeds), (places, places.T), CURVATURE, strict=True):
            for i in range(1, len(keys) - 1):
                before, after = keys[i] - keys[i - 1], keys[i + 1] - keys[i]
                left, right = 0.5 * (before + after) / before, 0.5 * (before + after) / after
                cells = np.eye(places.size)[lines[i - 1 : i + 2]]
                rows.append((left * cells[0] - (left + right) * cells[1] + right * cells[2]) / expected)
        return np.concatenate(rows)


def covering(keys: Sequence[float], maximum: float) -> Array:
    """The keys up to the first that is not below the maximum; at least two, from 0 on."""
    rising = np.array(sorted({0.0, *keys}))
    return rising[: max(2, int(np.searchsorted(rising, maximum - 1e-9)) + 1)]


def shares_of(values: Array, keys: Array) -> Array:
    """How much each key counts in a linear interpolation: (values, keys)."""
    return np.column_stack([np.interp(values, keys, row) for row in np.eye(len(keys))])
