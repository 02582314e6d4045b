"""The fit: bounded nonlinear least squares with a mild robust loss, weighted by the noise of each channel.

scipy's ``least_squares`` optimises; the fleet simulates a point and all of its finite differences side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

from vds_gz.core.arrays import Array, Flags
from vds_gz.tools.study.identify.build import Problem
from vds_gz.tools.study.identify.problem.segment_model import predictions_of
from vds_gz.tools.study.identify.residual_noise import Noise
from vds_gz.tools.study.identify.robust import ROBUST

#: Prior standard deviation of a start, in its scale.
START_SIGMA = 3.0

#: The loss of priors is quadratic up to this many standard deviations, which is practically everywhere.
NOT_ROBUST = 1e6

#: A value is at a bound if its distance is less than this part of its term's scale.
AT_BOUND = 1e-7

#: A dead time or a lag below this part of a step is 0, and one as close to its upper bound is at it: the effect of the
#: difference is far below that of a step.
NO_DELAY = 0.05

#: Residuals with a shorter autocorrelation are noise [samples].
CORRELATED = 3.0

#: The limit of the robust loss is at least this part of :data:`ROBUST`.
LEAST_PART = 1e-3


@dataclass(frozen=True)
class Solution:
    """A fit.

    Attributes:
        point: Coordinates of all terms.
        free: Whether each term was fitted.
        starts: The start of each experiment.
        residuals: Predicted minus measured values of all samples, in their units.
        jacobian: Their derivatives by the terms, (N, p), without the part that fitted starts explain.
        cost: Half of the sum of robust squares, priors included.
        noise: The noise of the weights.
    """

    point: Array
    free: Flags
    starts: tuple[Array, ...]
    residuals: Array
    jacobian: Array
    cost: float
    noise: Noise


def robust(z: Array, limit: Array) -> Array:
    """The robust loss of squares ``z``, linear beyond a limit (soft L1), and its first two derivatives."""
    square = limit**2
    t = 1.0 + z / square
    return np.array([2.0 * square * (np.sqrt(t) - 1.0), t**-0.5, -0.5 / square * t**-1.5])


def residual_limits(problem: Problem, noise: Noise) -> Array:
    """The limit of weighted residuals of each kind of channel, beyond which they count linearly.

    If a model explains little and its residuals are correlated, they are not noise, and the largest are transients. A
    channel that is constant nearly all the time has no spread to compare them with.
    """
    as_noise = (problem.spread <= problem.floors) | (noise.own_correlation < CORRELATED)
    spread = np.where(as_noise, np.inf, problem.spread)
    part = np.minimum(1.0, problem.largest_noise * spread / np.maximum(noise.scale, 1e-300))
    return np.asarray(ROBUST * np.maximum(part, LEAST_PART) / np.sqrt(noise.correlation))


class Linearisation(NamedTuple):
    """The linearisation of a fit at its point, in standard deviations.

    Attributes:
        residuals: Residuals of all samples, (N,).
        jacobian: Their derivatives by the free terms, (N, p).
        weighted: The derivatives times the slope of the robust loss, (N, p).
    """

    residuals: Array
    jacobian: Array
    weighted: Array


def linearised(problem: Problem, solution: Solution, noise: Noise) -> Linearisation:
    """The linearisation of a fit at its point, with the weights and the loss of some noise."""
    weights = noise.weights[problem.kind]
    residuals = solution.residuals * weights
    jacobian = solution.jacobian[:, solution.free] * weights[:, np.newaxis]
    slope = robust(residuals**2, residual_limits(problem, noise)[problem.kind])[1]
    return Linearisation(residuals, jacobian, jacobian * slope[:, np.newaxis])


def evaluate(problem: Problem, point: Array, starts: Sequence[Array], free: Flags) -> tuple[Array, Array, list[Array]]:
    """Residuals of all samples, their derivatives by the terms, and each experiment's derivatives by its start."""
    residuals, jacobians, by_starts = [], [], []
    points, fresh = point[np.newaxis], any(problem.fresh)
    predictions = predictions_of(problem.experiments, points, starts, free, free_start=fresh)
    for experiment, (predicted,) in zip(problem.experiments, predictions, strict=True):
        residuals.append(predicted.values - experiment.measured)
        jacobians.append(predicted.by_terms)
        by_starts.append(predicted.by_start)
    return np.concatenate(residuals), np.concatenate(jacobians), by_starts


