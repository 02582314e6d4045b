"""How a measure is distributed over the runs of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]

#: What is said of an error, with the part of the runs that do not exceed it; the last one is that of the worst run.
ERRORS = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}

#: What is said of what is better the larger it is, as a margin: of that the least is the worst.
MARGINS = {"p50": 0.5, "p5": 0.05, "p1": 0.01, "min": 0.0}

#: The additional dead time that is borne.
DELAY_MARGIN = "delay_margin"

#: Measures that are better the larger they are.
LARGER_IS_BETTER = (DELAY_MARGIN, "distance", "left")

#: One of twenty runs is worse.
BAD = 0.95


@dataclass(frozen=True, slots=True)
class Distribution:
    """Quantiles of a measure over the runs that have it, and how many these are."""

    count: int
    quantiles: dict[str, float]


def quantiles_of(measure: str) -> Mapping[str, float]:
    """The quantiles that are said of a measure, by name."""
    return MARGINS if measure in LARGER_IS_BETTER else ERRORS


def bad_quantile(measure: str) -> str:
    """The name of the quantile that one of twenty runs is worse than."""
    return "p5" if measure in LARGER_IS_BETTER else "p95"


def distribution(measure: str, values: Reals) -> Distribution:
    """The distribution of a measure; NaN of a run that has none, and NaN of all quantiles where no run has one."""
    known = values[~np.isnan(values)]
    return Distribution(len(known), {name: quantile(known, part) for name, part in quantiles_of(measure).items()})


def quantile(values: Reals, part: float) -> float:
    """The smallest value that this part of all values does not exceed; NaN of none.

    It is one of the values, so that an infinite one does not spoil those below it.
    """
    if not len(values):
        return float("nan")
    return float(np.quantile(values, part, method="inverted_cdf"))
