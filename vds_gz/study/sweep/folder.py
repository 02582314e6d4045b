"""The folder of a sweep: its plan, the table of its runs, to which rows are appended, and recordings of single runs."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

import vds_gz
from vds_gz.commandlog.files import CommandLog, CommandStream
from vds_gz.errors import PATH, ArgumentError, FailureError, takes
from vds_gz.fleet.tracking import RUNNING
from vds_gz.interface.commands import Ackermann, Values, Velocity, command_type
from vds_gz.parameters.node import NodeParameters
from vds_gz.study.offline.replay import Replay
from vds_gz.study.offline.replay_bag import write_mcap
from vds_gz.study.progress import ignore
from vds_gz.study.sweep.open_loop import TAIL
from vds_gz.study.sweep.simulation import Case, Column, Driving, LoggedDrive, Table, loop_of, vehicles_of
from vds_gz.study.sweep.sweep import Reals, Sweep
from vds_gz.study.workers import Failed, Workers, do_tasks
from vds_gz.vehicle.catalogue import models
from vds_gz.vehicle.command import ACKERMANN

PLAN, RUNS = "plan.json", "runs.csv"

#: Columns that are texts; the first column is the number of the run, all others are varied or measured.
TEXTS = ("vehicle", "commands", "controller", "path", "status")
NUMBER = 0


def begin(folder: Path, sweep: Sweep) -> None:
    """Make the folder of a new sweep.

    Raises:
        ArgumentError: There is a sweep in it.
    """
    if (folder / PLAN).exists() or (folder / RUNS).exists():
        raise ArgumentError(f"there is a sweep in '{folder}'; continue it with --resume, or choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    plan = {
        "version": vds_gz.__version__,
        "plan": sweep.digest,
        "runs": len(sweep),
        "varied": {name: repr(variation) for name, variation in sweep.space.variations.items()},
        "measures": sweep.measures,
    }
    (folder / PLAN).write_text(json.dumps(plan, indent=2) + "\n", encoding="utf-8")


def check(folder: Path, sweep: Sweep) -> None:
    """Check that a sweep was begun in a folder, to go on with it.

    Raises:
        ArgumentError: There is none, or another one.
    """
    try:
        plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
        digest, version = plan["plan"], plan["version"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArgumentError(f"there is no sweep in '{folder}' to continue: {error}") from None
    if version != vds_gz.__version__:
        raise ArgumentError(f"the sweep in '{folder}' is of vds_gz {version}; this is {vds_gz.__version__}")
    if digest != sweep.digest:
        raise ArgumentError(
            f"the sweep in '{folder}' is another one: its vehicles, commands, paths, variations or measures are not "
            "those of the plan that was given; choose another folder"
        )


def do_runs(
    folder: Path,
    sweep: Sweep,
    workers: Workers,
    advance: Callable[[float], object],
    notify: Callable[[str], object] = lambda words: None,
    *,
    resume: bool = False,
) -> list[Failed[range]]:
    """Do the runs that are not done yet; the ones that failed. When all are done, the table has them in their order.

    Args:
        folder: Where the table is.
        sweep: The sweep.
        workers: Who does it.
        advance: Called with the number of runs that were done.
        notify: Called with what a user may want to read.
        resume: Go on with the sweep in the folder.

    Raises:
        ArgumentError: There are no such workers, or the folder has another sweep.
        FailureError: A row could not be written, or the workers went away. What was done is kept.
    """
    (check if resume else begin)(folder, sweep)
    table = folder / RUNS
    with _resumable(table):
        done = _whole_rows(table)
        advance(len(done))
        tasks = sweep.batches(done, workers is not None)
        failed: list[Failed[range]] = []
        try:
            with closing(do_tasks(sweep.run, tasks, workers, notify=notify)) as outcomes:
                for outcome in outcomes:
                    if isinstance(outcome, Failed):
                        failed.append(outcome)
                    else:
                        _append(table, outcome.result)
                        done += outcome.task
                    advance(len(outcome.task))
        except ArgumentError:  # there are no such workers
            if not resume:
                (folder / PLAN).unlink()
                with suppress(OSError):  # it is not empty
                    folder.rmdir()
            raise
        if done != sorted(done):
            _sort(table)
    return failed


def _whole_rows(table: Path) -> list[int]:
    """The numbers of the runs in a table; the end of it that a killed process left half written is cut off."""
    if not table.exists():
        return []
    with table.open("r+b") as file:
        content = file.read()
        whole = content.rfind(b"\n") + 1
        file.truncate(whole)
    try:
        return [int(line.split(b",", 1)[0]) for line in content[:whole].splitlines()[1:]]
    except ValueError as error:
        raise ArgumentError(
            f"'{table}' is no table of runs ({error}); remove it, and all runs are done again"
        ) from None


def _append(table: Path, runs: Table) -> None:
    """Write rows at the end of a table; from their texts the same numbers are read."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    if not table.exists() or not table.stat().st_size:
        writer.writerow(runs)
    writer.writerows(zip(*(column.tolist() for column in runs.values()), strict=True))
    with table.open("ab") as file:
        file.write(text.getvalue().encode())
        file.flush()
        os.fsync(file.fileno())


def _sort(table: Path) -> None:
    """Put rows that workers wrote as they came into the order of the runs."""
    head, *rows = table.read_bytes().splitlines(keepends=True)
    partial = table.with_name(f".{table.name}")
    partial.write_bytes(b"".join([head, *sorted(rows, key=lambda row: int(row.split(b",", 1)[0]))]))
    partial.replace(table)


@contextmanager
def _resumable(table: Path) -> Iterator[None]:
    """Add to a failure how to go on."""
    hint = "finished runs are kept; --resume continues from there"
    try:
        yield
    except FailureError as error:
        raise FailureError(f"{error}; {hint}") from None
    except OSError as error:
        raise FailureError(f"'{table}' cannot be written: {error.strerror}; {hint}") from None


@takes(folder=PATH)
def collect(folder: str | Path, *names: str) -> Table:
    """The finished runs of a sweep, in their order.

    Columns: ``run``, its number; ``vehicle``, and ``commands`` or ``controller`` and ``path``; the varied parameters
    and the measures by name; ``status``.

    Args:
        folder: The sweep's folder.
        names: The requested columns; all by default.

    Raises:
        ArgumentError: There is no sweep in the folder, or its table is damaged.
    """
    table = Path(folder) / RUNS
    try:
        with table.open(newline="", encoding="utf-8") as file:
            rows = csv.reader(file)
            head = next(rows)
            wanted = [head.index(name) for name in names or head]
            cells = sorted(([row[NUMBER], *(row[k] for k in wanted)] for row in rows), key=lambda row: int(row[0]))
        columns = list(zip(*cells, strict=True))[1:] or [()] * len(wanted)
        return {head[k]: _column(head[k], column) for k, column in zip(wanted, columns, strict=True)}
    except FileNotFoundError:
        raise ArgumentError(f"there are no runs of a sweep in '{folder}'") from None
    except (OSError, StopIteration, IndexError, ValueError) as error:
        raise ArgumentError(
            f"'{table}' is no table of runs ({error}); remove its last line, and use --resume"
        ) from None


def _column(name: str, cells: Sequence[str]) -> Column:
    if name == "run":
        return np.array(cells, np.int64)
    return np.array(cells, np.str_) if name in TEXTS else np.array(cells, np.float64)


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


def _driven(case: Case, driving: Driving, values: dict[str, Reals]) -> tuple[CommandStream, object]:
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
