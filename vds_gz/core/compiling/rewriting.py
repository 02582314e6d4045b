"""A function's source, rewritten to functions of plain numbers that numba compiles and the processor vectorizes.

Names of other modules' functions and constants are resolved: functions become functions of the generated module,
constants become literals. A parameter that is a record vanishes: each of its numbers that the function uses becomes a
parameter, and each that it changes is returned. So compiled loops have no records, whose numbers could overlap.
Branches that a constant decides go, and loops over arrays of a fixed length are unrolled.
"""

from __future__ import annotations

import ast
import builtins
import copy
import enum
import hashlib
import linecache
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from vds_gz.core.compiling.record_layout import Block, BlockRow, Constant, FixedArray, Form, Layout
from vds_gz.core.errors import ArgumentError

#: The name of a block's array, and names of types that the generated module has.
REALS, INT64, FLOAT64 = "reals", "int64_", "float64_"

#: Modules whose functions numba knows.
KNOWN_MODULES = ("math", "numpy")


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


@dataclass(frozen=True)
class RewrittenFunction:
    """A function of the generated module.

    Attributes:
        name: Its name, which has a hash of its text.
        text: Its source.
        used, changed: The numbers of records that it takes first, and that it returns last.
        returns: It returns a value besides.
    """

    name: str
    text: str
    used: tuple[BlockRow, ...]
    changed: tuple[BlockRow, ...]
    returns: bool


class Rewriting:
    """The functions of one generated module.

    Attributes:
        parts: All functions by their names, each after those that it calls.
        values: Classes, arrays and functions of other modules, by their names in the module.
    """

    def __init__(self, replaced: Mapping[Callable[..., Any], Callable[..., Any]]) -> None:
        """Collect functions; calls of some are replaced by calls of others."""
        self.parts: dict[str, RewrittenFunction] = {}
        self.values: dict[str, object] = {}
        self._replaced = replaced
        self._made: dict[object, RewrittenFunction | None] = {}

    def target(self, value: object) -> Callable[..., Any] | None:
        """The function that is called in the place of a value; None if numba knows the value, or it is no function."""
        function = getattr(value, "py_func", value)
        if not isinstance(function, FunctionType) or (function.__module__ or "").split(".")[0] in KNOWN_MODULES:
            return None
        return self._replaced.get(function, function)

    def part(self, function: Callable[..., Any], records: Mapping[str, Form]) -> RewrittenFunction:
        """A function whose parameters ``records`` vanish."""
        assert isinstance(function, FunctionType)
        key = function, tuple(sorted(records.items(), key=lambda item: item[0]))
        if key not in self._made:
            self._made[key] = None
            try:
                part = _Function(self, function, records).part()
            except RecursionError:
                raise ArgumentError(
                    f"{_line(function.__code__, 0)}: an expression in '{function.__name__}' is too long; split it"
                ) from None
            self._made[key] = part
            self.parts.setdefault(part.name, part)
        made = self._made[key]
        if made is None:
            raise ArgumentError(f"{_line(function.__code__, 0)}: function '{function.__name__}' calls itself")
        return made

    def value(self, name: str, value: object, identity: object) -> ast.expr:
        """The name of a value, which depends on what the value is."""
        self.values[f"{name}_{_hash(repr(identity))}"] = value
        return ast.Name(f"{name}_{_hash(repr(identity))}", ast.Load())


def source_of(function: FunctionType) -> ast.FunctionDef:
    """The syntax tree of a function.

    Raises:
        ArgumentError: The function is a lambda, or its source is missing or was changed after the import.
    """
    code = function.__code__
    linecache.checkcache(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
    try:
        nodes = _functions(text).get((code.co_firstlineno, code.co_name), [])
    except SyntaxError:
        nodes = []
    for node, compiled in nodes:
        if _facts(compiled) == _facts(code):
            return copy.deepcopy(node)
    raise ArgumentError(
        f"{_line(code, 0)}: the source of '{function.__qualname__}' is not there or not that of the running function; "
        "compiled code needs a function with `def`, in a file that is unchanged since its import"
    )


@cache
def _functions(text: str) -> dict[tuple[int, str], list[tuple[ast.FunctionDef, CodeType]]]:
    """All functions of a file by first line and name, with their code."""
    tree = ast.parse(text)
    codes: dict[tuple[int, str], list[CodeType]] = {}
    for code in _codes(compile(text, "", "exec", dont_inherit=True)):
        codes.setdefault((code.co_firstlineno, code.co_name), []).append(code)
    functions: dict[tuple[int, str], list[tuple[ast.FunctionDef, CodeType]]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            place = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]), node.name
            functions.setdefault(place, []).extend((node, code) for code in codes.get(place, ()))
    return functions


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code and all codes within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _facts(code: CodeType) -> object:
    """What a code does."""
    constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, repr(constants)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _line(code: CodeType, line: int) -> str:
    """File and line of a function; line 0 stands for its first."""
    return f"{code.co_filename}:{line or code.co_firstlineno}"


