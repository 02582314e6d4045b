"""Tables of commands and recordings: the one reader of CSV files, and the names of their columns.

A table is a text file, which may be compressed (``.csv.gz``). Its first row names the columns; lines that begin with #
are comments. The column ``time`` [s] is required and must not decrease. All numbers are in SI units. An empty cell is
not a sample: a command holds until the next one, and a measurement is missing. So commands and measurements may be in
separate rows.

Commands are in the columns of :data:`COMMANDED`, measurements in those of :data:`MEASURED` and :data:`POSE` and in
columns such as ``imu_yaw_rate`` and ``<joint>_velocity``. ``drive``, ``replay``, ``identify`` and ``compare`` read the
same file: the first two take its commands. A table with commands only may have the older names of
:mod:`vds_gz.programs.commandlog.command_log`.
"""

from __future__ import annotations

import csv
import gzip
import math
import sys
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TextIO

from vds_gz.core import files
from vds_gz.core.errors import RecordingError
from vds_gz.core.vehicle.command import ACKERMANN, FIELDS, TWIST, CommandKind
from vds_gz.programs.interface.commands import command_types

#: Extensions of tables.
SUFFIXES = (".csv", ".csv.gz")

#: Maximum time, because double precision must have room for milliseconds [s].
LATEST = 1e11

#: Maximum number of characters of a cell in messages.
LONGEST_CELL = 40

#: Columns with commands, by quantity; the first existing one counts.
COMMANDED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {declared.quantity: declared.columns for declared in FIELDS.values() if declared.columns}
)

#: Columns with measurements, by quantity.
MEASURED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "v_x": ("v_x_measured", "speed_measured", "v_x", "drive_actual", "speed"),
        "v_y": ("v_y_measured", "v_y"),
        "yaw_rate": ("yaw_rate_measured", "yaw_rate"),
        "steering": ("steering_measured", "steering_actual", "steering", "steering_angle"),
    }
)

#: Columns with the pose of base_link.
POSE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"x": ("x_measured", "x"), "y": ("y_measured", "y"), "heading": ("heading_measured", "heading", "yaw")}
)

_TURNING = frozenset(("yaw_rate", "steering"))


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A table that is read row by row; ``head`` is the file and line with the names of the columns."""

    path: Path
    names: Sequence[str]
    head: str
    cells: Iterator[tuple[int, list[str]]]

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[int, float, list[float | None]]]:
        """Line, time [s] and the numbers in these columns of each row; None where a cell is empty.

        Numbers may be NaN or infinite; times are finite and do not decrease.
        """
        place_of = {name: place for place, name in enumerate(self.names)}
        places = [place_of[name] for name in ("time", *columns)]
        first: float | None = None
        last = -math.inf
        for line, cells in self.cells:
            if len(cells) != len(self.names):
                raise RecordingError(
                    f"{self.path}, line {line}: there are {len(cells)} values for {len(self.names)} columns "
                    f"({','.join(self.names)})"
                )
            try:
                time, *numbers = [float(cell) if (cell := cells[place]) else None for place in places]
                if "_" in "".join([cells[place] for place in places]):  # which Python reads as 1_000
                    raise ValueError
            except ValueError:
                raise RecordingError(self._no_number(line, cells, places)) from None
            if time is None or not math.isfinite(time) or abs(time) > LATEST:
                raise RecordingError(
                    f"{self.path}, line {line}: 'time' is {'empty' if time is None else f'{time:g}'}; it must be a "
                    f"finite number of seconds of at most {LATEST:g}"
                )
            first = time if first is None else first
            if time < last:
                raise RecordingError(
                    f"{self.path}, line {line}: 'time' is {time:.9g} s, {last - time:g} s less than in the row before; "
                    "time must not decrease. Is another column in its place?"
                )
            if time - first > files.LONGEST_SPAN:
                raise RecordingError(
                    f"{self.path}, line {line}: 'time' is {time - first:g} s after the first row; a table may last "
                    f"{files.LONGEST_SPAN:g} s. Is it in ms, us or ns?"
                )
            last = time
            yield line, time, numbers

    def _no_number(self, line: int, cells: Sequence[str], places: Collection[int]) -> str:
        place = next(place for place in places if cells[place] and not is_number(cells[place]))
        cell = cells[place] if len(cells[place]) <= LONGEST_CELL else f"{cells[place][:LONGEST_CELL]}..."
        return f"{self.path}, line {line}, column '{self.names[place]}': {cell!r} must be a number or empty"


def is_table(path: Path) -> bool:
    """Whether a path is a table's, by its name."""
    return path.name.endswith(SUFFIXES)


def open_table(path: Path, needed: str) -> CsvTable:
    """A table, by its file."""
    cells = _cells(path)
    first = next(cells, None)
    if first is None:
        raise RecordingError(f"{path}: the file is empty; {needed}")
    line, names = first
    head = f"{path}, line {line}"
    if all(map(is_number, names)):
        raise RecordingError(f"{head}: the first row has numbers and must have the names of the columns; {needed}")
    for separator, word in ((";", "semicolons"), ("\t", "tabs")):
        if len(names) == 1 and separator in names[0]:
            raise RecordingError(f"{head}: the columns are separated by {word}; they must be separated by commas")
    if repeated := sorted(name for name, count in Counter(names).items() if name and count > 1):
        raise RecordingError(f"{head}: column '{repeated[0]}' is there twice")
    if "time" not in names:
        raise RecordingError(f"{head}: there is no column 'time'; it has {','.join(names)}; {needed}")
    return CsvTable(path, names, head, cells)


def find_column(names: Collection[str], quantity: str, columns: Mapping[str, tuple[str, ...]]) -> str | None:
    """The column of a table with a quantity, by the names that it may have."""
    return next((name for name in columns[quantity] if name in names), None)


def kind_of(quantities: Collection[str]) -> CommandKind:
    """The kind of command that has these quantities.

    It is the first one with one of its marks among them; but if the yaw rate or the steering is commanded, no kind that
    only has the other one.
    """
    turning = _TURNING.intersection(quantities)
    for kind in sorted({command.kind for command in command_types()}):
        turns = _TURNING.intersection(kind.quantities)
        if any(mark in quantities for mark in kind.marks) and not (turning and turns and turning.isdisjoint(turns)):
            return kind
    return ACKERMANN if "steering" in quantities else TWIST


def is_number(text: str) -> bool:
    """Whether a cell holds a number."""
    try:
        files.number(text)
    except ValueError:
        return False
    return True


def _cells(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells, without comments and empty lines."""
    try:
        with _open(path) as file:
            compressed = path.suffix == ".gz"
            largest = max(files.LARGEST_TEXT, files.MOST_EXPANDED * path.stat().st_size) if compressed else sys.maxsize
            for number, line in enumerate(files.lines(file, largest), start=1):
                text = line.strip()
                if text and text[0] != "#":
                    cells = next(csv.reader([text])) if '"' in text else text.split(",")
                    yield number, [cell.strip() for cell in cells]
    except FileNotFoundError:
        raise RecordingError(f"'{path}' does not exist (looked in {Path.cwd()})") from None
    except (OSError, EOFError, UnicodeDecodeError, csv.Error, zlib.error) as error:
        raise RecordingError(f"'{path}' cannot be read as a table of text: {error}") from None


def _open(path: Path) -> TextIO:
    files.check(path, sys.maxsize)
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig")
    return path.open(encoding="utf-8-sig")
