"""Pieces of a log: each commanded quantity goes through a cycle of a few levels, each held for a while.

Small cycles within the reach of the lag determine time constants, large ones limits, quick ones dead times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from vds_gz.study.identify.estimates import Array

#: Shortest and longest time that a level is held [s].
HOLD = 0.06, 2.5

#: Sizes of jumps, as a part of the limit.
JUMP = 0.02, 2.0

Random: TypeAlias = np.random.Generator


@dataclass(frozen=True)
class Cycle:
    """What a quantity is commanded, again and again.

    Attributes:
        levels: One after the other, as parts of the limit within +-1.
        holds: How long each [s].
    """

    levels: Array
    holds: Array

    def course(self, times: Array) -> Array:
        """What is commanded at times from the beginning on [s]."""
        ends = np.cumsum(self.holds)
        course: Array = self.levels[np.searchsorted(ends, times % ends[-1], side="right").clip(max=len(ends) - 1)]
        return course


#: One cycle a quantity.
Window: TypeAlias = tuple[Cycle, ...]


def any_cycle(random: Random) -> Cycle:
    """From a level that is held to one that changes among four; jumps and holds of all sizes."""
    count = int(random.choice([1, 2, 2, 2, 3, 4]))
    base = random.uniform(-1.0, 1.0) if random.random() < 0.6 else float(random.choice([-1.0, 0.0, 1.0]))
    jump = _between(random, *JUMP)
    offsets = random.uniform(-1.0, 1.0, count) if count > 2 else random.choice([-1.0, 1.0]) * np.arange(count)
    holds = _between(random, *HOLD) * np.exp(random.normal(0.0, 0.4, count))
    return Cycle(np.clip(base + jump * offsets, -1.0, 1.0), np.clip(holds, *HOLD))


def changed_cycle(random: Random, cycle: Cycle) -> Cycle:
    """One that is much like another; now and then any."""
    how = random.random()
    if how < 0.15:
        return any_cycle(random)
    levels, holds = cycle.levels, cycle.holds
    if how < 0.5:
        levels = levels.mean() + (levels - levels.mean()) * math.exp(random.normal(0.0, 0.3))
    elif how < 0.7:
        levels = levels + random.normal(0.0, 0.2)
    else:
        levels = levels + random.normal(0.0, 0.1, len(levels))
    if random.random() < 0.8:
        holds = holds * np.exp(random.normal(0.0, 0.3, len(holds) if random.random() < 0.25 else 1))
    return Cycle(np.clip(levels, -1.0, 1.0), np.clip(holds, *HOLD))


def any_window(random: Random, quantities: int) -> Window:
    """Any cycle of each quantity."""
    return tuple(any_cycle(random) for _ in range(quantities))


def changed_window(random: Random, window: Window, other: Window) -> Window:
    """One that is much like another, maybe with a quantity's cycle from a third one."""
    which = int(random.integers(len(window)))
    mixed = list(window)
    if random.random() < 0.2:
        mixed[which] = other[which]
    return tuple(
        changed_cycle(random, one) if k == which or random.random() < 0.3 else one for k, one in enumerate(mixed)
    )


def _between(random: Random, low: float, high: float) -> float:
    """A number that is as likely in each octave."""
    return math.exp(random.uniform(math.log(low), math.log(high)))
