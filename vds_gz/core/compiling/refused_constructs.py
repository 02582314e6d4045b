"""What compiled code cannot do, or does otherwise than Python: refused with file and line."""

from __future__ import annotations

import ast
import builtins

from vds_gz.core.compiling.function_source import FunctionSource, stored_names

#: What is refused wherever it stands, and what to write instead.
CONSTRUCTS: dict[str, str] = {
    "Try": "compiled code cannot catch exceptions; test the numbers before",
    "TryStar": "compiled code cannot catch exceptions; test the numbers before",
    "With": "compiled code has no `with`; do this outside of the step",
    "FunctionDef": "a function within a function; write a function of the module",
    "ClassDef": "a class within a function; write it in the module",
    "Import": "an import within a function; import at the top of the file",
    "ImportFrom": "an import within a function; import at the top of the file",
    "Delete": "compiled code has no `del`; leave it out",
    "NamedExpr": "compiled code has no `:=`; assign the value in a statement before",
    "GeneratorExp": "compiled code has no generators; write a list: [... for ...]",
    "Yield": "compiled code has no generators; return the numbers as a tuple",
    "YieldFrom": "compiled code has no generators; return the numbers as a tuple",
    "Set": "compiled sets have another order than Python's; write a tuple",
    "SetComp": "compiled sets have another order than Python's; write a list",
    "JoinedStr": "compiled code writes numbers otherwise than Python; use constant texts",
    "MatchSequence": "compiled code matches numbers and texts only; compare with `if`",
    "MatchMapping": "compiled code matches numbers and texts only; compare with `if`",
    "MatchClass": "compiled code matches numbers and texts only; compare with `if`",
}

#: Builtin functions whose results are not those of Python.
BUILTINS = ("str", "repr", "format", "hash", "set", "frozenset", "id")


def check_construct(source: FunctionSource, node: ast.AST) -> None:
    """Refuse a part of a function.

    Raises:
        ArgumentError: Compiled code cannot do this, or gives other numbers than Python.
    """
    if why := CONSTRUCTS.get(type(node).__name__):
        source.refuse(node, why)
    if isinstance(node, (ast.Global, ast.Nonlocal)) and {*node.names} & stored_names(source.tree):
        source.refuse(node, "a step changes a variable of its module; make it a number of the state")
    if isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Store):
        source.refuse(node, "compiled code cannot collect values with *; name each of them")
    is_read = isinstance(node, (ast.Name, ast.Subscript)) and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Name) and is_read and source.is_builtin(node.id) and not hasattr(builtins, node.id):
        source.refuse(node, f"the name '{node.id}' is not defined")
    if isinstance(node, ast.Call):
        if any(word.arg is None for word in node.keywords):
            source.refuse(node, "compiled code cannot pass arguments with **; name each of them")
        for name in BUILTINS:
            if source.calls(node, name):
                source.refuse(node, f"compiled code has no `{name}` that is equal to Python's")
    if isinstance(node, ast.Subscript) and is_read and isinstance(node.slice, ast.Slice):
        of = node.value
        if isinstance(of, ast.Attribute) and not source.value(of):
            source.refuse(node, "a slice of a list of the state is no copy in compiled code; read the entries")
