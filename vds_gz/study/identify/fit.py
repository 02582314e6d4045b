"""The fit: bounded nonlinear least squares with a mild robust loss, weighted by how much each channel tells.

scipy's ``least_squares`` optimises; the fleet simulates a point and all of its finite differences side by side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.problem.parameters import Kind, Term
from vds_gz.study.identify.problem.simulation import Experiment, Mask, VehicleFamily

#: Residuals count linearly from so many standard deviations on.
ROBUST = 3.0

#: Residuals are clipped at four times this part of their root mean square without single wild samples, or of what the
#: median says if that is more.
CLIPPED = 1.0

#: Single wild samples are left out where the rest has less than this part of the standard deviation (medians of three
#: of white noise have 0.67).
SPIKY = 0.3

#: A start is known to so many of its scale.
START_SIGMA = 3.0

#: Of autocorrelation, what is below this is taken for none.
UNCORRELATED = 0.05

#: At a bound is what is as near as this part of a term's scale.
AT_BOUND = 1e-7


@dataclass(frozen=True)
class Noise:
    """What is left of each channel: its standard deviation, and how many samples in a row tell as much as one."""

    scale: Array
    correlation: Array

    @property
    def weights(self) -> Array:
        """Of the residuals of each channel."""
        weights: Array = 1.0 / (self.scale * np.sqrt(self.correlation))
        return weights


@dataclass(frozen=True)
class Problem:
    """What is fitted.

    Attributes:
        experiments: Segments with their forward model.
        floors: Of each kind of channel the least noise.
        kinds: Of each channel its kind: channels of the same name have the same noise in all recordings.
        quantities: Of each kind of channel, which quantity it measures.
        fresh: Of each experiment, whether its start is looked for; else it is as good as known.
        mean, sigma: Of each term what is known beforehand; infinite is nothing.
        lower, upper: Bounds of the coordinates.
    """

    experiments: tuple[Experiment, ...]
    floors: Array
    kinds: np.ndarray
    quantities: np.ndarray
    fresh: tuple[bool, ...]
    mean: Array
    sigma: Array
    lower: Array
    upper: Array

    @property
    def family(self) -> VehicleFamily:
        """The vehicles."""
        return self.experiments[0].family

    @property
    def terms(self) -> tuple[Term, ...]:
        """What may be looked for."""
        return self.family.terms

    @property
    def measured(self) -> Array:
        """All samples."""
        return np.concatenate([one.measured for one in self.experiments])

    @property
    def intervals(self) -> Array:
        """Between samples of each kind of channel [s]."""
        found = np.full(len(self.floors), np.inf)
        for k in range(len(found)):
            steps = [np.diff(one.time[self.kinds[one.channel] == k]) for one in self.experiments]
            steps = [step for step in steps if len(step)]
            if steps:
                found[k] = float(np.median(np.concatenate(steps)))
        return found

    @property
    def kind(self) -> np.ndarray:
        """The kind of channel of each sample."""
        kind: np.ndarray = self.kinds[np.concatenate([one.channel for one in self.experiments])]
        return kind


@dataclass(frozen=True)
class Solution:
    """A fit.

    Attributes:
        point: Coordinates of all terms.
        free: Which of them were fitted.
        starts: Of each experiment.
        residuals: Predicted minus measured, of all samples, in their units.
        jacobian: Their derivatives by the terms, (N, p), without the starts' part where those are fitted.
        cost: Half of the sum of robust squares, with what is known beforehand.
        noise: By which it was weighted.
    """

    point: Array
    free: Mask
    starts: tuple[Array, ...]
    residuals: Array
    jacobian: Array
    cost: float
    noise: Noise


def robust(z: Array, limit: Array) -> Array:
    """Squares ``z`` and the first two derivatives of what counts of them: linear beyond a limit (soft L1)."""
    square = limit**2
    t = 1.0 + z / square
    return np.array([2.0 * square * (np.sqrt(t) - 1.0), t**-0.5, -0.5 / square * t**-1.5])


def residual_limits(problem: Problem, noise: Noise) -> Array:
    """Of each weighted residual, from where on it counts linearly."""
    limits: Array = ROBUST / np.sqrt(noise.correlation)[problem.kind]
    return limits


def first_noise(problem: Problem) -> Noise:
    """Before any fit: a fifth of each channel's standard deviation."""
    kind, measured = problem.kind, problem.measured
    scale = np.array(
        [0.2 * _spread(measured[kind == k]) if (kind == k).any() else 1.0 for k in range(len(problem.floors))]
    )
    return Noise(np.maximum(scale, problem.floors), np.ones(len(scale)))


