"""One vehicle, compiled for long runs. Needs numba.

numba compiles the same functions that run interpreted: those of a model, and all functions that they call.
Coefficients, states and commands become records with the same field names.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any, TypeGuard, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import DTypeLike, NDArray

from vds_gz.core.arrays import Integers
from vds_gz.core.compiling import compiled
from vds_gz.core.errors import ArgumentError
from vds_gz.core.vehicle.command import Command
from vds_gz.core.vehicle.schedule import COMMAND, Records, check, fields_of, geared_before, segments
from vds_gz.core.vehicle.vehicle import NANOSECONDS, Motion, Vehicle, motion_numbers
from vds_gz.core.vehicle.vehicle_model import C, P, S

#: Maximum number of segments in one compiled call.
TOGETHER = 10_000

#: Lists of states have room for a multiple of this, so that one compiled program serves most dead times.
ROOM = 256


def record_type(samples: Sequence[object], room: int = 1) -> np.dtype[np.void]:
    """The record of a state or coefficients class.

    Lists of numbers have room for the longest one among the samples, rounded up to a multiple of ``room`` entries.
    Lists of records are as long in all samples.
    """
    fields: list[tuple[str, DTypeLike] | tuple[str, DTypeLike, tuple[int]]] = []
    for field, values in _field_values(samples):
        if dataclasses.is_dataclass(values[0]):
            fields.append((field.name, record_type(values, room)))
        elif any(map(has_records, values)):
            length = common_length(field.name, map(len, values))
            fields.append((field.name, record_type([*chain.from_iterable(values)], room), (length,)))
        elif isinstance(values[0], list):
            longest = max(map(len, values))
            kind = float if longest else _entry_type(type(samples[0]), field.name)
            fields.append((field.name, kind, (-(-longest // room) * room,)))
        else:
            fields.append((field.name, number_type(field, values[0])))
    return np.dtype(fields, align=True)


def has_records(value: object) -> TypeGuard[list[Any]]:
    """Whether a field is a list with records."""
    return isinstance(value, list) and bool(value) and dataclasses.is_dataclass(value[0])


def common_length(name: str, lengths: Iterable[int]) -> int:
    """The one length of the lists of records of all vehicles."""
    shortest, *longer = sorted(set(lengths))
    if longer:
        raise ArgumentError(
            f"list '{name}' has {shortest} entries for one vehicle and {longer[-1]} for another; all vehicles of a "
            "fleet must have as many"
        )
    return shortest


def _entry_type(holder: Any, name: str) -> DTypeLike:
    """The type of the entries of a list that is empty, by its annotation, so that loops over it compile."""
    kind = get_type_hints(holder)[name]
    entry = get_args(kind)[0] if get_origin(kind) is list else float
    return _record_of(entry) if dataclasses.is_dataclass(entry) else float


def _record_of(holder: Any) -> np.dtype[np.void]:
    """The record of a class of which there is no object."""
    fields: list[tuple[str, DTypeLike] | tuple[str, DTypeLike, tuple[int]]] = []
    for name, kind in get_type_hints(holder).items():
        if dataclasses.is_dataclass(kind):
            fields.append((name, _record_of(kind)))
        elif get_args(kind):
            fields.append((name, _entry_type(holder, name), (0,)))
        else:
            fields.append((name, kind))
    return np.dtype(fields, align=True)


def number_type(field: dataclasses.Field[object], value: object) -> type:
    """The type of a number in a record: real if the field is declared as float, even if the value is an int."""
    if field.type in ("float", float):
        return float
    return int if isinstance(value, int) and not isinstance(value, bool) else type(value)


def records(samples: Sequence[object], room: int = 1) -> Records:
    """States or coefficients of one class as an array of records, see :func:`record_type`."""
    array = np.zeros(len(samples), record_type(samples, room)).view(np.recarray)
    write_columns(array.view(np.ndarray), samples)
    return array


def _plain(array: Records) -> Records:
    """Records as an array with the one object of their type, which numba recognizes several times faster."""
    plain = array.view(np.ndarray)
    return plain.view(_one_object(plain.dtype))


@cache
def _one_object(record: np.dtype[np.void]) -> np.dtype[np.void]:
    """The same object for all equal types."""
    return record


def write_columns(array: NDArray[np.void], samples: Sequence[object]) -> None:
    """Copy every field of many objects into records."""
    for field, values in _field_values(samples):
        column = array[field.name]
        if dataclasses.is_dataclass(values[0]):
            write_columns(column, values)
        elif has_records(values[0]):
            for k, entries in enumerate(zip(*values, strict=True)):
                write_columns(column[:, k], entries)
        elif isinstance(values[0], list):
            for row, value in zip(column, values, strict=True):
                row[: len(value)] = value
        else:
            column[:] = values


def _field_values(samples: Sequence[object]) -> Iterator[tuple[dataclasses.Field[object], list[Any]]]:
    """The fields of a dataclass, each with its values in many objects."""
    assert dataclasses.is_dataclass(samples[0])
    for field in dataclasses.fields(samples[0]):
        yield field, list(map(attrgetter(field.name), samples))


def with_room(array: Records, samples: Sequence[object]) -> Records:
    """Records with room for the lists of these samples too; unchanged if they have it already."""
    wide = _wider(array.dtype, record_type(samples))
    if wide == array.dtype:
        return array
    moved = np.zeros(len(array), wide).view(np.recarray)
    _move(array.view(np.ndarray), moved.view(np.ndarray))
    return moved


def _wider(first: np.dtype[np.void], second: np.dtype[np.void]) -> np.dtype[np.void]:
    """The record with the longer of each two lists of numbers of two records of one class."""
    fields: list[tuple[str, DTypeLike]] = []
    for name in first.names or ():
        kinds = first[name], second[name]
        if kinds[0].base.names and kinds[0].shape:
            length = common_length(name, (kind.shape[0] for kind in kinds))
            fields.append((name, (_wider(kinds[0].base, kinds[1].base), (length,))))
        else:
            fields.append((name, _wider(*kinds) if kinds[0].names else max(kinds, key=lambda kind: kind.shape)))
    return np.dtype(fields, align=True)


def _move(array: NDArray[np.void], wide: NDArray[np.void]) -> None:
    """Copy records into wider ones."""
    for name in array.dtype.names or ():
        kind = array.dtype[name]
        if kind.base.names:
            _move(array[name], wide[name])
        else:
            wide[name][(..., slice(*kind.shape)) if kind.shape else ...] = array[name]


def read_record(record: np.void, sample: object) -> None:
    """Copy every field of a record back into a state object of the same shape."""
    for field, value in _values(sample):
        if dataclasses.is_dataclass(value):
            read_record(record[field.name], value)
        elif has_records(value):
            for k, entry in enumerate(value):
                read_record(record[field.name][k], entry)
        elif isinstance(value, list):
            setattr(sample, field.name, record[field.name][: len(value)].tolist())
        else:
            setattr(sample, field.name, number_type(field, value)(record[field.name]))


def _values(sample: object) -> list[tuple[dataclasses.Field[object], object]]:
    """The fields of a dataclass object and their values."""
    assert dataclasses.is_dataclass(sample)
    return [(field, getattr(sample, field.name)) for field in dataclasses.fields(sample)]


def _as_states(states: Records, plain: S) -> Iterator[S]:
    """Each record as the model's state object ``plain``, which is reused."""
    holders, names, columns = zip(*_columns(states, plain), strict=True)
    for row in zip(*columns, strict=True):
        deque(map(setattr, holders, names, row), maxlen=0)
        yield plain


