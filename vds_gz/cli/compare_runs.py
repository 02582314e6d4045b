"""Compares two runs for ``vds-gz compare``, with numbers, a report, and a check of tolerances."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from vds_gz.cli.shared_options import output_folder
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.ros.arguments import Arguments, parse
from vds_gz.core.ros.program_shell import DONE, FAILED
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import ACKERMANN
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.programs.commandlog.command_log import read as read_log
from vds_gz.programs.commandlog.csv_table import is_table
from vds_gz.programs.commandlog.profiles import limits_of, make
from vds_gz.tools.study.compare.differences import ComparisonError, check_bounds, compare, load_bounds
from vds_gz.tools.study.compare.lateness import by_command, lateness
from vds_gz.tools.study.compare.live import NODE_NAME, Gazebo, record_live, run_in_gazebo
from vds_gz.tools.study.compare.sources import RunSource, commands_of, find, read_run, simulate
from vds_gz.tools.study.reading.recorded_run import read
from vds_gz.tools.study.reading.signal_table import read_run_csv
from vds_gz.tools.study.recording import Recording, Series
from vds_gz.tools.study.report.comparison import HEAD, difference_rows, measured_table, verdict, write_report
from vds_gz.tools.study.report.text import text_table


def compare_runs(options: argparse.Namespace, ros: list[str]) -> int:
    """Compare two runs, and return the exit code."""
    folder = output_folder(options.output)
    sources = find(options.a), find(options.b)
    graph = parse(["--ros-args", *ros], NODE_NAME)
    if options.tolerance:
        load_bounds(options.tolerance)
    folder.mkdir(parents=True, exist_ok=True)
    runs = _get_runs(sources, options, graph, folder)
    try:
        a, b = sources
        beside = a.recorded and a.path == b.path and a.namespace != b.namespace
        differences = compare(*runs, together=beside or (a.live and b.live))
    except ComparisonError as error:
        raise ComparisonError(f"'{options.a}' and '{options.b}': {error}") from None
    bounds = check_bounds(options.tolerance, differences.numbers()) if options.tolerance else []
    findings = [f"no delay is given: {differences.doubt}"] if differences.doubt else []
    findings += [f"{name} is not compared: {reason}" for name, reason in differences.not_compared.items()]
    findings += [f"{name}: {finding}" for name, run in zip("AB", runs, strict=True) for finding in run.findings]
    write_report(folder, (options.a, options.b), differences, bounds, findings)
    for finding in findings:
        print(f"finding: {finding}")
    print(f"A  {options.a}\nB  {options.b}\n\n{text_table(HEAD, difference_rows(differences))}\n")
    if differences.measured:
        print(f"{text_table(*measured_table(differences))}\n")
    print(f"{verdict(differences)}\n\nreport  {folder / 'report.html'}")
    broken = [bound for bound in bounds if bound.broken]
    for bound in broken:
        print(f"vds-gz compare: out of tolerance: {bound}", file=sys.stderr)
    if bounds and not broken:
        print(f"all {len(bounds)} bounds of {options.tolerance} hold")
    return FAILED if broken else DONE


def _get_runs(
    sources: tuple[RunSource, RunSource], options: argparse.Namespace, graph: Arguments, folder: Path
) -> tuple[Recording, Recording]:
    """Both runs: recorded ones are read, others are made.

    Live vehicles run first, because they cannot be repeated. Offline models run last, with the commands of the other
    run at their arrival times, or when they acted if that was late.
    """
    if live := [source for source in sources if source.live]:
        path = folder / "live.mcap"
        record_live([source.namespace or "/" for source in live], path, options.duration, graph)
        a, b = (replace(source, path=path) if source.live else source for source in sources)
        sources = a, b
    log = _log(sources, options)
    runs: dict[int, Recording] = {}
    for i, source in enumerate(sources):
        if source.recorded:
            runs[i] = read_run(source, options.topic)
        elif source.in_gazebo and source.path is not None and log is not None:
            path = run_in_gazebo(source.path, log, folder / "ab"[i], Gazebo(options.world, options.link))
            runs[i] = read(path)
            if not sources[1 - i].in_gazebo:
                log = commands_of(runs[i], path)
    for i, source in enumerate(sources):
        if i not in runs:
            assert source.parameters is not None
            assert log is not None
            runs[i] = simulate(log, source.parameters)
            if (other := runs.get(1 - i)) is not None and (sources[1 - i].in_gazebo or not options.log):
                runs[i] = _when_they_acted(other, runs[i], log, source.parameters)
    return runs[0], runs[1]


def _when_they_acted(recorded: Recording, model: Recording, log: CommandLog, parameters: NodeParameters) -> Recording:
    """The model's run; if commands of the recorded run acted late, one with the commands when they acted there."""
    begin = float(recorded.command_times[0]) if len(recorded.command_times) else 0.0
    late = lateness(recorded, by_command(model, parameters), begin)
    if late is None:
        return model
    acted = late.acted(np.array(log.times) + begin) - begin
    first = min(float(acted[0]), 0.0)
    moved = simulate(replace(log, times=tuple((acted - first).tolist())), parameters)
    if lateness(recorded, by_command(moved, parameters), begin + first) is not None:
        return model  # other changes of references corresponded
    recorded.findings.append(f"{late}: is the machine too slow? The model gets each command when it acted")
    commanded = {name: Series(series.time - first, series.value) for name, series in model.commanded.items()}
    return replace(moved, commanded=commanded, command_times=model.command_times - first)  # which align the runs


def _log(sources: tuple[RunSource, RunSource], options: argparse.Namespace) -> CommandLog | None:
    """The commands for models: the given log, the commands of the other run, or steps."""
    parameters = next((source.parameters for source in sources if source.parameters is not None), None)
    if parameters is None:
        return None
    if options.log:
        return read_log(options.log, options.topic)
    recorded = next((source for source in sources if source.recorded), None)
    if recorded is None:
        ackermann = ACKERMANN in models()[parameters.model].accepts
        return make("steps", limits_of(parameters), ackermann=ackermann, duration=options.duration)
    assert recorded.path is not None
    if is_table(recorded.path) and read_run_csv(recorded.path).made_by_replay:
        raise ArgumentError(
            f"the table '{recorded.path}' has no commands to send to the model; give them with --log FILE"
        )
    return commands_of(read_run(recorded, options.topic), recorded.path, options.topic)
