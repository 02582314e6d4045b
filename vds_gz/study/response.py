"""How an actuator answered, measured from a recording alone: dead time, time constant, limits.

What is measured is what a person with a stopwatch would find: how long nothing happens after a new reference, how
fast the rest of the way is covered, how fast and how far it goes at most. The four are found together, as the numbers
with which dead time, saturation, first-order lag and rate limit, in this order, reproduce the recorded response best
in the sense of least squares. A number that the recording says nothing about is None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

#: The record is cut into pieces of this length, which are simulated side by side [s].
PIECE = 2.5

#: A limit counts as met if leaving it out makes the error greater by this part of the response's range.
DECISIVE = 0.002

#: A number is given if its standard deviation is at most this part of it, or one sample for a time.
CERTAIN = 0.1

#: Nothing is known of the response more exactly than this part of its range.
RESOLUTION = 0.001

ITERATIONS = 10
_DAMPINGS = (1e-4, 1e-2, 1.0)
_LOWEST_TIME_CONSTANT = 1e-6
_NO_LIMIT = 1e9

# Places in a vector of parameters; the limits are kept as logarithms.
_DEAD_TIME, _TIME_CONSTANT, _RISE, _FALL, _VALUE = range(5)


@dataclass(frozen=True, slots=True)
class Response:
    """What was measured of one actuator; None where the recording does not show it.

    Attributes:
        dead_time: From a new reference to the first movement [s].
        time_constant: Of the first-order lag [s].
        max_rise, max_fall: Limit of the rate of change away from and towards zero, where one was met.
        max_value: Limit of the value, where one was met.
        reached_rate, reached_value: The greatest magnitudes there were, be they limits or not.
        error: Root mean square of what these numbers leave unexplained.
    """

    dead_time: float | None
    time_constant: float | None
    max_rise: float | None
    max_fall: float | None
    max_value: float | None
    reached_rate: float
    reached_value: float
    error: float


def measure(
    time: ArrayLike, reference: ArrayLike, response: ArrayLike, *, changed: ArrayLike | None = None, angle: bool = False
) -> Response:
    """Measure an actuator.

    Args:
        time: Times of the samples [s], increasing.
        reference: What the actuator was asked for at these times, in its own unit.
        response: What it did.
        changed: When the reference took each sample's value, where that is known better than the time of the sample;
            NaN where it is not. It then lies within the interval before the sample, most likely in its middle.
        angle: The values are angles [rad], with one rate limit for both directions, and without stops they wrap.
    """
    record = _Record(np.asarray(time, float), np.asarray(reference, float), np.asarray(response, float), changed, angle)
    if record.span <= 0.0:
        return Response(None, None, None, None, None, record.reached_rate, record.reached_value, 0.0)
    start = _coarse(record)
    fits = _fit(record, _variants(record, start))
    best = _simplest(fits, record.span)
    known = _known(record, best)
    value = [float(v) if k else None for v, k in zip(_physical(best.parameters), known, strict=True)]
    if angle:
        value[_FALL] = value[_RISE]
    return Response(*value, record.reached_rate, record.reached_value, best.error)


class _Record:
    """A recording on an even grid, cut into pieces that are simulated side by side."""

    def __init__(self, time: Array, reference: Array, response: Array, changed: ArrayLike | None, angle: bool) -> None:
        """Bring the samples into shape; arguments as of :func:`measure`."""
        if not len(time) == len(reference) == len(response):
            raise ValueError(f"{len(time)} times, {len(reference)} references and {len(response)} responses")
        self.reached_value = float(np.max(np.abs(response), initial=0.0))
        self.reached_rate = 0.0
        self.span = 0.0
        if len(time) < 10 or np.ptp(reference) < 1e-9 or np.ptp(response) < 1e-9:
            return
        self.angle = angle
        self.wraps = angle and self.reached_value > math.pi / 2
        self.span = float(np.ptp(response))
        self.interval = float(np.median(np.diff(time)))
        self.start, self.end = float(time[0]), float(time[-1])
        self._set_reference(time, np.unwrap(reference) if self.wraps else reference, changed)
        self._set_response(time, np.unwrap(response) if self.wraps else response)

    def _set_reference(self, time: Array, reference: Array, changed: ArrayLike | None) -> None:
        """The integral of the reference, which changes in jumps: its differences are the exact means."""
        jumps = np.flatnonzero(np.diff(reference) != 0.0) + 1
        middle = 0.5 * (time[jumps - 1] + time[jumps])
        told = np.full(len(jumps), np.nan) if changed is None else np.asarray(changed, float)[jumps]
        moments = np.where(np.isfinite(told), np.clip(told, time[jumps - 1], time[jumps]), middle)
        long_ago, long_after = self.start - 1e4, self.end + 1e4
        self._edges = np.concatenate(([long_ago], moments, [long_after]))
        values = np.concatenate((reference[:1], reference[jumps]))
        self._integral = np.concatenate(([0.0], np.cumsum(values * np.diff(self._edges))))
        self.reference_value = float(np.max(np.abs(reference)))

    def _set_response(self, time: Array, response: Array) -> None:
        count = int((self.end - self.start) / self.interval + 1e-6)
        self.pieces = max(1, round((self.end - self.start) / PIECE))
        self.samples = math.ceil(count / self.pieces)
        grid = self.start + self.interval * np.arange(self.pieces * self.samples + 1)
        even = np.interp(grid, time, response)
        self.begins = even[:-1].reshape(self.pieces, self.samples)[:, 0]
        self.answers = even[1:].reshape(self.pieces, self.samples).T
        self.weights = (grid[1:] <= time[-1] + 1e-6).astype(float).reshape(self.pieces, self.samples).T
        rates = np.abs(response[2:] - response[:-2]) / (time[2:] - time[:-2])
        away = np.abs(response[2:]) >= np.abs(response[:-2])
        self.reached_rise = float(np.max(rates[away], initial=1e-9))
        self.reached_fall = float(np.max(rates[~away], initial=1e-9))
        self.reached_rate = max(self.reached_rise, self.reached_fall)

    def inputs(self, dead_times: Array) -> Array:
        """Mean of the delayed reference in half sample intervals, (half intervals, pieces, dead times)."""
        half = 0.5 * self.interval
        edges = self.start + half * np.arange(2 * self.pieces * self.samples + 1)
        integral = np.interp(edges[:, None] - dead_times, self._edges, self._integral)
        means: Array = np.diff(integral, axis=0) / half
        return means.reshape(self.pieces, 2 * self.samples, len(dead_times)).swapaxes(0, 1)


def _simulate(record: _Record, parameters: Array) -> Array:
    """Responses for several parameter vectors, minus the recorded one: (samples, pieces, vectors)."""
    dead_time, time_constant, rise, fall, limit = _physical(parameters.T)
    time_constant = np.maximum(time_constant, _LOWEST_TIME_CONSTANT)
    inputs = np.clip(record.inputs(dead_time), -limit, limit)
    step = 0.5 * record.interval
    y = np.repeat(record.begins[:, None], len(parameters), axis=1)
    answers = np.empty((record.samples, *y.shape))
    for i, u in enumerate(inputs):
        error = u - y
        if record.wraps:
            error -= 2.0 * math.pi * np.round(error / (2.0 * math.pi))
        rate = np.where(error * y >= 0.0, rise, fall)
        distance = np.abs(error)
        # At the limit, the rate is constant; below, the distance decays. Both have a closed form.
        limited = np.clip(distance / rate - time_constant, 0.0, step)
        left = (distance - rate * limited) * np.exp((limited - step) / time_constant)
        y = y + np.copysign(distance - left, error)
        if i % 2:
            answers[i // 2] = y
    return (answers - record.answers[:, :, None]) * record.weights[:, :, None]


@dataclass(frozen=True, slots=True)
class _Fit:
    """Parameters found, which of them were free, the error they leave and its derivatives."""

    parameters: Array
    free: NDArray[np.bool_]
    error: float
    jacobian: Array


def _coarse(record: _Record) -> Array:
    """Where the search begins: the best of a coarse grid of dead times and time constants, with and without limits."""
    longest = min(1.5, 0.5 * (record.end - record.start))
    while True:
        dead_times = np.linspace(0.0, longest, 31)
        time_constants = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0, 2.0])
        rates = [(math.log(record.reached_rise), math.log(record.reached_fall)), (math.log(_NO_LIMIT),) * 2]
        value = math.log(record.reached_value)
        grid = np.array([[d, t, *r, value] for d in dead_times for t in time_constants for r in rates])
        errors = np.sum(_simulate(record, grid) ** 2, axis=(0, 1))
        best: Array = grid[np.argmin(errors)]
        if best[_DEAD_TIME] < 0.9 * longest or longest >= 0.5 * (record.end - record.start):
            return best
        longest = min(4.0 * longest, 0.5 * (record.end - record.start))


def _variants(record: _Record, start: Array) -> list[tuple[Array, NDArray[np.bool_]]]:
    """Starting points and free parameters, the simplest first: no limit, limited value, limited rate, both."""
    saturating = record.reference_value > record.reached_value * (1.0 + DECISIVE)
    found = []
    for limits_rate in (False, True):
        for limits_value in (False, True) if saturating else (False,):
            point = start.copy()
            point[_RISE] = math.log(record.reached_rise if limits_rate else _NO_LIMIT)
            point[_FALL] = math.log(record.reached_fall if limits_rate else _NO_LIMIT)
            if record.angle:
                point[_RISE] = point[_FALL] = max(point[_RISE], point[_FALL])
            point[_VALUE] = math.log(record.reached_value if limits_value else _NO_LIMIT)
            found.append((point, np.array([True, True, limits_rate, limits_rate and not record.angle, limits_value])))
    return found


def _fit(record: _Record, variants: list[tuple[Array, NDArray[np.bool_]]]) -> list[_Fit]:
    """Levenberg and Marquardt's method for all variants at once: one simulation serves them all."""
    points = np.array([point for point, _ in variants])
    free = np.array([mask for _, mask in variants])
    for _ in range(ITERATIONS):
        residuals, jacobians = _derivatives(record, points, free)
        trials = np.array([
            _bounded(record, point + _step(residual, jacobian, damping))
            for point, residual, jacobian in zip(points, residuals, jacobians, strict=True)
            for damping in _DAMPINGS
        ])
        errors = np.sum(_simulate(record, _tied(record, trials)) ** 2, axis=(0, 1)).reshape(len(points), -1)
        choice = np.argmin(errors, axis=1)
        better = errors[np.arange(len(points)), choice] < np.sum(residuals**2, axis=1)
        chosen = trials.reshape(len(points), len(_DAMPINGS), -1)[np.arange(len(points)), choice]
        points = np.where(better[:, None], chosen, points)
        if not better.any():
            break
    residuals, jacobians = _derivatives(record, points, free)
    count = float(np.sum(record.weights))
    return [
        _Fit(point, mask, math.sqrt(float(residual @ residual) / count), jacobian)
        for point, mask, residual, jacobian in zip(
            _tied(record, points), free, residuals, jacobians, strict=True
        )
    ]


