"""Modules of generated functions, which numba compiles and keeps on disk between runs.

A module has a function with all functions that it calls, and its file is named by a hash of its text. So numba's
cache, which checks only the file of the outermost function, is right: changed code has another file, so no result is
stale, and processes can write at the same time. If nothing can be written, each process compiles, as without a cache.
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np

from vds_gz.core.compiling.compiled_function import CompiledFunction, remove_machine_code
from vds_gz.core.compiling.record_numbers import FLOAT64, INT64
from vds_gz.core.compiling.rewriting import Rewriting, RewrittenFunction
from vds_gz.core.errors import ArgumentError
from vds_gz.core.optional_packages import can_compile

#: Number of the newest modules that are kept, about 200 kB each.
KEPT = 1000

#: numba's options of functions that only compiled ones call; their wrappers take longer to compile than they do.
WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

#: Compiled functions without records by their names, which depend on their content, and by their options.
_PARTS: dict[object, Any] = {}

Options = Mapping[str, "bool | str"]


def load(
    rewriting: Rewriting, outermost: RewrittenFunction, dtypes: Sequence[np.dtype[Any]], inlined: bool, options: Options
) -> CompiledFunction:
    """The outermost function of a module, compiled at its first call or read from disk.

    Args:
        rewriting: All functions of the module.
        outermost: The one that is called.
        dtypes: Types of the records among its arguments. numba names compiled functions by arguments, but with a number
            for a record that each process assigns by itself; these types make the names of the module's functions
            different instead.
        inlined: Put the code of the called functions into the function.
        options: numba's.

    Raises:
        ArgumentError: numba is switched off.
    """
    if not can_compile():
        raise ArgumentError(
            "NUMBA_DISABLE_JIT is set, so nothing can be compiled; unset it, or do not ask for compiled code"
        )
    text = _text(rewriting, outermost, dtypes, (inlined, sorted(options.items())))
    name = f"vds_gz_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    file = _written(name, text)
    # numba names compiled functions by module and name, and looks for their module when it reads them from disk.
    module = sys.modules.setdefault(name, ModuleType(name)) if dtypes else sys.modules[__name__]
    names: dict[str, Any] = {"__name__": module.__name__, INT64: np.int64, FLOAT64: np.float64, **rewriting.values}
    part_options = {name: value for name, value in options.items() if name == "error_model"}

    for part in rewriting.parts.values():
        key = (part.name, inlined, *part_options.items())
        if part is outermost:
            names[part.name] = _function(part, str(file or f"<{name}>"), names)
        elif dtypes or key not in _PARTS:
            compiled = numba.njit(forceinline=inlined, **part_options, **WITHOUT_WRAPPERS)
            names[part.name] = compiled(_function(part, part.code.co_filename, names))
            if not dtypes:
                _PARTS[key] = names[part.name]
        else:
            names[part.name] = _PARTS[key]
    originals = [part.code for part in rewriting.parts.values()]
    return CompiledFunction(names[outermost.name], originals, file, options)


def _function(part: RewrittenFunction, file: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The function of a syntax tree. Messages about it name the lines of the original function."""
    exec(compile(ast.Module([part.tree], []), file, "exec"), names)
    function: Callable[..., Any] = names[part.name]
    return function


def _text(rewriting: Rewriting, outermost: RewrittenFunction, dtypes: Sequence[np.dtype[Any]], options: object) -> str:
    """The source of a module, which states everything that its machine code depends on."""
    versions = sys.implementation.cache_tag, numba.__version__, np.__version__
    head = [versions, options, sorted(rewriting.values), *(dtype.descr for dtype in dtypes)]
    lines = [f"# {facts!r}\n" for facts in head]
    for part in rewriting.parts.values():
        lines.append(f"\n\n@{'whole' if part.name == outermost.name else 'part'}\n{part.text}\n")
    return "".join(lines)


def cache_folder() -> Path:
    """The folder of all modules, in ``$NUMBA_CACHE_DIR`` or in the user's cache folder."""
    chosen = numba.config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) / "vds_gz"


def _written(name: str, text: str) -> Path | None:
    """The file of a module; None if it cannot be written."""
    try:
        file = cache_folder() / f"{name}.py"
        if not file.is_file():
            file.parent.mkdir(parents=True, exist_ok=True)
            partial = file.with_suffix(f".{uuid.uuid4().hex}")
            partial.write_text(text, encoding="utf-8")
            partial.replace(file)
            _remove_oldest(file.parent)
    except (OSError, RuntimeError):
        return None
    return file


def _remove_oldest(folder: Path) -> None:
    """Remove all modules but the newest, with what numba has compiled of them."""
    modules = sorted(folder.glob("vds_gz_*.py"), key=lambda file: file.stat().st_mtime)
    for old in modules[:-KEPT]:
        remove_machine_code(old)
        old.unlink(missing_ok=True)
