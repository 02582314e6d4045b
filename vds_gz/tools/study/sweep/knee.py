"""The knee of a curve: the value of a parameter beyond which a measure gets worse steeply."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.arrays import Array

#: Minimum number of points of a curve with a knee.
POINTS = 5

#: The rise of a curve ends where it reaches this part of its range; behind that it is flat, as after leaving a bound.
RISEN = 0.95

#: Minimum distance of a knee below the line from start to end of the rise, as a part of the rise. A parabola, which
#: bends everywhere alike, has 0.25.
CLEAR = 0.3

#: Maximum height of the start of a curve above its lowest point, as a part of its range. Above that it has a valley.
LEVEL = 0.1


@dataclass(frozen=True, slots=True)
class Knee:
    """The last value of a parameter before a measure gets worse steeply."""

    parameter: str  # the parameter's name
    value: float  # its value at the knee
    measured: float  # the measure there
    above: bool  # whether the measure gets worse above the value, or below it

    def sentence(self, measure: str, units: Mapping[str, str]) -> str:
        """The knee as a sentence, with units by parameter and measure."""
        at, there = (
            f"{value:.4g} {units.get(name, '')}".strip() if math.isfinite(value) else "infinite"
            for value, name in ((self.value, self.parameter), (self.measured, measure))
        )
        side = "above" if self.above else "below"
        return f"{measure} gets worse steeply {side} {self.parameter} {at} (knee), where it is {there}."


def knee(parameter: str, values: Array, measured: Array, sign: float = 1.0) -> Knee | None:
    """The knee of a measure over a parameter; None if there is no clear one.

    It is the point farthest below the line from start to end of the rise (Satopää et al. 2011, "Finding a 'kneedle' in
    a haystack").

    Args:
        parameter: The parameter's name.
        values: Its values, in any order. The measure of a repeated value is the median.
        measured: The measure; an infinite error is worse, an infinite margin better than all others. NaN is left out.
        sign: -1 for a measure that is better the larger it is.
    """
    known = ~np.isnan(measured)
    points, place = np.unique(values[known], return_inverse=True)
    errors = _medians(_finite(sign * measured[known]), place)
    if len(errors) < POINTS or not np.ptp(errors) > 0.0:
        return None
    above = bool(errors[-1] >= errors[0])
    if not above:
        points, errors = points[::-1], errors[::-1]
    lowest, span = errors.min(), np.ptp(errors)
    end = int(np.argmax(errors >= lowest + RISEN * span))
    if end < 2 or errors[0] > lowest + LEVEL * span:
        return None
    x = np.abs(points[: end + 1] - points[0])
    y = errors[: end + 1] - errors[0]
    below = x / x[-1] - y / y[-1]
    at = int(np.argmax(below))
    if below[at] < CLEAR:
        return None
    return Knee(parameter, float(points[at]), float(np.median(measured[known & (values == points[at])])), above)


def _medians(errors: Array, place: NDArray[np.intp]) -> Array:
    """The median of the errors at each place."""
    order = np.argsort(place, kind="stable")
    groups = np.split(errors[order], np.flatnonzero(np.diff(place[order])) + 1)
    return np.array([np.median(group) for group in groups if len(group)])


def _finite(errors: Array) -> Array:
    """Errors with infinite ones as far beyond the finite ones as these are apart."""
    finite = errors[np.isfinite(errors)]
    if not len(finite):
        return np.zeros(len(errors))
    beyond = float(np.ptp(finite)) or 1.0
    return np.clip(errors, finite.min() - beyond, finite.max() + beyond)
