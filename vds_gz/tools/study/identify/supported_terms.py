"""The terms that recordings support, with a rough fit of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array, Flags
from vds_gz.tools.study.identify.build import Problem, coarse_segments, problem_of
from vds_gz.tools.study.identify.candidates import candidates_of
from vds_gz.tools.study.identify.observed_limits import Reach
from vds_gz.tools.study.identify.problem.problem_setup import Setup
from vds_gz.tools.study.identify.problem.segments import segments_of
from vds_gz.tools.study.identify.residual_noise import noise_of
from vds_gz.tools.study.identify.selection import select
from vds_gz.tools.study.identify.term_kind import SIGNIFICANT, WORTHWHILE, Effect, mask_of, neutral_point
from vds_gz.tools.study.identify.trials import Candidate
from vds_gz.tools.study.identify.vehicle_fit import Solution, solve

#: Number of fits after each of which the noise is estimated again.
ROUNDS = 3

#: Relative tolerance and simulations of a fit: without noise, to the precision of floating point; else to a small part
#: of the intervals.
PRECISE, ROUGH = (1e-13, 30), (1e-5, 6)

#: A channel has no noise if its residual is below this multiple of its accuracy in simulation. Nothing is left to
#: explain if the residuals of all channels are below this multiple of their resolutions.
EXACT_BELOW = 5.0

#: Coarse steps hide further effects if the residual of one channel is below the first multiple of its accuracy in
#: simulation, or the residuals of all below the second.
COARSE_HIDES_ONE, COARSE_HIDES_ALL = 1000.0, 2000.0

StageCallback = Callable[[str], object]


class Fitted(NamedTuple):
    """A problem with its solution; ``fine``: in the vehicle's own steps, with all samples."""

    problem: Problem
    solution: Solution
    fine: bool = False

    @property
    def exact(self) -> bool:
        """Whether nothing is left to explain."""
        return bool((self._left < EXACT_BELOW * self.problem.floors).all())

    @property
    def nearly_exact(self) -> bool:
        """Whether the residual is so small that coarse steps hide further effects."""
        parts = self._left / np.maximum(self.problem.accuracies, 1e-300)
        return bool((parts < COARSE_HIDES_ONE).any() or (parts < COARSE_HIDES_ALL).all())

    @property
    def _left(self) -> Array:
        """The residual of each kind of channel."""
        return noise_of(self.problem, self.solution.residuals).scale


def supported(
    setup: Setup, reach: Mapping[str, Reach], advance: StageCallback = lambda words: None, *, at_once: bool = False
) -> Fitted:
    """The selected terms, with a rough fit of them.

    The fit has coarse steps; if its residual is nearly zero, selection continues in the vehicle's own steps. With
    ``at_once``, only whole actuators enter.
    """
    coarse = problem_of(setup, coarse_segments(setup), reach)
    always = asked(setup)
    candidates = [candidate for candidate in candidates_of(setup, reach) if candidate.whole or not at_once]
    first = _selected(
        coarse, candidates, np.where(always, setup.begin, neutral_point(setup.family.terms)), always, advance
    )
    fitted = Fitted(coarse, first)
    if not fitted.nearly_exact:
        return fitted
    segments = segments_of(setup.recordings, setup.channels, 1.0 / setup.step_rate)
    if len(segments) != len(coarse.experiments):
        return fitted
    fine = problem_of(setup, segments, reach)
    fitted = Fitted(fine, converged(fine, first), fine=True)
    if fitted.exact:
        return fitted
    # The residual is not noise, so statistical tests prove nothing.
    candidates = [replace(candidate, required=(SIGNIFICANT, WORTHWHILE)) for candidate in candidates]
    begin = fitted.solution.point
    return fitted._replace(solution=select(fine, candidates, begin, always, begun=fitted.solution, advance=advance))


def _selected(
    problem: Problem, candidates: Sequence[Candidate], begin: Array, always: Flags, advance: StageCallback
) -> Solution:
    """The selected terms. Gains of wheels come last, because they can stand in for terms of the actuators."""
    gains = mask_of(problem.terms, lambda kind: kind.effect is Effect.WHEEL)
    solution = select(problem, candidates, begin, always & ~gains, advance=advance)
    if not gains.any():
        return solution
    solution = converged(problem, replace(solution, free=solution.free | gains))
    return select(problem, candidates, solution.point, always, begun=solution, advance=advance)


def asked(setup: Setup) -> Flags:
    """Terms that are always fitted: requested parameters, gains of wheels, and points of maps."""
    return mask_of(setup.family.terms, lambda kind: kind.always)


def converged(problem: Problem, rough: Solution) -> Solution:
    """The fit of the same terms, without latencies below half a step, with its noise."""
    solution, free, rounds = rough, rough.free, 0
    starts = rough.starts if len(rough.starts) == len(problem.experiments) else None
    latencies = mask_of(problem.terms, lambda kind: kind.effect is Effect.LATENCY)
    dt = problem.experiments[0].segment.dt
    while rounds < ROUNDS:
        noise = solution.noise
        exact = bool((noise.scale < EXACT_BELOW * problem.accuracies).any())
        tolerance, evaluations = PRECISE if exact else ROUGH
        solution = solve(
            problem, solution.point, free, noise, starts=starts, tolerance=tolerance, evaluations=evaluations
        )
        starts = solution.starts
        # A latency shorter than a step was an error of the coarse steps: fit again without it.
        short = free & latencies & (solution.point < 0.5 * dt)
        if short.any():
            free, solution = free & ~short, replace(solution, point=np.where(short, 0.0, solution.point))
            continue
        solution = replace(solution, noise=noise_of(problem, solution.residuals))
        rounds += 1
    return solution
