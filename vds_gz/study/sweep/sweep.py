"""A sweep: vehicles with command logs or with controllers on paths, at all points of the varied parameters.

Each run is a function of the sweep and of its number, so that ranges of numbers can be run anywhere and in any order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vds_gz.parameters.intervals import Interval
from vds_gz.study.sweep.sampling import Space
from vds_gz.study.sweep.simulation import Case, Column, Driving, LoggedDrive, Table, simulate

#: Runs that are done together have about so many steps of vehicles: some seconds of work for a core.
STEPS = 5e7

#: Their number is a multiple of this, as vehicles are stepped together.
TOGETHER = 64
LARGEST = 4096

#: Workers share so many pieces of the runs, or more.
PIECES = 64


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
            if isinstance(case.drive, LoggedDrive):
                content.update(repr(case.drive.log).encode())
            else:
                content.update(repr((case.drive.controller, case.drive.gains, case.drive.path.closed)).encode())
                content.update(case.drive.path.points.tobytes())
        return content.hexdigest()

    def batches(self, done: Collection[int], shared: bool) -> list[range]:
        """The runs that are not done, in pieces of some seconds of work; smaller ones if workers share them."""
        steps = max(case.duration(self.driving) * case.vehicle.step_rate for case in self.cases)
        size = min(max(round(STEPS / steps / TOGETHER), 1) * TOGETHER, LARGEST)
        if shared:
            size = min(size, max((len(self) - len(done)) // PIECES, 1))
        pieces = []
        first = 0
        for run in [*sorted(done), len(self)]:
            pieces += [range(begin, min(begin + size, run)) for begin in range(first, run, size)]
            first = run + 1
        return pieces

    def parts(self, runs: range) -> Iterator[tuple[Case, int, int]]:
        """The cases of some runs, with their first point and the one after the last."""
        count = len(self.space)
        for index in range(runs.start // count, -(-runs.stop // count)):
            begin = index * count
            yield self.cases[index], max(runs.start - begin, 0), min(runs.stop - begin, count)

    def run(self, runs: range) -> Table:
        """Do some runs; the table of them.

        Raises:
            VdsGzError: A controller failed, or the parameters of a run contradict each other.
        """
        tables = []
        for case, first, end in self.parts(runs):
            values = self.space.values(first, end)
            found = simulate(case, self.driving, values, self.measures, end - first)
            labels: dict[str, Column] = {name: np.full(end - first, text) for name, text in case.labels.items()}
            tables.append({**labels, **values, **found})
        numbers: NDArray[np.int64] = np.array(runs)
        return {"run": numbers} | {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}
