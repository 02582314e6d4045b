"""The folder of a sweep: its plan, the finished shards, and the table of all runs."""

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
    """The folder of a sweep.

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
            size: Runs of a shard; None for as many as take a few seconds.

        Raises:
            ArgumentError: It contains a sweep already.
        """
        if (path / PLAN).exists() or any((path / "shards").glob("[0-9]*")):
            raise ArgumentError(f"there is a sweep in '{path}'; continue it with --resume, or choose another folder")
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
        """Undo :meth:`begin` if nothing was done; other files stay."""
        (self.path / PLAN).unlink(missing_ok=True)
        for made in (self.path / "shards", self.path):
            with suppress(OSError):  # it is not empty
                made.rmdir()

    @classmethod
    def resume(cls, path: Path, sweep: Sweep) -> Folder:
        """Continue a sweep.

        Raises:
            ArgumentError: There is no sweep, or another one.
        """
        try:
            plan = json.loads((path / PLAN).read_text(encoding="utf-8"))
            digest, version, size = plan["plan"], plan["version"], int(plan["shard"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ArgumentError(f"there is no sweep in '{path}' to continue: {error}") from None
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
        """The file of a finished shard."""
        return self.path / "shards" / f"{shard.first:09d}.npz"

    def done(self) -> list[Shard]:
        """The finished shards."""
        there = {entry.name for entry in os.scandir(self.path / "shards")}
        return [shard for shard in self.shards if self.file(shard).name in there]

    def do(
        self,
        sweep: Sweep,
        workers: Workers,
        advance: Callable[[float], object],
        notify: Callable[[str], object] = lambda words: None,
    ) -> list[Failed[Shard]]:
        """Run the remaining shards, and save each as soon as it is done; return the shards that failed.

        Args:
            sweep: The sweep.
            workers: The workers.
            advance: Called with the number of finished runs.
            notify: Called with messages for the user.

        Raises:
            ArgumentError: The workers are not available.
            FailureError: A shard could not be written, or the workers went away. Finished shards are kept.
        """
        for partial in (self.path / "shards").glob(".*"):  # left by a process that was killed
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
        """The finished shards, one after the other."""
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
    """Add to failures what the user can do."""
    try:
        yield
    except FailureError as error:
        raise FailureError(f"{error}; finished runs are kept; --resume continues from there") from None


@takes(folder=PATH)
def collect(folder: str | Path, *names: str) -> Table:
    """The finished runs of a sweep, in their order.

    Columns: ``run``, its number; ``vehicle``, and ``commands`` or ``controller`` and ``path``; the varied parameters
    and the measures by name; ``status``.

    Args:
        folder: The sweep's folder.
        names: The requested columns; all by default.

    Raises:
        ArgumentError: There is no sweep in the folder.
    """
    files = sorted((Path(folder) / "shards").glob("[0-9]*.npz"))
    if not files:
        raise ArgumentError(f"there are no runs of a sweep in '{folder}'")
    tables = [Table.load(file, names) for file in files]
    columns: dict[str, Column] = {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}
    return Table(columns)
