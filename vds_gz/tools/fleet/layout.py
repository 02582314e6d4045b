"""The numbers of many objects of one class: fields as columns, records and rows; the base links of many vehicles."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.arrays import Array
from vds_gz.core.compiling import compiled
from vds_gz.core.compiling.record_layout import (
    BlockRow,
    Constant,
    FixedArray,
    Layout,
    LayoutEntry,
    NumberKind,
    RecordList,
)
from vds_gz.core.errors import ArgumentError
from vds_gz.core.vehicle.compiled import has_records
from vds_gz.core.vehicle.trigonometry import sine_cosine

#: A selection of vehicles: an index, a slice, a mask or indices.
Some: TypeAlias = "int | slice | NDArray[np.bool_] | NDArray[np.intp]"

NumberArray: TypeAlias = "NDArray[np.float64] | NDArray[np.int64] | NDArray[np.bool_]"


def no_such_number(model: str, name: str, names: Iterable[str]) -> str:
    """The message that a state has no real number with a name."""
    return f"the state of vehicle model '{model}' has no real number '{name}'; it has {', '.join(names)}"


class Columns:
    """The fields of many objects of one class: arrays with one entry a vehicle, and ``Columns`` for nested objects.

    A list of objects is a tuple of ``Columns``, such as that of wheel 2 in ``columns.modules[2]``.

    The arrays are views and can be changed in place. ``columns.v_x = 1.0`` sets all; ``columns[3] = twist(...)`` sets
    all fields of some vehicles to those of one object.
    """

    def __init__(self, fields: Mapping[str, StateColumn]) -> None:
        """Take fields by their names."""
        object.__setattr__(self, "_fields", dict(fields))

    def __getattr__(self, name: str) -> Any:
        """One field."""
        fields: dict[str, StateColumn] = object.__getattribute__(self, "_fields")
        try:
            return fields[name]
        except KeyError:
            raise AttributeError(f"there is no field '{name}'; there are {', '.join(fields)}") from None

    def __setattr__(self, name: str, values: object) -> None:
        """Set one field of all vehicles."""
        column = self.__getattr__(name)
        if isinstance(column, Columns):
            raise ArgumentError(f"'{name}' has fields ({', '.join(dir(column))}); set one of these")
        if isinstance(column, tuple):
            raise ArgumentError(f"'{name}' is a list of {len(column)} records; set a field of one")
        column[...] = values

    def __setitem__(self, some: Some, sample: object) -> None:
        """Set all fields of some vehicles to those of an object of the class."""
        for name, column in self._fields.items():
            value = getattr(sample, name)
            pairs = zip(column, value, strict=True) if isinstance(column, tuple) else ((column, value),)
            for part, entry in pairs:
                part[some] = entry

    def __len__(self) -> int:
        """Number of vehicles."""
        return len(next(self.each()))

    def __reduce__(self) -> str:
        """Refuse to copy: a copy would not change the fleet."""
        raise ArgumentError("columns are views of a fleet's numbers and cannot be copied; copy the arrays in them")

    def __dir__(self) -> list[str]:
        return list(self._fields)

    def write_to(self, sample: object, vehicle: int) -> None:
        """Set the fields of an object of the class to those of one vehicle."""
        for name, column in self._fields.items():
            if isinstance(column, Columns):
                column.write_to(getattr(sample, name), vehicle)
            elif isinstance(column, tuple):
                for part, entry in zip(column, getattr(sample, name), strict=True):
                    part.write_to(entry, vehicle)
            else:
                value = column[vehicle].tolist()
                setattr(sample, name, bool(value) if isinstance(getattr(sample, name), bool) else value)

    def each(self) -> Iterator[NumberArray]:
        """All arrays, including those of nested objects."""
        for column in self._fields.values():
            if isinstance(column, Columns):
                yield from column.each()
            elif isinstance(column, tuple):
                for part in column:
                    yield from part.each()
            else:
                yield column


StateColumn: TypeAlias = "NumberArray | Columns | tuple[Columns, ...]"


#: A class's numbers by their paths.
Entries: TypeAlias = "dict[str, BlockRow | FixedArray | Constant]"


class LayoutField(NamedTuple):
    """A number of a dataclass object, or of an object within it."""

    path: str  # dotted names, and indices in lists of records, such as modules[0].drive.velocity
    kind: NumberKind
    length: int | None = None  # of a list of a fixed length


def fields_in(sample: object, prefix: str = "") -> Iterator[LayoutField]:
    """The numbers of a dataclass object and of those within it.

    The lists of an object with a field ``head`` are delay lines, whose lengths differ; they and the head are left out.
    """
    assert dataclasses.is_dataclass(sample)
    values = [(field, getattr(sample, field.name)) for field in dataclasses.fields(sample)]
    lists = [field.name for field, value in values if isinstance(value, list) and not has_records(value)]
    left_out = ("head", *lists) if lists and hasattr(sample, "head") else ()
    for field, value in values:
        path = prefix + field.name
        if dataclasses.is_dataclass(value):
            yield from fields_in(value, f"{path}.")
        elif has_records(value):
            for k, entry in enumerate(value):
                yield from fields_in(entry, f"{path}[{k}].")
        elif isinstance(value, list) and field.name not in left_out:
            yield LayoutField(path, "real", len(value))
        elif field.name not in left_out:
            yield LayoutField(path, kind_of(field.type, value))


def kind_of(annotation: object, value: object) -> NumberKind:
    """The type of a number: real if its class declares so, even for 2 instead of 2.0."""
    if annotation in ("float", float) or isinstance(value, float):
        return "real"
    return "flag" if isinstance(value, bool) else "whole"


def list_lengths(state: object, prefix: str = "") -> dict[str, int]:
    """Lengths of the lists of a state, by their paths; a list of records comes before the lists in them."""
    assert dataclasses.is_dataclass(state)
    lengths: dict[str, int] = {}
    for field in dataclasses.fields(state):
        value = getattr(state, field.name)
        if isinstance(value, list):
            lengths[prefix + field.name] = len(value)
            for k, entry in enumerate(value if has_records(value) else ()):
                lengths |= list_lengths(entry, f"{prefix}{field.name}[{k}].")
        elif dataclasses.is_dataclass(value):
            lengths |= list_lengths(value, f"{prefix}{field.name}.")
    return lengths


@cache
def values_at(*paths: str) -> Callable[[object], tuple[Any, ...]]:
    """A function for what an object has at some paths; ``*`` before a path stands for all entries of a list."""
    values = [f"*sample.{path[1:]}" if path.startswith("*") else f"sample.{path}" for path in paths]
    read: Callable[[object], tuple[Any, ...]] = eval(f"lambda sample: ({', '.join([*values, ''])})")
    return read


def reader(fields: Sequence[LayoutField]) -> Callable[[object], Sequence[float]]:
    """A function for the numbers of an object, with those of its lists one after the other."""
    get = values_at(*(field.path if field.length is None else f"*{field.path}" for field in fields))
    lengths = {}  # lists of records come before the lists in their records
    for field in fields:
        for index in re.finditer(r"\[(\d+)\]", field.path):
            lengths[field.path[: index.start()]] = int(index[1]) + 1
    lengths |= {field.path: field.length for field in fields if field.length is not None}
    lists = [(path, length, values_at(path)) for path, length in lengths.items()]

    def read(sample: object) -> Sequence[float]:
        for path, length, entries in lists:
            (value,) = entries(sample)
            if len(value) != length:
                raise ArgumentError(
                    f"list '{path}' has {len(value)} entries, and {length} for another vehicle; in lanes all must have "
                    "as many"
                )
        return get(sample)

    return read if lists else get


def values_of(samples: Sequence[object], fields: Sequence[LayoutField]) -> Array:
    """The numbers of many objects, of shape (numbers, objects)."""
    return np.ascontiguousarray(np.array(list(map(reader(fields), samples)), np.float64).T)


def layout_of(entries: Entries) -> Layout:
    """The layout of numbers by their paths."""
    parts: dict[str, BlockRow | FixedArray | Constant | Entries] = {}
    for path, entry in entries.items():
        name, _, rest = path.partition(".")
        if rest:
            nested = parts.setdefault(name, {})
            assert isinstance(nested, dict)
            nested[rest] = entry
        else:
            parts[name] = entry
    fields: dict[str, LayoutEntry] = {}
    for name, part in parts.items():
        if not isinstance(part, dict):
            fields[name] = part
        elif name.endswith("]"):  # the next record of a list
            name = name.partition("[")[0]
            before = fields.get(name)
            records = before.records if isinstance(before, RecordList) else ()
            fields[name] = RecordList((*records, layout_of(part)))
        else:
            fields[name] = layout_of(part)
    return Layout(tuple(fields.items()))


class BaseLinks(NamedTuple):
    """Pose [m, m, rad] and velocity in the vehicles' own axes [m/s, m/s, rad/s] of base_link, one entry a vehicle."""

    x: Array
    y: Array
    heading: Array
    v_x: Array
    v_y: Array
    yaw_rate: Array


def base_links(states: Columns, offsets: Array) -> BaseLinks:
    """The motion of every base_link, equal to the bit to :func:`~vds_gz.core.vehicle.vehicle.motion_of`."""
    moved = BaseLinks(*(getattr(states, name).copy() for name in BaseLinks._fields))
    compiled(move)(*moved, offsets)
    return moved


def move(x: Array, y: Array, heading: Array, v_x: Array, v_y: Array, yaw_rate: Array, offsets: Array) -> None:
    """Move poses and velocities along the vehicles' x axes."""
    for i in range(len(x)):
        sine, cosine = sine_cosine(heading[i])
        x[i] += offsets[i] * cosine
        y[i] += offsets[i] * sine
        v_y[i] += offsets[i] * yaw_rate[i]
