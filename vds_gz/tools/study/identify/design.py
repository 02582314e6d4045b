"""The most informative commands for a vehicle, and the confidence intervals to expect from them.

The criterion is the largest relative interval of a parameter (standardized maximum variance: H. Dette, Designing
experiments with respect to 'standardized' optimality criteria, J. R. Statist. Soc. B 59, 1997), smoothed by a norm of
high order. Its logarithm is averaged over candidate vehicles (K. Chaloner and I. Verdinelli, Bayesian experimental
design: a review, Statist. Sci. 10, 1995).

The information of successive windows nearly adds up. The search draws random windows, selects those that are most
informative together by exchange (V. V. Fedorov, Theory of Optimal Experiments, 1972), and then refines the whole log.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from vds_gz.core.arrays import Array, Flags
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import ACKERMANN, TWIST
from vds_gz.core.vehicle.schedule import command_records
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.programs.commandlog.profiles import Limits, log_of, make
from vds_gz.tools.study.identify.design_model import Forecast, candidates_of, commands_of, determined_terms, scale_of
from vds_gz.tools.study.identify.estimates import CERTAIN, WIDTH
from vds_gz.tools.study.identify.problem.observed import observed
from vds_gz.tools.study.identify.problem.problem_setup import FIELDS
from vds_gz.tools.study.progress import Advance, ignore

#: Number of candidate vehicles, including the prior vehicle.
VEHICLES = 4

#: Simulation steps per second during the search [Hz].
COARSE = 200.0

#: Default standard deviation of a sensor, as a part of full scale.
NOISE = 0.02

#: Shortest and longest log [s], and the least number of commands per second.
SHORTEST_LOG, LONGEST_LOG, LEAST_RATE = 5.0, 3600.0, 1.0

#: The vehicle stands still at first, as with the other profiles [s].
STILL = 0.5

#: Quantities that sensors may measure.
MEASURABLE = "v_x", "v_y", "yaw_rate", "steering"

#: Shortest and longest time that a level is held [s], and smallest and largest jump, as a part of the maximum.
HOLD, JUMP = (0.06, 2.5), (0.02, 2.0)

#: Order of the norm over the parameters of a vehicle.
ORDER = 8

#: Number of windows of a log, and the shortest and longest window [s].
WINDOWS, SHORTEST_WINDOW, LONGEST_WINDOW = 12, 2.0, 6.0

#: A window is simulated with a lead, which does not count, of this part of its length.
LEAD = 0.5

#: Number of windows that are drawn, how often each window of a log is chosen, and number of changes of the whole log.
DRAWN, EXCHANGES, REFINEMENTS = 1000, 3, 400

#: Windows are simulated one after another in one run, up to this duration [s].
TOGETHER = 300.0


@dataclass(frozen=True, slots=True)
class Expectation:
    """The 95 % interval to expect of one parameter of the prior vehicle.

    ``part`` is half the interval due to noise, as a part of ``scale``, or None if the log does not determine the
    parameter; ``part_of_steps`` is that of `profile steps` of the same length. ``resolution`` is half the interval
    without noise. ``value``, ``scale`` and ``resolution`` are in the parameter's unit.
    """

    name: str
    value: float
    scale: float
    resolution: float
    part: float | None
    part_of_steps: float | None

    def half(self, part: float | None) -> float | None:
        """Half the interval that `identify` gives, in the parameter's unit, from the relative part due to noise."""
        return None if part is None else math.hypot(part * self.scale, self.resolution)


@dataclass(frozen=True)
class Design:
    """A log, the intervals to expect from it, and the assumed standard deviations of the sensors by quantity."""

    log: CommandLog
    expectations: tuple[Expectation, ...]
    noise: Mapping[str, float]

    @property
    def largest(self) -> tuple[float, float]:
        """The largest ``part`` of this log and of `profile steps`, of what both determine; inf if that is nothing."""
        both = [(e.part, e.part_of_steps) for e in self.expectations if e.part and e.part_of_steps]
        of_log, of_steps = zip(*(both or [(math.inf, math.inf)]), strict=True)
        return max(of_log), max(of_steps)


