"""Analysis of the runs of a sweep: distributions, sensitivities, bounds, and which parameter to measure better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.arrays import Array
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.tools.study.sweep.knee import Knee, knee
from vds_gz.tools.study.sweep.sensitivity import Sensitivity, sensitivity

#: Quantiles of an error, with the part of the runs that do not exceed it; the last one is the worst run.
ERRORS = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}

#: Quantiles of a measure that is better the larger it is, such as a margin; the last one is the worst run.
MARGINS = {"p50": 0.5, "p5": 0.05, "p1": 0.01, "min": 0.0}

#: The measure of the tolerated additional dead time.
DELAY_MARGIN = "delay_margin"

#: Measures that are better the larger they are.
LARGER_IS_BETTER = (DELAY_MARGIN, "distance", "left")

#: Part of the runs that the bad quantile of an error covers; 5 % are worse.
BAD = 0.95

#: Minimum number of runs for a quantile.
RUNS = 100

#: Part of the gain of exact knowledge that a required accuracy must give without a bound that can be kept.
WORTH = 0.9

#: Minimum gain of exact knowledge that is worth it, as a part of the quantile.
NOTHING = 0.1


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


def distribution(measure: str, values: Array) -> Distribution:
    """The distribution of a measure with NaN for runs without it; quantiles are NaN if no run has it."""
    known = values[~np.isnan(values)]
    return Distribution(len(known), {name: quantile(known, part) for name, part in quantiles_of(measure).items()})


def quantile(values: Array, part: float) -> float:
    """The smallest value that this part of all values does not exceed; NaN without values.

    It is one of the values, so that infinite values do not affect smaller quantiles.
    """
    return float(np.quantile(values, part, method="inverted_cdf")) if len(values) else float("nan")


@dataclass(frozen=True, slots=True)
class RequiredAccuracy:
    """A parameter to measure more accurately."""

    # parameter, nominal: its name and assumed value
    parameter: str
    nominal: float
    within: float  # required uncertainty, to each side
    now: float  # maximum distance of the runs from the nominal value
    measure: str  # the measure that improves
    # before, after: quantile of the measure over all runs, and over those within the required uncertainty
    before: float
    after: float
    bound: float | None  # the required bound of the quantile; None without one

    def sentence(self, units: Mapping[str, str]) -> str:
        """What to measure, as a sentence, with units by parameter and measure."""
        unit, measured = units.get(self.parameter, ""), units.get(self.measure, "")
        sign = -1.0 if self.measure in LARGER_IS_BETTER else 1.0
        change = f"{_amount(self.after, measured)} instead of {_amount(self.before, measured)}"
        if self.bound is not None and sign * self.after <= sign * self.bound < sign * self.before:
            least = "at least" if self.measure in LARGER_IS_BETTER else "at most"
            change += f" ({least} {_amount(self.bound, measured)} required)"
        return (
            f"Measure {self.parameter} to +-{_amount(self.within, unit, 2)} (varied by "
            f"+-{_amount(self.now, unit, 2)}): then {self.measure}'s {bad_quantile(self.measure)} is {change}."
        )


def required_accuracy(
    parameters: Mapping[str, Array],
    nominal: Mapping[str, float],
    measure: str,
    values: Array,
    indices: Sensitivity,
    bound: float | None = None,
) -> RequiredAccuracy | None:
    """The first parameter, by total indices, that is worth measuring more accurately; None if there is none.

    Over the runs with a parameter near its nominal value, the measure's quantile is smaller than over all runs. The
    required uncertainty is the largest that keeps the bound or, without a bound that can be kept, that gives nine
    tenths of the gain. Parameters and values have one entry a run; parameters without a nominal value are left out.
    """
    known = ~np.isnan(values)
    # The smallest margin is the worst, so its negative is treated like an error.
    sign = -1.0 if measure in LARGER_IS_BETTER else 1.0
    bad, limit = sign * values[known], None if bound is None else sign * bound
    before = quantile(bad, BAD)
    for name in indices.ranked():
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
            return RequiredAccuracy(name, nominal[name], within, now, measure, sign * before, after, bound)
    return None


def _nearer(away: Array, bad: Array) -> tuple[Array, Array]:
    """Increasing distances from a nominal value, and the quantile over the runs within each."""
    counts = np.unique(np.geomspace(RUNS, len(away), 60).astype(int))
    widths = np.sort(away)[counts - 1]
    return widths, np.array([quantile(bad[away <= width], BAD) for width in widths])


def _amount(value: float, unit: str, digits: int = 3) -> str:
    """A number with its unit, to some digits; short times in milliseconds."""
    if unit == "s" and abs(value) < 1.0:
        value, unit = 1e3 * value, "ms"
    return f"{float(f'{value:.{digits}g}'):g} {unit}".strip()


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a sweep."""

    parameters: Mapping[str, Array]  # the varied parameters by their dotted names, with one value for each run
    measures: Mapping[str, Array]  # the measures by their names, with one value for each run, NaN for runs without it
    units: Mapping[str, str] = field(default_factory=dict)  # by parameter and measure
    # values where nothing is varied, by parameter, without a controller's gains, which no one measures
    nominal: Mapping[str, float] = field(default_factory=dict)
    # parameters that ``vds-gz identify`` measured, with their intervals
    identified: Mapping[str, Interval] = field(default_factory=dict)
    # required bounds of quantiles, by measure and quantile
    expected: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    label: str = ""  # name of the case, if there are several
    numbers: Sequence[int] = ()  # numbers of the runs in the sweep; by default from 0

    @property
    def varied_alone(self) -> str:
        """The only parameter that varies, with at least three values; empty if there is none."""
        several = [name for name, values in self.parameters.items() if len(values) and np.ptp(values) > 0.0]
        return several[0] if len(several) == 1 and len(np.unique(self.parameters[several[0]])) > 2 else ""

    def number(self, place: int) -> int:
        """The number in the sweep of the run at an index of the columns."""
        return self.numbers[place] if len(self.numbers) else place

    def worst(self, measure: str, count: int) -> NDArray[np.intp]:
        """Indices of the runs with the worst values of a measure, the worst first; equal ones in their order."""
        values = self.measures[measure]
        order = np.argsort(values if measure in LARGER_IS_BETTER else -values, kind="stable")
        return order[~np.isnan(values[order])][:count]


