"""A function that numba compiles at its first call, or reads from disk; what numba refuses becomes one message."""

from __future__ import annotations

import contextlib
import linecache
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

import numba

from vds_gz.core.errors import ArgumentError

#: How numba's messages name a line.
LINE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)|(?:at|from) (?P<path>\S+) \((?P<number>\d+)\)')


class CompiledFunction:
    """A function that numba compiles once for each combination of types of its arguments."""

    def __init__(
        self,
        function: Callable[..., Any],
        originals: Sequence[CodeType],
        file: Path | None,
        options: Mapping[str, bool | str],
    ) -> None:
        """Compile nothing yet.

        Args:
            function: The function, whose globals are functions that numba compiles.
            originals: What it and the functions that it calls were made of; its own original is the last.
            file: Its file, beside which numba keeps its machine code; None if it keeps none.
            options: numba's.
        """
        self._function, self._originals, self._file, self._options = function, originals, file, options
        self._dispatcher = numba.njit(**options)(function)
        if file:
            with contextlib.suppress(RuntimeError):  # there is no folder that numba can write to
                self._dispatcher = numba.njit(cache=True, **options)(function)

    def __call__(self, *arguments: Any) -> Any:
        """The result of the function.

        Raises:
            ArgumentError: numba cannot compile the function.
        """
        try:
            return self._dispatcher(*arguments)
        except numba.errors.NumbaError as error:
            raise self._refusal(error) from error
        except Exception as error:
            types = tuple(map(numba.typeof, arguments))
            if not isinstance(error, OSError) and self._fault(types) is None:
                raise  # the compiled function raises it
            # The machine code on disk is damaged, or cannot be read or written: this process compiles without.
            if self._file:
                remove_machine_code(self._file)
            self._dispatcher = numba.njit(**self._options)(self._function)
            if fault := self._fault(types):
                raise self._refusal(fault) from fault
        return self._dispatcher(*arguments)

    @property
    def stats(self) -> Any:
        """numba's counts of functions read from disk and compiled."""
        return self._dispatcher.stats

    def inspect_asm(self) -> dict[Any, str]:
        """The machine code for each combination of types, as assembly text."""
        return dict(self._dispatcher.inspect_asm())

    def _fault(self, types: tuple[Any, ...]) -> Exception | None:
        """What numba raises as it compiles the function; None if it is compiled."""
        try:
            self._dispatcher.compile(types)
        except Exception as error:  # of many kinds, if it reads damaged files
            return error
        return None

    def _refusal(self, error: Exception) -> ArgumentError:
        """What numba refuses, with file and line of the original function."""
        if isinstance(error, KeyError):  # which numba raises for a field that a record does not have
            field = str(error.args[0])
            reason, lines = f"no record here has a number '{field}'", self._lines_with(field)
        else:
            reason, lines = _reason(str(error)), self._lines_in(str(error))
        file, line = next(lines, (self._originals[-1].co_filename, self._originals[-1].co_firstlineno))
        return ArgumentError(
            f"{file}:{line}: numba cannot compile this: {linecache.getline(file, line).strip()} ({reason}); "
            "write arithmetic on plain attributes, math, and functions of the same kind"
        )

    def _lines_in(self, message: str) -> Iterator[tuple[str, int]]:
        """The lines of original functions that a message names, innermost first."""
        files = {code.co_filename: code.co_filename for code in self._originals}
        files[self._function.__code__.co_filename] = self._originals[-1].co_filename
        for match in LINE.finditer(message):
            file = match["file"] or match["path"]
            if original := files.get(file) or files.get(os.path.abspath(file)):
                yield original, int(match["line"] or match["number"])

    def _lines_with(self, field: str) -> Iterator[tuple[str, int]]:
        """The lines of original functions that read or set a field."""
        for code in self._originals:
            for line in sorted({line for _, _, line in code.co_lines() if line} if field in code.co_names else ()):
                if re.search(rf"\.{field}\b", linecache.getline(code.co_filename, line)):
                    yield code.co_filename, line


def _reason(message: str) -> str:
    """The first sentence of a message of numba about its cause, with the names of the original functions."""
    lines = [line.strip() for line in message.splitlines() if line.strip() and not line.startswith("Failed in")]
    reason = " ".join(lines[:2]) if lines[0].endswith("signature:") else lines[0]
    return re.sub(r"_[0-9a-f]{12}\b|\.? Raised from .*", "", reason).rstrip(". ")


def remove_machine_code(file: Path) -> None:
    """Remove what numba has compiled of a module."""
    for folder in [file.parent / "__pycache__", *file.parent.parent.glob(f"{file.parent.name}_*")]:
        for compiled in folder.glob(f"{file.stem}.*"):
            with contextlib.suppress(OSError):
                compiled.unlink()
