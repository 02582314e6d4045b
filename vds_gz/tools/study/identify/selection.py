"""Selection of terms: a term enters if it improves the prediction of contiguous left-out blocks.

Forward selection, then a backward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.core.arrays import Array, Flags
from vds_gz.tools.study.identify.build import Problem
from vds_gz.tools.study.identify.cross_validation import (
    LEAST,
    better,
    blocks_of,
    least_left,
    left_out,
    summed,
)
from vds_gz.tools.study.identify.residual_noise import Noise, first_noise, is_structured, noise_of
from vds_gz.tools.study.identify.term_kind import (
    NO_LIMIT,
    SIGNIFICANT,
    WORTHWHILE,
    Effect,
    acting_as,
    mask_of,
    neutral_point,
)
from vds_gz.tools.study.identify.trials import Candidate, promising
from vds_gz.tools.study.identify.vehicle_fit import Solution, residual_limits, solve

#: Simulations in a trial of a term, and in the fit that follows it.
TRIAL_SIMULATIONS, FULL_SIMULATIONS = 4, 12

#: Trials with a dead time above this part of the largest one are rejected: such old commands explain nothing.
PLAUSIBLE_DEAD_TIME = 0.85

#: Factor by which the gain of a later candidate in the list must exceed that of an earlier one.
ORDER_MARGIN = 1.15

#: A block is left out of a separate fit if a fit of everything leaves less than this part of its squares; maximum
#: number of such blocks, and of simulations for each.
HOPEFUL, MOST_REFITTED, REFIT_SIMULATIONS = 0.7, 3, 5

#: A Gauss-Newton step that multiplies the squares of a block by more is too long for a prediction.
TOO_FAR = 10.0

#: A candidate that leaves less than this part of the squares needs no other proof: a few terms cannot do that for
#: thousands of samples by chance. A candidate that leaves less than this part of what another one leaves comes first.
OVERWHELMING = 0.1

#: A candidate that leaves less than this part of the squares enters without trials of others.
DECISIVE = 1e-3

#: Terms this many standard errors away from neutral stay without a trial.
CERTAIN_ERRORS = 4.0

#: Number of candidates that are fitted, the most promising first, before the best one enters.
AT_ONCE = 4

#: A whole actuator must leave less than :data:`OVERWHELMING` in the first round, and less than this part when nothing
#: else enters.
EXCEPTIONAL = 0.5

#: The fit of a whole actuator continues if its trial leaves less than this part of the squares, for this multiple of
#: the simulations.
HALFWAY, LONGER = 0.3, 3

#: If nothing else enters, a whole actuator's fit ends after this many simulations if more than this part of the cost is
#: left.
HURRIED_SIMULATIONS, HOPELESS = 5, 0.97

#: A whole actuator may also enter if it leaves less than this multiple of a channel's accuracy in simulation.
NEARLY_EXACT = 200.0


def select(
    problem: Problem,
    candidates: Sequence[Candidate],
    begin: Array,
    always: Flags,
    *,
    begun: Solution | None = None,
    advance: Callable[[str], object] = lambda words: None,
) -> Solution:
    """Add candidates one by one, the best first, then remove terms that are no longer needed.

    Args:
        problem: The data.
        candidates: The candidates; of equally good ones the first enters.
        begin: The start of the search.
        always: Terms that are always fitted.
        begun: A fit to continue from; None: that of the terms that are always fitted.
        advance: Called with the name of an entering candidate.
    """
    blocks = blocks_of(problem)
    solution = begun or solve(problem, begin, always, first_noise(problem), evaluations=FULL_SIMULATIONS)
    first, last = True, False
    entered: set[str] = set()
    while True:
        # Where nothing else entered, only whole actuators are left to try.
        untried = [
            candidate
            for candidate in candidates
            if (candidate.whole or not last) and not (candidate.whole and candidate.name in entered)
        ]
        whole = (first or last) and is_structured(problem, solution.residuals)
        entering = _best_candidate(problem, untried, solution, blocks, whole=whole, last=last)
        first = False
        if entering is not None:
            candidate, trial = entering
            noise, begins = noise_of(problem, trial.residuals), trial.starts
            solution = solve(
                problem, trial.point, trial.free, noise, starts=begins, evaluations=FULL_SIMULATIONS, tolerance=1e-6
            )
            entered.add(candidate.name)
            advance(candidate.name)
        elif last:
            return without_needless(problem, solution, blocks, always)
        last = entering is None


def _best_candidate(
    problem: Problem,
    candidates: Sequence[Candidate],
    solution: Solution,
    blocks: np.ndarray,
    *,
    whole: bool,
    last: bool,
) -> tuple[Candidate, Solution] | None:
    """The candidate that improves the prediction most, with its fit; None if none does.

    Args:
        whole: Whole actuators may enter.
        last: Nothing else entered, so less is required of them.
    """
    noise = noise_of(problem, solution.residuals)
    score = left_out(problem, solution, blocks, noise)
    rank = {candidate.name: k for k, candidate in enumerate(candidates)}
    eligible = [candidate for candidate in candidates if _may_enter(problem, candidate, solution, whole=whole)]
    best: _ScoredCandidate | None = None
    for k, (candidate, begins) in enumerate(promising(problem, eligible, solution, noise)):
        if best is not None and k % AT_ONCE == 0:
            break
        trial = _trial_fit(problem, candidate, solution, begins, noise, last=last)
        dead_times = [k for k in candidate.terms if problem.terms[k].kind.effect is Effect.DEAD_TIME]
        if any(trial.point[k] > PLAUSIBLE_DEAD_TIME * problem.upper[k] for k in dead_times):
            continue
        refit_score = refitted(problem, trial, blocks, noise, score)
        exact = (noise_of(problem, trial.residuals).scale < NEARLY_EXACT * problem.accuracies).any()
        if candidate.whole and not exact and least_left(score, refit_score) > (EXCEPTIONAL if last else OVERWHELMING):
            continue
        remaining = float(np.sum(refit_score)) / max(float(np.sum(score)), LEAST)
        required = (candidate.significant, candidate.worthwhile)
        gain = better(score, refit_score, *((SIGNIFICANT, WORTHWHILE) if remaining < OVERWHELMING else required))
        if gain > 0.0 and remaining < DECISIVE:
            return candidate, trial
        entry = _ScoredCandidate(candidate, trial, gain, float(np.sum(refit_score)), rank[candidate.name])
        if gain > 0.0 and (best is None or entry.beats(best)):
            best = entry
    return None if best is None else (best.candidate, best.trial)


@dataclass(frozen=True)
class _ScoredCandidate:
    """A candidate that may enter: its fit, its gain, the squares that it leaves, and its position in the list."""

    candidate: Candidate
    trial: Solution
    gain: float
    remaining: float
    rank: int

    def beats(self, best: _ScoredCandidate) -> bool:
        """Whether it enters instead of the best one so far. Of about equal ones the first in the list enters."""
        if self.remaining < OVERWHELMING * best.remaining:
            return True
        margin = ORDER_MARGIN if self.rank > best.rank else 1.0 / ORDER_MARGIN
        return best.remaining >= OVERWHELMING * self.remaining and self.gain > margin * best.gain


def _may_enter(problem: Problem, candidate: Candidate, solution: Solution, *, whole: bool) -> bool:
    """Whether a candidate may enter: a common latency is part of dead times, so one source must have none."""
    if candidate.whole:
        return whole
    if problem.terms[candidate.terms[0]].kind.effect is Effect.LATENCY:
        latencies = acting_as(problem.terms, Effect.LATENCY)
        if int(solution.free[latencies].sum()) >= len(latencies) - 1:
            return False
    return not all(solution.free[list(candidate.terms)])


def _trial_fit(
    problem: Problem, candidate: Candidate, solution: Solution, begins: Sequence[Array], noise: Noise, *, last: bool
) -> Solution:
    """The best fit with a candidate from several starts; with ``last``, hopeless fits end early."""

    def fit(start: Solution, point: Array, evaluations: int) -> Solution:
        free = start.free.copy()
        for k in candidate.terms:
            term = problem.terms[k]
            free[k] = not term.kind.is_limit or term.value(float(point[k])) < NO_LIMIT
        return solve(problem, point, free, noise, starts=start.starts, evaluations=evaluations)

    if not candidate.whole:
        evaluations = min(TRIAL_SIMULATIONS * len(candidate.terms), FULL_SIMULATIONS)
        return min((fit(solution, point, evaluations) for point in begins), key=lambda trial: trial.cost)
    if last:
        trials = [fit(solution, point, HURRIED_SIMULATIONS) for point in begins]
        trials = [
            fit(trial, trial.point, FULL_SIMULATIONS) if trial.cost < HOPELESS * solution.cost else trial
            for trial in trials
        ]
    else:
        trials = [fit(solution, point, FULL_SIMULATIONS) for point in begins]
    trials = [
        fit(trial, trial.point, LONGER * FULL_SIMULATIONS) if trial.cost < HALFWAY * solution.cost else trial
        for trial in trials
    ]
    return min(trials, key=lambda trial: trial.cost)


def refitted(problem: Problem, trial: Solution, blocks: np.ndarray, noise: Noise, former: Array) -> Array:
    """The result of :func:`left_out`, with separate fits without blocks that one Gauss-Newton step does not predict.

    Such a block is predicted worse than before although the fit of everything explains it far better: terms that only
    one block shows change too much for one step.
    """
    squares = left_out(problem, trial, blocks, noise)
    if better(former, squares) > 0.0:
        return squares
    weights, limits = noise.weights[problem.kind], residual_limits(problem, noise)[problem.kind]

    def by_block(residuals: Array) -> Array:
        return summed(problem, residuals * weights, limits, blocks)

    explained = by_block(trial.residuals)
    if np.sum(explained) < OVERWHELMING * np.sum(former):
        return explained
    trial_cost, former_cost, fit_cost = (np.sum(sums, axis=1) for sums in (squares, former, explained))
    poor = trial_cost > former_cost
    refit_blocks = np.flatnonzero(
        poor & ((fit_cost < HOPEFUL * former_cost) | ((trial_cost > TOO_FAR * former_cost) & (fit_cost < former_cost)))
    )
    gain_at_best = better(former, np.where(poor[:, np.newaxis], explained, squares))
    if not 0 < len(refit_blocks) <= MOST_REFITTED or gain_at_best <= 0.0:
        return squares
    for block in refit_blocks:
        training = blocks != block
        fit = solve(
            problem,
            trial.point,
            trial.free,
            noise,
            starts=trial.starts,
            samples=training,
            evaluations=REFIT_SIMULATIONS,
        )
        refit = by_block(fit.residuals)[block]
        if np.sum(refit) < trial_cost[block]:
            squares[block] = refit
    return squares


def weakest(problem: Problem, solution: Solution, noise: Noise, neutral: Array, always: Flags) -> list[int]:
    """Terms that are fewer than :data:`CERTAIN_ERRORS` standard errors away from neutral, and limits.

    A whole actuator brings in limits without a proof of each. They have no effect long before they are neutral, so
    their distance proves nothing.
    """
    free = np.flatnonzero(solution.free)
    jacobian = solution.jacobian[:, free] * noise.weights[problem.kind][:, np.newaxis]
    covariance = np.linalg.pinv(jacobian.T @ jacobian, rcond=1e-12)
    error = np.where(np.any(jacobian != 0.0, axis=0), np.sqrt(np.maximum(np.diag(covariance), 0.0)), np.inf)
    weak = np.abs(solution.point[free] - neutral[free]) < CERTAIN_ERRORS * error
    weak |= mask_of(problem.terms, lambda kind: kind.is_limit)[free]
    return [int(k) for k in free[weak] if not always[k] and not problem.terms[k].needs]


def without_needless(problem: Problem, solution: Solution, blocks: np.ndarray, always: Flags) -> Solution:
    """Remove terms without which blocks are predicted as well."""
    terms = problem.terms
    neutral = neutral_point(terms)
    names = [term.name for term in terms]
    shared = {k: names.index(term.fallback) for k, term in enumerate(terms) if term.fallback}
    while True:
        noise = noise_of(problem, solution.residuals)
        score = left_out(problem, solution, blocks, noise)
        best_removal: tuple[float, Solution] | None = None
        groups = [
            [k, *(j for j, term in enumerate(terms) if term.needs == names[k])]
            for k in weakest(problem, solution, noise, neutral, always)
        ]
        groups += [
            [k, j] for k, j in shared.items() if solution.free[k] and solution.free[j]
        ]  # each may make up for the other
        for group in groups:
            free, point = solution.free.copy(), solution.point.copy()
            free[group], point[group] = False, neutral[group]
            begins = [point]
            if len(group) == 1 and (k := group[0]) in shared:  # either limit may be the one of both
                begins.append(np.where(np.arange(len(point)) == shared[k], solution.point[k], point))
            trials = (
                solve(problem, x, free, noise, starts=solution.starts, evaluations=TRIAL_SIMULATIONS) for x in begins
            )
            trial = min(trials, key=lambda trial: trial.cost)
            reduced_score = left_out(problem, trial, blocks, noise)
            loss = better(reduced_score, score, *terms[group[0]].kind.to_stay)
            if loss <= 0.0 and (best_removal is None or loss < best_removal[0]):
                best_removal = loss, trial
        if best_removal is None:
            return solution
        trial = best_removal[1]
        solution = solve(problem, trial.point, trial.free, noise, starts=trial.starts, evaluations=FULL_SIMULATIONS)
