"""Recognises velocities that are differences over uneven intervals.

Drivers divide the way of the encoders by the time since the message before. If messages come unevenly but the encoders
are read evenly, a short interval gives a high speed and a long one a low speed: their mean is too high, and only the
sum of speed times interval is right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.study.recording import MeasuredChannel, Series

#: Samples that move faster than this part of the 90th percentile count, if there are so many.
MOVING, FEWEST_MOVING = 0.3, 30

#: Intervals are uneven if the logarithm of the ratio of two in a row scatters by more than this; by less, the mean of
#: the speeds is too high by 3 % at most. Speeds are differences if their ratios go against those of the intervals with
#: at least this correlation.
UNEVEN, AGAINST = 0.25, 0.5


def interval_means(channels: Sequence[MeasuredChannel]) -> list[MeasuredChannel]:
    """The velocities of base_link that are means over the time since the sample before, of any of these channels.

    Velocities of one message have equal times, so if one is a difference, all are.
    """
    velocities = [channel for channel in channels if channel.quantity in ("v_x", "v_y", "yaw_rate")]
    uneven = [channel.series.time for channel in velocities if _goes_against_intervals(channel.series)]
    return [channel for channel in velocities if any(np.array_equal(channel.series.time, time) for time in uneven)]


def travelled(series: Series) -> Series:
    """The distance or angle that mean velocities sum up to, half an interval later.

    A difference lags half its interval. That stays part of the dead time, as the latency of any other sensor: a
    parameter file has no latencies, and what it predicts is compared with velocities at their stamps.
    """
    interval = np.diff(series.time)
    way = np.append(0.0, np.cumsum(series.value[1:] * interval))
    return Series(series.time + 0.5 * float(np.median(interval)), way)


def _goes_against_intervals(series: Series) -> bool:
    """Whether speeds are high after short intervals and low after long ones, against those of their neighbours."""
    if len(series.time) < FEWEST_MOVING:
        return False
    interval, speed = np.diff(series.time), np.abs(series.value[1:])
    moves = speed > MOVING * float(np.percentile(speed, 90.0))
    pairs = np.flatnonzero(moves[1:] & moves[:-1] & (interval[1:] > 0.0) & (interval[:-1] > 0.0))
    if len(pairs) < FEWEST_MOVING:
        return False
    longer, faster = _growth(interval, pairs), _growth(speed, pairs)
    if float(np.std(longer)) <= UNEVEN or not np.ptp(faster):
        return False
    return float(np.corrcoef(longer, faster)[0, 1]) < -AGAINST


def _growth(values: Array, pairs: np.ndarray) -> Array:
    """Logarithms of the ratios of values to those before them."""
    return np.asarray(np.log(values[pairs + 1] / values[pairs]))
