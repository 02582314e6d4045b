"""How well cells and times are known: by the weighted information, less for noise that hangs together.

Cells and times are uncertain together: those of the times that remain when the cells adapt widen the cells' intervals.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from vds_gz.study.identify.estimates import (
    CERTAIN,
    CERTAIN_TIME,
    TIME_RESOLUTION,
    WIDTH,
    Array,
    Estimate,
    central_differences,
    standard_deviations,
)
from vds_gz.study.identify.pedals.cells import Cells, solve
from vds_gz.study.identify.pedals.record import Record
from vds_gz.study.identify.pedals.search import LONGEST
from vds_gz.study.identify.solver.explanation import autocorrelation_time

#: Times that are found, in the order of the vectors.
TIMES = ("accel_time_delay", "accel_time_constant", "brake_time_delay", "brake_time_constant")


#: A time that is this part of the longest one that is looked for, or more, is not found.
AT_END = 0.99


class Slopes(NamedTuple):
    """Derivatives with respect to the times [1/s]: of what is left after the cells adapted, (bins, times), in standard
    deviations; and of the cells [m/s^2], (cells, times)."""

    residuals: Array
    values: Array


def slopes(record: Record, times: Array) -> Slopes:
    """Derivatives at some times [s], by differences."""

    def found(at: Array) -> Array:
        cells = solve(record, at)
        return np.concatenate((cells.values, cells.residuals))

    every = central_differences(found, times, np.full(len(times), 0.01), 0.0)
    rows, columns = record.grid.shape
    return Slopes(every[rows * columns :], every[: rows * columns])


def widening(record: Record, cells: Cells) -> float:
    """Factor for standard deviations: what hangs together tells less than as many independent samples."""
    _, factor = record.noise.weights(np.zeros(1))
    power = factor * float(np.mean(cells.residuals**2))
    runs = np.split(cells.residuals, np.flatnonzero(np.diff(cells.owner)) + 1)
    together = autocorrelation_time(runs, math.sqrt(max(power, 1.0)), record.noise.floor / record.noise.scale)
    return math.sqrt(max(power, 1.0) * together)


def half_widths(cells: Cells, at: Slopes, wider: float) -> Array:
    """Half the width of each cell's interval [m/s^2], (cells,)."""
    seen = np.sum(at.residuals**2, axis=0) > 0.0
    residuals, values = at.residuals[:, seen], at.values[:, seen]
    variances = np.diag(np.linalg.inv(cells.precision) + values @ np.linalg.pinv(residuals.T @ residuals) @ values.T)
    return np.asarray(WIDTH * wider * np.sqrt(variances))


def estimates(times: Array, at: Slopes, wider: float) -> dict[str, Estimate | None]:
    """The times [s] with their intervals; None of those that the recording does not determine."""
    found: dict[str, Estimate | None] = {}
    for name, value, one, end in zip(TIMES, times, standard_deviations(at.residuals, wider), LONGEST, strict=True):
        half = WIDTH * math.hypot(one, TIME_RESOLUTION)
        sure = half <= max(CERTAIN * value, CERTAIN_TIME) and value < AT_END * end
        found[name] = Estimate(float(value), float(max(value - half, 0.0)), float(value + half)) if sure else None
    return found
