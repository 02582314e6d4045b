"""Layout of a block: each row has one number of all vehicles of the block."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Kind = Literal["real", "whole", "flag"]


@dataclass(frozen=True)
class Row:
    """A number, in a row of a block."""

    kind: Kind
    index: int


@dataclass(frozen=True)
class Constant:
    """A flag that is the same for all vehicles, and so a constant of the program."""

    value: bool


@dataclass(frozen=True)
class Layout:
    """The fields of a class in a block."""

    fields: tuple[tuple[str, Row | Constant | Layout], ...]

    @property
    def digest(self) -> str:
        """Of its content."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:16]


#: A class's numbers by their paths of dotted names.
Entries: TypeAlias = "dict[str, Row | Constant]"

Reals: TypeAlias = "NDArray[np.float64]"
Wholes: TypeAlias = "NDArray[np.int64]"
Flags: TypeAlias = "NDArray[np.bool_]"


def kinds_of(sample: object, prefix: str = "") -> Iterator[tuple[str, Kind]]:
    """The numbers of a dataclass's object and its nested objects, by path; without lists and positions in lists."""
    assert dataclasses.is_dataclass(sample)
    values = [(field, getattr(sample, field.name)) for field in dataclasses.fields(sample)]
    has_lists = any(isinstance(value, list) for _, value in values)
    for field, value in values:
        path = prefix + field.name
        if dataclasses.is_dataclass(value):
            yield from kinds_of(value, f"{path}.")
        elif not isinstance(value, list) and not (has_lists and field.name == "head"):
            yield path, kind_of(field.type, value)


def kind_of(annotation: object, value: object) -> Kind:
    """The type of a number: real if its class declares so, even for 2 instead of 2.0."""
    if annotation in ("float", float) or isinstance(value, float):
        return "real"
    return "flag" if isinstance(value, bool) else "whole"


def values_of(samples: Sequence[object], paths: Sequence[str]) -> Reals:
    """Numbers of many objects, of shape (paths, objects)."""
    get = attrgetter(*paths)
    return np.ascontiguousarray(np.array([get(sample) for sample in samples], np.float64).T)


def layout_of(entries: Entries) -> Layout:
    """The layout of numbers by their paths."""
    fields: dict[str, Row | Constant | Entries] = {}
    for path, entry in entries.items():
        name, _, rest = path.partition(".")
        if rest:
            nested = fields.setdefault(name, {})
            assert isinstance(nested, dict)
            nested[rest] = entry
        else:
            fields[name] = entry
    return Layout(
        tuple((name, layout_of(entry) if isinstance(entry, dict) else entry) for name, entry in fields.items())
    )
