"""Actuation maps, read from CSV files in Autoware's format and checked.

The first row holds a label and the keys of the columns (states: speeds, tyre angles). The first column holds the keys
of the rows (actuations: pedals, steering commands), the other cells the responses. Empty lines are ignored.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from vds_gz.core import files
from vds_gz.core.parameters.declaration import ParameterError
from vds_gz.core.share import share

PACKAGE_PREFIX = "package://"
_OURS = "vds_gz"


@dataclass(frozen=True, slots=True)
class ActuationMap:
    """A table of responses by actuation and state."""

    label: str  # the file's first cell
    states: tuple[float, ...]  # keys of the columns, rising
    actuations: tuple[float, ...]  # keys of the rows, rising
    values: tuple[tuple[float, ...], ...]  # a tuple for each row


@cache
def own_map(name: str) -> ActuationMap:
    """A map of this package, e.g. ``accel_map.csv``."""
    return _read(share("config", "maps", name), 0)


def read_map(path: str) -> ActuationMap:
    """A map from a file: a path, or ``package://name/path`` of an installed package."""
    file = _located(path)
    try:
        changed = file.stat().st_mtime_ns
    except FileNotFoundError:
        raise ParameterError(f"map '{path}' does not exist (looked in {Path.cwd()})") from None
    except OSError as error:
        raise ParameterError(f"map '{path}' cannot be read: {error.strerror}") from None
    return _read(file, changed)


def parse_map(text: str, where: str) -> ActuationMap:
    """A map from the text of a file."""
    rows = [
        (number, [cell.strip() for cell in line.split(",")])
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    ]
    if len(rows) < 3:
        raise ParameterError(f"map {where}: it must have a row of column keys and at least 2 rows of values")
    width = len(rows[0][1])
    if width < 3:
        raise ParameterError(f"map {where}, row {rows[0][0]}: it must have a label and at least 2 column keys")
    for number, cells in rows:
        if len(cells) != width:
            raise ParameterError(f"map {where}, row {number}: it has {len(cells)} cells; the first row has {width}")
    head, *body = rows
    states = tuple(_number(cell, where, head[0], column) for column, cell in enumerate(head[1][1:], start=2))
    grid = [tuple(_number(cell, where, number, i) for i, cell in enumerate(cells, start=1)) for number, cells in body]
    actuations = tuple(row[0] for row in grid)
    for i, (before, after) in enumerate(pairwise(states), start=3):
        if after <= before:
            raise ParameterError(_not_rising("column", where, head[0], i, before, after))
    for (number, _), (before, after) in zip(body[1:], pairwise(actuations), strict=True):
        if after <= before:
            raise ParameterError(_not_rising("row", where, number, 1, before, after))
    return ActuationMap(head[1][0], states, actuations, tuple(row[1:] for row in grid))


def _located(path: str) -> Path:
    if not path.startswith(PACKAGE_PREFIX):
        return Path(path).expanduser()
    package, _, rest = path.removeprefix(PACKAGE_PREFIX).partition("/")
    if package == _OURS:
        return share(*rest.split("/"))
    places = [Path(prefix) / "share" / package for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)]
    for place in places:
        if place.is_dir():
            return place / rest
    raise ParameterError(f"map '{path}': there is no package '{package}' in AMENT_PREFIX_PATH; give the path of a file")


@lru_cache(maxsize=32)
def _read(file: Path, changed: int) -> ActuationMap:
    try:
        text = files.read_text(file, "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"map '{file}' cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return parse_map(text, f"'{file}'")


def _number(cell: str, where: str, row: int, column: int) -> float:
    try:
        number = files.number(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ParameterError(f"map {where}, row {row}, column {column}: {cell!r} is not a finite number")
    return number


def _not_rising(keys: str, where: str, row: int, column: int, before: float, after: float) -> str:
    return (
        f"map {where}, row {row}, column {column}: the {keys} key {after:g} follows {before:g}; keys must rise from "
        f"{keys} to {keys}"
    )