def _columns(states: Records, plain: object) -> Iterator[tuple[object, str, Iterable[object]]]:
    """Holder, name and values of every field of a state."""
    for field, value in _values(plain):
        column = states[field.name]
        if dataclasses.is_dataclass(value):
            yield from _columns(column, value)
        elif has_records(value):
            for k, entry in enumerate(value):
                yield from _columns(column[:, k], entry)
        else:
            yield plain, field.name, column[:, : len(value)] if isinstance(value, list) else column.tolist()


@cache
def compiled_schedule(step: Callable[..., None], set_references: Callable[..., None], *dtypes: np.dtype[Any]) -> Any:
    """``run(c, s, u, which, steps, ends, samples, motion)`` follows a schedule, and samples the state.

    Segment ``j`` is ``steps[j]`` steps with command ``u[which[j]]``; sample ``k`` is taken after ``ends[k]`` segments,
    if there is room for it. ``motion`` gets the last :func:`~vds_gz.core.vehicle.vehicle.motion_numbers`. ``dtypes``
    are the types of ``c``, ``s`` and ``u``.
    """

    def run(
        c: Records, s: Records, u: Records, which: Any, steps: Any, ends: Any, samples: Records, motion: Any
    ) -> None:
        done = 0
        for k in range(ends.size):
            for j in range(done, ends[k]):
                set_references(c[0], s[0], u[which[j]])
                for _ in range(steps[j]):
                    step(c[0], s[0], u[which[j]])
            done = ends[k]
            if k < samples.size:
                samples[k] = s[0]
        motion[0], motion[1], motion[2], motion[3], motion[4], motion[5] = motion_numbers(c[0], s[0])

    return compiled(run, *dtypes, inlined=True)


