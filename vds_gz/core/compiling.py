"""Functions compiled by numba: linked from other compiled functions, and kept on disk between runs.

numba's cache checks only the file of the outermost function, but a model's step is spread over several files, also of
other packages. This cache identifies a result by its content: the code of the function and of all functions that it
calls, and their constants. Changed code has another name, so no result is stale, and processes can save at the same
time. If nothing can be written, each process compiles, as without a cache.
"""

from __future__ import annotations

import contextlib
import dis
import hashlib
import pickle
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias

import numba
import numpy as np
from numba.core import compiler, serialize
from numba.core.base import BaseContext
from numba.core.codegen import Codegen
from numba.core.runtime import rtsys
from numba.misc.appdirs import AppDirs

from vds_gz.core.errors import ArgumentError
from vds_gz.core.optional_packages import can_compile

#: Version of the file format; files of another version are not read.
FORMAT = 2

#: Number of the newest results that are kept, about 200 kB each.
KEPT = 1000

_DIGEST = hashlib.sha256().digest_size


def _mangling_args(record: numba.types.Record) -> tuple[str, tuple[int]]:
    """A name of a record type by its content, for the names of compiled functions.

    numba's name contains a number that each process assigns by itself. With two results from different processes, the
    second would run the code of the first, with records of another layout.
    """
    return "Record", (int.from_bytes(hashlib.sha256(record.name.encode()).digest()[:8], "little"),)


numba.types.Record.mangling_args = property(_mangling_args)


class DiskCache:
    """The cache of one function, instead of numba's (``numba.core.caching._Cache``)."""

    def __init__(self, fingerprint: str) -> None:
        """A cache of the function with this :func:`fingerprint`."""
        self._fingerprint = fingerprint

    @property
    def cache_path(self) -> str:
        """The folder of all results, in ``$NUMBA_CACHE_DIR`` or in the user's cache folder."""
        return str(Path(numba.config.CACHE_DIR or AppDirs("", appauthor=False).user_cache_dir) / "vds_gz")

    def load_overload(self, signature: object, target: BaseContext) -> object:
        """The compiled code for these types of arguments; None if there is none.

        Machine code needs numba's run-time library, but not its rules of typing and lowering (``refresh``). They take
        longer to load than everything else here, so they are loaded only for compiling.
        """
        rtsys.initialize(target)
        try:
            data = self._file(signature, target.codegen()).read_bytes()
            if hashlib.sha256(data[_DIGEST:]).digest() == data[:_DIGEST]:
                return compiler.CompileResult._rebuild(target, *pickle.loads(data[_DIGEST:]))
        except (OSError, ImportError):
            pass
        return None

    def save_overload(self, signature: object, result: compiler.CompileResult) -> None:
        """Save the compiled code for these types of arguments, if possible."""
        if result.library.has_dynamic_globals or any(not function.can_cache for function in result.lifted):
            return
        data = serialize.dumps(result._reduce())
        file = self._file(signature, result.codegen)
        partial = file.with_suffix(f".{uuid.uuid4().hex}.bin")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(hashlib.sha256(data).digest() + data)
            partial.replace(file)
            for old in sorted(file.parent.glob("*.bin"), key=lambda kept: kept.stat().st_mtime)[:-KEPT]:
                old.unlink(missing_ok=True)
        except OSError:
            with contextlib.suppress(OSError):
                partial.unlink()

    def _file(self, signature: object, codegen: Codegen) -> Path:
        versions = (FORMAT, sys.implementation.cache_tag, numba.__version__, np.__version__)
        key = repr((self._fingerprint, str(signature), versions, codegen.magic_tuple()))
        return Path(self.cache_path) / f"{hashlib.sha256(key.encode()).hexdigest()}.bin"


def fingerprint(function: FunctionType) -> str:
    """A hash of the dependencies of a compiled function: its code, that of the functions it calls, their constants."""
    digest = hashlib.sha256()
    pending, seen = [function], set()
    while pending:
        called = pending.pop()
        if called not in seen:
            seen.add(called)
            digest.update(repr(_facts(called, pending)).encode())
    return digest.hexdigest()


