"""Points of a sweep: values of what is varied, each a function of the plan and of the point's number alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Grid:
    """Every one of some values, with every one of all other grids."""

    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Uniform:
    """A value drawn for each sample, anywhere between two equally likely."""

    low: float
    high: float


Variation: TypeAlias = "Grid | Uniform"


@dataclass(frozen=True, slots=True)
class Samples:
    """How values are drawn.

    Attributes:
        sobol: From Sobol's sequence, scrambled, which fills the space evenly; else at random.
        count: So many samples, at each point of the grid.
        seed: Equal seeds give equal samples.
    """

    sobol: bool = False
    count: int = 1
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Space:
    """All points: those of the grid, each with all samples.

    The same samples are taken at each point of the grid, so that its points differ by nothing else.

    Attributes:
        variations: By the name of what is varied.
        samples: How values are drawn.
    """

    variations: dict[str, Variation]
    samples: Samples

    def __len__(self) -> int:
        """How many points there are."""
        return math.prod(self._shape) * self.samples.count

    def values(self, first: int, end: int) -> dict[str, Reals]:
        """The values at some points, by name."""
        points = np.arange(first, end)
        drawn = iter(self._drawn(points % self.samples.count).T)
        indices = iter(np.unravel_index(points // self.samples.count, self._shape or (1,)))
        return {
            name: np.array(one.values)[next(indices)]
            if isinstance(one, Grid)
            else one.low + next(drawn) * (one.high - one.low)
            for name, one in self.variations.items()
        }

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(len(one.values) for one in self.variations.values() if isinstance(one, Grid))

    def _drawn(self, samples: Wholes) -> Reals:
        """Numbers from 0 to 1, a row a sample; the samples' indices are consecutive or start again from 0."""
        dimensions = sum(isinstance(one, Uniform) for one in self.variations.values())
        wanted, places = np.unique(samples, return_inverse=True)
        if not dimensions:
            return np.empty((len(samples), 0))
        draw = _sobol if self.samples.sobol else _random
        return draw(self.samples.seed, wanted, dimensions)[places]


def _random(seed: int, samples: Wholes, dimensions: int) -> Reals:
    """Each sample has its own random generator."""
    keys = (np.array([seed, k], np.uint64) for k in samples.tolist())
    return np.array([np.random.Generator(np.random.Philox(key=key)).random(dimensions) for key in keys])


def _sobol(seed: int, samples: Wholes, dimensions: int) -> Reals:
    from scipy.stats import qmc

    first = int(samples[0])
    sequence = qmc.Sobol(dimensions, seed=np.random.default_rng(seed))
    # It warns of a number of points that is no power of two, but not when the first one was taken alone.
    points = sequence.random(1)
    if first:
        sequence.fast_forward(first - 1)
        points = sequence.random(1)
    more = int(samples[-1]) - first
    if more:
        points = np.concatenate([points, sequence.random(more)])
    chosen: Reals = points[samples - first]
    return chosen
