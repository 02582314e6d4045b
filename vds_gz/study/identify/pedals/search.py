"""Dead times and time constants: variable projection, with the samples weighted again until the times stay."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import least_squares

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.pedals.cells import Cells, solve
from vds_gz.study.identify.pedals.record import Record, record_of, with_model
from vds_gz.study.progress import Advance

#: Least time constant of the models [s].
SHORTEST = 0.03

#: Longest dead times and time constants that are looked for, in the order of the vectors [s].
LONGEST = 1.5, 3.0, 1.5, 3.0

#: Dead times [s] and time constants [s] that are tried, the same for both pedals.
DELAYS, LAGS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.8), (0.03, 0.1, 0.25, 0.5)

#: The weights are settled when no time moves by more than this [s], or after so many rounds.
SETTLED, ROUNDS = 5e-4, 6


def search(record: Record, advance: Advance) -> tuple[Record, Array, Cells]:
    """The times by a coarse grid with a coarse map, then by iteratively reweighted least squares.

    Returns:
        The recording with the noise that was found, the times, and their cells.
    """
    coarse = record_of(record.accel, record.brake, record.speed, record.grid.thinned(), coasts=record.coasts)
    trials = [np.array([delay, lag, delay, lag]) for delay, lag in product(DELAYS, LAGS)]
    squares = []
    for trial in trials:
        squares.append(float(np.sum(solve(coarse, trial).residuals ** 2)))
        advance(0.4 / len(trials))
    times = _least_squares(record, trials[int(np.argmin(squares))])
    advance(0.4)
    for _ in range(ROUNDS):
        before = times
        record = with_model(record, solve(record, times).modelled)
        times = _least_squares(record, times)
        if np.abs(times - before).max() < SETTLED:
            break
    advance(0.2)
    return record, times, solve(record, times)


def _least_squares(record: Record, start: Array) -> Array:
    """The times of the least weighted squares."""
    found = least_squares(
        lambda times: solve(record, times).residuals,
        np.maximum(start, (0.01, SHORTEST + 1e-3, 0.01, SHORTEST + 1e-3)),
        bounds=((0.0, SHORTEST, 0.0, SHORTEST), LONGEST),
        x_scale=0.05,
        diff_step=0.02,
        max_nfev=8,
        xtol=1e-3,
        ftol=1e-5,
    )
    return np.asarray(found.x)
