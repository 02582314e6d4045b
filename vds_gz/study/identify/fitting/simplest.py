"""Of all vehicles that explain the data equally well, the one that responds at once; and the intervals around it.

Where commands and samples come in step, a dead time or a lag that is shorter than their interval leaves no trace, and
nor does its derivative: its interval ends where it begins to show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.forward.part import VehicleFamily
from vds_gz.study.identify.forward.unknowns import Kind
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.intervals import Intervals, rise
from vds_gz.study.identify.solver.normal_equations import EXCITED
from vds_gz.study.identify.solver.protocol import Mask, Problem, Solution

#: Dead times and lags up to this are tried without [s], and where one begins to show is looked for in such steps [s].
SHORT, LOOK = 0.05, 1e-3

#: What explains the data worse by more than this does not explain them equally well.
EQUAL = 0.01


def simplest(problem: Problem, family: VehicleFamily, solution: Solution, free: Mask) -> Solution:
    """A solution with those short dead times and lags at the least there are that the data do not tell from these.

    Args:
        problem: The data.
        family: What is looked for.
        solution: The best fit, of one start.
        free: Unknowns that were free, (p,).
    """
    lowest, point = problem.space.lower, solution.points[0]
    short = [k for k in _times(family) if free[k] and lowest[k] < point[k] <= lowest[k] + SHORT]
    now = solution
    for which in [short, *([k] for k in short)] if short else []:
        if np.all(now.points[0, which] <= lowest[which]):
            continue
        points, others = now.points.copy(), free.copy()
        points[0, which] = lowest[which]
        others[which] = False
        found = solve(problem, replace(now, points=points), free=others[np.newaxis], warm=True)
        if found.deviance[0] <= now.deviance[0] + EQUAL:
            now = found
    return solution if now is solution else solve(problem, now, free=free[np.newaxis], warm=True)


def simplest_intervals(
    problem: Problem,
    family: VehicleFamily,
    solution: Solution,
    free: Mask,
    intervals: Callable[[Problem, Solution, int, Mask], Intervals],
) -> Intervals:
    """Intervals of all unknowns, those too that leave no trace at the solution, which are at their lowest there.

    Args:
        problem, family, solution, free: As for :func:`simplest`.
        intervals: Gives those of unknowns that do.
    """
    at_lowest = solution.points[0] <= problem.space.lower
    blind = np.diag(solution.information[0]) * problem.space.scale**2 <= EXCITED**-2
    hidden = [k for k in _times(family) if free[k] and at_lowest[k] and blind[k]]
    visible = free.copy()
    visible[hidden] = False
    information = np.where(visible[:, np.newaxis] & visible, solution.information, 0.0)
    found = intervals(problem, replace(solution, information=information), 0, visible)
    for k in hidden:
        found.high[k] = _unseen_up_to(problem, found.solution, k, int(visible.sum()))
        found.determined[k] = True
    return found


def _unseen_up_to(problem: Problem, solution: Solution, unknown: int, unknowns: int) -> float:
    """The highest value of an unknown that explains the data nearly as well, the others being as they are."""
    values: Array = solution.points[0, unknown] + LOOK * np.arange(1, round(SHORT / LOOK) + 1)
    starts = solution.of([0] * len(values))
    points = starts.points.copy()
    points[:, unknown] = values
    held = np.zeros(points.shape, bool)
    seen = solve(problem, replace(starts, points=points), free=held, warm=True, iterations=1)
    shows = np.flatnonzero(seen.deviance > solution.deviance[0] + rise(problem, unknowns))
    return float(values[shows[0] - 1]) if len(shows) and shows[0] else float(values[-1 if not len(shows) else 0])


def _times(family: VehicleFamily) -> list[int]:
    return [k for k, one in enumerate(family.unknowns) if one.kind in (Kind.DEAD_TIME, Kind.TIME_CONSTANT)]
