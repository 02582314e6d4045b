"""Command logs as tables: a row with the names of the columns, then numbers.

The columns are ``time`` [s] and those of a command type, in any order; those with a default may be left out, and a
geared type may have ``gear``. Lines that begin with # are comments.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NoReturn

from vds_gz.commandlog.log import CommandLog, CommandLogError, CommandStream, checked
from vds_gz.interface.commands import CommandType, Gear, Values, whole_types
from vds_gz.vehicle.command import DRIVE, MAXIMUM_GEAR


def stream_csv(path: Path) -> CommandStream:
    """The log in a CSV file, row by row.

    Raises:
        CommandLogError: The file holds no usable log.
    """
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        raise CommandLogError(f"{path}: the file is empty; {_needed()}")
    line, names = first
    command = _command_type(names, f"{path}, line {line}")
    second = next(rows, None)
    if second is None:
        raise CommandLogError(f"{path}: there are only the names of the columns; rows with numbers must follow")
    placed = _entries(path, names, command.values, chain([second], rows))
    return CommandStream(command, checked(placed, lambda line: f"{path}, line {line}"))


def write_csv(log: CommandLog, path: str | Path) -> None:
    """Write a log as :func:`stream_csv` reads it; numbers keep all their digits."""
    gears = any(isinstance(command, Gear) for command in log.commands)
    rows: list[tuple[str, ...]] = [("time", *log.type.columns, *(["gear"] if gears else []))]
    gear: tuple[int, ...] = (DRIVE,) if gears else ()
    for time, command in zip(log.times, log.commands, strict=True):
        if isinstance(command, Gear):
            gear = command
        else:
            rows.append(tuple(map(repr, (time, *command, *gear))))
    Path(path).write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")


def columns_of(one: CommandType) -> str:
    """The columns of a table with commands of a type, in words: those in brackets may be left out."""
    optional = [*one.columns[len(one.required) :], *(["gear"] if one.geared else [])]
    return ",".join(("time", *one.required)) + (f"[,{','.join(optional)}]" if optional else "")


def table_types() -> list[CommandType]:
    """The command types that a table can hold: of those with the same numbers the first."""
    return list({one.values: one for one in reversed(whole_types())}.values())[::-1]


def _entries(
    path: Path, names: Sequence[str], values: type[Values], rows: Iterable[tuple[int, list[str]]]
) -> Iterator[tuple[int, float, Values]]:
    """Line, time [s] and command of each row, and gears where they change."""
    time = names.index("time")
    gear, last = (names.index("gear") if "gear" in names else None), None
    places = [(field, names.index(field)) for field in values._fields if field in names]
    in_order = [field for field, _ in places] == list(values._fields[: len(places)])
    columns = [column for _, column in places]
    for line, cells in rows:
        try:
            numbers = list(map(float, cells))
        except ValueError:
            numbers = []
        if len(numbers) != len(names):
            _explain(names, cells, f"{path}, line {line}")
        if gear is not None and numbers[gear] != last:
            last = numbers[gear]
            yield line, numbers[time], Gear(_gear(last, f"{path}, line {line}"))
        if in_order:
            yield line, numbers[time], values(*[numbers[column] for column in columns])
        else:
            yield line, numbers[time], values(**{field: numbers[column] for field, column in places})


def _gear(number: float, where: str) -> int:
    if number not in range(MAXIMUM_GEAR + 1):
        raise CommandLogError(f"{where}, column 'gear': {number:g} must be a whole number from 0 to {MAXIMUM_GEAR}")
    return int(number)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells, without comments and empty lines."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                text = line.strip()
                if text and text[0] != "#":
                    cells = next(csv.reader([text])) if '"' in text else text.split(",")
                    yield number, [cell.strip() for cell in cells]
    except (OSError, UnicodeDecodeError) as error:
        raise CommandLogError(f"command log '{path}' cannot be read as text: {error}") from None


def _command_type(names: Sequence[str], where: str) -> CommandType:
    """What the columns hold."""
    if all(_is_number(name) for name in names):
        raise CommandLogError(f"{where}: the first row has numbers and must have the names of the columns; {_needed()}")
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise CommandLogError(f"{where}: column '{repeated[0]}' is there twice")
    tables = table_types()
    known = {"time", "gear"}.union(*(one.columns for one in tables))
    if unknown := [name for name in names if name not in known]:
        raise CommandLogError(f"{where}: column {names.index(unknown[0]) + 1} is '{unknown[0]}'; {_needed()}")
    command = max(tables, key=lambda one: len(set(names) & set(one.columns)))
    if missing := [name for name in ("time", *command.required) if name not in names]:
        raise CommandLogError(f"{where}: there is no column '{missing[0]}'; {_needed()}")
    geared = ["gear"] if command.geared else []
    if foreign := [name for name in names if name not in ("time", *command.columns, *geared)]:
        raise CommandLogError(f"{where}: column '{foreign[0]}' does not go with '{command.required[0]}'; {_needed()}")
    return command


def _explain(names: Sequence[str], cells: Sequence[str], where: str) -> NoReturn:
    """Say what is wrong with a row."""
    if len(cells) != len(names):
        raise CommandLogError(f"{where}: there are {len(cells)} values for {len(names)} columns ({','.join(names)})")
    name, cell = next(pair for pair in zip(names, cells, strict=True) if not _is_number(pair[1]))
    raise CommandLogError(f"{where}, column '{name}': {cell!r} must be a number")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _needed() -> str:
    return f"the columns must be {' or '.join(map(columns_of, table_types()))}"
