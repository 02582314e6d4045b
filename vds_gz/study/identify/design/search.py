"""The search for the most informative commands within given limits.

The criterion is the largest relative interval of a parameter (standardized maximum variance: H. Dette, Designing
experiments with respect to 'standardized' optimality criteria, J. R. Statist. Soc. B 59, 1997), smoothed by a norm of
high order. Its logarithm is averaged over candidate vehicles (K. Chaloner and I. Verdinelli, Bayesian experimental
design: a review, Statist. Sci. 10, 1995).

The information of successive windows nearly adds up. The search draws many windows, selects the best set by exchange
(V. V. Fedorov, Theory of Optimal Experiments, 1972), varies them, and finally refines the whole log.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from vds_gz.study.identify.estimates import CERTAIN, Array
from vds_gz.study.progress import Advance

#: Shortest and longest time that a level is held [s].
HOLD = 0.06, 2.5

#: Smallest and largest change of level, as a part of the maximum.
JUMP = 0.02, 2.0

#: Order of the norm over the parameters of a vehicle.
ORDER = 8

#: Number of windows of a log, and the shortest and longest window [s].
WINDOWS, SHORTEST, LONGEST = 12, 2.0, 6.0

#: A window is simulated behind a part of itself of this length, as a part of its own, which does not count.
LEAD = 0.5

#: Number of windows drawn first, rounds of exchange and windows drawn in each, and changes of the whole log.
FIRST, ROUNDS, OTHERS, REFINEMENTS = 400, 6, 200, 400

#: Windows are simulated one behind the other, up to this duration at once [s].
TOGETHER = 300.0

Random: TypeAlias = np.random.Generator


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
    jump = math.exp(random.uniform(*np.log(JUMP)))
    offsets = random.uniform(-1.0, 1.0, count) if count > 2 else random.choice([-1.0, 1.0]) * np.arange(count)
    holds = math.exp(random.uniform(*np.log(HOLD))) * np.exp(random.normal(0.0, 0.4, count))
    return Cycle(np.clip(base + jump * offsets, -1.0, 1.0), np.clip(holds, *HOLD))


def varied_cycle(random: Random, cycle: Cycle) -> Cycle:
    """A similar cycle; sometimes a new random one."""
    kind = random.random()
    if kind < 0.15:
        return random_cycle(random)
    levels, holds = cycle.levels, cycle.holds
    if kind < 0.5:
        levels = levels.mean() + (levels - levels.mean()) * math.exp(random.normal(0.0, 0.3))
    elif kind < 0.7:
        levels = levels + random.normal(0.0, 0.2)
    else:
        levels = levels + random.normal(0.0, 0.1, len(levels))
    if random.random() < 0.8:
        holds = holds * np.exp(random.normal(0.0, 0.3, len(holds) if random.random() < 0.25 else 1))
    return Cycle(np.clip(levels, -1.0, 1.0), np.clip(holds, *HOLD))


def varied_window(random: Random, window: Window, other: Window) -> Window:
    """A similar window, sometimes with the cycle of one quantity taken from another window."""
    changed = int(random.integers(len(window)))
    mixed = list(window)
    if random.random() < 0.2:
        mixed[changed] = other[changed]
    return tuple(
        varied_cycle(random, cycle) if k == changed or random.random() < 0.3 else cycle for k, cycle in enumerate(mixed)
    )


@dataclass(frozen=True)
class Search:
    """A search for the most informative commands.

    Attributes:
        information: Fisher information, of shape (windows, vehicles, unknowns, unknowns), of levels of shape (commands,
            quantities), a number of windows of equal length, and how many commands of each window do not count.
        intervals: Relative intervals of the parameters, of shape (..., vehicles, parameters), from the information.
        quantities: Number of commanded quantities.
        rate: Commands per second [Hz].
        count: Number of commands of the log.
        slew: Of each quantity the largest change from one command to the next, as a part of the maximum.
        random: Source of randomness.
        advance: Receives the fraction of the work done since its last call.
    """

    information: Callable[[Array, int, int], Array]
    intervals: Callable[[Array], Array]
    quantities: int
    rate: float
    count: int
    slew: Array
    random: Random
    advance: Advance

    @property
    def windows(self) -> int:
        """Number of windows of the log."""
        duration = self.count / self.rate
        return max(1, round(duration / min(max(duration / WINDOWS, SHORTEST), LONGEST, duration)))

    @property
    def length(self) -> int:
        """Number of commands of a window."""
        return -(-self.count // self.windows)

    @property
    def refinements(self) -> int:
        """Number of changes of the whole log. A long log takes the same time as one of a minute."""
        return max(20, round(REFINEMENTS * min(1.0, 60.0 * self.rate / self.count)))

    def best(self) -> Array:
        """The levels of the best log, of shape (commands, quantities)."""
        windows, determined = self._selected()
        best = math.inf
        for k in range(self.refinements + 1):
            varied = self._varied(windows) if k else windows
            information = self.information(self._log(varied), 1, 0)[0]
            self._count_work(self.count)
            if (loss := float(self._loss(information, determined))) < best:
                windows, best = varied, loss
        return self._log(windows)

    def _selected(self) -> tuple[list[Window], Array]:
        """The most informative set of windows, and which parameters of each vehicle they determine."""
        random = self.random
        chosen: list[Window] = []
        for number in (FIRST, *[OTHERS] * ROUNDS):
            if not chosen:
                pool = [tuple(random_cycle(random) for _ in range(self.quantities)) for _ in range(number)]
                information = self._of_windows(pool)
                determined = self.intervals(information.mean(axis=0) * self.windows) < CERTAIN
                total, indices = np.zeros(information.shape[1:]), [-1] * self.windows
            else:
                pairs = random.integers(len(chosen), size=(number, 2)).tolist()
                new = [varied_window(random, chosen[k], chosen[other]) for k, other in pairs]
                pool, indices = chosen + new, list(range(len(chosen)))
                information = np.concatenate([information, self._of_windows(new)])
            for k, present in enumerate(indices):
                rest = total - information[present] if present >= 0 else total
                indices[k] = int(np.argmin(self._loss(rest + information, determined)))
                total = rest + information[indices[k]]
            chosen, information = [pool[k] for k in indices], information[indices]
        return chosen, determined

    def _of_windows(self, windows: Sequence[Window]) -> Array:
        """The information of each window alone."""
        lead = int(LEAD * self.length)
        length = lead + self.length
        at_once = max(1, int(TOGETHER * self.rate / length))
        parts = []
        for first in range(0, len(windows), at_once):
            some = windows[first : first + at_once]
            parts.append(self.information(self._levels(some, length), len(some), lead))
            self._count_work(len(some) * length)
        return np.concatenate(parts)

    def _loss(self, information: Array, determined: Array) -> Array:
        """Mean logarithm of the norm of the intervals, over all axes but the last three."""
        intervals = np.where(determined, self.intervals(information), 0.0)
        norms = np.sum(intervals**ORDER, axis=-1) + np.finfo(float).tiny
        loss: Array = np.log(norms).mean(axis=-1) / ORDER
        return loss

    def _log(self, windows: Sequence[Window]) -> Array:
        """The levels of a log that ends near enough to 0 for 0 to follow."""
        levels = self._levels(windows, self.length)[: self.count]
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

    def _varied(self, windows: Sequence[Window]) -> list[Window]:
        """The log with two windows swapped, or with one window varied."""
        random, varied = self.random, list(windows)
        k, other = (int(n) for n in random.integers(len(windows), size=2))
        if random.random() < 0.2:
            varied[k], varied[other] = varied[other], varied[k]
        else:
            varied[k] = varied_window(random, varied[k], varied[other])
        return varied

    def _count_work(self, commands: int) -> None:
        """Report that so many commands were simulated."""
        window = int(LEAD * self.length) + self.length
        self.advance(commands / ((FIRST + ROUNDS * OTHERS) * window + (1 + self.refinements) * self.count))
