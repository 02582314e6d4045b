"""Identifies a vehicle from recordings, for ``vds-gz identify``."""

from __future__ import annotations

import argparse
import glob
from functools import partial
from pathlib import Path

from vds_gz.cli.cli_extensions import AXES, GivenVehicle, Identification
from vds_gz.cli.identified_parameters import print_files, write_parameters
from vds_gz.cli.shared_options import intervals_of, output_folder, parameter_file_of, vehicle_of
from vds_gz.core.configuration import load_parameters
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.core.ros.program_shell import DONE, FAILED, complain
from vds_gz.programs.bags.reader import may_be_bag
from vds_gz.tools.study.identify.exports import exports, overrides
from vds_gz.tools.study.identify.labels import named, prediction_words, recordings_needed
from vds_gz.tools.study.identify.many import Source, identify_many, pool_results
from vds_gz.tools.study.identify.problem.parameters import actuations
from vds_gz.tools.study.progress import progress
from vds_gz.tools.study.reading.bag import read_bag
from vds_gz.tools.study.reading.signal_table import read_actuation_csv
from vds_gz.tools.study.recording import ACTUATION_QUANTITIES, QUANTITIES
from vds_gz.tools.study.report import recordings as pooled_report
from vds_gz.tools.study.report.identification_report import HEAD, fit_rows, write_report
from vds_gz.tools.study.report.text import text_table


def identify(options: argparse.Namespace, other: Identification | None) -> int:
    """Identify a vehicle's actuators, or something else, and return the exit code."""
    given = (vehicle_of(options), Path(parameter_file_of(options))) if options.preset or options.params else None
    folder = output_folder(options.output)
    if options.many:
        return _identify_many(options, given, folder)
    _check(options, other)
    for path in map(Path, options.log):
        if not path.exists():
            raise ArgumentError(f"'{path}' does not exist (looked in {Path.cwd()})")
    log = ", ".join(Path(log).name for log in options.log)
    if other is None:
        return _identify_vehicle(options, given, folder, log)
    path, columns = Path(options.log[0]), _columns(options)
    recording = (
        read_bag(path, **_topics(options), pedals=True) if may_be_bag(path) else read_actuation_csv(path, columns)
    )
    folder.mkdir(parents=True, exist_ok=True)
    other.identify(log, recording, given, folder, options.fit)
    return DONE


def _identify_vehicle(options: argparse.Namespace, given: GivenVehicle | None, folder: Path, log: str) -> int:
    """Identify a vehicle from recordings together; write its parameters and a report, and return the exit code."""
    source = _source(options, given)
    recordings = [source.read(Path(log)) for log in options.log]
    folder.mkdir(parents=True, exist_ok=True)
    with progress("identifying", None) as advance:
        fit = source.fit_together(recordings, advance=lambda words: advance(1.0, words))
    lines = [_named_by_option(line, options.wheel_base) for line in overrides(fit, given[0] if given else None)]
    write_parameters(folder, log, given, fit.model, lines)
    write_report(folder, log, fit, lines)
    for prediction in fit.predictions:
        print(prediction_words(prediction))
    print(f"\n{text_table(HEAD, list(fit_rows(fit, lines)))}\n")
    for finding in fit.findings:
        print(f"finding: {finding}")
    if fit.findings:
        print()
    for export in exports().values():
        if exported := list(export(fit)):
            print("\n".join((*exported, "")))
    for more in recordings_needed(fit.numbers, named(fit.model, list(fit.numbers))):
        print(f"poorly determined: {more}")
    print()
    print_files(folder)
    if any(fit.numbers.values()):
        return DONE
    complain(
        "vds-gz identify",
        f"no parameter was identified: no number has an interval that is narrow enough; {folder / 'parameters.yaml'} "
        "is at most a rough fit. Record larger and quicker steps of the commands, and check the findings above",
    )
    return FAILED


