"""Pooling of the results of many recordings of one vehicle, and how much more they scatter than their intervals say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.parameters.declaration import Override
from vds_gz.study.identify.estimates import WIDTH, Estimate
from vds_gz.study.identify.exports import NOT_MET
from vds_gz.study.identify.many import Result
from vds_gz.study.identify.problem.parameters import actuations
from vds_gz.study.identify.words import Named, named
from vds_gz.vehicle.catalogue import models

#: A normal variable exceeds this many standard deviations with a probability of 1 in 1000.
RARE = 3.09

#: A pooled limit is none if a recording exceeds its interval by this factor, which noise does not.
EXCEEDED = 1.1


@dataclass(frozen=True, slots=True)
class Pooled:
    """A parameter pooled over recordings.

    Attributes:
        estimate: Of the mean over recordings.
        count: Number of recordings with an estimate.
        spread: Standard deviation between recordings, without what their intervals explain.
        scatter: Ratio of the scatter of the recordings to that of their intervals; about 1 if these are right.
        farthest: The recording whose estimate is farthest from the median.
    """

    estimate: Estimate
    count: int
    spread: float
    scatter: float
    farthest: str

    @property
    def differs(self) -> bool:
        """The recordings scatter by more than chance explains in 999 of 1000 cases (E. Wilson, M. Hilferty, 1931)."""
        part = 2.0 / (9.0 * max(self.count - 1, 1))
        return self.scatter > math.sqrt((1.0 - part + RARE * math.sqrt(part)) ** 3)


@dataclass(frozen=True, slots=True)
class PooledVehicle:
    """A vehicle pooled over recordings.

    Attributes:
        model: The model that most recordings show.
        numbers: Pooled parameters, calibrations and numbers of axes, by name.
        words: Of the parameters and calibrations among them.
        overrides: Lines of a parameter file.
        others: The results of recordings of other models, which are not pooled.
    """

    model: str
    numbers: Mapping[str, Pooled]
    words: tuple[Named, ...]
    overrides: tuple[Override, ...]
    others: tuple[Result, ...]


def pool(estimates: Mapping[str, Estimate]) -> Pooled:
    """Pool at least one estimate, by recording.

    Source: R. DerSimonian and N. Laird, Meta-analysis in clinical trials, Controlled Clinical Trials 7 (1986) 177-188.
    """
    values = np.array([estimate.value for estimate in estimates.values()])
    widths = np.array([estimate.high - estimate.low for estimate in estimates.values()]) / (2.0 * WIDTH)
    variances = np.maximum(widths, 1e-12 + 1e-9 * np.abs(values)) ** 2
    weights, freedom, between, scatter = 1.0 / variances, len(values) - 1, 0.0, math.nan
    if freedom:
        squares = float(np.sum(weights * (values - np.average(values, weights=weights)) ** 2))
        between = max(0.0, (squares - freedom) / float(weights.sum() - np.sum(weights**2) / weights.sum()))
        scatter = math.sqrt(squares / freedom)
    weights = 1.0 / (variances + between)
    mean, half = float(np.average(values, weights=weights)), WIDTH / math.sqrt(float(weights.sum()))
    farthest = list(estimates)[int(np.argmax(np.abs(values - np.median(values))))]
    return Pooled(Estimate(mean, mean - half, mean + half), len(values), math.sqrt(between), scatter, farthest)


def pool_results(results: Sequence[Result]) -> PooledVehicle | None:
    """One vehicle from the results of its recordings; None where all of them failed."""
    done = [result for result in results if not result.failure]
    if not done:
        return None
    shown = [result.model for result in done]
    model = max(shown, key=shown.count)
    same = [result for result in done if result.model == model]
    by_name: dict[str, dict[str, Estimate]] = {}
    for result in same:
        for name, estimate in result.estimates.items():
            by_name.setdefault(name, {})[result.log] = estimate
    pooled = {name: pool(estimates) for name, estimates in by_name.items()}

    def names(group: str) -> list[str]:
        return list(dict.fromkeys(name for result in same for name in getattr(result, group) if name in pooled))

    words = tuple(named(model, names("numbers"), names("calibrations")))
    others = tuple(result for result in done if result.model != model)
    return PooledVehicle(model, pooled, words, tuple(_overrides(model, same, pooled)), others)


def _overrides(model: str, results: Sequence[Result], pooled: Mapping[str, Pooled]) -> Iterator[Override]:
    """Pooled parameters; of what is no estimate, the value of most recordings.

    A limit that some recordings show is none where another one exceeds it.
    """
    lines = [{line.name: line for line in result.overrides} for result in results]
    limits = {actuation.value for actuation in actuations(models()[model].parameters()).values()}
    for name in dict.fromkeys(name for by_name in lines for name in by_name):
        parameter = name.removeprefix(f"model_params.{model}.")
        most = max(result.reached.get(parameter, 0.0) for result in results)
        not_met = f"{NOT_MET}; {most:.3g} was reached"
        there = [by_name[name] for by_name in lines if name in by_name]
        if parameter in pooled:
            unmet = next((line for line in there if line.origin.startswith(NOT_MET)), None)
            estimate = pooled[parameter].estimate
            exceeded = unmet and parameter in limits and most > EXCEEDED * estimate.high
            yield unmet._replace(origin=not_met) if unmet and exceeded else estimate.override(name)
            continue
        values = [by_name[name].value if name in by_name else None for by_name in lines]
        if (value := max(values, key=values.count)) is not None:
            line = lines[values.index(value)][name]
            yield line._replace(origin=not_met) if line.origin.startswith(NOT_MET) else line
