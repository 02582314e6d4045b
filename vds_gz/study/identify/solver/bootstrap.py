"""How what is found scatters when the residuals fall otherwise: a check of the intervals that knows no distribution.

Blocks of the residuals that follow each other are drawn and laid on what the model predicts (moving blocks: H. R.
Künsch, Ann. Stat. 17, 1989), so that their serial correlation remains. Where the samples of a block of time err
together, blocks stay where they are and some change their signs, in all channels at once (the wild bootstrap of
clusters: A. C. Cameron, J. B. Gelbach, D. L. Miller, Rev. Econ. Stat. 90, 2008).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vds_gz.study.identify.solver.explanation import explain
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.protocol import Array, Indices, Mask, Problem, Solution

#: A block is so many times as long as residuals are autocorrelated.
LENGTH = 3.0


def bootstrap(
    problem: Problem,
    solution: Solution,
    which: int,
    free: Mask,
    *,
    count: int,
    seed: int,
    clusters: Sequence[Indices] = (),
) -> Solution:
    """What is found from other draws of the noise, one start for each.

    Args:
        problem: The data, with the correlation of their noise.
        solution, which: The point that was found from one start.
        free: Unknowns that are free, (p,).
        count: How many draws.
        seed: Of the draws.
        clusters: Of each part the block of each sample, (M,), where samples of one block err together; empty where the
            noise is the same all the time.
    """
    parts = explain(problem, solution, which)
    freedom = sum(len(part.measured) for part in problem.parts) - int(free.sum())
    freedom -= sum(len(part.own) for part in problem.parts)
    larger = math.sqrt(sum(len(part.measured) for part in problem.parts) / max(freedom, 1))

    def observed(k: int, draws: Indices) -> Array:
        channel, weights, residuals = problem.parts[k].channel, parts[k].weights, larger * parts[k].residuals
        found = np.repeat(parts[k].predicted[None], len(draws), axis=0)
        for row, draw in zip(found, draws, strict=True):
            rng = np.random.default_rng([seed, int(draw), k])
            if clusters:
                row -= residuals * rng.choice((-1.0, 1.0), clusters[k].max() + 1)[clusters[k]]
                continue
            for c, correlation in enumerate(problem.correlation):
                samples = np.flatnonzero(channel == c)
                row[samples] -= _drawn(residuals[samples], weights[samples], float(correlation), rng)
        return found

    starts = solution.of([which] * count)
    return solve(problem, starts, free=np.repeat(free[None], count, axis=0), warm=True, observed=observed)


def _drawn(residuals: Array, weights: Array, correlation: float, rng: np.random.Generator) -> Array:
    """As many residuals, in blocks that begin anywhere, around a weighted mean of 0, which no outlier moves."""
    count = len(residuals)
    if not count:
        return residuals
    length = min(math.ceil(max(count ** (1.0 / 3.0), LENGTH * correlation)), count)
    begins = rng.integers(0, count - length + 1, math.ceil(count / length))
    places = (begins[:, None] + np.arange(length)).ravel()[:count]
    return np.asarray(residuals[places] - np.average(residuals, weights=weights))
