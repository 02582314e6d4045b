"""YAML files: sweeps, tolerances, maps, moving obstacles. Errors name the file, the line and the keys."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import yaml

from vds_gz.core import files
from vds_gz.core.errors import ArgumentError, VdsGzError
from vds_gz.core.parameters.yaml_reader import Scalar, compose, scalar_of

T = TypeVar("T")

LARGEST_NUMBER = 1e12  # the magnitude of numbers must be less

#: Maximum number of characters of a key or a value in messages.
LONGEST_TEXT = 60


@dataclass(frozen=True)
class Entry:
    """A part of the file: its place for messages, its content, and the class of its errors.

    The argument ``meaning`` of its methods is the expected content in words, for messages.
    """

    where: str
    node: yaml.Node = field(repr=False)
    failure: type[VdsGzError]

    def error(self, problem: str) -> VdsGzError:
        """An error about this part."""
        return self.failure(f"{self.where} {problem}")

    def within(self, action: Callable[[], T]) -> T:
        """Do an action; its errors name this part of the file."""
        try:
            return action()
        except VdsGzError as error:
            raise self.error(f"- {error}") from None

    def mapping(self, meaning: str, needed: Iterable[str] = ()) -> dict[str, Entry]:
        """The entries of a mapping, by key; the needed ones must exist."""
        if not isinstance(self.node, yaml.MappingNode) or not self.node.value:
            raise self.error(f"must hold {meaning}")
        entries: dict[str, Entry] = {}
        for key, value in self.node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.error("has a list or a mapping as a key; it must be a name")
            name = str(key.value)
            if name in entries:
                raise self.error(f"holds '{name[:LONGEST_TEXT]}' twice")
            entries[name] = self._below(key, f"'{name[:LONGEST_TEXT]}'", value)
        for name in needed:
            if name not in entries:
                raise self.error(f"has no '{name}'; it must hold {meaning}")
        return entries

    def choice(self, meaning: str, keys: Iterable[str], needed: Iterable[str] = ()) -> dict[str, Entry]:
        """The entries of a mapping with these keys only."""
        keys = tuple(keys)
        entries = self.mapping(meaning, needed)
        for name in (name for name in entries if name not in keys):
            nearest = difflib.get_close_matches(name, keys, n=1, cutoff=0.0)[0]
            raise entries[name].error(f"is not a key here; there are {', '.join(keys)}; the nearest is '{nearest}'")
        return entries

    def items(self, meaning: str, *, may_be_empty: bool = False) -> list[Entry]:
        """The items of a list, or a single one."""
        if not (self.node.value or (may_be_empty and isinstance(self.node, yaml.SequenceNode))):
            raise self.error(f"is empty; it must hold {meaning}")
        if not isinstance(self.node, yaml.SequenceNode):
            return [self]
        return [self._below(item, f"item {k}", item) for k, item in enumerate(self.node.value, start=1)]

    def text(self, meaning: str = "a text", choices: Iterable[str] = ()) -> str:
        """A text, or one of several choices."""
        known = tuple(choices)
        meaning = ", ".join(known) or meaning
        if not isinstance(self.node, yaml.ScalarNode) or not self.node.value:
            raise self.error(f"must be {meaning}")
        text = str(self.node.value)
        if known and text not in known:
            raise self.error(f"is '{text[:LONGEST_TEXT]}'; it must be {meaning}")
        return text

    def scalar(self, meaning: str) -> Scalar:
        """A single value."""
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.error(f"is a list or a mapping; it must be {meaning}")
        return scalar_of(self.node, self.where) if self.node.value else ""

    def number(self, meaning: str = "a finite number", fits: Callable[[float], bool] = lambda value: True) -> float:
        """A finite number that ``fits``."""
        value = self.scalar(meaning)
        if isinstance(value, bool | str) or not math.isfinite(value) or not fits(value):
            raise self.error(f"is {str(self.node.value)[:LONGEST_TEXT]!r}; it must be {meaning}")
        if abs(value) >= LARGEST_NUMBER:
            raise self.error(f"is {value:g}; its magnitude must be less than {LARGEST_NUMBER:g}")
        return float(value)

    def numbers(self, meaning: str = "numbers", count: int | None = None) -> list[float]:
        """A list of numbers, exactly ``count`` if given."""
        items = self.items(meaning)
        if count not in (None, len(items)):
            length = "1 item" if len(items) == 1 else f"{len(items)} items"
            raise self.error(f"has {length}; it must have {count}: {meaning}")
        return [item.number() for item in items]

    def whole(self, least: int, most: float = math.inf) -> int:
        """A whole number within bounds."""
        meaning = f"a whole number of at least {least}" + ("" if most == math.inf else f" and at most {most}")
        return round(self.number(meaning, lambda value: value == round(value) and least <= value <= most))

    def _below(self, place: yaml.Node, name: str, node: yaml.Node) -> Entry:
        file, _, rest = self.where.rpartition(", line ")
        _, _, keys = rest.partition(":")
        return Entry(f"{file}, line {place.start_mark.line + 1}:{keys} {name}", node, self.failure)


def read_entries(file: str | Path, what: str, failure: type[VdsGzError]) -> Entry:
    """The content of a file; ``what`` names its kind in messages."""
    path = Path(file)
    try:
        return Entry(
            f"{path}, line 1:", compose(files.read_text(path, largest=files.LARGEST_YAML), f"{what} {path}"), failure
        )
    except FileNotFoundError:
        raise failure(f"{what} '{path}' does not exist (looked in {Path.cwd()})") from None
    except OSError as error:
        raise failure(f"{what} '{path}' cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise failure(f"{what} '{path}' cannot be read: {error}") from None
    except ArgumentError as error:
        raise failure(str(error)) from None
