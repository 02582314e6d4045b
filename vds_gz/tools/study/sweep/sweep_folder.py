"""The folder of a sweep: its plan, the table of its runs, to which rows are appended, and recordings of single runs."""

from __future__ import annotations

import csv
import dataclasses
import fcntl
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import numpy as np

import vds_gz
from vds_gz.core.arrays import Array
from vds_gz.core.errors import PATH, ArgumentError, FailureError, takes
from vds_gz.core.parameters.node import NEVER_OLD, NodeParameters
from vds_gz.core.vehicle.command import KINDS
from vds_gz.programs.commandlog.command_log import CommandLog, CommandStream
from vds_gz.programs.interface.commands import command_type
from vds_gz.tools.fleet.tracking import RUNNING
from vds_gz.tools.study.offline.offline_replay import Replay
from vds_gz.tools.study.offline.replay_bag import write_mcap
from vds_gz.tools.study.progress import Advance, ignore
from vds_gz.tools.study.sweep.cases import Case, Column, Table, loop_of, vehicles_of
from vds_gz.tools.study.sweep.measures import TAIL
from vds_gz.tools.study.sweep.sweep_runs import Sweep
from vds_gz.tools.study.workers import Workers, do_tasks

PLAN, RUNS = "plan.json", "runs.csv"

#: Columns with texts. All others except that of the run's number are varied or measured numbers.
TEXTS = ("vehicle", "commands", "controller", "path", "status")

#: Index of the column with the run's number.
NUMBER = 0


def begin(folder: Path, sweep: Sweep) -> None:
    """Write the plan of a new sweep into a folder without one."""
    if (folder / PLAN).exists() or (folder / RUNS).exists():
        raise ArgumentError(f"there is a sweep in '{folder}'; continue it with --resume, or choose another folder")
    plan = {
        "version": vds_gz.__version__,
        "plan": sweep.digest,
        "runs": len(sweep),
        "varied": {name: repr(variation) for name, variation in sweep.space.variations.items()},
        "measures": sweep.measures,
    }
    (folder / PLAN).write_text(json.dumps(plan, indent=2) + "\n", encoding="utf-8")


def _check(folder: Path, sweep: Sweep) -> None:
    """Check that this sweep was begun in a folder."""
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
            "those of the plan; choose another folder"
        )


def do_runs(
    folder: Path,
    sweep: Sweep,
    workers: Workers,
    advance: Advance,
    notify: Callable[[str], object] = lambda words: None,
    *,
    resume: bool = False,
) -> list[tuple[range, str]]:
    """Do the runs that are not in the table yet, and append them; return those that failed, with the reason.

    The finished table is in the order of the runs. Finished runs stay in it if a row cannot be written or workers
    disappear.

    Args:
        folder: The sweep's folder.
        sweep: The sweep.
        workers: Where the runs are done.
        advance: Called with the number of further finished runs; in this process also with fractions.
        notify: Called with messages for the user.
        resume: Whether the folder has a table already.
    """
    if resume:
        _check(folder, sweep)
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / RUNS
    with _alone(folder), _resumable(table):
        if not resume:
            begin(folder, sweep)
        done = _whole_rows(table)
        advance(len(done))
        failed = []
        run = sweep.run if workers is not None else partial(sweep.run, advance=advance)
        try:
            with closing(do_tasks(run, sweep.batches(done, workers is not None), workers, notify=notify)) as rows:
                for runs, result in rows:
                    if isinstance(result, FailureError):
                        failed.append((runs, str(result)))
                    else:
                        _append(table, result)
                        done += runs
                    if workers is not None:
                        advance(len(runs))
        except ArgumentError:  # there are no such workers
            if not resume:
                (folder / PLAN).unlink()
                with suppress(OSError):  # it is not empty
                    folder.rmdir()
            raise
        if done != sorted(done):
            _sort(table)
    return failed


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes from doing the runs of a folder at the same time."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems cannot lock a folder
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                message = f"another process works on the sweep in '{folder}'; wait until it has ended"
                raise ArgumentError(message) from None
        yield
    finally:
        os.close(handle)  # which ends the lock


