"""What attributes, subscripts and records of a function in lanes become: variables, or entries of a block."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias, TypeGuard

from vds_gz.core.compiling.function_source import FunctionSource, stored_names
from vds_gz.core.compiling.record_layout import (
    Block,
    BlockRow,
    Constant,
    FixedArray,
    Form,
    KnownNumber,
    Layout,
    RecordList,
)

#: The name of a block's array, and names of types that the generated module has.
REALS, INT64, FLOAT64 = "reals", "int64_", "float64_"


class LanePlace(NamedTuple):
    """The vehicle of a block whose record a function reads."""

    width: int
    vehicle: ast.expr


class Number(NamedTuple):
    """A number of a record; ``place`` is None if it is a parameter of the function."""

    row: BlockRow
    place: LanePlace | None


class Numbers(NamedTuple):
    """An array of a record."""

    rows: tuple[BlockRow, ...]
    place: LanePlace | None


class RecordEntry(NamedTuple):
    """A record, or a part of one."""

    layout: Layout
    place: LanePlace | None = None


class ListedRecords(NamedTuple):
    """A list of records."""

    records: tuple[Layout, ...]
    place: LanePlace | None


RecordPart: TypeAlias = RecordEntry | Number | Numbers | ListedRecords | Constant | Block | tuple[Block, ...] | None


class RecordNumbers:
    """The records of one function.

    Attributes:
        names: The variables of rows. They begin with a parameter, so that equal functions of two records are one text.
        used, changed: The rows that the function reads, and that it sets.
    """

    def __init__(
        self, source: FunctionSource, forms: Mapping[str, Form], rewritten: Callable[[ast.expr], ast.expr]
    ) -> None:
        """Name the numbers of the parameters ``forms``; ``rewritten`` rewrites an index."""
        self.names: dict[int, str] = {}
        self.used: dict[int, BlockRow] = {}
        self.changed: dict[int, BlockRow] = {}
        self._source, self._rewritten = source, rewritten
        self._records: dict[str, RecordEntry | Block | tuple[Block, ...]] = {}
        for parameter, form in forms.items():
            if isinstance(form, KnownNumber):
                if parameter in stored_names(source.tree):
                    why = "gets a known whole number, such as an index; set another variable"
                    source.refuse(source.tree, f"parameter '{parameter}' {why}")
                source.known[parameter] = form.value
                continue
            self._records[parameter] = RecordEntry(form) if isinstance(form, Layout) else form
            if isinstance(form, Layout):
                self._name_rows(form, f"{parameter}_")

    def _name_rows(self, layout: Layout, prefix: str) -> None:
        """Name the rows of a record, each differently, and not as a variable of the function."""
        for field, entry in layout.fields:
            if isinstance(entry, Layout):
                self._name_rows(entry, f"{prefix}{field}_")
            elif isinstance(entry, RecordList):
                for k, record in enumerate(entry.records):
                    self._name_rows(record, f"{prefix}{field}_{k}_")
            elif isinstance(entry, BlockRow):
                self._name_row(entry, f"{prefix}{field}_")
            elif isinstance(entry, FixedArray):
                for k, row in enumerate(entry.rows):
                    self._name_row(row, f"{prefix}{field}_{k}_")

    def _name_row(self, row: BlockRow, name: str) -> None:
        while name in self._source.local or name in self.names.values():
            name += "_"
        self.names.setdefault(row.index, name)

    def bind(self, target: ast.expr, value: RecordPart) -> None:
        """Give a record another name."""
        if isinstance(target, ast.Tuple) and are_blocks(value) and len(target.elts) == len(value):
            for name, block in zip(target.elts, value, strict=True):
                self.bind(name, block)
        elif isinstance(target, ast.Name) and self._records.get(target.id, value) == value:
            self._records[target.id] = value  # type: ignore[assignment]
        else:
            self._source.refuse(target, "lanes cannot choose or store a record; write one statement for each")

    @contextmanager
    def names_of_a_round(self) -> Iterator[None]:
        """One round of an unrolled loop, in which a name may be another record than in the round before."""
        outside = dict(self._records)
        yield
        self._records = outside

    def entry(self, node: ast.expr) -> RecordPart:
        """What an expression is in a record; None if it is no part of one."""
        if isinstance(node, ast.Name):
            return self._records.get(node.id)
        if isinstance(node, ast.Attribute):
            record = self.entry(node.value)
            if isinstance(record, RecordEntry):
                if node.attr not in record.layout.entries:
                    self._source.refuse(node, f"the record has no number '{node.attr}' in lanes")
                entry = record.layout.entries[node.attr]
                if isinstance(entry, Layout):
                    return RecordEntry(entry, record.place)
                if isinstance(entry, FixedArray):
                    return Numbers(entry.rows, record.place)
                if isinstance(entry, RecordList):
                    return ListedRecords(entry.records, record.place)
                return Number(entry, record.place) if isinstance(entry, BlockRow) else entry
        if isinstance(node, ast.Subscript):
            of = self.entry(node.value)
            if isinstance(of, Block):
                return RecordEntry(of.layout, LanePlace(of.width, self._rewritten(node.slice)))
            if isinstance(of, (Numbers, ListedRecords)) and (index := self.index(node.slice)) is not None:
                if not -len(of[0]) <= index < len(of[0]):
                    self._source.refuse(node, f"the array has {len(of[0])} entries")
                if isinstance(of, ListedRecords):
                    return RecordEntry(of.records[index], of.place)
                return Number(of.rows[index], of.place)
        return None

    def index(self, node: ast.expr) -> int | None:
        """A whole number that is known before the program runs; None if it is not."""
        if self._source.calls(node, "len") and node.args:
            of = self.entry(node.args[0])
            return len(of[0]) if isinstance(of, (Numbers, ListedRecords)) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            operand = self.index(node.operand)
            return None if operand is None else -operand
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            left, right = self.index(node.left), self.index(node.right)
            if left is None or right is None:
                return None
            return left + right if isinstance(node.op, ast.Add) else left - right
        value = node.value if isinstance(node, ast.Constant) else (self._source.value(node) or (None,))[0]
        return int(value) if isinstance(value, int) and not isinstance(value, bool) else None

    def rewritten(self, node: ast.Attribute | ast.Subscript) -> ast.expr | None:
        """A number of a record as an expression; None if the node is no part of a record."""
        entry = self.entry(node)
        if isinstance(entry, Number):
            return self.number(entry, node.ctx)
        if isinstance(entry, Constant):
            if not isinstance(node.ctx, ast.Load):
                self._source.refuse(node, "this flag is a constant")
            return ast.Constant(entry.value)
        if entry is not None:
            self._source.refuse(node, "lanes have no records and arrays as values; read their numbers")
        of = self.entry(node.value) if isinstance(node, ast.Subscript) else None
        if isinstance(of, ListedRecords):
            why = "a record has a computed index; lanes need 'for k in range(len(...))', without break and continue"
            self._source.refuse(node, why)
        return self._chosen(node, of) if isinstance(node, ast.Subscript) and isinstance(of, Numbers) else None

    def number(self, number: Number, ctx: ast.expr_context) -> ast.expr:
        """A number as a variable, or as an entry of a block."""
        row, place = number
        if place is None:
            self.used[row.index] = row
            if not isinstance(ctx, ast.Load):
                self.changed[row.index] = row
            return ast.Name(self.names[row.index], ctx)
        index = ast.BinOp(ast.Constant(row.index * place.width), ast.Add(), place.vehicle)
        entry = ast.Subscript(ast.Name(REALS, ast.Load()), index, ctx)
        if row.kind == "real":
            return entry
        if not isinstance(ctx, ast.Load):
            self._source.refuse(entry, "only functions may change whole numbers and flags of a block")
        whole = viewed(entry, FLOAT64, INT64)
        return whole if row.kind == "whole" else ast.Compare(whole, [ast.NotEq()], [ast.Constant(0)])

    def _chosen(self, node: ast.Subscript, of: Numbers) -> ast.expr:
        """The entry of an array with a computed index."""
        if not isinstance(node.ctx, ast.Load):
            self._source.refuse(node, "an entry is set whose index is computed; lanes need one that is known")
        if isinstance(node.slice, ast.Slice):
            self._source.refuse(node, "lanes have no slices; read the entries")
        if not of.rows:
            return ast.Constant(0.0)  # which no run reads
        index, last = self._rewritten(node.slice), len(of.rows) - 1
        below = ast.Compare(index, [ast.Lt()], [ast.Constant(0)])
        index = ast.IfExp(below, ast.BinOp(index, ast.Add(), ast.Constant(last + 1)), index)
        chosen = self.number(Number(of.rows[last], of.place), ast.Load())
        for k in reversed(range(last)):
            is_k = ast.Compare(index, [ast.Eq()], [ast.Constant(k)])
            chosen = ast.IfExp(is_k, self.number(Number(of.rows[k], of.place), ast.Load()), chosen)
        return chosen


def viewed(number: ast.expr, kind: str, other: str) -> ast.expr:
    """The bits of a number of one type as a number of another type."""
    typed = ast.Call(ast.Name(kind, ast.Load()), [number], [])
    return ast.Call(ast.Attribute(typed, "view", ast.Load()), [ast.Name(other, ast.Load())], [])


def are_blocks(entry: object) -> TypeGuard[tuple[Block, ...]]:
    """Blocks of several records."""
    return type(entry) is tuple
