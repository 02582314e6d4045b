"""``vds-gz sweep``: many runs of a vehicle with varied parameters, and their analysis."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from vds_gz.cli.shared_options import add_workers_option, output_folder
from vds_gz.core.errors import ArgumentError
from vds_gz.core.ros.program_shell import DONE, FAILED, CommandLine, command, complain
from vds_gz.tools.fleet.tracking import DIVERGED, STATUSES
from vds_gz.tools.study.progress import progress
from vds_gz.tools.study.report.sweep_report import distribution_table, sentences, write_report
from vds_gz.tools.study.report.text import text_table
from vds_gz.tools.study.sweep.analysis import Runs, analyse
from vds_gz.tools.study.sweep.cases import ADDITIONAL_DEAD_TIME, CONTROLLER, START, UNMEASURED, Table
from vds_gz.tools.study.sweep.measures import CLOSED_LOOP_MEASURES, OPEN_LOOP_MEASURES
from vds_gz.tools.study.sweep.plan_file import descriptions, read_sweep
from vds_gz.tools.study.sweep.sweep_folder import RUNS, collect, do_runs, keep
from vds_gz.tools.study.sweep.sweep_runs import Sweep

DESCRIPTION = """
Run vehicles with command logs, or with controllers on paths, many times with varied parameters: dead times, lags,
limits, gains. Thousands of runs of a minute take seconds. A run depends only on the plan and its number, so results
are the same on any machine and in any order.

  vehicle: my_robot.yaml               # a parameter file or a preset, or a list of them
  controller: pure_pursuit             # or: commands: [steps.csv, drive.mcap]
  path: track.csv                      # with columns x, y and optionally speed
  driving: {rate: 50, duration: 60}    # commands per second [Hz], maximum duration of a run [s]
  vary:
    drive_actuator.dead_time: {uniform: [0.05, 0.4]}
    steering_actuator.time_constant: {interval: identified/parameters.yaml}
    controller.look_ahead: [1.0, 1.5, 2.0]
  samples: {sobol: 1024, seed: 1}
  measure: [path.rms, path.peak]
  expect: {path.peak: {p99: 0.5}}

Written into a folder: runs.csv, with one row per run, from which --resume continues; report.html, report.json and
pictures; the recordings of --keep.
"""

EPILOG = """
examples:
  vds-gz sweep sweep.yaml -o out --keep worst:5
  vds-gz sweep sweep.yaml -o out --workers 8
  vds-gz sweep sweep.yaml -o out --workers tcp://10.0.0.1:8786 --resume

