"""Command logs from files: tables, or ROS 2 bags with one topic of a command type, at the times of recording.

A table with commands only may name its columns after the numbers of a command type, as in
``time,speed,steering_angle``; those with a default may be left out, and a geared type may have ``gear``.
:mod:`vds_gz.programs.commandlog.csv_table` reads all other tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from vds_gz.core.errors import PATH, TEXT, MalformedMessageError, RecordingError, UnknownTypeError, takes
from vds_gz.core.files import LONGEST_SPAN
from vds_gz.core.share import share
from vds_gz.core.vehicle.command import DRIVE, MAXIMUM_GEAR
from vds_gz.programs.bags.mcap import Connection
from vds_gz.programs.bags.reader import Bag, may_be_bag, open_bag
from vds_gz.programs.bags.times import are_usable, fault_of, stamp_of
from vds_gz.programs.commandlog.command_topic import choose_command
from vds_gz.programs.commandlog.csv_table import (
    COMMANDED,
    CsvTable,
    find_column,
    kind_of,
    open_table,
)
from vds_gz.programs.interface.commands import CommandType, Gear, Values, command_type, gear_type, whole_types

#: Number of a bag's first commands whose times of recording are judged.
JUDGED = 1000


@dataclass(frozen=True, slots=True)
class CommandLog:
    """Commands in the order of time."""

    kind: str  # name of the command type of the file, or for sending
    times: tuple[float, ...]  # their times after the first one [s]
    commands: tuple[Values, ...]  # their numbers; a geared type may have gears among them
    findings: tuple[str, ...] = field(default=(), compare=False)  # on its file, for people

    @property
    def type(self) -> CommandType:
        """The command type."""
        return command_type(self.kind)

    @property
    def duration(self) -> float:
        """From the first command to the last [s]."""
        return self.times[-1]

    def stream(self) -> CommandStream:
        """The log as a stream of commands."""
        return CommandStream(self.type, iter(zip(self.times, self.commands, strict=True)), self.findings)


@dataclass(frozen=True, slots=True)
class CommandStream:
    """A log that is read command by command, so its length does not matter."""

    type: CommandType  # the command type of the file, or for sending
    # time since the first command [s] and command, in the order of time; raises :class:`RecordingError` at a fault of
    # the log
    entries: Iterator[tuple[float, Values]]
    findings: tuple[str, ...] = ()  # on its file, for people

    def collect(self) -> CommandLog:
        """The whole log."""
        times, commands = zip(*self.entries, strict=True)
        return CommandLog(self.type.name, times, commands, self.findings)


def checked(
    entries: Iterable[tuple[int, float, Values]], where: Callable[[int], str]
) -> Iterator[tuple[float, Values]]:
    """Time since the first entry [s] and command of every (place, time, command)."""
    begin = last = None
    finite = math.isfinite
    for place, time, command in entries:
        if not (finite(time) and all(map(finite, command))):
            named = zip(("time", *command._fields), (time, *command), strict=True)
            name, value = next(pair for pair in named if not finite(pair[1]))
            raise RecordingError(f"{where(place)}: '{name}' is {value}; it must be a finite number")
        if begin is None or last is None:
            begin = last = time
        if time < last:
            raise RecordingError(
                f"{where(place)}: 'time' is {time:.9g} s, {last - time:g} s less than before; time must not decrease. "
                "Is another column in its place?"
            )
        if time - begin > LONGEST_SPAN:
            raise RecordingError(
                f"{where(place)}: 'time' is {time - begin:g} s after the first one; a log may last {LONGEST_SPAN:g} s"
            )
        last = time
        yield time - begin, command


@takes(path=PATH, topic=TEXT.or_none)
def read(path: str | Path, topic: str | None = None) -> CommandLog:
    """The log in a CSV file, a rosbag2 folder, an .mcap, .db3 or .bag file (ROS 1).

    Args:
        path: The file or folder, or the name of a drive of this package: ``hall``, ``omni`` or ``parking_lot``.
        topic: The topic of a bag, if several have commands.

    Raises:
        RecordingError: There is no such file, or it holds no usable log.
    """
    return stream(path, topic).collect()


def stream(path: str | Path, topic: str | None = None) -> CommandStream:
    """The same as :func:`read`, command by command."""
    path = Path(path)
    if not path.exists():
        if str(path) not in drive_names():
            raise RecordingError(
                f"command log '{path}' does not exist (looked in {Path.cwd()}), and the drives of this package are "
                f"{', '.join(drive_names())}"
            )
        path = share("config", "drives", f"{path}.csv")
    if may_be_bag(path):
        entries = _bag_entries(path, topic)
        command, findings = next(entries)
        return CommandStream(command, entries, findings)
    if topic is not None:
        raise RecordingError(f"command log '{path}' is a CSV file, which has no topics; leave out topic '{topic}'")
    return stream_csv(path)


def drive_names() -> list[str]:
    """The command logs of this package, which are known by their names."""
    return sorted(file.stem for file in share("config", "drives").glob("*.csv"))


def _bag_entries(path: Path, topic: str | None) -> Iterator[Any]:
    """Type and findings, then time [s] and command of each message; of geared types also gears."""
    with open_bag(path) as bag:
        types = {command.topic.type: command for command in reversed(whole_types())}
        counts = bag.by_name()
        name = choose_command(path, counts, types, topic, "--topic")
        command = types[counts[name][0]]
        sources = {Connection(name, command.topic.type): command}
        if command.geared and (gear := gear_type()):
            sources[Connection(f"{name.rpartition('/')[0]}/{gear.topic.name}", gear.topic.type)] = gear
        where = f"{path}, topic '{name}'"
        messages = _decoded(where, bag, sources)
        first = list(islice(messages, JUDGED))
        if not first:
            raise RecordingError(f"{where}: there are no messages, although the bag's list of topics counts some")
        findings = list(bag.findings)
        stamps = [message.stamp for message in first]
        fault = fault_of(name, [message.logged for message in first], stamps)
        if fault:
            if not are_usable(stamps):
                raise RecordingError(f"'{path}': {fault}, and they have no header stamps to use instead")
            findings.append(f"{fault}; header stamps are used instead")
        yield command, tuple(findings)
        time = attrgetter("stamp" if fault else "logged")
        begin = time(first[0])
        entries = ((m.number, (time(m) - begin) * 1e-9, m.command) for m in chain(first, messages))
        yield from checked(entries, lambda number: f"{where}, message {number}")


class _LoggedCommand(NamedTuple):
    """A command, its number in the bag, its time of recording and its stamp [ns], 0 without one."""

    number: int
    logged: int
    stamp: int
    command: Values


def _decoded(where: str, bag: Bag, sources: Mapping[Connection, CommandType]) -> Iterator[_LoggedCommand]:
    """The commands in a bag."""
    from vds_gz.core.ros.messages.message_types import open_types

    codec = open_types().codec
    for number, (connection, time, data) in enumerate(bag.messages(sources), start=1):
        try:
            message = codec(connection.msgtype).decode(bytearray(data))
        except (MalformedMessageError, UnknownTypeError) as error:
            raise RecordingError(f"{where}, message {number}: {error}") from None
        yield _LoggedCommand(number, time, stamp_of(message), sources[connection].decode(message))


class _TableLayout(NamedTuple):
    """The type of a table's commands, and the column of each of their numbers; None without such a column."""

    type: CommandType
    columns: tuple[str | None, ...]


