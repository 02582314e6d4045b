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
import hashlib
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from vds_gz.core.compiling.constant_branches import ConstantBranches
from vds_gz.core.compiling.function_source import FunctionSource, code_line, stored_names
from vds_gz.core.compiling.record_layout import Block, BlockRow, Form, KnownNumber, Layout
from vds_gz.core.compiling.record_numbers import (
    FLOAT64,
    INT64,
    LanePlace,
    ListedRecords,
    Number,
    Numbers,
    RecordEntry,
    RecordNumbers,
    are_blocks,
    viewed,
)
from vds_gz.core.compiling.refused_constructs import check_construct
from vds_gz.core.errors import ArgumentError

#: Modules whose functions numba knows.
KNOWN_MODULES = ("math", "numpy")

#: Comparisons of whole numbers.
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass(frozen=True)
class RewrittenFunction:
    """A function of the generated module.

    Attributes:
        name: Its name, which has a hash of its text.
        text: Its source.
        used, changed: The numbers of records that it takes first, and that it returns last.
        returns: It returns a value besides.
        tree: Its syntax tree, with the lines of the original function.
        code: The original function.
    """

    name: str
    text: str
    used: tuple[BlockRow, ...]
    changed: tuple[BlockRow, ...]
    returns: bool
    tree: ast.FunctionDef
    code: CodeType


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
                    f"{code_line(function.__code__)}: an expression in '{function.__name__}' is too long; split it"
                ) from None
            self._made[key] = part
            self.parts.setdefault(part.name, part)
        made = self._made[key]
        if made is None:
            raise ArgumentError(f"{code_line(function.__code__)}: function '{function.__name__}' calls itself")
        return made

    def value(self, name: str, value: object, identity: object) -> ast.expr:
        """The name of a value, which depends on what the value is."""
        self.values[f"{name}_{_hash(repr(identity))}"] = value
        return ast.Name(f"{name}_{_hash(repr(identity))}", ast.Load())


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


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


