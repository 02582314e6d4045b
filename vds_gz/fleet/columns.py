"""The fields of many objects of one class, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vds_gz.errors import ArgumentError

#: A selection of vehicles: an index, a slice, a mask or indices.
Some: TypeAlias = "int | slice | NDArray[np.bool_] | NDArray[np.intp]"

Numbers: TypeAlias = "NDArray[np.float64] | NDArray[np.int64] | NDArray[np.bool_]"


def no_such_number(model: str, name: str, names: Iterable[str]) -> str:
    """The message that a state has no real number with a name."""
    return f"the state of vehicle model '{model}' has no real number '{name}'; it has {', '.join(names)}"


class Columns:
    """The fields of many objects of one class: each an array with one entry a vehicle, a nested object ``Columns``.

    The arrays are views and can be changed in place. ``columns.v_x = 1.0`` sets all; ``columns[3] = twist(...)`` sets
    all fields of some vehicles to those of one object.
    """

    def __init__(self, fields: Mapping[str, Numbers | Columns]) -> None:
        """Take fields by their names."""
        object.__setattr__(self, "_fields", dict(fields))

    def __getattr__(self, name: str) -> Any:
        """One field."""
        fields: dict[str, Numbers | Columns] = object.__getattribute__(self, "_fields")
        try:
            return fields[name]
        except KeyError:
            raise AttributeError(f"there is no field '{name}'; there are {', '.join(fields)}") from None

    def __setattr__(self, name: str, values: object) -> None:
        """Set one field of all vehicles."""
        column = self.__getattr__(name)
        if isinstance(column, Columns):
            raise ArgumentError(f"'{name}' has fields itself ({', '.join(dir(column))}); set one of these")
        column[...] = values

    def __setitem__(self, some: Some, sample: object) -> None:
        """Set all fields of some vehicles to those of an object of the class."""
        for name, column in self._fields.items():
            column[some] = getattr(sample, name)

    def __len__(self) -> int:
        """How many vehicles there are."""
        return len(next(iter(self._fields.values())))

    def __reduce__(self) -> str:
        """Refuse to copy: a copy would not change the fleet.

        Raises:
            ArgumentError: Always.
        """
        raise ArgumentError("columns are views of a fleet's numbers and cannot be copied; copy the arrays in them")

    def __dir__(self) -> list[str]:
        return list(self._fields)

    def write_to(self, sample: object, vehicle: int) -> None:
        """Set the fields of an object of the class to those of one vehicle."""
        for name, column in self._fields.items():
            if isinstance(column, Columns):
                column.write_to(getattr(sample, name), vehicle)
            else:
                value = column[vehicle].item()
                setattr(sample, name, bool(value) if isinstance(getattr(sample, name), bool) else value)

    def each(self) -> Iterator[Numbers]:
        """All arrays, including those of nested objects."""
        for column in self._fields.values():
            if isinstance(column, Columns):
                yield from column.each()
            else:
                yield column
