"""Sources of runs: a recording, a table, or a model that is sent a command log."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np

from vds_gz.core.configuration import load_parameters, parameters_of_file, preset_file, preset_names
from vds_gz.core.errors import NUMBER, ArgumentError, ArgumentKind, takes
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.ros.arguments import check_namespace
from vds_gz.core.vehicle.command import SteadyMotion, reference_of
from vds_gz.programs.bags.reader import SUFFIXES
from vds_gz.programs.commandlog.command_log import CommandLog, read
from vds_gz.programs.commandlog.csv_table import is_table
from vds_gz.programs.interface.commands import Gear
from vds_gz.tools.study.offline.offline_replay import Replay, csv_columns, csv_rows
from vds_gz.tools.study.reading.recorded_run import read as read_recording
from vds_gz.tools.study.recording import POSES, QUANTITIES, ActuatorSeries, MeasuredChannel, Recording, Series


@dataclass(frozen=True, slots=True)
class RunSource:
    """A source that was named on a command line."""

    name: str  # its name there
    path: Path | None = None  # a recording, a table, or the parameter file of a model; None for a running vehicle
    namespace: str | None = None  # of a vehicle in a recording, or of a running one; None for the only one
    parameters: NodeParameters | None = None  # of a model
    in_gazebo: bool = False  # whether the model is driven in Gazebo, else offline

    @property
    def live(self) -> bool:
        """Whether it is a running vehicle."""
        return self.path is None

    @property
    def recorded(self) -> bool:
        """Whether it is a recording or a table."""
        return self.path is not None and self.parameters is None


def find(text: str) -> RunSource:
    """Parse the name of a source on a command line."""
    kind, colon, name = text.partition(":")
    if colon and kind == "live":
        return RunSource(text, namespace=check_namespace("/" + name.strip("/"), f"'{text}'"))
    if colon and kind in ("gazebo", "kinematic"):
        path, parameters = _model(name, text)
        return RunSource(text, path, parameters=parameters, in_gazebo=kind == "gazebo")
    file, _, namespace = text.partition(":/")
    path = Path(file)
    if path.is_dir() or ((path.suffix in SUFFIXES or is_table(path)) and path.is_file()):
        return RunSource(text, path, f"/{namespace}" if ":/" in text else None)
    path, parameters = _model(text, text)
    return RunSource(text, path, parameters=parameters)


def _model(text: str, argument: str) -> tuple[Path, NodeParameters]:
    """A parameter file, by its path or the name of its preset."""
    path = Path(text)
    if path.suffix in (".yaml", ".yml") and path.is_file():
        return path, parameters_of_file(path)
    if text in preset_names():
        return preset_file(text), parameters_of_file(preset_file(text))
    if (path.suffix in (".yaml", ".yml", *SUFFIXES) or is_table(path)) and not path.exists():
        raise ArgumentError(f"'{argument}' does not exist (looked in {Path.cwd()})")
    raise ArgumentError(
        f"'{argument}' (looked in {Path.cwd()}) is not a file that ends in .mcap, .db3, .bag, .csv, .csv.gz or .yaml, "
        f"a rosbag2 folder, live:/NAMESPACE or a preset; presets are {', '.join(preset_names())}"
    )


def read_run(source: RunSource, topic: str | None = None) -> Recording:
    """Read a recorded run."""
    assert source.path is not None
    return read_recording(source.path, source.namespace, topic)


def commands_of(run: Recording, path: Path, topic: str | None = None) -> CommandLog:
    """The commands of a recording, at the vehicle's times."""
    if is_table(path):
        return read(path)
    only = run.command_topics[0] if len(run.command_topics) == 1 else None
    log = read(path, topic or only)
    if topic is not None or only is None:
        return log
    times = np.maximum.accumulate(run.command_times - run.command_times[0])
    if len(log.times) != len(times):  # the log has gears too, at their own times
        logged = [time for time, command in zip(log.times, log.commands, strict=True) if not isinstance(command, Gear)]
        times = np.interp(log.times, logged, times)
    return replace(log, times=tuple(times.tolist()))


@takes(
    log=ArgumentKind("what read_commands() returns, or a path", (CommandLog, str, PathLike)),
    parameters=ArgumentKind("what load_parameters() returns, a preset or a path", (NodeParameters, str, PathLike)),
    tail=NUMBER,
)
def simulate(log: CommandLog | str | Path, parameters: NodeParameters | str | Path, *, tail: float = 1.0) -> Recording:
    """Simulate a model with a command log, as a recording.

    Args:
        log: A log of :func:`vds_gz.read_commands`, or the path of a log.
        parameters: Those of :func:`vds_gz.load_parameters`, the name of a preset, or the path of a parameter file.
        tail: Time after the last command [s].

    Raises:
        ArgumentError: The log, preset or file does not exist.
        ParameterError: A value in the file is not allowed.
        RecordingError: The model does not take these commands.
    """
    log = log if isinstance(log, CommandLog) else read(log)
    parameters = parameters if isinstance(parameters, NodeParameters) else load_parameters(parameters)
    replay = Replay(log.stream(), parameters, tail=tail, with_joints=False)
    rows = [row for block in replay.blocks() for row in csv_rows(replay, block.samples)]
    columns = dict(zip(csv_columns(replay), np.array(rows).T, strict=True))
    time = columns["time"]
    series = {name: Series(time, columns[name]) for name in (*POSES, "v_x", "v_y", "yaw_rate")}
    commands = [
        (at, *reference_of(command.command()))
        for at, command in zip(log.times, log.commands, strict=True)
        if not isinstance(command, Gear)
    ]
    times, *references = np.array(commands, float).reshape(-1, 1 + len(SteadyMotion._fields)).T
    return Recording(
        {
            name: Series(times[known], values[known])
            for name, values in zip((*QUANTITIES, "rear_steering"), references, strict=True)
            if (known := np.isfinite(values)).any()
        },
        {name: series[name] for name in ("v_x", "v_y", "yaw_rate")},
        findings=list(map(str, replay.touches)),
        further=[MeasuredChannel(name, name, "pose", series[name]) for name in POSES],
        actuators=tuple(
            ActuatorSeries(
                actuator.name,
                actuator.kind,
                time,
                columns[f"{actuator.name}_reference"],
                columns[f"{actuator.name}_actual"],
            )
            for actuator in replay.actuators
        ),
        counts=Counter({"samples": len(time)}),
        command_times=times,
        touches=replay.touches,
    )
