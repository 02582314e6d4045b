"""Parts of a YAML file with their positions, for messages."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import yaml

from vds_gz.errors import ArgumentError, VdsGzError
from vds_gz.parameters.yaml_reader import scalar_of

T = TypeVar("T")


class SweepFileError(VdsGzError, ValueError):
    """A sweep's file cannot be used. The message names the line, and what would be right."""


@dataclass(frozen=True)
class Entry:
    """A part of the file: its content, and file, line and keys for messages.

    ``meaning`` is the expected content in words, for messages.
    """

    where: str
    node: yaml.Node = field(repr=False)

    def error(self, problem: str) -> SweepFileError:
        """An error about this part."""
        return SweepFileError(f"{self.where} {problem}")

    def within(self, action: Callable[[], T]) -> T:
        """Do an action; its errors name this part of the file."""
        try:
            return action()
        except VdsGzError as error:
            raise self.error(f"- {error}") from None

    def mapping(self, meaning: str) -> dict[str, Entry]:
        """The entries of a mapping, by key."""
        if not isinstance(self.node, yaml.MappingNode) or not self.node.value:
            raise self.error(f"must hold {meaning}")
        entries: dict[str, Entry] = {}
        for key, value in self.node.value:
            name = str(key.value)
            if name in entries:
                raise self.error(f"holds '{name}' twice")
            entries[name] = self._below(key, f"'{name}'", value)
        return entries

    def choice(self, meaning: str, keys: Iterable[str]) -> dict[str, Entry]:
        """The entries of a mapping with these keys only."""
        keys = tuple(keys)
        entries = self.mapping(meaning)
        for name in (name for name in entries if name not in keys):
            nearest = difflib.get_close_matches(name, keys, n=1, cutoff=0.0)[0]
            raise entries[name].error(f"is not a key here; there are {', '.join(keys)}; nearest is '{nearest}'")
        return entries

    def items(self, meaning: str) -> list[Entry]:
        """One or several."""
        if not isinstance(self.node, yaml.SequenceNode):
            return [self]
        if not self.node.value:
            raise self.error(f"is empty; it must hold {meaning}")
        return [self._below(item, f"item {k}", item) for k, item in enumerate(self.node.value, start=1)]

    def text(self, meaning: str) -> str:
        """A text."""
        if not isinstance(self.node, yaml.ScalarNode) or not self.node.value:
            raise self.error(f"must be {meaning}")
        return str(self.node.value)

    def number(self, meaning: str = "a finite number") -> float:
        """A number."""
        scalar = isinstance(self.node, yaml.ScalarNode)
        value = scalar_of(self.node, self.where) if scalar else None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.error(f"is {repr(self.node.value) if scalar else 'no number'}; it must be {meaning}")
        return float(value)

    def numbers(self) -> list[float]:
        """One or several numbers."""
        return [item.number() for item in self.items("numbers")]

    def whole(self, least: int, most: float = math.inf) -> int:
        """A whole number."""
        meaning = f"a whole number of at least {least}" + ("" if most == math.inf else f" and at most {most}")
        value = self.number(meaning)
        if value != round(value) or not least <= value <= most:
            raise self.error(f"is {value:g}; it must be {meaning}")
        return round(value)

    def _below(self, place: yaml.Node, name: str, node: yaml.Node) -> Entry:
        file, _, rest = self.where.partition(", line ")
        _, _, keys = rest.partition(":")
        return Entry(f"{file}, line {place.start_mark.line + 1}:{keys} {name}", node)


def read_entries(file: Path, meaning: str, keys: Iterable[str]) -> dict[str, Entry]:
    """The entries of a file with these keys."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ArgumentError(f"sweep '{file}' does not exist (looked in {Path.cwd()})") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SweepFileError(f"sweep '{file}' cannot be read: {error}") from None
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise SweepFileError(f"{file}{line}: not valid YAML: {error.problem}") from None
    except yaml.reader.ReaderError as error:
        number = text.count("\n", 0, error.position) + 1
        raise SweepFileError(
            f"{file}, line {number}: not valid YAML: the character {text[error.position]!r} is not allowed"
        ) from None
    except RecursionError:
        raise SweepFileError(f"{file}: lists and mappings are nested too deeply") from None
    if node is None:
        raise SweepFileError(f"{file}: there is nothing in it; it must hold {meaning}")
    return Entry(f"{file}, line 1:", node).choice(meaning, keys)
