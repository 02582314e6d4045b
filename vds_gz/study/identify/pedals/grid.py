"""The grid of a map of pedals, and how long its positions of the pedals are held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.study.identify.estimates import Array
from vds_gz.study.recording import Series

#: Standard deviation of the map's second differences [m/s^2]: from pedal to pedal, from speed to speed.
CURVATURE = 1.0, 0.5

#: Standard deviation of an acceleration, which is next to no information [m/s^2].
LIKELY = 20.0


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

    def prior(self) -> Array:
        """Second differences along both directions and the cells, in standard deviations, (differences, cells)."""
        places = np.arange(len(self.pedals) * len(self.speeds)).reshape(self.shape)
        rows = [np.eye(places.size) / LIKELY]
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
    """Weight of each key in a linear interpolation, (values, keys)."""
    return np.column_stack([np.interp(values, keys, row) for row in np.eye(len(keys))])


class HeldPedal:
    """A pedal that holds each position until the next is commanded: the time at each position of a grid."""

    def __init__(self, pedal: Series, keys: Array) -> None:
        changed = np.concatenate(([True], np.diff(pedal.value) != 0.0))
        value = np.clip(pedal.value[changed], 0.0, keys[-1])
        self._edges = np.concatenate(([pedal.time[0] - 1e3], pedal.time[changed][1:], [pedal.time[-1] + 1e3]))
        shares = np.column_stack((shares_of(value, keys), value > 0.0))
        shares[value <= 0.0] = 0.0  # what holds without a pedal is the caller's to add
        steps = shares * np.diff(self._edges)[:, np.newaxis]
        sums = np.concatenate((np.zeros((1, shares.shape[1])), np.cumsum(steps, axis=0)))
        self._integral: Array = sums.astype(float)

    def mean(self, times: Array, interval: float) -> tuple[Array, Array]:
        """Mean weight of each position in the intervals that begin at some times, and the part it was pressed."""
        begin, end = (interpolated(self._edges, self._integral, at) for at in (times, times + interval))
        means = (end - begin) / interval
        return means[:, :-1], means[:, -1]


def interpolated(x: Array, rows: Array, at: Array) -> Array:
    """Rows that belong to ``x``, interpolated."""
    place = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    share = ((at - x[place]) / (x[place + 1] - x[place]))[:, np.newaxis]
    return np.asarray(rows[place] + (rows[place + 1] - rows[place]) * share)