def without_spikes(values: Array) -> Array:
    """The values; where single wild samples make up most of their standard deviation, the medians of three in a row."""
    if len(values) < 3:
        return values
    medians: Array = np.median(np.lib.stride_tricks.sliding_window_view(values, 3), axis=1)
    if np.std(medians) >= SPIKY * np.std(values):
        return values
    return np.concatenate([medians[:1], medians, medians[-1:]])


def _spread(values: Array) -> float:
    """Standard deviation, without single wild samples and the extreme hundredth."""
    values = without_spikes(values)
    low, high = np.percentile(values, (0.5, 99.5))
    return float(np.std(np.clip(values, low, high)))


def noise_of(problem: Problem, residuals: Array) -> Noise:
    """What a fit leaves: robust standard deviations and integrated autocorrelation times in samples.

    Of the latter that of the channel with the shortest one counts for all: what the model lacks must not decide how
    much a channel tells.
    """
    interval = problem.intervals
    scale, time = problem.floors.copy(), np.full(len(problem.floors), math.inf)
    for k in range(len(scale)):
        runs, first = [], 0
        for experiment in problem.experiments:
            last = first + len(experiment.measured)
            runs.append(residuals[first:last][problem.kinds[experiment.channel] == k])
            first = last
        left = np.concatenate(runs)
        if len(left):
            spread = 1.4826 * float(np.median(np.abs(left)))
            limit = 4.0 * max(spread, CLIPPED * float(np.sqrt(np.mean(without_spikes(left) ** 2))), problem.floors[k])
            scale[k] = max(float(np.sqrt(np.mean(np.clip(left, -limit, limit) ** 2))), problem.floors[k])
            clipped = [np.clip(run, -limit, limit) for run in runs]
            time[k] = interval[k] * autocorrelation_time(clipped, problem.floors[k])
    return Noise(scale, np.maximum(np.min(time) / interval, 1.0))


