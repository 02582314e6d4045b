"""A run to look at, wherever it comes from: a recording, a table, or a model that is sent a command log."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vds_gz.parameters.node import NodeParameters
from vds_gz.ros.errors import ArgumentError
from vds_gz.study import command_log, recording
from vds_gz.study.command_log import Ackermann, CommandLog, CommandStream, Velocity
from vds_gz.study.recording import Actuator, Array, Commands, Motion, Recording, RecordingError
from vds_gz.study.replay import Replay, csv_columns, csv_row
from vds_gz.study.vehicle_options import parameters_of_file, parameters_of_preset, preset_names

MOTION = ("x", "y", "heading", "v_x", "v_y", "yaw_rate")


@dataclass(frozen=True, slots=True)
class Source:
    """Something that was named on a command line.

    Attributes:
        name: How it was called.
        path: A recording or a table; None for a model.
        parameters: Of a model.
    """

    name: str
    path: Path | None = None
    parameters: NodeParameters | None = None


def find(text: str) -> Source:
    """A recording (.mcap), a table (.csv), a parameter file (.yaml) or a preset.

    Raises:
        ArgumentError: It is none of these.
        ParameterError: A value in a parameter file is wrong.
    """
    path = Path(text)
    if path.suffix in (".mcap", ".csv") and path.is_file():
        return Source(path.stem, path)
    if path.suffix in (".yaml", ".yml") and path.is_file():
        return Source(path.stem, None, parameters_of_file(path))
    if text in preset_names():
        return Source(text, None, parameters_of_preset(text))
    presets = ", ".join(preset_names())
    raise ArgumentError(
        f"'{text}' is no file that ends in .mcap, .csv or .yaml, and no preset; presets are {presets}. "
        f"Looked in {Path.cwd()}"
    )


def load(source: Source, log: CommandLog | None) -> Recording:
    """What happened in a run.

    Args:
        source: Where it comes from.
        log: What to send to a model.

    Raises:
        RecordingError: The file is no recording.
        CommandLogError: The model cannot be sent this log.
    """
    if source.parameters is not None:
        assert log is not None
        return simulate(log, source.parameters)
    assert source.path is not None
    return read_table(source.path) if source.path.suffix == ".csv" else recording.read(source.path)


def commands_in(path: Path) -> CommandLog:
    """The commands of a recording, at their times since the recording's first sample.

    Raises:
        CommandLogError: There are none.
    """
    return command_log.read(path)


def simulate(log: CommandLog, parameters: NodeParameters, *, tail: float = 1.0) -> Recording:
    """A recording of what a model does with a log.

    Raises:
        CommandLogError: The model takes no such commands.
    """
    stream = CommandStream(log.kind, iter(zip(log.times, log.commands, strict=True)))
    replay = Replay(stream, parameters, tail=tail)
    rows = [csv_row(replay, sample) for block in replay.blocks() for sample in block.samples]
    return _from_columns(csv_columns(replay), np.array(rows), command_table(log.times, log.commands))


def command_table(times: Iterable[float], commands: Iterable[Velocity | Ackermann]) -> Commands:
    """Commands as arrays."""
    rows = [
        (one.speed, np.nan, np.nan, one.steering_angle) if isinstance(one, Ackermann) else (*one, np.nan)
        for one in commands
    ]
    return Commands(np.array(list(times), float), *np.array(rows, float).reshape(-1, 4).T)


def read_table(path: Path) -> Recording:
    """A table as `vds-gz replay -o FILE.csv` writes it; it has no commands.

    Raises:
        RecordingError: It is none.
    """
    needed = ("time", *MOTION)
    with path.open(encoding="utf-8-sig") as file:
        rows = list(csv.reader(file))
    if not rows:
        raise RecordingError(f"{path}: the file is empty; the columns must be {','.join(needed)} and more")
    if missing := [name for name in needed if name not in rows[0]]:
        raise RecordingError(f"{path}: there is no column '{missing[0]}'; it has {','.join(rows[0])}")
    try:
        values = np.array(rows[1:], float)
    except ValueError as error:
        raise RecordingError(f"{path}: every row must have {len(rows[0])} numbers: {error}") from None
    if len(values) < 2 or not np.isfinite(values).all():
        raise RecordingError(f"{path}: {len(values)} rows; there must be at least 2, all of finite numbers")
    if (np.diff(values[:, rows[0].index("time")]) <= 0.0).any():
        raise RecordingError(f"{path}: column 'time' must increase from row to row")
    return _from_columns(rows[0], values, command_table([], []))


def _from_columns(names: list[str], values: Array, commands: Commands) -> Recording:
    columns = dict(zip(names, values.T, strict=True))
    time = columns["time"]
    actuators = [name.removesuffix("_actual") for name in names if name.endswith("_actual")]
    return Recording(
        Motion(time, *(columns[name] for name in MOTION)),
        tuple(
            Actuator(
                name,
                "steering" if "steering" in name else "drive",
                time,
                columns[f"{name}_reference"],
                columns[f"{name}_actual"],
            )
            for name in actuators
        ),
        commands,
        Counter({"samples": len(time)}),
    )
