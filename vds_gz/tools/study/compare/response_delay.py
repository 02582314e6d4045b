"""The delay between two signals of two runs.

The model of a delay is B = gain * A(t - delay) + constant. The delay is the shift with the smallest residual. It is
only given if it clearly reduces the residual, no distant shift does so too, and its standard error is small. The
standard error is from a jackknife over blocks of the run, so residuals may be autocorrelated.

Source of the jackknife of blocks: H. R. Kuensch, The jackknife and the bootstrap for general stationary observations,
Annals of Statistics 17 (1989).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import uniform_filter1d
from scipy.optimize import minimize_scalar

from vds_gz.core.arrays import Array, Indices
from vds_gz.tools.study.series_alignment import linear_fit, moments

#: Maximum delay between two runs in the search [s].
LONGEST_DELAY = 1.0

#: A delay this close to the maximum is the end of the search, not a minimum of the residual [s].
AT_THE_END = 1e-5

#: A signal that varies by less than this, in its own unit, has no delay.
STILL = 1e-6

#: Minimum number of samples of each signal.
FEWEST = 10

#: A delay is given if it reduces the rms of the residual at least to this part.
CLEARLY = 0.9

#: Below this part of the signal, the residual without a delay counts as zero: the signals are equal.
EQUAL = 1e-4

#: Maximum standard error of a delay [s]. Interpolation between samples adds this part of their interval.
STANDARD_ERROR, OF_INTERVAL = 0.0015, 0.025

#: A delay is uncertain if there is another minimum, at least FAR from the best one [s], with a mean square of at most
#: OTHER_MINIMUM times the smallest plus SHALLOW times B's variance.
FAR, OTHER_MINIMUM, SHALLOW = 0.1, 1.15, 0.05

#: Number of points per interval between samples at which signals are compared, and their maximum total number.
PARTS, SAMPLES = 4, 200_000

#: Signals are averaged over this number of intervals first.
SMOOTHING = 3.0

#: Maximum number of shifts of the coarse search in each direction, because stamps may come in bursts.
SHIFTS = 1000

#: Number of blocks of the jackknife, and of steps of the fine search in an interval between samples.
BLOCKS, FINE = 10, 20


@dataclass(frozen=True, slots=True)
class Delay:
    """The relation of B to A."""

    delay: float | None  # delay of B after A [s]; None if it is uncertain
    standard_error: float | None  # of the delay [s]; None without one
    gain: float | None  # gain from A to B at the delay; None if A is constant or there are too few samples
    lowered: float = 0.0  # relative reduction of the residual's rms by the delay, 0 to 1


def delay(time_a: Array, a: Array, time_b: Array, b: Array, *, certain: bool = True) -> Delay:
    """The delay of ``b`` after ``a``, which are signals of two runs in one unit; their times [s] may repeat.

    The search ends at ``LONGEST_DELAY`` and at a quarter of the run. Both signals are smoothed equally: interpolation
    smooths noise most halfway between two samples, which would bias the delay. No delay is given unless the alignment
    of the runs is ``certain``.
    """
    begin, end = max(time_a[0], time_b[0]), min(time_a[-1], time_b[-1])
    intervals = [np.diff(time)[np.diff(time) > 0.0] for time in (time_a, time_b)]
    if np.ptp(a) < STILL or min(len(time_a), len(time_b)) < FEWEST or not all(map(len, intervals)) or end <= begin:
        return Delay(None, None, None)
    longest = min(LONGEST_DELAY, 0.25 * float(end - begin))
    interval = max(longest / SHIFTS, *(float(np.median(steps)) for steps in intervals))
    step = max(interval / PARTS, (end - begin) / SAMPLES)
    time = begin + step * np.arange(int((end - begin) / step) + 1)
    x, y = (_smoothed(time, at, values, SMOOTHING * interval / step) for at, values in ((time_a, a), (time_b, b)))
    indices = np.flatnonzero((time >= begin + longest) & (time <= end - longest))
    [gain], [residual], _ = linear_fit(moments(time, x, y, np.arange(len(time)), [0.0]))
    if not certain or np.ptp(b) < STILL or len(indices) < PARTS * FEWEST:
        return Delay(None, None, float(gain))
    if math.sqrt(residual) <= EQUAL * float(np.ptp(b)):
        return Delay(0.0, 0.0, float(gain))
    count = int(longest / interval) + 1  # both ends are included for any step
    shifts = np.clip(interval * np.arange(-count, count + 1), -longest, longest)
    errors = linear_fit(moments(time, x, y, indices[::PARTS], shifts)).residual
    coarse = float(shifts[np.lexsort((np.abs(shifts), errors))[0]])
    fine = np.clip(coarse + interval * np.linspace(-1.0, 1.0, 2 * FINE + 1), -longest, longest)
    blocks = np.stack([moments(time, x, y, block, fine) for block in np.array_split(indices, BLOCKS)])
    shift = _refined(time, x, y, indices, _minimum(fine, blocks.sum(axis=0)), interval / FINE, longest)
    if longest - abs(shift) < AT_THE_END:
        # The minimum, if any, is outside the range: the runs took different paths.
        return Delay(None, None, float(gain))
    left_out = np.array([_minimum(fine, blocks.sum(axis=0) - block) for block in blocks])
    scatter = math.sqrt((BLOCKS - 1) / BLOCKS * float(np.sum((left_out - left_out.mean()) ** 2)))
    standard_error = math.hypot(scatter, OF_INTERVAL * interval)
    fit = linear_fit(moments(time, x, y, indices, [shift, 0.0]))
    residual_there, residual_unshifted = fit.residual.tolist()
    lowered = 1.0 - math.sqrt(residual_there / residual_unshifted) if residual_unshifted > 0.0 else 0.0
    minima = np.r_[False, (errors[1:-1] <= errors[:-2]) & (errors[1:-1] <= errors[2:]), False]
    shallow = OTHER_MINIMUM * residual_there + SHALLOW * float(np.var(y[indices]))
    rivals = errors[minima & (np.abs(shifts - shift) > FAR)] <= shallow
    if 1.0 - lowered > CLEARLY or standard_error > STANDARD_ERROR or rivals.any():
        return Delay(None, None, float(gain))
    return Delay(shift, standard_error, float(fit.gain[0]), lowered)


def _smoothed(time: Array, at: Array, values: Array, width: float) -> Array:
    """A signal at the times of a grid, averaged twice over ``width`` steps."""
    on_grid = np.interp(time, at, values)
    size = 2 * round(0.5 * width) + 1
    smoothed: Array = uniform_filter1d(uniform_filter1d(on_grid, size, mode="nearest"), size, mode="nearest")
    return smoothed


def _refined(time: Array, a: Array, b: Array, indices: Indices, start: float, reach: float, longest: float) -> float:
    """The shift with the smallest residual within a reach of a shift [s]."""

    def error(shift: float) -> float:
        return float(linear_fit(moments(time, a, b, indices, [shift])).residual[0])

    bounds = max(start - reach, -longest), min(start + reach, longest)
    solution = minimize_scalar(error, (), bounds, method="bounded", options={"xatol": 1e-7})
    return float(solution.x) if solution.fun < error(start) else start


def _minimum(shifts: Array, sums: Array) -> float:
    """Minimum of the parabola through the smallest residual and its neighbours, for shifts in equal steps [s]."""
    errors = linear_fit(sums).residual
    k = int(np.lexsort((np.abs(shifts), errors))[0])
    if 0 < k < len(shifts) - 1:
        low, middle, high = errors[k - 1 : k + 2]
        step = shifts[k + 1] - shifts[k]
        bend = low - 2.0 * middle + high
        if bend > 0.0 and math.isclose(shifts[k] - shifts[k - 1], step, rel_tol=1e-6):
            return float(shifts[k] + 0.5 * step * (low - high) / bend)
    return float(shifts[k])
