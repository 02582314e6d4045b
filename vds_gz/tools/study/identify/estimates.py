"""Estimates with their intervals.

An interval contains the true value in 95 of 100 recordings if the vehicle is as modelled. Model errors that differ
between parts of the recording widen it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.yaml_reader import comment, ends

#: Half the width of a 95 % interval in standard deviations.
WIDTH = 1.96

#: What raises the squares by less than this is consistent with the data: the 95 % quantile of chi-square with one
#: degree of freedom.
CONSISTENT = 3.84

#: A value is given if its interval extends at most this part of it to either side.
USEFUL = 0.5

#: A time is also given if its interval extends at most this far to either side [s].
USEFUL_TIME = 0.05

#: A parameter is well determined if its interval extends at most this part of it to either side; a time also if it
#: extends at most this far [s].
CERTAIN, CERTAIN_TIME = 0.25, 0.02

#: Maximum number of digits after the first one.
MOST_DIGITS = 5

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
