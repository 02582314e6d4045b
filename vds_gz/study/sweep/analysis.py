"""Analysis of the runs of a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vds_gz.errors import ArgumentError
from vds_gz.parameters.intervals import Interval
from vds_gz.study.sweep.advice import Advice, advise
from vds_gz.study.sweep.distributions import LARGER_IS_BETTER, Distribution, bad_quantile, distribution, quantiles_of
from vds_gz.study.sweep.sensitivity import Sensitivity, sensitivity

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a sweep.

    Attributes:
        parameters: The varied parameters by their dotted names, with one value for each run.
        measures: The measures by their names, with one value for each run, NaN for runs without it.
        units: By parameter and measure.
        nominal: Values where nothing is varied, by parameter, without a controller's gains, which no one measures.
        identified: Parameters that ``vds-gz identify`` measured, with their intervals.
        expected: Required bounds of quantiles, by measure and quantile.
        label: Name of the case, if there are several.
        numbers: Numbers of the runs in the sweep; by default from 0.
    """

    parameters: Mapping[str, Reals]
    measures: Mapping[str, Reals]
    units: Mapping[str, str] = field(default_factory=dict)
    nominal: Mapping[str, float] = field(default_factory=dict)
    identified: Mapping[str, Interval] = field(default_factory=dict)
    expected: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    label: str = ""
    numbers: Sequence[int] = ()

    def __len__(self) -> int:
        """Number of runs."""
        return len(next(iter(self.measures.values()), ()))

    def number(self, place: int) -> int:
        """The number in the sweep of the run at an index of the columns."""
        return self.numbers[place] if len(self.numbers) else place

    def worst(self, measure: str, count: int) -> NDArray[np.intp]:
        """The runs with the worst values of a measure, the worst first; equal ones in their order."""
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
    def requirement(self) -> str:
        """The bound in words."""
        return f"{'at least' if self.measure in LARGER_IS_BETTER else 'at most'} {self.bound:g}"

    def __str__(self) -> str:
        return f"{self.measure}'s {self.quantile} is {self.value:.4g}; it must be {self.requirement}"


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of a sweep, by measure."""

    distributions: dict[str, Distribution]
    sensitivities: dict[str, Sensitivity]
    advice: dict[str, Advice]
    expectations: tuple[QuantileCheck, ...]


def analyse(runs: Runs) -> Analysis:
    """Analyse all measures of a sweep.

    Raises:
        ArgumentError: A bound names an unknown measure or quantile.
    """
    check_expected(runs.expected, runs.measures)
    distributions = {name: distribution(name, values) for name, values in runs.measures.items()}
    sensitivities = {
        name: found
        for name, values in runs.measures.items()
        if (found := sensitivity(runs.parameters, values)) is not None
    }
    advice = {
        name: one
        for name, found in sensitivities.items()
        if found.trusted
        and (
            one := advise(
                runs.parameters,
                runs.nominal,
                name,
                runs.measures[name],
                found,
                runs.expected.get(name, {}).get(bad_quantile(name)),
            )
        )
    }
    return Analysis(distributions, sensitivities, advice, tuple(_expectations(runs, distributions)))


def _expectations(runs: Runs, distributions: Mapping[str, Distribution]) -> Iterator[QuantileCheck]:
    for measure, bounds in runs.expected.items():
        for quantile, bound in bounds.items():
            yield QuantileCheck(measure, quantile, bound, distributions[measure].quantiles[quantile])


def check_expected(expected: Mapping[str, Mapping[str, float]], measures: Mapping[str, object]) -> None:
    """Check the names in bounds.

    Raises:
        ArgumentError: A measure or quantile is unknown.
    """
    for measure, bounds in expected.items():
        if measure not in measures:
            raise ArgumentError(f"expect: '{measure}' is not measured; measured are {', '.join(measures) or 'none'}")
        for quantile in bounds:
            if quantile not in (known := quantiles_of(measure)):
                raise ArgumentError(f"expect: '{measure}' has no '{quantile}'; there are {', '.join(known)}")