class _Objective:
    """Weighted residuals of a fit and their derivatives, as functions of its unknowns.

    The unknowns are the free terms, then the starts of fresh experiments; the residuals are those of all samples, then
    of the unknowns' priors.
    """

    def __init__(self, problem: Problem, begin: Array, free: Flags, starts: Sequence[Array], weights: Array) -> None:
        self.problem, self.begin, self.free, self.starts, self.weights = problem, begin, free, starts, weights
        self.terms, self.fresh = np.flatnonzero(free), [k for k, fresh in enumerate(problem.fresh) if fresh]
        fresh = [problem.experiments[k] for k in self.fresh]
        ends = np.cumsum([len(experiment.measured) for experiment in problem.experiments]).tolist()
        self.rows = [slice(ends[k] - len(problem.experiments[k].measured), ends[k]) for k in self.fresh]
        self.start_sigma = [START_SIGMA * experiment.start_scale for experiment in fresh]
        self.mean = np.concatenate([problem.mean[self.terms], *(experiment.start for experiment in fresh)])
        self.sigma = np.concatenate([problem.sigma[self.terms], *self.start_sigma])
        self.scale = np.concatenate([[problem.terms[k].scale for k in self.terms], *self.start_sigma])
        unbounded = np.full(len(self.scale) - len(self.terms), np.inf)
        self.lower = np.append(problem.lower[self.terms], -unbounded)
        self.upper = np.append(problem.upper[self.terms], unbounded)
        self.known = np.isfinite(self.sigma)
        self._evaluated: tuple[bytes, Array, Array, list[Array]] | None = None

    @property
    def first(self) -> Array:
        """The start of the search."""
        packed = np.concatenate([self.begin[self.terms], *(self.starts[k] for k in self.fresh)])
        return np.asarray(np.clip(packed, self.lower, self.upper))

    def unpacked(self, x: Array) -> tuple[Array, list[Array]]:
        """The point and the starts of all experiments."""
        point, starts = self.begin.copy(), list(self.starts)
        point[self.terms] = x[: len(self.terms)]
        fresh = x[len(self.terms) :].reshape(len(self.fresh), len(starts[0]))
        for k, start in zip(self.fresh, fresh, strict=True):
            starts[k] = start
        return point, starts

    def evaluated(self, x: Array) -> tuple[Array, Array, list[Array]]:
        """Residuals of all samples in their units, and their derivatives by the free terms and by each fresh start."""
        key = x.tobytes()
        if self._evaluated is None or self._evaluated[0] != key:
            residuals, jacobian, by_starts = evaluate(self.problem, *self.unpacked(x), self.free)
            self._evaluated = key, residuals, jacobian[:, self.terms], [by_starts[k] for k in self.fresh]
        return self._evaluated[1:]

    def residuals(self, x: Array) -> Array:
        """Residuals in standard deviations."""
        return np.append(self.evaluated(x)[0] * self.weights, ((x - self.mean) / self.sigma)[self.known])

    def jacobian(self, x: Array) -> Array:
        """Derivatives of the residuals."""
        _, by_terms, by_starts = self.evaluated(x)
        by_all = np.zeros((len(by_terms), len(x)))
        first = len(self.terms)
        by_all[:, :first] = by_terms
        for rows, by_start in zip(self.rows, by_starts, strict=True):
            by_all[rows, first : first + by_start.shape[1]] = by_start
            first += by_start.shape[1]
        return np.vstack((by_all * self.weights[:, np.newaxis], np.diag(1.0 / self.sigma)[self.known]))

    def without_starts(self, x: Array) -> Array:
        """Derivatives of the samples by all terms, (N, p), without the part that changes of the starts explain."""
        _, by_terms, by_starts = self.evaluated(x)
        by_terms = by_terms.copy()
        for rows, by_start, sigma in zip(self.rows, by_starts, self.start_sigma, strict=True):
            weighted = by_start.T * self.weights[rows] ** 2
            information = weighted @ by_start + np.diag(sigma**-2.0)
            by_terms[rows] -= by_start @ np.linalg.solve(information, weighted @ by_terms[rows])
        jacobian = np.zeros((len(by_terms), len(self.begin)))
        jacobian[:, self.terms] = by_terms
        return jacobian

    def snapped(self, x: Array) -> Array:
        """The unknowns; those next to a bound are moved to it, because the search stays between bounds."""
        near = AT_BOUND * self.scale
        delays = [self.problem.terms[k].kind.is_delay for k in self.terms]
        near[: len(delays)][delays] = NO_DELAY * self.problem.experiments[0].segment.dt
        return np.where(x - self.lower < near, self.lower, np.where(self.upper - x < near, self.upper, x))


def solve(
    problem: Problem,
    begin: Array,
    free: Flags,
    noise: Noise,
    *,
    starts: Sequence[Array] | None = None,
    samples: Flags | None = None,
    evaluations: int = 30,
    tolerance: float = 1e-4,
) -> Solution:
    """Fit the free terms.

    Other terms keep their values in ``begin``. Starts default to the experiments' own, ``samples`` to all. There are at
    most ``evaluations`` simulations; the tolerance is of the relative change of the cost.
    """
    weights = noise.weights[problem.kind]
    weights = weights if samples is None else np.where(samples, weights, 0.0)
    objective = _Objective(
        problem, begin, free, starts or [experiment.start for experiment in problem.experiments], weights
    )
    limits = np.append(residual_limits(problem, noise)[problem.kind], np.full(np.sum(objective.known), NOT_ROBUST))
    x = objective.first
    if len(x):
        optimum = least_squares(
            objective.residuals,
            x,
            jac=objective.jacobian,
            bounds=(objective.lower, objective.upper),
            loss=lambda z: robust(z, limits),
            x_scale=objective.scale,
            max_nfev=evaluations,
            ftol=tolerance,
            xtol=1e-10,
            gtol=1e-14,
        )
        x = objective.snapped(optimum.x)
    point, moved = objective.unpacked(x)
    cost = 0.5 * float(np.sum(robust(objective.residuals(x) ** 2, limits)[0]))
    return Solution(point, free, tuple(moved), objective.evaluated(x)[0], objective.without_starts(x), cost, noise)
