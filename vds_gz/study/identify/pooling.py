"""One number from many recordings: pooled, and how much more the recordings differ than their intervals allow."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar

import numpy as np

from vds_gz.parameters.declaration import describe
from vds_gz.study.identify.axes import Axis
from vds_gz.study.identify.estimates import WIDTH, Array, Estimate
from vds_gz.study.identify.journal import Identified, with_values
from vds_gz.study.identify.results import VehicleFit

T = TypeVar("T")

#: Of the normal distribution, what 1 of 1000 exceeds.
RARE = 3.09


@dataclass(frozen=True, slots=True)
class Pooled:
    """A number that several recordings tell.

    Attributes:
        estimate: Of the mean of the vehicle over recordings.
        count: How many recordings tell it.
        spread: Standard deviation from recording to recording, what the intervals explain taken off.
        farthest: The recording that tells it farthest from the others.
        scatter: How many times as much the recordings scatter as their own intervals say; about 1 if these are right.
    """

    estimate: Estimate
    count: int
    spread: float
    scatter: float
    farthest: str

    @property
    def differs(self) -> bool:
        """The recordings scatter by more than chance does in 999 of 1000 cases (E. Wilson and M. Hilferty, 1931)."""
        part = 2.0 / (9.0 * max(self.count - 1, 1))
        return self.scatter > math.sqrt((1.0 - part + RARE * math.sqrt(part)) ** 3)


def pool(estimates: Mapping[str, Estimate]) -> Pooled:
    """Pool at least one estimate, each of a recording.

    Source: R. DerSimonian and N. Laird, Meta-analysis in clinical trials, Controlled Clinical Trials 7 (1986) 177-188.
    """
    values = np.array([one.value for one in estimates.values()])
    widths = np.array([one.high - one.low for one in estimates.values()]) / (2.0 * WIDTH)
    variances = np.maximum(widths, 1e-12 + 1e-9 * np.abs(values)) ** 2
    freedom = len(values) - 1
    mean, _ = _weighted(values, variances)
    squares = float(np.sum((values - mean) ** 2 / variances))
    weights = 1.0 / variances
    between = 0.0
    if freedom:
        between = max(0.0, (squares - freedom) / float(weights.sum() - np.sum(weights**2) / weights.sum()))
    mean, deviation = _weighted(values, variances + between)
    half = WIDTH * deviation
    scatter = math.sqrt(squares / freedom) if freedom else math.nan
    farthest = list(estimates)[int(np.argmax(np.abs(values - np.median(values))))]
    return Pooled(Estimate(mean, mean - half, mean + half), len(values), math.sqrt(between), scatter, farthest)


def _weighted(values: Array, variances: Array) -> tuple[float, float]:
    """Mean and its standard deviation."""
    weights = 1.0 / variances
    return float(np.sum(weights * values) / weights.sum()), 1.0 / math.sqrt(float(weights.sum()))


def pool_fits(recordings: Iterable[Identified]) -> tuple[VehicleFit | None, dict[str, Pooled]]:
    """One vehicle from what its recordings tell, and of each number, by name, how it came.

    Names are those of parameters and calibrations, and, as ``v_x.dead_time``, of the numbers of axes. Of recordings
    that show different models those of the most frequent one count; of what is no number, the most frequent value.
    None where no recording tells anything.
    """
    every = {one.log: one.fit for one in recordings if one.fit is not None}
    if not every:
        return None, {}
    model = _most_frequent([fit.model for fit in every.values()])
    fits = {log: fit for log, fit in every.items() if fit.model == model}
    by_name: dict[str, dict[str, Estimate]] = {}
    for log, fit in fits.items():
        for name, number in estimates_of(fit).items():
            by_name.setdefault(name, {})
            if number is not None:
                by_name[name][log] = number
    found = {name: pool(estimates) for name, estimates in by_name.items() if estimates}
    others = tuple(
        f"{log} shows the model '{fit.model}', most recordings '{model}'; its numbers are not pooled"
        for log, fit in every.items()
        if fit.model != model
    )
    return _pooled_fit(list(fits.values()), found, others), found


def estimates_of(fit: VehicleFit) -> dict[str, Estimate | None]:
    """All numbers of a fit by name: parameters, calibrations, and those of axes."""
    axes = {
        f"{axis.quantity}.{name}": number
        for axis in fit.axes
        for name, number in axis.fit.numbers.items()
        if not (axis.quantity == "steering" and name == "fall")
    }
    return fit.numbers | fit.calibrations | axes


def _pooled_fit(fits: Sequence[VehicleFit], found: Mapping[str, Pooled], findings: tuple[str, ...]) -> VehicleFit:
    first = fits[0]
    names = list(dict.fromkeys(name for fit in fits for name in fit.numbers))
    numbers = {name: found[name].estimate if name in found else None for name in names}
    calibrations = dict.fromkeys(name for fit in fits for name in fit.calibrations)
    values = {name: _most_frequent([value_at(fit, name) for fit in fits]) for name in _parameters(first)}
    values |= {name: number.value for name, number in numbers.items() if number is not None}
    return VehicleFit(
        model=first.model,
        parameters=with_values(first.model, values),
        numbers=numbers,
        calibrations={name: found[name].estimate if name in found else None for name in calibrations},
        reached={
            name: max(fit.reached.get(name, 0.0) for fit in fits)
            for name, number in numbers.items()
            if number is None and any(name in fit.reached for fit in fits)
        },
        channels=(),
        findings=findings,
        axes=tuple(_pooled_axis(axis, fits) for axis in first.axes),
    )


def _pooled_axis(axis: Axis, fits: Sequence[VehicleFit]) -> Axis:
    """What the first recording tells of an axis, but of the steering at standstill what most tell."""
    centred = [
        one.centred for fit in fits for one in fit.axes if one.quantity == axis.quantity and one.centred is not None
    ]
    return dataclasses.replace(axis, centred=_most_frequent(centred) if centred else None)


def _parameters(fit: VehicleFit) -> list[str]:
    return [one.name for one in describe(fit.parameters)]


def value_at(fit: VehicleFit, name: str) -> object:
    """A parameter of what was found, by its dotted name."""
    return attrgetter(name)(fit.parameters)


def _most_frequent(values: Sequence[T]) -> T:
    """The value that comes most often, of several the first."""
    return max(values, key=values.count)
