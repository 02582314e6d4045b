"""Candidates for a fit: the most promising ones, and the starts of their fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.study.identify.build import Problem
from vds_gz.tools.study.identify.cross_validation import LEAST
from vds_gz.tools.study.identify.residual_noise import Noise
from vds_gz.tools.study.identify.term_kind import Required, mask_of
from vds_gz.tools.study.identify.trial_values import Starts
from vds_gz.tools.study.identify.vehicle_fit import Solution, evaluate, residual_limits, robust

#: A candidate is worth a fit if its expected improvement is at least this part of that required of it. Limits, bands
#: and whole actuators are fitted if nothing else enters: at their trial values, with other terms as they are, they may
#: seem useless.
PROMISING = 0.5

#: Number of starts of the fit of a whole actuator, because its cost has several minima.
WHOLE_BEGINS = 2


@dataclass(frozen=True)
class Candidate:
    """Terms that enter together, by their indices, and their trial values.

    The gain in prediction must be as ``required``: in its standard errors, and as a part of the squares. A fit with all
    limits of a ``whole`` actuator may be exact although each single limit misleads.
    """

    name: str
    terms: tuple[int, ...]
    starts: Starts
    required: Required
    whole: bool = False


def promising(
    problem: Problem, candidates: Sequence[Candidate], solution: Solution, noise: Noise
) -> list[tuple[Candidate, list[Array]]]:
    """Candidates that may improve a fit, with the starts of their fits, the most promising first.

    The expected improvement is the larger of that at the trial values and that of one Gauss-Newton step.
    """
    weights, limits = noise.weights[problem.kind], residual_limits(problem, noise)[problem.kind]
    smooth = mask_of(problem.terms, lambda kind: kind.smooth)
    residuals, jacobian, _ = evaluate(problem, solution.point, solution.starts, smooth | solution.free)
    residuals = residuals * weights
    root = np.sqrt(robust(residuals**2, limits)[1])
    jacobian = jacobian * (weights * root)[:, np.newaxis]
    gradient, information = jacobian.T @ (residuals * root), jacobian.T @ jacobian
    points, present_cost = _first_points(problem, candidates, solution, noise)
    free = np.flatnonzero(solution.free)
    expectations = []
    for candidate in candidates:
        cost, begins = points[candidate.name]
        expected, predicted = present_cost - cost, smooth[list(candidate.terms)].all()
        if predicted:
            terms = np.union1d(free, candidate.terms)
            step = _explained(information, gradient, terms) - _explained(information, gradient, free)
            if step > expected:
                expected, begins = step, [solution.point]
        if not predicted or expected > max(LEAST, PROMISING * candidate.required[1] * present_cost):
            expectations.append((expected, candidate, begins))
    expectations.sort(key=lambda entry: -entry[0])
    return [(candidate, begins) for _, candidate, begins in expectations]


def whole_begins(problem: Problem, candidate: Candidate, solution: Solution, noise: Noise) -> list[Array]:
    """The starts of the fit of a whole actuator."""
    return _first_points(problem, [candidate], solution, noise)[0][candidate.name][1]


def _explained(information: Array, gradient: Array, terms: np.ndarray) -> float:
    """The reduction of the squares by one Gauss-Newton step of some terms."""
    if not len(terms):
        return 0.0
    size = np.sqrt(np.maximum(np.diag(information)[terms], 1e-300))
    scaled = information[np.ix_(terms, terms)] / size / size[:, np.newaxis]
    g = gradient[terms] / size
    return float(g @ np.linalg.lstsq(scaled, g, rcond=1e-10)[0])


def _first_points(
    problem: Problem, candidates: Sequence[Candidate], solution: Solution, noise: Noise
) -> tuple[dict[str, tuple[float, list[Array]]], float]:
    """The lowest cost of each candidate's points and the best of these, by name; and the present cost.

    All costs are for dead times in whole steps.
    """
    points, owner = [solution.point], [""]
    for candidate in candidates:
        for changes in candidate.starts(solution.point):
            point = solution.point.copy()
            for k, value in changes.items():
                point[k] = np.clip(value, problem.lower[k], problem.upper[k])
            points.append(point)
            owner.append(candidate.name)
    unique = {point.tobytes(): k for k, point in enumerate(points)}
    distinct = sorted(unique.values())
    costs = dict(zip(distinct, costs_of(problem, np.array(points)[distinct], solution.starts, noise), strict=True))
    cost = np.array([costs[unique[point.tobytes()]] for point in points])
    lowest: dict[str, tuple[float, list[Array]]] = {}
    for candidate in candidates:
        indices = np.array([k for k, name in enumerate(owner) if name == candidate.name])
        indices = indices[np.argsort(cost[indices], kind="stable")]
        begins = _distinct_in_time(problem, [points[k] for k in indices], WHOLE_BEGINS if candidate.whole else 1)
        lowest[candidate.name] = float(cost[indices[0]]), begins
    return lowest, float(cost[0])


def _distinct_in_time(problem: Problem, points: Sequence[Array], count: int) -> list[Array]:
    """The first points that differ in a time."""
    times = [k for k, term in enumerate(problem.terms) if term.kind.is_delay]
    distinct: dict[bytes, Array] = {}
    for point in points:
        distinct.setdefault(point[times].tobytes(), point)
    return list(distinct.values())[:count]


def costs_of(problem: Problem, points: Array, starts: Sequence[Array], noise: Noise) -> Array:
    """Robust squares of many points."""
    total = np.zeros(len(points))
    weights, limits = noise.weights, residual_limits(problem, noise)
    for experiment, start in zip(problem.experiments, starts, strict=True):
        predicted = experiment.simulate(points, np.tile(start, (len(points), 1)))
        kind = problem.kinds[experiment.channel]
        residuals = (predicted - experiment.measured[:, np.newaxis]) * weights[kind][:, np.newaxis]
        total += robust(residuals**2, limits[kind][:, np.newaxis])[0].sum(axis=0)
    return total