def literal(value: object) -> ast.expr | None:
    """A number, a text or a tuple of them as source; None if a value is none of these."""
    if isinstance(value, (np.bool_, np.float64, np.int64)):
        value = value.item()
    elif isinstance(value, (int, float)) and not isinstance(value, bool):  # also of a subclass, such as an IntFlag
        value = int(value) if isinstance(value, int) else float(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.copysign(1.0, value) < 0.0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    if value is None or isinstance(value, (bool, int, float)) or type(value) is str:
        return ast.Constant(value)
    if type(value) is tuple:
        entries = [literal(entry) for entry in value]
        return ast.Tuple([entry for entry in entries if entry], ast.Load()) if all(entries) else None
    return None


class _Function(ast.NodeTransformer):
    """Rewrites one function."""

    def __init__(self, program: Rewriting, function: FunctionType, records: Mapping[str, Form]) -> None:
        self._program, self._python, self._parameters = program, function, set(records)
        self._tree = source_of(function)
        self._local = _stored(self._tree) | {node.arg for node in ast.walk(self._tree) if isinstance(node, ast.arg)}
        self._local |= {*function.__code__.co_varnames}  # with the names of patterns and imports
        self._result = "result_"  # of a call that changes records
        while self._result in self._local:
            self._result += "_"
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        self._outer = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}
        self._known: dict[str, object] = {}  # values of the variables of loops that are unrolled
        self._records: dict[str, RecordEntry | Block | tuple[Block, ...]] = {}
        self._names: dict[int, str] = {}  # of rows, by parameters, so that equal functions of two records are one text
        for parameter, form in records.items():
            self._records[parameter] = RecordEntry(form) if isinstance(form, Layout) else form
            if isinstance(form, Layout):
                self._name_rows(form, f"{parameter}_")
        self._used: dict[int, BlockRow] = {}
        self._changed: dict[int, BlockRow] = {}
        self._whole: ast.expr | None = None  # the right side of a statement, where a call may change records
        self._changing: tuple[RewrittenFunction, LanePlace | None] | None = None  # that call

    def _name_rows(self, layout: Layout, prefix: str) -> None:
        """Name the rows of a record, each differently, and not as a variable of the function."""
        for field, entry in layout.fields:
            if isinstance(entry, Layout):
                self._name_rows(entry, f"{prefix}{field}_")
            elif not isinstance(entry, Constant):
                rows = (
                    [("", entry)]
                    if isinstance(entry, BlockRow)
                    else [(f"{k}_", row) for k, row in enumerate(entry.rows)]
                )
                for suffix, row in rows:
                    name = f"{prefix}{field}_{suffix}"
                    while name in self._local or name in self._names.values():
                        name += "_"
                    self._names.setdefault(row.index, name)

    def part(self) -> RewrittenFunction:
        """The function for the generated module."""
        parameters = self._tree.args
        if parameters.vararg or parameters.kwarg or parameters.kwonlyargs or parameters.posonlyargs:
            self._refuse(self._tree, "a function must have plain parameters, without * and /")
        body = self._tree.body
        if ast.get_docstring(self._tree) is not None:
            body = body[1:]
        body = self._block(body)
        used, changed = (tuple(rows[k] for k in sorted(rows)) for rows in (self._used, self._changed))
        returns = any(isinstance(node, ast.Return) and node.value for statement in body for node in ast.walk(statement))
        if changed:
            if returns and not _ends(body):
                self._refuse(self._tree, "a function that changes a record returns a value, but not at its end")
            body = _Returning([self._names[row.index] for row in changed], self._refuse, returns).body(body)
        names = [parameter.arg for parameter in parameters.args]
        defaults = dict(zip(reversed(names), reversed(self._python.__defaults__ or ()), strict=False))
        plain = [name for name in names if name not in self._parameters]
        arguments = ast.arguments(
            posonlyargs=[],
            args=[ast.arg(name) for name in [*(self._names[row.index] for row in used), *plain]],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[self._named(self._tree, defaults[name]) for name in plain if name in defaults],
        )
        name = self._tree.name
        definition: Any = ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[])
        definition.type_params = []  # which Python has from 3.12 on
        text = ast.unparse(ast.fix_missing_locations(definition))
        text = f"{self._tuple_fields()}{text}"
        hashed = f"{name}_{_hash(text)}"
        return RewrittenFunction(hashed, text.replace(f"def {name}(", f"def {hashed}(", 1), used, changed, returns)

    def _tuple_fields(self) -> str:
        """A comment with the fields of named tuples among the arguments, whose order machine code depends on."""
        lines = []
        for parameter in self._tree.args.args:
            kind = self._static(parameter.annotation) if parameter.annotation else None
            if kind and hasattr(kind[0], "_fields"):
                lines.append(f"# {parameter.arg}: {kind[0]._fields}\n")
        return "".join(lines)

    def _refuse(self, node: ast.AST, why: str) -> Any:
        """Refuse a part of the source."""
        what = "" if isinstance(node, ast.FunctionDef) else f": {ast.unparse(node).splitlines()[0]}"
        raise ArgumentError(f"{_line(self._python.__code__, getattr(node, 'lineno', 0))}: {why}{what}")

    def _block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements, without those after a return."""
        body: list[ast.stmt] = []
        for statement in statements:
            new = self.visit(statement)
            body += new if isinstance(new, list) else [new] if new is not None else []
            if body and isinstance(body[-1], ast.Return):
                break
        return body or [ast.Pass()]

    # Records and their numbers

    def _entry(self, node: ast.expr) -> RecordEntry | Number | Numbers | Constant | Block | tuple[Block, ...] | None:
        """What an expression is in a record; None if it is no part of one."""
        if isinstance(node, ast.Name):
            return self._records.get(node.id)
        if isinstance(node, ast.Attribute):
            record = self._entry(node.value)
            if isinstance(record, RecordEntry):
                if node.attr not in record.layout.entries:
                    self._refuse(node, f"the record has no number '{node.attr}' in lanes")
                entry = record.layout.entries[node.attr]
                if isinstance(entry, Layout):
                    return RecordEntry(entry, record.place)
                if isinstance(entry, FixedArray):
                    return Numbers(entry.rows, record.place)
                return Number(entry, record.place) if isinstance(entry, BlockRow) else entry
        if isinstance(node, ast.Subscript):
            of = self._entry(node.value)
            if isinstance(of, Block):
                return RecordEntry(of.layout, LanePlace(of.width, self.visit(node.slice)))
            if isinstance(of, Numbers) and (index := self._index(node.slice)) is not None:
                if not -len(of.rows) <= index < len(of.rows):
                    self._refuse(node, f"the array has {len(of.rows)} entries")
                return Number(of.rows[index], of.place)
        return None

    def _number(self, number: Number, ctx: ast.expr_context) -> ast.expr:
        """A number as a variable, or as an entry of a block."""
        row, place = number
        if place is None:
            self._used[row.index] = row
            if not isinstance(ctx, ast.Load):
                self._changed[row.index] = row
            return ast.Name(self._names[row.index], ctx)
        index = ast.BinOp(ast.Constant(row.index * place.width), ast.Add(), place.vehicle)
        entry = ast.Subscript(ast.Name(REALS, ast.Load()), index, ctx)
        if row.kind == "real":
            return entry
        if not isinstance(ctx, ast.Load):
            self._refuse(entry, "only functions may change whole numbers and flags of a block")
        whole = _viewed(entry, FLOAT64, INT64)
        return whole if row.kind == "whole" else ast.Compare(whole, [ast.NotEq()], [ast.Constant(0)])

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        entry = self._entry(node)
        if isinstance(entry, Number):
            return self._number(entry, node.ctx)
        if isinstance(entry, Constant):
            if not isinstance(node.ctx, ast.Load):
                self._refuse(node, "this flag is a constant")
            return ast.Constant(entry.value)
        if entry is not None:
            self._refuse(node, "lanes have no records and arrays as values; read their numbers")
        values = self._static(node)
        return self._named(node, *values) if values else self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        of, entry = self._entry(node.value), self._entry(node)
        if isinstance(entry, Number):
            return self._number(entry, node.ctx)
        if entry is not None:
            self._refuse(node, "lanes have no records and arrays as values; read their numbers")
        if not isinstance(of, Numbers):
            return self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            self._refuse(node, "an entry is set whose index is computed; lanes need one that is known")
        index, last = self.visit(node.slice), len(of.rows) - 1
        below = ast.Compare(index, [ast.Lt()], [ast.Constant(0)])
        index = ast.IfExp(below, ast.BinOp(index, ast.Add(), ast.Constant(last + 1)), index)
        chosen = self._number(Number(of.rows[last], of.place), ast.Load())
        for k in reversed(range(last)):
            is_k = ast.Compare(index, [ast.Eq()], [ast.Constant(k)])
            chosen = ast.IfExp(is_k, self._number(Number(of.rows[k], of.place), ast.Load()), chosen)
        return chosen

    def _calls(self, node: ast.expr, name: str) -> TypeGuard[ast.Call]:
        """An expression calls a builtin function, whose name stands for nothing else."""
        own = name in self._local or name in self._outer
        return not own and isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name

    def _index(self, node: ast.expr) -> int | None:
        """A whole number that is known before the program runs; None if it is not."""
        if self._calls(node, "len") and node.args:
            of = self._entry(node.args[0])
            return len(of.rows) if isinstance(of, Numbers) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            operand = self._index(node.operand)
            return None if operand is None else -operand
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            left, right = self._index(node.left), self._index(node.right)
            if left is None or right is None:
                return None
            return left + right if isinstance(node.op, ast.Add) else left - right
        value = node.value if isinstance(node, ast.Constant) else (self._static(node) or (None,))[0]
        return int(value) if isinstance(value, int) else None

    # Values of other modules

    def _static(self, node: ast.AST) -> tuple[object] | None:
        """The value of a global name, or of an attribute of a module or class; None if it is not known."""
        if isinstance(node, ast.Name):
            if node.id in self._known:
                return (self._known[node.id],)
            if node.id not in self._local and node.id in self._outer:
                return (self._outer[node.id],)
        if isinstance(node, ast.Attribute):
            of = self._static(node.value)
            if of and isinstance(of[0], (ModuleType, type, enum.Enum, tuple)) and hasattr(of[0], node.attr):
                return (getattr(of[0], node.attr),)
        return None

    def _named(self, node: ast.AST, value: object) -> ast.expr:
        """A value of another module in the generated one."""
        text = literal(value)
        if text is not None:
            return text
        if isinstance(value, float):
            return self._program.value("nan", value, "nan")
        if function := self._program.target(value):
            return ast.Name(self._program.part(function, {}).name, ast.Load())
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        if isinstance(name, str) and getattr(builtins, name, None) is value:
            return ast.Name(name, ast.Load())
        if isinstance(value, np.ndarray):
            return self._program.value("array", value, (value.dtype.str, value.shape, value.tobytes()))
        if isinstance(name, str) and (isinstance(value, type) or callable(value)) and not isinstance(value, ModuleType):
            module = getattr(value, "__module__", None) or "numpy"
            if isinstance(value, type) or module.split(".")[0] in KNOWN_MODULES:
                return self._program.value(name.split(".")[-1], value, (module, name, getattr(value, "_fields", ())))
        return self._refuse(node, f"compiled code cannot use a {type(value).__name__} of a module")  # type: ignore[no-any-return]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._records:
            self._refuse(node, "lanes have no records as values, and cannot choose or store one")
        values = self._static(node) if isinstance(node.ctx, ast.Load) else None
        return self._named(node, *values) if values else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if (length := self._index(node)) is not None:
            return ast.Constant(length)
        values = self._static(node.func)
        function = self._program.target(values[0]) if values else None
        if function is None:
            return self.generic_visit(node)
        starred = [a.value for a in node.args if isinstance(a, ast.Starred)]
        starred += [word.value for word in node.keywords if word.arg is None]
        if any(self._entry(argument) is not None for argument in starred):
            self._refuse(node, "records cannot be passed with *")
        assert isinstance(function, FunctionType)
        parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
        named = [*zip(parameters, node.args, strict=False), *((word.arg, word.value) for word in node.keywords)]
        forms: dict[str, Form] = {}
        places: dict[str, LanePlace | None] = {}
        for name, argument in named:
            entry = self._entry(argument)
            if isinstance(entry, RecordEntry):
                forms[str(name)] = entry.layout
                places[ast.dump(entry.place.vehicle) if entry.place else ""] = entry.place
            elif isinstance(entry, Block) or _are_blocks(entry):
                forms[str(name)] = entry
        if len(places) > 1:
            self._refuse(node, "a function gets records of more than one vehicle")
        part = self._program.part(function, forms)
        if part.changed and node is not self._whole:
            self._refuse(node, "a function that changes a record is called within an expression; give it a statement")
        (place,) = places.values() or (None,)
        passed = [self._number(Number(row, place), ast.Load()) for row in part.used]
        arguments = [a for k, a in enumerate(node.args) if k >= len(parameters) or parameters[k] not in forms]
        words = [ast.keyword(word.arg, self.visit(word.value)) for word in node.keywords if word.arg not in forms]
        call = ast.Call(ast.Name(part.name, ast.Load()), passed + [self.visit(a) for a in arguments], words)
        if part.changed:
            self._changing = part, place
        return call

    def _evaluated(self, value: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """A right side: statements that go before, and the expression for its value."""
        self._whole, self._changing = value, None
        new = self.visit(value)
        self._whole = None
        if self._changing is None:
            return [], new
        part, place = self._changing
        targets: list[ast.expr] = [ast.Name(self._result, ast.Store())] if part.returns else []
        after: list[ast.stmt] = []
        for row in part.changed:
            if place is None or row.kind == "real":
                targets.append(self._number(Number(row, place), ast.Store()))
                continue
            name = f"{row.kind}_{row.index}_"
            targets.append(ast.Name(name, ast.Store()))
            stored = self._number(Number(BlockRow("real", row.index), place), ast.Store())
            after.append(ast.Assign([stored], _viewed(ast.Name(name, ast.Load()), INT64, FLOAT64)))
        result: ast.expr = ast.Name(self._result, ast.Load()) if part.returns else ast.Constant(None)
        return [ast.Assign([ast.Tuple(targets, ast.Store())], new), *after], result

    # Statements

    def visit_Return(self, node: ast.Return) -> Any:
        if node.value is None:
            return node
        before, value = self._evaluated(node.value)
        nothing = isinstance(value, ast.Constant) and value.value is None
        return [*before, ast.copy_location(ast.Return(None if nothing else value), node)]

    def visit_Assign(self, node: ast.Assign) -> Any:
        of = self._entry(node.value)
        if isinstance(of, (RecordEntry, Numbers, Block)) or _are_blocks(of):
            for target in node.targets:
                self._bind(target, of)
            return None
        if isinstance(node.value, ast.Tuple) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple):
            pairs = list(zip(node.targets[0].elts, node.value.elts, strict=False))
            records = [pair for pair in pairs if isinstance(self._entry(pair[1]), (RecordEntry, Numbers))]
            if records:
                for target, value in records:
                    self._bind(target, self._entry(value))
                rest = [pair for pair in pairs if pair not in records]
                if not rest:
                    return None
                targets, values = [target for target, _ in rest], [value for _, value in rest]
                node = ast.copy_location(
                    ast.Assign([ast.Tuple(targets, ast.Store())], ast.Tuple(values, ast.Load())), node
                )
        before, value = self._evaluated(node.value)
        return [*before, ast.Assign([self.visit(target) for target in node.targets], value)]

    def _bind(self, target: ast.expr, value: Any) -> None:
        """Give a record another name."""
        if isinstance(target, ast.Tuple) and _are_blocks(value) and len(target.elts) == len(value):
            for name, block in zip(target.elts, value, strict=True):
                self._bind(name, block)
        elif isinstance(target, ast.Name) and self._records.get(target.id, value) == value:
            self._records[target.id] = value
        else:
            self._refuse(target, "lanes cannot choose or store a record; write one statement for each")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node)) if node.value else None

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Constant):
            return None
        before, value = self._evaluated(node.value)
        return before or ast.Expr(value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self._refuse(node, f"function '{node.name}' within a function")

    def visit_While(self, node: ast.While) -> ast.AST:
        orelse = self._block(node.orelse) if node.orelse else []
        return ast.While(self._condition(node.test), self._block(node.body), orelse)

    def visit_For(self, node: ast.For) -> Any:
        values = self._iterated(node)
        if values is not None:
            body: list[ast.stmt] = []
            for value in values:
                body += self._know(node.target, value)
                body += self._block(copy.deepcopy(node.body))
            for name in _stored(node.target):
                self._known.pop(name, None)
            return body
        orelse = self._block(node.orelse) if node.orelse else []
        return ast.For(self.visit(node.target), self.visit(node.iter), self._block(node.body), orelse)

    def _iterated(self, node: ast.For) -> Sequence[object] | None:
        """The values of a loop that is unrolled, as its variable is an index of a record's array or a known value."""
        if any(isinstance(part, (ast.Break, ast.Continue)) for part in ast.walk(node)) or node.orelse:
            return None
        if any(_stored(node.target) & _stored(statement) for statement in node.body):
            return None
        values = self._static(node.iter)
        if values and type(values[0]) is tuple and literal(values[0]) is None:
            return values[0]
        arrays = (self._entry(part.value) for part in ast.walk(node) if isinstance(part, ast.Subscript))
        if not self._calls(node.iter, "range") or not any(isinstance(array, Numbers) for array in arrays):
            return None
        limits = [self._index(argument) for argument in node.iter.args]
        return None if None in limits else range(*[limit for limit in limits if limit is not None])

    def _know(self, target: ast.expr, value: object) -> list[ast.stmt]:
        """Make a value known under the names of a loop's variables; set these, as code after the loop may read them."""
        if isinstance(target, ast.Tuple) and isinstance(value, tuple):
            pairs = zip(target.elts, value, strict=True)
            return [statement for name, entry in pairs for statement in self._know(name, entry)]
        if isinstance(target, ast.Name):
            self._known[target.id] = value
            text = literal(value)
            return [ast.Assign([target], text)] if text else []
        return self._refuse(target, "the variable of an unrolled loop must be a name")  # type: ignore[no-any-return]

    # Branches that a constant decides

    def _condition(self, node: ast.expr) -> ast.expr:
        """A condition, whose value counts only as true or false."""
        new = self.visit(node)
        if not isinstance(new, ast.BoolOp):
            return new  # type: ignore[no-any-return]
        decides = isinstance(new.op, ast.Or)
        if any(isinstance(value, ast.Constant) and bool(value.value) is decides for value in new.values):
            return ast.Constant(decides)
        values = [value for value in new.values if not isinstance(value, ast.Constant)]
        return values[0] if len(values) == 1 else ast.BoolOp(new.op, values)

    def visit_If(self, node: ast.If) -> Any:
        test = self._condition(node.test)
        if isinstance(test, ast.Constant):
            chosen = node.body if test.value else node.orelse
            return self._block(chosen) if chosen else None
        return ast.If(test, self._block(node.body), self._block(node.orelse) if node.orelse else [])

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        test = self._condition(node.test)
        if isinstance(test, ast.Constant):
            return self.visit(node.body if test.value else node.orelse)
        return ast.IfExp(test, self.visit(node.body), self.visit(node.orelse))

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        decides = isinstance(node.op, ast.Or)
        values: list[ast.expr] = []
        for k, value in enumerate(node.values):
            new = self.visit(value)
            if isinstance(new, ast.Constant) and bool(new.value) is not decides and k < len(node.values) - 1:
                continue
            values.append(new)
            if isinstance(new, ast.Constant) and bool(new.value) is decides:
                break
        return values[0] if len(values) == 1 else ast.BoolOp(node.op, values)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            operand = self._condition(node.operand)
            return (
                ast.Constant(not operand.value) if isinstance(operand, ast.Constant) else ast.UnaryOp(node.op, operand)
            )
        return self.generic_visit(node)


