"""Maximum likelihood by Gauss-Newton steps, from many starts at once.

Every iteration evaluates the parts once, for all starts that are still under way. A start first approaches with Huber's
loss, whose scale is kept wide; then its noise is what fits the residuals best, found again after every step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from vds_gz.errors import ArgumentError
from vds_gz.study.identify.solver.likelihood import Likelihood, Observed, State
from vds_gz.study.identify.solver.noise import most_curvature
from vds_gz.study.identify.solver.normal_equations import Step, chosen, curved, information, step
from vds_gz.study.identify.solver.protocol import Array, Indices, Mask, Noise, Problem, Solution

#: So many residuals are kept at most; more starts than fit are worked on one group after the other.
KEPT = 2e7

#: Damping to begin with, from a start that is close too, and its minimum.
FIRST_DAMPING, WARM_DAMPING, LEAST_DAMPING = 1e-2, 1e-6, 1e-9

#: The approach ends when the next step would lower the deviance by less than this, or, if the last one did not lower
#: it, by less than that, or after so many iterations.
APPROACHED, APPROACHED_ROUGHLY, APPROACH_ITERATIONS = 0.3, 10.0, 15

#: A deviance that is lower by this is not significantly better: it is a tenth of a standard deviation. A step fails
#: that gains less than this part of what it promises. Where one fails that promises no more than what is negligible,
#: a start has converged, and so it has after more of them that promised so many times more each: a model with kinks,
#: such as
#: those between two steps of dead time, has no step that does not fail.
NEGLIGIBLE, PATIENCE, FAILS = 0.01, 3.0, 0.3

#: After so many evaluations without a better deviance, a start is given up.
IDLE = 8


def solve(
    problem: Problem,
    starts: Array | Solution,
    *,
    own: Sequence[Array] | None = None,
    free: Mask | None = None,
    noise: Noise | None = None,
    warm: bool = False,
    observed: Observed | None = None,
    iterations: int = 60,
    tolerance: float = 1e-6,
    margin: float = math.inf,
    rival: float = math.inf,
) -> Solution:
    """Find the points of maximum likelihood.

    Args:
        problem: Data, bounds and priors.
        starts: Where to begin, (S, p); moved into the bounds. A solution: from there, with its own unknowns and noise.
        own: Where the parts' own unknowns begin, (S, q) each; where nothing is given, as the parts say.
        free: Unknowns that may change, (S, p); where nothing is given, all. Others stay exactly where they are.
        noise: Known noise, (S, C); where nothing is given, it is found.
        warm: The starts are close to the solution: no approach.
        observed: What is to be explained instead of what was measured.
        iterations: At most so many evaluations from each start.
        tolerance: A start has converged when no step would lower its deviance by more than this.
        margin: Starts compete: one is given up when its deviance is higher than another one's by this, and by more than
            it could be lowered by several steps.
        rival: The deviance of a solution that they compete with besides.

    Raises:
        ArgumentError: Shapes do not fit, or a floor is not above 0.
    """
    first = None
    if isinstance(starts, Solution):
        own, first = starts.own, starts.noise if warm and noise is None else None
        starts = starts.points
    free = np.ones(starts.shape, bool) if free is None else free
    _check(problem, starts, free)
    begins = [np.repeat(part.own_begin[None], len(starts), axis=0) for part in problem.parts] if own is None else own
    samples = sum(len(part.measured) for part in problem.parts)
    likelihood = Likelihood(problem, noise, observed)
    found = []
    for group in np.array_split(np.arange(len(starts)), max(1, math.ceil(len(starts) * samples / KEPT))):
        search = _Search(likelihood, group, free[group], tolerance, rival, margin, approach=not warm and noise is None)
        guess = first and Noise(first.scale[group], first.nu[group])
        found.append(search.run(starts[group], [one[group] for one in begins], guess, iterations))
    return _joined(found)


@dataclass
class _Progress:
    """How far each start has come, (S,) each.

    Attributes:
        approaching: With Huber's loss.
        damping: Of the next step.
        curvature: By how many times the deviance is more curved than the equations say, from what steps gained: with
            heavy tails they take Fisher's information, which residuals that are no noise do not have.
        stale: The equations were made with another noise.
        rejected, failed: The last step was, and did.
        idle: So many evaluations made nothing better.
        converged: No step would make it better.
        taken: Evaluations.
    """

    approaching: Mask
    damping: Array
    curvature: Array
    stale: Mask
    rejected: Mask
    failed: Mask
    idle: Indices
    converged: Mask
    taken: Indices

    @staticmethod
    def of(count: int, *, approach: bool) -> _Progress:
        """At the start."""
        stale, rejected, failed, converged = np.zeros((4, count), bool)
        damping = np.full(count, FIRST_DAMPING if approach else WARM_DAMPING)
        idle, taken = np.zeros((2, count), np.intp)
        return _Progress(
            np.full(count, approach), damping, np.ones(count), stale, rejected, failed, idle, converged, taken
        )


class _Search:
    """A group of starts under way."""

    def __init__(
        self,
        likelihood: Likelihood,
        group: Indices,
        free: Mask,
        tolerance: float,
        rival: float,
        margin: float,
        *,
        approach: bool,
    ) -> None:
        self.likelihood, self.group, self.free = likelihood, group, free
        self.tolerance, self.rival, self.margin = tolerance, rival, margin
        self.space = likelihood.problem.space
        self.progress = _Progress.of(len(group), approach=approach)

    def run(self, starts: Array, own: list[Array], guess: Noise | None, iterations: int) -> Solution:
        """Follow all starts until they have converged or are given up."""
        points = np.clip(starts, self.space.lower, self.space.upper)
        approach = bool(self.progress.approaching.any())
        noise = guess or self.likelihood.first_noise(self.group, points, own, approach=approach)
        now = self.likelihood.evaluated(self.group, points, own, noise, self.free)
        active = np.flatnonzero(np.isfinite(now.total))
        self.progress.approaching &= np.isfinite(now.total)  # no one waits for those that go nowhere
        self.likelihood.find_noise(now, active[~self.progress.approaching[active]], self.progress.stale)
        for _ in range(iterations):
            active, next_step = self._next(now, active)
            if not len(active):
                break
            self._take(now, active, next_step)
        return self._solution(now)

    def _next(self, now: State, active: Indices) -> tuple[Indices, Step]:
        """The starts that go on, and their steps: of no length where the equations must be made again first."""
        to = self.progress
        steps = self._steps(now, active)
        possible = steps.predicted * (1.0 + to.damping[active])
        approaching, rejected, idle = to.approaching[active], to.rejected[active], to.idle[active] >= IDLE
        near = (possible < APPROACHED) | (rejected & (possible < APPROACHED_ROUGHLY)) | idle
        near = approaching & (near | (to.taken[active] >= APPROACH_ITERATIONS))
        self._leave_approach(now, active[near])
        negligible = NEGLIGIBLE * PATIENCE ** to.idle[active]
        settled = ~approaching & ((possible < self.tolerance) | (to.failed[active] & (possible < negligible)))
        again = near | (to.stale[active] & (settled | rejected))
        done = ~again & (settled | (idle & ~approaching) | self._hopeless(now.total, active, possible))
        to.converged[active[done]] = settled[done]
        going, moving = ~done, ~again[~done, None]
        own = tuple(one[going] * moving for one in steps.own)
        return active[going], Step(steps.shared[going] * moving, own, steps.predicted[going] * moving[:, 0])

    def _hopeless(self, deviance: Array, active: Indices, possible: Array) -> Mask:
        """Starts that another one will always be ahead of."""
        comparable = not self.progress.approaching.any()
        return np.asarray(
            comparable & (deviance[active] - 5.0 * possible > min(deviance.min(), self.rival) + self.margin)
        )

    def _leave_approach(self, now: State, rows: Indices) -> None:
        self.progress.approaching[rows] = False
        self.progress.damping[rows] = FIRST_DAMPING
        self.progress.idle[rows] = 0
        self.likelihood.find_noise(now, rows, self.progress.stale)
        self.progress.stale[rows] = True

    def _take(self, now: State, active: Indices, steps: Step) -> None:
        """Evaluate where the steps lead, and go there where it is better."""
        to = self.progress
        points = self._moved(now.points[active], steps.shared)
        own = [
            np.clip(at[active] + change, space.lower, space.upper)
            for at, change, space in zip(now.own, steps.own, self.likelihood.spaces, strict=True)
        ]
        noise = Noise(now.noise.scale[active], now.noise.nu[active])
        then = self.likelihood.evaluated(self.group[active], points, own, noise, self.free[active])
        gain = now.total[active] - then.total
        again = steps.predicted == 0.0
        better = again | (gain > 0.0)
        now.put(active[better], then, better)
        moved = ~again
        ratio = gain[moved] / steps.predicted[moved]
        self._damp(active[moved], better[moved], ratio, most_curvature(noise)[moved])
        to.rejected[active], to.failed[active] = ~better, gain < FAILS * steps.predicted
        to.taken[active] += 1
        to.idle[active] = np.where(gain > NEGLIGIBLE, 0, to.idle[active] + ~again)
        to.stale[active[better]] = False
        rows = active[better]
        self.likelihood.find_noise(now, rows[~to.approaching[rows]], to.stale)
        self.likelihood.follow(now, rows[to.approaching[rows]])

    def _damp(self, active: Indices, better: Mask, ratio: Array, most_curvature: Array) -> None:
        """Less damping where the model was nearly linear, more where a step made it worse.

        Args:
            active: Starts.
            better: Those that took the step.
            ratio: Of what was gained to what a linear model would have gained.
            most_curvature: That the noise explains.
        """
        to = self.progress
        factor = np.where(ratio > 0.75, 0.1, np.where(ratio > 0.25, 1.0, 4.0))
        softer = np.maximum(to.damping[active] * factor, LEAST_DAMPING)
        harder = np.where(to.stale[active], to.damping[active], np.maximum(10.0 * to.damping[active], 1e-3))
        to.damping[active] = np.where(better, softer, harder)
        curvature = np.minimum(np.maximum(to.curvature[active] * (2.0 - ratio), 1.0), most_curvature)
        to.curvature[active] = np.where(better, curvature, to.curvature[active])

    def _steps(self, now: State, rows: Indices) -> Step:
        equations = curved(chosen(now.equations, rows), self.progress.curvature[rows])
        own = [one[rows] for one in now.own]
        free, damping = self.free[rows], self.progress.damping[rows]
        return step(equations, now.points[rows], own, self.space, self.likelihood.spaces, free, damping)

    def _moved(self, points: Array, change: Array) -> Array:
        """Points after a step; one that ends next to a bound ends at it."""
        moved = np.clip(points + change, self.space.lower, self.space.upper)
        for bound in (self.space.lower, self.space.upper):
            moved = np.where(np.abs(moved - bound) <= 1e-12 * self.space.scale, bound, moved)
        return np.asarray(np.where(change == 0.0, points, moved))

    def _solution(self, now: State) -> Solution:
        return Solution(
            now.points,
            tuple(now.own),
            now.noise,
            now.deviance,
            now.total,
            information(now.equations, now.own, self.likelihood.spaces, self.free),
            self.progress.converged,
            self.progress.taken,
        )


def _joined(found: list[Solution]) -> Solution:
    """Solutions of groups of starts as one."""
    own = tuple(np.concatenate(one) for one in zip(*(solution.own for solution in found), strict=True))
    noise = Noise(*(np.concatenate(one) for one in zip(*(solution.noise for solution in found), strict=True)))
    names = [one.name for one in fields(Solution) if one.name not in ("own", "noise")]
    rest = {name: np.concatenate([getattr(solution, name) for solution in found]) for name in names}
    return Solution(own=own, noise=noise, **rest)


def _check(problem: Problem, starts: Array, free: Mask) -> None:
    p, channels = len(problem.space), len(problem.floors)
    if starts.ndim != 2 or starts.shape[1] != p or free.shape != starts.shape:
        raise ArgumentError(f"starts and free must be (starts, {p}), they are {starts.shape} and {free.shape}")
    if not (problem.floors > 0.0).all():
        raise ArgumentError(f"the floors of the noise are {problem.floors}; each must be greater than 0")
    if problem.correlation.shape != (channels,) or not (problem.correlation >= 1.0).all():
        raise ArgumentError(f"correlation is {problem.correlation}; it must be ({channels},) numbers of at least 1")