exit code: 0 done and as expected, 1 an expectation is broken or a run failed, 2 wrong use or input
"""

#: Beginnings of the names of varied quantities that are chosen, not measured on a vehicle.
CHOSEN = (CONTROLLER, START, ADDITIONAL_DEAD_TIME)

#: Maximum number of printed failures.
PRINTED = 5


@dataclass(frozen=True, slots=True)
class Keep:
    """Number of the worst runs to keep, by a measure, by default the first one."""

    count: int
    measure: str


@command("vds-gz sweep")
def main(argv: list[str]) -> int:
    """Do a sweep."""
    options = _parser().parse_args(argv)
    sweep = read_sweep(options.file)
    kept: Keep | None = options.keep
    if kept and kept.measure not in ("", *sweep.measures):
        raise ArgumentError(f"--keep: '{kept.measure}' is not measured; measured are {', '.join(sweep.measures)}")
    path = output_folder(options.output)
    with progress(f"{len(sweep)} runs", len(sweep)) as advance:
        notify = partial(complain, "vds-gz sweep")
        failed = do_runs(path, sweep, options.workers, advance, notify, resume=options.resume)
    for runs, reason in failed[:PRINTED]:
        complain("vds-gz sweep", f"runs {runs[0]} to {runs[-1]}: {reason}")
    if len(failed) > PRINTED:
        complain("vds-gz sweep", f"and {len(failed) - PRINTED} more pieces of the sweep failed")
    if not (path / RUNS).exists():
        return FAILED
    # Labels are left out: as texts they would take most of the memory.
    table = collect(path, "run", *sweep.space.columns, *sweep.measures, "status")
    broken = _tell(options.file, path, sweep, table)
    if kept:
        _keep(path, sweep, table, kept)
    bad = {status: int(np.sum(table["status"] == status)) for status in (STATUSES[DIVERGED], UNMEASURED)}
    for status, count in bad.items():
        if count:
            complain("vds-gz sweep", f"{count} runs are {status}; they have that status in {path / RUNS}")
    return FAILED if broken or failed or any(bad.values()) else DONE


def _tell(title: str, path: Path, sweep: Sweep, table: Table) -> bool:
    """Print and write the analysis of each case; return whether an expectation is broken."""
    cases = [(runs, analyse(runs)) for runs in cases_of(sweep, table)]
    write_report(path, title, cases)
    print(f"{text_table(*distribution_table(cases))}\n")
    for runs, analysis in cases:
        for sentence in sentences(runs, analysis):
            print(f"{f'{runs.label}: ' if runs.label else ''}{sentence}\n")
    print(f"runs    {path / RUNS}\nreport  {path / 'report.html'}")
    broken = [(runs.label, bound) for runs, analysis in cases for bound in analysis.expectations if bound.broken]
    if broken:
        rows = [(bound.measure, bound.quantile, bound.result, bound.requirement, label) for label, bound in broken]
        head = "measure", "quantile", "is", "must be", ""
        print(f"\nnot as expected:\n{text_table(head, rows)}", file=sys.stderr)
    return bool(broken)


def cases_of(sweep: Sweep, table: Table) -> Iterator[Runs]:
    """The runs of each case separately; numbers of different cases are not comparable."""
    known = {measure.name: measure.unit for measure in (*OPEN_LOOP_MEASURES, *CLOSED_LOOP_MEASURES)}
    columns = [name for name in sweep.cases[0].labels if len({case.labels[name] for case in sweep.cases}) > 1]
    numbers = table["run"].astype(np.int64)
    for index, case in enumerate(sweep.cases):
        of_case = numbers // len(sweep.space) == index
        varied = dict(descriptions(sweep, case))
        # The numbers of a list that varies as a whole change together, so together they are one parameter.
        lists = sweep.space.lists(numbers[of_case] % len(sweep.space))
        yield Runs(
            {name: table[name][of_case].astype(np.float64) for name in varied}
            | {f"{name} (number of its list)": number.astype(np.float64) for name, number in lists.items()},
            {name: table[name][of_case].astype(np.float64) for name in sweep.measures},
            {name: parameter.unit for name, parameter in varied.items()}
            | {name: known[name] for name in sweep.measures},
            {name: float(str(parameter.default)) for name, parameter in varied.items() if not name.startswith(CHOSEN)},
            sweep.identified,
            sweep.expected,
            ", ".join(case.labels[name] for name in columns),
            numbers[of_case].tolist(),
        )


def _keep(path: Path, sweep: Sweep, table: Table, kept: Keep) -> None:
    """Write recordings of the worst runs."""
    measure = kept.measure or sweep.measures[0]
    runs = Runs({}, {measure: table[measure].astype(np.float64)})
    for place in runs.worst(measure, kept.count):
        run = int(table["run"][place])
        file = path / f"run_{run}.mcap"
        keep(sweep, run, file)
        print(f"kept    {file}  ({measure} {float(table[measure][place]):.4g})")


def _parser() -> argparse.ArgumentParser:
    parser = CommandLine("vds-gz sweep", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("file", metavar="FILE", help="the plan (YAML); docs/sweep.md lists its keys")
    parser.add_argument("-o", "--output", metavar="DIR", default="sweep", help="folder for results (sweep)")
    add_workers_option(parser)
    parser.add_argument("--resume", action="store_true", help="continue the sweep in the folder")
    parser.add_argument(
        "--keep",
        type=_worst,
        metavar="worst:N[:MEASURE]",
        help="record the N worst runs by MEASURE (the first measure)",
    )
    return parser


def _worst(text: str) -> Keep:
    word, _, rest = text.partition(":")
    count, _, measure = rest.partition(":")
    if word != "worst" or not count.isdecimal() or int(count) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' must be worst:N or worst:N:MEASURE, e.g. worst:5:path.peak")
    return Keep(int(count), measure)