def _viewed(number: ast.expr, kind: str, other: str) -> ast.expr:
    """The bits of a number of one type as a number of another type."""
    typed = ast.Call(ast.Name(kind, ast.Load()), [number], [])
    return ast.Call(ast.Attribute(typed, "view", ast.Load()), [ast.Name(other, ast.Load())], [])


def _stored(tree: ast.AST) -> set[str]:
    """The names that a part of the source sets."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _ends(statements: Sequence[ast.stmt]) -> bool:
    """No statement can follow these."""
    last = statements[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _ends(last.body) and _ends(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise))


def _are_blocks(entry: object) -> TypeGuard[tuple[Block, ...]]:
    return type(entry) is tuple


class _Returning(ast.NodeTransformer):
    """Lets a function also return numbers of records."""

    def __init__(self, names: Sequence[str], refuse: Any, returns: bool) -> None:
        self._names, self._refuse, self._returns = names, refuse, returns

    def body(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements, with a return at the end."""
        body = [self.visit(statement) for statement in statements]
        if not isinstance(body[-1], ast.Return) and not self._returns:
            body.append(self._returned([]))
        return body

    def visit_Return(self, node: ast.Return) -> ast.Return:
        if self._returns and node.value is None:
            self._refuse(node, "a function that changes a record returns a value in one place and none in another")
        return self._returned([node.value] if node.value else [])

    def _returned(self, values: list[ast.expr]) -> ast.Return:
        return ast.Return(ast.Tuple([*values, *(ast.Name(name, ast.Load()) for name in self._names)], ast.Load()))