def stream_csv(path: Path) -> CommandStream:
    """The commands in a table, row by row."""
    table = open_table(path, _needed())
    layout = _layout(table)
    entries = checked(_entries(table, layout), lambda line: f"{path}, line {line}")
    return CommandStream(layout.type, _not_empty(path, entries), _unused(table, layout))


def write_csv(log: CommandLog, path: str | Path) -> None:
    """Write a log in the format of :func:`stream_csv`, with all digits."""
    gears = any(isinstance(command, Gear) for command in log.commands)
    rows: list[tuple[str, ...]] = [("time", *log.type.columns, *(["gear"] if gears else []))]
    gear: tuple[int, ...] = (DRIVE,) if gears else ()
    for time, command in zip(log.times, log.commands, strict=True):
        if isinstance(command, Gear):
            gear = command
        else:
            rows.append(tuple(map(repr, (time, *command, *gear))))
    Path(path).write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")


def columns_of(command: CommandType) -> str:
    """The columns of a table with commands of a type, in words; those in brackets are optional."""
    optional = [*command.columns[len(command.required) :], *(["gear"] if command.geared else [])]
    return ",".join(("time", *command.required)) + (f"[,{','.join(optional)}]" if optional else "")


def table_types() -> list[CommandType]:
    """The command types that a table can hold: of those with the same numbers the first."""
    return list({command.values: command for command in reversed(whole_types())}.values())[::-1]


