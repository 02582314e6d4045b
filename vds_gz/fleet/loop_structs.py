"""Controlled vehicles as an array of structs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from types import FunctionType
from typing import Any

from vds_gz.compiling.linking import outermost, part
from vds_gz.fleet.columns import Columns
from vds_gz.fleet.controllers.controller import Gains
from vds_gz.fleet.layout import Reals
from vds_gz.fleet.program import NO_EXCEPTIONS
from vds_gz.fleet.structs import AnyStructs, columns_of
from vds_gz.fleet.threads import share
from vds_gz.fleet.tracking import Course, Tracking, track
from vds_gz.vehicle.compiled import records
from vds_gz.vehicle.schedule import Records


class LoopStructs:
    """Vehicles of an array of structs; see :class:`~vds_gz.fleet.loop_lanes.LoopLanes`."""

    def __init__(self, structs: AnyStructs, gains: Sequence[Gains]) -> None:
        """Put the vehicles at the path's start."""
        self._structs = structs
        self._gains = records(gains)
        self._tracking = records([Tracking() for _ in gains])
        self.tracking: Columns = columns_of(self._tracking)

    def advance(self, control: FunctionType, course: Course, begun: int, period: float, periods: int, n: int) -> None:
        """Advance by so many periods of ``n`` steps, each after tracking and control."""
        structs = self._structs
        run = loop_run(structs.model.step, structs.model.set_references, control)
        arrays = *structs.arrays, self._gains, self._tracking
        count = len(self._tracking)
        share(partial(run, *arrays, *course, begun, period, periods, n), count, count * periods * n)


@cache
def loop_run(step: FunctionType, set_references: FunctionType, control: FunctionType) -> Any:
    """``run(c, s, u, g, f, ...)``: some vehicles through all periods; arrays have one record a vehicle."""
    step_once, refer, follow, command = (
        part(one, error_model=NO_EXCEPTIONS) for one in (step, set_references, track, control)
    )

    def run(
        c: Records,
        s: Records,
        u: Records,
        g: Records,
        f: Records,
        points: Reals,
        closed: bool,
        spacing: float,
        bound: float,
        begun: int,
        period: float,
        periods: int,
        n: int,
        first: int,
        end: int,
    ) -> None:
        for i in range(first, end):
            course = Course(points, closed, spacing, bound)
            for k in range(periods):
                follow(course, g[i].following, s[i], f[i], (begun + k) * period)
                command(course, g[i], s[i], f[i], u[i])
                refer(c[i], s[i], u[i])
                for _ in range(n):
                    step_once(c[i], s[i], u[i])

    return outermost(run, error_model=NO_EXCEPTIONS, nogil=True, no_cfunc_wrapper=True)