def _derivatives(record: _Record, points: Array, free: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Residuals (variants, samples) and their derivatives (variants, samples, parameters).

    By differences upwards: where a limit is not met, raising it changes nothing and the derivative is zero.
    """
    steps = np.stack([
        np.full(len(points), 0.05 * record.interval),
        np.maximum(0.01 * points[:, _TIME_CONSTANT], 0.02 * record.interval),
        *np.full((3, len(points)), 0.005),
    ], axis=1)
    shifted = points[:, None, :] + np.concatenate([np.zeros((len(points), 1, 5)), _diagonal(steps * free)], axis=1)
    answers = _simulate(record, _tied(record, shifted.reshape(-1, 5)))
    answers = answers.reshape(-1, len(points), 6).transpose(1, 0, 2)
    return answers[:, :, 0], (answers[:, :, 1:] - answers[:, :, :1]) / steps[:, None, :]


def _diagonal(rows: Array) -> Array:
    """A matrix for each row, with the row as its diagonal."""
    return rows[:, :, None] * np.eye(rows.shape[1])


def _step(residual: Array, jacobian: Array, damping: float) -> Array:
    square = jacobian.T @ jacobian
    scale = np.diag(square) + 1e-12 * np.trace(square) + 1e-30
    step: Array = np.linalg.solve(square + damping * np.diag(scale) + 1e-12 * np.diag(scale), -jacobian.T @ residual)
    return np.clip(step, -0.5, 0.5)


def _bounded(record: _Record, point: Array) -> Array:
    """Times cannot be negative, and no limit can lie below what was reached but for noise."""
    point = point.copy()
    point[:2] = np.maximum(point[:2], 0.0)
    return point


def _tied(record: _Record, points: Array) -> Array:
    """With one rate for both directions, the second is the first."""
    if record.angle:
        points = points.copy()
        points[:, _FALL] = points[:, _RISE]
    return points


def _simplest(fits: list[_Fit], span: float) -> _Fit:
    """The first fit to which no later, richer one is decisively better."""
    best = fits[0]
    for fit in fits[1:]:
        if fit.error < 0.7 * best.error and best.error - fit.error > DECISIVE * span:
            best = fit
    return best


def _known(record: _Record, fit: _Fit) -> NDArray[np.bool_]:
    """Which parameters the record tells: those with a small standard deviation."""
    known = fit.free & (np.sum(fit.jacobian**2, axis=0) > 0.0)
    used = fit.jacobian[:, known]
    noise = max(fit.error, RESOLUTION * record.span)
    deviations = noise * np.sqrt(np.diag(np.linalg.pinv(used.T @ used)))
    physical = _physical(fit.parameters)[known]
    allowed = np.where(np.flatnonzero(known) <= _TIME_CONSTANT, np.maximum(CERTAIN * physical, record.interval), CERTAIN)
    known[known] = deviations <= allowed
    return known


def _physical(parameters: Array) -> Array:
    """Times as they are, limits out of their logarithms."""
    return np.concatenate([parameters[:2], np.exp(parameters[2:])])
