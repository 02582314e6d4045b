"""Measure how well vehicles with known parameters are identified.

    python bench/identify.py clean [--seeds 0:50] [--only NAME]    every preset and model, no noise
    python bench/identify.py noisy [--seeds 0:200] [--only NAME]   2 % noise, 5 % lost, 1 ms of jitter
    python bench/identify.py others [FOLDER ...]                   recordings of other programs
    python bench/identify.py speed                                 time and memory: a minute, an hour, short logs
    python bench/identify.py table FILE ...                        the table of files of --output
    python bench/identify.py all [FOLDER] [--jobs N]               real, clean and noisy recordings in one table
    python bench/identify.py constants [FOLDER] [--constant MODULE.NAME]    real ones with constants halved and doubled

A call uses one core, except for `all` and `constants`; several calls with different seeds may run at once, each with
its own `--output`. FOLDER (examples/data) is one of `bench/real.py`. A change of the estimator is judged by `all`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]

from helpers.cramer_rao import bound  # noqa: E402
from helpers.identified_vehicles import (  # noqa: E402
    DT,
    KINDS,
    Case,
    Disturbance,
    clean,
    disturbed,
    full_scale,
    judged,
    presets,
    random_case,
)
from helpers.recorded_vehicles import recordings  # noqa: E402

from vds_gz.core.errors import ArgumentError  # noqa: E402
from vds_gz.tools.study.identify.estimates import Estimate  # noqa: E402
from vds_gz.tools.study.identify.identification import identify  # noqa: E402
from vds_gz.tools.study.offline.offline_replay import Replay  # noqa: E402
from vds_gz.tools.study.offline.replay_bag import write_mcap  # noqa: E402
from vds_gz.tools.study.reading.bag import read_signals  # noqa: E402
from vds_gz.tools.study.recording import Recording  # noqa: E402

Row = dict[str, Any]


def through_a_bag(case: Case, seed: int, duration: float) -> Recording:
    """A recording as the command line makes and reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "recording.mcap")
        write_mcap(Replay(case.log(seed, duration).stream(), case.parameters), path, case.parameters, lambda _: None)
        return read_signals(path)


def as_list(estimate: Estimate) -> list[float]:
    """Value and interval."""
    return [estimate.value, estimate.low, estimate.high]


def trial(case: Case, seed: int, signals: Recording, fit_names: tuple[str, ...] = ()) -> Row:
    """Identify one recording of a vehicle whose geometry is known."""
    begin = process_time()
    fit = identify(signals, vehicle=case.known(), fit=fit_names)
    took = process_time() - begin
    residuals = {channel.name: float(channel.residual / np.max(np.abs(channel.measured))) for channel in fit.channels}
    return {
        "case": case.name,
        "seed": seed,
        "seconds": took,
        "numbers": {
            name: {
                "true": judgement.true,
                "allowed": judgement.allowed,
                "found": judgement.estimate and as_list(judgement.estimate),
            }
            for name, judgement in judged(fit, case, signals, fit_names).items()
        },
        "residuals": residuals,
        "findings": list(fit.findings),
    }


def clean_trials(options: argparse.Namespace) -> Iterator[Row]:
    """No noise: presets, and random vehicles of every model."""
    for seed in options.seeds:
        for case in [*presets(), *(random_case(kind, seed) for kind in KINDS)]:
            if wanted(options, case.name):
                make = through_a_bag if options.bag else clean
                yield trial(case, seed, make(case, seed, options.duration), tuple(options.fit))


def noisy_trials(options: argparse.Namespace) -> Iterator[Row]:
    """Noisy recordings of random vehicles, with the Cramer-Rao bound of unbiased estimates."""
    how = Disturbance()
    for seed in options.seeds:
        for kind in KINDS:
            if not wanted(options, kind):
                continue
            case = random_case(kind, seed)
            exact = clean(case, seed, options.duration)
            signals = disturbed(exact, np.random.default_rng([seed, 1]), how)
            row = trial(case, seed, signals, tuple(options.fit))
            channels = {
                name: (np.rint(series.time / DT) * DT, how.noise * full_scale(exact, name))
                for name, series in signals.measured.items()
            }
            names = [
                name
                for name, number in row["numbers"].items()
                if number["found"]
                and np.isfinite(number["true"])
                and " " not in name  # of the vehicle, not of a sensor
            ]
            least = bound(case, case.log(seed, options.duration), names, channels) if names else {}
            for name in names:
                row["numbers"][name]["least"] = least[name]
            yield row


def other_trials(options: argparse.Namespace) -> Iterator[Row]:
    """Recordings of VDS and of Autoware's simulator."""
    for folder in options.folders or [ROOT / "test" / "reference"]:
        for recording in recordings(Path(folder)):
            if wanted(options, recording.case.name):
                yield trial(recording.case, 0, recording.signals)


def wanted(options: argparse.Namespace, name: str) -> bool:
    """Whether ``--only`` selects a case."""
    return not options.only or any(word in name for word in options.only)


def speed(options: argparse.Namespace) -> None:
    """Measure a minute, an hour, and twenty short recordings of a car."""
    case = random_case("bicycle fs rd", 1)
    identify(clean(case, 1), vehicle=case.known())  # compiles
    for durations in ([60.0], [3600.0], [3.0] * 20):
        signals = [disturbed(clean(case, k, time), np.random.default_rng(k)) for k, time in enumerate(durations, 1)]
        before, begin, cpu = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, perf_counter(), process_time()
        identify(signals, vehicle=case.known())
        wall, used = perf_counter() - begin, process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        what = f"{len(durations)} x {durations[0]:.0f} s"
        print(f"{what}: {wall:.1f} s, {used:.1f} s of processor time, {before // 1024} -> {peak // 1024} MB")