class CompiledVehicle(Vehicle[P, C, S]):
    """A vehicle with compiled steps, equal to the interpreted one to the bit and about 100 times faster.

    The first step compiles. Steps are done together when the state is read, so commands need no separate calls of
    compiled code.
    """

    @property
    def state(self) -> S:
        """A copy of the model's state; assign it to change the vehicle's."""
        self._catch_up()
        state = self.model.at_rest(self.coefficients)
        read_record(self._record, state)
        return state

    @state.setter
    def state(self, state: S) -> None:
        self._coefficients = _plain(records([self.coefficients]))
        states = records([state], ROOM)
        self._states = _plain(states)
        self._record = states[0]
        self._motion = np.array(motion_numbers(self.coefficients, state))
        self._waiting = _Segments()
        self._program: Any = None

    def sample(self, times: Iterable[int]) -> Iterator[S]:
        """Advance to each of these increasing times [ns] in one compiled call; yield the states, in one reused object.

        All states are kept with their delay lines, some 10 kB each, so pass thousands of times a call, not millions.
        """
        self._catch_up()
        ends = []
        for time in times:
            for command, steps in self._segments(time):
                self._waiting.add(command, steps)
            ends.append(len(self._waiting.steps))
        samples = self._states.repeat(len(ends))
        self._follow(ends, samples)
        return _as_states(samples, self.model.at_rest(self.coefficients))

    def follow(self, commands: Records, times: Integers, end: int) -> None:
        """Enter commands and advance, as :meth:`enter` and :meth:`advance` do, in one compiled call.

        Args:
            commands: From :func:`~vds_gz.core.vehicle.schedule.command_records`. Commands of a part of the vehicle are
                refused; those of a geared kind must have a gear.
            times: Their arrival times [ns], which must not decrease.
            end: Time to advance to [ns], not before the last command.

        Raises:
            ArgumentError: The commands cannot be followed.
        """
        times = np.asarray(times, np.int64)
        check(commands, times)
        if end < times[-1]:
            raise ArgumentError(f"end is {end} ns, before the last command at {times[-1]} ns; it must be that or later")
        begins = np.maximum(self._steps_from(times), self.steps)
        last = max(int(np.searchsorted(begins, self.steps_until(end), side="right")) - 1, 0)
        if self._queue.waits or self.dead_time_jitter > 0.0 or geared_before(commands[last], commands[:last]):
            last = 0  # the queue handles waiting commands, random delays, and a gear that outlives its command
        if last > 0:
            self.advance(self.time_of(int(begins[0])))
            self._catch_up()
            age = round(min(self.max_command_age * NANOSECONDS, int(times[-1] - times[0]) + 1))
            expiries = self._steps_from(times[: last + 1] + age)
            numbers, steps = segments(commands[: last + 1], begins[: last + 1], expiries)
            self._run(numbers, np.arange(len(steps)), steps, np.array([len(steps)]), self._states[:0])
            self.steps = int(begins[last])
        for command, time in zip(commands[last:].tolist(), times[last:].tolist(), strict=True):
            self.enter(Command(*command), time)
        self.advance(end)

    def motion(self) -> Motion:
        """Pose and velocity of base_link."""
        self._catch_up()
        return Motion(*self._motion.tolist())

    def _do(self, command: Command, steps: int) -> None:
        self._waiting.add(command, steps)
        if len(self._waiting.steps) == TOGETHER:
            self._catch_up()

    def _catch_up(self) -> None:
        """Do all pending steps."""
        if self._waiting.steps:
            self._follow([len(self._waiting.steps)], self._states[:0])

    def _follow(self, ends: list[int], samples: Records) -> None:
        """Do all pending steps, and sample the state after each of these numbers of segments."""
        waiting, self._waiting = self._waiting, _Segments()
        numbers = np.array(waiting.commands or [fields_of(Command())], COMMAND)
        which, steps = np.array((waiting.which, waiting.steps), np.int64)
        self._run(numbers, which, steps, np.array(ends, np.int64), samples)

    def _run(self, numbers: Records, which: Integers, steps: Integers, ends: Integers, samples: Records) -> None:
        arrays = self._coefficients, self._states, numbers
        if self._program is None:  # kept here, as looking it up by its types is slow
            dtypes = [array.dtype for array in arrays]
            self._program = compiled_schedule(self._step, self.model.set_references, *dtypes)
        self._program(*arrays, which, steps, ends, samples, self._motion)

    def _steps_from(self, times: Integers) -> Integers:
        """The first step that begins at or after each of some times [ns]."""
        before = times - 1
        steps = np.floor((before - self.start) * float(self.step_rate) / NANOSECONDS).astype(np.int64)
        steps -= self._times_of(steps) > before
        steps += self._times_of(steps + 1) <= before
        return steps + 1

    def _times_of(self, steps: Integers) -> Integers:
        """:meth:`time_of` for an array."""
        since_start: Integers = np.rint(steps * float(NANOSECONDS) / self.step_rate).astype(np.int64)
        return self.start + since_start


class _Segments:
    """Commands, and how many steps each holds: segment ``j`` is ``steps[j]`` steps with ``commands[which[j]]``."""

    def __init__(self) -> None:
        self.commands: list[tuple[float, ...]] = []
        self.which: list[int] = []
        self.steps: list[int] = []
        self._last: tuple[float, ...] | None = None

    def add(self, command: Command, steps: int) -> None:
        """Add a segment; the command may be changed afterwards."""
        numbers = fields_of(command)
        if numbers != self._last:
            self.commands.append(numbers)
            self._last = numbers
        self.which.append(len(self.commands) - 1)
        self.steps.append(steps)
