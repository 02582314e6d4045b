"""The estimator judged by all recordings at once: of real robots, and clean and noisy ones of known vehicles.

`python bench/identify.py all` and `constants` run it.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from importlib import import_module
from itertools import product
from pathlib import Path
from subprocess import CalledProcessError
from time import monotonic

import identify
import numpy as np
import real
from changed_constant import PACKAGE, imported

from vds_gz.core.errors import VdsGzError

#: Runs the command line with a changed constant.
CHANGED = Path(__file__).with_name("changed_constant.py")

#: Seeds of the trials.
CLEAN_SEEDS, NOISY_SEEDS = range(1), range(10, 12)

#: The modules with the constants of the search for terms.
SEARCH = "selection", "trials", "cross_validation"

HEAD = "| recording | quantity | std | command | simple fit | identified | ratio | time [s] | learned |"


def real_rows(name: str, files: Sequence[Path], vehicle: Path, program: Sequence[str] = real.PROGRAM) -> list[real.Row]:
    """The rows of a recording, in a list, which can be sent between processes."""
    return list(real.rows(name, files, vehicle, program))


def trials(kind: str, seed: int, only: Sequence[str]) -> list[identify.Row]:
    """Trials of known vehicles: "clean" or "noisy"."""
    options = Namespace(seeds=[seed], only=only, bag=False, fit=[], duration=60.0)
    return list({"clean": identify.clean_trials, "noisy": identify.noisy_trials}[kind](options))


def of_known_vehicles(kind: str, rows: Sequence[identify.Row]) -> Iterator[str]:
    """A summary of trials, and their faults."""
    numbers = [number for row in rows for number in row["numbers"].values()]
    estimates = [number for number in numbers if number["found"]]
    holding = sum(map(identify.holds, estimates))
    ratios = [abs(number["found"][0] - number["true"]) / number["least"] for number in estimates if "least" in number]
    bound = f", rms error {np.sqrt(np.mean(np.square(ratios))):.2f} times the Cramer-Rao bound" if ratios else ""
    seconds = [row["seconds"] for row in rows]
    yield (
        f"{kind}: {len(rows)} recordings, {len(estimates)} of {len(numbers)} numbers given, {holding} of their "
        f"intervals hold the truth{bound}; {np.median(seconds):.1f} s, at most {max(seconds):.1f} s"
    )
    for row in rows:
        yield from (f"  {fault}" for fault in identify.faults(row, noisy=kind == "noisy"))


def line(row: real.Row) -> str:
    """A row of the table of real recordings."""
    numbers = f"{row.spread:.3f} | {row.command:.3f} | {row.simple:.3f} | {row.identified:.3f} | {row.ratio:.3f}"
    marks = " WORSE" if row.worse else "" if row.follows else " -"
    return f"| {row.recording} | {row.quantity} | {numbers}{marks} | {row.seconds:.0f} | {row.learned} |"


def drives(folder: Path, only: Sequence[str]) -> dict[str, tuple[list[Path], Path]]:
    """Files and vehicle of each drive whose name contains one of some words."""
    return {
        name: (files, real.vehicle_of(folder, name))
        for name, files in real.drives(folder, "").items()
        if not only or any(word in name for word in only)
    }


def table(folder: Path, jobs: int, only: Sequence[str]) -> int:
    """Print the whole table.

    Returns:
        1 if a recording fails, some prediction is worse than another one, or a number of clean data is wrong; else 0.
    """
    recordings = drives(folder, only)
    begin = monotonic()
    print(HEAD, "|---" * 9 + "|", sep="\n")
    with ProcessPoolExecutor(jobs) as pool:
        of_real = {pool.submit(real_rows, name, *drive): name for name, drive in recordings.items()}
        known = {
            kind: [pool.submit(trials, kind, seed, only) for seed in seeds]
            for kind, seeds in (("clean", CLEAN_SEEDS), ("noisy", NOISY_SEEDS))
        }
        judged: list[real.Row] = []
        for rows in done(of_real):
            print(*map(line, rows), sep="\n", flush=True)
            judged += rows
        failed = any(row.worse for row in judged) or any(future.exception() for future in of_real)
        if judged:
            print(f"\n{real.summary(judged)}")
        for kind, futures in known.items():
            if results := [row for future in futures for row in future.result()]:
                summary, *faults = of_known_vehicles(kind, results)
                print(f"\n{summary}", *faults, sep="\n", flush=True)
                failed |= kind == "clean" and bool(faults)
    print(f"\n{monotonic() - begin:.0f} s with --jobs {jobs}")
    return int(failed)


def done(futures: dict[Future[list[real.Row]], str]) -> Iterator[list[real.Row]]:
    """Results in the order of their ends; a recording that fails is a line on standard error."""
    for future in as_completed(futures):
        try:
            yield future.result()
        except (VdsGzError, CalledProcessError) as error:  # one recording must not end the table of all
            print(f"{futures[future]}: {type(error).__name__}: {error}", file=sys.stderr)


def constants_of(module: str) -> list[str]:
    """The numbers among the constants that a module of the estimator defines."""
    found = import_module(f"{PACKAGE}.{module}")
    return [
        f"{module}.{name}"
        for name, value in vars(found).items()
        if name.isupper() and type(value) in (float, int) and name not in imported(found)
    ]


def sensitivity(folder: Path, jobs: int, only: Sequence[str], names: Sequence[str]) -> None:
    """Print how halving and doubling constants changes the ratios of the real recordings.

    A line on standard error names a recording that fails; its row in the table says that the median lacks it.

    Args:
        folder: The recordings.
        jobs: Number of cores to use.
        only: Words in the names of the recordings; empty: all.
        names: ``module.NAME`` of the constants; empty: those of the search.
    """
    recordings = drives(folder, only)
    print("| constant | factor | median | worst | above 1.05 | left out |", "|---" * 6 + "|", sep="\n")
    with ProcessPoolExecutor(jobs) as pool:
        constants = names or [constant for module in SEARCH for constant in constants_of(module)]
        for constant, factor in [("unchanged", 1.0), *product(constants, (0.5, 2.0))]:
            changed = (sys.executable, str(CHANGED), constant, str(factor))
            program = real.PROGRAM if constant == "unchanged" else changed
            futures = {pool.submit(real_rows, name, *drive, program): name for name, drive in recordings.items()}
            print(sensitivity_row(constant, factor, list(done(futures)), recordings), flush=True)


def sensitivity_row(
    constant: str, factor: float, results: Sequence[Sequence[real.Row]], recordings: Iterable[str]
) -> str:
    """A row of the table of :func:`sensitivity`; recordings without a result are left out."""
    rows = [row for result in results for row in result if row.follows]
    ratios = np.array([row.ratio for row in rows] or [np.nan])
    worse = f"{sum(row.worse for row in rows)} of {len(rows)}"
    judged = {row.recording for result in results for row in result}
    left_out = ", ".join(name for name in recordings if name not in judged)
    return f"| {constant} | {factor:g} | {np.median(ratios):.3f} | {ratios.max():.2f} | {worse} | {left_out} |"
