"""Whether what was measured is the state of a simulator, which holds from step to step, or changes between steps too.

It makes half a step of dead time where samples lie between steps, as with 60 Hz and steps of 1 ms.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vds_gz.study.identify.forward.pieces import Piece
from vds_gz.study.identify.forward.problems import problem_of
from vds_gz.study.identify.forward.setup import Setup
from vds_gz.study.identify.solver.explanation import with_correlation
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.protocol import Mask, Problem, Solution

#: A state that holds must lower the deviance by this to be believed.
BETTER = 10.0


def as_sampled(
    setup: Setup, piece: Piece, problem: Problem, solution: Solution, free: Mask
) -> tuple[Setup, Problem, Solution]:
    """A fit as the samples were taken: as they are between two steps, or of a state that holds if that explains more.

    Args:
        setup: What is looked for.
        piece: Part of a recording; where its commands came between steps, no one knows where steps began.
        problem: The same piece.
        solution: Its fit, of one start.
        free: Unknowns that were free, (p,).
    """
    at = (piece.positions(one.series.time) for _, one in piece.channels)
    if not piece.on_grid or all((one == np.floor(one)).all() for one in at):
        return setup, problem, solution
    held = replace(setup, family=replace(setup.family, hold=piece.dt))
    correlation = with_correlation(problem, solution, 0).correlation
    problems = [problem_of(one, [piece], correlation) for one in (setup, held)]
    between, holding = (solve(one, solution.points, free=free[np.newaxis], warm=True) for one in problems)
    if holding.deviance[0] < between.deviance[0] - BETTER:
        return held, problems[1], holding
    return setup, problem, solution
