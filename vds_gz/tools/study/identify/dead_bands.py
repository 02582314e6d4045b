"""Dead bands that explain recordings equally well.

Between two levels of the commands the cost does not depend on the dead band. A derivative shows a level next to it, or
nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from vds_gz.tools.study.identify.build import Problem
from vds_gz.tools.study.identify.estimates import CONSISTENT
from vds_gz.tools.study.identify.terms import STAGES
from vds_gz.tools.study.identify.trials import costs_of
from vds_gz.tools.study.identify.vehicle_fit import Solution, solve

#: Number of dead bands that are tried between the bounds, and near the fitted one, as parts of it.
TRIED, NEAR = 101, np.linspace(0.5, 1.5, 101)


def fitted_bands(problem: Problem, solution: Solution) -> list[int]:
    """Indices of the fitted dead bands."""
    free = np.flatnonzero(solution.free).tolist()
    return [k for k in free if problem.terms[k].kind is STAGES["dead_band"]]


def equivalent_bands(problem: Problem, solution: Solution, k: int) -> tuple[float, float]:
    """The ends of the dead bands around the fitted one that are consistent with the data, with other terms as fitted.

    They are infinite if the largest one that the search allows is also consistent.
    """
    present = float(solution.point[k])
    low, high = problem.lower[k], problem.upper[k]
    bands = np.unique([*np.linspace(low, high, TRIED), *np.clip(NEAR * present, low, high), present])
    points = np.where(np.arange(len(solution.point)) == k, bands[:, np.newaxis], solution.point)
    costs = costs_of(problem, points, solution.starts, solution.noise)
    costs += ((bands - problem.mean[k]) / problem.sigma[k]) ** 2
    at = int(np.searchsorted(bands, present))
    worse = np.flatnonzero(costs > costs[at] + CONSISTENT)
    first = int(np.max(worse[worse < at], initial=-1)) + 1
    last = int(np.min(worse[worse > at], initial=len(bands))) - 1
    if last == len(bands) - 1:
        return -math.inf, math.inf
    # A level of the commands is between the last consistent band and the next one.
    return float(bands[max(first - 1, 0)]), float(bands[last + 1])


def with_central_bands(problem: Problem, solution: Solution) -> Solution:
    """The solution with each dead band in the middle of those that are consistent with the data."""
    point = solution.point.copy()
    for k in fitted_bands(problem, solution):
        low, high = equivalent_bands(problem, solution, k)
        if math.isfinite(high):
            point[k] = 0.5 * (low + high)
    if (point == solution.point).all():
        return solution
    central = solve(problem, point, solution.free, solution.noise, starts=solution.starts, evaluations=1)
    return replace(central, point=point)
