"""Confidence intervals of a fit whose residuals are autocorrelated: a jackknife over blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.study.identify.build import Problem
from vds_gz.tools.study.identify.cross_validation import blocks_of
from vds_gz.tools.study.identify.dead_bands import equivalent_bands, fitted_bands
from vds_gz.tools.study.identify.estimates import CONSISTENT
from vds_gz.tools.study.identify.robust import inverted, widths
from vds_gz.tools.study.identify.term_kind import Effect, acting_as
from vds_gz.tools.study.identify.vehicle_fit import Solution, linearised, solve

#: Minimum length of blocks, as a multiple of the correlation of residuals, and their maximum number.
LENGTH, MOST = 10.0, 20

#: Terms are confounded below this part of the largest eigenvalue of the scaled information. Derivatives are
#: differences, exact to about the root of this.
SINGULAR = 1e-9

#: Changes of a dead time that are tried, as parts of the interval between samples.
TRIED_DEAD_TIMES = 0.5, 0.95

#: Simulations in the fit with another dead time.
DEAD_TIME_SIMULATIONS = 6

#: A term is named as confounded if it has at least this part of a combination.
NAMED_PART = 0.2


@dataclass(frozen=True)
class Intervals:
    """Confidence intervals of all terms.

    Attributes:
        low, high: Their ends, in coordinates; infinite if the data do not determine a term.
        confounded: Groups of terms, by index, whose effects the data do not distinguish.
        sums: Low and high ends of the sums of pairs of terms, by their indices.
    """

    low: Array
    high: Array
    confounded: tuple[tuple[int, ...], ...]
    sums: Mapping[tuple[int, int], tuple[float, float]]


def intervals_of(problem: Problem, solution: Solution, pairs: Sequence[tuple[int, int]] = ()) -> Intervals:
    """The intervals of all free terms and of the sums of free pairs, with the weights and the loss of the fit."""
    free = np.flatnonzero(solution.free)
    low, high = np.full(len(solution.point), -np.inf), np.full(len(solution.point), np.inf)
    if not len(free):
        return Intervals(low, high, (), {})
    noise = solution.noise
    residuals, jacobian, weighted = linearised(problem, solution, noise)
    known = np.diag(1.0 / problem.sigma[free] ** 2)
    information = jacobian.T @ weighted + known
    inverse, null = inverted(information, SINGULAR)
    confounded = tuple(tuple(int(k) for k in free[np.abs(combination) > NAMED_PART]) for combination in null)
    independent = jacobian.T @ (weighted / noise.correlation[problem.kind][:, np.newaxis]) + known
    unknown = [k for group in confounded for k in group]
    pairs = [pair for pair in pairs if solution.free[[*pair]].all() and not np.isin(pair, unknown).any()]
    sums = np.array([np.isin(free, pair) for pair in pairs], dtype=float).reshape(-1, len(free))
    combinations = np.vstack([np.eye(len(free)), sums]).T
    variance = np.diag(combinations.T @ inverse @ independent @ inverse @ combinations)
    correlated = noise.correlation * problem.intervals
    blocks = blocks_of(problem, LENGTH * float(np.max(correlated[np.isfinite(correlated)])), MOST)
    widths_of_all = widths(residuals, jacobian, weighted, information, inverse, variance, blocks, combinations)
    width, width_of_sums = widths_of_all[: len(free)], widths_of_all[len(free) :]
    determined = ~np.isin(free, unknown) & np.isfinite(width)
    low[free[determined]] = (solution.point[free] - width)[determined]
    high[free[determined]] = (solution.point[free] + width)[determined]
    together = np.array([np.sum(solution.point[[*pair]]) for pair in pairs])
    lowest, highest = together - width_of_sums, together + width_of_sums
    for trial in _equivalent(problem, solution):
        low[free] = np.minimum(low[free], trial.point[free])
        high[free] = np.maximum(high[free], trial.point[free])
        together = np.array([np.sum(trial.point[[*pair]]) for pair in pairs])
        lowest, highest = np.minimum(lowest, together), np.maximum(highest, together)
    for k in fitted_bands(problem, solution):
        band_low, band_high = equivalent_bands(problem, solution, k)
        if (k,) in confounded and math.isfinite(band_high):  # without a derivative
            confounded = tuple(group for group in confounded if group != (k,))
            low[k], high[k] = band_low, band_high
        low[k], high[k] = min(low[k], band_low), max(high[k], band_high)
    ends = zip(lowest.tolist(), highest.tolist(), strict=True)
    return Intervals(low, high, confounded, dict(zip(pairs, ends, strict=True)))


def _equivalent(problem: Problem, solution: Solution) -> Iterator[Solution]:
    """Solutions with shorter and longer dead times that explain the samples as well.

    If samples come as regularly as commands, the cost does not depend on where between two samples a response begins.
    """
    apart = float(np.min(problem.intervals))
    for k in acting_as(problem.terms, Effect.DEAD_TIME):
        if not solution.free[k]:
            continue
        free = solution.free & (np.arange(len(solution.free)) != k)
        for change in (-apart, apart):
            for part in TRIED_DEAD_TIMES:
                point = solution.point.copy()
                point[k] = np.clip(point[k] + part * change, problem.lower[k], problem.upper[k])
                trial = solve(
                    problem,
                    point,
                    free,
                    solution.noise,
                    starts=solution.starts,
                    evaluations=DEAD_TIME_SIMULATIONS,
                )
                if trial.cost > solution.cost + 0.5 * CONSISTENT:
                    break
                yield trial