def _facts(function: FunctionType, pending: list[FunctionType]) -> list[object]:
    """The dependencies of a function; the functions that it calls are added to ``pending``."""
    every_code = list(codes(function.__code__))
    names = [name for code in every_code for name in code.co_names]
    values: list[object] = [cell.cell_contents for cell in function.__closure__ or ()]
    values += [function.__globals__.get(name) for name in names]
    for value in values:
        if isinstance(value, (ModuleType, type)):
            members = (getattr(value, name, None) for name in names)
            values += [member for member in members if not any(member is known for known in values)]
    facts: list[object] = [function.__module__, function.__qualname__, function.__defaults__]
    for code in every_code:
        facts += [code.co_code, code.co_names, code.co_varnames, code.co_argcount, code.co_flags]
        facts += [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    for value in values:
        called = getattr(value, "py_func", value)
        if isinstance(called, FunctionType):
            pending.append(called)
            facts.append((called.__module__, called.__qualname__, getattr(value, "targetoptions", None)))
        elif isinstance(value, np.ndarray):
            facts.append((value.dtype, value.shape, value.tobytes()))
        else:
            name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
            facts.append((type(value).__name__, name or repr(value)))
    return facts


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and of the functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


#: Coefficients of a derived model are records that begin with the fields of the base model's. So numba may pass them to
#: functions that it has compiled for the base model.
warnings.filterwarnings("ignore", ".* has been considered a subtype of ", numba.errors.NumbaExperimentalFeatureWarning)


@cache
def compiled(function: FunctionType, *, inlined: bool = False, **options: bool | str) -> Any:
    """A function, and all functions that it calls by their names, compiled by numba or read from the cache on disk.

    ``inlined`` puts the code of the called functions into the function, which suits many calls of small functions.
    """
    return _kept(_linked(function, inlined), **options)


#: Functions and their replacements.
Replacements: TypeAlias = "tuple[tuple[FunctionType, FunctionType], ...]"


@cache
def _linked(
    function: FunctionType, inlined: bool = False, replaced: Replacements = (), **options: bool | str
) -> FunctionType:
    """A copy of a function that calls compiled versions of the functions that it names."""
    names = dict(function.__globals__)
    for instruction in chain.from_iterable(map(dis.get_instructions, codes(function.__code__))):
        called = names.get(instruction.argval) if instruction.opname == "LOAD_GLOBAL" else None
        if isinstance(called, FunctionType):
            names[instruction.argval] = part(dict(replaced).get(called, called), inlined, replaced, **options)
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__qualname__ = _unmistakable(copy)
    return copy


@cache
def part(function: FunctionType, inlined: bool = False, replaced: Replacements = (), **options: bool | str) -> Any:
    """A function that compiled functions call; its compiled code is saved as a part of theirs.

    ``replaced`` has pairs of a function that it calls, directly or through others, and the function to call instead.
    """
    return numba.njit(forceinline=inlined, **options)(_linked(function, inlined, replaced, **options))


def outermost(run: Callable[..., None], **options: bool | str) -> Any:
    """A compiled function that calls other compiled functions."""
    assert isinstance(run, FunctionType)
    run.__qualname__ = _unmistakable(run)
    return _kept(run, **options)


def _unmistakable(function: FunctionType) -> str:
    """A name that depends on the function's content, because numba's libraries find functions by their names."""
    return f"{function.__qualname__}_{fingerprint(function)[:16]}"


def _kept(function: FunctionType, **options: bool | str) -> Any:
    """A function, compiled by numba or read from the cache on disk."""
    if not can_compile():
        raise ArgumentError(
            "NUMBA_DISABLE_JIT is set, so nothing can be compiled; unset it, or do not ask for compiled code"
        )
    dispatcher = numba.njit(**options)(function)
    dispatcher._cache = DiskCache(f"{fingerprint(function)} {options}")
    return dispatcher


def use_one_thread() -> None:
    """Let compiled code of this thread use no other threads, for a process that is one of several."""
    numba.set_num_threads(1)
