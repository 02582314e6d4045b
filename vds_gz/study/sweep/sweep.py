"""A sweep: vehicles with command logs or with controllers on paths, at all points of the varied parameters.

A run only depends on the sweep and its number. So shards, which are ranges of numbers, can be run anywhere and in any
order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vds_gz.parameters.intervals import Interval
from vds_gz.study.sweep.case import Case, Driving, OpenLoop
from vds_gz.study.sweep.sampling import Space
from vds_gz.study.sweep.simulation import simulate, warm_up
from vds_gz.study.sweep.table import Column, Table

#: Approximate number of vehicle steps of a shard: a few seconds of work for a core.
STEPS_OF_A_SHARD = 5e7

#: Runs of a shard are a multiple of this, as vehicles are stepped together.
TOGETHER = 64
LARGEST_SHARD = 4096


@dataclass(frozen=True, slots=True)
class Shard:
    """The runs from ``first`` up to the one before ``end``."""

    first: int
    end: int

    def __str__(self) -> str:
        return f"runs {self.first} to {self.end - 1}"


@dataclass(frozen=True)
class Sweep:
    """The plan of a sweep.

    Attributes:
        cases: The cases.
        space: The points of the varied parameters in each case.
        measures: Names of the measures.
        driving: Settings for controllers.
        expected: Required bounds of quantiles, by measure and quantile.
        identified: Parameters with a measured interval.
    """

    cases: tuple[Case, ...]
    space: Space
    measures: tuple[str, ...]
    driving: Driving = field(default_factory=Driving)
    expected: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    identified: Mapping[str, Interval] = field(default_factory=dict)

    def __len__(self) -> int:
        """Number of runs."""
        return len(self.cases) * len(self.space)

    @cached_property
    def digest(self) -> str:
        """A hash of all that determines the runs."""
        content = hashlib.sha256(repr((self.space, self.measures, self.driving)).encode())
        for case in self.cases:
            content.update(repr((case.labels, case.vehicle)).encode())
            if isinstance(case.drive, OpenLoop):
                content.update(repr(case.drive.log).encode())
            else:
                content.update(repr((case.drive.controller, case.drive.gains, case.drive.path.closed)).encode())
                content.update(case.drive.path.points.tobytes())
        return content.hexdigest()

    def plan(self, size: int | None = None) -> list[Shard]:
        """All runs in shards of so many, by default of as many as take a few seconds."""
        size = size or self._usual_size()
        return [Shard(first, min(first + size, len(self))) for first in range(0, len(self), size)]

    def parts(self, shard: Shard) -> Iterator[tuple[Case, int, int]]:
        """The cases of a shard, with the first point and the one after the last."""
        count = len(self.space)
        for index in range(shard.first // count, -(-shard.end // count)):
            begin = index * count
            yield self.cases[index], max(shard.first - begin, 0), min(shard.end - begin, count)

    def run_shard(self, shard: Shard) -> Table:
        """Do the runs of a shard; return their table.

        Raises:
            VdsGzError: A controller failed, or the parameters of a run contradict each other.
        """
        tables = []
        for case, first, end in self.parts(shard):
            values = self.space.values(first, end)
            found = simulate(case, self.driving, values, self.measures, end - first)
            labels: dict[str, Column] = {name: np.full(end - first, text) for name, text in case.labels.items()}
            tables.append({**labels, **values, **found})
        numbers: NDArray[np.int64] = np.arange(shard.first, shard.end)
        return Table({"run": numbers} | {name: np.concatenate([one[name] for one in tables]) for name in tables[0]})

    def warm_up(self) -> None:
        """Compile the programs for the runs."""
        warm_up(self.cases[0], self.driving, self.space.values(0, 1), self.measures)

    def _usual_size(self) -> int:
        steps = max(case.duration(self.driving) * case.vehicle.step_rate for case in self.cases)
        return min(max(round(STEPS_OF_A_SHARD / steps / TOGETHER), 1) * TOGETHER, LARGEST_SHARD)