@dataclass(frozen=True, slots=True)
class QuantileCheck:
    """A bound on a quantile of a measure, and the quantile's value."""

    measure: str
    quantile: str
    bound: float
    value: float

    @property
    def broken(self) -> bool:
        """Whether it is beyond the bound, or no run has the measure."""
        if self.measure in LARGER_IS_BETTER:
            return not self.value >= self.bound
        return not self.value <= self.bound

    @property
    def result(self) -> str:
        """The value in words."""
        return "not measured in any run" if math.isnan(self.value) else f"{self.value:.4g}"

    @property
    def requirement(self) -> str:
        """The bound in words."""
        return f"{'at least' if self.measure in LARGER_IS_BETTER else 'at most'} {self.bound:g}"

    def __str__(self) -> str:
        return f"{self.measure}'s {self.quantile} is {self.result}; it must be {self.requirement}"


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of a sweep, by measure."""

    distributions: dict[str, Distribution]
    sensitivities: dict[str, Sensitivity]
    accuracies: dict[str, RequiredAccuracy]
    expectations: tuple[QuantileCheck, ...]
    knees: dict[str, Knee] = field(default_factory=dict)  # of measures over the only varied parameter


def analyse(runs: Runs) -> Analysis:
    """Analyse all measures of a sweep."""
    check_expected(runs.expected, runs.measures)
    sensitivities: dict[str, Sensitivity] = {}
    accuracies: dict[str, RequiredAccuracy] = {}
    for name, values in runs.measures.items():
        if (indices := sensitivity(runs.parameters, values)) is None:
            continue
        sensitivities[name] = indices
        bound = runs.expected.get(name, {}).get(bad_quantile(name))
        if indices.trusted and (more := required_accuracy(runs.parameters, runs.nominal, name, values, indices, bound)):
            accuracies[name] = more
    distributions = {name: distribution(name, values) for name, values in runs.measures.items()}
    expectations = tuple(
        QuantileCheck(measure, name, bound, distributions[measure].quantiles[name])
        for measure, bounds in runs.expected.items()
        for name, bound in bounds.items()
    )
    return Analysis(distributions, sensitivities, accuracies, expectations, dict(_knees(runs)))


def _knees(runs: Runs) -> Iterator[tuple[str, Knee]]:
    """The knees of all measures over the only varied parameter, by measure."""
    if name := runs.varied_alone:
        for measure, values in runs.measures.items():
            sign = -1.0 if measure in LARGER_IS_BETTER else 1.0
            if (found := knee(name, runs.parameters[name], values, sign)) is not None:
                yield measure, found


def check_expected(expected: Mapping[str, Mapping[str, float]], measures: Mapping[str, object]) -> None:
    """Refuse bounds of unknown measures or quantiles."""
    for measure, bounds in expected.items():
        if measure not in measures:
            raise ArgumentError(f"expect: '{measure}' is not measured; measured are {', '.join(measures) or 'none'}")
        for name in bounds:
            if name not in (known := quantiles_of(measure)):
                raise ArgumentError(f"expect: '{measure}' has no '{name}'; there are {', '.join(known)}")