def _whole_rows(table: Path) -> list[int]:
    """The numbers of the runs in a table. An incomplete last row, which a killed process left, is removed."""
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
            f"'{table}' is no table of runs ({error}); remove it, and --resume does all runs again"
        ) from None


def _append(table: Path, runs: Table) -> None:
    """Append rows to a table, with texts from which the same numbers are read."""
    with table.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not file.tell():
            writer.writerow(runs)
        writer.writerows(zip(*(column.tolist() for column in runs.values()), strict=True))
        file.flush()
        os.fsync(file.fileno())


def _sort(table: Path) -> None:
    """Sort the rows, which workers finished in any order, by the number of the run."""
    head, *rows = table.read_bytes().splitlines(keepends=True)
    partial = table.with_name(f".{table.name}")
    partial.write_bytes(b"".join([head, *sorted(rows, key=lambda row: int(row.split(b",", 1)[0]))]))
    partial.replace(table)


@contextmanager
def _resumable(table: Path) -> Iterator[None]:
    """Add the remedy on --resume to failures."""
    remedy = "finished runs are kept; --resume continues from there"
    try:
        yield
    except FailureError as error:
        raise FailureError(f"{error}; {remedy}") from None
    except OSError as error:
        raise FailureError(f"'{table}' cannot be written: {error.strerror}; {remedy}") from None


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
            indices = [head.index(name) for name in names or head]
            cells = sorted(([row[NUMBER], *(row[k] for k in indices)] for row in rows), key=lambda row: int(row[0]))
        columns = list(zip(*cells, strict=True))[1:] or [()] * len(indices)
        return {head[k]: _column(head[k], column) for k, column in zip(indices, columns, strict=True)}
    except FileNotFoundError:
        raise ArgumentError(f"there are no runs of a sweep in '{folder}'") from None
    except (OSError, StopIteration, IndexError, ValueError, csv.Error) as error:
        raise ArgumentError(
            f"'{table}' is no table of runs ({error}); remove its last line, and use --resume"
        ) from None


def _column(name: str, cells: Sequence[str]) -> Column:
    if name == "run":
        return np.array(cells, np.int64)
    return np.array(cells, np.str_) if name in TEXTS else np.array(cells, np.float64)


def keep(sweep: Sweep, run: int, file: Path) -> None:
    """Write the recording of a run, with all topics of the node, as an .mcap file."""
    replay, parameters = replay_of(sweep, run)
    partial = file.with_name(f"{file.name}.part")
    try:
        write_mcap(replay, partial, parameters, ignore)
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def replay_of(sweep: Sweep, run: int) -> tuple[Replay, NodeParameters]:
    """A run as the replay of its commands, and the parameters of its vehicle."""
    case, values = sweep.drawn(range(run, run + 1))
    [vehicle] = vehicles_of(case, values, 1)
    parameters = dataclasses.replace(case.vehicle, model_params={case.vehicle.model: vehicle})
    if isinstance(case.drive, CommandLog):
        return Replay(case.drive.stream(), parameters, tail=TAIL), parameters
    parameters = dataclasses.replace(parameters, twist_reference_max_oldness=NEVER_OLD)  # a controller's commands hold
    commands, start = _driven(sweep, case, values)
    replay = Replay(commands, parameters, tail=1.0 / sweep.driving.rate)
    replay.vehicle.state = start
    return replay, parameters


def _driven(sweep: Sweep, case: Case, values: dict[str, Array]) -> tuple[CommandStream, object]:
    """The controller's commands in a run, and the vehicle's initial state."""
    driving = sweep.driving
    loop = loop_of(case, driving, values, 1)
    start = loop.fleet.state(0)
    commands = loop.fleet.commands
    kind = KINDS[int(commands.kind[0])]
    # The controller's vehicle received exact numbers; messages of single precision would round them.
    exact = dataclasses.replace(command_type(kind.name), single=False)
    entries = []
    for period in range(round(driving.duration * driving.rate)):
        loop.advance(1)
        command = exact.values(*(float(getattr(commands, name)[0]) for name in kind.references))
        entries.append((period / driving.rate, command))
        if loop.tracking.status[0] != RUNNING:
            break
    return CommandStream(exact, iter(entries)), start
