"""The folder of a sweep: its plan, the shards that are done, and the table of all runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import vds_gz
from vds_gz.errors import PATH, ArgumentError, FailureError, takes
from vds_gz.study.sweep.sweep import Shard, Sweep
from vds_gz.study.sweep.table import Column, Table, whole, write_csv
from vds_gz.study.workers.outcome import Failed
from vds_gz.study.workers.tasks import Workers, do_tasks

PLAN, RUNS = "plan.json", "runs.csv"


@dataclass(frozen=True, slots=True)
class Folder:
    """Where a sweep is kept.

    Attributes:
        path: The folder.
        shards: All shards of the sweep.
    """

    path: Path
    shards: list[Shard]

    @classmethod
    def begin(cls, path: Path, sweep: Sweep, size: int | None = None) -> Folder:
        """Make the folder of a new sweep.

        Args:
            path: The folder.
            sweep: The sweep.
            size: Runs of a shard; None for what takes some seconds.

        Raises:
            ArgumentError: There is a sweep in it.
        """
        if (path / PLAN).exists() or any((path / "shards").glob("[0-9]*")):
            raise ArgumentError(f"there is a sweep in '{path}'; --resume goes on with it, or choose another folder")
        shards = sweep.plan(size)
        (path / "shards").mkdir(parents=True, exist_ok=True)
        plan = {
            "version": vds_gz.__version__,
            "plan": sweep.digest,
            "runs": len(sweep),
            "shard": shards[0].end,
            "varied": {name: repr(one) for name, one in sweep.space.variations.items()},
            "measures": sweep.measures,
        }
        text = json.dumps(plan, indent=2) + "\n"
        whole(path / PLAN, lambda file: file.write(text.encode()))
        return cls(path, shards)

    def abandon(self) -> None:
        """Undo :meth:`begin`, where nothing was done; what else lies there stays."""
        (self.path / PLAN).unlink(missing_ok=True)
        for made in (self.path / "shards", self.path):
            with suppress(OSError):  # it is not empty
                made.rmdir()

    @classmethod
    def resume(cls, path: Path, sweep: Sweep) -> Folder:
        """Go on with a sweep that was begun.

        Raises:
            ArgumentError: There is none, or another one.
        """
        try:
            plan = json.loads((path / PLAN).read_text(encoding="utf-8"))
            digest, version, size = plan["plan"], plan["version"], int(plan["shard"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ArgumentError(f"there is no sweep in '{path}' to go on with: {error}") from None
        if version != vds_gz.__version__:
            raise ArgumentError(f"the sweep in '{path}' is of vds_gz {version}; this is {vds_gz.__version__}")
        if digest != sweep.digest:
            raise ArgumentError(
                f"the sweep in '{path}' is another one: its vehicles, commands, paths, variations or measures are not "
                "those of the plan that was given; choose another folder"
            )
        (path / "shards").mkdir(exist_ok=True)
        return cls(path, sweep.plan(size))

    def file(self, shard: Shard) -> Path:
        """Where a shard is kept when it is done."""
        return self.path / "shards" / f"{shard.first:09d}.npz"

    def done(self) -> list[Shard]:
        """The shards that are done."""
        there = {entry.name for entry in os.scandir(self.path / "shards")}
        return [shard for shard in self.shards if self.file(shard).name in there]

    def do(
        self,
        sweep: Sweep,
        workers: Workers,
        advance: Callable[[float], object],
        notify: Callable[[str], object] = lambda words: None,
    ) -> list[Failed[Shard]]:
        """Do what is not done yet, keep each shard as soon as it is done; the shards that failed.

        Args:
            sweep: The sweep.
            workers: Who does it.
            advance: Called with the number of runs that were done.
            notify: Called with what a user may want to read.

        Raises:
            ArgumentError: There are no such workers.
            FailureError: A shard could not be written, or the workers went away. What was done is kept.
        """
        for partial in (self.path / "shards").glob(".*"):  # of a process that was killed
            partial.unlink(missing_ok=True)
        done = set(self.done())
        advance(sum(shard.end - shard.first for shard in done))
        left = [shard for shard in self.shards if shard not in done]
        failed = []
        outcomes = do_tasks(sweep.run_shard, left, workers, warm_up=sweep.warm_up, notify=notify)
        with _resumable(), closing(outcomes):
            for outcome in outcomes:
                if isinstance(outcome, Failed):
                    failed.append(outcome)
                else:
                    outcome.result.save(self.file(outcome.task))
                advance(outcome.task.end - outcome.task.first)
        return failed

    def tables(self) -> Iterator[Table]:
        """The shards that are done, one after the other."""
        for shard in self.done():
            yield Table.load(self.file(shard))

    def write_csv(self) -> None:
        """Write the table of all runs.

        Raises:
            FailureError: It could not be written.
        """
        with _resumable():
            write_csv(self.path / RUNS, self.tables())


@contextmanager
def _resumable() -> Iterator[None]:
    """Whoever reads of a failure shall know what to do."""
    try:
        yield
    except FailureError as error:
        raise FailureError(f"{error}; what was done is kept, and --resume goes on from there") from None


@takes(folder=PATH)
def collect(folder: str | Path, *names: str) -> Table:
    """The runs of a sweep that are done, in their order.

    Columns: ``run``, its number; ``vehicle``, and ``commands`` or ``controller`` and ``path``; what was varied, by its
    name; the measures; ``status``.

    Args:
        folder: That of the sweep.
        names: The columns that are wanted; all of them where none is named.

    Raises:
        ArgumentError: There is no sweep in the folder.
    """
    files = sorted((Path(folder) / "shards").glob("[0-9]*.npz"))
    if not files:
        raise ArgumentError(f"there are no runs of a sweep in '{folder}'")
    tables = [Table.load(file, names) for file in files]
    columns: dict[str, Column] = {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}
    return Table(columns)