def _identify_many(options: argparse.Namespace, given: GivenVehicle | None, folder: Path) -> int:
    """Identify recordings separately; write a table, pooled parameters and a report, and return the exit code."""
    if options.log or options.model != AXES:
        wrong = f"LOG '{options.log[0]}'" if options.log else f"--model {options.model}"
        raise ArgumentError(f"{wrong} does not go with --many, which identifies axes from the recordings that it names")
    source = _source(options, given)
    logs = []
    for pattern in options.many:
        named_logs = sorted(glob.glob(pattern, recursive=True))
        if not named_logs:
            raise ArgumentError(f"--many '{pattern}' names no recording (looked in {Path.cwd()})")
        logs += named_logs
    logs = list(dict.fromkeys(logs))
    folder.mkdir(parents=True, exist_ok=True)
    with progress("identifying", len(logs)) as advance:
        results = identify_many(
            logs,
            source,
            folder,
            workers=options.workers,
            resume=options.resume,
            advance=advance,
            notify=partial(complain, "vds-gz identify"),
        )
    failed = [result for result in results if result.failure]
    vehicle = pool_results(results)
    pooled_report.write_report(folder, results, vehicle)
    for result in failed:
        complain("vds-gz identify", result.failure)
    done = f"{len(logs) - len(failed)}"
    if vehicle is not None:
        write_parameters(folder, f"{done} recordings", given, vehicle.model, vehicle.overrides)
        print(f"{text_table(pooled_report.HEAD, list(pooled_report.pooled_rows(vehicle)))}\n")
        for finding in pooled_report.pooled_findings(vehicle):
            print(f"finding: {finding}")
        print(f"parameters  {folder / 'parameters.yaml'}")
    print(f"recordings  {folder / 'recordings.csv'}: {done} of {len(logs)} done")
    print(f"report      {folder / 'report.html'}")
    return FAILED if failed else DONE


def _source(options: argparse.Namespace, given: GivenVehicle | None) -> Source:
    """The reader of the recordings and the choice of terms to identify."""
    vehicle, fit = _prior_vehicle(given, options.wheel_base), tuple(options.fit)
    return Source(_topics(options), _columns(options), options.wheel_base, vehicle, fit, _priors(given))


def _topics(options: argparse.Namespace) -> dict[str, str | None]:
    return {"command": options.command, "velocity": options.velocity, "steering": options.steering}


def _prior_vehicle(given: GivenVehicle | None, wheel_base: float | None) -> NodeParameters | None:
    """The given vehicle, with the wheel base of the option if there is one."""
    if given is None or wheel_base is None:
        return given[0] if given else None
    if not hasattr(given[0].vehicle, "wheel_base"):
        raise ArgumentError(f"--wheel-base {wheel_base:g} was given, but the model '{given[0].model}' has none")
    return load_parameters(given[1], {f"model_params.{given[0].model}.wheel_base": wheel_base})


def _priors(given: GivenVehicle | None) -> dict[str, Interval]:
    """Intervals in the parameter file, by names below the model, except those of actuators, which are identified."""
    if given is None:
        return {}
    vehicle, path = given
    actuators = {name for actuation in actuations(vehicle.vehicle).values() for name in actuation.names.values()}
    return {name: interval for name, interval in intervals_of(vehicle, path).items() if name not in actuators}


def _named_by_option(line: Override, wheel_base: float | None) -> Override:
    """A line of the parameter file; the wheel base of the option has it as its origin."""
    by_option = wheel_base is not None and line.name.endswith(".wheel_base") and line.value == wheel_base
    return line._replace(origin="--wheel-base") if by_option else line


def _check(options: argparse.Namespace, other: Identification | None) -> None:
    """Refuse options that do not go with each other or with the recordings."""
    if options.resume or options.workers is not None:
        raise ArgumentError("--resume and --workers go with --many, which is missing")
    if not options.log:
        raise ArgumentError("LOG is missing; give a bag or a CSV file, or several with --many")
    if other is not None and len(options.log) > 1:
        raise ArgumentError(f"--model {options.model} takes one LOG; there are {len(options.log)}")
    if other is not None and options.wheel_base:
        raise ArgumentError(f"--wheel-base {options.wheel_base} does not go with --model {options.model}")
    if other is not None and options.fit and not other.takes_fit:
        raise ArgumentError(f"--fit {','.join(options.fit)} does not go with --model {options.model}")
    bags, log = [may_be_bag(Path(log)) for log in options.log], options.log[0]
    for name, topic in _topics(options).items():
        if topic and not any(bags):
            raise ArgumentError(f"--{name} {topic} names a topic of a bag; '{log}' is a table, whose --column it takes")
    if options.column and all(bags):
        raise ArgumentError(
            f"--column {options.column[0]} names columns of a table; '{log}' is a bag, which takes --command, "
            "--velocity and --steering"
        )


def _columns(options: argparse.Namespace) -> dict[str, str]:
    """The columns of a table that options name, by quantity."""
    axes = options.model == AXES
    columns = {}
    known = QUANTITIES if axes else ACTUATION_QUANTITIES
    for text in options.column:
        quantity, equals, names = text.partition("=")
        if quantity not in known or not equals or (axes and ":" not in names):
            example = "v_x=cmd:odom_v" if axes else "accel=throttle"
            raise ArgumentError(f"--column '{text}' must be one of {', '.join(known)} with columns, e.g. {example}")
        columns[quantity] = names
    return columns