def _not_empty(path: Path, entries: Iterator[tuple[float, Values]]) -> Iterator[tuple[float, Values]]:
    first = next(entries, None)
    if first is None:
        raise RecordingError(f"{path}: there are only the names of the columns; rows with commands must follow")
    yield first
    yield from entries


def _layout(table: CsvTable) -> _TableLayout:
    """The layout of the columns: a table of one command type, or the commands of a recording."""
    names, types = set(table.names), table_types()
    older = max(types, key=lambda command: len(names & set(command.columns)))
    gear = {"gear"} if older.geared else set()
    complete = names.issuperset(older.required) and names <= {"time", *older.columns, *gear}
    columns = {name: find_column(names, name, COMMANDED) for name in COMMANDED}
    if complete or not any(columns[name] for name in ("v_x", "v_y", "yaw_rate", "steering", "accel", "brake")):
        _check_older(table, older, gear)
        return _TableLayout(older, tuple(name if name in names else None for name in older.columns))
    # A column of the steering wheel, without pedals, does not make the commands those of pedals.
    kind = kind_of({name for name, column in columns.items() if column and name != "wheel"})
    if columns["wheel"] is None and "wheel" in kind.quantities and "steering_command" in names:
        columns["wheel"] = "steering_command"
    command = next(command for command in types if command.kind == kind)
    return _TableLayout(command, tuple(columns[name] for name in kind.quantities))


def _unused(table: CsvTable, layout: _TableLayout) -> tuple[str, ...]:
    """A finding on columns of commands that the type does not have, if there are any."""
    used = {"gear", *layout.columns} if layout.type.geared else set(layout.columns)
    columns = {quantity: find_column(table.names, quantity, COMMANDED) for quantity in COMMANDED}
    unused = [name for quantity, name in columns.items() if name is not None and not used & {quantity, name}]
    if not unused:
        return ()
    return (f"'{table.path}': commands are {layout.type.words}, without {', '.join(unused)}",)


def _entries(table: CsvTable, layout: _TableLayout) -> Iterator[tuple[int, float, Values]]:
    """Line, time [s] and command of each row with one, and changes of gear; an empty cell keeps the last value."""
    names = [name for name in layout.columns if name is not None]
    gear = find_column(table.names, "gear", COMMANDED) if layout.type.geared else None
    defaults = layout.type.values._field_defaults
    held = [defaults.get(field, 0.0) for field in layout.type.columns]
    places = [place for place, name in enumerate(layout.columns) if name is not None]
    last: float | None = None
    for line, time, numbers in table.rows([*names, *([gear] if gear else [])]):
        if gear and (shifted := numbers.pop()) is not None and shifted != last:
            last = shifted
            yield line, time, Gear(_gear(shifted, f"{table.path}, line {line}"))
        if not names or numbers.count(None) == len(names):
            continue
        for place, number in zip(places, numbers, strict=True):
            if number is not None:
                held[place] = number
        yield line, time, layout.type.values(*held)


def _gear(number: float, where: str) -> int:
    if number not in range(MAXIMUM_GEAR + 1):
        raise RecordingError(f"{where}, column 'gear': {number:g} must be a whole number from 0 to {MAXIMUM_GEAR}")
    return int(number)


def _check_older(table: CsvTable, command: CommandType, gear: set[str]) -> None:
    """Refuse a table that fits no command type."""
    names, where = table.names, table.head
    known = {"time", "gear"}.union(*(kind.columns for kind in table_types()))
    if unknown := [name for name in names if name not in known]:
        raise RecordingError(f"{where}: column {names.index(unknown[0]) + 1} is '{unknown[0]}'; {_needed()}")
    if missing := [name for name in command.required if name not in names]:
        raise RecordingError(f"{where}: there is no column '{missing[0]}'; {_needed()}")
    if foreign := [name for name in names if name not in ("time", *command.columns, *gear)]:
        raise RecordingError(f"{where}: column '{foreign[0]}' does not go with '{command.required[0]}'; {_needed()}")


def _needed() -> str:
    older = " or ".join(map(columns_of, table_types()))
    return (
        f"the columns must be time with commands such as v_x_command,yaw_rate_command or steering_command; or {older}"
    )
