"""Confidence intervals of what was found: their level, and those by the curvature of the likelihood at the solution."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from vds_gz.study.identify.solver.protocol import Array, Mask, Problem, Solution

#: The probability that an interval holds the true value.
LEVEL = 0.95


class Intervals(NamedTuple):
    """Confidence intervals of the shared unknowns.

    Attributes:
        low, high: The ends, (p,); bounds, which may be infinite, where the data determine none.
        determined: Whether the data determine the low and the high end, (p, 2).
        solution: The solution that they belong to: a better one than what was given, if a profile came across one.
    """

    low: Array
    high: Array
    determined: Mask
    solution: Solution


def covariance(information: Array) -> Array:
    """Covariance of the unknowns, (p, p); infinite variances where the data do not separate them."""
    diagonal = np.diag(information)
    excited = diagonal > 0.0
    root = np.where(excited, 1.0 / np.sqrt(np.where(excited, diagonal, 1.0)), 0.0)
    values, vectors = np.linalg.eigh(information * root[:, None] * root)
    separate = values > 1e-11
    found = (vectors[:, separate] / values[separate]) @ vectors[:, separate].T * root[:, None] * root
    hidden = ~excited | ((np.abs(vectors[:, ~separate]) > 1e-4) & excited[:, None]).any(axis=1)
    found[hidden, hidden] = np.inf
    return np.asarray(found)


def rise(problem: Problem, unknowns: int) -> float:
    """By how much the deviance rises from the solution to the end of an interval.

    The noise is found from the same samples: of few, Student's distribution takes the normal one's place, as it does
    exactly with a linear model and normal noise.

    Args:
        problem: The data.
        unknowns: How many were free.
    """
    counts = sum(np.bincount(part.channel, minlength=len(problem.floors)) for part in problem.parts)
    samples = float(np.sum(counts / problem.correlation))
    freedom = max(samples - unknowns - sum(len(part.own) for part in problem.parts), 1.0)
    return float(max(samples, 1.0) * math.log1p(student.ppf(0.5 + 0.5 * LEVEL, freedom) ** 2 / freedom))


def linear_intervals(problem: Problem, solution: Solution, which: int, free: Mask) -> Intervals:
    """Intervals by the curvature of the likelihood at the solution.

    Args:
        problem: The data.
        solution, which: The point that was found from one start.
        free: Unknowns that were free, (p,); the intervals of others have no length.
    """
    point, space = solution.points[which], problem.space
    half = math.sqrt(rise(problem, int(free.sum()))) * np.sqrt(np.diag(covariance(solution.information[which])))
    half = np.where(free, half, 0.0)
    low, high = np.maximum(point - half, space.lower), np.minimum(point + half, space.upper)
    determined = (
        np.column_stack((point - half >= space.lower, point + half <= space.upper)) & np.isfinite(half)[:, None]
    )
    return Intervals(low, high, determined, solution.of([which]))
