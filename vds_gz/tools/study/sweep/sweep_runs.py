"""A sweep: vehicles with command logs or with controllers on paths, at all points of the varied parameters.

Each run is a function of the sweep and of its number, so that ranges of numbers can be run anywhere and in any order.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from vds_gz.core.arrays import Array, Integers
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.tools.study.progress import Advance, ignore
from vds_gz.tools.study.sweep.cases import Case, ControlledDrive, Driving, Table, element, simulate

#: Vehicle steps of the runs that are done together: some seconds of work for a core.
STEPS = 5e7

#: Runs that are done together: at most LARGEST, to limit memory; without workers a multiple of LANES, which are stepped
#: together.
LANES, LARGEST = 64, 2048

#: Minimum number of pieces of the runs that workers share.
PIECES = 64


@dataclass(frozen=True, slots=True)
class UniformVariation:
    """A random value for each sample, uniform between two bounds."""

    low: float
    high: float


#: A tuple is a grid: all of its values, numbers or lists of one length, are combined with all values of other grids.
Variation: TypeAlias = "tuple[float, ...] | tuple[tuple[float, ...], ...] | UniformVariation"


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples that each point of the grid has: of the scrambled Sobol sequence, or random numbers.

    Equal seeds give equal samples.
    """

    sobol: bool = False
    count: int = 1
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Space:
    """All points: all points of the grid, each with all samples.

    The samples are the same at all points of the grid, so that the points only differ by the grid.
    """

    variations: dict[str, Variation]
    samples: Samples

    def __len__(self) -> int:
        """Number of points."""
        return math.prod(self._shape) * self.samples.count

    def values(self, first: int, end: int) -> dict[str, Array]:
        """The values at some points, by name; those of a list by the names of its numbers."""
        points = np.arange(first, end)
        drawn = iter(self._drawn(points % self.samples.count).T)
        indices = self._indices(points)
        values: dict[str, Array] = {}
        for name, variation in self.variations.items():
            if isinstance(variation, UniformVariation):
                values[name] = variation.low + next(drawn) * (variation.high - variation.low)
                continue
            chosen = np.array(variation)[indices[name]]
            values |= dict(zip(_columns(name, variation), chosen.reshape(len(points), -1).T, strict=True))
        return values

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all values."""
        return tuple(column for name, variation in self.variations.items() for column in _columns(name, variation))

    def lists(self, points: Integers) -> dict[str, Integers]:
        """Which of its lists a parameter has at some points, counted from 1, by name; none for single numbers."""
        indices = self._indices(points)
        return {name: 1 + index for name, index in indices.items() if _columns(name, self.variations[name]) != [name]}

    def _indices(self, points: Integers) -> dict[str, Integers]:
        """Which value of a grid some points have, counted from 0, by name."""
        grids = (name for name, variation in self.variations.items() if isinstance(variation, tuple))
        return dict(zip(grids, np.unravel_index(points // self.samples.count, self._shape or (1,)), strict=False))

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(len(grid) for grid in self.variations.values() if isinstance(grid, tuple))

    def _drawn(self, samples: Integers) -> Array:
        """Numbers from 0 to 1, a row for each of these samples."""
        dimensions = len(self.variations) - len(self._shape)
        if not dimensions:
            return np.empty((len(samples), 0))
        distinct, places = np.unique(samples, return_inverse=True)
        draw = _sobol if self.samples.sobol else _random
        return draw(self.samples.seed, distinct, dimensions)[places]


def _columns(name: str, variation: Variation) -> list[str]:
    """The names of a variation's values."""
    if isinstance(variation, tuple) and isinstance(variation[0], tuple):
        return [element(name, k) for k in range(len(variation[0]))]
    return [name]


def _random(seed: int, samples: Integers, dimensions: int) -> Array:
    """Each sample has its own random generator."""
    keys = (np.array([seed, k], np.uint64) for k in samples.tolist())
    return np.array([np.random.Generator(np.random.Philox(key=key)).random(dimensions) for key in keys])


def _sobol(seed: int, samples: Integers, dimensions: int) -> Array:
    from scipy.stats import qmc

    first, last = int(samples[0]), int(samples[-1])
    sequence = qmc.Sobol(dimensions, seed=np.random.default_rng(seed))
    if first:
        sequence.fast_forward(first)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the number of points is not a power of two
        points: Array = sequence.random(last - first + 1)
    return points[samples - first]


@dataclass(frozen=True)
class Sweep:
    """The plan of a sweep."""

    cases: tuple[Case, ...]  # the cases
    space: Space  # the points of the varied parameters in each case
    measures: tuple[str, ...]  # names of the measures
    driving: Driving = field(default_factory=Driving)  # settings for controllers
    # required bounds of quantiles, by measure and quantile
    expected: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    identified: Mapping[str, Interval] = field(default_factory=dict)  # parameters with a measured interval

    def __len__(self) -> int:
        """Number of runs."""
        return len(self.cases) * len(self.space)

    @cached_property
    def digest(self) -> str:
        """A hash of all that determines the runs."""
        content = hashlib.sha256(repr((self.space, self.measures, self.driving)).encode())
        for case in self.cases:
            content.update(repr((case.labels, case.vehicle)).encode())
            drive = case.drive
            if isinstance(drive, ControlledDrive):
                content.update(repr((drive.controller, drive.gains, drive.path.closed)).encode())
                content.update(drive.path.points.tobytes())
            else:
                content.update(repr(drive).encode())
        return content.hexdigest()

    def batches(self, done: Collection[int], shared: bool) -> list[range]:
        """The runs that are not done, in pieces of one case with some seconds of work, or less for ``shared`` work."""
        steps = max(case.duration(self.driving) * case.vehicle.step_rate for case in self.cases)
        size = min(max(round(STEPS / steps / LANES), 1) * LANES, LARGEST)
        if shared:
            size = min(size, max((len(self) - len(done)) // PIECES, 1))
        pieces = []
        begin, count = 0, len(self.space)
        for run in [*sorted(done), len(self)]:
            while begin < run:
                end = min(begin + size, begin - begin % count + count, run)
                pieces.append(range(begin, end))
                begin = end
            begin = run + 1
        return pieces

    def drawn(self, runs: range) -> tuple[Case, dict[str, Array]]:
        """The case of some runs, which must be one, and their values of the varied parameters."""
        index, first = divmod(runs.start, len(self.space))
        return self.cases[index], self.space.values(first, first + len(runs))

    def run(self, runs: range, advance: Advance = ignore) -> Table:
        """Do some runs of one case, and return their table; reports progress in runs."""
        case, values = self.drawn(runs)
        labels: Table = {name: np.full(len(runs), text) for name, text in case.labels.items()}
        return {
            "run": np.array(runs),
            **labels,
            **values,
            **simulate(case, self.driving, values, self.measures, len(runs), lambda part: advance(part * len(runs))),
        }
