"""How an actuator answered, measured from a recording alone: dead time, time constant, limits.

What is measured is what a person with a stopwatch would find: how long nothing happens after a new reference, how
fast the rest of the way is covered, how fast and how far it goes at most. The four are found together, as the numbers
with which dead time, saturation, first-order lag and rate limit, in this order, reproduce the recorded response best
in the sense of least squares. A number that the recording says nothing about is None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

#: The record is cut into pieces of this length, which are simulated side by side [s].
PIECE = 2.5

#: Of a longer record, the part of this length is looked at in which the reference moves most [s].
LONGEST = 60.0

#: A limit counts as met if leaving it out makes the error greater by this part of the response's range.
DECISIVE = 0.001

#: A number is given if its standard deviation is at most this part of it, or one sample for a time.
CERTAIN = 0.1

#: Nothing is known of the response more exactly than this part of its range.
RESOLUTION = 0.001

#: A command is seen in the next sample if it comes by this part of the interval before it.
COMMAND_LEAD = 0.05

ITERATIONS = 15
_DAMPINGS = (1e-3, 0.1, 10.0, 300.0)
_LOWEST_TIME_CONSTANT = 1e-6
_NO_LIMIT = 1e9
_LEAST_LIMIT = 1e-9

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
        reached_rise, reached_fall, reached_value: The greatest magnitudes there were, be they limits or not.
        error: Root mean square of what these numbers leave unexplained.
    """

    dead_time: float | None
    time_constant: float | None
    max_rise: float | None
    max_fall: float | None
    max_value: float | None
    reached_rise: float
    reached_fall: float
    reached_value: float
    error: float


def measure(
    time: ArrayLike, reference: ArrayLike, response: ArrayLike, *, commands: ArrayLike = (), angle: bool = False
) -> Response:
    """Measure an actuator.

    Args:
        time: Times of the samples [s], increasing.
        reference: What the actuator was asked for at these times, in its own unit.
        response: What it did.
        commands: When commands came [s]. Where one lies in the interval in which the reference changed, it changed
            then; else most likely in the middle.
        angle: The values are angles [rad], with one rate limit for both directions, and without stops they wrap.
    """
    samples = (np.asarray(values, float) for values in (time, reference, response, commands))
    record = _Record(*samples, angle=angle)
    if record.span <= 0.0:
        return Response(None, None, None, None, None, *record.reached, 0.0)
    start = _coarse(record)
    fits = _fit(record, _variants(record, start))
    best = _simplest(fits, record.span)
    known = _known(record, best)
    dead_time, time_constant, rise, fall, value = (
        float(number) if is_known else None for number, is_known in zip(_physical(best.parameters), known, strict=True)
    )
    return Response(dead_time, time_constant, rise, rise if angle else fall, value, *record.reached, best.error)


