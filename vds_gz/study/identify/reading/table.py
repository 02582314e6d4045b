"""What was commanded and what was measured, out of tables with a column ``time`` [s]; an empty cell is no sample."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

import numpy as np

from vds_gz.study.identify.reading.clean import clean, note_pieces, unwrapped
from vds_gz.study.identify.signals import (
    ACTUATIONS,
    POSES,
    QUANTITIES,
    MeasuredChannel,
    SignalError,
    Signals,
)
from vds_gz.study.recording import Array

#: Names of columns that are understood, first come first served.
COMMAND_COLUMNS = {
    "v_x": ("v_x_command", "speed_command", "cmd_v_x", "drive_reference"),
    "v_y": ("v_y_command", "cmd_v_y"),
    "yaw_rate": ("yaw_rate_command", "cmd_yaw_rate"),
    "steering": ("steering_command", "steering_angle_command", "cmd_steering", "steering_reference"),
}
MEASURED_COLUMNS = {
    "v_x": ("v_x_measured", "speed_measured", "drive_actual", "v_x", "speed"),
    "v_y": ("v_y_measured", "v_y"),
    "yaw_rate": ("yaw_rate_measured", "yaw_rate"),
    "steering": ("steering_measured", "steering_actual", "steering", "steering_angle"),
}

#: What goes with commands: an acceleration and a gear are of Autoware's Control, limits of an AckermannDrive.
FURTHER_COMMANDS = {
    "acceleration": ("acceleration_command",),
    "gear": ("gear_command", "gear"),
    "steering_rate_limit": ("steering_rate_limit",),
    "acceleration_limit": ("acceleration_limit",),
}
POSE_COLUMNS = {"x": ("x_measured", "x"), "y": ("y_measured", "y"), "heading": ("heading_measured", "heading", "yaw")}

#: Names of columns of a car with pedals.
ACTUATION_COLUMNS = {
    "accel": ("accel", "accel_cmd", "accel_pedal", "throttle"),
    "brake": ("brake", "brake_cmd", "brake_pedal"),
    "wheel": ("wheel", "steer_cmd", "steering_wheel"),
}

#: Further columns: ``imu_yaw_rate`` and the like, ``<joint>_velocity`` and ``<joint>_position``.
_FURTHER = re.compile(r"(?P<source>.+)_(?P<quantity>v_x|v_y|yaw_rate)")
_JOINT = re.compile(r"(?P<joint>.+)_(?P<quantity>velocity|position)")
_NOT_MEASURED = re.compile(r"cmd|command|reference|target|desired|limit")

#: Of so many rows, the usual step in time is shorter than this [s]; else the column has another unit.
FEWEST_ROWS, LONGEST_STEP = 20, 1.0

Table = Mapping[str, Array]


def read_csv(path: Path, columns: Mapping[str, str] | None = None) -> Signals:
    """The signals in a table.

    Args:
        path: The file.
        columns: Own names by quantity: ``command:measured``.

    Raises:
        SignalError: The file holds no commands with measurements.
    """
    table = _table(path, _needed())
    signals = Signals()
    taken = {"time"}
    for quantity in QUANTITIES:
        own = (columns or {}).get(quantity, "").partition(":")
        command = _find(path, table, (own[0],) if own[0] else COMMAND_COLUMNS[quantity], bool(own[0]))
        measured = _find(path, table, (own[2],) if own[2] else MEASURED_COLUMNS[quantity], bool(own[2]))
        taken |= {command or "", measured or ""}
        _command(signals, table, quantity, command)
        _measure(signals, table, quantity, measured)
    _read_further(path, signals, table, taken)
    if not signals.commanded or not signals.channels:
        raise SignalError(
            f"{path}: no column with commands has one with measurements; it has {','.join(table)}; {_needed()}"
        )
    signals.steers = "steering" in signals.commanded
    note_pieces(signals)
    return signals


def read_actuation_csv(path: Path, columns: Mapping[str, str] | None = None) -> Signals:
    """Pedals, steering wheel and what was measured, out of a table.

    Args:
        path: The file.
        columns: Own names by quantity.

    Raises:
        SignalError: The file is no such table.
    """
    table = _table(path, "needed are time, and accel,brake,v_x or wheel,steering")
    signals = Signals()
    taken = {"time"}
    for quantity, names in (ACTUATION_COLUMNS | {one: MEASURED_COLUMNS[one] for one in ("v_x", "steering")}).items():
        own = (columns or {}).get(quantity)
        name = _find(path, table, (own,) if own else names, own is not None)
        taken.add(name or "")
        (_command if quantity in ACTUATIONS else _measure)(signals, table, quantity, name)
    _read_further(path, signals, table, taken)
    note_pieces(signals)
    return signals


def _command(signals: Signals, table: Table, quantity: str, name: str | None) -> None:
    if name is not None:
        signals.commanded[quantity] = clean(table["time"], table[name], name, signals.notes)


def _measure(signals: Signals, table: Table, quantity: str, name: str | None) -> None:
    if name is not None:
        signals.measured[quantity] = clean(table["time"], table[name], name, signals.notes)
        signals.sources[quantity] = name


def _read_further(path: Path, signals: Signals, table: Table, taken: set[str]) -> None:
    """Take what else was commanded and measured."""
    for quantity, names in FURTHER_COMMANDS.items():
        _command(signals, table, quantity, name := _find(path, table, names, False))
        taken.add(name or "")
    for name, quantity, source, joint in chain(_poses(path, table), _others(table, taken)):
        series = clean(table["time"], table[name], name, signals.notes)
        if len(series.time):
            signals.further.append(unwrapped(MeasuredChannel(name, quantity, source, series, joint)))


def _poses(path: Path, table: Table) -> Iterator[tuple[str, str, str, str]]:
    """Columns of a pose: name, quantity, source and joint."""
    for quantity in POSES:
        if (name := _find(path, table, POSE_COLUMNS[quantity], False)) is not None:
            yield name, quantity, "pose", ""


def _others(table: Table, taken: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    """Columns whose names end as those of measurements do: name, quantity, source and joint."""
    understood = {*taken, *chain.from_iterable(chain(MEASURED_COLUMNS.values(), POSE_COLUMNS.values()))}
    for name in table:
        if name in understood or _NOT_MEASURED.search(name):
            continue
        if found := _FURTHER.fullmatch(name):
            yield name, found["quantity"], found["source"], ""
        elif found := _JOINT.fullmatch(name):
            yield name, f"joint_{found['quantity']}", name, found["joint"]


def _table(path: Path, needed: str) -> dict[str, Array]:
    """The columns of a table."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            rows = [(reader.line_num, row) for row in reader if row and not row[0].startswith("#")]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SignalError(f"'{path}' cannot be read as a table of text: {error}") from None
    if len(rows) < 2:
        raise SignalError(f"{path}: the file is empty; {needed}")
    (_, head), *body = rows
    names = [name.strip() for name in head]
    if "time" not in names:
        raise SignalError(f"{path}: there is no column 'time'; it has {','.join(names)}; {needed}")
    table = {name: _column(path, body, i, name) for i, name in enumerate(names)}
    if (np.diff(table["time"]) < 0.0).any():
        line = body[int(np.argmax(np.diff(table["time"]) < 0.0)) + 1][0]
        raise SignalError(f"{path}, line {line}: column 'time' decreases. Is another column in its place?")
    step = float(np.median(np.diff(table["time"]))) if len(body) >= FEWEST_ROWS else 0.0
    if step >= LONGEST_STEP:
        raise SignalError(f"{path}: column 'time' has steps of {step:g}; it must be in s. Is it in ms, us or ns?")
    return table


def _find(path: Path, table: Table, names: tuple[str, ...], required: bool) -> str | None:
    found = next((name for name in names if name in table), None)
    if found is None and required:
        raise SignalError(f"{path}: there is no column '{names[0]}'; it has {','.join(table)}")
    return found


def _column(path: Path, rows: list[tuple[int, list[str]]], place: int, name: str) -> Array:
    values = np.full(len(rows), math.nan)
    for i, (line, row) in enumerate(rows):
        text = row[place].strip() if place < len(row) else ""
        try:
            values[i] = float(text) if text else math.nan
        except ValueError:
            raise SignalError(f"{path}, line {line}, column '{name}': {text!r} must be a number or empty") from None
    return values


def _needed() -> str:
    return "needed are time and pairs such as v_x_command,v_x_measured or steering_command,steering_measured"