def design(
    prior: NodeParameters,
    limits: Limits,
    *,
    ackermann: bool,
    duration: float = 60.0,
    rate: float = 50.0,
    seed: int = 0,
    noise: float | Mapping[str, float] = NOISE,
    intervals: Mapping[str, Interval] | None = None,
    acceleration: float = math.inf,
    advance: Advance = ignore,
) -> Design:
    """Find the most informative log of a duration [s] for a vehicle, with commands and samples at a rate [Hz].

    ``noise`` is a part of full scale for all sensors that the model has, or standard deviations by quantity, in its
    unit, for those that are named. Commanded speeds change by no more than ``acceleration`` [m/s^2], also to the
    standstill at the end.
    """
    if not SHORTEST_LOG <= duration <= LONGEST_LOG:
        raise ArgumentError(
            f"duration is {duration:g}; an optimal log must be {SHORTEST_LOG:g} to {LONGEST_LOG:g} s long"
        )
    if not LEAST_RATE <= rate < math.inf:
        raise ArgumentError(f"rate is {rate:g}; an optimal log must have at least {LEAST_RATE:g} command per second")
    if not acceleration > 0.0:
        raise ArgumentError(f"acceleration is {acceleration:g}; it must be greater than 0 [m/s^2]")
    maxima = {"v_x": limits.speed, "v_y": limits.lateral, "yaw_rate": limits.yaw_rate, "steering": limits.steering}
    commanded = ["v_x", "steering"] if ackermann else ["v_x", "yaw_rate"] + ["v_y"] * (limits.lateral > 0.0)
    terms = determined_terms(prior, commanded)
    points = candidates_of(terms, intervals or {}, VEHICLES, seed)
    steps = make("steps", limits, ackermann=ackermann, duration=duration, rate=rate, seed=seed)
    candidates = Forecast(prior, (*terms,), points, {}, rate, min(COARSE, prior.step_rate))
    candidates = replace(candidates, noise=_noise_of(candidates, noise, steps))
    still, random = round(STILL * rate), np.random.default_rng([seed, 2])
    count = round(duration * rate) - still
    tops = {name: maxima[name] for name in commanded}
    search = Search(candidates, tops, acceleration, ACKERMANN if ackermann else TWIST, count, random, advance)
    levels = search.best()
    drive, turn, side = np.pad(levels, ((still, 1), (0, 3 - len(commanded)))).T
    log = log_of(np.arange(len(drive)) / rate, drive, turn, side, limits, ackermann=ackermann)
    exact = replace(candidates, points=points[:1], step_rate=prior.step_rate)
    parts, of_steps = (
        exact.intervals(exact.information(*commands_of(commands))[0])[0].tolist() for commands in (log, steps)
    )
    expectations = tuple(
        Expectation(
            term.name,
            value,
            scale_of(term, value),
            WIDTH * (term.kind.resolution or 0.0),
            part if part < CERTAIN else None,
            part_of_steps if part_of_steps < CERTAIN else None,
        )
        for (term, value), part, part_of_steps in zip(terms.items(), parts, of_steps, strict=True)
    )
    return Design(log, expectations, candidates.noise)


def _noise_of(candidates: Forecast, noise: float | Mapping[str, float], steps: CommandLog) -> dict[str, float]:
    """The noise of each sensor, in its unit; full scale is the peak of `profile steps`."""
    prior = candidates.prior
    model = models()[prior.model]
    sensors = [name for name in MEASURABLE if observed(model, prior.vehicle, name) is not None]
    by_name = noise if isinstance(noise, Mapping) else {"every sensor": noise}
    if not by_name:
        raise ArgumentError(f"noise names no sensor; it must name some of {', '.join(sensors)}")
    for name, value in by_name.items():
        if by_name is noise and name not in sensors:
            raise ArgumentError(
                f"noise of '{name}': vehicle model '{model.name}' has no such sensor; it must be one of "
                f"{', '.join(sensors)}"
            )
        if not 0.0 < value < math.inf:
            raise ArgumentError(f"noise of {name} is {value:g}; it must be a finite number greater than 0")
    if isinstance(noise, Mapping):
        return dict(noise)
    plain = replace(candidates, points=candidates.points[:1], noise=dict.fromkeys(sensors, 1.0))
    peaks = np.abs(plain.predict(*commands_of(steps))[0].values.reshape(len(sensors), -1)).max(axis=1)
    if not peaks.any():
        raise ArgumentError(
            f"within the given limits no command moves the vehicle model '{model.name}'; they must be wider"
        )
    return {name: noise * peak for name, peak in zip(sensors, peaks.tolist(), strict=True) if peak > 0.0}


