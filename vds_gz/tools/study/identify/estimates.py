"""Estimates with their intervals, and the noise of a measurement.

An interval contains the true value in 95 of 100 recordings if the vehicle is as modelled. Model errors that differ
between parts of the recording widen it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.yaml_reader import comment, ends

#: Half the width of a 95 % interval in standard deviations.
WIDTH = 1.96

#: A value is given if its interval extends at most this part of it to either side.
USEFUL = 0.5

#: A parameter is well determined if its interval extends at most this part of it to either side; a time also if it
#: extends at most this far [s].
CERTAIN, CERTAIN_TIME = 0.25, 0.02

#: Maximum number of digits after the first one.
MOST_DIGITS = 5

#: Window of the median filter; it removes up to two outliers in a row.
SPIKE_WINDOW = 5

#: Number of passes of the filter. Frequent outliers come in longer runs, which only further passes remove.
SPIKE_PASSES = 3

#: Outliers are removed if the medians have less than this part of the standard deviation; white noise leaves 0.47.
SPIKY = 0.3

#: Standard deviation of times [s]: a simulator rounds them to steps of 1 ms, and transport takes time.
TIME_RESOLUTION = 0.0006


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval. Where the recording does not determine a value, None replaces the estimate."""

    value: float
    low: float
    high: float

    @property
    def shown(self) -> float:
        """The value to two digits of the interval's width; further digits say nothing."""
        return float(self._rounded(self.value, ROUND_HALF_EVEN)) + 0.0  # not -0

    @property
    def interval(self) -> str:
        """The interval in words, as :attr:`shown`; its ends are rounded outwards."""
        low, high = self._rounded(self.low, ROUND_FLOOR), self._rounded(self.high, ROUND_CEILING)
        return ends(float(low) + 0.0, float(high) + 0.0)  # not -0

    def _rounded(self, value: float, direction: str) -> Decimal:
        width, largest = self.high - self.low, max(abs(self.low), abs(self.high))
        if not 0.0 < width < math.inf or not math.isfinite(value):
            return Decimal(repr(value))
        place = max(math.floor(math.log10(width)) - 1, math.floor(math.log10(largest)) - MOST_DIGITS)
        return Decimal(repr(value)).quantize(Decimal(1).scaleb(place), direction)

    def times(self, factor: float) -> Estimate:
        """The estimate of a positive multiple."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor)

    def override(self, parameter: str) -> Override:
        """The value as a parameter, with its interval as a comment."""
        return Override(parameter, float(f"{self.value:.5g}"), comment(self.low, self.high))


def noise(measured: Array) -> float:
    """Standard deviation of noise, from second differences, which are small for a slow signal."""
    if len(measured) < 5:
        return 0.0
    return float(1.4826 * np.median(np.abs(np.diff(measured, 2))) / math.sqrt(6.0))


def without_spikes(values: Array) -> Array:
    """The values, median-filtered if outliers cause most of the standard deviation."""
    if len(values) < SPIKE_WINDOW:
        return values
    medians = values
    for _ in range(SPIKE_PASSES):
        inner = np.median(np.lib.stride_tricks.sliding_window_view(medians, SPIKE_WINDOW), axis=1)
        medians = np.pad(inner, SPIKE_WINDOW // 2, mode="edge")
    return medians if np.std(medians) < SPIKY * np.std(values) else values
