"""How well cells and times are known: by the weighted information, less for noise that hangs together."""

from __future__ import annotations

import math

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
from vds_gz.study.identify.solver.explanation import autocorrelation_time

#: Times that are found, in the order of the vectors.
TIMES = ("accel_time_delay", "accel_time_constant", "brake_time_delay", "brake_time_constant")


def widening(record: Record, cells: Cells) -> float:
    """Factor for standard deviations: what hangs together tells less than as many independent samples."""
    _, factor = record.noise.weights(np.zeros(1))
    power = factor * float(np.mean(cells.residuals**2))
    runs = np.split(cells.residuals, np.flatnonzero(np.diff(cells.owner)) + 1)
    together = autocorrelation_time(runs, math.sqrt(max(power, 1.0)), record.noise.floor / record.noise.scale)
    return math.sqrt(max(power, 1.0) * together)


def half_widths(cells: Cells, wider: float) -> Array:
    """Half the width of each cell's interval [m/s^2]."""
    return np.asarray(WIDTH * wider * np.sqrt(np.diag(np.linalg.inv(cells.precision))))


def estimates(record: Record, times: Array, wider: float) -> dict[str, Estimate | None]:
    """The times with their intervals, from the derivatives of what is left after the cells adapted."""
    jacobian = central_differences(lambda at: solve(record, at).residuals, times, np.full(4, 0.01), 0.0)
    found: dict[str, Estimate | None] = {}
    for name, value, one in zip(TIMES, times, standard_deviations(jacobian, wider), strict=True):
        half = WIDTH * math.hypot(one, TIME_RESOLUTION)
        sure = half <= max(CERTAIN * value, CERTAIN_TIME)
        found[name] = Estimate(float(value), float(max(value - half, 0.0)), float(value + half)) if sure else None
    return found