@dataclass(frozen=True)
class Cycle:
    """A periodic command of one quantity: levels as parts of the maximum, and how long each is held [s]."""

    levels: Array
    holds: Array

    def course(self, times: Array) -> Array:
        """The levels at times since the beginning of the window [s]."""
        ends = np.cumsum(self.holds)
        course: Array = self.levels[np.searchsorted(ends, times % ends[-1], side="right").clip(max=len(ends) - 1)]
        return course


#: One cycle for each commanded quantity.
Window: TypeAlias = tuple[Cycle, ...]


def random_cycle(random: np.random.Generator) -> Cycle:
    """A cycle of one to four levels. Small ones show time constants, large ones limits, and quick ones dead times."""
    count = int(random.choice([1, 2, 2, 2, 3, 4]))
    base = random.uniform(-1.0, 1.0) if random.random() < 0.6 else float(random.choice([-1.0, 0.0, 1.0]))
    offsets = random.uniform(-1.0, 1.0, count) if count > 2 else random.choice([-1.0, 1.0]) * np.arange(count)
    jump, hold = (math.exp(random.uniform(*np.log(ends))) for ends in (JUMP, HOLD))
    holds = hold * np.exp(random.normal(0.0, 0.4, count))
    return Cycle(np.clip(base + jump * offsets, -1.0, 1.0), np.clip(holds, *HOLD))


def varied_cycle(random: np.random.Generator, cycle: Cycle) -> Cycle:
    """A similar cycle; sometimes a new random one."""
    kind, count, mean = random.random(), len(cycle.levels), cycle.levels.mean()
    if kind < 0.15:
        return random_cycle(random)
    if kind < 0.5:
        levels = mean + (cycle.levels - mean) * math.exp(random.normal(0.0, 0.3))
    else:
        levels = cycle.levels + (random.normal(0.0, 0.2) if kind < 0.7 else random.normal(0.0, 0.1, count))
    holds = cycle.holds * np.exp(random.normal(0.0, 0.3, count if random.random() < 0.25 else 1))
    return Cycle(np.clip(levels, -1.0, 1.0), np.clip(holds, *HOLD))


def varied_window(random: np.random.Generator, window: Window, second: Window) -> Window:
    """A similar window, sometimes with the cycle of one quantity taken from another window."""
    k = int(random.integers(len(window)))
    mixed = window if random.random() < 0.8 else (*window[:k], second[k], *window[k + 1 :])
    return tuple(
        varied_cycle(random, cycle) if j == k or random.random() < 0.3 else cycle for j, cycle in enumerate(mixed)
    )


