"""The compiled program of a fleet in lanes: each block of vehicles does all steps while it is in the cache."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import FunctionType
from typing import Any, NamedTuple, cast

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.datamodel import DataModelManager
from numba.core.typing.templates import AttributeTemplate, Signature
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
)

from vds_gz.core.arrays import Array, Flags, Integers
from vds_gz.core.compiling import Replacements, outermost, part
from vds_gz.core.vehicle.actuators import through_dead_time
from vds_gz.tools.fleet.layout import Constant, LaneRow, Layout

#: Version of the code below; compiled results of other versions are not used.
REVISION = 1

_TYPES = {"real": types.float64, "whole": types.int64, "flag": types.boolean}


class Lane(types.Type):
    """The type of a vehicle in a block, by layout and width."""

    def __init__(self, layout: Layout, width: int) -> None:
        self.fields = dict(layout.fields)
        self.width = width
        super().__init__(name=f"Lane{REVISION}_{width}_{layout.digest}")


@register_model(Lane)
class _LaneModel(models.StructModel):
    """Start of the block, and index of the vehicle."""

    def __init__(self, manager: DataModelManager, lane: Lane) -> None:
        super().__init__(manager, lane, [("block", types.CPointer(types.float64)), ("vehicle", types.intp)])


@infer_getattr
class _LaneAttributes(AttributeTemplate):
    """The types of the attributes."""

    key = Lane

    def generic_resolve(self, lane: Lane, name: str) -> types.Type | None:
        """The type of an attribute; None if there is none with this name."""
        field = lane.fields.get(name)
        if isinstance(field, Layout):
            return Lane(field, lane.width)
        if isinstance(field, Constant):
            return types.boolean
        return field and _TYPES[field.kind]


def _address(context: BaseContext, builder: ir.IRBuilder, lane: Lane, value: ir.Value, row: LaneRow) -> ir.Value:
    """The address of a number."""
    place = cgutils.create_struct_proxy(lane)(context, builder, value)
    index = builder.add(place.vehicle, ir.Constant(place.vehicle.type, row.index * lane.width), flags=("nsw",))
    address = builder.gep(place.block, [index], inbounds=True)
    return address if row.kind == "real" else builder.bitcast(address, ir.IntType(64).as_pointer())


@lower_getattr_generic(Lane)
def _get(context: BaseContext, builder: ir.IRBuilder, lane: Lane, value: ir.Value, name: str) -> ir.Value:
    field = lane.fields[name]
    if isinstance(field, Layout):
        return value
    if isinstance(field, Constant):
        return context.get_constant(types.boolean, field.value)
    number = builder.load(_address(context, builder, lane, value, field))
    return builder.icmp_signed("!=", number, ir.Constant(number.type, 0)) if field.kind == "flag" else number


@lower_setattr_generic(Lane)
def _set(
    context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value], name: str
) -> None:
    lane, kind = signature.args
    value, number = arguments
    field = lane.fields[name]
    assert isinstance(field, LaneRow)
    number = context.cast(builder, number, kind, _TYPES[field.kind])
    if field.kind == "flag":
        number = builder.zext(number, ir.IntType(64))
    builder.store(number, _address(context, builder, lane, value, field))


def lane_of(layout: Layout, width: int) -> Any:
    """``lane(block, i)`` for compiled functions: vehicle ``i`` of a block as an object of this layout.

    A block is an array of rows of ``width`` reals; whole numbers and flags are stored as 64 bits. The attribute with
    row ``k`` of vehicle ``i`` is at ``k * width + i``. The compiler knows all rows, so it sees one base address with
    distinct columns, and vectorizes a loop over ``i``.
    """
    kind = Lane(layout, width)

    def lane(typing: object, block: types.Type, vehicle: types.Type) -> object:
        def code(
            context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
        ) -> ir.Value:
            place = cgutils.create_struct_proxy(kind)(context, builder)
            place.block = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0]).data
            place.vehicle = arguments[1]
            return place._getvalue()

        return kind(block, types.intp), code

    # Part of the fingerprint of functions that call it, by which their compiled code is kept on disk.
    lane.__qualname__ = kind.name
    return intrinsic(lane)


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

#: Maximum number of phases of a step.
PHASES = 4

#: numba's error model in which a division raises no exception; with one, a loop would have a second exit.
NO_EXCEPTIONS = "numpy"

#: numba's options of functions that only compiled ones call; their wrappers take longer to compile than they do.
WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@dataclass(frozen=True)
class LineRows:
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


def nothing(c: Any, s: Any, u: Any) -> None:
    """A phase in the place of one that a model does not have."""


class DelayLines(NamedTuple):
    """The delay lines of all blocks."""

    references: Array  # references, rates: their entries, of shape (blocks, lines, slots, vehicles of a block)
    rates: Array
    dead_steps: Integers  # dead times [steps], of shape (blocks, lines, vehicles of a block)
    uniform: Flags  # whether all vehicles of a block have the same dead times
    vehicles: int  # number of vehicles, without those that fill up the last block


@dataclass(frozen=True)
class Blocks:
    """Parts of the compiled programs over blocks of vehicles."""

    width: int  # vehicles of a block
    changing: tuple[int, int]  # the first row that steps change, and the first one after it
    c: Any  # c, s, u: c(block, i) is vehicle i as the functions of the model see it
    s: Any
    u: Any
    # steps(block, b, delays, slot, n) does n steps of block b with its present commands; the next entry of all lines
    # goes to ``slot``, and the slot after the last one is returned
    steps: Any


def inlined(
    function: Callable[..., Any], replaced: tuple[tuple[Callable[..., Any], Callable[..., Any]], ...] = ()
) -> Any:
    """A function, some of whose calls are replaced by others, for inlining into the program that calls it."""
    return part(
        cast(FunctionType, function), True, cast(Replacements, replaced), error_model=NO_EXCEPTIONS, **WITHOUT_WRAPPERS
    )


def load(block: Array, begin: int, numbers: Array, b: int, width: int) -> None:
    """Copy the numbers of block ``b``, of shape (rows, vehicles of all blocks), to the rows from ``begin`` on."""
    for k in range(numbers.shape[0]):
        for i in range(width):
            block[(begin + k) * width + i] = numbers[k, b * width + i]


def store(block: Array, begin: int, numbers: Array, b: int, width: int, first: int, end: int) -> None:
    """Copy the rows ``first`` to ``end`` of the numbers back."""
    for k in range(first, end):
        for i in range(width):
            numbers[k, b * width + i] = block[(begin + k) * width + i]


@cache
def blocks_of(phases: tuple[FunctionType, ...], set_references: FunctionType, plan: Plan) -> Blocks:
    """Parts of the programs over blocks of a model's vehicles."""
    line = through_line if plan.limited else through_unlimited_line
    parts: tuple[Callable[..., None], ...] = (set_references, *phases, *(nothing,) * (PHASES - len(phases)))
    refer, one, two, three, four = (inlined(phase, ((through_dead_time, line),)) for phase in parts)
    width = plan.width
    c, s, u = (lane_of(layout, width) for layout in (plan.coefficients, plan.state, plan.command))
    limited, lines = plan.limited, len(plan.lines)
    delayed = tuple(line.delayed_reference * width for line in plan.lines)
    delayed_rate = tuple(line.delayed_rate * width for line in plan.lines)
    entered = tuple(line.entered_reference * width for line in plan.lines)
    entered_rate = tuple(line.entered_rate * width for line in plan.lines)

    def steps(block: Array, b: int, delays: DelayLines, slot: int, n: int) -> int:
        references, rates, dead_steps, uniform, vehicles = delays
        slots = references.shape[2]
        lanes = width
        if width == NARROW:  # wide blocks are mostly full, and loops of a constant length are a tenth faster
            lanes = (min(width, vehicles - b * width) + VECTOR - 1) // VECTOR * VECTOR
        for i in range(lanes):
            refer(c(block, i), s(block, i), u(block, i))
        for _ in range(n):
            for k in range(lines):
                if uniform[b]:
                    out = slot - dead_steps[b, k, 0]
                    out = out + slots if out < 0 else out
                    for i in range(lanes):
                        block[delayed[k] + i] = references[b, k, out, i]
                        if limited:
                            block[delayed_rate[k] + i] = rates[b, k, out, i]
                else:
                    for i in range(lanes):
                        out = slot - dead_steps[b, k, i]
                        out = out + slots if out < 0 else out
                        block[delayed[k] + i] = references[b, k, out, i]
                        if limited:
                            block[delayed_rate[k] + i] = rates[b, k, out, i]
            for i in range(lanes):
                one(c(block, i), s(block, i), u(block, i))
            for i in range(lanes):
                two(c(block, i), s(block, i), u(block, i))
            for i in range(lanes):
                three(c(block, i), s(block, i), u(block, i))
            for i in range(lanes):
                four(c(block, i), s(block, i), u(block, i))
            for k in range(lines):
                for i in range(lanes):
                    references[b, k, slot, i] = block[entered[k] + i]
                    if limited:
                        rates[b, k, slot, i] = block[entered_rate[k] + i]
            slot = slot + 1 if slot + 1 < slots else 0
        return slot

    return Blocks(width, plan.changing, c, s, u, inlined(steps))


@cache
def lanes_run(phases: tuple[FunctionType, ...], set_references: FunctionType, plan: Plan) -> Any:
    """``run(block, numbers, delays, at, first, end, n)``: ``n`` steps of some blocks.

    ``block`` is room for one block, ``first`` is the first one and ``end`` the one after the last. ``numbers`` has the
    shape (rows that are stored, vehicles); the next entry of all delay lines comes to slot ``at``.
    """
    blocks = blocks_of(phases, set_references, plan)
    steps, width, (changing, changed) = blocks.steps, blocks.width, blocks.changing
    fetch, keep = inlined(load), inlined(store)

    def run(block: Array, numbers: Array, delays: DelayLines, at: int, first: int, end: int, n: int) -> None:
        for b in range(first, end):
            fetch(block, 0, numbers, b, width)
            steps(block, b, delays, at, n)
            keep(block, 0, numbers, b, width, changing, changed)

    return outermost(run, error_model=NO_EXCEPTIONS, nogil=True, no_cfunc_wrapper=True)
