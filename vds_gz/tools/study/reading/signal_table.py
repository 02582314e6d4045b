"""Commands and measurements from tables; see :mod:`vds_gz.programs.commandlog.csv_table` for their columns."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.vehicle.catalogue import actuator_kind
from vds_gz.programs.commandlog.csv_table import COMMANDED, MEASURED, POSE, find_column, open_table
from vds_gz.tools.study.reading.cleaning import clean, report_pieces, unwrapped
from vds_gz.tools.study.recording import (
    ACTUATIONS,
    POSES,
    QUANTITIES,
    ActuatorSeries,
    MeasuredChannel,
    Recording,
    Series,
    SignalError,
)

#: Further columns: ``imu_yaw_rate`` and the like, ``<joint>_velocity`` and ``<joint>_position``.
_FURTHER = re.compile(r"(?P<source>.+)_(?P<quantity>v_x|v_y|yaw_rate)")
_JOINT = re.compile(r"(?P<joint>.+)_(?P<quantity>velocity|position)")
_WHEEL = re.compile(r"wheel|joint")
_NOT_MEASURED = re.compile(r"cmd|command|reference|target|desired|limit")

#: Maximum magnitude of a number, in any unit.
LARGEST = 1e9

#: Ends of the names of columns with an actuator's reference and response.
_REFERENCE, _ACTUAL = "_reference", "_actual"

#: From this number of rows on, the median time step must be shorter than LONGEST_STEP, and the span longer than
#: SHORTEST_SPAN [s]; otherwise the unit is wrong.
FEWEST_ROWS, LONGEST_STEP, SHORTEST_SPAN = 20, 1.0, 1e-3

NEEDED = "needed are time and pairs such as v_x_command,v_x_measured or steering_command,steering_measured"
PEDALS_NEEDED = "needed are time, and accel,brake,v_x or wheel,steering"

TableColumns = Mapping[str, Array]


def read_csv(path: Path, columns: Mapping[str, str] | None = None) -> Recording:
    """The signals in a table, for ``identify``."""
    recording = read_run_csv(path, columns)
    if not recording.commanded:
        raise SignalError(f"{path}: there is no column with commands; {NEEDED}")
    return recording


def read_run_csv(path: Path, columns: Mapping[str, str] | None = None) -> Recording:
    """The signals in a table with measurements; a table that ``vds-gz replay`` wrote has no commands.

    Custom names of columns are ``command:measured``, by quantity.
    """
    recording = Recording()
    names, table = _read(path, NEEDED, columns)
    commands, taken = [], {"time"}
    for quantity in QUANTITIES:
        custom = (columns or {}).get(quantity, "").partition(":")
        command = _find(path, names, quantity, COMMANDED, custom[0])
        measured = _find(path, names, quantity, MEASURED, custom[2])
        commands.append(find_column(names, quantity, COMMANDED) or "")
        taken |= {command, measured}
        _command(recording, table, quantity, command)
        _measure(recording, table, quantity, measured)
    _read_further(recording, table, taken)
    recording.findings += _unread_joints(names)
    if not recording.channels:
        raise SignalError(f"{path}: there is no column with measurements; it has {','.join(names)}; {NEEDED}")
    recording.actuators = tuple(_actuators(table))
    references_only = all(name.endswith(_REFERENCE) for name in commands if name)
    recording.made_by_replay = bool(recording.actuators) and references_only
    recording.steers = "steering" in recording.commanded
    report_pieces(recording)
    return recording


def read_actuation_csv(path: Path, columns: Mapping[str, str] | None = None) -> Recording:
    """Pedals, steering wheel and measurements from a table; custom names of columns are by quantity."""
    recording = Recording()
    names, table = _read(path, PEDALS_NEEDED, columns)
    taken = {"time"}
    known = {quantity: COMMANDED[quantity] for quantity in ACTUATIONS}
    known |= {quantity: MEASURED[quantity] for quantity in ("v_x", "steering")}
    for quantity in known:
        name = _find(path, names, quantity, known, (columns or {}).get(quantity, ""))
        taken.add(name)
        (_command if quantity in ACTUATIONS else _measure)(recording, table, quantity, name)
    _read_further(recording, table, taken)
    report_pieces(recording)
    return recording


def _command(recording: Recording, table: TableColumns, quantity: str, name: str) -> None:
    if name:
        recording.commanded[quantity] = _series(recording, table, name, quantity, commanded=True)


def _measure(recording: Recording, table: TableColumns, quantity: str, name: str) -> None:
    if name:
        recording.measured[quantity] = _series(recording, table, name, quantity)
        recording.sources[quantity] = name


def _series(recording: Recording, table: TableColumns, name: str, quantity: str, *, commanded: bool = False) -> Series:
    """The samples in a column."""
    there = ~np.isnan(table[name])
    return clean(table["time"][there], table[name][there], name, recording.findings, quantity, commanded=commanded)


def _read_further(recording: Recording, table: TableColumns, taken: set[str]) -> None:
    """Read further commands and measurements."""
    for quantity in COMMANDED.keys() - {*QUANTITIES, *ACTUATIONS}:
        _command(recording, table, quantity, name := find_column(table, quantity, COMMANDED) or "")
        taken.add(name)
    columns = ((quantity, find_column(table, quantity, POSE)) for quantity in POSES)
    poses = ((name, quantity, "pose", "") for quantity, name in columns if name)
    for name, quantity, source, joint in chain(poses, _others(table, taken)):
        series = _series(recording, table, name, quantity)
        if len(series.time):
            recording.further.append(unwrapped(MeasuredChannel(name, quantity, source, series, joint)))


def _actuators(table: TableColumns) -> Iterator[ActuatorSeries]:
    """Actuators with reference and response in each row."""
    for name, reference in table.items():
        actuator = name.removesuffix(_REFERENCE)
        if name != actuator and (response := table.get(actuator + _ACTUAL)) is not None:
            there = np.isfinite(reference) & np.isfinite(response)
            if there.any():
                kind = actuator_kind(actuator)
                yield ActuatorSeries(actuator, kind, table["time"][there], reference[there], response[there])


def _others(names: Iterable[str], taken: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    """Columns whose names end like measurements: name, quantity, source and joint."""
    understood = {*taken, *chain.from_iterable(chain(MEASURED.values(), POSE.values()))}
    for name in names:
        if name in understood or _NOT_MEASURED.search(name):
            continue
        if match := _FURTHER.fullmatch(name):
            yield name, match["quantity"], match["source"], ""
        elif match := _JOINT.fullmatch(name):
            yield name, f"joint_{match['quantity']}", name, match["joint"]


def _read(path: Path, needed: str, custom: Mapping[str, str] | None) -> tuple[list[str], dict[str, Array]]:
    """Names of all columns, and the numbers of the known ones; NaN for an empty cell."""
    named = set(chain.from_iterable(name.split(":") for name in (custom or {}).values()))
    table = open_table(path, needed)
    known = (names for columns in (COMMANDED, MEASURED, POSE) for names in columns.values())
    understood = named.union(*known)
    names = [name for name in table.names if name in understood or _is_understood(name)]
    columns = {name: array("d") for name in ("time", *names)}
    for _, time, numbers in table.rows(names):
        columns["time"].append(time)
        for name, number in zip(names, numbers, strict=True):
            # NaN, infinite and excessive numbers become inf, which is noted; an empty cell is not noted.
            wrong = number is not None and not abs(number) <= LARGEST
            columns[name].append(math.nan if number is None else math.inf if wrong else number)
    if not columns["time"]:
        raise SignalError(f"{path}: there are only the names of the columns; rows with numbers must follow")
    arrays = {name: np.array(column) for name, column in columns.items()}
    _check_times(path, arrays["time"])
    return list(table.names), arrays


def _check_times(path: Path, time: Array) -> None:
    """Refuse times in another unit than seconds, and times that do not advance."""
    if len(time) < FEWEST_ROWS:
        return
    step, span = float(np.median(np.diff(time))), float(time[-1] - time[0])
    if step >= LONGEST_STEP:
        raise SignalError(f"{path}: column 'time' has steps of {step:g}; it must be in s. Is it in ms, us or ns?")
    if span < SHORTEST_SPAN:
        raise SignalError(
            f"{path}: column 'time' spans {span:g} s in {len(time)} rows; it must be in s and increase by at least "
            f"{SHORTEST_SPAN:g} s"
        )


def _unread_joints(names: Iterable[str]) -> Iterator[str]:
    """A finding on columns that may be of joints, but do not say which quantity of them."""
    known = set(chain.from_iterable(chain(*(columns.values() for columns in (COMMANDED, MEASURED, POSE)))))
    unread = [
        name
        for name in names
        if _WHEEL.search(name) and name not in known and not _NOT_MEASURED.search(name) and not _is_understood(name)
    ]
    if unread:
        yield f"columns {', '.join(unread)} are not read; those of joints end in _velocity [rad/s] or _position [rad]"


def _is_understood(name: str) -> bool:
    """Whether a column has numbers of an actuator or a further measurement."""
    return name.endswith((_REFERENCE, _ACTUAL)) or any(_others([name], ()))


def _find(path: Path, names: list[str], quantity: str, columns: Mapping[str, tuple[str, ...]], custom: str) -> str:
    """The column of a quantity, or empty; a custom one must exist."""
    if custom and custom not in names:
        raise SignalError(f"{path}: there is no column '{custom}'; it has {','.join(names)}")
    return custom or find_column(names, quantity, columns) or ""
