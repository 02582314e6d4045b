"""Gains that the data do not determine are 1: a drive that is always at its limits goes no faster for larger commands.

There is an edge where a smaller gain begins to show; a solution that happens to lie on it would have an interval.
"""

from __future__ import annotations

import numpy as np

from vds_gz.study.identify.fitting.selection import criterion
from vds_gz.study.identify.forward.part import VehicleFamily
from vds_gz.study.identify.forward.problems import GAIN_SIGMA
from vds_gz.study.identify.forward.unknowns import Kind, index_of
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.intervals import covariance
from vds_gz.study.identify.solver.protocol import Mask, Problem, Solution

#: The data determine a gain if they leave no more than this of its standard deviation beforehand.
DETERMINED = 0.5


def with_fixed_gains(problem: Problem, family: VehicleFamily, solution: Solution, free: Mask) -> tuple[Solution, Mask]:
    """A fit whose gains are held at 1 as far as the data do not determine them there, if that explains enough.

    Args:
        problem: The data.
        family: What is looked for.
        solution: The best fit, of one start.
        free: Unknowns that were free, (p,).

    Returns:
        The fit, and what is free in it.
    """
    gains = np.array([k for k in index_of(family.unknowns, Kind.GAIN) if free[k]], np.intp)
    if not len(gains):
        return solution, free
    start = solution.of([0])
    start.points[0, gains] = 1.0
    at_one = solve(problem, start, free=free[np.newaxis], warm=True, iterations=1)
    deviations = np.sqrt(np.diag(covariance(at_one.information[0]))[gains])
    fixed = gains[deviations > DETERMINED * GAIN_SIGMA]
    if not len(fixed):
        return solution, free
    start = solution.of([0])
    start.points[0, fixed] = 1.0
    others = free.copy()
    others[fixed] = False
    held = solve(problem, start, free=others[np.newaxis], warm=True)
    better = criterion(problem, held, others[np.newaxis]) <= criterion(problem, solution, free[np.newaxis])
    return (held, others) if better[0] else (solution, free)
