"""A fleet as an array of structs, for models that do not run in lanes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Generic, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.errors import ArgumentError
from vds_gz.core.vehicle.command import Command
from vds_gz.core.vehicle.compiled import read_record, records, with_room, write_columns
from vds_gz.core.vehicle.schedule import Records
from vds_gz.core.vehicle.vehicle_model import C, P, S, VehicleModel
from vds_gz.tools.fleet.layout import Columns, StateColumn, no_such_number
from vds_gz.tools.fleet.program import NO_EXCEPTIONS, Loop, share, step_loop, struct_program


class Structs(Generic[P, C, S]):
    """The vehicles of a fleet whose model does not run in lanes.

    Attributes:
        model, parameters: Those of the vehicles.
        states, commands: Those of all vehicles.
    """

    def __init__(
        self, model: VehicleModel[P, C, S], parameters: Sequence[P], dt: float, room: int = 1, copies: int = 1
    ) -> None:
        """Make vehicles at rest at the origin.

        Args:
            model, parameters, dt: Those of the vehicles.
            room: The lists' length is rounded up to a multiple of this number, because programs depend on it.
            copies: Number of copies of the vehicles, one set after the other.
        """
        self.model = model
        self.parameters = [*parameters] * copies
        self._dt = dt
        coefficients = [model.coefficients(group, dt) for group in parameters] * copies
        self._coefficients = records(coefficients)
        self._states = records([model.at_rest(c) for c in coefficients], room)
        self._commands = records([Command() for _ in coefficients])
        self._rest = self._states.copy()
        self.states, self.commands = columns_of(self._states), columns_of(self._commands)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name not in ("states", "commands")}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self.states, self.commands = columns_of(self._states), columns_of(self._commands)

    def advance(self, steps: int) -> None:
        """Advance by a number of steps with the present commands."""
        self.execute(step_loop, steps, (steps,), error_model="python")

    def execute(
        self,
        loop: Loop,
        steps: int,
        arguments: tuple[object, ...],
        more: tuple[Records, ...] = (),
        error_model: str = NO_EXCEPTIONS,
    ) -> None:
        """Run all vehicles through a loop of a number of steps, on all cores if that is faster.

        ``more`` are the records that the loop adds to coefficients, states and commands.
        """
        vehicles = tuple(array.view(np.ndarray) for array in (*self.arrays, *more))
        reals = vehicles[1].view(np.float64).reshape(len(vehicles[1]), -1)
        dtypes = [array.dtype for array in vehicles]
        run = struct_program(self.model.step, self.model.set_references, loop, error_model, *dtypes)
        share(partial(run, vehicles, reals, arguments), len(reals), len(reals) * steps)

    @property
    def arrays(self) -> tuple[Records, Records, Records]:
        """Coefficients, states and commands, one record a vehicle."""
        return self._coefficients, self._states, self._commands

    def state(self, vehicle: int) -> S:
        """A copy of a vehicle's state, with its delay lines."""
        state = self.model.at_rest(self.model.coefficients(self.parameters[vehicle], self._dt))
        read_record(self._states[vehicle], state)
        return state

    def place(self, name: str) -> int:
        """Position of a real number of the state by its dotted name: a column of the records' bytes as reals."""
        places = dict(_places(self._states.dtype))
        if name not in places:
            raise ArgumentError(no_such_number(self.model.name, name, places))
        return places[name]

    def begin(self, states: Sequence[S], vehicles: NDArray[np.intp]) -> None:
        """Give vehicles copies of states, one each."""
        _write(self._states, vehicles, states)

    def configure(self, vehicles: NDArray[np.intp], parameters: Sequence[P]) -> None:
        """Set other parameters of vehicles that are reset next; longer lists move all vehicles to larger records."""
        coefficients = [self.model.coefficients(group, self._dt) for group in parameters]
        rest = [self.model.at_rest(c) for c in coefficients]
        self._coefficients = with_room(self._coefficients, coefficients)
        self._rest = with_room(self._rest, rest)
        if self._rest.dtype != self._states.dtype:
            self._states = with_room(self._states, rest)
            self.states = columns_of(self._states)
        _write(self._coefficients, vehicles, coefficients)
        _write(self._rest, vehicles, rest)
        for vehicle, group in zip(vehicles.tolist(), parameters, strict=True):
            self.parameters[vehicle] = group

    def reset(self, vehicles: NDArray[np.intp]) -> None:
        """Put vehicles at rest at the origin, with empty delay lines."""
        self._states[vehicles] = self._rest[vehicles]


#: Vehicles of a model that is selected by name at run time.
AnyStructs: TypeAlias = Structs[Any, Any, Any]


def _write(array: Records, vehicles: NDArray[np.intp], samples: Sequence[object]) -> None:
    """Set the records of some vehicles."""
    chosen = array.view(np.ndarray)[vehicles]
    write_columns(chosen, samples)
    array[vehicles] = chosen


def columns_of(array: Records) -> Columns:
    """The numbers of records, without lists of numbers, as views."""
    plain = array.view(np.ndarray)
    fields: dict[str, StateColumn] = {}
    for name in plain.dtype.names or ():
        kind = plain.dtype[name]
        if kind.names:
            fields[name] = columns_of(plain[name])
        elif kind.base.names:
            fields[name] = tuple(columns_of(plain[name][:, k]) for k in range(kind.shape[0]))
        elif not kind.shape:
            fields[name] = plain[name]
    return Columns(fields)


def _places(record: np.dtype[np.void], prefix: str = "", begin: int = 0) -> Iterator[tuple[str, int]]:
    """The real numbers of a record, with the number of reals before each."""
    for name, (kind, offset, *_) in (record.fields or {}).items():
        if kind.names:
            yield from _places(kind, f"{prefix}{name}.", begin + offset)
        elif kind.base.names:
            for k in range(kind.shape[0]):
                yield from _places(kind.base, f"{prefix}{name}[{k}].", begin + offset + k * kind.base.itemsize)
        elif kind == np.float64:
            yield prefix + name, (begin + offset) // kind.itemsize
