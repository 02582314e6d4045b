"""Where the numbers of records are, in compiled code that has no records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

NumberKind = Literal["real", "whole", "flag"]


@dataclass(frozen=True)
class BlockRow:
    """A number of every vehicle, in a row of a block."""

    kind: NumberKind
    index: int


@dataclass(frozen=True)
class FixedArray:
    """A list of a record whose length never changes: the rows of its entries."""

    rows: tuple[BlockRow, ...]


@dataclass(frozen=True)
class Constant:
    """A flag that is the same for all vehicles, and so a constant of the program."""

    value: bool


@dataclass(frozen=True)
class RecordList:
    """A list of records, whose length never changes."""

    records: tuple[Layout, ...]

    @cached_property
    def rows(self) -> tuple[BlockRow, ...]:
        """All rows of the records."""
        return tuple(row for record in self.records for row in record.rows)


@dataclass(frozen=True)
class Layout:
    """The fields of a class."""

    fields: tuple[tuple[str, LayoutEntry], ...]

    @cached_property
    def entries(self) -> dict[str, LayoutEntry]:
        """The fields by their names."""
        return dict(self.fields)

    @cached_property
    def has_lists(self) -> bool:
        """Whether there are lists of records in it."""
        nested = any(isinstance(entry, Layout) and entry.has_lists for _, entry in self.fields)
        return nested or any(isinstance(entry, RecordList) for _, entry in self.fields)

    @cached_property
    def rows(self) -> tuple[BlockRow, ...]:
        """All rows, with those of nested records and arrays."""
        rows: list[BlockRow] = []
        for _, entry in self.fields:
            if isinstance(entry, BlockRow):
                rows.append(entry)
            elif not isinstance(entry, Constant):
                rows += entry.rows
        return tuple(rows)


@dataclass(frozen=True)
class KnownNumber:
    """A whole number that is known before the program runs, as the index of a record in a list."""

    value: int


@dataclass(frozen=True)
class Block:
    """Records side by side, one a vehicle: ``block[i]`` in a function is the record of vehicle ``i``.

    The numbers of row ``k`` are ``reals[k * width : (k + 1) * width]``, where ``reals`` is an array of the function.
    Whole numbers and flags are stored with the bits of 64-bit integers.
    """

    layout: Layout
    width: int


#: What a field of a class is.
LayoutEntry: TypeAlias = "BlockRow | FixedArray | Constant | Layout | RecordList"

#: What a function gets in the place of a record, or of the index of one.
Form: TypeAlias = "Layout | Block | tuple[Block, ...] | KnownNumber"