def autocorrelation_time(runs: Sequence[Array], floor: float = 0.0) -> float:
    """Samples in a row that tell as much as one, of residuals around 0.

    The sum of the autocorrelation up to where it vanishes (A. Sokal, Monte Carlo methods in statistical mechanics,
    1997, section 3).
    """
    count = sum(map(len, runs))
    power = sum(float(run @ run) for run in runs)
    if count < 8 or power <= count * (0.5 * floor) ** 2:
        return 1.0
    longest = min(max(map(len, runs)) // 2, 2000)
    total = np.zeros(longest + 1)
    for run in runs:
        size = 1 << (2 * len(run) - 1).bit_length()
        spectrum = np.fft.rfft(run, size)
        lags = np.fft.irfft(np.abs(spectrum) ** 2, size)[: min(longest + 1, len(run))]
        total[: len(lags)] += lags
    tau = 1.0
    for lag in range(1, longest + 1):
        part = total[lag] / total[0]
        if part < UNCORRELATED:
            break
        tau += 2.0 * part
    return float(min(tau, 0.25 * count))


def evaluate(problem: Problem, point: Array, starts: Sequence[Array], free: Mask) -> tuple[Array, Array, list[Array]]:
    """Residuals of all samples, their derivatives by the terms, and of each experiment those by its start."""
    residuals, jacobians, by_starts = [], [], []
    for experiment, start, fresh in zip(problem.experiments, starts, problem.fresh, strict=True):
        predicted = experiment.evaluate(point, start, free, free_start=fresh)
        residuals.append(predicted.values - experiment.measured)
        jacobians.append(predicted.by_terms)
        by_starts.append(predicted.by_start)
    return np.concatenate(residuals), np.concatenate(jacobians), by_starts


def solve(
    problem: Problem,
    begin: Array,
    free: Mask,
    noise: Noise,
    *,
    starts: Sequence[Array] | None = None,
    samples: Mask | None = None,
    evaluations: int = 30,
    tolerance: float = 1e-4,
) -> Solution:
    """Fit the free terms.

    Args:
        problem: The data.
        begin: A point to begin at; what is not free stays.
        free: What is fitted.
        noise: By which residuals are weighted.
        starts: Of the experiments; None: as their sensors say.
        samples: Which samples count; None: all.
        evaluations: At most so many simulations of everything.
        tolerance: Of the cost and the step, relative.
    """
    chosen = np.flatnonzero(free)
    fresh = [k for k, one in enumerate(problem.fresh) if one]
    now = [np.array(one) for one in (starts or [experiment.start for experiment in problem.experiments])]
    size = len(now[0])
    weights = noise.weights[problem.kind]
    if samples is not None:
        weights = np.where(samples, weights, 0.0)
    known = np.flatnonzero(free & np.isfinite(problem.sigma))
    limits = np.concatenate([residual_limits(problem, noise), np.full(len(known) + size * len(fresh), 1e6)])
    sections = np.cumsum([0, *(len(one.measured) for one in problem.experiments)])
    scales = {k: START_SIGMA * problem.experiments[k].start_scale for k in fresh}
    cache: dict[bytes, tuple[Array, Array]] = {}

    def unpack(x: Array) -> tuple[Array, list[Array]]:
        point = begin.copy()
        point[chosen] = x[: len(chosen)]
        moved = list(now)
        for j, k in enumerate(fresh):
            moved[k] = x[len(chosen) + j * size : len(chosen) + (j + 1) * size]
        return point, moved

    def both(x: Array) -> tuple[Array, Array]:
        key = x.tobytes()
        if key not in cache:
            cache.clear()
            point, moved = unpack(x)
            residuals, jacobian, by_starts = evaluate(problem, point, moved, free)
            rows = len(residuals)
            whole = np.zeros((rows + len(known) + size * len(fresh), len(x)))
            whole[:rows, : len(chosen)] = jacobian[:, chosen] * weights[:, np.newaxis]
            value = np.empty(len(whole))
            value[:rows] = residuals * weights
            for j, k in enumerate(known.tolist()):
                value[rows + j] = (point[k] - problem.mean[k]) / problem.sigma[k]
                whole[rows + j, np.searchsorted(chosen, k)] = 1.0 / problem.sigma[k]
            for j, k in enumerate(fresh):
                at = slice(sections[k], sections[k + 1])
                own = slice(len(chosen) + j * size, len(chosen) + (j + 1) * size)
                whole[at, own] = by_starts[k] * weights[at, np.newaxis]
                row = rows + len(known) + j * size
                value[row : row + size] = (moved[k] - problem.experiments[k].start) / scales[k]
                whole[np.arange(row, row + size), np.arange(own.start, own.stop)] = 1.0 / scales[k]
            cache[key] = value, whole
        return cache[key]

    lower, upper = problem.lower[chosen], problem.upper[chosen]
    x0 = np.clip(begin[chosen], lower, upper)
    x0 = np.concatenate([x0, *(now[k] for k in fresh)])
    scale = np.array([problem.terms[k].scale for k in chosen])
    x_scale = np.concatenate([scale, *(scales[k] for k in fresh)])
    if len(x0):
        found = least_squares(
            lambda x: both(x)[0],
            x0,
            jac=lambda x: both(x)[1],
            bounds=(
                np.concatenate([lower, np.full(size * len(fresh), -np.inf)]),
                np.concatenate([upper, np.full(size * len(fresh), np.inf)]),
            ),
            loss=lambda z: robust(z, limits),
            x_scale=x_scale,
            max_nfev=evaluations,
            ftol=tolerance,
            xtol=1e-10,
            gtol=1e-14,
        )
        x = found.x.copy()
    else:
        x = x0
    if len(chosen):
        at_lower = x[: len(chosen)] - lower < AT_BOUND * scale
        x[: len(chosen)] = np.where(at_lower, lower, x[: len(chosen)])
    point, moved = unpack(x)
    value, whole = both(x)
    rows = sections[-1]
    jacobian = np.zeros((rows, len(begin)))
    raw = np.where(weights > 0.0, weights, 1.0)
    if samples is None:
        residuals = value[:rows] / raw
        jacobian[:, chosen] = _without_starts(whole[:rows], len(chosen)) / raw[:, np.newaxis]
    else:
        residuals, _, _ = evaluate(problem, point, moved, np.zeros_like(free))
    cost = 0.5 * float(np.sum(robust(value**2, limits)[0]))
    return Solution(point, free, tuple(moved), residuals, jacobian, cost, noise)


def _without_starts(jacobian: Array, shared: int) -> Array:
    """The columns of the terms, without what the starts take of them."""
    starts = jacobian[:, shared:]
    kept: Array = jacobian[:, :shared].copy()
    for k in range(starts.shape[1]):
        rows = np.flatnonzero(starts[:, k])
        if len(rows):
            part = starts[rows, k]
            kept[rows] -= np.outer(part, part @ kept[rows]) / float(part @ part)
    return kept


def vague_sigma(terms: Sequence[Term]) -> Array:
    """How far off any term may be where nothing is known, in coordinates."""
    sigma = {Kind.LIMIT: 1.0, Kind.GAIN: 0.5, Kind.COMMAND_GAIN: 0.5, Kind.WHEEL_GAIN: 0.5}
    return np.array([sigma.get(term.kind, 5.0 * term.scale) for term in terms])
