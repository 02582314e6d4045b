"""The compiled program of a fleet: each block of vehicles does all steps while it is in the cache.

The loops of fleets (steps, closed loops, sampled drives) exist once, as functions of an :class:`Engine`. In lanes a
block has some dozens of vehicles; of an array of structs, each vehicle is a block.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numba
import numpy as np

from vds_gz.core.arrays import Array, Flags, Integers
from vds_gz.core.compiling import compiled, compiled_over_blocks
from vds_gz.core.compiling.record_layout import Block, Layout
from vds_gz.core.vehicle.actuators import through_dead_time
from vds_gz.core.vehicle.schedule import Records

#: Number of vehicle steps that take longer than waking a thread.
WORTH_A_THREAD = 6_400


def share(run: Callable[[int, int], None], items: int, steps: int) -> None:
    """Process a range of items in parts, on as many of numba's threads as are useful."""
    threads = max(1, min(numba.get_num_threads(), items, steps // WORTH_A_THREAD))
    cuts = [items * k // threads for k in range(threads + 1)]
    first, *rest = pairwise(cuts)
    waiting = [_pool(os.getpid()).submit(run, *cut) for cut in rest]
    try:
        run(*first)
    finally:  # no thread may use the arrays after the return
        wait(waiting)
    for future in waiting:
        future.result()


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of all fleets of a process; a forked process makes new ones."""
    return ThreadPoolExecutor(numba.config.NUMBA_NUM_THREADS)


#: Number of vehicles in a block of a fleet, and in one of a fit, which simulates few vehicles. The compiler unrolls
#: loops of fewer than 32 and does not vectorize them.
WIDTH, NARROW = 64, 32

#: The number of vehicles that a narrow block steps is rounded up to a multiple of this. The compiler knows the
#: multiple, so no loop over single vehicles follows the vectorized one.
VECTOR = 8

#: numba's error model in which a division raises no exception; with one, a loop would have a second exit.
NO_EXCEPTIONS = "numpy"

#: numba's options of the programs of fleets.
OPTIONS: dict[str, bool | str] = {"error_model": NO_EXCEPTIONS, "nogil": True, "no_cfunc_wrapper": True}


class LineRows(NamedTuple):
    """Rows of the numbers that leave and enter a delay line."""

    delayed_reference: int
    delayed_rate: int
    entered_reference: int
    entered_rate: int


@dataclass(frozen=True)
class Plan:
    """All rows of a block."""

    coefficients: Layout  # coefficients, state, command: what the functions of the model see
    state: Layout
    command: Layout
    lines: tuple[LineRows, ...]  # rows of the delay lines
    changing: tuple[int, int]  # the first row of the state, and the first one after it
    rows: int  # number of rows
    limited: bool  # commands have limits of rates, so that delay lines hold these too
    width: int = WIDTH  # vehicles of a block


def through_line(c: Any, s: Any, reference: float, rate: float) -> tuple[float, float]:
    """``through_dead_time`` in lanes: what comes out was fetched before the step, what goes in is stored after it."""
    s.entered_reference = reference
    s.entered_rate = rate
    at_once = c.delay_steps == 0
    return reference if at_once else s.delayed_reference, rate if at_once else s.delayed_rate


def through_unlimited_line(c: Any, s: Any, reference: float, rate: float) -> tuple[float, float]:
    """:func:`through_line` where no command limits a rate."""
    s.entered_reference = reference
    return reference if c.delay_steps == 0 else s.delayed_reference, math.inf


class DelayLines(NamedTuple):
    """The delay lines of all blocks."""

    references: Array  # references, rates: their entries, of shape (blocks, lines, slots, vehicles of a block)
    rates: Array
    dead_steps: Integers  # dead times [steps], of shape (blocks, lines, vehicles of a block)
    uniform: Flags  # whether all vehicles of a block have the same dead times
    vehicles: int  # number of vehicles, without those that fill up the last block


class Engine(NamedTuple):
    """The functions of a kind of fleet that its loops call.

    In a loop, ``vehicles`` are coefficients ``c``, states ``s`` and commands ``u`` of vehicles, and what else a loop
    adds; ``c[first + i]`` is vehicle ``i`` of the block. In lanes, ``reals`` are the numbers of the block
    and ``delays`` the delay lines; of an array of structs, ``reals`` are the states as rows of reals.
    """

    width: int  # vehicles of a block
    in_lanes: bool  # vehicles are numbered within their block
    #: ``steps(c, s, u, reals, delays, b, slot, n)`` does n steps of block b with its present commands; the next
    #: entry of all delay lines goes to ``slot``, and the slot after the last one is returned.
    steps: Callable[..., int]
    #: ``read(reals, b, place, i)`` is the real number at a place of the state of vehicle i of block b.
    read: Callable[..., float]


#: A loop: makes ``block(vehicles, reals, delays, b, slot, arguments)``, which processes one block.
Loop = Callable[[Engine], Callable[..., None]]


def step_loop(engine: Engine) -> Callable[..., None]:
    """The loop that only steps; the argument is the number of steps."""
    steps = engine.steps

    def block(vehicles: Any, reals: Array, delays: DelayLines, b: int, slot: int, arguments: tuple[int]) -> None:
        c, s, u = vehicles
        steps(c, s, u, reals, delays, b, slot, arguments[0])

    return block


def lane_engine(phases: tuple[Callable[..., None], ...], set_references: Callable[..., None], plan: Plan) -> Engine:
    """The engine of vehicles in lanes."""
    width, limited, narrow = plan.width, plan.limited, plan.width == NARROW
    lines = tuple(enumerate(LineRows(*(row * width for row in line)) for line in plan.lines))

    def steps(c: Any, s: Any, u: Any, reals: Array, delays: DelayLines, b: int, slot: int, n: int) -> int:
        references, rates, dead_steps, uniform, vehicles = delays
        slots = references.shape[2]
        # Wide blocks are mostly full, and loops of a constant length are a tenth faster.
        lanes = (min(width, vehicles - b * width) + VECTOR - 1) // VECTOR * VECTOR if narrow else width
        for i in range(lanes):
            set_references(c[i], s[i], u[i])
        for _ in range(n):
            for k, line in lines:
                if uniform[b]:
                    out = slot - dead_steps[b, k, 0]
                    out = out + slots if out < 0 else out
                    for i in range(lanes):
                        reals[line.delayed_reference + i] = references[b, k, out, i]
                        if limited:
                            reals[line.delayed_rate + i] = rates[b, k, out, i]
                else:
                    for i in range(lanes):
                        out = slot - dead_steps[b, k, i]
                        out = out + slots if out < 0 else out
                        reals[line.delayed_reference + i] = references[b, k, out, i]
                        if limited:
                            reals[line.delayed_rate + i] = rates[b, k, out, i]
            for phase in phases:
                for i in range(lanes):
                    phase(c[i], s[i], u[i])
            for k, line in lines:
                for i in range(lanes):
                    references[b, k, slot, i] = reals[line.entered_reference + i]
                    if limited:
                        rates[b, k, slot, i] = reals[line.entered_rate + i]
            slot = slot + 1 if slot + 1 < slots else 0
        return slot

    def read(reals: Array, b: int, place: int, i: int) -> float:
        return float(reals[place * width + i])

    return Engine(width, True, steps, read)


def fetch(reals: Array, begin: int, numbers: Array, b: int, width: int) -> None:
    """Copy the numbers of block ``b``, of shape (rows, vehicles of all blocks), to the rows from ``begin`` on."""
    for k in range(numbers.shape[0]):
        for i in range(width):
            reals[(begin + k) * width + i] = numbers[k, b * width + i]


def keep(reals: Array, begin: int, numbers: Array, b: int, width: int, first: int) -> None:
    """Copy the numbers from row ``first`` on back."""
    for k in range(first, numbers.shape[0]):
        for i in range(width):
            numbers[k, b * width + i] = reals[(begin + k) * width + i]


class Extension(NamedTuple):
    """The records that a loop adds to coefficients, states and commands, and the first of their rows that changes."""

    layouts: tuple[Layout, ...] = ()
    changing: int = 0


@cache
def lane_program(
    phases: tuple[Callable[..., None], ...],
    set_references: Callable[..., None],
    plan: Plan,
    loop: Loop,
    extension: Extension,
) -> Any:
    """``run(reals, numbers, more, delays, at, first, end, arguments)``: some blocks through a loop.

    ``reals`` is room for one block, ``first`` is the first one and ``end`` the one after the last. The next entry of
    all delay lines comes to slot ``at``. ``numbers`` are those of all vehicles, ``more`` those of the extension.
    """
    width, begin, changing, more_changing = plan.width, plan.rows, plan.changing[0], extension.changing
    layouts = plan.coefficients, plan.state, plan.command
    extended = bool(extension.layouts)
    block = loop(lane_engine(phases, set_references, plan))

    def run(
        vehicles: Any,
        reals: Array,
        numbers: Array,
        more: Array,
        delays: DelayLines,
        at: int,
        first: int,
        end: int,
        arguments: tuple[Any, ...],
    ) -> None:
        for b in range(first, end):
            fetch(reals, 0, numbers, b, width)
            if extended:
                fetch(reals, begin, more, b, width)
            block(vehicles, reals, delays, b, at, arguments)
            keep(reals, 0, numbers, b, width, changing)
            if extended:
                keep(reals, begin, more, b, width, more_changing)

    blocks = tuple(Block(layout, width) for layout in (*layouts, *extension.layouts))
    line = through_line if plan.limited else through_unlimited_line
    return compiled_over_blocks(run, {"vehicles": blocks}, {through_dead_time: line}, **OPTIONS)


def struct_engine(step: Callable[..., None], set_references: Callable[..., None]) -> Engine:
    """The engine of an array of structs."""

    def steps(c: Records, s: Records, u: Records, reals: Array, delays: int, b: int, slot: int, n: int) -> int:
        set_references(c[b], s[b], u[b])
        for _ in range(n):
            step(c[b], s[b], u[b])
        return 0

    def read(reals: Array, b: int, place: int, i: int) -> float:
        return float(reals[b, place])

    return Engine(1, False, steps, read)


@cache
def struct_program(
    step: Callable[..., None], set_references: Callable[..., None], loop: Loop, error_model: str, *dtypes: np.dtype[Any]
) -> Any:
    """``run(vehicles, reals, arguments, first, end)``: some vehicles through a loop; arrays have a record each."""
    block = loop(struct_engine(step, set_references))

    def run(vehicles: Any, reals: Array, arguments: tuple[Any, ...], first: int, end: int) -> None:
        for i in range(first, end):
            block(vehicles, reals, 0, i, 0, arguments)

    return compiled(run, *dtypes, **(OPTIONS | {"error_model": error_model}))
