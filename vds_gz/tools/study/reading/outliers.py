"""Samples that are not of the motion: turns of a heading that wraps, wild values, drop-outs to zero.

They are recognised by what no vehicle does, not by what this one rarely does: steps, bumps and noise stay.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from vds_gz.core.arrays import Array
from vds_gz.tools.study.recording import Series

Mask = NDArray[np.bool_]

#: A yaw rate is a wrap if it is a turn per sample within this part of a turn. Intervals longer than the usual one by
#: the factor LOST are gaps, after which a slow turn may be a whole one too.
TURN, LOST = 0.15, 3.0

#: Samples with a local median of this many are compared; a wild value may come thrice in a row.
AROUND = 7

#: The rest of a series is without this part of the samples, those farthest from their local medians.
FARTHEST = 0.02

#: A measurement is wild if it is farther from its local median than this multiple of the span of the rest; a command,
#: which may be a short pulse, by a larger one and only if it is as short [s].
WILD, WILD_COMMAND, SHORT_COMMAND = 2.0, 10.0, 0.5

#: Smaller distances are never wild: [m/s], [rad/s] or [rad]; those of commands are ten times as large.
LEAST = {"v_x": 0.5, "v_y": 0.5, "yaw_rate": 1.0, "joint_velocity": 5.0, "steering": 0.3}

#: Minimum number of samples.
FEWEST_SAMPLES = 20

#: A sensor drops out if it falls below the part LOW of its local level and returns to it within DIP [s], at least DIPS
#: times and in the part DROPPED of the moving samples. Its readings are on two levels: those from LOW to HIGH are fewer
#: than SELDOM times those below.
LOW, HIGH, DIP, DIPS, DROPPED, SELDOM = 0.15, 0.6, 0.35, 20, 0.1, 0.5


class Outliers(NamedTuple):
    """Samples to leave out, and why."""

    mask: Mask
    reason: str


def without_outliers(series: Series, quantity: str, name: str, findings: list[str], *, commanded: bool) -> Series:
    """The series without samples that are not of the motion, which are noted."""
    if quantity not in LEAST or len(series.time) < FEWEST_SAMPLES:
        return series
    for kind in (_wild_commands,) if commanded else (_wraps, _wild_measurements, _dropouts):
        for mask, reason in kind(series, quantity):
            findings.append(f"{int(mask.sum())} of {len(mask)} samples of {name} {reason}; they were left out")
            series = Series(series.time[~mask], series.value[~mask])
    return series


def _wraps(series: Series, quantity: str) -> Iterator[Outliers]:
    """Yaw rates of a turn per interval, as of differences of a heading where it jumps from pi to -pi."""
    if quantity != "yaw_rate":
        return
    steps = np.diff(series.time)
    interval = np.minimum(np.append(steps[:1], steps), LOST * float(np.median(steps)))
    mask = np.abs(np.abs(series.value) * interval / math.tau - 1.0) < TURN
    if mask.any():
        yield Outliers(mask, "are a turn per interval, as where a heading wraps")


def _wild_measurements(series: Series, quantity: str) -> Iterator[Outliers]:
    distance, span = _distances(series.value)
    mask = distance > max(WILD * span, LEAST[quantity])
    if mask.any():
        worst = series.value[int(np.argmax(distance))]
        yield Outliers(mask, f"are far from those before and after them (such as {worst:.4g})")


def _wild_commands(series: Series, quantity: str) -> Iterator[Outliers]:
    distance, span = _distances(series.value)
    mask = distance > max(WILD_COMMAND * span, 10.0 * LEAST[quantity])
    begins = np.flatnonzero(mask & ~np.append(False, mask[:-1]))
    for begin in begins:  # a command holds until the next
        end = begin + int(np.argmin(np.append(mask[begin:], False)))
        if end == len(mask) or series.time[end] - series.time[begin] > SHORT_COMMAND:
            mask[begin:end] = False
    if mask.any():
        worst = series.value[int(np.argmax(np.where(mask, distance, 0.0)))]
        yield Outliers(mask, f"are single wild ones (such as {worst:.4g})")


def _distances(value: Array) -> tuple[Array, float]:
    """Distances of samples from their local medians, and the span of the samples that are near theirs."""
    distance = np.abs(value - np.median(_windows(value, AROUND), axis=1))
    near = distance <= np.quantile(distance, 1.0 - FARTHEST, method="lower")
    return distance, float(np.ptp(value[near]))


def _windows(value: Array, count: int) -> Array:
    """For each value a row of the values around it, of an odd number in all."""
    return sliding_window_view(np.pad(value, count // 2, mode="edge"), count)


def _dropouts(series: Series, quantity: str) -> Iterator[Outliers]:
    """Speeds that fall to zero and return, again and again within moments."""
    if quantity == "steering":
        return
    speed = np.abs(series.value)
    around = 2 * max(1, round(DIP / float(np.median(np.diff(series.time))))) + 1
    level = _windows(speed, around).max(axis=1)
    moves = level > 0.5 * float(np.percentile(speed, 95.0))
    low, below = moves & (speed <= LOW * level), moves & (speed < HIGH * level)
    if np.sum(below & ~low) >= SELDOM * low.sum():
        return
    mask, count = np.zeros(len(below), bool), 0
    edges = np.flatnonzero(np.diff(below))[int(below[0]) :]  # the last sample before each dip, and its last one
    for before, last in zip(edges[::2], edges[1::2], strict=False):
        after, dip = last + 1, slice(before + 1, last + 1)
        returns = series.value[before] * series.value[after] > 0.0
        if low[dip].any() and returns and series.time[after] - series.time[before] <= DIP:
            mask[dip] = True
            count += 1
    if count >= DIPS and mask.sum() >= DROPPED * moves.sum():
        yield Outliers(mask, "are drop-outs: the sensor reads 0 for moments while the vehicle moves")
