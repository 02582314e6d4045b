"""Vehicles as an array of structs, driven by a recording's commands."""

from __future__ import annotations

from functools import cache, partial
from types import FunctionType
from typing import Any

import numpy as np

from vds_gz.compiling import outermost, part
from vds_gz.fleet.events import Events, begun_by, calibrate, next_event
from vds_gz.fleet.layout import Reals, Wholes
from vds_gz.fleet.program import NO_EXCEPTIONS
from vds_gz.fleet.structs import AnyStructs
from vds_gz.fleet.threads import share
from vds_gz.vehicle.schedule import Records


def read_structs(structs: AnyStructs, events: Events, count: int) -> Reals:
    """So many readings of vehicles, of shape (readings, vehicles); see :func:`vds_gz.fleet.sampled.sampled`."""
    run = sampled_run(structs.model.step, structs.model.set_references)
    arrays = tuple(array.view(np.ndarray) for array in structs.arrays)
    vehicles = len(structs.parameters)
    out: Reals = np.zeros((vehicles, count))
    numbers: Reals = arrays[1].view(np.float64).reshape(vehicles, -1)
    share(partial(run, *arrays, numbers, *events, out), vehicles, vehicles * events.end)
    read: Reals = out.transpose()
    return read


@cache
def sampled_run(step: FunctionType, set_references: FunctionType) -> Any:
    """``run(c, s, u, numbers, ...)``: some vehicles through all events; arrays have one record a vehicle.

    ``numbers`` are the states as rows of reals, of which ``places`` are columns; ``out`` has the shape (vehicles,
    readings).
    """
    step_once, refer, command, begun_at, next_at = (
        part(one, error_model=NO_EXCEPTIONS) for one in (step, set_references, calibrate, begun_by, next_event)
    )

    def run(
        c: Records,
        s: Records,
        u: Records,
        numbers: Reals,
        commands: Records,
        begins: Wholes,
        factors: Reals,
        when: Wholes,
        places: Wholes,
        readings: Wholes,
        weights: Reals,
        out: Reals,
        first: int,
        end: int,
    ) -> None:
        for i in range(first, end):
            done, entered, read = 0, 0, 0
            while read < when.size:
                begun = begun_at(begins, entered, done)
                if begun > entered:
                    command(u[i], commands[begun - 1], factors, i)
                    refer(c[i], s[i], u[i])
                    entered = begun
                until = next_at(when[read], begins, entered)
                for _ in range(until - done):
                    step_once(c[i], s[i], u[i])
                done = until
                while read < when.size and when[read] == done:
                    out[i, readings[read]] += weights[read] * numbers[i, places[read]]
                    read += 1

    return outermost(run, error_model=NO_EXCEPTIONS, nogil=True, no_cfunc_wrapper=True)
