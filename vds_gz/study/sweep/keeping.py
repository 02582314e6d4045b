"""Single runs of a sweep as recordings: they are run again, with the same bits."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from vds_gz.commandlog.log import CommandLog, CommandStream
from vds_gz.fleet.tracking import RUNNING
from vds_gz.interface.commands import Ackermann, Values, Velocity, command_type
from vds_gz.parameters.node import NodeParameters
from vds_gz.study.offline.replay import Replay
from vds_gz.study.offline.replay_bag import write_mcap
from vds_gz.study.progress import ignore
from vds_gz.study.sweep.open_loop import TAIL
from vds_gz.study.sweep.sampling import Reals
from vds_gz.study.sweep.simulation import Case, Driving, LoggedDrive, loop_of, vehicles_of
from vds_gz.study.sweep.sweep import Sweep
from vds_gz.vehicle.catalogue import models
from vds_gz.vehicle.command import ACKERMANN

#: Commands of a controller hold and never time out [s].
NEVER_OLD = 1e6


def keep(sweep: Sweep, run: int, file: Path) -> None:
    """Write the recording of a run, with all topics of the node.

    Args:
        sweep: The sweep.
        run: Number of the run.
        file: The .mcap file.
    """
    replay, parameters = replay_of(sweep, run)
    partial = file.with_name(f"{file.name}.part")
    try:
        write_mcap(replay, partial, parameters, ignore)
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def replay_of(sweep: Sweep, run: int) -> tuple[Replay, NodeParameters]:
    """A run as the replay of its commands, and the parameters of its vehicle."""
    [(case, point, end)] = sweep.parts(range(run, run + 1))
    values = sweep.space.values(point, end)
    [vehicle] = vehicles_of(case, values, 1)
    parameters = dataclasses.replace(case.vehicle, model_params={case.vehicle.model: vehicle})
    if isinstance(case.drive, LoggedDrive):
        return Replay(case.drive.log.stream(), parameters, tail=TAIL), parameters
    parameters = dataclasses.replace(parameters, twist_reference_max_oldness=NEVER_OLD)
    log, start = _driven(case, sweep.driving, values)
    replay = Replay(log, parameters, tail=1.0 / sweep.driving.rate)
    replay.vehicle.state = start
    return replay, parameters


def _driven(case: Case, driving: Driving, values: dict[str, Reals]) -> tuple[CommandStream, Any]:
    """The controller's commands in a run, and the vehicle's initial state."""
    loop = loop_of(case, driving, values, 1)
    start = loop.fleet.state(0)
    kind = "ackermann" if ACKERMANN in models()[case.vehicle.model].accepts else "twist"
    times, commands = [], []
    for period in range(round(driving.duration * driving.rate)):
        loop.advance(1)
        times.append(period / driving.rate)
        commands.append(_command(loop.fleet.commands, kind))
        if loop.tracking.status[0] != RUNNING:
            break
    # A message would round them; the vehicle got the exact numbers.
    exact = dataclasses.replace(command_type(kind), single=False)
    log = CommandLog(kind, tuple(times), tuple(commands))
    return CommandStream(exact, log.stream().entries), start


def _command(commands: Any, kind: str) -> Values:
    """The command of the only vehicle."""
    v_x, v_y, yaw_rate, angle = (
        float(getattr(commands, name)[0]) for name in ("v_x", "v_y", "yaw_rate", "steering_angle")
    )
    return Ackermann(v_x, angle) if kind == "ackermann" else Velocity(v_x, v_y, yaw_rate)
