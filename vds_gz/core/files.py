"""Bounded reading of files: no file that a user names may block, or exhaust memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

#: Maximum sizes of files that are read whole [bytes]: YAML, of which 1 MB takes seconds; maps, paths, worlds and robot
#: descriptions; meshes and images.
LARGEST_YAML, LARGEST_TEXT, LARGEST_SCENE = 1_000_000, 64 << 20, 1 << 30

#: Maximum number of characters in a line of a table.
LONGEST_LINE = 1 << 20

#: A compressed table expands to at most LARGEST_TEXT characters, or to this many times its size.
MOST_EXPANDED = 100

#: Longest time from the first row or message of a recording to the last [s]: more than a day. Longer ones would take
#: too long to simulate.
LONGEST_SPAN = 1e5

#: Maximum size of an MCAP chunk once it is decompressed [bytes].
LARGEST_CHUNK = 1 << 28


class UnreadableError(OSError):
    """A path is not that of a regular file, or the file is too large."""


def check(path: Path, largest: int) -> None:
    """Refuse a path unless it is that of a file with at most ``largest`` bytes.

    Raises:
        UnreadableError: It is a folder, a device or a pipe, or too large.
        OSError: There is no such file, or it cannot be accessed.
    """
    size = path.stat().st_size
    if not path.is_file():
        raise UnreadableError("it is not a regular file")
    if size > largest:
        raise UnreadableError(f"it has {size} bytes; at most {largest} are read")


def read_text(path: Path, encoding: str = "utf-8", largest: int = LARGEST_TEXT) -> str:
    """The text of a file of at most ``largest`` bytes; raises as :func:`check` does, and UnicodeDecodeError."""
    check(path, largest)
    return path.read_text(encoding=encoding)


def lines(file: TextIO, largest: int = sys.maxsize) -> Iterator[str]:
    """The lines of a text, of at most :data:`LONGEST_LINE` characters; a longer one raises :class:`UnreadableError`.

    So does a text of more than ``largest`` characters.
    """
    number = 1
    while line := file.readline(LONGEST_LINE + 1):
        largest -= len(line)
        if len(line) > LONGEST_LINE:
            raise UnreadableError(f"line {number} has more than {LONGEST_LINE} characters")
        if largest < 0:
            raise UnreadableError(f"it expands to more than {MOST_EXPANDED} times its size")
        yield line
        number += 1


def number(text: str) -> float:
    """The number in a text; unlike with ``float``, ``1_000`` raises ValueError."""
    if "_" in text:
        raise ValueError(f"'{text}' has an underscore")
    return float(text)


def whole_number(text: str) -> int:
    """The whole number in a text; unlike with ``int``, ``1_000`` raises ValueError."""
    if "_" in text:
        raise ValueError(f"'{text}' has an underscore")
    return int(text)
