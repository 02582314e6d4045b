"""The source of a running function, and what its names stand for."""

from __future__ import annotations

import ast
import copy
import enum
import linecache
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import NoReturn, TypeGuard

from vds_gz.core.errors import ArgumentError


class FunctionSource:
    """The syntax tree of a function and the values of its names.

    Attributes:
        function: The function.
        tree: Its syntax tree.
        local: The names of its parameters and variables.
        known: Values of variables of loops that are unrolled, while their bodies are rewritten.
    """

    def __init__(self, function: FunctionType) -> None:
        """Read the source of a function.

        Raises:
            ArgumentError: The function is a lambda, or its source is missing or was changed after the import.
        """
        self.function, self.tree = function, _tree_of(function)
        self.local = stored_names(self.tree)
        self.local |= {node.arg for node in ast.walk(self.tree) if isinstance(node, ast.arg)}
        self.local |= {*function.__code__.co_varnames}  # with the names of patterns
        self.known: dict[str, object] = {}
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        self._outer = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}

    def refuse(self, node: ast.AST, why: str) -> NoReturn:
        """Refuse a part of the source."""
        what = "" if node is self.tree else f": {ast.unparse(node).splitlines()[0]}"
        raise ArgumentError(f"{code_line(self.function.__code__, getattr(node, 'lineno', 0))}: {why}{what}")

    def value(self, node: ast.AST) -> tuple[object] | None:
        """The value of a global name, or of an attribute of a module or class; None if it is not known."""
        if isinstance(node, ast.Name):
            if node.id in self.known:
                return (self.known[node.id],)
            if node.id not in self.local and node.id in self._outer:
                return (self._outer[node.id],)
        if isinstance(node, ast.Attribute):
            of = self.value(node.value)
            if of and isinstance(of[0], (ModuleType, type, enum.Enum, tuple)) and hasattr(of[0], node.attr):
                return (getattr(of[0], node.attr),)
        return None

    def is_builtin(self, name: str) -> bool:
        """A name stands for nothing of the function or its module."""
        return name not in self.local and name not in self._outer

    def calls(self, node: ast.AST, name: str) -> TypeGuard[ast.Call]:
        """An expression calls a builtin function, whose name stands for nothing else."""
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        return named and self.is_builtin(name)


def stored_names(tree: ast.AST) -> set[str]:
    """The names that a part of the source sets."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def code_line(code: CodeType, line: int = 0) -> str:
    """File and line of a function; line 0 stands for its first."""
    return f"{code.co_filename}:{line or code.co_firstlineno}"


def _tree_of(function: FunctionType) -> ast.FunctionDef:
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
        f"{code_line(code)}: the source of '{function.__qualname__}' is not there or not that of the running function; "
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
    constants = [
        sorted(map(repr, constant)) if isinstance(constant, frozenset) else repr(constant)  # sets have no fixed order
        for constant in code.co_consts
        if not isinstance(constant, CodeType)
    ]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants
