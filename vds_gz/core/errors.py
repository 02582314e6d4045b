"""The exceptions of this package, and a check of the arguments of public functions. Programs catch the base class."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from functools import wraps
from numbers import Real
from typing import NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class VdsGzError(Exception):
    """Base of all errors that this package raises on purpose.

    The message says what is wrong, where, the value, and what would be right; it can be shown unchanged.
    """


class ArgumentError(VdsGzError, ValueError):
    """An input is wrong: on a command line, in a file, in a call, or from another package."""


class FailureError(VdsGzError, RuntimeError):
    """A valid request failed."""


class ArgumentKind(NamedTuple):
    """The allowed arguments of a public function, in words and by their types."""

    words: str
    types: tuple[type, ...]

    @property
    def or_none(self) -> ArgumentKind:
        """The same, or None."""
        return ArgumentKind(f"{self.words} or None", (*self.types, type(None)))

    def check(self, name: str, value: object) -> None:
        """Refuse a value of another type."""
        if not isinstance(value, self.types) or (isinstance(value, bool) and bool not in self.types):
            raise ArgumentError(f"argument '{name}' is {_shown(value)}; it must be {self.words}")


PATH = ArgumentKind("a path, as text or pathlib.Path", (str, os.PathLike))
TEXT = ArgumentKind("a text", (str,))
NUMBER = ArgumentKind("a number", (Real,))
MAPPING = ArgumentKind("a mapping, such as a dict", (Mapping,))


def takes(**kinds: ArgumentKind) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a public function refuse arguments of a wrong type, by their names, before it runs."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        bind = inspect.signature(function).bind

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name, value in bind(*args, **kwargs).arguments.items():
                if name in kinds:
                    kinds[name].check(name, value)
            return function(*args, **kwargs)

        return checked

    return decorate


def _shown(value: object) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


class GraphError(VdsGzError, RuntimeError):
    """The graph or an endpoint could not be opened, although the arguments are right."""


class UnknownTypeError(VdsGzError, ValueError):
    """A message, service or action type is not defined: its package is not installed."""


class MalformedMessageError(VdsGzError, ValueError):
    """Received bytes are not a message of the expected type."""


class RecordingError(VdsGzError, ValueError):
    """A bag, a table or a log of commands cannot be used. The message says where, what was found and what is needed."""


class WorldError(VdsGzError, ValueError):
    """A world cannot be read. The message says what was found, in which file and line, and what is needed."""
