"""Samples that are not of the motion: turns of a heading that wraps, wild values, drop-outs to zero.

They are recognised by what no vehicle does, not by what this one rarely does: steps, bumps and noise stay.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from vds_gz.core.arrays import Array, Flags
from vds_gz.tools.study.recording import Series
from vds_gz.tools.study.signals import median_filtered

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

#: No vehicle changes faster [m/s^2, rad/s^2, or rad/s of the steering]. What it may reach within the usual interval, or
#: within the shortest one [s], is never wild; for commands ten times as much.
FASTEST = {"v_x": 20.0, "v_y": 20.0, "yaw_rate": 40.0, "joint_velocity": 200.0, "steering": 12.0}
SHORTEST = 0.025

#: Minimum number of samples.
FEWEST_SAMPLES = 20

#: A sensor drops out if it falls below the part LOW of its local level and returns to it within DIP [s], at least DIPS
#: times and in the part DROPPED of the moving samples. Its readings are on two levels: those from LOW to HIGH are fewer
#: than SELDOM times those below. Dips in which a vehicle would have to brake faster than any can need not be so many.
#: They last for at most LONGEST_DIP samples, and those of a coarse sensor are in less than the part DROPPED.
LOW, HIGH, DIP, DIPS, DROPPED, SELDOM = 0.15, 0.6, 0.35, 20, 0.1, 0.5
LONGEST_DIP = 3

#: A sensor is coarse if more than this part of its readings are on a few levels, each as wide as this part of the
#: largest. Its zeros are true: at low speed most intervals have no or one count of an encoder.
COARSE, LEVELS, WIDE = 0.8, 4, 0.01


class Outliers(NamedTuple):
    """Samples to leave out, and why."""

    mask: Flags
    reason: str


def without_outliers(series: Series, quantity: str, name: str, findings: list[str], *, commanded: bool) -> Series:
    """The series without samples that are not of the motion, which are noted."""
    if quantity not in FASTEST or len(series.time) < FEWEST_SAMPLES:
        return series
    for kind in (_wild_commands,) if commanded else (_wraps, _wild_measurements, _dropouts):
        for mask, reason in kind(series, quantity):
            findings.append(f"{int(mask.sum())} of {len(mask)} samples of {name} {reason}; they were left out")
            series = Series(series.time[~mask], series.value[~mask])
    return series


def _wraps(series: Series, quantity: str) -> Iterator[Outliers]:
    """Yaw rates of a turn per interval, as of differences of a heading where it jumps from pi to -pi.

    Two jumps in one direction never follow each other; those of a vehicle that spins do.
    """
    if quantity != "yaw_rate":
        return
    steps = np.diff(series.time)
    interval = np.minimum(np.append(steps[:1], steps), LOST * float(np.median(steps)))
    mask = np.abs(np.abs(series.value) * interval / math.tau - 1.0) < TURN
    spins = mask[1:] & mask[:-1] & (series.value[1:] * series.value[:-1] > 0.0)
    mask &= ~(np.append(spins, False) | np.append(False, spins))
    if mask.any():
        yield Outliers(mask, "are a turn per interval, as where a heading wraps")


def _wild_measurements(series: Series, quantity: str) -> Iterator[Outliers]:
    distance, span = _distances(series.value)
    mask = distance > max(WILD * span, _possible(series.time, quantity))
    if mask.any():
        worst = series.value[int(np.argmax(distance))]
        yield Outliers(mask, f"are far from those before and after them (such as {worst:.4g})")


def _wild_commands(series: Series, quantity: str) -> Iterator[Outliers]:
    distance, span = _distances(series.value)
    mask = distance > max(WILD_COMMAND * span, 10.0 * _possible(series.time, quantity))
    begins = np.flatnonzero(mask & ~np.append(False, mask[:-1]))
    for begin in begins:  # a command holds until the next
        end = begin + int(np.argmin(np.append(mask[begin:], False)))
        if end == len(mask) or series.time[end] - series.time[begin] > SHORT_COMMAND:
            mask[begin:end] = False
    if mask.any():
        worst = series.value[int(np.argmax(np.where(mask, distance, 0.0)))]
        yield Outliers(mask, f"are single wild ones (such as {worst:.4g})")


def _possible(time: Array, quantity: str) -> float:
    """How much a quantity may change within an interval."""
    return FASTEST[quantity] * max(float(np.median(np.diff(time))), SHORTEST)


def _distances(value: Array) -> tuple[Array, float]:
    """Distances of samples from their local medians, and the span of the samples that are near theirs."""
    distance = np.abs(value - median_filtered(value, AROUND))
    near = distance <= np.quantile(distance, 1.0 - FARTHEST, method="lower")
    return distance, float(np.ptp(value[near]))


def _dropouts(series: Series, quantity: str) -> Iterator[Outliers]:
    """Speeds that fall to zero and return, again and again within moments."""
    if quantity == "steering":
        return
    speed = np.abs(series.value)
    half = max(1, round(DIP / float(np.median(np.diff(series.time)))))
    level = np.max(sliding_window_view(np.pad(speed, half), 2 * half + 1), axis=1)
    moves = level > 0.5 * float(np.percentile(speed, 95.0))
    low, below = moves & (speed <= LOW * level), moves & (speed < HIGH * level)
    coarse = _is_coarse(series, moves & ~low)
    two_levels = np.sum(below & ~low) < SELDOM * low.sum() and not coarse
    mask, count = np.zeros(len(below), bool), 0
    edges = np.flatnonzero(np.diff(below))[int(below[0]) :]  # the last sample before each dip, and its last one
    for before, last in zip(edges[::2], edges[1::2], strict=False):
        after, dip = last + 1, slice(before + 1, last + 1)
        returns = series.value[before] * series.value[after] > 0.0
        if low[dip].any() and returns and series.time[after] - series.time[before] <= DIP:
            mask[dip] = True
            count += 1
    if not two_levels or count < DIPS or mask.sum() < DROPPED * moves.sum():
        mask = _impossible_dips(series, quantity)
        if coarse and mask.sum() >= DROPPED * moves.sum():  # intervals without a count
            return
    if mask.any():
        yield Outliers(mask, "belong to drop-outs: the sensor falls to 0 for moments while the vehicle moves")


def _impossible_dips(series: Series, quantity: str) -> Flags:
    """Speeds of the vehicle that fall to zero and return faster than any vehicle brakes and speeds up."""
    mask, speed = np.zeros(len(series.time), bool), np.abs(series.value)
    if quantity in ("v_x", "v_y"):  # those of joints may be coarse
        for last in range(1, 1 + LONGEST_DIP):
            before, after = speed[: -last - 1], speed[last + 1 :]
            inside = sliding_window_view(speed, last)[1 : 1 + len(before)].max(axis=1)
            duration = np.maximum(series.time[last + 1 :] - series.time[: -last - 1], 2.0 * SHORTEST)
            least = np.minimum(before, after)
            returns = series.value[: -last - 1] * series.value[last + 1 :] > 0.0
            deep = returns & (inside <= LOW * least) & (least - inside > 0.5 * FASTEST[quantity] * duration)
            for k in np.flatnonzero(deep):
                mask[k + 1 : k + 1 + last] = True
    return mask


def _is_coarse(series: Series, moves: Flags) -> bool:
    """Whether a sensor counts few steps per interval; a driver may divide these by the true intervals."""
    interval = np.diff(series.time, prepend=np.nan)
    for value in (series.value, series.value * interval):
        size = np.abs(value[moves & np.isfinite(value)])
        if len(size):
            _, counts = np.unique(np.round(size / (WIDE * np.max(size))), return_counts=True)
            if np.sum(np.sort(counts)[-LEVELS:]) > COARSE * len(size):
                return True
    return False
