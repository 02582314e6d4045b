"""What every reader of bags gives: the topics of a bag, and their messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vds_gz.errors import VdsGzError

#: How the names of bags end that are one file.
SUFFIXES = (".mcap", ".db3")


def may_be_bag(path: Path) -> bool:
    """Whether a path is that of a bag, by its name, or of a folder, which only a bag can be."""
    return path.is_dir() or path.suffix in SUFFIXES


class BagError(VdsGzError, ValueError):
    """A bag cannot be read. The message says what was found and what is needed."""


@dataclass(frozen=True, slots=True)
class Connection:
    """One topic of a bag: its name, the type of its messages, and how many there are."""

    topic: str
    msgtype: str
    msgcount: int


class BagReader(Protocol):
    """A bag that is open."""

    @property
    def connections(self) -> Sequence[Connection]:
        """All topics, those without messages too."""

    def messages(self, wanted: Sequence[Connection]) -> Iterator[tuple[Connection, int, bytes]]:
        """Connection, time of recording [ns] and bytes of every message on the connections wanted.

        Raises:
            BagError: The bag is damaged. The message says how, but not which bag it is.
        """

    def close(self) -> None:
        """Close it."""
