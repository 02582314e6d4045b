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
class Layout:
    """The fields of a class."""

    fields: tuple[tuple[str, BlockRow | FixedArray | Constant | Layout], ...]

    @cached_property
    def entries(self) -> dict[str, BlockRow | FixedArray | Constant | Layout]:
        """The fields by their names."""
        return dict(self.fields)

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
class Block:
    """Records side by side, one a vehicle: ``block[i]`` in a function is the record of vehicle ``i``.

    The numbers of row ``k`` are ``reals[k * width : (k + 1) * width]``, where ``reals`` is an array of the function.
    Whole numbers and flags are stored with the bits of 64-bit integers.
    """

    layout: Layout
    width: int


#: What a function gets in the place of a record.
Form: TypeAlias = "Layout | Block | tuple[Block, ...]"
