"""What every reader of bags gives: the topics of a bag, and their messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

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
