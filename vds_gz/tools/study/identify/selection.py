"""Selection of terms: they enter and leave by the prediction of contiguous left-out blocks.

In each round the most promising candidates are fitted. Of those that predict about as well as the best one, the least
complex one enters. When none enters, terms leave without which blocks are predicted as well, and candidates are tried
again. In the end, whole actuators are tried from new starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array, Flags
from vds_gz.tools.study.identify.build import Problem
from vds_gz.tools.study.identify.cross_validation import LEAST, better, blocks_of, left_out, summed
from vds_gz.tools.study.identify.residual_noise import Noise, first_noise, is_structured, noise_of
from vds_gz.tools.study.identify.term_kind import NO_LIMIT, Effect, acting_as, mask_of, neutral_point
from vds_gz.tools.study.identify.trials import Candidate, costs_of, promising, whole_begins
from vds_gz.tools.study.identify.vehicle_fit import Solution, linearised, solve

#: Number of candidates that are fitted, the most promising first; more only until one may enter. The expectation orders
#: candidates well, but not those with about the same effect, such as dead times and lags.
ATTEMPTS = 4

#: The fit of a candidate ends when a step lowers the cost by less than this part, or after so many simulations. Less
#: would not decide whether it enters; without noise the cost falls far.
TRIAL_TOLERANCE, TRIAL_SIMULATIONS = 0.01, 40

#: Number of fits after a term has entered, because the noise, and with it the weights, changes.
REFITS = 2

#: A fit that leaves less than this part of the squares needs no other proof: a few terms cannot do that for thousands
#: of samples by chance, and blocks may differ too much for a prediction by one step.
OVERWHELMING = 0.1

#: One step predicts a block badly if it leaves more than this multiple of the squares of the fit of everything: terms
#: that only one block shows change too much for one step. Maximum number of simulations of the fit without the block.
BADLY, REFIT_SIMULATIONS = 2.0, 5

#: Terms this many standard errors away from neutral stay without a trial.
CERTAIN_ERRORS = 4.0


def select(
    problem: Problem,
    candidates: Sequence[Candidate],
    begin: Array,
    always: Flags,
    *,
    begun: Solution | None = None,
    advance: Callable[[str], object] = lambda words: None,
) -> Solution:
    """Add candidates and remove needless terms in turn, until neither changes the fit.

    Args:
        problem: The data.
        candidates: The candidates; of equally good and complex ones the first enters.
        begin: The start of the search.
        always: Terms that are always fitted.
        begun: A fit to continue from; None: that of the terms that are always fitted.
        advance: Called with the name of an entering candidate.
    """
    blocks = blocks_of(problem)
    solution = begun or solve(problem, begin, always, first_noise(problem))
    wholes = [candidate for candidate in candidates if candidate.whole]
    ended: set[bytes] = set()
    while True:
        while (entering := _best_candidate(problem, candidates, solution, blocks)) is not None:
            candidate, solution = entering
            for _ in range(REFITS):
                solution = _refitted(problem, solution)
            advance(candidate.name)
            wholes = [whole for whole in wholes if whole is not candidate]
        reduced = without_needless(problem, solution, blocks, always)
        if reduced is not solution and (terms := reduced.free.tobytes()) not in ended:
            ended.add(terms)
            solution = reduced
            continue  # a term that left with others may enter alone
        solution = reduced
        while wholes and is_structured(problem, solution.residuals):
            candidate = wholes.pop(0)
            if (changed := _with_whole(problem, candidate, solution, blocks, always)) is not None:
                solution = changed
                advance(candidate.name)
                break
        else:
            return solution


def _with_whole(
    problem: Problem, candidate: Candidate, solution: Solution, blocks: np.ndarray, always: Flags
) -> Solution | None:
    """The fit with a whole actuator from new starts, without its needless terms; None if it predicts no better.

    Terms that enter one by one end in a local minimum if limits hide the times.
    """
    noise = noise_of(problem, solution.residuals)
    trial = _trial_fit(problem, candidate, solution, whole_begins(problem, candidate, solution, noise), noise)
    cost = solve(problem, solution.point, solution.free, noise, starts=solution.starts, evaluations=1).cost
    if 2.0 * (cost - trial.cost) < LEAST:
        return None
    trial = without_needless(problem, _refitted(problem, trial), blocks, always)
    score, trial_score = (_held_out(problem, fit, blocks, noise) for fit in (solution, trial))
    return trial if better(score, trial_score, *candidate.required) > 0.0 else None


def _refitted(problem: Problem, solution: Solution) -> Solution:
    """The fit of the same terms with the noise of its residuals."""
    noise = noise_of(problem, solution.residuals)
    return solve(problem, solution.point, solution.free, noise, starts=solution.starts, tolerance=1e-3)


def _best_candidate(
    problem: Problem, candidates: Sequence[Candidate], solution: Solution, blocks: np.ndarray
) -> tuple[Candidate, Solution] | None:
    """The candidate to enter, with its fit; None if none improves the prediction."""
    noise = noise_of(problem, solution.residuals)
    score = _held_out(problem, solution, blocks, noise)
    enough = OVERWHELMING * float(np.sum(score))
    eligible = [candidate for candidate in candidates if _may_enter(problem, candidate, solution)]
    limits = mask_of(problem.terms, lambda kind: kind.is_limit)
    entries: list[FittedCandidate] = []
    for k, (candidate, begins) in enumerate(promising(problem, eligible, solution, noise)):
        if entries and k >= ATTEMPTS:
            break
        trial = _trial_fit(problem, candidate, solution, begins, noise)
        if not (trial.free & ~solution.free).any():
            continue
        complexity = int(trial.free.sum() + (trial.free & limits).sum())
        trial_score = _held_out(problem, trial, blocks, noise, enough)
        entry = FittedCandidate(candidate, candidates.index(candidate), complexity, trial, trial_score)
        if entry.sum < enough or better(score, entry.score, *candidate.required) > 0.0:
            entries.append(entry)
    if not entries:
        return None
    entry = simplest(entries, float(np.sum(score)))
    return entry.candidate, entry.trial


class FittedCandidate(NamedTuple):
    """A candidate that may enter.

    Attributes:
        candidate: The candidate.
        rank: Its position in the list.
        complexity: The number of terms of its fit. Limits count twice, because in noise they look like lags.
        trial: Its fit.
        score: The squares of left-out blocks.
    """

    candidate: Candidate
    rank: int
    complexity: int
    trial: Solution
    score: Array

    @property
    def sum(self) -> float:
        """All squares."""
        return float(np.sum(self.score))


def simplest(entries: Sequence[FittedCandidate], total: float) -> FittedCandidate:
    """The least complex one of those that predict about as well as the best; of these, the first.

    Squares are scaled so that the best one leaves ``total``, the squares before it: after a term that explains nearly
    everything, noise is much smaller.
    """
    best = min(entries, key=lambda entry: entry.sum)
    unit = max(best.sum / max(total, LEAST), 1e-12)
    required = best.candidate.required
    as_good = (entry for entry in entries if better(entry.score / unit, best.score / unit, *required) <= 0.0)
    return min(as_good, key=lambda entry: (entry.complexity, entry.rank))


def _may_enter(problem: Problem, candidate: Candidate, solution: Solution) -> bool:
    """Whether a candidate may enter.

    A common latency is part of dead times, so one source must have none. A whole actuator enters only while none of its
    times is fitted, because limits hide them.
    """
    if candidate.whole:
        delays = [k for k in candidate.terms if problem.terms[k].kind.is_delay]
        return bool(delays) and not solution.free[delays].any()
    if problem.terms[candidate.terms[0]].kind.effect is Effect.LATENCY:
        latencies = acting_as(problem.terms, Effect.LATENCY)
        if int(solution.free[latencies].sum()) >= len(latencies) - 1:
            return False
    return not all(solution.free[list(candidate.terms)])


def _trial_fit(
    problem: Problem, candidate: Candidate, solution: Solution, begins: Sequence[Array], noise: Noise
) -> Solution:
    """The best fit with a candidate from several starts."""

    def trials() -> Iterator[Solution]:
        for point in begins:
            free = solution.free.copy()
            for k in candidate.terms:
                term = problem.terms[k]
                free[k] = not term.kind.is_limit or term.value(float(point[k])) < NO_LIMIT
            yield solve(
                problem,
                point,
                free,
                noise,
                starts=solution.starts,
                evaluations=TRIAL_SIMULATIONS,
                tolerance=TRIAL_TOLERANCE,
            )

    return min(trials(), key=lambda trial: trial.cost)


def _held_out(problem: Problem, solution: Solution, blocks: np.ndarray, noise: Noise, enough: float = 0.0) -> Array:
    """The robust squared errors of blocks predicted by fits without them, (blocks, quantities).

    A block that one step predicts badly is left out of a fit of its own. If the fit of everything leaves less than
    ``enough``, its own squares are the result.
    """
    squares = left_out(problem, solution, blocks, noise)

    def by_block(residuals: Array) -> Array:
        return summed(problem, residuals * noise.weights[problem.kind], noise, blocks)

    explained = by_block(solution.residuals)
    if np.sum(explained) < enough:
        return explained
    for block in np.flatnonzero(np.sum(squares, axis=1) > BADLY * np.sum(explained, axis=1) + LEAST):
        fit = solve(
            problem,
            solution.point,
            solution.free,
            noise,
            starts=solution.starts,
            samples=blocks != block,
            evaluations=REFIT_SIMULATIONS,
        )
        refit = by_block(fit.residuals)[block]
        if np.sum(refit) < np.sum(squares[block]):
            squares[block] = refit
    return squares


def _weakest(problem: Problem, solution: Solution, noise: Noise, neutral: Array, always: Flags) -> list[int]:
    """Terms that are fewer than :data:`CERTAIN_ERRORS` standard errors away from neutral, and limits.

    A whole actuator brings in limits without a proof of each. They have no effect long before they are neutral, so
    their distance proves nothing.
    """
    free = np.flatnonzero(solution.free)
    jacobian = linearised(problem, solution, noise).jacobian
    covariance = np.linalg.pinv(jacobian.T @ jacobian, rcond=1e-12)
    error = np.where(np.any(jacobian != 0.0, axis=0), np.sqrt(np.maximum(np.diag(covariance), 0.0)), np.inf)
    weak = np.abs(solution.point[free] - neutral[free]) < CERTAIN_ERRORS * error
    weak |= mask_of(problem.terms, lambda kind: kind.is_limit)[free]
    return [int(k) for k in free[weak] if not always[k] and not problem.terms[k].needs]


def without_needless(problem: Problem, solution: Solution, blocks: np.ndarray, always: Flags) -> Solution:
    """Remove terms without which blocks are predicted as well."""
    while (reduced := _without_a_term(problem, solution, blocks, always)) is not None:
        solution = _refitted(problem, reduced)
    return solution


def _without_a_term(problem: Problem, solution: Solution, blocks: np.ndarray, always: Flags) -> Solution | None:
    """The fit without the needless term of least effect; None if all are needed."""
    terms, neutral = problem.terms, neutral_point(problem.terms)
    noise = noise_of(problem, solution.residuals)
    score = left_out(problem, solution, blocks, noise)
    names = [term.name for term in terms]
    shared = {k: names.index(term.fallback) for k, term in enumerate(terms) if term.fallback}
    groups = [
        [k, *(j for j, term in enumerate(terms) if term.needs == names[k])]
        for k in _weakest(problem, solution, noise, neutral, always)
    ]
    # Without one limit the other may take its part, so both may also leave together.
    groups += [[k, j] for k, j in shared.items() if solution.free[k] and solution.free[j]]
    if not groups:
        return None
    trials = [_trials_without(group, solution, neutral, shared) for group in groups]
    costs = iter(costs_of(problem, np.array([point for group in trials for point, _ in group]), solution.starts, noise))
    lowest = [min(next(costs) for _ in group) for group in trials]
    for i in np.argsort(lowest, kind="stable"):
        fits = [
            solve(problem, point, free, noise, starts=solution.starts, tolerance=TRIAL_TOLERANCE)
            for point, free in trials[i]
        ]
        for trial in sorted(fits, key=lambda fit: fit.cost):
            if better(left_out(problem, trial, blocks, noise), score, *terms[groups[i][0]].kind.to_stay) <= 0.0:
                return trial
    return None


def _trials_without(
    group: Sequence[int], solution: Solution, neutral: Array, shared: Mapping[int, int]
) -> list[tuple[Array, Flags]]:
    """The starts of fits without some terms, and which terms they fit.

    If only a deceleration limit leaves, a second fit starts with its value as the common limit, and fits that limit.
    """
    left = np.isin(np.arange(len(neutral)), group)
    point, free = np.where(left, neutral, solution.point), solution.free & ~left
    trials = [(point, free)]
    if len(group) == 1 and group[0] in shared:
        common = np.arange(len(neutral)) == shared[group[0]]
        trials.append((np.where(common, solution.point[group[0]], point), free | common))
    return trials
