"""One axis of a vehicle from what was commanded and what was measured: the numbers, and how certain they are.

The axis is taken for what :mod:`vds_gz.vehicle.actuators` simulates: gain, dead time, saturation, first-order lag and
rate limit, in this order; what is measured of it has an offset and noise. The numbers are those that leave the least
squares, which with Gaussian noise is as exact as the samples allow (Cramer and Rao's bound). Of the limits, those are
kept that explain enough to be believed (Bayesian information criterion). Samples may come at any times; the model is
followed from event to event in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter
from scipy.optimize import least_squares

Array = NDArray[np.float64]

#: What is found, in the order of the vectors below.
NAMES = ("dead_time", "time_constant", "gain", "offset", "rise", "fall", "value")
_DEAD_TIME, _TIME_CONSTANT, _GAIN, _OFFSET, _RISE, _FALL, _VALUE = range(7)

#: Behind them stands the value at the first sample, without the offset. Nobody asks for it, but a guess would bend the
#: others.
_START = 7

#: Half the width of a 95 % interval in standard deviations.
WIDTH = 1.96

#: A number is given if its interval is not wider to either side than this part of it; a time also if not wider than
#: this [s], gain and offset if not wider than this part of 1 and of the range.
CERTAIN, CERTAIN_TIME, CERTAIN_OFFSET = 0.25, 0.02, 0.05

#: Times are not known better than this: a simulator rounds them to steps of 1 ms, transport takes time [s].
TIME_RESOLUTION = 0.0006

#: A limit must explain so much more than an information criterion asks for.
LIMIT_PENALTY = 10.0

#: A limit of the value was met if it is less than this part of the greatest value asked for.
BELOW = 0.99

#: Residuals beyond so many standard deviations are left out.
OUTLIER = 6.0

#: The search begins with so many samples and commands, evenly chosen; so many of its best results are then fitted to
#: all of them.
FEW_SAMPLES, FEW_COMMANDS, FINALISTS = 400, 1000, 3

_NO_LIMIT = 1e9
_LEAST_TIME = 1e-6


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its 95 % interval; None where the recording does not tell it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class AxisFit:
    """What was found of an axis.

    Attributes:
        numbers: By the names of :data:`NAMES`; ``rise`` and ``fall`` limit the change away from and towards zero.
        reached: The greatest values that came up, for limits that were not met: rise, fall, value.
        residual: Standard deviation of what is left.
        left_out: Samples that fit nothing.
        time, commanded, measured, modelled: For pictures; commands as they stood at the times of the samples.
    """

    numbers: dict[str, Number | None]
    reached: tuple[float, float, float]
    residual: float
    left_out: int
    time: Array
    commanded: Array
    measured: Array
    modelled: Array


def fit_axis(
    command_time: Array,
    command: Array,
    time: Array,
    measured: Array,
    *,
    angle: bool = False,
) -> AxisFit:
    """Find the numbers of an axis.

    Args:
        command_time, command: When it was commanded what [s]; each holds until the next.
        time, measured: When what was measured [s].
        angle: One rate limit holds for both directions.
    """
    changes = _changes(command)
    every = _Record(command_time[changes], command[changes], time, measured, angle)
    record = every.part(~_wild(measured))
    if record.still:
        nothing: dict[str, Number | None] = dict.fromkeys(NAMES)
        return AxisFit(nothing, every.reached, 0.0, 0, time, every.held(), measured, np.full_like(measured, np.nan))
    best = min((record.fit(fit.free, fit.parameters) for fit in record.finalists()), key=lambda fit: fit.criterion)
    size = np.abs(best.residuals)
    outliers = size > OUTLIER * 1.4826 * np.median(size) + 1e-9
    if outliers.any() and outliers.mean() < 0.05:
        record = record.part(~outliers)
        best = record.fit(best.free, best.parameters)
    left_out = len(time) - len(record.time)
    return AxisFit(
        _numbers(record, best),
        every.reached,
        best.deviation,
        left_out,
        time,
        every.held(),
        measured,
        every.simulate(best.parameters),
    )


def _changes(command: Array) -> NDArray[np.bool_]:
    """Commands that differ from the one before."""
    return np.concatenate((np.ones(min(len(command), 1), bool), np.diff(command) != 0.0))


def _merged(command_time: Array, command: Array) -> tuple[Array, Array]:
    """Not many more than :data:`FEW_COMMANDS` commands, each the mean of some that follow each other."""
    count = math.ceil(len(command) / FEW_COMMANDS)
    first = np.arange(0, len(command), max(count, 1))
    held = np.append(np.diff(command_time), 1e-9)
    return command_time[first], np.add.reduceat(command * held, first) / np.add.reduceat(held, first)


def _wild(measured: Array) -> NDArray[np.bool_]:
    """Samples that stick out of their neighbours by far more than noise: no motion that goes on does."""
    if len(measured) < 20:
        return np.zeros(len(measured), bool)
    away = np.abs(measured - median_filter(measured, 5, mode="mirror"))
    return np.asarray(away > 2.0 * OUTLIER * noise(measured) + 0.05 * float(np.ptp(np.percentile(measured, (5, 95)))))


def follow(command_time: Any, command: Any, time: Any, p: Any, answer: Any) -> None:
    """Write what the axis does at every time into ``answer``.

    Args:
        command_time, command: As of :func:`fit_axis`.
        time: Times wanted [s].
        p: The numbers, in the order of :data:`NAMES`, and the value at the first of the times, without the offset.
        answer: As long as ``time``.
    """
    dead_time, time_constant, gain, offset, rise, fall, limit = p[0], p[1], p[2], p[3], p[4], p[5], p[6]
    start = p[7]
    y = start
    now = time[0]
    j = -1
    while j + 1 < len(command_time) and command_time[j + 1] + dead_time <= now:
        j += 1
    u = command[j] * gain if j >= 0 else start
    for k in range(len(time)):
        end = time[k]
        while now < end:
            until = end
            changes = j + 1 < len(command_time) and command_time[j + 1] + dead_time <= end
            if changes:
                until = max(command_time[j + 1] + dead_time, now)
            y = moved(y, min(max(u, -limit), limit), until - now, time_constant, rise, fall)
            now = until
            if changes:
                j += 1
                u = command[j] * gain
        answer[k] = y + offset


def moved(y: float, target: float, duration: float, time_constant: float, rise: float, fall: float) -> float:
    """Where an axis is after a while with one target, from ``y`` on; at zero the limit of the rate changes."""
    if y * (target - y) >= 0.0:
        return approached(y, target, duration, time_constant, rise)
    new = approached(y, target, duration, time_constant, fall)
    if new * y >= 0.0:
        return new
    left = duration * new / (new - y)
    return approached(0.0, target, left, time_constant, rise)


def approached(y: float, target: float, duration: float, time_constant: float, rate: float) -> float:
    """The same with one limit: evenly while the distance is great, then ever slower."""
    distance = abs(target - y)
    limited = min(max(distance / rate - time_constant, 0.0), duration)
    left = (distance - rate * limited) * math.exp((limited - duration) / time_constant)
    return target - left if target > y else target + left


@cache
def _fast_follow() -> Any:
    """:func:`follow`, compiled where numba is."""
    try:
        from vds_gz.vehicle.compiled import compiled
    except ModuleNotFoundError:
        return _follow_plainly
    return compiled(follow)


def _follow_plainly(command_time: Array, command: Array, time: Array, p: Array, answer: Array) -> None:
    """:func:`follow` on lists: Python reads and reckons them several times faster than elements of arrays."""
    plain = answer.tolist()
    follow(command_time.tolist(), command.tolist(), time.tolist(), p.tolist(), plain)
    answer[:] = plain


@dataclass(frozen=True, slots=True)
class _Fit:
    parameters: Array
    free: tuple[int, ...]
    residuals: Array
    jacobian: Array
    deviation: float
    criterion: float


class _Record:
    """The samples of an axis, and the search in them."""

    def __init__(self, command_time: Array, command: Array, time: Array, measured: Array, angle: bool) -> None:
        self.command_time, self.command = command_time, command
        self.time, self.measured, self.angle = time, measured, angle
        self.reached = reached(time, measured, angle)
        self.range = float(np.ptp(np.percentile(measured, (1.0, 99.0)))) if len(time) else 0.0
        level = noise(measured)
        self.still = len(time) < 20 or len(command) < 2 or np.ptp(command) < 1e-9 or self.range < 5.0 * level + 1e-9
        self.start = float(np.median(measured[:3])) if len(time) else 0.0

    def part(self, which: NDArray[np.bool_]) -> _Record:
        """The same with some of the samples."""
        return _Record(self.command_time, self.command, self.time[which], self.measured[which], self.angle)

    def held(self) -> Array:
        """The commands as they stood at the times of the samples."""
        if not len(self.command):
            return np.full_like(self.time, np.nan)
        return self.command[np.clip(np.searchsorted(self.command_time, self.time, side="right") - 1, 0, None)]

    def simulate(self, parameters: Array) -> Array:
        """What the axis would have done."""
        p = parameters.copy()
        p[_TIME_CONSTANT] = max(p[_TIME_CONSTANT], _LEAST_TIME)
        p[_FALL] = p[_RISE] if self.angle else p[_FALL]
        answer = np.empty_like(self.time)
        _fast_follow()(self.command_time, self.command, self.time, p, answer)
        return answer

    def finalists(self) -> list[_Fit]:
        """With some of the samples, a fit with every set of limits that may have been met; the best of them."""
        thinned = np.zeros(len(self.time), bool)
        thinned[:: max(1, len(self.time) // FEW_SAMPLES)] = True
        few = self.part(thinned)
        few.reached = self.reached
        few.command_time, few.command = _merged(self.command_time, self.command)
        fits = (few.fit(free, start) for free, start in few.beginnings())
        return sorted(fits, key=lambda fit: fit.criterion)[:FINALISTS]

    def beginnings(self) -> Iterator[tuple[tuple[int, ...], Array]]:
        """Every set of limits that may have been met: what is free then, and where to begin."""
        possible = (_RISE, _VALUE) if self.angle else (_RISE, _FALL, _VALUE)
        unlimited = np.array([0.0, 0.0, 1.0, 0.0, _NO_LIMIT, _NO_LIMIT, _NO_LIMIT, self.start])
        limited = unlimited.copy()
        limited[_RISE:_START] = np.maximum(self.reached, 1e-6)
        slow, quick = self._best(self._times(limited)), self._best(self._times(unlimited))
        for met in chain.from_iterable(combinations(possible, count) for count in range(len(possible) + 1)):
            p = unlimited.copy()
            p[list(met)] = limited[list(met)]
            trials = []
            for times in (slow, quick):
                p[:2] = times[:2]
                trials.append(self._best(_scaled(p, met)))
            yield (_DEAD_TIME, _TIME_CONSTANT, _GAIN, _OFFSET, *met, _START), self._best(trials)

    def _times(self, p: Array) -> Iterator[Array]:
        """The same with every dead time and time constant of a grid."""
        longest = min(1.0, 0.2 * float(self.time[-1] - self.time[0]))
        for dead_time in np.linspace(0.0, longest, 26):
            for time_constant in (0.01, 0.05, 0.12, 0.25, 0.5, 1.0):
                yield np.concatenate(([dead_time, time_constant], p[2:]))

    def _best(self, trials: Iterable[Array]) -> Array:
        """The one that leaves the least."""
        return min(trials, key=lambda p: float(np.sum((self.simulate(p) - self.measured) ** 2)))

    def fit(self, free: tuple[int, ...], start: Array) -> _Fit:
        """The least squares from a start, with some numbers free."""
        places = list(free)

        def residuals(values: Array) -> Array:
            p = start.copy()
            p[places] = values
            return self.simulate(p) - self.measured

        lowest = np.array([0.0, 0.0, -math.inf, -math.inf, 1e-9, 1e-9, 1e-9, -math.inf])[places]
        limits = (0.2 * max(r, 1e-6) for r in self.reached)
        scale = np.array([0.05, 0.05, 0.2, 0.1 * self.range, *limits, 0.1 * self.range])[places]
        begin = np.maximum(start[places], lowest + 1e-6)
        found = least_squares(
            residuals, begin, bounds=(lowest, np.inf), x_scale=scale, diff_step=1e-4, max_nfev=40, xtol=1e-7
        )
        p = start.copy()
        p[places] = found.x
        jacobian = _jacobian(residuals, found.x, 0.02 * scale, lowest)
        count = len(self.time)
        squares = float(found.fun @ found.fun)
        criterion = count * math.log(max(squares / count, 1e-18)) + len(places) * (math.log(count) + LIMIT_PENALTY)
        deviation = math.sqrt(squares / max(count - len(places), 1))
        return _Fit(p, free, found.fun, jacobian, deviation, criterion)


def _jacobian(residuals: Any, at: Array, steps: Array, lowest: Array) -> Array:
    """Derivatives by differences to both sides."""
    columns = []
    for i, step in enumerate(steps):
        up, down = at.copy(), at.copy()
        up[i] += step
        down[i] = max(at[i] - step, lowest[i])
        columns.append((residuals(up) - residuals(down)) / (up[i] - down[i]))
    return np.column_stack(columns)


def _scaled(p: Array, places: Sequence[int]) -> Iterator[Array]:
    """The same, and with one of some numbers greater or smaller."""
    yield p.copy()
    for place in places:
        for factor in (0.8, 0.9, 0.95, 1.05, 1.12, 1.25, 1.5):
            scaled = p.copy()
            scaled[place] *= factor
            yield scaled


def _numbers(record: _Record, fit: _Fit) -> dict[str, Number | None]:
    """The numbers that the record tells, with their intervals."""
    found: dict[str, Number | None] = dict.fromkeys(NAMES)
    square = fit.jacobian.T @ fit.jacobian
    size = np.sqrt(np.maximum(np.diag(square), 1e-300))
    inverse = np.linalg.pinv(square / np.outer(size, size), rcond=1e-9)
    noisy = clinging(fit.residuals) * max(fit.deviation, 1e-4 * record.range)
    deviations = noisy * np.sqrt(_positive(np.diag(inverse))) / size
    for place, deviation, seen in zip(fit.free, deviations, np.diag(square) > 0.0, strict=True):
        if place == _START:
            continue
        value = float(fit.parameters[place])
        half = WIDTH * math.hypot(deviation, TIME_RESOLUTION if place <= _TIME_CONSTANT else 0.0)
        allowed = CERTAIN * abs(value)
        if place <= _TIME_CONSTANT:
            allowed = max(allowed, CERTAIN_TIME)
        elif place == _OFFSET:
            allowed = max(allowed, CERTAIN_OFFSET * record.range)
        elif place == _VALUE and value > BELOW * abs(fit.parameters[_GAIN]) * float(np.max(np.abs(record.command))):
            continue  # nothing was asked for that this limit kept from happening
        if seen and half <= allowed:
            lowest = 0.0 if place not in (_GAIN, _OFFSET) else -math.inf
            found[NAMES[place]] = Number(value, max(value - half, lowest), value + half)
    if record.angle:
        found["fall"] = found["rise"]
    return found


def _positive(variances: Array) -> Array:
    """Variances; infinite where rounding has left none."""
    return np.where(variances > 0.0, variances, math.inf)


def clinging(residuals: Array) -> float:
    """How much less the samples tell than as many independent ones: a factor for standard deviations."""
    power = float(residuals @ residuals)
    if power <= 0.0:
        return 1.0
    correlation = min(max(float(residuals[1:] @ residuals[:-1]) / power, 0.0), 0.98)
    return math.sqrt((1.0 + correlation) / (1.0 - correlation))


def noise(measured: Array) -> float:
    """Standard deviation of noise, from second differences, which a slow signal hardly has."""
    if len(measured) < 5:
        return 0.0
    return float(1.4826 * np.median(np.abs(np.diff(measured, 2))) / math.sqrt(6.0))


def reached(time: Array, measured: Array, angle: bool) -> tuple[float, float, float]:
    """Greatest rates away from and towards zero, and greatest value, without the noise.

    Args:
        time, measured: Samples; times in s.
        angle: One rate holds for both directions.
    """
    if len(time) < 20:
        return 0.0, 0.0, 0.0
    smooth = np.convolve(measured, np.full(5, 0.2), mode="valid")
    rates = (smooth[4:] - smooth[:-4]) / np.maximum(time[6:-2] - time[2:-6], 1e-9)
    value = smooth[2:-2]
    rise, fall = (
        float(np.percentile(np.abs(rates[side]), 98.0)) if side.sum() > 5 else 0.0
        for side in (rates * value >= 0.0, rates * value < 0.0)
    )
    if angle:
        rise = fall = max(rise, fall)
    return rise, fall, float(np.percentile(np.abs(smooth), 97.0))
