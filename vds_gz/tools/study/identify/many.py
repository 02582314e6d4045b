"""Identification of one vehicle from many recordings: each is fitted separately, and the results are pooled.

Each result is a line of a file, from which a later call resumes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import vds_gz
from vds_gz.core.errors import FailureError
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.core.vehicle.catalogue import models
from vds_gz.programs.bags.reader import may_be_bag
from vds_gz.tools.study.identify.estimates import WIDTH, Estimate
from vds_gz.tools.study.identify.exports import NOT_MET, WIDEST, overrides, unmet_comment
from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.identify.labels import ParameterLabel, named
from vds_gz.tools.study.identify.problem.command_hold import MAX_AGE, range_seen
from vds_gz.tools.study.identify.problem.parameters import actuations
from vds_gz.tools.study.identify.problem.unknowns import check_names
from vds_gz.tools.study.identify.results import NamedEstimates, VehicleFit
from vds_gz.tools.study.progress import Advance, ignore
from vds_gz.tools.study.reading.bag import read_bag
from vds_gz.tools.study.reading.signal_table import read_csv
from vds_gz.tools.study.recording import Recording, SignalError
from vds_gz.tools.study.workers import Workers, do_tasks

#: File with the results of the recordings, one per line, in the order in which they were completed.
JOURNAL = "recordings.jsonl"

#: A normal variable exceeds this many standard deviations with a probability of 1 in 1000.
RARE = 3.09

#: A pooled limit counts as not met if a recording exceeds its interval by this factor, more than noise does.
EXCEEDED = 1.1


@dataclass(frozen=True, slots=True)
class Source:
    """How to read and identify recordings: topics of bags, columns of tables, arguments of ``identify``."""

    topics: Mapping[str, str | None] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    wheel_base: float | None = None
    vehicle: NodeParameters | None = None
    fit: tuple[str, ...] = ()
    priors: Mapping[str, Interval] = field(default_factory=dict)

    def read(self, path: Path) -> Recording:
        """Read a bag or a table."""
        return read_bag(path, **dict[str, Any](self.topics)) if may_be_bag(path) else read_csv(path, self.columns)

    def fit_together(self, recordings: Sequence[Recording], **options: Any) -> VehicleFit:
        """Identify a vehicle from recordings."""
        vehicle, wheel_base = self.vehicle, self.wheel_base
        return identify(recordings, vehicle=vehicle, wheel_base=wheel_base, fit=self.fit, priors=self.priors, **options)

    def identify(self, log: str) -> Result:
        """Identify a recording by its path; a RecordingError says why that is not possible."""
        try:
            fit = self.fit_together([self.read(Path(log))], hold_out=0.0)
        except OSError as error:
            raise SignalError(str(error)) from None
        except np.linalg.LinAlgError as error:
            raise SignalError(f"the fit failed: {error}") from None
        if not any(fit.numbers.values()):
            raise SignalError("nothing was excited")
        axes = {f"{axis.quantity}.{name}": number for axis in fit for name, number in axis.numbers.items()}
        axes.pop("steering.fall", None)
        lines, hold = tuple(overrides(fit, self.vehicle)), fit.command_hold
        numbers, reached = {**fit.numbers, MAX_AGE: hold.timeout}, {**fit.reached, MAX_AGE: hold.least}
        unmeasured = tuple(sorted(fit.unmeasured))
        return Result(log, "", fit.model, numbers, fit.calibrations, axes, reached, lines, unmeasured)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one recording, ``log`` being its path, or a ``failure``: the reason, which names the recording.

    Numbers are those of :class:`~vds_gz.tools.study.identify.results.VehicleFit`, and the time-out of commands; those
    of axes have names such as ``v_x.dead_time``. Of the limits in ``unmeasured``, ``reached`` has the largest command.
    """

    log: str
    failure: str = ""
    model: str = ""
    numbers: NamedEstimates = field(default_factory=dict)
    calibrations: NamedEstimates = field(default_factory=dict)
    axes: NamedEstimates = field(default_factory=dict)
    reached: Mapping[str, float] = field(default_factory=dict)
    overrides: tuple[Override, ...] = ()
    unmeasured: tuple[str, ...] = ()

    @property
    def estimates(self) -> dict[str, Estimate]:
        """All estimates by name."""
        numbers = self.numbers | self.calibrations | self.axes
        return {name: number for name, number in numbers.items() if number is not None}

    def line(self, key: str) -> str:
        """The result as a line of a file, with its key."""
        return json.dumps({"key": key} | asdict(self)) + "\n"


