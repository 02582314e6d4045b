"""How one series of numbers follows another: their factor and their correlation, at the lag that suits best."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from vds_gz.study.recording import Array, Series

#: A measurement comes up to so long after its command, and one of another topic up to so long before or after [s].
AFTER_COMMAND, APART = 2.0, 0.5

#: Correlations from which on two series go together, and below which they do not.
TOGETHER, NOT_TOGETHER = 0.9, 0.3

#: Series are compared on a grid of this step [s], or wider in longer recordings so that there are no more points.
STEP, POINTS = 0.02, 20_000

#: From this correlation on the best is the most positive one, unless the most negative one is stronger by this.
POSITIVE, STRONGER = 0.3, 0.3

#: What is commanded is followed with one of these time constants, about [s].
CONSTANTS = (0.0, 0.1, 0.3, 1.0)

#: Fewer samples tell nothing.
FEWEST_SAMPLES = 20

#: Derivatives are differences over this time [s].
DIFFERENCE = 0.4


class Relation(NamedTuple):
    """How one series follows another: y = gain x + constant, at the lag at which they go together best."""

    gain: float
    correlation: float


def rate(series: Series) -> Series:
    """The derivative in time, by differences over :data:`DIFFERENCE`; of equal stamps the last one counts."""
    last = np.diff(series.time, append=math.inf) > 0.0
    series = Series(series.time[last], series.value[last])
    usual = float(np.median(np.diff(series.time))) if len(series.time) > 1 else STEP
    apart = max(1, round(DIFFERENCE / usual))
    if len(series.time) <= 2 * apart:
        return Series(np.empty(0), np.empty(0))
    passed = series.time[apart:] - series.time[:-apart]
    middle = 0.5 * (series.time[apart:] + series.time[:-apart])
    return Series(middle, (series.value[apart:] - series.value[:-apart]) / passed)


def relation(x: Series, y: Series, first: float, last: float, *, held: bool = False) -> Relation | None:
    """How y follows x, at the lag [s] from first to last at which they go together best.

    None where one of them hardly changes. A positive correlation is preferred: what goes to and fro regularly goes
    against itself half a period later. Samples far from all others do not count.

    Args:
        x, y: Two series.
        first, last: Lags of y behind x [s].
        held: x is commanded: its values hold until the next, and y may follow it with a lag of first order too.
    """
    if min(len(x.time), len(y.time)) < FEWEST_SAMPLES:
        return None
    begin, end = max(x.time[0], y.time[0]), min(x.time[-1] + (last if held else 0.0), y.time[-1])
    step = max(STEP, (end - begin) / POINTS)
    reach = math.ceil(max(abs(first), abs(last)) / step)
    grid = np.arange(begin, end, step)
    if len(grid) < 4 * reach + FEWEST_SAMPLES:
        return None
    at = np.searchsorted(x.time, grid, side="right") - 1
    xs = _clipped(x.value[at] if held else np.interp(grid, x.time, x.value))
    ys = _clipped(np.interp(grid, y.time, y.value))[reach : len(grid) - reach]
    lags = range(math.floor(first / step), math.ceil(last / step) + 1)
    shifted = [
        one[reach - lag : len(grid) - reach - lag]
        for constant in (CONSTANTS if held else CONSTANTS[:1])
        for one in (_smoothed(xs, step / constant if constant else math.inf),)
        for lag in lags
    ]
    if min(float(np.std(ys)), float(np.std(xs))) < 1e-9:
        return None
    alike = np.array([_correlation(one, ys) for one in shifted])
    positive = float(np.max(alike)) >= max(POSITIVE, -float(np.min(alike)) - STRONGER)
    best = int(np.argmax(alike if positive else np.abs(alike)))
    spread = float(np.std(shifted[best]))
    return Relation(float(alike[best] * np.std(ys)) / spread, float(alike[best])) if spread > 0.0 else None


def _smoothed(values: Array, rate: float) -> Array:
    """Values behind a lag of first order, whose time constant is one step divided by the rate."""
    left = math.exp(-rate)
    smoothed: Array = lfilter([1.0 - left], [1.0, -left], values, zi=[left * values[0]])[0]
    return smoothed


def _clipped(values: Array) -> Array:
    """Values without those that lie far outside."""
    low, high = np.percentile(values, (1.0, 99.0))
    clipped: Array = np.clip(values, low, high)
    return clipped


def _correlation(a: Array, b: Array) -> float:
    spread = float(np.std(a) * np.std(b))
    return float(np.mean((a - a.mean()) * (b - b.mean()))) / spread if spread > 1e-12 else 0.0
