"""Identification of a vehicle from many recordings, each by itself; what was found is kept as soon as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import vds_gz
from vds_gz.bags.connection import may_be_bag
from vds_gz.parameters.intervals import Interval
from vds_gz.parameters.node import NodeParameters
from vds_gz.study.identify.identification import identify
from vds_gz.study.identify.journal import Identified, begin_journal, journal_line, read_journal, without_samples
from vds_gz.study.identify.problem.setup import check_names
from vds_gz.study.progress import Advance, ignore
from vds_gz.study.reading.bag import read_bag
from vds_gz.study.reading.table import read_csv
from vds_gz.study.signals import SignalError, Signals
from vds_gz.study.workers.outcome import Done, Failed
from vds_gz.study.workers.tasks import Workers, do_tasks

#: What was found of each recording, one a line, as it was found.
JOURNAL = "recordings.jsonl"


@dataclass(frozen=True, slots=True)
class Source:
    """How recordings are read and what is looked for in them, as on the command line.

    Attributes:
        command, velocity, steering: Topics of bags; None: found by type and name.
        columns: Of tables, by quantity.
        wheel_base: Of a vehicle that steers, where none is given [m].
        vehicle: What is known of the vehicle.
        fit: Further parameters to be found.
        priors: Known intervals of parameters.
    """

    command: str | None = None
    velocity: str | None = None
    steering: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    wheel_base: float | None = None
    vehicle: NodeParameters | None = None
    fit: tuple[str, ...] = ()
    priors: Mapping[str, Interval] = field(default_factory=dict)

    def signals(self, path: Path) -> Signals:
        """What a recording holds.

        Raises:
            SignalError: It does not hold what is needed.
        """
        if may_be_bag(path):
            return read_bag(path, command=self.command, velocity=self.velocity, steering=self.steering)
        return read_csv(path, self.columns)


@dataclass(frozen=True, slots=True)
class _Identify:
    """The task of a worker."""

    source: Source

    def __call__(self, log: str) -> Identified:
        """Identify one recording.

        Raises:
            SignalError: It does not tell.
        """
        source = self.source
        try:
            signals = source.signals(Path(log))
        except OSError as error:
            raise SignalError(str(error)) from None
        try:
            fit = identify(
                signals,
                vehicle=source.vehicle,
                wheel_base=source.wheel_base,
                fit=source.fit,
                priors=source.priors,
                hold_out=0.0,
            )
        except np.linalg.LinAlgError as error:
            raise SignalError(f"the fit failed: {error}") from None
        if not any(fit.numbers.values()):
            raise SignalError("nothing was excited")
        return Identified(log, without_samples(fit))


def identify_many(
    logs: Iterable[str],
    source: Source,
    folder: Path,
    *,
    workers: Workers = None,
    resume: bool = False,
    advance: Advance = ignore,
    notify: Callable[[str], object] = lambda words: None,
) -> list[Identified]:
    """Identify recordings; one that tells nothing does not keep the others.

    Args:
        logs: The recordings.
        source: How they are read.
        folder: For the journal, from which a later call may resume.
        workers: Who does it.
        resume: Keep what the journal has of recordings that have not changed since; those that failed are tried again.
        advance: Called with 1 for each that is done.
        notify: Called with what a user may want to read of the workers.

    Returns:
        What each tells, in their order.

    Raises:
        ArgumentError: What is looked for is no parameter of the vehicle; of any that may be, where none is given.
    """
    check_names(source.fit, source.vehicle)
    keys = {log: _key(log, source) for log in logs}
    journal = folder / JOURNAL
    kept = dict(read_journal(journal)) if resume and journal.is_file() else {}
    done = {log: kept[key] for log, key in keys.items() if key in kept and not kept[key].failure}
    advance(len(done))
    begin_journal(journal, (journal_line(keys[log], found) for log, found in done.items()))
    left = [log for log in keys if log not in done]
    with ExitStack() as stack:
        file = stack.enter_context(journal.open("a", encoding="utf-8"))
        outcomes = stack.enter_context(closing(do_tasks(_Identify(source), left, workers, notify=notify)))
        for found in map(_found, outcomes):
            done[found.log] = found
            file.write(journal_line(keys[found.log], found))
            file.flush()
            advance(1, Path(found.log).name)
    return [done[log] for log in keys]


def _found(outcome: Done[str, Identified] | Failed[str]) -> Identified:
    """What was found of a recording; why nothing was names the recording, once."""
    if isinstance(outcome, Done):
        return outcome.result
    log, reason = outcome.task, outcome.reason
    return Identified(log, failure=reason if log in reason else f"{log}: {reason}")


def _key(log: str, source: Source) -> str:
    """What a result depends on: the recording as it lies there, how it is read, and by which version."""
    path = Path(log)
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    stats = [(str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in files if one.exists()]
    return hashlib.sha256(repr((vds_gz.__version__, log, stats, source)).encode()).hexdigest()
