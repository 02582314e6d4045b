"""Which number to measure better, and how well: the sentence in which a sweep ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vds_gz.study.sweep.distributions import BAD, LARGER_IS_BETTER, bad_quantile, quantile
from vds_gz.study.sweep.sensitivity import Sensitivity

Reals = NDArray[np.float64]

#: A quantile is taken of so many runs at least.
RUNS = 100

#: So much of what exact knowledge of a number would gain is worth the measuring.
WORTH = 0.9

#: A gain that is a smaller part of the quantile is none.
NOTHING = 0.1


@dataclass(frozen=True, slots=True)
class Advice:
    """A number to measure better.

    Attributes:
        parameter: Its name.
        nominal: What it is taken for.
        within: How well to know it, to either side.
        now: How far the runs are from the nominal value at most.
        measure: What becomes better.
        before, after: The quantile of the measure over all runs, and over those within.
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
        """In words.

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
    """The first of the numbers, by their total indices, that is worth measuring better; None where none is.

    Over the runs in which a number is near its nominal value the measure's quantile is lower than over all runs. The
    number is worth being known as well as keeps the bound, or, where there is none or it cannot be kept, as well as
    nine tenths of the gain take.

    Args:
        parameters: The numbers that were varied, with one value a run.
        nominal: What each is taken for; a number that is not here is left out.
        measure: Name of the measure.
        values: The measure of these runs, NaN where a run has none.
        found: What it depends on.
        bound: What the quantile should keep.
    """
    known = ~np.isnan(values)
    # Of a margin the least is the worst: what holds of an error holds of its negative.
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
            # Over few runs a quantile is much by chance, over many it is not: the greatest width that keeps it counts.
            last = int(np.flatnonzero(quantiles <= allowed)[-1])
            after = sign * float(quantiles[last])
            within, now = float(widths[last]), float(away.max())
            return Advice(name, nominal[name], within, now, measure, sign * before, after, bound)
    return None


def _nearer(away: Reals, bad: Reals) -> tuple[Reals, Reals]:
    """Growing distances from a nominal value, and the quantile over the runs within each."""
    order = np.argsort(away, kind="stable")
    counts = np.unique(np.geomspace(RUNS, len(order), 60).astype(int))
    widths = away[order[counts - 1]]
    return widths, np.array([quantile(bad[away <= width], BAD) for width in widths])


def _amount(value: float, unit: str, digits: int = 3) -> str:
    """A number with its unit, to some digits; short times in milliseconds."""
    if unit == "s" and abs(value) < 1.0:
        value, unit = 1e3 * value, "ms"
    return f"{float(f'{value:.{digits}g}'):g} {unit}".strip()
