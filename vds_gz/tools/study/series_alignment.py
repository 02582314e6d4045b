"""Alignment of two series of one motion: b(t) = gain a(t - shift) + constant.

Both are compared at the times of one grid, a at each shift of a search. The correlation says how well they agree, and
the gain whether they are in the same unit and sign.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array, Indices
from vds_gz.tools.study.recording import Series
from vds_gz.tools.study.signals import held as held_at

#: Minimum number of samples of related series, and of common times at each shift: fewer agree by chance.
FEWEST_SAMPLES = 20

#: Series are compared on a grid of this step [s], which is shorter than the delays that tell two motions apart, or a
#: wider one in long recordings, so that there are no more points.
STEP, POINTS = 0.02, 20_000

#: A variance below this part of the mean square is rounding: the signal is constant.
ROUNDING = 1e-12

#: Time constants of responses to commands that are tried [s]; a correlation changes little between them.
CONSTANTS = 0.0, 0.1, 0.3, 1.0

#: The most positive correlation is chosen if it is above this, unless the most negative one is stronger by this: a
#: periodic motion has a negative one half a period later.
POSITIVE, STRONGER = 0.3, 0.3

#: Tolerances of the gain: that of a factor, which delays and lags change, and that of two measurements that agree.
NEAR, AGREEING = 0.12, 0.2

#: Series with a smaller correlation are not of one motion: less than a tenth of the variance is common.
NOT_TOGETHER = 0.3

#: The part of the samples whose deviations are too small for a ratio: noise is a large part of them.
LARGE = 0.7


class LinearFit(NamedTuple):
    """Least squares of b = gain a + constant at each shift; all (shifts,)."""

    gain: Array  # 1 where a is constant
    residual: Array  # mean square of what is left of b
    correlation: Array  # 0 where one of them is constant


def moments(time: Array, a: Array, b: Array, samples: Indices, shifts: Array | list[float]) -> Array:
    """Number of samples, sums, squares and product of shifted a, and of b, a row for each shift [s].

    Both signals are given at the same times; ``samples`` are the indices that count. Moments of parts can be added.
    """
    y = b[samples]
    rows = []
    for shift in shifts:
        x = np.interp(time[samples] - shift, time, a)
        rows.append((len(y), x.sum(), y.sum(), x @ x, x @ y, y @ y))
    return np.array(rows, float)


def linear_fit(moments: Array) -> LinearFit:
    """The fit for each row of moments."""
    n, x, y, xx, xy, yy = moments.T
    a, covariance, b = xx / n - (x / n) ** 2, xy / n - x * y / n**2, yy / n - (y / n) ** 2
    moves = a > ROUNDING * xx / n
    gain = np.divide(covariance, a, out=np.ones(len(a)), where=moves)
    explained = np.divide(covariance**2, a, out=np.zeros(len(a)), where=moves)
    both = moves & (b > ROUNDING * yy / n)
    correlation = np.divide(covariance, np.sqrt(np.abs(a * b)), out=np.zeros(len(a)), where=both)
    return LinearFit(gain, np.maximum(b - explained, 0.0), correlation)


class CommonGrid(NamedTuple):
    """Two series at the times of one grid, and the shifts of a search [s]."""

    time: Array
    a: Array
    b: Array
    samples: Indices  # those of which a is known at all shifts
    shifts: Array

    def fit(self) -> LinearFit:
        """The fit of b to a for each shift."""
        return linear_fit(moments(self.time, self.a, self.b, self.samples, self.shifts))

    def clipped(self) -> CommonGrid:
        """Both series without their extreme values."""
        return self._replace(a=_clipped(self.a), b=_clipped(self.b))

    def behind_lag(self, constant: float) -> CommonGrid:
        """The series with a behind a first-order lag of this time constant [s]."""
        # Imported here, because only responses to commands need it, and it takes a second.
        from scipy.signal import lfilter

        decay = math.exp(-(self.time[1] - self.time[0]) / constant) if constant else 0.0
        lagged, _ = lfilter([1.0 - decay], [1.0, -decay], self.a, zi=[decay * self.a[0]])
        return self._replace(a=lagged)


def common_grid(a: Series, b: Series, first: float, last: float, *, held: bool = False) -> CommonGrid | None:
    """Both series on one grid, for a search of the shift of b behind a from first to last [s].

    With ``held``, each value of a holds until the next, the last one for the longest shift. None if the series are too
    short for the search.
    """
    if not len(a.time) or not len(b.time):
        return None
    begin, end = max(a.time[0], b.time[0]), min(a.time[-1] + (last if held else 0.0), b.time[-1])
    step = max(STEP, (end - begin) / POINTS)
    reach = math.ceil(max(abs(first), abs(last)) / step)
    time = np.arange(begin, end, step)
    if len(time) < 4 * reach + FEWEST_SAMPLES:
        return None
    shifts = step * np.arange(math.floor(first / step), math.ceil(last / step) + 1)
    on_grid = held_at(a.time, a.value, time) if held else np.interp(time, a.time, a.value)
    return CommonGrid(time, on_grid, np.interp(time, b.time, b.value), np.arange(reach, len(time) - reach), shifts)


class Relation(NamedTuple):
    """The relation of one series to another: y = gain x + constant, at the lag with the best agreement.

    ``unexplained`` is the part of y's rms that no multiple of x explains. ``ratio`` is the gain by the median of the
    ratios of large deviations, which delays and single samples hardly change.
    """

    gain: float
    correlation: float
    unexplained: float
    ratio: float

    def is_factor(self, factor: float, part: float = NEAR) -> bool:
        """Whether both measures of the gain are a factor."""
        return _is_factor(self.gain, factor, part) and _is_factor(self.ratio, factor, part)

    @property
    def agrees(self) -> bool:
        """Whether either measure of the gain is 1, or the two contradict each other."""
        ones = (_is_factor(gain, 1.0, AGREEING) for gain in (self.gain, self.ratio))
        return any(ones) or not _is_factor(self.gain, self.ratio, AGREEING)

    @property
    def contradicts(self) -> bool:
        """Whether the series are not of the same motion. Two series with hardly more than noise do not show that."""
        return abs(self.correlation) < NOT_TOGETHER and self.unexplained > AGREEING


def relation(x: Series, y: Series, first: float, last: float, *, held: bool = False) -> Relation | None:
    """The relation of y to x, at the lag [s] from first to last with the best agreement.

    None if one of them hardly changes or they are too short. A positive correlation is preferred. Extreme samples are
    clipped. With ``held``, each value of x holds until the next, and y may follow with a first-order lag.
    """
    grid = common_grid(x, y, first, last, held=held)
    if grid is None or min(len(x.time), len(y.time)) < FEWEST_SAMPLES:
        return None
    grid = grid.clipped()
    if min(float(np.std(grid.a)), float(np.std(grid.b[grid.samples]))) < 1e-9:
        return None
    grids = [grid.behind_lag(constant) for constant in CONSTANTS] if held else [grid]
    fits = [grid.fit() for grid in grids]
    correlations = np.array([fit.correlation for fit in fits])
    positive = float(np.max(correlations)) >= max(POSITIVE, -float(np.min(correlations)) - STRONGER)
    best = np.argmax(correlations if positive else np.abs(correlations))
    which, shift = np.unravel_index(best, correlations.shape)
    correlation = float(correlations[which, shift])
    if correlation == 0.0:
        return None
    xs = np.interp(grid.time[grid.samples] - grid.shifts[shift], grid.time, grids[which].a)
    ys = grid.b[grid.samples]
    cosine = float(xs @ ys) / math.sqrt(float(xs @ xs) * float(ys @ ys))
    unexplained = math.sqrt(max(1.0 - cosine**2, 0.0))
    return Relation(float(fits[which].gain[shift]), correlation, unexplained, _ratio(xs, ys))


def _is_factor(value: float, factor: float, part: float) -> bool:
    return value > 0.0 and abs(math.log(value / factor)) < part


def _ratio(x: Array, y: Array) -> float:
    """The median ratio of deviations from the median, of the samples in which x deviates most."""
    x, y = x - np.median(x), y - np.median(y)
    most = np.abs(x) >= max(float(np.percentile(np.abs(x), 100.0 * LARGE)), 1e-12)
    return float(np.median(y[most] / x[most])) if most.any() else 0.0


def _clipped(values: Array) -> Array:
    """Values clipped to their 1st and 99th percentiles."""
    return np.asarray(np.clip(values, *np.percentile(values, (1.0, 99.0))))
