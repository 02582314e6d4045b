"""The fit of a vehicle to recordings: where to begin, which limits were met, and the numbers with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.study.identify.fitting.fixed_gains import with_fixed_gains
from vds_gz.study.identify.fitting.latencies import with_latencies
from vds_gz.study.identify.fitting.reach import measured_reach
from vds_gz.study.identify.fitting.sampling import as_sampled
from vds_gz.study.identify.fitting.search import Search, most_moving, thinned
from vds_gz.study.identify.fitting.selection import is_limited, select_limits
from vds_gz.study.identify.fitting.simplest import simplest, simplest_intervals
from vds_gz.study.identify.fitting.time_errors import time_blocks, with_time_errors
from vds_gz.study.identify.fitting.variants import REVERSE, best_variant, with_flags
from vds_gz.study.identify.forward.pieces import Piece
from vds_gz.study.identify.forward.problems import problem_of
from vds_gz.study.identify.forward.setup import Setup
from vds_gz.study.identify.forward.unknowns import Kind, index_of
from vds_gz.study.identify.solver.clusters import widened
from vds_gz.study.identify.solver.explanation import with_correlation
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.intervals import Intervals, linear_intervals
from vds_gz.study.identify.solver.profile import profile_intervals
from vds_gz.study.identify.solver.protocol import Mask, Problem, Solution

#: Of all data, so much is searched for where to begin and for limits [s].
TELLING = 60.0

#: So many candidates are followed, in long steps, as long as their deviance is not higher than another one's by this.
CANDIDATES, HOPELESS = 16, 50.0

#: Up to this much data the likelihood's profile is followed; with more it is nearly a parabola [s].
PROFILED = 600.0


@dataclass(frozen=True)
class Fit:
    """A fit of all data.

    Attributes:
        setup: What was looked for, in the variant of the model that explains most.
        telling: The piece that tells most.
        problem: The data with the serial correlation of their noise.
        free: Unknowns that were free, (p,).
        intervals: Of all unknowns.
    """

    setup: Setup
    telling: Piece
    problem: Problem
    free: Mask
    intervals: Intervals

    @property
    def solution(self) -> Solution:
        """Of one start."""
        return self.intervals.solution


def fit_all(setup: Setup, pieces: Sequence[Piece], *, seed: int = 0, profile: bool = True) -> Fit:
    """The fit of all data.

    Args:
        setup: What is looked for.
        pieces: The data.
        seed: Of the candidates that are searched.
        profile: Follow the profile of the likelihood, where there is not too much data for that.
    """
    telling = most_moving(pieces, TELLING)
    setup, begin = best_variant(*_rough(setup, telling, seed), telling)
    actuators = setup.actuators
    coarse = problem_of(setup, [thinned(telling)])
    rough = select_limits(coarse, setup.family, actuators, begin)
    problem = problem_of(setup, [telling])
    exact = solve(problem, rough.solution.points, free=rough.free[np.newaxis])
    selected = select_limits(problem, setup.family, actuators, exact)
    solution, free = selected.solution, selected.free
    setup, problem, solution = as_sampled(setup, telling, problem, solution, free)
    if len(pieces) > 1 or pieces[0] is not telling:
        problem = problem_of(setup, pieces)
        solution = solve(problem, solution.points, free=free[np.newaxis], warm=True)
    problem = with_correlation(problem, solution, 0)
    late = with_latencies(setup, pieces, problem, solution.points, free)
    if late is not None:
        setup, problem, solution, free = late
    problem = with_time_errors(problem, solution)
    solution = solve(problem, solution, free=free[np.newaxis], warm=True)
    solution, free = with_fixed_gains(problem, setup.family, solution, free)
    solution = simplest(problem, setup.family, solution, free)
    profile = (profile and sum(one.duration for one in pieces) < PROFILED) or _leaps(setup, solution, free)
    intervals = simplest_intervals(
        problem, setup.family, solution, free, profile_intervals if profile else linear_intervals
    )
    if problem.sizes:
        intervals = widened(problem, intervals, free, time_blocks(problem))
    return Fit(setup, telling, problem, free, intervals)


def _leaps(setup: Setup, solution: Solution, free: Mask) -> bool:
    """Whether nothing changes with a time in steps: of a jump one sees between which samples it was."""
    times = index_of(setup.family.unknowns, Kind.DEAD_TIME, Kind.TIME_CONSTANT)
    return bool((free[times] & (np.diag(solution.information[0])[times] == 0.0)).any())


def _rough(setup: Setup, telling: Piece, seed: int) -> tuple[Setup, Solution]:
    """The best fit in long steps, from the best candidates of a search; steered behind if that fits better."""
    search = Search(setup.family, telling, setup.actuators, measured_reach(setup), seed=seed)
    candidates = search.run(setup.begin, CANDIDATES)
    if not setup.given and hasattr(setup.family.parameters, REVERSE):
        other = with_flags(setup, {REVERSE: not getattr(setup.family.parameters, REVERSE)})
        points = candidates.points.copy()
        points[:, [one.kind is Kind.PARAMETER for one in setup.family.unknowns]] = setup.begin[
            [one.kind is Kind.PARAMETER for one in setup.family.unknowns]
        ]
        turned = Search(other.family, telling, setup.actuators, measured_reach(setup), seed=seed).judged(points)
        if turned.scores.min() < candidates.scores.min():
            setup, candidates = other, turned
    points = candidates.points
    coarse = problem_of(setup, [thinned(telling)])
    found = solve(coarse, points, free=is_limited(setup.family, points), margin=HOPELESS)
    return setup, found.of([found.best])
