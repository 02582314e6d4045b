"""The search for the most informative commands within given limits.

The criterion is the largest relative interval of a parameter (standardized maximum variance: H. Dette, Designing
experiments with respect to 'standardized' optimality criteria, J. R. Statist. Soc. B 59, 1997), smoothed by a norm of
high order. Its logarithm is averaged over candidate vehicles (K. Chaloner and I. Verdinelli, Bayesian experimental
design: a review, Statist. Sci. 10, 1995).

The information of successive windows nearly adds up. The search draws random windows, selects those that are most
informative together by exchange (V. V. Fedorov, Theory of Optimal Experiments, 1972), and then refines the whole log.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vds_gz.study.identify.estimates import CERTAIN, Array
from vds_gz.study.progress import Advance

#: Shortest and longest time that a level is held [s], and smallest and largest jump, as a part of the maximum.
HOLD, JUMP = (0.06, 2.5), (0.02, 2.0)

#: Order of the norm over the parameters of a vehicle.
ORDER = 8

#: Number of windows of a log, and the shortest and longest window [s].
WINDOWS, SHORTEST_WINDOW, LONGEST_WINDOW = 12, 2.0, 6.0

#: A window is simulated behind a part of itself, as a part of its length, which does not count.
LEAD = 0.5

#: Number of windows that are drawn, how often each of those of a log is chosen, and number of changes of the whole log.
DRAWN, EXCHANGES, REFINEMENTS = 1000, 3, 400

#: Windows are simulated one behind the other, up to this duration at once [s].
TOGETHER = 300.0

Random: TypeAlias = np.random.Generator
Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Cycle:
    """A periodic command of one quantity.

    Attributes:
        levels: Successive levels, as parts of the maximum within +-1.
        holds: How long each is held [s].
    """

    levels: Array
    holds: Array

    def course(self, times: Array) -> Array:
        """The level at some times from the beginning of the window on [s]."""
        ends = np.cumsum(self.holds)
        course: Array = self.levels[np.searchsorted(ends, times % ends[-1], side="right").clip(max=len(ends) - 1)]
        return course


#: One cycle for each commanded quantity.
Window: TypeAlias = tuple[Cycle, ...]


def random_cycle(random: Random) -> Cycle:
    """One to four levels. Small cycles show time constants, large ones limits, and quick ones dead times."""
    count = int(random.choice([1, 2, 2, 2, 3, 4]))
    base = random.uniform(-1.0, 1.0) if random.random() < 0.6 else float(random.choice([-1.0, 0.0, 1.0]))
    offsets = random.uniform(-1.0, 1.0, count) if count > 2 else random.choice([-1.0, 1.0]) * np.arange(count)
    jump, hold = (math.exp(random.uniform(*np.log(ends))) for ends in (JUMP, HOLD))
    holds = hold * np.exp(random.normal(0.0, 0.4, count))
    return Cycle(np.clip(base + jump * offsets, -1.0, 1.0), np.clip(holds, *HOLD))


def varied_cycle(random: Random, cycle: Cycle) -> Cycle:
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


def varied_window(random: Random, window: Window, other: Window) -> Window:
    """A similar window, sometimes with the cycle of one quantity taken from another window."""
    k = int(random.integers(len(window)))
    mixed = window if random.random() < 0.8 else (*window[:k], other[k], *window[k + 1 :])
    return tuple(varied_cycle(random, one) if j == k or random.random() < 0.3 else one for j, one in enumerate(mixed))


@dataclass(frozen=True)
class Search:
    """A search for the most informative commands.

    Attributes:
        information: Fisher information, (windows, vehicles, unknowns, unknowns), from levels, (commands, quantities),
            the number of windows of equal length, and how many commands at the beginning of each do not count.
        intervals: Relative intervals of the parameters, (..., vehicles, parameters), from the information.
        slew: Of each quantity the largest change from one command to the next, as a part of the maximum.
        rate: Commands per second [Hz].
        commands: Number of commands of the log.
        random: Source of randomness.
        advance: Receives the fraction of the work done since its last call.
    """

    information: Callable[[Array, int, int], Array]
    intervals: Callable[[Array], Array]
    slew: Array
    rate: float
    commands: int
    random: Random
    advance: Advance

    @property
    def windows(self) -> int:
        """Number of windows of the log."""
        duration = self.commands / self.rate
        return max(1, round(duration / min(max(duration / WINDOWS, SHORTEST_WINDOW), LONGEST_WINDOW, duration)))

    @property
    def length(self) -> int:
        """Number of commands of a window."""
        return -(-self.commands // self.windows)

    def best(self) -> Array:
        """The levels of the best log, (commands, quantities)."""
        random = self.random
        # A long log takes as much time as one of a minute.
        refinements = max(20, round(REFINEMENTS * min(1.0, 60.0 * self.rate / self.commands)))
        work = DRAWN * (int(LEAD * self.length) + self.length) + (1 + refinements) * self.commands
        windows, determined = self._selected(work)
        best, least = windows, math.inf
        for _ in range(1 + refinements):
            loss = float(self._loss(self.information(self._log(windows), 1, 0)[0], determined))
            self.advance(self.commands / work)
            if loss < least:
                best, least = windows, loss
            windows = list(best)
            k, other = random.integers(len(best), size=2).tolist()
            if random.random() < 0.2:
                windows[k], windows[other] = best[other], best[k]
            else:
                windows[k] = varied_window(random, best[k], best[other])
        return self._log(best)

    def _selected(self, work: int) -> tuple[list[Window], Mask]:
        """The windows that are most informative together, and which parameters of each vehicle they determine."""
        drawn = [tuple(random_cycle(self.random) for _ in self.slew) for _ in range(DRAWN)]
        lead = int(LEAD * self.length)
        length = lead + self.length
        at_once = max(1, int(TOGETHER * self.rate / length))
        parts = []
        for first in range(0, DRAWN, at_once):
            some = drawn[first : first + at_once]
            parts.append(self.information(self._levels(some, length), len(some), lead))
            self.advance(len(some) * length / work)
        information = np.concatenate(parts)
        determined = self.intervals(information.mean(axis=0) * self.windows) < CERTAIN
        chosen: list[int] = []
        total = np.zeros(information.shape[1:])
        for k in range(EXCHANGES * self.windows):
            if k >= self.windows:
                total = total - information[chosen.pop(0)]
            chosen.append(int(np.argmin(self._loss(total + information, determined))))
            total = total + information[chosen[-1]]
        return [drawn[k] for k in chosen], determined

    def _loss(self, information: Array, determined: Mask) -> Array:
        """Mean logarithm of the norm of the intervals, over all axes but the last three."""
        intervals = np.where(determined, self.intervals(information), 0.0)
        norms = np.sum(intervals**ORDER, axis=-1) + np.finfo(float).tiny
        loss: Array = np.log(norms).mean(axis=-1) / ORDER
        return loss

    def _log(self, windows: Sequence[Window]) -> Array:
        """The levels of a log that ends near enough to 0 for 0 to follow."""
        levels = self._levels(windows, self.length)[: self.commands]
        largest = self.slew * np.arange(len(levels), 0, -1)[:, np.newaxis]
        return np.clip(levels, -largest, largest)

    def _levels(self, windows: Sequence[Window], length: int) -> Array:
        """The levels of windows of some number of commands each, changing no faster than allowed."""
        times = np.arange(length) / self.rate
        levels = np.concatenate([np.stack([cycle.course(times) for cycle in window], axis=1) for window in windows])
        for k in np.flatnonzero(self.slew < 2.0):
            level, course, largest = 0.0, [], float(self.slew[k])
            for wanted in levels[:, k].tolist():
                level += min(max(wanted - level, -largest), largest)
                course.append(level)
            levels[:, k] = course
        return levels
