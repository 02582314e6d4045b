"""Alignment of two runs by their commands, and the delay between two of their signals.

Both were sent the same commands, at different times and maybe from a different point on. A grid search finds the shift
at which the commands agree best, and the times of their changes refine it. If the commands determine no shift, the runs
are aligned at their first commands, and delays between them are not known.

The model of a delay is B = gain * A(t - delay) + constant. The delay is the shift with the smallest residual. It is
only given if it reduces the residual clearly, no other shift does too, and its standard error is small. The standard
error is from a jackknife over blocks of the run, so residuals may be autocorrelated.

Source of the jackknife of blocks: H. R. Kuensch, The jackknife and the bootstrap for general stationary observations,
Annals of Statistics 17 (1989).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d
from scipy.optimize import minimize_scalar
from scipy.signal import correlate

from vds_gz.study.recording import Array, Recording

#: Commands are compared on a grid of this step [s], or wider so that there are no more points.
STEP, POINTS = 0.02, 200_000

#: Commands agree if their difference is at most this part of their variance. Another shift at least so far away [s]
#: that agrees as well, but for this part, makes the alignment ambiguous, unless the runs overlap for this part of the
#: longer one.
AGREEING, APART, RIVAL, WHOLE = 0.05, 0.3, 0.01, 0.98

#: The runs overlap for at least this part of the shorter one.
OVERLAP = 0.3

#: Changes of commands correspond if they are this close after the alignment on the grid [s], and their new values
#: differ by at most this part of their range: messages have single precision.
NEAR, ALIKE = 0.1, 1e-4

#: Shifts that differ by less are equal [s].
SAME = 1e-6

#: A vehicle is at rest at its first command if its speed is at most this part of the maximum.
STANDING = 0.05


@dataclass(frozen=True, slots=True)
class Alignment:
    """Corresponding times of both runs, each in its own time [s]."""

    # a, b: the corresponding times
    a: float
    b: float
    doubt: str = ""  # the reason why delays between the runs are not known; empty if they are


def align(a: Recording, b: Recording) -> Alignment:
    """Align two runs by their commands."""
    if silent := [name for name, run in (("A", a), ("B", b)) if not len(run.command_times)]:
        doubt = f"there are no commands in {' and '.join(silent)}, so both runs are taken from their first sample"
        return Alignment(float(a.motion.time[0]), float(b.motion.time[0]), doubt)
    first = float(a.command_times[0]), float(b.command_times[0])
    values_a, values_b = _values(a), _values(b)
    known = np.isfinite(values_a).any(axis=0) & np.isfinite(values_b).any(axis=0)
    held_a, held_b = np.nan_to_num(values_a[:, known]), np.nan_to_num(values_b[:, known])
    scale = np.ptp(np.vstack((held_a, held_b)), axis=0)
    moving = scale > 0.0
    held_a, held_b = held_a[:, moving] / scale[moving], held_b[:, moving] / scale[moving]
    changes = [_changes(held) for held in (held_a, held_b)]
    if min(map(len, changes)) == 0:
        return Alignment(*first, "" if _begins(a) and _begins(b) else _no_changes(a, b, both=bool(known.any())))
    shift, step, doubt = _coarse(a, b, held_a, held_b)
    if doubt:
        return Alignment(*first, doubt)
    times_a, times_b = a.command_times[changes[0]], b.command_times[changes[1]]
    shift += _fine(times_a, held_a[changes[0]], times_b - shift, held_b[changes[1]], max(NEAR, 2.0 * step))
    if abs(shift - (first[1] - first[0])) < SAME:
        return Alignment(*first)
    begin = max(first[0], first[1] - shift)
    return Alignment(begin, begin + shift)


def _no_changes(a: Recording, b: Recording, *, both: bool) -> str:
    """The reason why runs have no changes of commands in common."""
    if tables := [name for name, run in (("A", a), ("B", b)) if run.made_by_replay]:
        return f"a table of vds-gz replay, as {' and '.join(tables)}, has no commands"
    return "the commands do not change" if both else "no quantity was commanded in both runs"


def _values(run: Recording) -> Array:
    """The commands, a row for each time and a column for each quantity."""
    commands = run.references
    return np.column_stack((commands.speed, commands.v_y, commands.yaw_rate, commands.steering_angle))


def _changes(held: Array) -> NDArray[np.intp]:
    """The commands that differ from the one before."""
    return np.flatnonzero((np.abs(np.diff(held, axis=0)) > ALIKE).any(axis=1)) + 1


def _begins(run: Recording) -> bool:
    """Whether the first command starts the drive: nothing moved before."""
    speed = np.abs(np.nan_to_num(run.motion.v_x))
    return bool(np.interp(run.command_times[0], run.motion.time, speed) <= STANDING * np.max(speed))


def _coarse(a: Recording, b: Recording, held_a: Array, held_b: Array) -> tuple[float, float, str]:
    """Shift of B's clock at the same commands [s], to a step of the grid [s]; and the reason if it is uncertain."""
    spans = [run.command_times[-1] - run.command_times[0] for run in (a, b)]
    step = max(STEP, max(spans) / POINTS)
    grids = [_on_grid(run.command_times, held, step) for run, held in ((a, held_a), (b, held_b))]
    ones = [np.ones(len(grid)) for grid in grids]
    overlap = np.round(correlate(ones[1], ones[0], method="fft"))
    wrong, spread = np.zeros(len(overlap)), np.zeros(len(overlap))
    for x, y in zip(grids[0].T, grids[1].T, strict=True):
        squares = correlate(y**2, ones[0], method="fft") + correlate(ones[1], x**2, method="fft")
        sums = correlate(y, ones[0], method="fft"), correlate(ones[1], x, method="fft")
        wrong += squares - 2.0 * correlate(y, x, method="fft")
        spread += 0.5 * squares - 0.5 * (sums[0] ** 2 + sums[1] ** 2) / np.maximum(overlap, 1.0)
    enough = overlap >= max(2.0, OVERLAP * min(map(len, grids)))
    varied = spread > 0.25 * OVERLAP * max(float(np.max(spread[enough])), 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        disagreement = np.where(enough & varied, np.maximum(wrong, 0.0) / spread, np.inf)
    lags = np.arange(len(overlap)) - (len(grids[0]) - 1)
    best = int(np.lexsort((-overlap, np.round(disagreement, 6)))[0])
    if not disagreement[best] <= AGREEING:
        return 0.0, step, "the commands of the runs differ, so both runs are taken from their first command"
    rivals = (np.abs(lags - lags[best]) * step > APART) & (disagreement <= 2.0 * disagreement[best] + RIVAL)
    if rivals.any() and overlap[best] < WHOLE * max(map(len, grids)):
        return 0.0, step, "the commands repeat, so that several alignments fit"
    return float(b.command_times[0] - a.command_times[0] + lags[best] * step), step, ""


def _on_grid(time: Array, held: Array, step: float) -> Array:
    """The commands at times of a grid, from the first command to the last."""
    grid = np.arange(time[0], time[-1] + step, step)
    on_grid: Array = held[np.searchsorted(time, grid, side="right") - 1]
    return on_grid


def _fine(times_a: Array, a: Array, times_b: Array, b: Array, reach: float) -> float:
    """Median delay from A's changes to B's [s], over the changes that correspond within a reach [s]."""
    later = []
    for time, value in zip(times_a, a, strict=True):
        begin, end = np.searchsorted(times_b, (time - reach, time + reach))
        alike = (np.abs(b[begin:end] - value) <= ALIKE).all(axis=1)
        if alike.any():
            apart = times_b[begin:end][alike] - time
            later.append(float(apart[np.argmin(np.abs(apart))]))
    return float(np.median(later)) if later else 0.0


#: Numbers of samples.
Samples = NDArray[np.intp]

#: Maximum delay between two runs in the search [s].
LONGEST_DELAY = 1.0

#: A delay this close to the maximum is the end of the search, not a minimum [s].
AT_THE_END = 1e-5

#: A signal that varies by less than this, in its own unit, has no delay.
STILL = 1e-6

#: Minimum number of samples.
FEWEST = 10

#: A delay is given if it reduces the rms of the residual at least to this part.
CLEARLY = 0.9

#: Below this part of the signal, the residual without a delay counts as zero: the signals are equal.
EQUAL = 1e-4

#: Maximum standard error of a delay [s]. Interpolation between samples adds this part of their interval.
STANDARD_ERROR, OF_INTERVAL = 0.0015, 0.025

#: Another minimum, at least so far from the best one [s], makes a delay uncertain if its mean square is at most so many
#: times the smallest, and at most this part of B's variance.
FAR, OTHER_MINIMUM, SHALLOW = 0.1, 1.15, 0.05

#: Signals are compared at so many points per sample, at most at so many points, after averaging over so many intervals
#: between samples.
PARTS, SAMPLES, SMOOTHING = 4, 200_000, 3.0

#: Maximum number of shifts of the coarse search in each direction: stamps may come in bursts.
SHIFTS = 1000

#: Blocks of the jackknife; steps between two samples of the fine search.
BLOCKS, FINE = 10, 20


@dataclass(frozen=True, slots=True)
class Delay:
    """The relation of B to A."""

    delay: float | None  # delay of B after A [s]; None if it is uncertain
    standard_error: float | None  # of the delay [s]; None without one
    gain: float | None  # gain from A to B at the delay; None if A is constant
    lowered: float = 0.0  # relative reduction of the residual's rms by the delay, 0 to 1


def delay(time_a: Array, a: Array, time_b: Array, b: Array, *, certain: bool = True) -> Delay:
    """The delay of ``b`` after ``a``, signals of both runs in one unit at times [s] that may be equal.

    The search ends at ``LONGEST_DELAY`` and at a quarter of the run. Both signals are smoothed equally: interpolation
    smooths noise most halfway between two samples, which would bias the delay. It is only given if the runs are
    certainly aligned.
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
    inside = np.flatnonzero((time >= begin + longest) & (time <= end - longest))
    [gain], [residual] = _fit(_moments(time, x, y, np.arange(len(time)), [0.0]))
    if not certain or np.ptp(b) < STILL or len(inside) < PARTS * FEWEST:
        return Delay(None, None, float(gain))
    if math.sqrt(residual) <= EQUAL * float(np.ptp(b)):
        return Delay(0.0, 0.0, float(gain))
    count = int(longest / interval) + 1  # both ends are included for any step
    shifts = np.clip(interval * np.arange(-count, count + 1), -longest, longest)
    _, errors = _fit(_moments(time, x, y, inside[::PARTS], shifts))
    coarse = float(shifts[np.lexsort((np.abs(shifts), errors))[0]])
    fine = np.clip(coarse + interval * np.linspace(-1.0, 1.0, 2 * FINE + 1), -longest, longest)
    blocks = np.stack([_moments(time, x, y, block, fine) for block in np.array_split(inside, BLOCKS)])
    best = _refined(time, x, y, inside, _minimum(fine, blocks.sum(axis=0)), interval / FINE, longest)
    if longest - abs(best) < AT_THE_END:
        # The minimum, if any, is outside the range: the runs took different paths.
        return Delay(None, None, float(gain))
    left_out = np.array([_minimum(fine, blocks.sum(axis=0) - block) for block in blocks])
    scatter = math.sqrt((BLOCKS - 1) / BLOCKS * float(np.sum((left_out - left_out.mean()) ** 2)))
    standard_error = math.hypot(scatter, OF_INTERVAL * interval)
    (gain_there, _), (least, before) = _fit(_moments(time, x, y, inside, [best, 0.0])).tolist()
    lowered = 1.0 - math.sqrt(least / before) if before > 0.0 else 0.0
    minima = np.r_[False, (errors[1:-1] <= errors[:-2]) & (errors[1:-1] <= errors[2:]), False]
    shallow = OTHER_MINIMUM * least + SHALLOW * float(np.var(y[inside]))
    rivals = errors[minima & (np.abs(shifts - best) > FAR)] <= shallow
    if 1.0 - lowered > CLEARLY or standard_error > STANDARD_ERROR or rivals.any():
        return Delay(None, None, float(gain))
    return Delay(best, standard_error, gain_there, lowered)


def _smoothed(time: Array, at: Array, values: Array, width: float) -> Array:
    """A signal at times of a grid, averaged twice over so many steps."""
    on_grid = np.interp(time, at, values)
    size = 2 * round(0.5 * width) + 1
    smoothed: Array = uniform_filter1d(uniform_filter1d(on_grid, size, mode="nearest"), size, mode="nearest")
    return smoothed


def _moments(time: Array, a: Array, b: Array, samples: Samples, shifts: Array | list[float]) -> Array:
    """Number, sums, squares and products of shifted A and B, a row for each shift [s]."""
    y = b[samples]
    rows = []
    for shift in shifts:
        x = np.interp(time[samples] - shift, time, a)
        rows.append((len(y), x.sum(), y.sum(), x @ x, x @ y, y @ y))
    return np.array(rows, float)


def _fit(moments: Array) -> Array:
    """Gain of B over A, and mean square residual of B after gain and constant; a column for each row of moments."""
    n, x, y, xx, xy, yy = moments.T
    a, both, b = xx / n - (x / n) ** 2, xy / n - x * y / n**2, yy / n - (y / n) ** 2
    gains = np.divide(both, a, out=np.ones(len(a)), where=a > 0.0)
    explained = np.divide(both**2, a, out=np.zeros(len(a)), where=a > 0.0)
    return np.stack((gains, np.maximum(b - explained, 0.0)))


def _refined(time: Array, a: Array, b: Array, inside: Samples, near: float, reach: float, longest: float) -> float:
    """The shift with the smallest residual within a reach of a shift [s]."""

    def error(shift: float) -> float:
        return float(_fit(_moments(time, a, b, inside, [shift]))[1, 0])

    bounds = max(near - reach, -longest), min(near + reach, longest)
    solution = minimize_scalar(error, (), bounds, method="bounded", options={"xatol": 1e-7})
    return float(solution.x) if solution.fun < error(near) else near


def _minimum(shifts: Array, moments: Array) -> float:
    """Minimum of the parabola through the smallest residual and its neighbours, of shifts in equal steps [s]."""
    _, errors = _fit(moments)
    k = int(np.lexsort((np.abs(shifts), errors))[0])
    if 0 < k < len(shifts) - 1:
        low, middle, high = errors[k - 1 : k + 2]
        step = shifts[k + 1] - shifts[k]
        bend = low - 2.0 * middle + high
        if bend > 0.0 and math.isclose(shifts[k] - shifts[k - 1], step, rel_tol=1e-6):
            return float(shifts[k] + 0.5 * step * (low - high) / bend)
    return float(shifts[k])
