"""Many vehicles under control, as an array of structs and in lanes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from itertools import count
from types import FunctionType
from typing import Any

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.compiling import outermost, part
from vds_gz.core.vehicle.compiled import records
from vds_gz.core.vehicle.schedule import Records
from vds_gz.tools.fleet.controllers import Gains
from vds_gz.tools.fleet.lanes import AnyLanes
from vds_gz.tools.fleet.layout import Columns, Layout, layout_of
from vds_gz.tools.fleet.program import (
    NO_EXCEPTIONS,
    Blocks,
    DelayLines,
    blocks_of,
    inlined,
    lane_of,
    load,
    share,
    store,
)
from vds_gz.tools.fleet.structs import AnyStructs, columns_of
from vds_gz.tools.fleet.tracking import Course, Tracking, track


class LoopStructs:
    """Vehicles of an array of structs; see :class:`~vds_gz.tools.fleet.loops.LoopLanes`."""

    def __init__(self, structs: AnyStructs, gains: Sequence[Gains]) -> None:
        """Begin the tracking at the path's start."""
        self._structs = structs
        self._gains = records(gains)
        self._tracking = records([Tracking() for _ in gains])
        self.tracking: Columns = columns_of(self._tracking)

    def advance(self, control: FunctionType, course: Course, begun: int, period: float, periods: int, n: int) -> None:
        """As :meth:`LoopLanes.advance`."""
        structs = self._structs
        run = loop_run_of_structs(structs.model.step, structs.model.set_references, control)
        arrays = *structs.arrays, self._gains, self._tracking
        count = len(self._tracking)
        share(partial(run, *arrays, course, begun, period, periods, n), count, count * periods * n)


@cache
def loop_run_of_structs(step: FunctionType, set_references: FunctionType, control: FunctionType) -> Any:
    """``run(c, s, u, g, f, ...)``: some vehicles through all periods; arrays have one record a vehicle."""
    step_once, refer, follow, command = (
        part(function, error_model=NO_EXCEPTIONS) for function in (step, set_references, track, control)
    )

    def run(
        c: Records,
        s: Records,
        u: Records,
        g: Records,
        f: Records,
        course: Course,
        begun: int,
        period: float,
        periods: int,
        n: int,
        first: int,
        end: int,
    ) -> None:
        for i in range(first, end):
            for k in range(periods):
                follow(course, g[i].following, s[i], f[i], (begun + k) * period)
                command(course, g[i], s[i], f[i], u[i])
                refer(c[i], s[i], u[i])
                for _ in range(n):
                    step_once(c[i], s[i], u[i])

    return outermost(run, error_model=NO_EXCEPTIONS, nogil=True, no_cfunc_wrapper=True)


class LoopLanes:
    """Vehicles in lanes, each with its controller's coefficients and its tracking.

    Attributes:
        tracking: Fields of :class:`~vds_gz.tools.fleet.tracking.Tracking`, of all vehicles.
    """

    def __init__(self, lanes: AnyLanes, gains: Sequence[Gains]) -> None:
        """Begin the tracking at the path's start."""
        self._lanes = lanes
        first = lanes.plan.rows
        index = count(first)
        numbers: list[Array] = []
        self._gains = layout_of(lanes.placed(gains, index, numbers, fixed=True))
        self._changing = len(numbers)
        self._tracking = layout_of(lanes.placed([Tracking()], index, numbers))
        self._numbers = np.array(numbers)
        self.tracking: Columns = lanes.columns(self._tracking, self._numbers, first)

    def advance(self, control: FunctionType, course: Course, begun: int, period: float, periods: int, n: int) -> None:
        """Advance by ``periods`` periods of ``n`` steps, each after tracking and control.

        ``begun`` is the number of earlier periods, ``period`` their length [s]. With ``n`` = 0 no vehicle moves.
        """
        lanes = self._lanes
        lanes.limit()
        blocks = blocks_of(*lanes.phases, lanes.plan)
        run = loop_run_of_lanes(blocks, control, self._gains, self._tracking, lanes.plan.rows, self._changing)
        rows = lanes.plan.rows + len(self._numbers)
        lanes.execute(run, rows, periods * n, self._numbers, course, begun, period, periods, n)


@cache
def loop_run_of_lanes(
    blocks: Blocks, control: FunctionType, gains: Layout, tracking: Layout, begin: int, first_changing: int
) -> Any:
    """The program of :func:`~vds_gz.tools.fleet.program.lanes_run` with a loop over periods around the steps.

    ``more`` has the numbers of gains and tracking, which are in a block from row ``begin`` on; those from
    ``first_changing`` on are tracking.
    """
    steps, s, u, width, (changing, _) = blocks.steps, blocks.s, blocks.u, blocks.width, blocks.changing
    g, f = lane_of(gains, width), lane_of(tracking, width)
    fetch, keep, follow, command = inlined(load), inlined(store), inlined(track), inlined(control)

    def run(
        block: Array,
        numbers: Array,
        delays: DelayLines,
        at: int,
        first: int,
        end: int,
        more: Array,
        course: Course,
        begun: int,
        period: float,
        periods: int,
        n: int,
    ) -> None:
        for b in range(first, end):
            fetch(block, 0, numbers, b, width)
            fetch(block, begin, more, b, width)
            slot = at
            for k in range(periods):
                time = (begun + k) * period
                for i in range(width):
                    follow(course, g(block, i).following, s(block, i), f(block, i), time)
                    command(course, g(block, i), s(block, i), f(block, i), u(block, i))
                slot = steps(block, b, delays, slot, n)
            keep(block, 0, numbers, b, width, changing, numbers.shape[0])
            keep(block, begin, more, b, width, first_changing, more.shape[0])

    return outermost(run, error_model=NO_EXCEPTIONS, nogil=True, no_cfunc_wrapper=True)
