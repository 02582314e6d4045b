"""A pedal that holds each position until the next is commanded."""

from __future__ import annotations

import numpy as np

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.pedals.grid import shares_of
from vds_gz.study.identify.signals import Series


class HeldPedal:
    """The integrals over time of how much each position of a grid counts, and of whether the pedal is pressed."""

    def __init__(self, pedal: Series, keys: Array) -> None:
        changed = np.concatenate(([True], np.diff(pedal.value) != 0.0))
        value = np.clip(pedal.value[changed], 0.0, keys[-1])
        self.edges = np.concatenate(([pedal.time[0] - 1e3], pedal.time[changed][1:], [pedal.time[-1] + 1e3]))
        shares = np.column_stack((shares_of(value, keys), value > 0.0))
        # Not pressed at all counts nowhere; the caller adds what holds then.
        shares[value <= 0.0] = 0.0
        steps = shares * np.diff(self.edges)[:, None]
        self.integral: Array = np.concatenate((np.zeros((1, shares.shape[1])), np.cumsum(steps, axis=0))).astype(float)

    def mean(self, times: Array, interval: float) -> tuple[Array, Array]:
        """Mean shares of each position in the intervals that begin at some times, and the part it was pressed."""
        begin, end = (between(self.edges, self.integral, at) for at in (times, times + interval))
        means = (end - begin) / interval
        return means[:, :-1], means[:, -1]


def between(x: Array, rows: Array, at: Array) -> Array:
    """Rows that belong to ``x``, interpolated."""
    place = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    share = ((at - x[place]) / (x[place + 1] - x[place]))[:, None]
    return np.asarray(rows[place] + (rows[place + 1] - rows[place]) * share)
