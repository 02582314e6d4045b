"""Vehicles in lanes, driven by a recording's commands: each block through the whole run in the cache."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from vds_gz.compiling.linking import outermost
from vds_gz.fleet.events import Events, calibrate
from vds_gz.fleet.lanes import AnyLanes
from vds_gz.fleet.layout import Flags, Reals, Wholes
from vds_gz.fleet.program import NO_EXCEPTIONS, WIDTH, Blocks, blocks_of, inlined
from vds_gz.vehicle.schedule import Records


def read_lanes(lanes: AnyLanes, events: Events, count: int, starts: Mapping[str, Reals]) -> Reals:
    """So many readings of vehicles at rest, of shape (readings, vehicles); see :func:`vds_gz.fleet.sampled.sampled`."""
    if any((events.commands[name] < math.inf).any() for name in ("acceleration", "steering_rate")):
        lanes.begin_limits()
    for name, values in starts.items():
        lanes.start(name, values)
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
    stored, steps, u = blocks.stored, blocks.steps, blocks.u
    command = inlined(calibrate)

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
            for k in range(stored):
                for i in range(WIDTH):
                    block[k * WIDTH + i] = numbers[k, b * WIDTH + i]
            slot, done, entered, read = at, 0, 0, 0
            while read < when.size:
                begun = entered
                while begun < begins.size and begins[begun] <= done:
                    begun += 1
                if begun > entered:
                    for i in range(WIDTH):
                        command(u(block, i), commands[begun - 1], factors, b * WIDTH + i)
                    entered = begun
                until = when[read]
                if entered < begins.size and begins[entered] < until:
                    until = begins[entered]
                slot = steps(block, b, references, rates, dead_steps, uniform, slot, until - done)
                done = until
                while read < when.size and when[read] == done:
                    for i in range(WIDTH):
                        out[readings[read], b * WIDTH + i] += weights[read] * block[places[read] * WIDTH + i]
                    read += 1

    return outermost(run, error_model=NO_EXCEPTIONS, nogil=True, no_cfunc_wrapper=True)
