"""Advice of a sweep: which parameter to measure more accurately, and how accurately."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vds_gz.study.sweep.distributions import BAD, LARGER_IS_BETTER, bad_quantile, quantile
from vds_gz.study.sweep.sensitivity import Sensitivity

Reals = NDArray[np.float64]

#: Minimum number of runs for a quantile.
RUNS = 100

#: Required part of the gain of exact knowledge.
WORTH = 0.9

#: Minimum gain, as a part of the quantile.
NOTHING = 0.1


@dataclass(frozen=True, slots=True)
class Advice:
    """A parameter to measure more accurately.

    Attributes:
        parameter: Its name.
        nominal: Its assumed value.
        within: Required uncertainty, to each side.
        now: Maximum distance of the runs from the nominal value.
        measure: The measure that improves.
        before, after: Quantile of the measure over all runs, and over those within the required uncertainty.
        bound: The bound of the quantile that was asked for; None without one.
    """

    parameter: str
    nominal: float
    within: float
    now: float
    measure: str
    before: float
    after: float
    bound: float | None

    def sentence(self, units: Mapping[str, str]) -> str:
        """The advice as a sentence.

        Args:
            units: By parameter and measure.
        """
        unit, measured = units.get(self.parameter, ""), units.get(self.measure, "")
        sign = -1.0 if self.measure in LARGER_IS_BETTER else 1.0
        change = f"{_amount(self.after, measured)} rather than {_amount(self.before, measured)}"
        if self.bound is not None and sign * self.after <= sign * self.bound < sign * self.before:
            kept = "at least" if self.measure in LARGER_IS_BETTER else "within"
            change = f"{kept} {_amount(self.bound, measured)}: {change}"
        return (
            f"Measure {self.parameter} to +-{_amount(self.within, unit, 2)} (now +-{_amount(self.now, unit, 2)}): then "
            f"{self.measure}'s {bad_quantile(self.measure)} stays {change}."
        )


def advise(
    parameters: Mapping[str, Reals],
    nominal: Mapping[str, float],
    measure: str,
    values: Reals,
    found: Sensitivity,
    bound: float | None = None,
) -> Advice | None:
    """The first parameter, by total indices, that is worth measuring more accurately; None if there is none.

    Over the runs with a parameter near its nominal value, the measure's quantile is smaller than over all runs. The
    required uncertainty is the largest that keeps the bound or, without a bound that can be kept, that gives nine
    tenths of the gain.

    Args:
        parameters: The varied parameters, with one value for each run.
        nominal: Their assumed values; parameters without one are left out.
        measure: Name of the measure.
        values: The measure of these runs, NaN for runs without it.
        found: The measure's sensitivities.
        bound: Required bound of the quantile.
    """
    known = ~np.isnan(values)
    # The smallest margin is the worst, so its negative is treated like an error.
    sign = -1.0 if measure in LARGER_IS_BETTER else 1.0
    bad, limit = sign * values[known], None if bound is None else sign * bound
    before = quantile(bad, BAD)
    for name in found.ranked():
        if name not in nominal or len(bad) < 2 * RUNS:
            continue
        away = np.abs(parameters[name][known] - nominal[name])
        widths, quantiles = _nearer(away, bad)
        least = float(quantiles[0])
        kept = limit is not None and least <= limit < before
        if kept or before - least > NOTHING * abs(before):
            allowed = limit if kept and limit is not None else before - WORTH * (before - least)
            # Quantiles over few runs are noisy, so the largest width that keeps the bound is used.
            last = int(np.flatnonzero(quantiles <= allowed)[-1])
            after = sign * float(quantiles[last])
            within, now = float(widths[last]), float(away.max())
            return Advice(name, nominal[name], within, now, measure, sign * before, after, bound)
    return None


def _nearer(away: Reals, bad: Reals) -> tuple[Reals, Reals]:
    """Increasing distances from a nominal value, and the quantile over the runs within each."""
    order = np.argsort(away, kind="stable")
    counts = np.unique(np.geomspace(RUNS, len(order), 60).astype(int))
    widths = away[order[counts - 1]]
    return widths, np.array([quantile(bad[away <= width], BAD) for width in widths])


def _amount(value: float, unit: str, digits: int = 3) -> str:
    """A number with its unit, to some digits; short times in milliseconds."""
    if unit == "s" and abs(value) < 1.0:
        value, unit = 1e3 * value, "ms"
    return f"{float(f'{value:.{digits}g}'):g} {unit}".strip()