def read_results(file: Path) -> Iterator[tuple[str, Result]]:
    """The results in a file by their keys. Incomplete lines, and those of earlier releases, are skipped."""
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
            key = str(entry.pop("key"))
            for group in ("numbers", "calibrations", "axes"):
                entry[group] = {name: number and Estimate(**number) for name, number in entry[group].items()}
            entry["overrides"] = tuple(Override(*fields) for fields in entry["overrides"])
            entry["unmeasured"] = tuple(entry["unmeasured"])
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
    """Identify recordings by their paths; the results are in their order. A failure does not stop the others.

    With ``resume``, results in :data:`JOURNAL` of recordings that have not changed since are kept. Those that failed
    are tried again.
    """
    check_names(source.fit, source.vehicle)
    keys = {log: _key(log, source) for log in logs}
    journal = folder / JOURNAL
    kept = dict(read_results(journal)) if resume and journal.is_file() else {}
    done = {log: kept[key] for log, key in keys.items() if key in kept and not kept[key].failure}
    advance(len(done))
    tasks = do_tasks(source.identify, [log for log in keys if log not in done], workers, notify=notify)
    with journal.open("a" if resume else "w", encoding="utf-8") as file, closing(tasks):
        if file.tell() and not journal.read_bytes().endswith(b"\n"):  # the last line is incomplete
            file.write("\n")
        for log, result in tasks:
            if isinstance(result, FailureError):
                done[log] = Result(log, str(result) if log in str(result) else f"{log}: {result}")
            else:
                done[log] = result
            file.write(done[log].line(keys[log]))
            file.flush()
            advance(1, Path(log).name)
    return [done[log] for log in keys]


