"""What numba compiled, kept on disk in the user's cache folder, so that the next process need not compile it.

numba's own cache only checks the file of the outermost function. A model's step is spread over several files, also of
other packages. So this cache finds a result by its content: the code of the function and of all that it calls, and the
constants that they use. Changed code has another name, so no result is stale, and processes that save at the same time
do not disturb each other. Where nothing can be written, each process compiles, as without a cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Protocol

import numba
import numpy as np
from numba.core import compiler, serialize
from numba.core.runtime import rtsys
from numba.misc.appdirs import AppDirs

#: Version of the file format; files of another version are not read.
FORMAT = 2

#: So many results are kept, the newest ones; one has some 200 kB.
KEPT = 1000

_DIGEST = hashlib.sha256().digest_size


def _mangling_args(record: numba.types.Record) -> tuple[str, tuple[int]]:
    """The content of a record type, for the name of a compiled function.

    numba's own name contains a number that each process assigns itself: of two results from different processes the
    second would run the first one's code, over records of another layout.
    """
    return "Record", (int.from_bytes(hashlib.sha256(record.name.encode()).digest()[:8], "little"),)


numba.types.Record.mangling_args = property(_mangling_args)


class Codegen(Protocol):
    """numba's code generator for a processor."""

    def magic_tuple(self) -> tuple[object, ...]:
        """Operating system, processor and its features."""


class TargetContext(Protocol):
    """Where numba compiles for."""

    def codegen(self) -> Codegen:
        """Its code generator."""


class DiskCache:
    """The cache of one function, in the place of numba's own (``numba.core.caching._Cache``)."""

    def __init__(self, fingerprint: str) -> None:
        """A cache of the function with this :func:`fingerprint`."""
        self._fingerprint = fingerprint

    @property
    def cache_path(self) -> str:
        """The folder of all results, in ``$NUMBA_CACHE_DIR`` or in the user's cache folder."""
        return str(Path(numba.config.CACHE_DIR or AppDirs("", appauthor=False).user_cache_dir) / "vds_gz")

    def load_overload(self, signature: object, target: TargetContext) -> object:
        """What was compiled for these types of arguments; None if nothing was.

        Machine code needs numba's run-time library to run, but none of its rules of typing and lowering (``refresh``),
        which take longer to load than everything else here: the compiler gets them when something is to be compiled.
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
        """Keep what was compiled for these types of arguments, if it can be kept."""
        if result.library.has_dynamic_globals or any(not one.can_cache for one in result.lifted):
            return
        data = serialize.dumps(result._reduce())
        file = self._file(signature, result.codegen)
        partial = file.with_suffix(f".{uuid.uuid4().hex}.bin")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(hashlib.sha256(data).digest() + data)
            partial.replace(file)
            for old in sorted(file.parent.glob("*.bin"), key=lambda one: one.stat().st_mtime)[:-KEPT]:
                old.unlink(missing_ok=True)
        except OSError:
            with contextlib.suppress(OSError):
                partial.unlink()

    def _file(self, signature: object, codegen: Codegen) -> Path:
        versions = (FORMAT, sys.implementation.cache_tag, numba.__version__, np.__version__)
        key = repr((self._fingerprint, str(signature), versions, codegen.magic_tuple()))
        return Path(self.cache_path) / f"{hashlib.sha256(key.encode()).hexdigest()}.bin"


def fingerprint(function: FunctionType) -> str:
    """A hash of all that a compiled function depends on: its code, that of what it calls, and their constants."""
    digest = hashlib.sha256()
    pending, seen = [function], set()
    while pending:
        one = pending.pop()
        if one not in seen:
            seen.add(one)
            digest.update(repr(_facts(one, pending)).encode())
    return digest.hexdigest()


def _facts(function: FunctionType, pending: list[FunctionType]) -> list[object]:
    """What one function depends on; the functions that it names are added to those that are pending."""
    every = list(codes(function.__code__))
    names = [name for code in every for name in code.co_names]
    values: list[object] = [cell.cell_contents for cell in function.__closure__ or ()]
    values += [function.__globals__.get(name) for name in names]
    for value in values:
        if isinstance(value, (ModuleType, type)):
            members = (getattr(value, name, None) for name in names)
            values += [one for one in members if not any(one is known for known in values)]
    facts: list[object] = [function.__module__, function.__qualname__, function.__defaults__]
    for code in every:
        facts += [code.co_code, code.co_names, code.co_varnames, code.co_argcount, code.co_flags]
        facts += [one for one in code.co_consts if not isinstance(one, CodeType)]
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
    """The code of a function, and of those within it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from codes(one)
