"""Operations on the samples of one signal: its value at a time, its derivative, its noise, its outliers."""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from vds_gz.core.arrays import Array, Indices

#: Standard deviation of normal noise, as a multiple of the median of its absolute values; and standard error of the
#: median of normal samples, as a multiple of that of their mean.
OF_MEDIAN_DEVIATION, OF_MEDIAN = 1.4826, 1.25

#: Window of the median filter; it removes up to two outliers in a row.
SPIKE_WINDOW = 5

#: Number of passes of the filter. Frequent outliers come in longer runs, which only further passes remove.
SPIKE_PASSES = 3

#: Outliers are removed if the medians have less than this part of the standard deviation; white noise leaves 0.47.
SPIKY = 0.3


def in_force(time: Array, at: Array) -> Indices:
    """Index of the last of at least one sample at or before each of some times; before the first sample, its index."""
    indices: Indices = np.maximum(np.searchsorted(time, at, side="right") - 1, 0)
    return indices


def held(time: Array, value: Array, at: Array) -> Array:
    """Values at some times; each holds until the next, and the first also before its own time."""
    return np.asarray(value[in_force(time, at)])


def derivative(time: Array, value: Array, over: float) -> tuple[Array, Array]:
    """The derivative in time, by differences over a time around each sample [s], and its times.

    Samples within half of that time of either end have none. Of equal times the last one counts.
    """
    last = np.diff(time, append=math.inf) > 0.0
    time, value, half = time[last], value[last], 0.5 * over
    middle = time[(time >= time[:1] + half) & (time <= time[-1:] - half)] if len(time) else time
    if not len(middle):
        return middle, middle
    return middle, (np.interp(middle + half, time, value) - np.interp(middle - half, time, value)) / over


def median_filtered(value: Array, window: int = SPIKE_WINDOW) -> Array:
    """Medians of an odd number of samples around each; at the ends, that of the first and of the last window.

    There are at least as many samples as in a window.
    """
    return np.pad(np.median(sliding_window_view(value, window), axis=1), window // 2, mode="edge")


def without_spikes(value: Array) -> Array:
    """The values, median-filtered if outliers cause most of the standard deviation."""
    if len(value) < SPIKE_WINDOW:
        return value
    medians = value
    for _ in range(SPIKE_PASSES):
        medians = median_filtered(medians)
    return medians if np.std(medians) < SPIKY * np.std(value) else value


def noise(value: Array) -> float:
    """Standard deviation of noise, from second differences, which are small for a slow signal."""
    if len(value) < 5:
        return 0.0
    return float(OF_MEDIAN_DEVIATION * np.median(np.abs(np.diff(value, 2))) / math.sqrt(6.0))


def median_and_error(value: Array) -> tuple[float, float]:
    """The median of samples, and its standard error by their median absolute deviation."""
    middle = float(np.median(value))
    scatter = OF_MEDIAN_DEVIATION * float(np.median(np.abs(value - middle)))
    return middle, OF_MEDIAN * scatter / math.sqrt(len(value))
