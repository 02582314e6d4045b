"""Paths in files."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path as File

import numpy as np

from vds_gz.errors import NUMBER, PATH, takes
from vds_gz.fleet.path import SPACING, Path, PathError, path_through


@takes(file=PATH, spacing=NUMBER)
def read_path(file: str | File, *, spacing: float = SPACING, closed: bool | None = None) -> Path:
    """The path in a CSV file with the columns x, y [m] and optionally speed [m/s]. Lines that begin with # are
    comments.

    Args:
        file: The file.
        spacing, closed: As in :meth:`Path.from_points`.

    Raises:
        PathError: The file does not contain a path; the message names the line.
    """
    lines, names, rows = _table(file)
    columns = dict(zip(names, np.array(rows).reshape(-1, len(names)).T, strict=True))
    points = np.stack([columns["x"], columns["y"]], axis=1)
    return path_through(points, columns.get("speed"), spacing, closed, lambda k: f"{file}, line {lines[k]}")


def _table(file: str | File) -> tuple[list[int], list[str], list[list[float]]]:
    """Lines, names of the columns and numbers of a file."""
    try:
        text = File(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PathError(f"path '{file}' cannot be read as text: {error}") from None
    lines, cells = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            lines.append(number)
            cells.append([cell.strip() for cell in next(csv.reader([line]))])
    needed = "a row with the names of the columns, x,y or x,y,speed, and rows with numbers must be there"
    if not cells:
        raise PathError(f"{file}: the file is empty; {needed}")
    names = cells[0]
    if sorted(names) not in (["x", "y"], ["speed", "x", "y"]):
        raise PathError(f"{file}, line {lines[0]}: the columns are '{','.join(names)}'; {needed}")
    if not cells[1:]:
        raise PathError(f"{file}: there are only the names of the columns; {needed}")
    return (
        lines[1:],
        names,
        [_numbers(row, names, f"{file}, line {k}") for k, row in zip(lines[1:], cells[1:], strict=True)],
    )


def _numbers(cells: Sequence[str], names: Sequence[str], where: str) -> list[float]:
    """The numbers of a row."""
    if len(cells) != len(names):
        raise PathError(f"{where}: there are {len(cells)} values for {len(names)} columns ({','.join(names)})")
    numbers = []
    for name, cell in zip(names, cells, strict=True):
        try:
            numbers.append(float(cell))
        except ValueError:
            raise PathError(f"{where}, column '{name}': {cell!r} must be a number") from None
    return numbers
