"""Plain functions and all that they call, compiled by numba as they are, and kept on disk."""

from __future__ import annotations

import dis
import warnings
from collections.abc import Callable
from functools import cache
from itertools import chain
from types import FunctionType
from typing import Any, TypeAlias

import numba

from vds_gz.compiling.disk_cache import DiskCache, codes, fingerprint

#: Coefficients of a derived model are records that begin with the fields of the base model's. numba may call functions
#: with them that it has compiled for the base model; the layout is the same.
warnings.filterwarnings("ignore", ".* has been considered a subtype of ", numba.errors.NumbaExperimentalFeatureWarning)


@cache
def compiled(function: FunctionType, *, inlined: bool = False, **options: bool | str) -> Any:
    """A function, and all functions that it calls by their names, compiled by numba or read from the cache on disk.

    Args:
        function: Plain loops over numbers and arrays.
        inlined: Have the code of the functions that it calls within its own; for many calls of small ones.
        options: Of ``numba.njit``.
    """
    return _kept(_linked(function, inlined), **options)


#: Functions, each with another one to be called in its place.
Replacements: TypeAlias = "tuple[tuple[FunctionType, FunctionType], ...]"


@cache
def _linked(
    function: FunctionType, inlined: bool = False, replaced: Replacements = (), **options: bool | str
) -> FunctionType:
    """A copy of a function which calls, instead of the functions that it calls by their names, compiled ones."""
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
    """A function for compiled ones to call; what is compiled of it is kept as a part of theirs.

    Args:
        function: Plain arithmetic over numbers and attributes.
        inlined: Have it, and all that it calls, within the code of what calls it.
        replaced: Functions that it calls, itself or through others, and what is called in their place.
        options: Of ``numba.njit``, for all of them.
    """
    return numba.njit(forceinline=inlined, **options)(_linked(function, inlined, replaced, **options))


def outermost(run: Callable[..., None], **options: bool | str) -> Any:
    """A function that calls compiled ones, compiled itself."""
    assert isinstance(run, FunctionType)
    run.__qualname__ = _unmistakable(run)
    return _kept(run, **options)


def _unmistakable(function: FunctionType) -> str:
    """A name that no function of other content has: numba's libraries find functions by their names."""
    return f"{function.__qualname__}_{fingerprint(function)[:16]}"


def _kept(function: FunctionType, **options: bool | str) -> Any:
    """A function, compiled by numba or read from the cache on disk."""
    dispatcher = numba.njit(**options)(function)
    dispatcher._cache = DiskCache(f"{fingerprint(function)} {options}")
    return dispatcher