class _Function(ConstantBranches, ast.NodeTransformer):
    """Rewrites one function."""

    def __init__(self, program: Rewriting, function: FunctionType, forms: Mapping[str, Form]) -> None:
        self._program, self._forms = program, forms
        self._source = FunctionSource(function)
        self._records = RecordNumbers(self._source, forms, self.visit)
        self._result = "result_"  # of a call that changes records
        while self._result in self._source.local:
            self._result += "_"
        self._whole: ast.expr | None = None  # the right side of a statement, where a call may change records
        self._changing: tuple[RewrittenFunction, LanePlace | None] | None = None  # that call

    def part(self) -> RewrittenFunction:
        """The function for the generated module."""
        tree, records = self._source.tree, self._records
        if tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs or tree.args.posonlyargs:
            self._source.refuse(tree, "a function must have plain parameters, without * and /")
        body = self.block(tree.body if ast.get_docstring(tree) is None else tree.body[1:])
        self._check_names(body)
        used, changed = (tuple(rows[k] for k in sorted(rows)) for rows in (records.used, records.changed))
        returns = any(isinstance(node, ast.Return) and node.value for statement in body for node in ast.walk(statement))
        if changed:
            if returns and not _ends(body):
                self._source.refuse(tree, "a function that changes a record returns a value, but not at its end")
            body = _Returning([records.names[row.index] for row in changed], self._source, returns).body(body)
        definition: Any = ast.FunctionDef(name=tree.name, args=self._arguments(used), body=body, decorator_list=[])
        definition.type_params = []  # which Python has from 3.12 on
        text = ast.unparse(ast.fix_missing_locations(ast.copy_location(definition, tree)))
        text = f"{self._tuple_fields()}{text}"
        definition.name = f"{tree.name}_{_hash(text)}"
        text = text.replace(f"def {tree.name}(", f"def {definition.name}(", 1)
        code = self._source.function.__code__
        return RewrittenFunction(definition.name, text, used, changed, returns, definition, code)

    def _check_names(self, body: Sequence[ast.stmt]) -> None:
        """Refuse a variable that no statement sets, such as the name of a record after its loop."""
        nodes = [node for statement in body for node in ast.walk(statement)]
        known = {parameter.arg for parameter in self._source.tree.args.args}.union(*map(stored_names, body))
        known |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        known |= {str(node.name) for node in nodes if isinstance(node, ast.MatchAs)}
        for node in nodes:
            if isinstance(node, ast.Name) and node.id in self._source.local - known:
                self._source.refuse(node, "nothing sets this; the name of a record lasts for one round of its loop")

    def _arguments(self, used: Sequence[BlockRow]) -> ast.arguments:
        """The parameters: the numbers of records, and those that are no records."""
        names = [parameter.arg for parameter in self._source.tree.args.args]
        defaults = dict(zip(reversed(names), reversed(self._source.function.__defaults__ or ()), strict=False))
        plain = [name for name in names if name not in self._forms]
        return ast.arguments(
            posonlyargs=[],
            args=[ast.arg(name) for name in [*(self._records.names[row.index] for row in used), *plain]],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[self._named(self._source.tree, defaults[name]) for name in plain if name in defaults],
        )

    def _tuple_fields(self) -> str:
        """A comment with the fields of named tuples among the arguments, whose order machine code depends on."""
        lines = []
        for parameter in self._source.tree.args.args:
            kind = self._source.value(parameter.annotation) if parameter.annotation else None
            if kind and hasattr(kind[0], "_fields"):
                lines.append(f"# {parameter.arg}: {kind[0]._fields}\n")
        return "".join(lines)

    def visit(self, node: ast.AST) -> Any:
        check_construct(self._source, node)
        return super().visit(node)

    # Names and calls

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
        self._source.refuse(node, f"compiled code cannot use a {type(value).__name__} of a module")

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if self._records.entry(node) is not None:
            self._source.refuse(node, "lanes have no records as values, and cannot choose or store one")
        values = self._source.value(node) if isinstance(node.ctx, ast.Load) else None
        return self._named(node, *values) if values else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if number := self._records.rewritten(node):
            return number
        values = self._source.value(node)
        return self._named(node, *values) if values else self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return self._records.rewritten(node) or self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        """Values of variables that are only read are known."""

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """As of ``global``."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Comparisons of known whole numbers are constants, as ``len(c.trailers) > 0``."""
        numbers = [self._records.index(part) for part in (node.left, *node.comparators)]
        compare = COMPARISONS.get(type(node.ops[0]))
        if compare and len(numbers) == 2 and None not in numbers:
            return ast.Constant(compare(*numbers))
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if (length := self._records.index(node)) is not None:
            return ast.Constant(length)
        values = self._source.value(node.func)
        function = self._program.target(values[0]) if values else None
        if function is None:
            return self.generic_visit(node)
        starred = [argument.value for argument in node.args if isinstance(argument, ast.Starred)]
        if any(self._records.entry(argument) is not None for argument in starred):
            self._source.refuse(node, "records cannot be passed with *")
        assert isinstance(function, FunctionType)
        parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
        named = [*zip(parameters, node.args, strict=False), *((word.arg, word.value) for word in node.keywords)]
        forms: dict[str, Form] = {}
        places: dict[str, LanePlace | None] = {}
        for name, argument in named:
            entry = self._records.entry(argument)
            if isinstance(entry, RecordEntry):
                forms[str(name)] = entry.layout
                places[ast.dump(entry.place.vehicle) if entry.place else ""] = entry.place
            elif isinstance(entry, Block) or are_blocks(entry):
                forms[str(name)] = entry
        if any(isinstance(form, Layout) and form.has_lists for form in forms.values()):
            known = {str(name): self._records.index(argument) for name, argument in named if name not in forms}
            forms |= {name: KnownNumber(index) for name, index in known.items() if index is not None}
        if len(places) > 1:
            self._source.refuse(node, "a function gets records of more than one vehicle")
        part = self._program.part(function, forms)
        if part.changed and node is not self._whole:
            self._source.refuse(
                node, "a function that changes a record is called within an expression; give it a statement"
            )
        (place,) = places.values() or (None,)
        passed = [self._records.number(Number(row, place), ast.Load()) for row in part.used]
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
                targets.append(self._records.number(Number(row, place), ast.Store()))
                continue
            name = f"{row.kind}_{row.index}_"
            targets.append(ast.Name(name, ast.Store()))
            stored = self._records.number(Number(BlockRow("real", row.index), place), ast.Store())
            after.append(ast.Assign([stored], viewed(ast.Name(name, ast.Load()), INT64, FLOAT64)))
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
        of = self._records.entry(node.value)
        if isinstance(of, (RecordEntry, Numbers, ListedRecords, Block)) or are_blocks(of):
            for target in node.targets:
                self._records.bind(target, of)
            return None
        if isinstance(node.value, ast.Tuple) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple):
            pairs = list(zip(node.targets[0].elts, node.value.elts, strict=False))
            kinds = RecordEntry, Numbers, ListedRecords
            records = [pair for pair in pairs if isinstance(self._records.entry(pair[1]), kinds)]
            if records:
                for target, value in records:
                    self._records.bind(target, self._records.entry(value))
                rest = [pair for pair in pairs if pair not in records]
                if not rest:
                    return None
                targets, values = [target for target, _ in rest], [value for _, value in rest]
                node = ast.copy_location(
                    ast.Assign([ast.Tuple(targets, ast.Store())], ast.Tuple(values, ast.Load())), node
                )
        before, value = self._evaluated(node.value)
        return [*before, ast.Assign([self.visit(target) for target in node.targets], value)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node)) if node.value else None

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Constant):
            return None
        before, value = self._evaluated(node.value)
        return before or ast.Expr(value)

    def visit_For(self, node: ast.For) -> Any:
        values = self._iterated(node)
        if values is not None:
            body: list[ast.stmt] = []
            for value in values:
                body += self._know(node.target, value)
                with self._records.names_of_a_round():
                    body += self.block(copy.deepcopy(node.body))
            for name in stored_names(node.target):
                self._source.known.pop(name, None)
            return body
        orelse = self.block(node.orelse) if node.orelse else []
        return ast.For(self.visit(node.target), self.visit(node.iter), self.block(node.body), orelse)

    def _iterated(self, node: ast.For) -> Sequence[object] | None:
        """The values of a loop that is unrolled, as its variable is an index of a record's array or a known value."""
        if any(isinstance(part, (ast.Break, ast.Continue)) for part in ast.walk(node)) or node.orelse:
            return None
        if any(stored_names(node.target) & stored_names(statement) for statement in node.body):
            return None
        values = self._source.value(node.iter)
        if values and type(values[0]) is tuple and literal(values[0]) is None:
            return values[0]
        if not self._source.calls(node.iter, "range"):
            return None
        limits = [self._records.index(argument) for argument in node.iter.args]
        if None in limits:
            return None
        indices = range(*[limit for limit in limits if limit is not None])
        lists = [part.value for part in ast.walk(node) if isinstance(part, ast.Subscript)]
        lists += [part.args[0] for part in ast.walk(node.iter) if self._source.calls(part, "len")]
        return indices if any(map(self._has_index, lists)) or not indices else None

    def _has_index(self, node: ast.expr) -> bool:
        """An expression is a list of numbers or of records, whose index is to be known."""
        return isinstance(self._records.entry(node), (Numbers, ListedRecords))

    def _know(self, target: ast.expr, value: object) -> list[ast.stmt]:
        """Make a value known under the names of a loop's variables; set these, as code after the loop may read them."""
        if isinstance(target, ast.Tuple) and isinstance(value, tuple):
            pairs = zip(target.elts, value, strict=True)
            return [statement for name, entry in pairs for statement in self._know(name, entry)]
        if isinstance(target, ast.Name):
            self._source.known[target.id] = value
            text = literal(value)
            return [ast.Assign([target], text)] if text else []
        self._source.refuse(target, "the variable of an unrolled loop must be a name")


def _ends(statements: Sequence[ast.stmt]) -> bool:
    """No statement can follow these."""
    last = statements[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _ends(last.body) and _ends(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise))


class _Returning(ast.NodeTransformer):
    """Lets a function also return numbers of records."""

    def __init__(self, names: Sequence[str], source: FunctionSource, returns: bool) -> None:
        self._names, self._source, self._returns = names, source, returns

    def body(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements, with a return at the end."""
        body = [self.visit(statement) for statement in statements]
        if not isinstance(body[-1], ast.Return) and not self._returns:
            body.append(self._returned([]))
        return body

    def visit_Return(self, node: ast.Return) -> ast.Return:
        if self._returns and node.value is None:
            why = "a function that changes a record returns a value in one place and none in another"
            self._source.refuse(node, why)
        return ast.copy_location(self._returned([node.value] if node.value else []), node)

    def _returned(self, values: list[ast.expr]) -> ast.Return:
        return ast.Return(ast.Tuple([*values, *(ast.Name(name, ast.Load()) for name in self._names)], ast.Load()))
