"""Vehicles in lanes, driven by a recording's commands: each block through the whole run in the cache."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from vds_gz.compiling.linking import outermost
from vds_gz.fleet.events import Events, begun_by, calibrate, next_event
from vds_gz.fleet.lanes import AnyLanes
from vds_gz.fleet.layout import Flags, Reals, Wholes
from vds_gz.fleet.program import NO_EXCEPTIONS, Blocks, blocks_of, inlined, load
from vds_gz.vehicle.schedule import Records


def read_lanes(lanes: AnyLanes, events: Events, count: int) -> Reals:
    """So many readings of vehicles, of shape (readings, vehicles); see :func:`vds_gz.fleet.sampled.sampled`."""
    if any((events.commands[name] < math.inf).any() for name in ("acceleration", "steering_rate")):
        lanes.begin_limits()
    events = events._replace(factors=lanes.padded(events.factors).astype(np.float64, copy=False))
    out: Reals = np.zeros((count, events.factors.shape[1]))
    run = sampled_run(blocks_of(*lanes.phases, lanes.plan))
    lanes.execute(run, lanes.plan.rows, events.end, *events, out)
    return out[:, : len(lanes.parameters)]


@cache
def sampled_run(blocks: Blocks) -> Any:
    """The program of :func:`~vds_gz.fleet.program.lanes_run` with a loop over events around the steps.

    ``places`` are rows of a block; ``out`` has the shape (readings, vehicles of all blocks). States are not kept.
    """
    steps, u, width = blocks.steps, blocks.u, blocks.width
    fetch, command, begun_at, next_at = (inlined(one) for one in (load, calibrate, begun_by, next_event))

    def run(
        block: Reals,
        numbers: Reals,
        references: Reals,
        rates: Reals,
        dead_steps: Wholes,
        uniform: Flags,
        at: int,
        first: int,
        end: int,
        commands: Records,
        begins: Wholes,
        factors: Reals,
        when: Wholes,
        places: Wholes,
        readings: Wholes,
        weights: Reals,
        out: Reals,
    ) -> None:
        for b in range(first, end):
            fetch(block, 0, numbers, b, width)
            slot, done, entered, read = at, 0, 0, 0
            while read < when.size:
                begun = begun_at(begins, entered, done)
                if begun > entered:
                    for i in range(width):
                        command(u(block, i), commands[begun - 1], factors, b * width + i)
                    entered = begun
                until = next_at(when[read], begins, entered)
                slot = steps(block, b, references, rates, dead_steps, uniform, slot, until - done)
                done = until
                while read < when.size and when[read] == done:
                    for i in range(width):
                        out[readings[read], b * width + i] += weights[read] * block[places[read] * width + i]
                    read += 1

    return outermost(run, error_model=NO_EXCEPTIONS, nogil=True, no_cfunc_wrapper=True)
