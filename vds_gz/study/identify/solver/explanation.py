"""What a point explains of the data: predictions, residuals, weights, and how much independent noise is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vds_gz.study.identify.solver.noise import relative_weights
from vds_gz.study.identify.solver.protocol import Array, Problem, Solution

#: Residuals count up to so many scales in a correlation, so that no outlier makes it or hides it.
CLIPPED = 3.0

#: The sum of correlations ends at so many times itself, where it is noise only (A. Sokal, Monte Carlo Methods in
#: Statistical Mechanics, 1989, 3).
WINDOW = 5.0


class Explained(NamedTuple):
    """A part at a point, (M,) each.

    Attributes:
        predicted: By the model.
        residuals: Predicted less measured.
        weights: From 0 to 1; below 0.1 a sample is an outlier.
    """

    predicted: Array
    residuals: Array
    weights: Array


def explain(problem: Problem, solution: Solution, which: int) -> list[Explained]:
    """Every part at the point that was found from one start."""
    one = solution.of([which])
    found = []
    for k, (part, own) in enumerate(zip(problem.parts, one.own, strict=True)):
        predicted = part.evaluate(one.points, own, None).predicted
        residuals = predicted - part.measured
        sized = problem.in_sizes(k, residuals)
        weights = np.ones_like(residuals)
        for c in range(len(problem.floors)):
            samples = part.channel == c
            weights[:, samples] = relative_weights(sized[:, samples], one.noise.scale[:, c], one.noise.nu[:, c])
        found.append(Explained(predicted[0], residuals[0], weights[0]))
    return found


def with_correlation(problem: Problem, solution: Solution, which: int) -> Problem:
    """The problem with the serial correlation of the noise that a solution leaves."""
    left = [problem.in_sizes(k, one.residuals[None])[0] for k, one in enumerate(explain(problem, solution, which))]
    correlation = [
        autocorrelation_time(
            [one[part.channel == c] for part, one in zip(problem.parts, left, strict=True)],
            float(solution.noise.scale[which, c]),
            float(problem.floors[c]),
        )
        for c in range(len(problem.floors))
    ]
    return replace(problem, correlation=np.array(correlation))


def autocorrelation_time(runs: Sequence[Array], scale: float, floor: float = 0.0) -> float:
    """How many residuals hold as much information as one would if they were independent; at least 1.

    It is 1 + 2 * (the sum of the correlations between residuals that are 1, 2, 3 ... samples apart).

    Args:
        runs: Residuals in the order of time; runs know nothing of each other.
        scale: Of their noise.
        floor: Standard deviation of independent noise that is there besides, the resolution of what was measured.
    """
    longest = max((len(run) for run in runs), default=0)
    if longest < 2:
        return 1.0
    total = np.zeros(longest)
    for run in runs:
        total[: len(run)] += _autocovariance(np.clip(run / scale, -CLIPPED, CLIPPED))
    power = float(total[0]) + sum(map(len, runs)) * (floor / scale) ** 2
    if power <= 0.0:
        return 1.0
    times = 1.0 + 2.0 * np.cumsum(total[1:]) / power
    enough = np.flatnonzero(np.arange(1, longest) >= WINDOW * np.maximum(times, 1.0))
    return max(1.0, float(times[enough[0] if len(enough) else longest // 3]))


def _autocovariance(run: Array) -> Array:
    """Sums of products of values that are 0, 1, 2 ... samples apart."""
    if not len(run):
        return run
    spectrum = np.fft.rfft(run, 2 * len(run))
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2)[: len(run)])
