"""Functions compiled by numba, with all functions that they call, and kept on disk between runs. Needs numba."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numba
import numpy as np

from vds_gz.core.compiling.compiled_function import CompiledFunction
from vds_gz.core.compiling.generated import load
from vds_gz.core.compiling.record_layout import Form
from vds_gz.core.compiling.rewriting import Rewriting

#: Coefficients of a derived model are records that begin with the fields of the base model's. So numba may pass them to
#: functions that it has compiled for the base model.
warnings.filterwarnings("ignore", ".* has been considered a subtype of ", numba.errors.NumbaExperimentalFeatureWarning)


@cache
def compiled(
    function: Callable[..., Any], *dtypes: np.dtype[Any], inlined: bool = False, **options: bool | str
) -> CompiledFunction:
    """A function, and all functions that it calls, compiled by numba or read from disk.

    Args:
        function: A function whose source is there, with ``def``.
        dtypes: Types of the records among its arguments.
        inlined: Put the code of the called functions into the function, which suits many calls of small functions.
        options: numba's.

    Raises:
        ArgumentError: The function or one that it calls cannot be compiled.
    """
    rewriting = Rewriting({})
    return load(rewriting, rewriting.part(function, {}), dtypes, inlined, options)


def compiled_over_blocks(
    function: Callable[..., Any],
    blocks: Mapping[str, Form],
    replaced: Mapping[Callable[..., Any], Callable[..., Any]],
    **options: bool | str,
) -> CompiledFunction:
    """A function over blocks of vehicles, which has no records: its parameters ``blocks`` vanish.

    Args:
        function: As for :func:`compiled`.
        blocks: The forms of some parameters.
        replaced: Functions that are called, and what is called in their places.
        options: numba's.

    Raises:
        ArgumentError: The function or one that it calls cannot be compiled, or does what records in lanes cannot do.
    """
    rewriting = Rewriting(replaced)
    return load(rewriting, rewriting.part(function, blocks), (), True, options)


def use_one_thread() -> None:
    """Let compiled code of this thread use no other threads, for a process that is one of several."""
    numba.set_num_threads(1)
