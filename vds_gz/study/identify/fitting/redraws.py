"""Intervals of what was found, by fits to redrawn noise: a check of those that the likelihood gives."""

from __future__ import annotations

import numpy as np

from vds_gz.errors import ArgumentError
from vds_gz.study.identify.estimates import Estimate
from vds_gz.study.identify.fitting.time_errors import time_blocks
from vds_gz.study.identify.forward.part import VehicleFamily
from vds_gz.study.identify.solver.bootstrap import bootstrap
from vds_gz.study.identify.solver.protocol import Mask, Problem, Solution

#: Fewer draws give no interval, and what lies between these percentiles of them is the interval.
FEWEST, PERCENTILES = 20, (2.5, 97.5)


def check_count(count: int) -> None:
    """Refuse a number of draws that gives no interval.

    Raises:
        ArgumentError: It is neither 0 nor enough.
    """
    if count != 0 and count < FEWEST:
        raise ArgumentError(f"bootstrap is {count}; it must be 0 (none) or at least {FEWEST} draws of the noise")


def redrawn(
    family: VehicleFamily, problem: Problem, solution: Solution, free: Mask, *, count: int, seed: int
) -> dict[str, Estimate]:
    """What was found with the interval that a bootstrap gives it, by name, of all unknowns that were free.

    Args:
        family: Its unknowns are those of the solution.
        problem: The data, with the serial correlation of their noise.
        solution: What was found from one start.
        free: Unknowns that were free, (p,).
        count: How many draws.
        seed: Of the draws.
    """
    clusters = time_blocks(problem) if problem.sizes else ()
    points = bootstrap(problem, solution, 0, free, count=count, seed=seed, clusters=clusters).points
    found = {}
    for k, unknown in enumerate(family.unknowns):
        if free[k]:
            low, high = np.percentile([unknown.value(one) for one in points[:, k].tolist()], PERCENTILES)
            found[unknown.name] = Estimate(unknown.value(float(solution.points[0, k])), float(low), float(high))
    return found
