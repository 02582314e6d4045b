"""Identification of one vehicle from many recordings, each fitted by itself. Each result is a line of a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

import vds_gz
from vds_gz.bags.connection import may_be_bag
from vds_gz.parameters.declaration import Override
from vds_gz.parameters.node import NodeParameters
from vds_gz.parameters.yaml_reader import Interval
from vds_gz.study.identify.estimates import Estimate
from vds_gz.study.identify.exports import Numbers, overrides
from vds_gz.study.identify.identification import identify
from vds_gz.study.identify.problem.setup import check_names
from vds_gz.study.progress import Advance, ignore
from vds_gz.study.reading.bag import read_bag
from vds_gz.study.reading.table import read_csv
from vds_gz.study.recording import Recording, SignalError
from vds_gz.study.workers import Failed, Workers, do_tasks
from vds_gz.vehicle.catalogue import models

#: The results of the recordings, one a line, in the order in which they were completed.
JOURNAL = "recordings.jsonl"


@dataclass(frozen=True, slots=True)
class Source:
    """How recordings are read and what is identified, as on the command line.

    Attributes:
        command, velocity, steering: Topics of bags; None: found by type and name.
        columns: Of tables, by quantity.
        wheel_base, vehicle, fit, priors: As of :func:`~vds_gz.study.identify.identification.identify`.
    """

    command: str | None = None
    velocity: str | None = None
    steering: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    wheel_base: float | None = None
    vehicle: NodeParameters | None = None
    fit: tuple[str, ...] = ()
    priors: Mapping[str, Interval] = field(default_factory=dict)

    def signals(self, path: Path) -> Recording:
        """What a recording holds.

        Raises:
            SignalError: It does not hold what is needed, or cannot be read.
        """
        try:
            if may_be_bag(path):
                return read_bag(path, command=self.command, velocity=self.velocity, steering=self.steering)
            return read_csv(path, self.columns)
        except OSError as error:
            raise SignalError(str(error)) from None

    def identify(self, log: str) -> Result:
        """Identify a recording by its path.

        Raises:
            SignalError: It does not hold what is needed, or the vehicle did not move.
        """
        signals, vehicle = self.signals(Path(log)), self.vehicle
        try:
            fit = identify(
                signals, vehicle=vehicle, wheel_base=self.wheel_base, fit=self.fit, priors=self.priors, hold_out=0.0
            )
        except np.linalg.LinAlgError as error:
            raise SignalError(f"the fit failed: {error}") from None
        if not any(fit.numbers.values()):
            raise SignalError("nothing was excited")
        base = vehicle.vehicle if vehicle else models()[fit.model].parameters()
        axes = {f"{axis.quantity}.{name}": number for axis in fit for name, number in axis.fit.numbers.items()}
        axes.pop("steering.fall", None)
        return Result(log, "", fit.model, fit.numbers, fit.calibrations, axes, fit.reached, tuple(overrides(fit, base)))


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one recording.

    Attributes:
        log: Path of the recording.
        failure: Why it has no result, in words that name the recording; empty where it has one.
        model: Name of the vehicle model.
        numbers: Estimates of parameters, by name below ``model_params.<model>.``; None where not identifiable.
        calibrations, axes: The same of what is no parameter, such as ``v_x gain``, and by axis, as ``v_x.dead_time``.
        reached: Of each limit that was not met, the maximum of the recording.
        overrides: Lines of a parameter file.
    """

    log: str
    failure: str = ""
    model: str = ""
    numbers: Numbers = field(default_factory=dict)
    calibrations: Numbers = field(default_factory=dict)
    axes: Numbers = field(default_factory=dict)
    reached: Mapping[str, float] = field(default_factory=dict)
    overrides: tuple[Override, ...] = ()

    @property
    def estimates(self) -> dict[str, Estimate]:
        """All estimates by name."""
        every = self.numbers | self.calibrations | self.axes
        return {name: number for name, number in every.items() if number is not None}

    def line(self, key: str) -> str:
        """The result as a line of a file, with the key of what it depends on."""
        return json.dumps({"key": key} | asdict(self)) + "\n"


def read_results(file: Path) -> Iterator[tuple[str, Result]]:
    """The results in a file by their keys. Incomplete lines, and those of earlier releases, are skipped."""
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
            key = str(entry.pop("key"))
            for name in ("numbers", "calibrations", "axes"):
                entry[name] = {of: number and Estimate(**number) for of, number in entry[name].items()}
            entry["overrides"] = tuple(Override(*fields) for fields in entry["overrides"])
            yield key, Result(**entry)
        except (ValueError, TypeError, LookupError, AttributeError):
            continue


def identify_many(
    logs: Iterable[str],
    source: Source,
    folder: Path,
    *,
    workers: Workers = None,
    resume: bool = False,
    advance: Advance = ignore,
    notify: Callable[[str], object] = lambda words: None,
) -> list[Result]:
    """Identify recordings. A recording that fails does not stop the others.

    Args:
        logs: Paths of the recordings.
        source: How they are read.
        folder: Where :data:`JOURNAL` lies, from which a later call may resume.
        workers: Who does it.
        resume: Keep the results of recordings that have not changed since. Those that failed are tried again.
        advance: Called with 1 for each recording.
        notify: Called with messages of the workers to the user.

    Returns:
        The results in the order of the recordings.

    Raises:
        ArgumentError: A name in ``source.fit`` is no parameter of the vehicle; of any known one, where none is given.
    """
    check_names(source.fit, source.vehicle)
    keys = {log: _key(log, source) for log in logs}
    journal = folder / JOURNAL
    kept = dict(read_results(journal)) if resume and journal.is_file() else {}
    done = {log: kept[key] for log, key in keys.items() if key in kept and not kept[key].failure}
    advance(len(done))
    tasks = do_tasks(source.identify, [log for log in keys if log not in done], workers, notify=notify)
    with journal.open("a" if resume else "w", encoding="utf-8") as file, closing(tasks):
        if file.tell() and not journal.read_bytes().endswith(b"\n"):  # the last line was interrupted
            file.write("\n")
        for outcome in tasks:
            log = outcome.task
            done[log] = _failed(log, outcome.reason) if isinstance(outcome, Failed) else outcome.result
            file.write(done[log].line(keys[log]))
            file.flush()
            advance(1, Path(log).name)
    return [done[log] for log in keys]


def _failed(log: str, reason: str) -> Result:
    """A failure that names the recording once."""
    return Result(log, reason if log in reason else f"{log}: {reason}")


def _key(log: str, source: Source) -> str:
    """What a result depends on: the files of the recording, how it is read, and the version."""
    path = Path(log)
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    stats = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files if file.exists()]
    return hashlib.sha256(repr((vds_gz.__version__, log, stats, source)).encode()).hexdigest()
