"""One axis of a vehicle from what was commanded and what was measured: the numbers, and how certain they are.

The axis is that of :mod:`vds_gz.study.identify.axis_model`, measured with noise. The numbers are those that leave the
least squares, which with Gaussian noise is as exact as the samples allow (Cramer and Rao's bound). Of the limits, those
are kept that explain enough to be believed (Bayesian information criterion). Samples may come at any times.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter
from scipy.optimize import least_squares

from vds_gz.study.identify.axis_model import AxisParameters, simulate
from vds_gz.study.identify.estimates import (
    CERTAIN,
    CERTAIN_TIME,
    TIME_RESOLUTION,
    WIDTH,
    Estimate,
    central_differences,
    correlation_factor,
    noise,
    standard_deviations,
)

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: What is found.
NAMES = ("dead_time", "time_constant", "gain", "offset", "rise", "fall", "value")
TIMES, LIMITS = NAMES[:2], NAMES[4:]

#: Gain and offset are given if their intervals are not wider to either side than this part of 1 and of the range.
CERTAIN_OFFSET = 0.05

#: Nothing is measured more exactly than this part of the range.
EXACT = 1e-4

#: A limit must explain so much more than an information criterion asks for, and where there is no noise, a root mean
#: square of this part of the range: steps of 1 ms leave less.
LIMIT_PENALTY, RESOLUTION = 10.0, 1e-3

#: A limit of the value was met if it is less than this part of the maximum commanded.
BELOW = 0.99

#: Residuals beyond so many standard deviations are left out.
OUTLIER = 6.0

#: The search begins with so many samples and commands, evenly chosen; so many of its best results are then fitted to
#: all of them.
FEW_SAMPLES, FEW_COMMANDS, CANDIDATES = 400, 1000, 3

#: The first guess is looked for among so many dead times up to this one [s], or longer ones if that fits best, and
#: among these time constants [s].
DEAD_TIMES, LONGEST_DEAD_TIME = 26, 1.0
TIME_CONSTANTS = (0.01, 0.05, 0.12, 0.25, 0.5, 1.0)

_LOWEST = {"dead_time": 0.0, "time_constant": 0.0, "rise": 1e-9, "fall": 1e-9, "value": 1e-9}


class Reached(NamedTuple):
    """Maximum rates away from zero and towards it, and maximum value, without the noise."""

    rise: float
    fall: float
    value: float


@dataclass(frozen=True, slots=True)
class AxisFit:
    """What was found of an axis.

    Attributes:
        numbers: By the names of :data:`NAMES`; ``rise`` and ``fall`` limit the change away from and towards zero.
        reached: What came up, for limits that were not met.
        residual: Standard deviation of what is left.
        left_out: Samples that fit nothing.
        time, commanded, measured, modelled: For pictures; commands as they stood at the times of the samples.
    """

    numbers: dict[str, Estimate | None]
    reached: Reached
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
    known: Mapping[str, float] | None = None,
) -> AxisFit:
    """Find the numbers of an axis.

    Args:
        command_time, command: When it was commanded what [s]; each holds until the next.
        time, measured: When what was measured [s].
        angle: One rate limit holds for both directions.
        known: Numbers that need not be found.
    """
    changes = _changes(command)
    every = _Samples(command_time[changes], command[changes], time, measured, angle, AxisParameters(**(known or {})))
    samples = every.part(~_outliers(measured))
    if samples.still:
        nothing: dict[str, Estimate | None] = dict.fromkeys(NAMES)
        return AxisFit(nothing, every.reached, 0.0, 0, time, every.held(), measured, np.full_like(measured, np.nan))
    free = [name for name in AxisParameters._fields if name not in (known or {})]
    fits = (samples.fit(fit.free, fit.parameters) for fit in samples.candidates(free))
    best = min(fits, key=lambda fit: fit.criterion)
    size = np.abs(best.residuals)
    outliers = size > OUTLIER * 1.4826 * np.median(size) + 1e-9
    if outliers.any() and outliers.mean() < 0.05:
        samples = samples.part(~outliers)
        best = samples.fit(best.free, best.parameters)
    return AxisFit(
        _estimates(samples, best),
        every.reached,
        best.deviation,
        len(time) - len(samples.time),
        time,
        every.held(),
        measured,
        every.simulate(best.parameters),
    )


def reached(time: Array, measured: Array, *, angle: bool) -> Reached:
    """Maximum rates and maximum value, without the noise.

    Args:
        time, measured: Samples; times in s.
        angle: One rate holds for both directions.
    """
    if len(time) < 20:
        return Reached(0.0, 0.0, 0.0)
    smooth = np.convolve(measured, np.full(5, 0.2), mode="valid")
    rates = (smooth[4:] - smooth[:-4]) / np.maximum(time[6:-2] - time[2:-6], 1e-9)
    value = smooth[2:-2]
    rise, fall = (
        float(np.percentile(np.abs(rates[side]), 98.0)) if side.sum() > 5 else 0.0
        for side in (rates * value >= 0.0, rates * value < 0.0)
    )
    if angle:
        rise = fall = max(rise, fall)
    return Reached(rise, fall, float(np.percentile(np.abs(smooth), 97.0)))


def _changes(command: Array) -> Mask:
    """Commands that differ from the one before."""
    return np.concatenate((np.ones(min(len(command), 1), bool), np.diff(command) != 0.0))


def _merged(command_time: Array, command: Array) -> tuple[Array, Array]:
    """Not many more than :data:`FEW_COMMANDS` commands, each the mean of some that follow each other."""
    count = math.ceil(len(command) / FEW_COMMANDS)
    first = np.arange(0, len(command), max(count, 1))
    held = np.append(np.diff(command_time), 1e-9)
    return command_time[first], np.add.reduceat(command * held, first) / np.add.reduceat(held, first)


def _outliers(measured: Array) -> Mask:
    """Samples that stick out of their neighbours by far more than noise: no motion that goes on does."""
    if len(measured) < 20:
        return np.zeros(len(measured), bool)
    away = np.abs(measured - median_filter(measured, 5, mode="mirror"))
    return np.asarray(away > 2.0 * OUTLIER * noise(measured) + 0.05 * float(np.ptp(np.percentile(measured, (5, 95)))))


@dataclass(frozen=True, slots=True)
class _Fit:
    parameters: AxisParameters
    free: tuple[str, ...]
    residuals: Array
    jacobian: Array
    deviation: float
    criterion: float


class _Samples:
    """The samples of an axis, and the search in them."""

    def __init__(
        self, command_time: Array, command: Array, time: Array, measured: Array, angle: bool, known: AxisParameters
    ) -> None:
        self.command_time, self.command = command_time, command
        self.time, self.measured, self.angle, self.known = time, measured, angle, known
        self.reached = reached(time, measured, angle=angle)
        self.range = float(np.ptp(np.percentile(measured, (1.0, 99.0)))) if len(time) else 0.0
        level = noise(measured)
        self.still = len(time) < 20 or len(command) < 2 or np.ptp(command) < 1e-9 or self.range < 5.0 * level + 1e-9

    def part(self, which: Mask) -> _Samples:
        """The same with some of the samples."""
        return _Samples(self.command_time, self.command, self.time[which], self.measured[which], self.angle, self.known)

    def held(self) -> Array:
        """The commands as they stood at the times of the samples."""
        if not len(self.command):
            return np.full_like(self.time, np.nan)
        return self.command[np.clip(np.searchsorted(self.command_time, self.time, side="right") - 1, 0, None)]

    def simulate(self, parameters: AxisParameters) -> Array:
        """What would have been measured."""
        p = parameters._replace(fall=parameters.rise) if self.angle else parameters
        return simulate(self.command_time, self.command, self.time, p)

    def candidates(self, free: list[str]) -> list[_Fit]:
        """With some of the samples, a fit with every set of limits that may have been met; the best of them."""
        thinned = np.zeros(len(self.time), bool)
        thinned[:: max(1, len(self.time) // FEW_SAMPLES)] = True
        few = self.part(thinned)
        few.reached = self.reached
        few.command_time, few.command = _merged(self.command_time, self.command)
        fits = (few.fit(*guess) for guess in few.initial_guesses(free))
        return sorted(fits, key=lambda fit: fit.criterion)[:CANDIDATES]

    def initial_guesses(self, names: list[str]) -> Iterator[tuple[tuple[str, ...], AxisParameters]]:
        """Every set of limits that may have been met: what is free then, and where to begin."""
        possible = [name for name in LIMITS if name in names and not (self.angle and name == "fall")]
        unlimited = self.known._replace(start=float(np.median(self.measured[:3])) - self.known.offset)
        limits = {name: max(getattr(self.reached, name), 1e-6) for name in possible}
        slow, quick = self._best_times(unlimited._replace(**limits)), self._best_times(unlimited)
        for met in chain.from_iterable(combinations(possible, count) for count in range(len(possible) + 1)):
            limited = unlimited._replace(**{name: limits[name] for name in met})
            times = ({name: getattr(one, name) for name in TIMES} for one in (slow, quick))
            trials = [self._best(_scaled(limited._replace(**one), met)) for one in times]
            yield tuple(name for name in names if name not in LIMITS or name in met), self._best(trials)

    def _best_times(self, p: AxisParameters) -> AxisParameters:
        """The same with the best dead time and time constant of a grid."""
        span = float(self.time[-1] - self.time[0])
        longest = min(LONGEST_DEAD_TIME, 0.2 * span)
        while True:
            best = self._best(
                p._replace(dead_time=float(dead_time), time_constant=time_constant)
                for dead_time in np.linspace(0.0, longest, DEAD_TIMES)
                for time_constant in TIME_CONSTANTS
            )
            if best.dead_time < 0.9 * longest or longest >= 0.4 * span:
                return best
            longest = min(4.0 * longest, 0.4 * span)

    def _best(self, trials: Iterable[AxisParameters]) -> AxisParameters:
        """The one that leaves the least."""
        return min(trials, key=lambda p: float(np.sum((self.simulate(p) - self.measured) ** 2)))

    def fit(self, free: tuple[str, ...], start: AxisParameters) -> _Fit:
        """The least squares from a start, with some numbers free."""

        def at(values: Array) -> AxisParameters:
            return start._replace(**dict(zip(free, values.tolist(), strict=True)))

        def residuals(values: Array) -> Array:
            return self.simulate(at(values)) - self.measured

        lowest = np.array([_LOWEST.get(name, -math.inf) for name in free])
        scales = dict.fromkeys(TIMES, 0.05) | {"gain": 0.2} | dict.fromkeys(("offset", "start"), 0.1 * self.range)
        scales |= {name: 0.2 * max(value, 1e-6) for name, value in self.reached._asdict().items()}
        scale = np.array([scales[name] for name in free])
        begin = np.maximum([getattr(start, name) for name in free], lowest + 1e-6)
        found = least_squares(
            residuals, begin, bounds=(lowest, np.inf), x_scale=scale, diff_step=1e-4, max_nfev=40, xtol=1e-7
        )
        steps = 0.02 * scale
        jacobian = central_differences(residuals, found.x, steps, lowest)
        blind = np.linalg.norm(jacobian, axis=0) * steps < EXACT * self.range
        if blind.any():  # a jump between two samples may be anywhere between them
            steps[blind] = np.maximum(steps, float(np.median(np.diff(self.time))))[blind]
            jacobian = central_differences(residuals, found.x, steps, lowest)
        count = len(self.time)
        squares = float(found.fun @ found.fun)
        penalty = math.log(count) + LIMIT_PENALTY
        unexplained = squares + (RESOLUTION * self.range * count) ** 2 / penalty
        criterion = count * math.log(max(unexplained, 1e-18)) + len(free) * penalty
        deviation = math.sqrt(squares / max(count - len(free), 1))
        return _Fit(at(found.x), free, found.fun, jacobian, deviation, criterion)


def _scaled(p: AxisParameters, names: Iterable[str]) -> Iterator[AxisParameters]:
    """The same, and with one of some numbers greater or smaller."""
    yield p
    for name in names:
        for factor in (0.8, 0.9, 0.95, 1.05, 1.12, 1.25, 1.5):
            yield p._replace(**{name: factor * getattr(p, name)})


def _estimates(samples: _Samples, fit: _Fit) -> dict[str, Estimate | None]:
    """The numbers that the samples tell, with their intervals."""
    found: dict[str, Estimate | None] = dict.fromkeys(NAMES)
    noisy = correlation_factor(fit.residuals) * max(fit.deviation, EXACT * samples.range)
    maximum = abs(fit.parameters.gain) * float(np.max(np.abs(samples.command)))
    for name, deviation in zip(fit.free, standard_deviations(fit.jacobian, noisy), strict=True):
        value = float(getattr(fit.parameters, name))
        half = WIDTH * math.hypot(deviation, TIME_RESOLUTION if name in TIMES else 0.0)
        allowed = CERTAIN * abs(value)
        if name in TIMES:
            allowed = max(allowed, CERTAIN_TIME)
        elif name == "offset":
            allowed = max(allowed, CERTAIN_OFFSET * samples.range)
        nothing_above = name == "value" and value > BELOW * maximum  # so this limit kept nothing from happening
        if name in NAMES and half <= allowed and not nothing_above:
            found[name] = Estimate(value, max(value - half, _LOWEST.get(name, -math.inf)), value + half)
    if samples.angle:
        found["fall"] = found["rise"]
    return found
