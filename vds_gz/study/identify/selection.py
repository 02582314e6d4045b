"""Which terms a recording supports: a term enters where contiguous blocks that are left out are predicted better.

Forward selection, then a backward pass. What a fit without a block predicts of it follows from the fit of everything
by one Gauss-Newton step (D. Allen, The relationship between variable selection and data augmentation and a method for
prediction, 1974; for dependent data by blocks: P. Burman, E. Chow and D. Nolan, A cross-validatory method for dependent
data, 1994).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.fit import (
    ROBUST,
    Noise,
    Problem,
    Solution,
    evaluate,
    first_noise,
    noise_of,
    residual_limits,
    robust,
    solve,
    vague_sigma,
)
from vds_gz.study.identify.problem.parameters import NO_LIMIT, Kind
from vds_gz.study.identify.problem.simulation import Mask

#: Blocks are about so long [s]; there are at least and at most so many.
BLOCK, FEWEST, MOST = 6.0, 5, 6

#: The gain in prediction must be so many times its standard error, this part of what is left, and so much in units of
#: independent squares.
SIGNIFICANT, WORTHWHILE, LEAST = 0.95, 0.01, 1.0

#: A dead time that is longer explains nothing [s].
LONGEST = 1.7

#: A candidate that stands later in the list must gain so many times as much.
CLEARLY = 1.15

#: The same two for a term to stay.
KEPT = 0.5, 0.003

#: A block is left out of a fit of its own if it is explained by this much better; so many of them at most, with so
#: many simulations.
HOPEFUL, MOST_REFITTED, REFITTING = 0.7, 3, 5

#: What leaves less than this part of the squares needs no other proof: some terms cannot do that to thousands of
#: samples by chance.
OVERWHELMING = 0.1

#: Much is left of a quantity that has this part of all squares.
SHARE = 0.05

#: What leaves less than this part of the squares is taken at once.
ALL = 1e-3

#: Terms that are so many standard errors from doing nothing are not tried without.
WEAK = 4.0

#: Simulations in a trial of a term, and in the fit that follows it.
TRIAL, FULL = 4, 12

#: So many candidates are fitted at once, those of which most is expected.
AT_ONCE = 4

#: Candidates of whole actuators are tried in the first round, where they must leave less than :data:`OVERWHELMING`, and
#: once more when nothing else enters, where they must leave less than this part.
EXCEPTIONAL = 0.5

#: A fit of many terms begins at so many points; it goes on where it has come below this part of the squares.
FROM, HALFWAY = 2, 0.3

#: What is left of a channel is next to nothing if it is less than so many times the least noise.
EXACTLY = 200.0


@dataclass(frozen=True)
class Candidate:
    """Terms that enter together.

    Attributes:
        name: For people.
        terms: Their indices.
        starts: What is tried: coordinates of some terms by their indices.
        significant, worthwhile: The gain in prediction must be so many times its standard error, and this part of what
            is left.
        whole: With all limits a fit may be exact where each by itself misleads: such come first, and once more when
            nothing else enters.
    """

    name: str
    terms: tuple[int, ...]
    starts: Callable[[Array], Iterator[Mapping[int, float]]]
    significant: float = SIGNIFICANT
    worthwhile: float = WORTHWHILE
    whole: bool = False


def blocks_of(problem: Problem, length: float = BLOCK, most: int = MOST) -> np.ndarray:
    """The block of each sample: runs where there are enough, else contiguous parts of about the same length [s]."""
    recordings = [experiment.segment.recording for experiment in problem.experiments]
    if len(set(recordings)) >= FEWEST:
        names = {recording: k for k, recording in enumerate(dict.fromkeys(recordings))}
        count = min(len(names), most)
        return np.concatenate(
            [np.full(len(one.measured), names[one.segment.recording] % count) for one in problem.experiments]
        )
    durations = [float(np.ptp(one.time)) for one in problem.experiments]
    count = int(np.clip(sum(durations) / max(length, 0.1), FEWEST, most))
    begin, found = 0.0, []
    for one, duration in zip(problem.experiments, durations, strict=True):
        found.append(begin + one.time - np.min(one.time))
        begin += duration
    blocks: np.ndarray = np.minimum((np.concatenate(found) / max(begin, 1e-9) * count).astype(int), count - 1)
    return blocks


def left_out(problem: Problem, solution: Solution, blocks: np.ndarray, noise: Noise) -> Array:
    """The robust squares with which a fit without a block predicts it, (blocks, quantities)."""
    weights = noise.weights[problem.kind]
    limits = residual_limits(problem, noise)
    residuals = solution.residuals * weights
    chosen = np.flatnonzero(solution.free)
    jacobian = solution.jacobian[:, chosen] * weights[:, np.newaxis]
    slope = robust(residuals**2, limits)[1]
    weighted = jacobian * slope[:, np.newaxis]
    ridge = 1.0 / np.minimum(vague_sigma(problem.terms), problem.sigma)[chosen] ** 2
    information = jacobian.T @ weighted + np.diag(ridge)
    predicted = residuals.copy()
    for b in range(int(blocks.max()) + 1 if len(chosen) else 0):
        rows = blocks == b
        part = jacobian[rows]
        without = information - part.T @ weighted[rows]
        step = np.linalg.lstsq(without, weighted[rows].T @ residuals[rows], rcond=1e-12)[0]
        predicted[rows] += part @ np.clip(step, -3.0 / np.sqrt(ridge), 3.0 / np.sqrt(ridge))
    return summed(problem, robust(predicted**2, limits)[0], blocks)


def summed(problem: Problem, squares: Array, blocks: np.ndarray) -> Array:
    """Sums of what samples have, (blocks, quantities)."""
    sums = np.zeros((int(blocks.max()) + 1, int(problem.quantities.max()) + 1))
    np.add.at(sums, (blocks, problem.quantities[problem.kind]), squares)
    return sums


def refitted(problem: Problem, trial: Solution, blocks: np.ndarray, noise: Noise, before: Array) -> Array:
    """What :func:`left_out` gives, but by fits without a block where one Gauss-Newton step says that it is predicted
    worse than before though it can be explained far better: of what one block alone determines a step is far off."""
    squares = left_out(problem, trial, blocks, noise)
    if better(before, squares) > 0.0:
        return squares
    weights, limits = noise.weights[problem.kind], residual_limits(problem, noise)
    explained_ = summed(problem, robust((trial.residuals * weights) ** 2, limits)[0], blocks)
    if np.sum(explained_) < OVERWHELMING * np.sum(before):
        return explained_
    poor = np.sum(squares, axis=1) > np.sum(before, axis=1)
    worse = np.flatnonzero(poor & (np.sum(explained_, axis=1) < HOPEFUL * np.sum(before, axis=1)))
    at_best = better(before, np.where(poor[:, np.newaxis], explained_, squares))
    if not 0 < len(worse) <= MOST_REFITTED or at_best <= 0.0:
        return squares
    for b in worse:
        without = blocks != b
        fit = solve(
            problem, trial.point, trial.free, noise, starts=trial.starts, samples=without, evaluations=REFITTING
        )
        left = summed(problem, robust((fit.residuals * weights) ** 2, limits)[0], blocks)[b]
        if np.sum(left) < np.sum(squares[b]):
            squares[b] = left
    return squares


def least_left(before: Array, after: Array) -> float:
    """What is left of the quantity that is explained best, as a part, among those of which much was left."""
    sums = np.sum(before, axis=0)
    return float(np.min((np.sum(after, axis=0) / np.maximum(sums, LEAST))[sums >= SHARE * np.sum(sums)]))


def better(before: Array, after: Array, significant: float = SIGNIFICANT, worthwhile: float = WORTHWHILE) -> float:
    """By how much blocks are predicted better, less what may be chance; positive where a term is worth it.

    That is judged by the quantity of which most is gained: a term of the steering need not explain the speed. What the
    others lose is subtracted.
    """
    gain = before - after
    sums = np.sum(gain, axis=0)
    error = np.sqrt(np.sum(gain**2, axis=0))
    lost = np.sum(np.minimum(sums, 0.0)) - np.minimum(sums, 0.0)
    asked = np.maximum(np.maximum(significant * error, worthwhile * np.sum(before, axis=0)), LEAST)
    return float(np.max(sums + lost - asked))


def select(
    problem: Problem,
    candidates: Sequence[Candidate],
    begin: Array,
    always: Mask,
    *,
    begun: Solution | None = None,
    advance: Callable[[str], object] = lambda words: None,
) -> Solution:
    """Add terms one after the other, the best first, then take away what is no longer needed."""
    blocks = blocks_of(problem)
    noise = first_noise(problem)
    now = begun or solve(problem, begin, always, noise, evaluations=FULL)
    rounds, last = 0, False
    rank = {candidate.name: k for k, candidate in enumerate(candidates)}
    while True:
        rounds += 1
        noise = noise_of(problem, now.residuals)
        score = left_out(problem, now, blocks, noise)
        whole = last or rounds == 1
        left = [one for one in candidates if _open(problem, one, now, whole=whole)]
        best: tuple[float, Candidate, Solution] | None = None
        for k, (candidate, begins) in enumerate(promising(problem, left, now, noise)):
            if best is not None and k % AT_ONCE == 0:
                break
            size = len(candidate.terms)
            simulations = FULL if candidate.whole else min(TRIAL * size, FULL)
            trials = [tried(problem, candidate, now, begin, noise, simulations) for begin in begins]
            if candidate.whole:
                trials = [
                    tried(problem, candidate, one, one.point, noise, 3 * FULL) if one.cost < HALFWAY * now.cost else one
                    for one in trials
                ]
            trial = min(trials, key=lambda one: one.cost)
            if any(problem.terms[k].kind is Kind.DEAD_TIME and trial.point[k] > LONGEST for k in candidate.terms):
                continue
            after = refitted(problem, trial, blocks, noise, score)
            left_over = float(np.sum(after)) / max(float(np.sum(score)), LEAST)
            asked = (
                (SIGNIFICANT, WORTHWHILE) if left_over < OVERWHELMING else (candidate.significant, candidate.worthwhile)
            )
            gained = better(score, after, *asked)
            if candidate.whole:
                exact = (noise_of(problem, trial.residuals).scale < EXACTLY * problem.floors).any()
                if least_left(score, after) > (EXCEPTIONAL if last else OVERWHELMING) and not exact:
                    continue
            if gained > 0.0 and left_over < ALL:
                best = gained, candidate, trial
                break
            margin = CLEARLY if best is not None and rank[candidate.name] > rank[best[1].name] else 1.0 / CLEARLY
            if gained > 0.0 and (best is None or gained > margin * best[0]):
                best = gained, candidate, trial
        if best is None and last:
            break
        last = best is None
        if best is None:
            continue
        _, candidate, trial = best
        noise = noise_of(problem, trial.residuals)
        now = solve(problem, trial.point, trial.free, noise, starts=trial.starts, evaluations=FULL, tolerance=1e-6)
        advance(candidate.name)
    return without_needless(problem, now, blocks, always)


def _open(problem: Problem, candidate: Candidate, now: Solution, *, whole: bool) -> bool:
    """Whether a candidate may enter: one source at least has no latency, those of all are part of the dead times."""
    if candidate.whole:
        return whole
    term = problem.terms[candidate.terms[0]]
    if term.kind is Kind.LATENCY:
        late = np.array([one.kind is Kind.LATENCY for one in problem.terms])
        if int(now.free[late].sum()) >= int(late.sum()) - 1:
            return False
    return not all(now.free[list(candidate.terms)])


def promising(
    problem: Problem, candidates: Sequence[Candidate], now: Solution, noise: Noise
) -> list[tuple[Candidate, list[Array]]]:
    """Candidates of which something is expected, with the points at which their fits begin, the best first.

    What is expected is the better of two: of the values at which each is tried, and of one Gauss-Newton step.
    """
    weights, limits = noise.weights[problem.kind], residual_limits(problem, noise)
    smooth = np.array([term.kind not in (Kind.LIMIT, Kind.DEAD_BAND, Kind.BACKLASH) for term in problem.terms])
    residuals, jacobian, _ = evaluate(problem, now.point, now.starts, smooth | now.free)
    residuals = residuals * weights
    _, slope, _ = robust(residuals**2, limits)
    jacobian = jacobian * (weights * np.sqrt(slope))[:, np.newaxis]
    gradient, information = jacobian.T @ (residuals * np.sqrt(slope)), jacobian.T @ jacobian
    points, plain = first_points(problem, candidates, now, noise)
    found = []
    for candidate in candidates:
        cost, begins = points[candidate.name]
        expected = plain - cost
        if smooth[list(candidate.terms)].all():
            chosen = np.flatnonzero(now.free)
            both = np.union1d(chosen, candidate.terms)
            step = explained(information, gradient, both) - explained(information, gradient, chosen)
            if step > expected:
                expected, begins = step, [now.point]
        if expected > LEAST or candidate.whole:
            found.append((expected, candidate, begins))
    found.sort(key=lambda one: (not one[1].whole, -one[0]))
    return [(candidate, begins) for _, candidate, begins in found]


def explained(information: Array, gradient: Array, chosen: np.ndarray) -> float:
    """By how much one Gauss-Newton step of some terms lowers the squares."""
    if not len(chosen):
        return 0.0
    size = np.sqrt(np.maximum(np.diag(information)[chosen], 1e-300))
    scaled = information[np.ix_(chosen, chosen)] / size / size[:, np.newaxis]
    g = gradient[chosen] / size
    return float(g @ np.linalg.lstsq(scaled, g, rcond=1e-10)[0])


def first_points(
    problem: Problem, candidates: Sequence[Candidate], now: Solution, noise: Noise
) -> tuple[dict[str, tuple[float, list[Array]]], float]:
    """Of each candidate the best of the points that it is tried at, with the least robust squares; and those of now.

    All are those of dead times in whole steps.
    """
    points, owner = [now.point], [""]
    for candidate in candidates:
        for changes in candidate.starts(now.point):
            point = now.point.copy()
            for k, value in changes.items():
                point[k] = np.clip(value, problem.lower[k], problem.upper[k])
            points.append(point)
            owner.append(candidate.name)
    unique = {point.tobytes(): k for k, point in enumerate(points)}
    chosen = sorted(unique.values())
    costs = dict(zip(chosen, costs_of(problem, np.array(points)[chosen], now.starts, noise), strict=True))
    cost = np.array([costs[unique[point.tobytes()]] for point in points])
    best: dict[str, tuple[float, list[Array]]] = {}
    for candidate in candidates:
        of = np.array([k for k, name in enumerate(owner) if name == candidate.name])
        of = of[np.argsort(cost[of], kind="stable")]
        wanted = FROM if candidate.whole else 1
        best[candidate.name] = float(cost[of[0]]), [points[k] for k in _apart(problem, points, of, wanted)]
    return best, float(cost[0])


def _apart(problem: Problem, points: Sequence[Array], order: np.ndarray, wanted: int) -> list[int]:
    """The first of some points that differ in a time."""
    times = [k for k, term in enumerate(problem.terms) if term.kind in (Kind.DEAD_TIME, Kind.TIME_CONSTANT)]
    found: dict[bytes, int] = {}
    for k in order:
        found.setdefault(points[k][times].tobytes(), int(k))
    return list(found.values())[:wanted]


def costs_of(problem: Problem, points: Array, starts: Sequence[Array], noise: Noise) -> Array:
    """Robust squares of many points."""
    total = np.zeros(len(points))
    weights, limits = noise.weights, ROBUST / np.sqrt(noise.correlation)
    for experiment, start in zip(problem.experiments, starts, strict=True):
        predicted = experiment.simulate(points, np.tile(start, (len(points), 1)))
        kind = problem.kinds[experiment.channel]
        left = (predicted - experiment.measured[:, np.newaxis]) * weights[kind][:, np.newaxis]
        total += robust(left**2, limits[kind][:, np.newaxis])[0].sum(axis=0)
    return total


def tried(
    problem: Problem, candidate: Candidate, now: Solution, point: Array, noise: Noise, evaluations: int
) -> Solution:
    """The fit with a candidate."""
    free = now.free.copy()
    for k in candidate.terms:
        term = problem.terms[k]
        free[k] = term.kind is not Kind.LIMIT or term.value(float(point[k])) < NO_LIMIT
    return solve(problem, point, free, noise, starts=now.starts, evaluations=evaluations)


def weakest(problem: Problem, now: Solution, noise: Noise, neutral: Array, always: Mask) -> list[int]:
    """Terms that are nearer to doing nothing than :data:`WEAK` standard errors."""
    chosen = np.flatnonzero(now.free)
    jacobian = now.jacobian[:, chosen] * noise.weights[problem.kind][:, np.newaxis]
    covariance = np.linalg.pinv(jacobian.T @ jacobian, rcond=1e-12)
    error = np.where(np.any(jacobian != 0.0, axis=0), np.sqrt(np.maximum(np.diag(covariance), 0.0)), np.inf)
    away = np.abs(now.point[chosen] - neutral[chosen])
    return [int(k) for k, far, one in zip(chosen, away, error, strict=True) if far < WEAK * one and not always[k]]


def without_needless(problem: Problem, now: Solution, blocks: np.ndarray, always: Mask) -> Solution:
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
            lost = better(left_out(problem, trial, blocks, noise), score, *KEPT)
            if lost <= 0.0 and (best is None or lost < best[0]):
                best = lost, trial
        if best is None:
            return now
        trial = best[1]
        now = solve(problem, trial.point, trial.free, noise, starts=trial.starts, evaluations=FULL)
