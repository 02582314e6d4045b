"""Estimates with their intervals, and the noise of a measurement.

An interval holds the true value in 95 of 100 recordings if the vehicle is what the model takes it for. What the model
leaves out widens it as far as parts of the recording show it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vds_gz.parameters.declaration import Override
from vds_gz.parameters.yaml_reader import ends, remark

Array = NDArray[np.float64]

#: Half the width of such an interval in standard deviations.
WIDTH = 1.96

#: A number is well determined if its interval is not wider to either side than this part of it; a time also if it is
#: not wider than this [s].
CERTAIN, CERTAIN_TIME = 0.25, 0.02

#: Single wild samples are left out where medians of three have less than this part of the standard deviation; of white
#: noise they have 0.67.
SPIKY = 0.3

#: Times are not known better than this: a simulator rounds them to steps of 1 ms, transport takes time [s].
TIME_RESOLUTION = 0.0006


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval. Where a recording does not tell a number, None stands in the place of this."""

    value: float
    low: float
    high: float

    @property
    def interval(self) -> str:
        """The interval in words."""
        return ends(self.low, self.high)

    def override(self, parameter: str) -> Override:
        """The number as a parameter, its interval as a remark."""
        return Override(parameter, float(f"{self.value:.5g}"), remark(self.low, self.high))


def noise(measured: Array) -> float:
    """Standard deviation of noise, from second differences, which a slow signal hardly has."""
    if len(measured) < 5:
        return 0.0
    return float(1.4826 * np.median(np.abs(np.diff(measured, 2))) / math.sqrt(6.0))


def without_spikes(values: Array) -> Array:
    """The values; where single wild samples make up most of their standard deviation, the medians of three in a row."""
    if len(values) < 3:
        return values
    medians: Array = np.median(np.lib.stride_tricks.sliding_window_view(values, 3), axis=1)
    if np.std(medians) >= SPIKY * np.std(values):
        return values
    return np.concatenate([medians[:1], medians, medians[-1:]])
