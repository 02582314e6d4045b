"""The search for the most informative log within given limits.

What counts is the worst known number: the criterion is the largest expected interval in parts of its number
(standardized maximum variance: H. Dette, Designing experiments with respect to 'standardized' optimality criteria,
J. R. Statist. Soc. B 59, 1997), made smooth by a norm of high order, in the mean of its logarithm over the vehicles
that it may be (K. Chaloner and I. Verdinelli, Bayesian experimental design: a review, Statist. Sci. 10, 1995).

Information of windows that follow each other adds up, nearly. So the best of very many windows are chosen by exchange
(V. V. Fedorov, Theory of Optimal Experiments, 1972), others like them are tried, and the whole log is refined last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vds_gz.study.identify.design.information import Commands, Experiment
from vds_gz.study.identify.design.windows import Random, Window, any_window, changed_window
from vds_gz.study.identify.estimates import CERTAIN, Array
from vds_gz.study.progress import Advance
from vds_gz.vehicle.command import CommandKind
from vds_gz.vehicle.schedule import command_records

#: Order of the norm over a vehicle's numbers.
ORDER = 8

#: A log has so many windows, as far as these are neither shorter nor longer than this [s].
WINDOWS, SHORTEST, LONGEST = 12, 2.0, 6.0

#: Each window is tried behind a part of itself so long, as a part of its length: what came before does not count.
LEAD = 0.5

#: Windows at first, and in each of so many rounds of others like those that were chosen; changes of the whole log.
FIRST, ROUNDS, OTHERS, REFINEMENTS = 400, 6, 200, 400

#: So many seconds are simulated at once.
TOGETHER = 300.0

#: Orders of the windows that are tried.
ORDERS = 6


@dataclass(frozen=True)
class Space:
    """What may be commanded.

    Attributes:
        kind: Of the commands.
        fields: What of a command changes.
        maxima: Of each, in its unit.
        rate: Commands per second [Hz].
        slew: Maximum change of each from one command to the next, in parts of the maximum.
    """

    kind: CommandKind
    fields: tuple[str, ...]
    maxima: Array
    rate: float
    slew: Array

    def levels(self, windows: Sequence[Window], length: int) -> Array:
        """What is commanded when each window holds for so many commands, in parts of the maxima; (commands, fields)."""
        times = np.arange(length) / self.rate
        levels = np.concatenate([np.stack([cycle.course(times) for cycle in one], axis=1) for one in windows])
        return self.slewed(levels)

    def slewed(self, levels: Array) -> Array:
        """The same, no faster than it may change, from 0 on."""
        for k, most in enumerate(self.slew.tolist()):
            if most < 2.0:
                now, course = 0.0, []
                for level in levels[:, k].tolist():
                    now += min(max(level - now, -most), most)
                    course.append(now)
                levels[:, k] = course
        return levels

    def ended(self, levels: Array) -> Array:
        """The same, near enough to 0 at the end for 0 to follow."""
        most = self.slew * np.arange(len(levels), 0, -1)[:, np.newaxis]
        return np.clip(levels, -most, most)

    def commands(self, levels: Array) -> Commands:
        """Commands that have these levels."""
        changes = np.concatenate([[True], (np.diff(levels, axis=0) != 0.0).any(axis=1)])
        columns = (levels[changes] * self.maxima).T
        records = command_records(kind=self.kind, **dict(zip(self.fields, columns, strict=True)))
        return Commands(records, np.flatnonzero(changes) / self.rate, len(levels) / self.rate)


def window_length(duration: float) -> float:
    """How long the windows of a log are [s]."""
    return min(max(duration / WINDOWS, SHORTEST), LONGEST, duration)


class Search:
    """The search within a space of commands."""

    def __init__(self, experiment: Experiment, space: Space, duration: float, random: Random, advance: Advance) -> None:
        """Prepare.

        Args:
            experiment: Vehicles that are to be distinguished.
            space: What may be commanded.
            duration: Of the log [s].
            random: Where chance comes from.
            advance: Receives which further part of the work is done, 1 in all.
        """
        self._experiment, self._space, self._random, self._advance = experiment, space, random, advance
        self._commands = max(1, round(duration * space.rate))
        self._count = max(1, round(duration / window_length(duration)))
        self._length = -(-self._commands // self._count)
        self._determined: NDArray[np.bool_] = np.ones(
            (len(experiment.numbers.points), len(experiment.numbers.values)), bool
        )

    @property
    def _work(self) -> float:
        """So many seconds are simulated in all."""
        log, window = self._commands / self._space.rate, (1.0 + LEAD) * self._length / self._space.rate
        return (FIRST + ROUNDS * OTHERS) * window + (ORDERS + self._refinements) * log

    @property
    def _refinements(self) -> int:
        """Long logs are refined as long as one of a minute."""
        return max(20, round(REFINEMENTS * min(1.0, 60.0 * self._space.rate / self._commands)))

    def best(self) -> Array:
        """Levels of the best log that was found, of shape (commands, fields)."""
        pool = self._chosen()
        windows, found = pool, np.inf
        for _ in range(ORDERS):
            order = self._ordered(pool)
            if (loss := self._loss_of(order)) < found:
                windows, found = order, loss
        for _ in range(self._refinements):
            other = self._changed(windows)
            if (loss := self._loss_of(other)) < found:
                windows, found = other, loss
        return self._levels(windows)

    def _levels(self, windows: Sequence[Window]) -> Array:
        return self._space.ended(self._space.levels(windows, self._length)[: self._commands])

    def _loss_of(self, windows: Sequence[Window]) -> float:
        """Of a whole log."""
        commands = self._space.commands(self._levels(windows))
        self._advance(commands.duration / self._work)
        return float(self._loss(self._experiment.information(commands)[0]))

    def _loss(self, information: Array) -> Array:
        """Mean logarithm of the norm of the intervals; over the axes before the last three."""
        intervals = np.where(self._determined, self._experiment.intervals(information), 0.0)
        norms = np.sum(intervals**ORDER, axis=-1) + np.finfo(float).tiny
        loss: Array = np.log(norms).mean(axis=-1) / ORDER
        return loss

    def _information(self, windows: Sequence[Window]) -> Array:
        """Of each window by itself, behind a part of itself."""
        lead = int(LEAD * self._length)
        length = lead + self._length
        together = max(1, int(TOGETHER * self._space.rate / length))
        found = []
        for first in range(0, len(windows), together):
            some = windows[first : first + together]
            commands = self._space.commands(self._space.levels(some, length))
            skipped = round(lead / self._space.rate * self._experiment.rate)
            found.append(self._experiment.information(commands, len(some), skipped))
            self._advance(commands.duration / self._work)
        return np.concatenate(found)

    def _chosen(self) -> list[Window]:
        """The windows that are most informative together, some of them maybe several times."""
        random = self._random
        pool = [any_window(random, len(self._space.fields)) for _ in range(FIRST)]
        information = self._information(pool)
        together = information.mean(axis=0) * self._count
        self._determined = self._experiment.intervals(together) < CERTAIN
        chosen: list[int] = []
        total = np.zeros(information.shape[1:])
        for _ in range(self._count):
            chosen.append(int(np.argmin(self._loss(total + information))))
            total = total + information[chosen[-1]]
        for _ in range(ROUNDS):
            pairs = random.integers(len(chosen), size=(OTHERS, 2)).tolist()
            others = [changed_window(random, pool[chosen[one]], pool[chosen[other]]) for one, other in pairs]
            kept = sorted(set(chosen))
            information = np.concatenate([information[kept], self._information(others)])
            pool, chosen = [*(pool[k] for k in kept), *others], [kept.index(k) for k in chosen]
            for k, present in enumerate(chosen):
                rest = total - information[present]
                chosen[k] = int(np.argmin(self._loss(rest + information)))
                total = rest + information[chosen[k]]
        return [pool[k] for k in chosen]

    def _ordered(self, windows: Sequence[Window]) -> list[Window]:
        """The windows, each begun near to where the one before it ended, as chance wants."""
        end = (self._length - 1) / self._space.rate
        ends = np.array([[cycle.course(np.array([0.0, end])) for cycle in one] for one in windows])
        weights = np.exp(self._random.normal(0.0, 0.5, ends.shape[1]))
        left, order, now = list(range(len(windows))), [], np.zeros(ends.shape[1])
        while left:
            away = [float(np.max(np.abs(ends[k, :, 0] - now) * weights)) for k in left]
            nearest = left.pop(int(np.argmin(away * np.exp(self._random.normal(0.0, 0.2, len(left))))))
            order.append(windows[nearest])
            now = ends[nearest, :, 1]
        return order

    def _changed(self, windows: Sequence[Window]) -> list[Window]:
        """Another log: two windows in each other's place, or one that is much like it."""
        random, changed = self._random, list(windows)
        k, other = (int(n) for n in random.integers(len(windows), size=2))
        if random.random() < 0.2:
            changed[k], changed[other] = changed[other], changed[k]
        else:
            changed[k] = changed_window(random, changed[k], changed[other])
        return changed