def _key(log: str, source: Source) -> str:
    """The key of a result: the files of the recording, the source, and the version."""
    path = Path(log)
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    stats = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files if file.exists()]
    return hashlib.sha256(repr((vds_gz.__version__, log, stats, source)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Pooled:
    """A parameter pooled over recordings.

    ``spread`` is the standard deviation between recordings beyond their intervals. ``scatter`` is the scatter of the
    recordings as a multiple of that which their intervals predict, about 1 if these are right; NaN of one recording,
    and of time-outs, whose intervals are the ranges of the stops. ``farthest`` is the recording whose estimate is
    farthest from the median.
    """

    estimate: Estimate
    count: int
    spread: float
    scatter: float
    farthest: str

    @property
    def differs(self) -> bool:
        """Whether recordings scatter by more than chance does in 999 of 1000 cases (E. Wilson, M. Hilferty, 1931)."""
        part = 2.0 / (9.0 * max(self.count - 1, 1))
        return self.scatter > math.sqrt((1.0 - part + RARE * math.sqrt(part)) ** 3)


@dataclass(frozen=True, slots=True)
class PooledVehicle:
    """A vehicle of the model that most recordings show, pooled over these. Results of other models are in ``others``.

    ``numbers`` are parameters, calibrations and numbers of axes; ``words`` label the parameters and calibrations.
    ``contradiction`` says why there is no time-out of commands, though recordings show one; else it is empty.
    """

    model: str
    numbers: Mapping[str, Pooled]
    words: tuple[ParameterLabel, ...]
    overrides: tuple[Override, ...]
    others: tuple[Result, ...]
    contradiction: str = ""


def pool(estimates: Mapping[str, Estimate]) -> Pooled:
    """Pool at least one estimate, by recording.

    Source: R. DerSimonian and N. Laird, Meta-analysis in clinical trials, Controlled Clinical Trials 7 (1986) 177-188.
    """
    values = np.array([estimate.value for estimate in estimates.values()])
    widths = np.array([estimate.high - estimate.low for estimate in estimates.values()]) / (2.0 * WIDTH)
    variances = np.maximum(widths, 1e-12 + 1e-9 * np.abs(values)) ** 2
    weights, freedom, between, scatter = 1.0 / variances, len(values) - 1, 0.0, math.nan
    if freedom:
        squares = float(np.sum(weights * (values - np.average(values, weights=weights)) ** 2))
        between = max(0.0, (squares - freedom) / float(weights.sum() - np.sum(weights**2) / weights.sum()))
        scatter = math.sqrt(squares / freedom)
    weights = 1.0 / (variances + between)
    mean, half = float(np.average(values, weights=weights)), WIDTH / math.sqrt(float(weights.sum()))
    farthest = list(estimates)[int(np.argmax(np.abs(values - np.median(values))))]
    return Pooled(Estimate(mean, mean - half, mean + half), len(values), math.sqrt(between), scatter, farthest)


def pool_time_outs(estimates: Mapping[str, Estimate]) -> Pooled:
    """Pool at least one time-out, by recording: the median, and the range of all stops that were seen.

    Ranges predict no scatter. The spread is that of the values.
    """
    values, lows, highs = np.transpose([(one.value, one.low, one.high) for one in estimates.values()])
    seen = Estimate(float(np.median(values)), float(np.min(lows)), float(np.max(highs)))
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return replace(pool(estimates), estimate=seen, spread=spread, scatter=math.nan)


def pool_results(results: Sequence[Result]) -> PooledVehicle | None:
    """One vehicle from the results of its recordings; None if all of them failed."""
    done = [result for result in results if not result.failure]
    if not done:
        return None
    shown = [result.model for result in done]
    model = max(shown, key=shown.count)
    same = [result for result in done if result.model == model]
    by_name: dict[str, dict[str, Estimate]] = {}
    for result in same:
        for name, estimate in result.estimates.items():
            by_name.setdefault(name, {})[result.log] = estimate
    pooled = {
        name: pool_time_outs(estimates) if name == MAX_AGE else pool(estimates) for name, estimates in by_name.items()
    }
    if contradiction := _moves_on(same, pooled.get(MAX_AGE)):
        del pooled[MAX_AGE]

    def names(group: str) -> list[str]:
        return list(dict.fromkeys(name for result in same for name in getattr(result, group) if name in pooled))

    words = tuple(named(model, names("numbers"), names("calibrations")))
    others = tuple(result for result in done if result.model != model)
    return PooledVehicle(model, pooled, words, tuple(_overrides(model, same, pooled)), others, contradiction)


def _moves_on(results: Sequence[Result], timeout: Pooled | None) -> str:
    """How a recording contradicts the time-out of the others, in words; empty if none does."""
    longest = max(results, key=lambda result: result.reached.get(MAX_AGE, 0.0))
    moved_on = longest.reached.get(MAX_AGE, 0.0)
    if timeout is None or moved_on <= EXCEEDED * timeout.estimate.high:
        return ""
    return (
        f"{longest.log}: the vehicle moved on for {moved_on:.2g} s without a command, but by others it stops "
        f"{timeout.estimate.value:.2g} s after its last command; the parameter file has no time-out"
    )


def _overrides(model: str, results: Sequence[Result], pooled: Mapping[str, Pooled]) -> Iterator[Override]:
    """Pooled parameters; those without estimates have the value that most recordings give.

    A limit that was met in one recording and exceeded in another counts as not met. How long a vehicle moved on without
    a command counts if no recording shows a time-out.
    """
    lines = [{line.name: line for line in result.overrides} for result in results]
    limits = {actuation["value"] for actuation in actuations(models()[model].parameters()).values()}
    for name in dict.fromkeys(name for by_name in lines for name in by_name):
        parameter = name.removeprefix(f"model_params.{model}.")
        there = [by_name[name] for by_name in lines if name in by_name]
        with_reach = [result for result in results if parameter in result.reached]
        measured = [result.reached[parameter] for result in with_reach if parameter not in result.unmeasured]
        most = max(measured or [result.reached[parameter] for result in with_reach], default=None)
        if name == MAX_AGE:
            if name in pooled:
                timeout = pooled[name].estimate
                yield Override(name, float(f"{timeout.value:.5g}"), range_seen(timeout))
            elif not any(MAX_AGE in result.estimates for result in results):
                yield next((line for line in there if not _is_unmet(line)), there[0])
            continue
        if parameter in pooled:
            unmet = next(filter(_is_unmet, there), None)
            estimate = pooled[parameter].estimate
            if unmet and parameter in limits and max(measured, default=0.0) > EXCEEDED * estimate.high:
                yield unmet._replace(origin=unmet_comment(unmet.value, most, measured=True))
            else:
                yield estimate.override(name)
            continue
        values = [by_name[name].value if name in by_name else None for by_name in lines]
        if (value := max(values, key=values.count)) is not None:
            line = lines[values.index(value)][name]
            if _is_unmet(line):
                line = line._replace(origin=unmet_comment(line.value, most, measured=bool(measured)))
            yield line


def _is_unmet(line: Override) -> bool:
    """Whether a line is a limit that was not met."""
    return line.origin.startswith((NOT_MET, WIDEST))