def table(rows: Iterable[Row]) -> Iterator[str]:
    """Lines of a table: a row for each number of each case."""
    cases: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        cases[row["case"]].append(row)
    head = ("case", "number", "trials", "worst error", "allowed", "over", "interval holds", "rms/bound", "not found")
    yield f"| {' | '.join(head)} |"
    yield "|" + " --- |" * len(head)
    for case, trials in cases.items():
        for name in dict.fromkeys(name for row in trials for name in row["numbers"]):
            yield f"| {' | '.join(_cells(case, name, [row['numbers'].get(name) for row in trials]))} |"
        worst = Counter({name: value for row in trials for name, value in row["residuals"].items()})
        for row in trials:
            for name, value in row["residuals"].items():
                worst[name] = max(worst[name], value)
        shown = ", ".join(f"{name} {value:.1e}" for name, value in worst.items())
        times = [row["seconds"] for row in trials]
        yield f"| {case} | residual / peak: {shown}; {np.median(times):.1f} s, at most {max(times):.1f} s |"


def _cells(case: str, name: str, numbers: list[Row | None]) -> tuple[str, ...]:
    there = [number for number in numbers if number]
    found = [number for number in there if number["found"]]
    missed = len(there) - len(found)
    if not found:
        return case, name, str(len(there)), "", "", "", "", "", str(missed)
    error = np.array([abs(number["found"][0] - number["true"]) for number in found])
    over = error / np.array([number["allowed"] for number in found])
    held = np.mean([holds(number) for number in found])
    ratios = [error[k] / number["least"] for k, number in enumerate(found) if "least" in number]
    efficiency = f"{np.sqrt(np.mean(np.square(ratios))):.2f}" if ratios else ""
    k = int(np.nanargmax(over)) if np.isfinite(over).any() else 0
    texts = f"{error[k]:.2g}", f"{found[k]['allowed']:.2g}", f"{int(np.sum(~(over <= 1.0)))}"
    return case, name, str(len(there)), *texts, f"{held:.1%}", efficiency, str(missed)


def holds(number: Row) -> bool:
    """Whether the interval contains the true number."""
    return bool(number["found"][1] <= number["true"] <= number["found"][2])


def faults(row: Row, *, noisy: bool) -> Iterator[str]:
    """Faults of a trial: numbers and residuals out of bounds."""
    for name, number in row["numbers"].items():
        if number["found"]:
            value, low, high = number["found"]
            text = f"{row['case']}, seed {row['seed']}: {name} {value:.7g} ({low:.7g} to {high:.7g})"
            text += f", true {number['true']:.7g}"
            if not holds(number):
                yield f"{text}: left out"
            if not noisy and not abs(value - number["true"]) <= number["allowed"]:
                yield f"{text}: off by {abs(value - number['true']) / (number['allowed'] or 1e-300):.2g} of the bound"
    for name, residual in row["residuals"].items():
        if not noisy and residual > 1e-3:
            yield f"{row['case']}, seed {row['seed']}: residual of {name} is {residual:.2g} of the peak"


def of_all_recordings(options: argparse.Namespace) -> int:
    """The table of all recordings, or that of constants; raises ArgumentError without the recordings."""
    import identification_table  # which imports this file

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of the programs that are run
    folder = Path(options.folders[0]) if options.folders else ROOT / "examples" / "data"
    if not folder.is_dir():
        raise ArgumentError(f"'{folder}' is not a folder of recordings")
    if options.what == "all":
        return identification_table.table(folder, options.jobs, options.only or ())
    identification_table.sensitivity(folder, options.jobs, options.only or (), options.constant)
    return 0


def main() -> int:
    """Run the trials, and print their table."""
    parser = _parser()
    options = parser.parse_args()
    if options.what == "speed":
        speed(options)
        return 0
    if options.what in ("all", "constants"):
        try:
            return of_all_recordings(options)
        except ArgumentError as error:
            parser.error(str(error))
    if options.what == "table":
        rows = [json.loads(line) for path in options.folders for line in Path(path).read_text().splitlines()]
    else:
        rows = []
        trials = {"clean": clean_trials, "noisy": noisy_trials, "others": other_trials}[options.what]
        for row in trials(options):
            rows.append(row)
            if options.output:
                with Path(options.output).open("a") as file:
                    file.write(json.dumps(row) + "\n")
            print(f"{row['case']}, seed {row['seed']}: {row['seconds']:.1f} s", file=sys.stderr)
            for line in faults(row, noisy=options.what == "noisy"):
                print(f"  {line}", file=sys.stderr, flush=True)
    print("\n".join(table(rows)))
    return 0


def _seeds(text: str) -> range:
    first, _, end = text.partition(":")
    return range(int(first), int(end)) if end else range(int(first), int(first) + 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("clean", "noisy", "others", "speed", "table", "all", "constants"))
    parser.add_argument("folders", nargs="*", help="folders of recordings, or files for the table")
    parser.add_argument("--seeds", type=_seeds, default=range(4), metavar="FIRST:END", help="seeds of the trials (0:4)")
    parser.add_argument("--only", action="append", metavar="NAME", help="cases whose names contain NAME; repeatable")
    parser.add_argument("--fit", action="append", default=[], metavar="NAME", help="geometry to fit too; repeatable")
    parser.add_argument("--duration", type=float, default=60.0, metavar="S", help="length of a recording (60)")
    parser.add_argument("--bag", action="store_true", help="write a bag and read it, as the command line does")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="cores to use (all)")
    parser.add_argument(
        "--constant",
        action="append",
        default=[],
        metavar="MODULE.NAME",
        help="constant to change; repeatable (all of `selection`, `trials` and `cross_validation`)",
    )
    parser.add_argument("--output", metavar="FILE", help="append each result to a file, as a line of JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
