"""Many vehicles under control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.vehicle.compiled import records
from vds_gz.tools.fleet.controllers import Gains
from vds_gz.tools.fleet.lanes import AnyLanes
from vds_gz.tools.fleet.layout import Columns, layout_of
from vds_gz.tools.fleet.program import DelayLines, Engine, Extension, Loop
from vds_gz.tools.fleet.structs import AnyStructs, columns_of
from vds_gz.tools.fleet.tracking import Course, Tracking, track


@cache
def control_loop(control: Callable[..., None]) -> Loop:
    """The loop of steps with tracking and control before each period.

    Vehicles also have gains ``g`` and tracking ``f``. The arguments are those of :meth:`LoopLanes.advance`.
    """

    def loop(engine: Engine) -> Callable[..., None]:
        steps, width, in_lanes = engine.steps, engine.width, engine.in_lanes

        def block(vehicles: Any, reals: Array, delays: DelayLines, b: int, slot: int, arguments: Any) -> None:
            c, s, u, g, f = vehicles
            course, begun, period, periods, n = arguments
            first = 0 if in_lanes else b
            for k in range(periods):
                time = (begun + k) * period
                for i in range(width):
                    track(course, g[first + i].following, s[first + i], f[first + i], time)
                    control(course, g[first + i], s[first + i], f[first + i], u[first + i])
                slot = steps(c, s, u, reals, delays, b, slot, n)

        return block

    return loop


class LoopStructs:
    """Vehicles of an array of structs; see :class:`~vds_gz.tools.fleet.loops.LoopLanes`."""

    def __init__(self, structs: AnyStructs, gains: Sequence[Gains]) -> None:
        """Begin the tracking at the path's start."""
        self._structs = structs
        self._gains = records(gains)
        self._tracking = records([Tracking() for _ in gains])
        self.tracking: Columns = columns_of(self._tracking)

    def advance(
        self, control: Callable[..., None], course: Course, begun: int, period: float, periods: int, n: int
    ) -> None:
        """As :meth:`LoopLanes.advance`."""
        self._structs.execute(
            control_loop(control), periods * n, (course, begun, period, periods, n), (self._gains, self._tracking)
        )


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
        layout = layout_of(lanes.placed(gains, index, numbers, fixed=True))
        changing = len(numbers)
        tracking = layout_of(lanes.placed([Tracking()], index, numbers))
        self._extension = Extension((layout, tracking), changing)
        self._numbers = np.array(numbers)
        self.tracking: Columns = lanes.columns(tracking, self._numbers, first)

    def advance(
        self, control: Callable[..., None], course: Course, begun: int, period: float, periods: int, n: int
    ) -> None:
        """Advance by ``periods`` periods of ``n`` steps, each after tracking and control.

        ``begun`` is the number of earlier periods, ``period`` their length [s]. With ``n`` = 0 no vehicle moves.
        """
        self._lanes.limit()
        arguments = course, begun, period, periods, n
        self._lanes.execute(control_loop(control), periods * n, arguments, self._extension, self._numbers)
