"""A recording of pedals at even times: the active cells of the map, and their contributions to the speed.

Drives are cut into pieces, each with its own initial speed, so that errors by slopes and drift do not accumulate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.ndimage import median_filter, uniform_filter1d
from scipy.signal import lfilter

from vds_gz.core.arrays import Array, Flags, Indices
from vds_gz.tools.study.recording import Series, SignalError
from vds_gz.tools.study.signals import noise

#: Standard deviations of the map's second differences, from pedal to pedal and from speed to speed, and of an
#: acceleration without data [m/s^2].
CURVATURE, LIKELY = (1.0, 0.5), 20.0

#: The motion is integrated in steps of this length, in which the pedals act with their mean [s].
INTERVAL = 0.02

#: Below this speed the car may stand, held by forces that are not in the maps [m/s].
STANDING = 0.15

#: Maximum length of a piece, minimum length of a drive, and minimum common time of pedals and speeds [s].
PIECE, DRIVE, LEAST_TIME = 8.0, 1.0, 2.0

#: Speeds are smoothed over this time before maps are read at them [s].
SMOOTHING = 0.3


@dataclass(frozen=True, slots=True)
class Grid:
    """Keys of a map's columns, the speeds [m/s], and of its rows, the pedals: brake negative, accelerator positive."""

    speeds: Array
    pedals: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, columns."""
        return len(self.pedals), len(self.speeds)

    @property
    def released(self) -> int:
        """The row without a pedal."""
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
    """The keys from 0 to the first that is not below the maximum; at least two."""
    rising = np.array(sorted({0.0, *keys}))
    return rising[: max(2, int(np.searchsorted(rising, maximum - 1e-9)) + 1)]


class Record:
    """A recording of a car that is driven by pedals, at even times [s].

    ``median`` has medians of the measured speed at its samples [m/s]. ``piece`` is the piece of each even time, or -1
    while the car stands.
    """

    def __init__(self, accel: Series, brake: Series, speed: Series, grid: Grid, *, coasts: bool) -> None:
        first, last = min(accel.time[0], brake.time[0]), max(accel.time[-1], brake.time[-1])
        self.time = np.arange(max(speed.time[0], first), speed.time[-1], INTERVAL)
        if len(self.time) * INTERVAL < LEAST_TIME or last <= speed.time[0]:
            raise SignalError(
                f"pedals were commanded from {first:.2f} to {last:.2f} s, speeds were measured from "
                f"{speed.time[0]:.2f} to {speed.time[-1]:.2f} s; they must overlap by {LEAST_TIME:g} s at least. Are "
                "the clocks the same?"
            )
        self.speed, self.grid, self._coasts = speed, grid, coasts
        self.prior, self.median = grid.prior(), median_speed(speed)
        self._accel = _held(accel, grid.pedals[grid.released :])
        self._brake = _held(brake, -grid.pedals[: grid.released + 1][::-1])
        smooth = _smooth(np.interp(self.time, speed.time, self.median))
        level = max(noise(self.median), 1e-3 * float(np.ptp(self.median)))
        self.piece, self._launched = _pieces(smooth > STANDING + 2.0 * level)
        begins = np.diff(self.piece, prepend=-2) != 0
        self._begin = np.maximum.accumulate(np.where(begins, np.arange(len(self.time)), 0))

    def piece_at(self, times: Array) -> Indices:
        """The piece at some times; -1 unless the even times before and after are in one piece."""
        place = np.searchsorted(self.time, times) - 1
        inside = (place >= 0) & (place < len(self.time) - 1)
        place = np.clip(place, 0, len(self.time) - 2)
        return np.where(inside & (self.piece[place] == self.piece[place + 1]), self.piece[place], -1)

    def at_speed(self, driven: Array) -> Array:
        """Weight of each column in the interval after each even time, for the speeds at these times."""
        smooth = _smooth(driven)
        middle = 0.5 * (smooth + np.append(smooth[1:], smooth[-1]))
        return _shares(np.clip(middle, 0.0, self.grid.speeds[-1]), self.grid.speeds)

    def contributions(self, times: Array, at_speed: Array) -> tuple[Array, Array, Array]:
        """Contributions to the speed since the start of a piece, for dead times and time constants [s] of both pedals.

        Contributions of a unit of acceleration in each cell [s], (times, cells), and at the start of a drive [s],
        (times,); and the weight of each cell in the target acceleration, (times, cells).
        """
        rows, braking = self._rows(times)
        presence = (rows[:, :, np.newaxis] * at_speed[:, np.newaxis, :]).reshape(len(self.time), -1)
        lag = np.maximum(np.where(braking > 0.5, times[3], times[1]), 1e-3)
        kept = np.exp(-INTERVAL / lag)
        # With a constant target: the acceleration's distance from it decays, and the speed gains the area below.
        area = lag * (1.0 - kept)
        gained = presence * INTERVAL + (_lagged(presence, kept) - presence) * area[:, np.newaxis]
        passed, begin = _sums(INTERVAL / lag), self._begin
        launch = _sums(self._launched[begin] * np.exp(passed[begin] - passed) * area)
        speeds = _sums(gained)
        return speeds - speeds[begin], launch - launch[begin], presence

    def _rows(self, times: Array) -> tuple[Array, Array]:
        """Mean weight of each row in each interval of time, and the part of it in which the brake acts."""
        accel, pressed = self._accel(self.time - times[0])
        brake, braking = self._brake(self.time - times[2])
        brake = brake * (1.0 - pressed)[:, np.newaxis]
        rows = np.column_stack((brake[:, :0:-1], accel))
        rows[:, self.grid.released] += brake[:, 0]
        if self._coasts:
            rows[:, self.grid.released] += (1.0 - pressed) * (1.0 - braking)
        return rows, braking * (1.0 - pressed)


def median_speed(speed: Series) -> Array:
    """Medians of the speeds around each sample, which outliers do not move."""
    samples = round(SMOOTHING / max(float(np.median(np.diff(speed.time))), 1e-4))
    return np.asarray(median_filter(speed.value, max(3, samples | 1), mode="nearest"), dtype=float)


def interpolated(x: Array, rows: Array, at: Array) -> Array:
    """Linear interpolation of rows, which are values at ``x``, at other places."""
    place = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    share = ((at - x[place]) / (x[place + 1] - x[place]))[:, np.newaxis]
    return np.asarray(rows[place] + (rows[place + 1] - rows[place]) * share)


def _shares(values: Array, keys: Array) -> Array:
    """Weight of each key in a linear interpolation, (values, keys)."""
    return np.column_stack([np.interp(values, keys, row) for row in np.eye(len(keys))])


def _held(pedal: Series, keys: Array) -> Callable[[Array], tuple[Array, Array]]:
    """Mean weight of each key, and the part it was pressed, in intervals that begin at some times.

    The pedal holds each position until the next. Keys have no weight where it is released.
    """
    changed = np.concatenate(([True], np.diff(pedal.value) != 0.0))
    value = np.clip(pedal.value[changed], 0.0, keys[-1])
    edges = np.concatenate(([pedal.time[0] - 1e3], pedal.time[changed][1:], [pedal.time[-1] + 1e3]))
    shares = np.column_stack((_shares(value, keys), value > 0.0))
    shares[value <= 0.0] = 0.0
    steps = shares * np.diff(edges)[:, np.newaxis]
    integral: Array = np.concatenate((np.zeros((1, shares.shape[1])), np.cumsum(steps, axis=0))).astype(float)

    def mean(times: Array) -> tuple[Array, Array]:
        begin, end = (interpolated(edges, integral, at) for at in (times, times + INTERVAL))
        means = (end - begin) / INTERVAL
        return means[:, :-1], means[:, -1]

    return mean


def _smooth(driven: Array) -> Array:
    return np.asarray(uniform_filter1d(driven, round(SMOOTHING / INTERVAL), mode="nearest"))


def _pieces(moving: Flags) -> tuple[Indices, Flags]:
    """The piece of each even time, -1 while the car stands; and whether a drive begins there."""
    starts = np.flatnonzero(np.diff(moving.astype(int), prepend=0) == 1)
    ends = np.flatnonzero(np.diff(moving.astype(int), append=0) == -1) + 1
    number, launched, count = np.full(len(moving), -1), np.zeros(len(moving), bool), 0
    for start, end in zip(starts, ends, strict=True):
        duration = (end - start) * INTERVAL
        if duration < DRIVE:
            continue
        launched[start] = True
        for left, right in pairwise(np.linspace(start, end, math.ceil(duration / PIECE) + 1).astype(int)):
            number[left:right] = count
            count += 1
    if not count:
        raise SignalError(f"the car never drove faster than {STANDING} m/s for {DRIVE:g} s, which is needed")
    return number, launched


def _lagged(target: Array, kept: Array) -> Array:
    """A first-order lag from 0 behind targets (times, cells), with the kept part (times,) from time to time."""
    lagged = np.zeros_like(target)
    changes = [0, *(np.flatnonzero(np.diff(kept)) + 1), len(kept) - 1]
    for start, end in pairwise(changes):
        if start < end:
            decay, state = kept[start], kept[start] * lagged[start : start + 1]
            lagged[start + 1 : end + 1] = lfilter([1.0 - decay], [1.0, -decay], target[start:end], axis=0, zi=state)[0]
    return lagged


def _sums(rows: Array) -> Array:
    """The sum of all rows before each."""
    return np.concatenate((np.zeros_like(rows[:1]), np.cumsum(rows[:-1], axis=0)))