class Search:
    """A search for the most informative log of ``count`` commands, within maxima and an acceleration [m/s^2]."""

    def __init__(
        self,
        candidates: Forecast,
        tops: Mapping[str, float],
        acceleration: float,
        kind: int,
        count: int,
        random: np.random.Generator,
        advance: Advance,
    ) -> None:
        self.candidates, self.tops, self.kind, self.commands = candidates, tops, kind, count
        self.random, self.advance, self.rate = random, advance, candidates.rate
        # The largest change from one command to the next, as a part of the maximum.
        changes = {name: acceleration / (top * self.rate) for name, top in tops.items() if name in ("v_x", "v_y")}
        self.slew = np.array([changes.get(name, math.inf) for name in tops])
        duration = count / self.rate
        window = min(max(duration / WINDOWS, SHORTEST_WINDOW), LONGEST_WINDOW, duration)
        self.windows = max(1, round(duration / window))
        self.length = -(-count // self.windows)

    def best(self) -> Array:
        """The levels of the best log, (commands, quantities)."""
        # The search for a longer log takes about as much time as that for a log of a minute.
        refinements = max(20, round(REFINEMENTS * min(1.0, 60.0 * self.rate / self.commands)))
        work = DRAWN * (int(LEAD * self.length) + self.length) + (1 + refinements) * self.commands
        windows, determined = self._selected(work)
        best, least = windows, math.inf
        for _ in range(1 + refinements):
            loss = float(self._loss(self._information(self._log(windows), 1, 0)[0], determined))
            self.advance(self.commands / work)
            if loss < least:
                best, least = windows, loss
            windows = list(best)
            k, j = self.random.integers(len(best), size=2).tolist()
            if self.random.random() < 0.2:
                windows[k], windows[j] = best[j], best[k]
            else:
                windows[k] = varied_window(self.random, best[k], best[j])
        return self._log(best)

    def _selected(self, work: int) -> tuple[list[Window], Flags]:
        """The windows that are most informative together, and which parameters of each vehicle they determine."""
        drawn = [tuple(random_cycle(self.random) for _ in self.slew) for _ in range(DRAWN)]
        lead = int(LEAD * self.length)
        length = lead + self.length
        at_once = max(1, int(TOGETHER * self.rate / length))
        parts = []
        for first in range(0, DRAWN, at_once):
            some = drawn[first : first + at_once]
            parts.append(self._information(self._levels(some, length), len(some), lead))
            self.advance(len(some) * length / work)
        information = np.concatenate(parts)
        determined = self.candidates.intervals(information.mean(axis=0) * self.windows) < CERTAIN
        chosen: list[int] = []
        total = np.zeros(information.shape[1:])
        for k in range(EXCHANGES * self.windows):
            if k >= self.windows:
                total = total - information[chosen.pop(0)]
            chosen.append(int(np.argmin(self._loss(total + information, determined))))
            total = total + information[chosen[-1]]
        return [drawn[k] for k in chosen], determined

    def _information(self, levels: Array, windows: int, skipped: int) -> Array:
        """Fisher information of windows of levels, (commands, quantities), without the first commands of each."""
        changes = np.append(True, (np.diff(levels, axis=0) != 0.0).any(axis=1))
        tops = np.array(list(self.tops.values()))
        columns = dict(zip((FIELDS[name] for name in self.tops), (levels[changes] * tops).T, strict=True))
        records, times = command_records(kind=self.kind, **columns), np.flatnonzero(changes) / self.rate
        return self.candidates.information(records, times, len(levels) / self.rate, windows, skipped)

    def _loss(self, information: Array, determined: Flags) -> Array:
        """Mean logarithm of the norm of the intervals, over all axes but the last three."""
        intervals = np.where(determined, self.candidates.intervals(information), 0.0)
        norms = np.sum(intervals**ORDER, axis=-1) + np.finfo(float).tiny
        loss: Array = np.log(norms).mean(axis=-1) / ORDER
        return loss

    def _log(self, windows: Sequence[Window]) -> Array:
        """The levels of a log; at its end they approach 0 as far as the last command of 0 requires."""
        levels = self._levels(windows, self.length)[: self.commands]
        largest = self.slew * np.arange(len(levels), 0, -1)[:, np.newaxis]
        return np.clip(levels, -largest, largest)

    def _levels(self, windows: Sequence[Window], length: int) -> Array:
        """The levels of windows of ``length`` commands each, which change no faster than allowed."""
        times = np.arange(length) / self.rate
        levels = np.concatenate([np.stack([cycle.course(times) for cycle in window], axis=1) for window in windows])
        for k in np.flatnonzero(self.slew < 2.0):
            level, course, largest = 0.0, [], float(self.slew[k])
            for target in levels[:, k].tolist():
                level += min(max(target - level, -largest), largest)
                course.append(level)
            levels[:, k] = course
        return levels