class _Record:
    """A recording on an even grid, cut into pieces that are simulated side by side."""

    def __init__(self, time: Array, reference: Array, response: Array, commands: Array, *, angle: bool) -> None:
        """Bring the samples into shape; arguments as of :func:`measure`."""
        if not len(time) == len(reference) == len(response):
            raise ValueError(f"{len(time)} times, {len(reference)} references and {len(response)} responses")
        self.angle = angle
        self.span = 0.0
        self._set_reached(time, np.unwrap(response) if angle else response)
        part = _part(time, reference)
        time, reference, response = time[part], reference[part], response[part]
        if len(time) < 10 or np.ptp(reference) < 1e-9 or np.ptp(response) < 1e-9:
            return
        self.wraps = angle and self.reached[2] > math.pi / 2
        self.span = float(np.ptp(response))
        self.interval = float(np.median(np.diff(time)))
        self.start, self.end = float(time[0]), float(time[-1])
        self._set_reference(time, np.unwrap(reference) if self.wraps else reference, commands)
        self._set_response(time, np.unwrap(response) if self.wraps else response)

    def _set_reference(self, time: Array, reference: Array, commands: Array) -> None:
        """The integral of the reference, which changes in jumps: its differences are the exact means."""
        jumps = np.flatnonzero(np.diff(reference) != 0.0) + 1
        begin, end = time[jumps - 1], time[jumps]
        # A command acts from the next step of the vehicle, so one just before a sample shows in the next.
        late = COMMAND_LEAD * self.interval
        latest = np.searchsorted(commands, end - late, side="right") - 1
        moments = np.append(commands, -np.inf)[latest]
        moments = np.where(moments > begin - late, np.maximum(moments, begin), 0.5 * (begin + end))
        self._values = np.concatenate((reference[:1], reference[jumps]))
        self._edges = np.concatenate(([self.start - 1e4], moments, [self.end + 1e4]))
        self._integral = np.concatenate(([0.0], np.cumsum(self._values * np.diff(self._edges))))
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

    def _set_reached(self, time: Array, response: Array) -> None:
        """The greatest rates away from and towards zero, and the greatest value."""
        rates = np.abs(response[2:] - response[:-2]) / (time[2:] - time[:-2])
        away = np.abs(response[2:]) >= np.abs(response[:-2])
        same_side = response[2:] * response[:-2] >= 0.0
        rise = float(np.max(rates[same_side & away], initial=0.0))
        fall = float(np.max(rates[same_side & ~away], initial=0.0))
        if self.angle:
            rise = fall = max(rise, fall)
        self.reached = rise, fall, float(np.max(np.abs(response), initial=0.0))

    def inputs(self, dead_times: Array) -> tuple[Array, Array, Array]:
        """The delayed reference in every sample interval: at its begin, at its end, and when it changed in between [s].

        Each is (samples, pieces, dead times). Of several changes in one interval one is made that has the same mean.
        """
        grid = self.start + self.interval * np.arange(self.pieces * self.samples + 1)
        times = grid[:, None] - dead_times
        values = self._values[np.searchsorted(self._edges, times, side="right") - 1]
        before, after = values[:-1], values[1:]
        mean = np.diff(np.interp(times, self._edges, self._integral), axis=0) / self.interval
        change = before - after
        part = np.divide(mean - after, change, out=np.zeros_like(mean), where=change != 0.0)
        shape = (self.pieces, self.samples, len(dead_times))
        before, after, part = (x.reshape(shape).swapaxes(0, 1) for x in (before, after, np.clip(part, 0.0, 1.0)))
        return before, after, part * self.interval


def _part(time: Array, reference: Array) -> slice:
    """The part of the record that tells most."""
    moved = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(reference)))])
    ends = np.searchsorted(time, time + LONGEST, side="right")
    begin = int(np.argmax(moved[ends - 1] - moved)) if len(time) else 0
    return slice(begin, int(ends[begin]) if len(time) else 0)


def _simulate(record: _Record, parameters: Array) -> Array:
    """Responses for several parameter vectors, minus the recorded one: (samples, pieces, vectors)."""
    dead_time, time_constant, rise, fall, limit = _physical(parameters.T)
    time_constant = np.maximum(time_constant, _LOWEST_TIME_CONSTANT)

    def advance(y: Array, u: Array, duration: Array) -> Array:
        error = u - y
        if record.wraps:
            error -= 2.0 * math.pi * np.round(error / (2.0 * math.pi))
        # At the rate limit, the distance shrinks evenly; below, it decays. Both have a closed form.
        rate = np.where(error * y >= 0.0, rise, fall)
        distance = np.abs(error)
        limited = np.clip(distance / rate - time_constant, 0.0, duration)
        left = (distance - rate * limited) * np.exp((limited - duration) / time_constant)
        new = y + np.copysign(distance - left, error)
        # What lies beyond zero is no longer on the way towards it, but away from it.
        return np.where(new * y < 0.0, new * np.minimum(1.0, rise * duration / (np.abs(new - y) + 1e-30)), new)

    before, after, change = record.inputs(dead_time)
    before, after = np.clip(before, -limit, limit), np.clip(after, -limit, limit)
    y = np.repeat(record.begins[:, None], len(parameters), axis=1)
    answers = np.empty((record.samples, *y.shape))
    for i in range(record.samples):
        y = advance(y, before[i], change[i])
        answers[i] = y = advance(y, after[i], record.interval - change[i])
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
        reached = np.log(np.maximum(record.reached, _LEAST_LIMIT))
        rates, value = [tuple(reached[:2]), (math.log(_NO_LIMIT),) * 2], reached[2]
        grid = np.array([[d, t, *r, value] for d in dead_times for t in time_constants for r in rates])
        errors = np.sum(_simulate(record, grid) ** 2, axis=(0, 1))
        best: Array = grid[np.argmin(errors)]
        if best[_DEAD_TIME] < 0.9 * longest or longest >= 0.5 * (record.end - record.start):
            return best
        longest = min(4.0 * longest, 0.5 * (record.end - record.start))


