"""Estimates with their intervals, and what the least squares of all fits have in common.

An interval holds the true value in 95 of 100 recordings if the vehicle is what the model takes it for, and noise is all
that is left: it knows nothing of what the model leaves out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vds_gz.parameters.intervals import ends, remark
from vds_gz.parameters.override import Override

Array = NDArray[np.float64]

#: Half the width of such an interval in standard deviations.
WIDTH = 1.96

#: A number is given if its interval is not wider to either side than this part of it; a time also if not wider than
#: this [s].
CERTAIN, CERTAIN_TIME = 0.25, 0.02

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


def correlation_factor(residuals: Array) -> float:
    """Factor for standard deviations: residuals that are autocorrelated tell less than as many independent ones.

    Of a first-order autoregressive process; W. W. S. Wei, Time Series Analysis, 2006, 2.5.
    """
    power = float(residuals @ residuals)
    if power <= 0.0:
        return 1.0
    correlation = min(max(float(residuals[1:] @ residuals[:-1]) / power, 0.0), 0.98)
    return math.sqrt((1.0 + correlation) / (1.0 - correlation))


def central_differences(
    function: Callable[[Array], Array], at: Array, steps: Array, lowest: ArrayLike = -np.inf
) -> Array:
    """The Jacobian of a function, (values, parameters), by differences to both sides, but not below the lowest."""
    bounds, columns = np.broadcast_to(lowest, at.shape), []
    for i, step in enumerate(steps):
        up, down = at.copy(), at.copy()
        up[i] += step
        down[i] = max(at[i] - step, bounds[i])
        columns.append((function(up) - function(down)) / (up[i] - down[i]))
    return np.column_stack(columns)


def standard_deviations(jacobian: Array, deviation: float) -> Array:
    """Standard deviations of what least squares found; infinite where the residuals do not depend on one.

    Args:
        jacobian: Derivatives of the residuals, (residuals, parameters).
        deviation: Standard deviation of the residuals, as of independent ones.
    """
    size = np.sqrt(np.sum(jacobian**2, axis=0))
    spread = np.full(len(size), np.inf)
    seen = size > 1e-9
    scaled = jacobian[:, seen] / size[seen]
    variances = np.diag(np.linalg.pinv(scaled.T @ scaled, rcond=1e-12))
    # Rounding may leave none where two parameters do the same.
    spread[seen] = deviation * np.sqrt(np.where(variances > 0.0, variances, np.inf)) / size[seen]
    return spread
