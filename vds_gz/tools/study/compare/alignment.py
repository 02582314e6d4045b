"""Alignment of two runs by their commands.

Both runs received the same commands, at different times; each recording may begin at a different command. A grid search
finds the shift at which the commands agree best, and the times of their changes refine it. If the commands determine no
shift, the runs are aligned at their first commands, and the delay between them is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from vds_gz.core.arrays import Array
from vds_gz.tools.study.recording import Recording
from vds_gz.tools.study.signals import held

#: Commands are compared on a grid of this step [s], or a wider one of this many points at most.
STEP, POINTS = 0.02, 200_000

#: Commands agree if their mean squared difference is at most this part of their variance.
AGREEING = 0.05

#: The alignment is ambiguous if a shift more than APART away [s] agrees about as well: its disagreement is at most
#: RIVAL plus twice that of the best shift. Runs that overlap by at least the part WHOLE of the longer one are
#: aligned anyway.
APART, RIVAL, WHOLE = 0.3, 0.01, 0.98

#: Minimum overlap of the runs, as a part of the shorter one.
OVERLAP = 0.3

#: Changes of commands correspond if they are this close after the alignment on the grid [s], and their new values
#: differ by at most this part of their range. Messages have single precision.
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
    starts = float(a.command_times[0]), float(b.command_times[0])
    values_a, values_b = _values(a), _values(b)
    shared = np.isfinite(values_a).any(axis=0) & np.isfinite(values_b).any(axis=0)
    commands_a, commands_b = np.nan_to_num(values_a[:, shared]), np.nan_to_num(values_b[:, shared])
    scale = np.ptp(np.vstack((commands_a, commands_b)), axis=0)
    moving = scale > 0.0
    commands_a, commands_b = commands_a[:, moving] / scale[moving], commands_b[:, moving] / scale[moving]
    changes = [_changes(commands) for commands in (commands_a, commands_b)]
    if min(map(len, changes)) == 0:
        return Alignment(
            *starts, "" if _begins(a) and _begins(b) else _no_changes(a, b, share_quantity=bool(shared.any()))
        )
    shift, step, doubt = _coarse(a, b, commands_a, commands_b)
    if doubt:
        return Alignment(*starts, doubt)
    times_a, times_b = a.command_times[changes[0]], b.command_times[changes[1]]
    shift += _fine(times_a, commands_a[changes[0]], times_b - shift, commands_b[changes[1]], max(NEAR, 2.0 * step))
    if abs(shift - (starts[1] - starts[0])) < SAME:
        return Alignment(*starts)
    begin = max(starts[0], starts[1] - shift)
    return Alignment(begin, begin + shift)


def _no_changes(a: Recording, b: Recording, *, share_quantity: bool) -> str:
    """Why the runs share no change of commands, for the user."""
    if tables := [name for name, run in (("A", a), ("B", b)) if run.made_by_replay]:
        return f"a table of vds-gz replay, as {' and '.join(tables)}, has no commands"
    return "the commands do not change" if share_quantity else "no quantity was commanded in both runs"


def _values(run: Recording) -> Array:
    """The commands, a row for each time and a column for each quantity."""
    commands = run.references
    return np.column_stack((commands.speed, commands.v_y, commands.yaw_rate, commands.steering_angle))


def _changes(commands: Array) -> NDArray[np.intp]:
    """Indices of the commands that differ from the one before."""
    return np.flatnonzero((np.abs(np.diff(commands, axis=0)) > ALIKE).any(axis=1)) + 1


def _begins(run: Recording) -> bool:
    """Whether the first command starts the drive, because the vehicle is at rest then."""
    speed = np.abs(np.nan_to_num(run.motion.v_x))
    return bool(np.interp(run.command_times[0], run.motion.time, speed) <= STANDING * np.max(speed))


def _correlate(a: Array, b: Array) -> Array:
    """Cross-correlation at all lags; ``scipy.signal`` would take a second to import."""
    lags = len(a) + len(b) - 1
    size = next_fast_len(lags, real=True)
    result: Array = irfft(rfft(a, size) * rfft(b[::-1], size), size)[:lags]
    return result


def _coarse(a: Recording, b: Recording, commands_a: Array, commands_b: Array) -> tuple[float, float, str]:
    """Shift of B's clock that aligns the commands [s], step of the grid [s], and why the shift is uncertain, if so."""
    spans = [run.command_times[-1] - run.command_times[0] for run in (a, b)]
    step = max(STEP, max(spans) / POINTS)
    grids = [_on_grid(run.command_times, commands, step) for run, commands in ((a, commands_a), (b, commands_b))]
    ones = [np.ones(len(grid)) for grid in grids]
    overlap = np.round(_correlate(ones[1], ones[0]))
    squared_error, spread = np.zeros(len(overlap)), np.zeros(len(overlap))
    for x, y in zip(grids[0].T, grids[1].T, strict=True):
        squares = _correlate(y**2, ones[0]) + _correlate(ones[1], x**2)
        sums = _correlate(y, ones[0]), _correlate(ones[1], x)
        squared_error += squares - 2.0 * _correlate(y, x)
        spread += 0.5 * squares - 0.5 * (sums[0] ** 2 + sums[1] ** 2) / np.maximum(overlap, 1.0)
    overlaps = overlap >= max(2.0, OVERLAP * min(map(len, grids)))
    varied = spread > 0.25 * OVERLAP * max(float(np.max(spread[overlaps])), 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        disagreement = np.where(overlaps & varied, np.maximum(squared_error, 0.0) / spread, np.inf)
    lags = np.arange(len(overlap)) - (len(grids[0]) - 1)
    best = int(np.lexsort((-overlap, np.round(disagreement, 6)))[0])
    if not disagreement[best] <= AGREEING:
        return 0.0, step, "the commands of the runs differ, so both runs are taken from their first command"
    rivals = (np.abs(lags - lags[best]) * step > APART) & (disagreement <= 2.0 * disagreement[best] + RIVAL)
    if rivals.any() and overlap[best] < WHOLE * max(map(len, grids)):
        return 0.0, step, "the commands repeat, so that several alignments fit"
    return float(b.command_times[0] - a.command_times[0] + lags[best] * step), step, ""


def _on_grid(time: Array, commands: Array, step: float) -> Array:
    """The commands at times of a grid, from the first command to the last."""
    grid = np.arange(time[0], time[-1] + step, step)
    return held(time, commands, grid)


def _fine(times_a: Array, a: Array, times_b: Array, b: Array, reach: float) -> float:
    """Median delay from A's changes to B's [s], over the changes that correspond within a reach [s]."""
    nearest = [nearest_equal(time, value, times_b, b, reach, ALIKE) for time, value in zip(times_a, a, strict=True)]
    delays = [times_b[k] - time for k, time in zip(nearest, times_a, strict=True) if k is not None]
    return float(np.median(delays)) if delays else 0.0


def nearest_equal(time: float, value: Array, times: Array, values: Array, reach: float, tolerance: float) -> int | None:
    """Index of the change nearest to a time, within a reach [s], to the same value within a tolerance, or None.

    Changes have times (n,) [s], in their order, and new values (n, quantities).
    """
    begin, end = np.searchsorted(times, (time - reach, time + reach))
    equal = begin + np.flatnonzero((np.abs(values[begin:end] - value) <= tolerance).all(axis=1))
    return int(equal[np.argmin(np.abs(times[equal] - time))]) if len(equal) else None