def _variants(record: _Record, start: Array) -> list[tuple[Array, NDArray[np.bool_]]]:
    """Starting points and free parameters for every set of limits that may have been met, the smallest sets first."""
    reached = dict(zip((_RISE, _FALL, _VALUE), record.reached, strict=True))
    possible = [_RISE] if record.angle else [_RISE, _FALL]
    if record.reference_value > record.reached[2] * (1.0 + DECISIVE):
        possible.append(_VALUE)
    found = []
    for met in chain.from_iterable(combinations(possible, count) for count in range(len(possible) + 1)):
        point, free = start.copy(), np.array([True, True, False, False, False])
        # From nothing there is no way up: less than a sample changes nothing.
        point[_TIME_CONSTANT] = max(point[_TIME_CONSTANT], record.interval)
        for limit in (_RISE, _FALL, _VALUE):
            point[limit] = math.log(max(reached[limit], _LEAST_LIMIT) if limit in met else _NO_LIMIT)
            free[limit] = limit in met
        found.append((point, free))
    return found


def _fit(record: _Record, variants: list[tuple[Array, NDArray[np.bool_]]]) -> list[_Fit]:
    """Levenberg and Marquardt's method for all variants at once: one simulation serves them all."""
    points = np.array([point for point, _ in variants])
    free = np.array([mask for _, mask in variants])
    for _ in range(ITERATIONS):
        residuals, jacobians = _derivatives(record, points, free, 0.05 * record.interval)
        trials = np.array(
            [
                _bounded(point + _step(residual, jacobian, damping))
                for point, residual, jacobian in zip(points, residuals, jacobians, strict=True)
                for damping in _DAMPINGS
            ]
        )
        errors = np.sum(_simulate(record, _tied(record, trials)) ** 2, axis=(0, 1)).reshape(len(points), -1)
        choice = np.argmin(errors, axis=1)
        better = errors[np.arange(len(points)), choice] < np.sum(residuals**2, axis=1)
        chosen = trials.reshape(len(points), len(_DAMPINGS), -1)[np.arange(len(points)), choice]
        points = np.where(better[:, None], chosen, points)
        if not better.any():
            break
    # What one sample more changes tells how certain the times are; less may fall between two samples.
    residuals, jacobians = _derivatives(record, points, free, record.interval)
    count = float(np.sum(record.weights))
    return [
        _Fit(point, mask, math.sqrt(float(residual @ residual) / count), jacobian)
        for point, mask, residual, jacobian in zip(_tied(record, points), free, residuals, jacobians, strict=True)
    ]


def _derivatives(record: _Record, points: Array, free: NDArray[np.bool_], time_step: float) -> tuple[Array, Array]:
    """Residuals (variants, samples) and their derivatives (variants, samples, parameters).

    By differences upwards: where a limit is not met, raising it changes nothing and the derivative is zero. Times are
    raised by ``time_step`` [s], limits by half a percent.
    """
    steps = np.broadcast_to([time_step, time_step, 0.005, 0.005, 0.005], points.shape)
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


def _bounded(point: Array) -> Array:
    """The same, with no time below zero."""
    return np.concatenate([np.maximum(point[:2], 0.0), point[2:]])


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
        if fit.error < 0.6 * best.error and best.error - fit.error > DECISIVE * span:
            best = fit
    return best


def _known(record: _Record, fit: _Fit) -> NDArray[np.bool_]:
    """Which parameters the record tells: those with a small standard deviation."""
    known = fit.free & (np.sum(fit.jacobian**2, axis=0) > 0.0)
    used = fit.jacobian[:, known]
    noise = max(fit.error, RESOLUTION * record.span)
    deviations = noise * np.sqrt(np.diag(np.linalg.pinv(used.T @ used)))
    physical = _physical(fit.parameters)[known]
    of_times = np.maximum(CERTAIN * physical, record.interval)
    allowed = np.where(np.flatnonzero(known) <= _TIME_CONSTANT, of_times, CERTAIN)
    known[known] = deviations <= allowed
    return known


def _physical(parameters: Array) -> Array:
    """Times as they are, limits out of their logarithms."""
    return np.concatenate([parameters[:2], np.exp(parameters[2:])])
