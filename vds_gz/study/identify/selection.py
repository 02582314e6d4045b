"""Which terms a recording supports: a term enters where contiguous blocks that are left out are predicted better.

Forward selection, then a backward pass. What a fit without a block predicts of it follows from the fit of everything
by one Gauss-Newton step (D. Allen, The relationship between variable selection and data augmentation and a method for
prediction, 1974; for dependent data by blocks: P. Burman, E. Chow and D. Nolan, A cross-validatory method for dependent
data, 1994).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.fit import (
    Noise,
    Problem,
    Solution,
    first_noise,
    noise_of,
    residual_limits,
    robust,
    solve,
    vague_sigma,
)
from vds_gz.study.identify.problem.parameters import Kind, index_of
from vds_gz.study.identify.problem.simulation import Mask

#: Blocks are about so long [s]; there are at least and at most so many.
BLOCK, FEWEST, MOST = 6.0, 5, 20

#: The gain in prediction must be so many times its standard error, this part of what is left, and so much in units of
#: independent squares.
SIGNIFICANT, WORTHWHILE, LEAST = 0.95, 0.01, 4.0

#: Terms that are so many standard errors from doing nothing are not tried without.
WEAK = 4.0

#: Simulations in a trial of a term, and in the fit that follows it.
TRIAL, FULL = 4, 25

#: Dead times that are tried [s].
DEAD_TIMES = np.r_[np.arange(0.0, 0.4, 0.02), np.arange(0.4, 1.6, 0.1)]

#: Lags that are tried [s], and which part of one the dead time is shorter by.
LAGS, SHORTER = (0.03, 0.08, 0.2, 0.5, 1.2), (0.0, 0.5, 1.0)

#: Limits that are tried, as parts of what was measured.
LIMITS = 1.01, 1.1, 1.3, 1.7, 2.5

GAINS = 0.5, 0.7, 0.85, 0.95, 1.05, 1.2, 1.5


@dataclass(frozen=True)
class Candidate:
    """Terms that enter together.

    Attributes:
        name: For people.
        terms: Their indices.
        starts: What is tried: coordinates of some terms by their indices.
    """

    name: str
    terms: tuple[int, ...]
    starts: Callable[[Array], Iterator[Mapping[int, float]]]


@dataclass(frozen=True)
class Selected:
    """A fit with the terms that predict."""

    solution: Solution
    history: tuple[str, ...]


def blocks_of(problem: Problem) -> np.ndarray:
    """The block of each sample: runs where there are enough, else contiguous parts of about the same length."""
    recordings = [experiment.segment.recording for experiment in problem.experiments]
    if len(set(recordings)) >= FEWEST:
        names = {recording: k for k, recording in enumerate(dict.fromkeys(recordings))}
        count = min(len(names), MOST)
        return np.concatenate(
            [np.full(len(one.measured), names[one.segment.recording] % count) for one in problem.experiments]
        )
    durations = [float(np.ptp(one.time)) for one in problem.experiments]
    count = int(np.clip(sum(durations) / BLOCK, FEWEST, MOST))
    begin, found = 0.0, []
    for one, duration in zip(problem.experiments, durations, strict=True):
        found.append(begin + one.time - np.min(one.time))
        begin += duration
    return np.minimum((np.concatenate(found) / max(begin, 1e-9) * count).astype(int), count - 1)


def left_out(problem: Problem, solution: Solution, blocks: np.ndarray, noise: Noise) -> Array:
    """Of each block, the robust squares with which a fit without it predicts it."""
    weights = noise.weights[problem.kind]
    limits = residual_limits(problem, noise)
    residuals = solution.residuals * weights
    chosen = np.flatnonzero(solution.free)
    jacobian = solution.jacobian[:, chosen] * weights[:, np.newaxis]
    slope = robust(residuals**2, limits)[1]
    weighted = jacobian * slope[:, np.newaxis]
    ridge = 1.0 / np.minimum(vague_sigma(problem.terms), problem.sigma)[chosen] ** 2
    information = jacobian.T @ weighted + np.diag(ridge)
    squares = np.empty(int(blocks.max()) + 1)
    for b in range(len(squares)):
        rows = blocks == b
        part = jacobian[rows]
        without = information - part.T @ weighted[rows]
        step = np.linalg.lstsq(without, weighted[rows].T @ residuals[rows], rcond=1e-12)[0] if len(chosen) else []
        step = np.clip(step, -3.0 / np.sqrt(ridge), 3.0 / np.sqrt(ridge))
        predicted = residuals[rows] + (part @ step if len(chosen) else 0.0)
        squares[b] = float(np.sum(robust(predicted**2, limits[rows])[0]))
    return squares


def better(before: Array, after: Array) -> float:
    """By how much blocks are predicted better, less what may be chance; positive where a term is worth it."""
    gain = before - after
    error = float(np.sqrt(np.sum(gain**2)))
    asked = max(SIGNIFICANT * error, WORTHWHILE * float(np.sum(before)), LEAST)
    return float(np.sum(gain)) - asked


def select(
    problem: Problem,
    candidates: Sequence[Candidate],
    begin: Array,
    always: Mask,
    *,
    advance: Callable[[str], object] = lambda words: None,
) -> Selected:
    """Add terms one after the other, the best first, then take away what is no longer needed."""
    blocks = blocks_of(problem)
    noise = first_noise(problem)
    now = solve(problem, begin, always, noise, evaluations=TRIAL)
    history: list[str] = []
    promise = {candidate.name: math.inf for candidate in candidates}
    settled = False
    while True:
        noise = noise_of(problem, now.residuals)
        score = left_out(problem, now, blocks, noise)
        left = [one for one in candidates if not all(now.free[list(one.terms)])]
        order = sorted(left, key=lambda one: -promise[one.name])
        best: tuple[float, Candidate, Solution] | None = None
        starts = first_points(problem, left, now, noise)
        for candidate in order:
            if best is not None and promise[candidate.name] < best[0]:
                break
            trial = tried(problem, candidate, now, starts[candidate.name], noise, TRIAL)
            gained = better(score, left_out(problem, trial, blocks, noise))
            promise[candidate.name] = gained
            if gained > 0.0 and (best is None or gained > best[0]):
                best = gained, candidate, trial
        if best is None:
            if settled or not any(promise[one.name] == -math.inf for one in left):
                break
            settled = True
            continue
        _, candidate, trial = best
        noise = noise_of(problem, trial.residuals)
        now = solve(problem, trial.point, trial.free, noise, starts=trial.starts, evaluations=FULL)
        history.append(candidate.name)
        advance(candidate.name)
    return Selected(without_needless(problem, candidates, now, blocks, always), tuple(history))


def first_points(
    problem: Problem, candidates: Sequence[Candidate], now: Solution, noise: Noise
) -> dict[str, Array]:
    """Of each candidate the best of the points that it is tried at."""
    points, owner = [], []
    for candidate in candidates:
        for changes in candidate.starts(now.point):
            point = now.point.copy()
            for k, value in changes.items():
                point[k] = np.clip(value, problem.lower[k], problem.upper[k])
            points.append(point)
            owner.append(candidate.name)
    costs = costs_of(problem, np.array(points), now.starts, noise) if points else np.empty(0)
    names = np.array(owner)
    return {
        candidate.name: points[int(np.flatnonzero(names == candidate.name)[np.argmin(costs[names == candidate.name])])]
        for candidate in candidates
    }


def costs_of(problem: Problem, points: Array, starts: Sequence[Array], noise: Noise) -> Array:
    """Robust squares of many points."""
    total = np.zeros(len(points))
    weights, limits = noise.weights, ROBUST_LIMITS(noise)
    for experiment, start in zip(problem.experiments, starts, strict=True):
        predicted = experiment.simulate(points, np.tile(start, (len(points), 1)))
        kind = problem.kinds[experiment.channel]
        left = (predicted - experiment.measured[:, np.newaxis]) * weights[kind][:, np.newaxis]
        total += robust(left**2, limits[kind][:, np.newaxis])[0].sum(axis=0)
    return total


def ROBUST_LIMITS(noise: Noise) -> Array:
    from vds_gz.study.identify.fit import ROBUST

    return ROBUST / np.sqrt(noise.correlation)


def tried(
    problem: Problem, candidate: Candidate, now: Solution, point: Array, noise: Noise, evaluations: int
) -> Solution:
    """The fit with a candidate."""
    free = now.free.copy()
    free[list(candidate.terms)] = True
    return solve(problem, point, free, noise, starts=now.starts, evaluations=evaluations)


def weakest(problem: Problem, now: Solution, noise: Noise, neutral: Array, always: Mask) -> list[int]:
    """Terms that are nearer to doing nothing than :data:`WEAK` standard errors."""
    chosen = np.flatnonzero(now.free)
    jacobian = now.jacobian[:, chosen] * noise.weights[problem.kind][:, np.newaxis]
    covariance = np.linalg.pinv(jacobian.T @ jacobian, rcond=1e-12)
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    away = np.abs(now.point[chosen] - neutral[chosen])
    return [int(k) for k, far, one in zip(chosen, away, error, strict=True) if far < WEAK * one and not always[k]]


def without_needless(
    problem: Problem, candidates: Sequence[Candidate], now: Solution, blocks: np.ndarray, always: Mask
) -> Solution:
    """Take away terms without which blocks are predicted as well."""
    neutral = np.array([term.coordinate(term.neutral) for term in problem.terms])
    while True:
        noise = noise_of(problem, now.residuals)
        score = left_out(problem, now, blocks, noise)
        best: tuple[float, Solution] | None = None
        for k in weakest(problem, now, noise, neutral, always):
            free, point = now.free.copy(), now.point.copy()
            free[k], point[k] = False, neutral[k]
            trial = solve(problem, point, free, noise, starts=now.starts, evaluations=TRIAL)
            lost = better(left_out(problem, trial, blocks, noise), score)
            if lost <= 0.0 and (best is None or lost < best[0]):
                best = lost, trial
        if best is None:
            return now
        trial = best[1]
        now = solve(problem, trial.point, trial.free, noise, starts=trial.starts, evaluations=FULL)
