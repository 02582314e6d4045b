"""Points of a sweep: values of the varied parameters, as a function of only the plan and the point's number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GridVariation:
    """A grid: all of its values are combined with all values of other grids."""

    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class UniformVariation:
    """A random value for each sample, uniform between two bounds."""

    low: float
    high: float


Variation: TypeAlias = "GridVariation | UniformVariation"


@dataclass(frozen=True, slots=True)
class Samples:
    """Settings of the sampling.

    Attributes:
        sobol: Use the scrambled Sobol sequence, which fills the space evenly; else random numbers.
        count: Number of samples at each point of the grid.
        seed: Equal seeds give equal samples.
    """

    sobol: bool = False
    count: int = 1
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Space:
    """All points: all points of the grid, each with all samples.

    The samples are the same at all points of the grid, so that the points only differ by the grid.

    Attributes:
        variations: The variations by parameter.
        samples: Settings of the sampling.
    """

    variations: dict[str, Variation]
    samples: Samples

    def __len__(self) -> int:
        """Number of points."""
        return math.prod(self._shape) * self.samples.count

    def values(self, first: int, end: int) -> dict[str, Reals]:
        """The values at some points, by name."""
        points = np.arange(first, end)
        drawn = iter(self._drawn(points % self.samples.count).T)
        indices = iter(np.unravel_index(points // self.samples.count, self._shape or (1,)))
        return {
            name: np.array(one.values)[next(indices)]
            if isinstance(one, GridVariation)
            else one.low + next(drawn) * (one.high - one.low)
            for name, one in self.variations.items()
        }

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(len(one.values) for one in self.variations.values() if isinstance(one, GridVariation))

    def _drawn(self, samples: Wholes) -> Reals:
        """Numbers from 0 to 1, a row a sample; the samples' indices are consecutive or start again from 0."""
        dimensions = sum(isinstance(one, UniformVariation) for one in self.variations.values())
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
    # It warns if the number of points is not a power of two, but not after the first one was taken alone.
    points = sequence.random(1)
    if first:
        sequence.fast_forward(first - 1)
        points = sequence.random(1)
    more = int(samples[-1]) - first
    if more:
        points = np.concatenate([points, sequence.random(more)])
    chosen: Reals = points[samples - first]
    return chosen
