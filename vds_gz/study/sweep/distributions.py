"""Distributions of a measure over the runs of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]

#: Quantiles of an error, with the part of the runs that do not exceed it; the last one is the worst run.
ERRORS = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}

#: Quantiles of a measure that is better the larger it is, such as a margin: the smallest is the worst.
MARGINS = {"p50": 0.5, "p5": 0.05, "p1": 0.01, "min": 0.0}

#: The tolerated additional dead time.
DELAY_MARGIN = "delay_margin"

#: Measures that are better the larger they are.
LARGER_IS_BETTER = (DELAY_MARGIN, "distance", "left")

#: 5 % of the runs are worse.
BAD = 0.95


@dataclass(frozen=True, slots=True)
class Distribution:
    """Quantiles of a measure over the runs that have it, and the number of these."""

    count: int
    quantiles: dict[str, float]


def quantiles_of(measure: str) -> Mapping[str, float]:
    """The quantiles for a measure, by name."""
    return MARGINS if measure in LARGER_IS_BETTER else ERRORS


def bad_quantile(measure: str) -> str:
    """The name of the quantile with 5 % worse runs."""
    return "p5" if measure in LARGER_IS_BETTER else "p95"


def distribution(measure: str, values: Reals) -> Distribution:
    """The distribution of a measure with NaN for runs without it; quantiles are NaN if no run has it."""
    known = values[~np.isnan(values)]
    return Distribution(len(known), {name: quantile(known, part) for name, part in quantiles_of(measure).items()})


def quantile(values: Reals, part: float) -> float:
    """The smallest value that this part of all values does not exceed; NaN without values.

    It is one of the values, so that infinite values do not affect smaller quantiles.
    """
    if not len(values):
        return float("nan")
    return float(np.quantile(values, part, method="inverted_cdf"))
