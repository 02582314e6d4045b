"""Compiled programs of many vehicles under the same commands: commands begin and numbers are read between the steps."""

from __future__ import annotations

import math
from functools import cache, partial
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from vds_gz.compiling import outermost, part
from vds_gz.fleet.lanes import AnyLanes
from vds_gz.fleet.layout import Flags, Reals, Wholes
from vds_gz.fleet.program import NO_EXCEPTIONS, Blocks, blocks_of, inlined, load, share
from vds_gz.fleet.structs import AnyStructs
from vds_gz.vehicle.command import Command
from vds_gz.vehicle.schedule import Records


class Events(NamedTuple):
    """Commands and terms of readings, each by its step, in order.

    Attributes:
        commands, begins: So many steps are done when each command begins to hold, none when the first one does.
        factors: Of shape (5, vehicles): those of ``v_x``, ``v_y``, ``yaw_rate`` and ``steering_angle`` of the commands,
            and what is added to the last one [rad].
        steps: Of each term, so many steps are done.
        places: Of each term, where its number lies.
        readings: Of each term, the reading to which it is added.
        weights: Of each term.
    """

    commands: Records
    begins: Wholes
    factors: Reals
    steps: Wholes
    places: Wholes
    readings: Wholes
    weights: Reals

    @property
    def end(self) -> int:
        """The last step that anybody reads."""
        return int(self.steps[-1]) if len(self.steps) else 0


def calibrate(u: Command, given: Command, factors: Reals, vehicle: int) -> None:
    """Give a vehicle its own version of a command."""
    u.kind = given.kind
    u.v_x = given.v_x * factors[0, vehicle]
    u.v_y = given.v_y * factors[1, vehicle]
    u.yaw_rate = given.yaw_rate * factors[2, vehicle]
    u.steering_angle = given.steering_angle * factors[3, vehicle] + factors[4, vehicle]
    u.steering_rate = given.steering_rate
    u.acceleration = given.acceleration
    u.accel_pedal = given.accel_pedal
    u.brake_pedal = given.brake_pedal
    u.steering_command = given.steering_command
    u.target_acceleration = given.target_acceleration
    u.gear = given.gear
    u.slope = given.slope


def begun_by(begins: Wholes, entered: int, done: int) -> int:
    """How many commands have begun when so many steps are done; ``entered`` of them had before."""
    while entered < begins.size and begins[entered] <= done:
        entered += 1
    return entered


def next_event(when: int, begins: Wholes, entered: int) -> int:
    """The steps that are done when a number is read or the next command begins, whatever is first."""
    return begins[entered] if entered < begins.size and begins[entered] < when else when


def read_structs(structs: AnyStructs, events: Events, count: int) -> Reals:
    """So many readings of vehicles, of shape (readings, vehicles); see :func:`vds_gz.fleet.sampled.sampled`."""
    run = sampled_run_of_structs(structs.model.step, structs.model.set_references)
    arrays = tuple(array.view(np.ndarray) for array in structs.arrays)
    vehicles = len(structs.parameters)
    out: Reals = np.zeros((vehicles, count))
    numbers: Reals = arrays[1].view(np.float64).reshape(vehicles, -1)
    share(partial(run, *arrays, numbers, *events, out), vehicles, vehicles * events.end)
    read: Reals = out.transpose()
    return read


@cache
def sampled_run_of_structs(step: FunctionType, set_references: FunctionType) -> Any:
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


def read_lanes(lanes: AnyLanes, events: Events, count: int) -> Reals:
    """So many readings of vehicles, of shape (readings, vehicles); see :func:`vds_gz.fleet.sampled.sampled`."""
    if any((events.commands[name] < math.inf).any() for name in ("acceleration", "steering_rate")):
        lanes.begin_limits()
    events = events._replace(factors=lanes.padded(events.factors).astype(np.float64, copy=False))
    out: Reals = np.zeros((count, events.factors.shape[1]))
    run = sampled_run_of_lanes(blocks_of(*lanes.phases, lanes.plan))
    lanes.execute(run, lanes.plan.rows, events.end, *events, out)
    return out[:, : len(lanes.parameters)]


@cache
def sampled_run_of_lanes(blocks: Blocks) -> Any:
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
