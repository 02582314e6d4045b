"""Confidence intervals of a fit whose residuals are autocorrelated: a sandwich estimator over blocks.

Where sums of gradients over contiguous blocks vary by more than those of independent samples do by chance, they give
the variance (P. Huber, The behavior of maximum likelihood estimates under nonstandard conditions, 1967; for clusters:
R. Rogers, Regression standard errors in clustered samples, 1993).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, t

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.fit import Problem, Solution, noise_of, residual_limits, robust
from vds_gz.study.identify.selection import blocks_of

#: Of how many this is the interval.
CONFIDENCE = 0.95

#: Blocks are at least so many times as long as residuals are correlated; there are at most so many.
LENGTH, MOST = 10.0, 50


@dataclass(frozen=True)
class Intervals:
    """Of each term the ends of its interval, in coordinates; infinite where the data do not determine it.

    Attributes:
        low, high: The ends.
        correlated: Pairs of terms that cannot be told apart.
    """

    low: Array
    high: Array
    confounded: tuple[tuple[int, ...], ...]


def intervals_of(problem: Problem, solution: Solution) -> Intervals:
    """The intervals of all free terms."""
    chosen = np.flatnonzero(solution.free)
    low, high = np.full(len(solution.point), -np.inf), np.full(len(solution.point), np.inf)
    if not len(chosen):
        return Intervals(low, high, ())
    noise = noise_of(problem, solution.residuals)
    weights = (1.0 / noise.scale)[problem.kind]
    limits = residual_limits(problem, noise)
    residuals = solution.residuals * weights
    jacobian = solution.jacobian[:, chosen] * weights[:, np.newaxis]
    slope = robust(residuals**2, limits)[1]
    known = np.where(np.isfinite(problem.sigma[chosen]), 1.0 / problem.sigma[chosen] ** 2, 0.0)
    information = jacobian.T @ (jacobian * slope[:, np.newaxis]) + np.diag(known)
    size = np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, vectors = np.linalg.eigh(information / size / size[:, np.newaxis])
    weak = values < 1e-9 * values[-1]
    confounded = tuple(
        tuple(int(chosen[k]) for k in np.flatnonzero(np.abs(vector) > 0.2)) for vector in vectors[:, weak].T
    )
    inverse = (vectors[:, ~weak] / values[~weak]) @ vectors[:, ~weak].T / size / size[:, np.newaxis]
    variance = np.diag(inverse).copy()
    blocks = blocks_of(problem, LENGTH * float(np.max(noise.correlation * problem.intervals)), MOST)
    count = int(blocks.max()) + 1
    scores = np.zeros((count, len(chosen)))
    np.add.at(scores, blocks, jacobian * (slope * residuals)[:, np.newaxis])
    spread = inverse @ scores.T
    by_blocks = np.sum(spread**2, axis=1) * count / max(count - 1, 1)
    freedom = max(count - 1, 1)
    chance = float(chi2.ppf(CONFIDENCE, freedom)) / freedom
    wide = float(t.ppf(0.5 + 0.5 * CONFIDENCE, freedom))
    together = by_blocks > chance * variance
    width = np.where(together, wide * np.sqrt(by_blocks), 1.96 * np.sqrt(variance))
    lost = {k for names in confounded for k in names}
    for j, k in enumerate(chosen):
        if int(k) not in lost and math.isfinite(width[j]):
            low[k], high[k] = solution.point[k] - width[j], solution.point[k] + width[j]
    return Intervals(low, high, confounded)
