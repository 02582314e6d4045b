"""Intervals where samples of one block of time err together, in all channels: how much wider these must be.

Each block is left out in turn, to first order (the jackknife of clusters: R. M. Bell, D. F. McCaffrey, Survey
Methodology 28, 2002). This needs no model of how the samples of a block are autocorrelated. An estimate that hardly
more than one block determines is not taken for certain; where one block alone determines it, nothing says how
its samples err together; that is as uncertain as the worst of the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from vds_gz.study.identify.solver.intervals import LEVEL, Intervals, covariance
from vds_gz.study.identify.solver.noise import weights
from vds_gz.study.identify.solver.protocol import Array, Indices, Mask, Part, Problem, Solution

#: A block alone determines an unknown of whose information the others have less than this part: what they say of it
#: lies ten times as far off as it is known, by chance.
ALONE = 0.01


def widened(problem: Problem, intervals: Intervals, free: Mask, blocks: Sequence[Indices]) -> Intervals:
    """Intervals that hold where samples of one block err together; none is narrower than before.

    Args:
        problem: The data.
        intervals: With what was found, of one start.
        free: Unknowns that were free, (p,).
        blocks: Of each part the block of each sample, (M,).
    """
    by = _factors(problem, intervals.solution, free, blocks)
    point, space = intervals.solution.points[0], problem.space
    low, high = point - by * (point - intervals.low), point + by * (intervals.high - point)
    determined = intervals.determined & np.column_stack((low >= space.lower, high <= space.upper))
    low, high = np.maximum(low, space.lower), np.minimum(high, space.upper)
    return intervals._replace(low=low, high=high, determined=determined)


def _factors(problem: Problem, solution: Solution, free: Mask, blocks: Sequence[Indices]) -> Array:
    """By how many times standard deviations are larger than the information says, (p,), at least 1."""
    every = [one for k, each in enumerate(blocks) for one in _by_block(problem, solution, free, k, each)]
    count = len(every)
    if count < 2:
        return np.ones(len(free))
    variance = np.diag(covariance(solution.information[0]))
    determined = np.isfinite(variance) & (variance > 0.0)
    whole = sum((square for _, square in every), np.diag(problem.space.sigma**-2.0))
    alone, moves = np.zeros(len(free), bool), []
    for score, square in every:
        others = _without(whole, square, determined)
        alone |= np.isinf(np.diag(others))
        moves.append(np.where(np.isfinite(others), others, 0.0) @ score)
    larger = (count - 1.0) / count * np.sum(np.square(moves), axis=0)
    rough = student.ppf(0.5 + 0.5 * LEVEL, count - 1) / norm.ppf(0.5 + 0.5 * LEVEL)
    factors = np.maximum(rough * np.sqrt(larger / np.where(determined, variance, 1.0)), 1.0)
    factors[alone] = np.max(factors[determined & ~alone], initial=1.0)
    return np.where(determined, factors, 1.0)


def _without(whole: Array, square: Array, determined: Mask) -> Array:
    """Covariance by the information without a block's, (p, p); infinite variances of what it alone determines."""
    left = whole - square
    known = determined & (np.diag(left) > ALONE * np.diag(whole))
    return covariance(np.where(known[:, np.newaxis] & known, left, 0.0))


def _by_block(
    problem: Problem, solution: Solution, free: Mask, k: int, blocks: Indices
) -> Iterator[tuple[Array, Array]]:
    """Half the gradient of each block of a part, (p,), and its information, (p, p), own unknowns being unknown too."""
    part, own = problem.parts[k], solution.own[k][:1]
    predicted, shared, by_own = part.evaluate(solution.points[:1], own, free[np.newaxis])
    assert shared is not None
    left = problem.in_sizes(k, predicted - part.measured)
    derivatives = problem.in_sizes(k, shared)[0] * free
    weight, pull = np.empty_like(left), np.empty_like(left)
    for c, correlation in enumerate(problem.correlation):
        samples = part.channel == c
        each, pull[:, samples] = weights(left[:, samples], solution.noise.scale[:1, c], solution.noise.nu[:1, c])
        weight[:, samples] = each / correlation
    if by_own is not None and len(part.own):
        absorbed = problem.in_sizes(k, _whole(part, by_own[0])[np.newaxis])[0]
        square = absorbed.T @ (weight.T * absorbed) + np.diag(part.own.sigma**-2.0)
        derivatives -= absorbed @ (np.linalg.pinv(square) @ (absorbed.T @ (weight.T * derivatives)))
    for block in np.unique(blocks):
        some = blocks == block
        weighted = weight[0, some, np.newaxis] * derivatives[some]
        yield weighted.T @ (pull * left)[0, some], weighted.T @ derivatives[some]


def _whole(part: Part, derivatives: Array) -> Array:
    """Derivatives with respect to all own unknowns, (M, q)."""
    if part.own_columns is None:
        return derivatives
    whole = np.zeros((len(derivatives), len(part.own)))
    np.put_along_axis(whole, part.own_columns, derivatives, axis=1)
    return whole
