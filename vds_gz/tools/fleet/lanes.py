"""A fleet in lanes: each state variable of all vehicles is one array, and delay lines lie outside the state."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Any, Generic, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.arrays import Array
from vds_gz.core.compiling.record_layout import BlockRow, Constant, FixedArray, Layout, NumberKind, RecordList
from vds_gz.core.errors import ArgumentError
from vds_gz.core.vehicle.actuators import DriveState, SteeringState, oldest_first
from vds_gz.core.vehicle.command import LIMITS, Command
from vds_gz.core.vehicle.compiled import has_records
from vds_gz.core.vehicle.vehicle_model import C, P, S, VehicleModel
from vds_gz.tools.fleet.layout import (
    Columns,
    Entries,
    NumberArray,
    StateColumn,
    fields_in,
    layout_of,
    no_such_number,
    reader,
    values_at,
    values_of,
)
from vds_gz.tools.fleet.program import (
    WIDTH,
    DelayLines,
    Extension,
    LineRows,
    Loop,
    Plan,
    lane_program,
    share,
    step_loop,
)

#: For loops without an extension.
NO_EXTENSION, NO_NUMBERS = Extension(), np.empty((0, 0))

#: Attributes that a copy creates again.
_NOT_COPIED = {"states", "commands", "_programs"}


class Lanes(Generic[P, C, S]):
    """The vehicles of a fleet whose model runs in lanes.

    The last block is filled up with vehicles at rest, with the dead times of the last vehicle.

    Attributes:
        model, parameters: Those of the vehicles.
        states, commands: Those of all vehicles.
        plan: The layout of a block.
    """

    def __init__(
        self,
        model: VehicleModel[P, C, S],
        parameters: Sequence[P],
        dt: float,
        *,
        constant_flags: bool = True,
        width: int = WIDTH,
        copies: int = 1,
    ) -> None:
        """Make vehicles at rest at the origin.

        Args:
            model, parameters, dt: Those of the vehicles.
            constant_flags: Flags that all vehicles share are constants of the program: it is a quarter faster, and each
                choice of flags compiles its own program.
            width: Number of vehicles in a block.
            copies: Number of copies of the vehicles, one set after the other.
        """
        self.model = model
        self.parameters = [*parameters] * copies
        self._dt = dt
        self._width, self._copies = width, copies
        coefficients = [model.coefficients(group, dt) for group in parameters]
        rest = model.at_rest(coefficients[0])
        self._line_names = list(_line_names(rest))
        self._fields = list(fields_in(rest))
        at_rest, lengths = self._at_rest(coefficients)
        self._count = len(self.parameters)
        self._blocks = -(-self._count // width)

        index = count()
        numbers: list[Array] = []
        self._coefficient_fields = list(fields_in(coefficients[0]))
        c = self._coefficients = self.placed(coefficients, index, numbers, fixed=constant_flags)
        first = len(numbers)
        s = self.placed([rest], index, numbers, at_rest)
        end = len(numbers)
        u = self.placed([Command()], index, numbers)
        self._numbers = np.array(numbers)
        rows = {name: entry for name, entry in s.items() if isinstance(entry, BlockRow)}
        self._places = {name: row.index for name, row in rows.items() if row.kind == "real"}
        layouts = [layout_of(entries) for entries in (s, u)]
        self._layouts = layouts
        self._rest = self._numbers[first:end].copy()

        lines = [{name: BlockRow("real", next(index)) for name in LineRows._fields} for _ in self._line_names]
        s |= {
            f"{line}.{name}": row
            for line, rows in zip(self._line_names, lines, strict=True)
            for name, row in rows.items()
        }
        self.plan = Plan(
            coefficients=layout_of(c),
            state=layout_of(s),
            command=layouts[1],
            lines=tuple(LineRows(*(row.index for row in rows.values())) for rows in lines),
            changing=(first, end),
            rows=next(index),
            limited=False,
            width=width,
        )
        steps = self.padded(lengths.T).reshape(-1, self._blocks, width)
        self._steps = np.ascontiguousarray(steps.transpose(1, 0, 2))
        self._uniform = _uniform(self._steps)
        self._references = np.zeros((self._blocks, len(lines), int(lengths.max(initial=0)) + 1, width))
        self._rates = np.empty((self._blocks, 0, 0, 0))
        self._slot = 0
        self._view()

    def _view(self) -> None:
        """Make the parts that cannot be copied: views of the numbers, and the programs."""
        self.states, self.commands = (self.columns(layout, self._numbers) for layout in self._layouts)
        self._programs: dict[Loop, tuple[Extension, Any]] = {}

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name not in _NOT_COPIED}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._view()

    def advance(self, steps: int) -> None:
        """Advance by a number of steps with the present commands."""
        self.limit()
        self.execute(step_loop, steps, (steps,))

    def limit(self) -> None:
        """Let the delay lines hold limits of rates, if commands have some."""
        if not self.plan.limited and not all(np.isposinf(getattr(self.commands, name)).all() for name in LIMITS):
            self.begin_limits()

    def execute(
        self,
        loop: Loop,
        steps: int,
        arguments: tuple[object, ...],
        extension: Extension = NO_EXTENSION,
        more: Array = NO_NUMBERS,
    ) -> None:
        """Run all blocks through a loop of a number of steps, on all cores if that is faster.

        ``more`` are the numbers of the extension, whose rows follow those of the plan.
        """
        known = self._programs.get(loop)
        if known is None or known[0] is not extension:  # kept here, as looking it up by its plan is slow
            known = self._programs[loop] = extension, self.program(loop, extension)
        delays = DelayLines(self._references, self._rates, self._steps, self._uniform, self._count)
        room = (self.plan.rows + len(more)) * self._width

        def of_blocks(first: int, end: int) -> None:
            known[1](np.empty(room), self._numbers, more, delays, self._slot, first, end, arguments)

        share(of_blocks, self._blocks, self._blocks * self._width * steps)
        self._slot = (self._slot + steps) % self._references.shape[2]

    def program(self, loop: Loop = step_loop, extension: Extension = NO_EXTENSION) -> Any:
        """The compiled program of a loop."""
        phases, set_references = self.model.phases, self.model.set_references
        return lane_program(phases, set_references, self.plan, loop, extension)

    def state(self, vehicle: int) -> S:
        """A copy of a vehicle's state, with its delay lines."""
        state = self.model.at_rest(self.model.coefficients(self.parameters[vehicle], self._dt))
        self.states.write_to(state, vehicle)
        block, lane = divmod(vehicle, self._width)
        for k, name in enumerate(self._line_names):
            (line,) = values_at(name)(state)
            place = block, k, self._slots(len(line.references)), lane
            line.references = self._references[place].tolist()
            if self.plan.limited:
                line.rates = self._rates[place].tolist()
        return state

    def place(self, name: str) -> int:
        """The row of a real number of the state by its dotted name."""
        if name not in self._places:
            raise ArgumentError(no_such_number(self.model.name, name, self._places))
        return self._places[name]

    def begin(self, states: Sequence[S], vehicles: NDArray[np.intp]) -> None:
        """Give vehicles copies of states, one each."""
        self._numbers[slice(*self.plan.changing), vehicles] = self._state_bits(values_of(states, self._fields))
        for k, name in enumerate(self._line_names):
            lines = [line for (line,) in map(values_at(name), states)]
            lengths = np.array([len(line.references) for line in lines])
            for length in np.unique(lengths):
                equal = np.flatnonzero(lengths == length)
                self._fill(k, vehicles[equal], [lines[i] for i in equal])

    def _fill(self, k: int, vehicles: NDArray[np.intp], lines: Sequence[DriveState | SteeringState]) -> None:
        """Fill the k-th delay line of some vehicles from lines of equal lengths."""
        blocks, lanes = np.divmod(vehicles[:, np.newaxis], self._width)
        slots = self._slots(len(lines[0].references))
        self._references[blocks, k, slots, lanes] = [oldest_first(line.references, line.head) for line in lines]
        rates = np.array([oldest_first(line.rates, line.head) for line in lines])
        if not self.plan.limited and rates.min() < math.inf:
            self.begin_limits()
        if self.plan.limited:
            self._rates[blocks, k, slots, lanes] = rates

    def configure(self, vehicles: NDArray[np.intp], parameters: Sequence[P]) -> None:
        """Set new parameters of vehicles that are reset next; several sets of vehicles get the same ones."""
        sets = len(vehicles) // len(parameters)
        coefficients = [self.model.coefficients(group, self._dt) for group in parameters]
        self._set_coefficients(vehicles, coefficients)
        at_rest, lengths = self._at_rest(coefficients)
        self._rest[:, vehicles] = np.tile(self._state_bits(at_rest), sets)
        self._make_room(int(lengths.max(initial=0)) + 1)
        blocks, lanes = np.divmod(vehicles, self._width)
        self._steps[blocks, :, lanes] = np.tile(lengths, (sets, 1))
        last = (self._count - 1) % self._width
        self._steps[-1, :, last + 1 :] = self._steps[-1, :, last : last + 1]
        self._uniform[blocks] = _uniform(self._steps[blocks])
        for vehicle, group in zip(vehicles.tolist(), [*parameters] * sets, strict=True):
            self.parameters[vehicle] = group

    def reset(self, vehicles: NDArray[np.intp]) -> None:
        """Put vehicles at rest at the origin, with empty delay lines."""
        self._numbers[slice(*self.plan.changing), vehicles] = self._rest[:, vehicles]
        self._references[vehicles // self._width, :, :, vehicles % self._width] = 0.0
        if self.plan.limited:
            self._rates[vehicles // self._width, :, :, vehicles % self._width] = math.inf

    def _set_coefficients(self, vehicles: NDArray[np.intp], coefficients: Sequence[C]) -> None:
        """Write the coefficients of vehicles, or of each of several sets of vehicles."""
        values_of_rows = np.tile(values_of(coefficients, self._coefficient_fields), len(vehicles) // len(coefficients))
        placed = list(zip(_entries(self._coefficients), values_of_rows, strict=True))
        for (path, entry), values in placed:
            if isinstance(entry, Constant) and (values != entry.value).any():
                raise ArgumentError(
                    f"coefficient '{path}' is {not entry.value} for vehicle {vehicles[values != entry.value][0]}; "
                    f"in this fleet it is {entry.value} for all: make a fleet in which it differs from the beginning"
                )
        indices, bits = [], []
        for (_, entry), values in placed:
            if isinstance(entry, BlockRow):
                indices.append([entry.index])
                bits.append(_bits(entry.kind, values))
        self._numbers[np.array(indices), vehicles] = bits

    def _make_room(self, slots: int) -> None:
        """Extend all delay lines to at least ``slots`` slots."""
        present = self._references.shape[2]
        if slots > present:
            order = (self._slot + np.arange(present)) % present
            older = ((0, 0), (0, 0), (slots - present, 0), (0, 0))
            self._references = np.pad(self._references[:, :, order], older)
            if self.plan.limited:
                self._rates = np.pad(self._rates[:, :, order], older, constant_values=math.inf)
            self._slot = 0

    def placed(
        self,
        samples: Sequence[object],
        index: Iterator[int],
        numbers: list[Array],
        rows: Array | None = None,
        *,
        fixed: bool = False,
    ) -> Entries:
        """The layout of objects, one per vehicle or one for all; their values are appended to the numbers."""
        fields = list(fields_in(samples[0]))
        rows = values_of(samples, fields) if rows is None else rows
        padded = iter(zip(rows, self.padded(rows), strict=True))
        entries: Entries = {}

        def row_of(kind: NumberKind, values: Array) -> BlockRow:
            numbers.append(_bits(kind, values))
            return BlockRow(kind, next(index))

        for path, kind, length in fields:
            if length is not None:
                entries[path] = FixedArray(tuple(row_of(kind, values) for _, values in islice(padded, length)))
                continue
            values, of_all = next(padded)
            if fixed and kind == "flag" and (values == values[0]).all():
                entries[path] = Constant(bool(values[0]))
            else:
                entries[path] = row_of(kind, of_all)
        return entries

    def padded(self, values: NDArray[np.float64] | NDArray[np.int64]) -> NumberArray:
        """Values for all blocks, along the last axis, from those of all vehicles, of one copy of them or of one."""
        copies = self._copies if values.shape[-1] * self._copies <= self._count else 1
        missing = self._blocks * self._width - values.shape[-1] * copies
        return np.concatenate([*[values] * copies, np.repeat(values[..., -1:], missing, axis=-1)], axis=-1)

    def columns(self, layout: Layout, numbers: Array, first: int = 0) -> Columns:
        """The numbers of a layout for all vehicles, as views of an array whose first row is row ``first``."""
        fields: dict[str, StateColumn] = {}
        for name, entry in layout.fields:
            if isinstance(entry, Layout):
                fields[name] = self.columns(entry, numbers, first)
            elif isinstance(entry, RecordList):
                fields[name] = tuple(self.columns(record, numbers, first) for record in entry.records)
            elif isinstance(entry, BlockRow):
                row = numbers[entry.index - first, : self._count]
                fields[name] = row if entry.kind == "real" else row.view(np.int64)
            elif isinstance(entry, FixedArray):
                begin = entry.rows[0].index - first if entry.rows else 0
                list_numbers = numbers[begin : begin + len(entry.rows), : self._count].T
                fields[name] = list_numbers if entry.rows else ()  # it may be one of records
        return Columns(fields)

    def begin_limits(self) -> None:
        """Let the delay lines hold limits of rates."""
        self.plan = dataclasses.replace(self.plan, limited=True)
        self._programs.clear()
        self._rates = np.full(self._references.shape, math.inf)

    def _at_rest(self, coefficients: Sequence[C]) -> tuple[Array, NDArray[np.int64]]:
        """The numbers of vehicles at rest, of shape (numbers, vehicles), and dead times in steps, (vehicles, lines).

        States are processed one after the other, because each is large with its delay lines.
        """
        numbers, lines = reader(self._fields), values_at(*(f"{name}.references" for name in self._line_names))
        values, lengths = [], []
        for state in map(self.model.at_rest, coefficients):
            values.append(numbers(state))
            lengths.append([len(references) - 1 for references in lines(state)])
        return np.ascontiguousarray(np.array(values, np.float64).T), np.array(lengths, np.int64)

    def _state_bits(self, values: Array) -> list[Array]:
        """The numbers of states, of shape (numbers, vehicles), as stored in rows of reals."""
        kinds = [field.kind for field in self._fields for _ in range(1 if field.length is None else field.length)]
        return [_bits(kind, row) for kind, row in zip(kinds, values, strict=True)]

    def _slots(self, entries: int) -> NDArray[np.intp]:
        """Slots of the entries of a delay line, the oldest first."""
        return (self._slot - entries + np.arange(entries)) % self._references.shape[2]


def _entries(entries: Entries) -> Iterator[tuple[str, BlockRow | Constant]]:
    """All entries with their paths, those of arrays one after the other."""
    for path, entry in entries.items():
        if isinstance(entry, FixedArray):
            yield from ((path, row) for row in entry.rows)
        else:
            yield path, entry


def _bits(kind: NumberKind, values: NumberArray) -> Array:
    """Numbers of a kind as stored in a row of reals."""
    bits: Array = np.asarray(values, np.float64 if kind == "real" else np.int64).view(np.float64)
    return bits


def _uniform(steps: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether all vehicles of a block have equal dead times, given in steps of shape (blocks, lines, vehicles)."""
    return np.asarray((steps == steps[:, :, :1]).all(axis=(1, 2)))


#: Vehicles of a model that is selected by name at run time.
AnyLanes: TypeAlias = Lanes[Any, Any, Any]


def _line_names(state: object, prefix: str = "") -> Iterator[str]:
    """The paths of all actuators in a state that have a delay line."""
    assert dataclasses.is_dataclass(state)
    for field in dataclasses.fields(state):
        value = getattr(state, field.name)
        entries = enumerate(value) if has_records(value) else ()
        for path, part in ((field.name, value), *((f"{field.name}[{k}]", entry) for k, entry in entries)):
            if isinstance(part, (DriveState, SteeringState)):
                yield prefix + path
            elif dataclasses.is_dataclass(part):
                yield from _line_names(part, f"{prefix}{path}.")
