"""``vds-gz identify --many``: one vehicle from many recordings."""

from __future__ import annotations

import argparse
import glob
import sys
from collections.abc import Sequence
from pathlib import Path

from vds_gz.cli.console_script import add_workers_option
from vds_gz.cli.identify_actuation import ActuationTask
from vds_gz.errors import ArgumentError
from vds_gz.parameters.node import NodeParameters
from vds_gz.ros.programs import DONE, FAILED
from vds_gz.study.identify.many import Source, identify_many
from vds_gz.study.identify.pooling import pool_results
from vds_gz.study.progress import progress
from vds_gz.study.recording import Recording
from vds_gz.study.report.recordings import HEAD, pooled_notes, pooled_rows, write_report
from vds_gz.study.report.style import text_table


def add_many_options(parser: argparse.ArgumentParser) -> None:
    """Let a command line name many recordings."""
    parser.add_argument("--many", metavar="PATTERN", nargs="+", help="recordings, each by itself, as 'runs/*.mcap'")
    add_workers_option(parser)
    parser.add_argument("--resume", action="store_true", help="with --many: keep what an earlier call has found")


def identify_recordings(
    options: argparse.Namespace, source: Source, given: tuple[NodeParameters, Path] | None, folder: Path
) -> int:
    """Identify recordings; write a table, pooled parameters and a report, and return the exit code.

    Args:
        options: As :func:`add_many_options` adds them.
        source: How the recordings are read.
        given: The vehicle that was given, and its parameter file; None where none was.
        folder: Where to write.
    """
    logs = _logs(options.many)
    folder.mkdir(parents=True, exist_ok=True)
    with progress("identifying", len(logs)) as advance:
        results = identify_many(
            logs, source, folder, workers=options.workers, resume=options.resume, advance=advance, notify=_say
        )
    failed = [one for one in results if one.failure]
    vehicle = pool_results(results)
    write_report(folder, results, vehicle)
    for one in failed:
        _say(one.failure)
    done = f"{len(logs) - len(failed)}"
    if vehicle is not None:
        ActuationTask(f"{done} recordings", Recording(), given, folder).write(vehicle.model, vehicle.overrides)
        print(f"{text_table(HEAD, list(pooled_rows(vehicle)))}\n")
        for note in pooled_notes(vehicle):
            print(f"note: {note}")
        print(f"parameters  {folder / 'parameters.yaml'}")
    print(f"recordings  {folder / 'recordings.csv'}: {done} of {len(logs)} done")
    print(f"report      {folder / 'report.html'}")
    return FAILED if failed else DONE


def _say(words: str) -> None:
    print(f"vds-gz identify: {words}", file=sys.stderr)


def _logs(patterns: Sequence[str]) -> list[str]:
    """The recordings that patterns name, in order.

    Raises:
        ArgumentError: A pattern names none.
    """
    logs: list[str] = []
    for pattern in patterns:
        found = sorted(glob.glob(pattern, recursive=True))
        if not found:
            raise ArgumentError(f"--many '{pattern}' names no recording (looked in {Path.cwd()})")
        logs += found
    return list(dict.fromkeys(logs))
