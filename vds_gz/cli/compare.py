"""``vds-gz compare``: two runs beside each other, as numbers, as a report, as a gate."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from vds_gz.commandlog.files import read
from vds_gz.commandlog.log import CommandLog, CommandLogError
from vds_gz.commandlog.profiles import limits_of, make
from vds_gz.errors import ArgumentError
from vds_gz.parameters.description import ParameterError
from vds_gz.parameters.gazebo import LINKS
from vds_gz.ros.arguments import parse
from vds_gz.ros.errors import GraphError
from vds_gz.study import recording
from vds_gz.study.compare.differences import Comparison, Difference, Measured, Signal, compare
from vds_gz.study.compare.live import NODE_NAME, Gazebo, record_live, run_in_gazebo
from vds_gz.study.compare.sources import Source, commands_of, find, read_run, simulate
from vds_gz.study.compare.tolerance import Bound, ToleranceError, check, load
from vds_gz.study.recording import Recording, RecordingError
from vds_gz.study.report.html import Page
from vds_gz.study.report.plots import ACTUAL, ASKED, PALE, STYLE, png
from vds_gz.study.report.text import text_table
from vds_gz.study.session.run import RunError
from vds_gz.vehicle.catalogue import models
from vds_gz.vehicle.command import ACKERMANN

DESCRIPTION = """
Compare two runs of a vehicle: by how much speed, yaw rate, path and every actuator differ, by how much later the second
answers, and which dead times and time constants each has.

A and B are any of
  FILE             a recording: .mcap, .db3, a rosbag2 folder; or a table of `vds-gz replay` (.csv)
  FILE:/NAMESPACE  one of several vehicles in a recording
  MODEL            a parameter file (.yaml) or a preset, offline; kinematic:MODEL is the same
  gazebo:MODEL     the same vehicle in Gazebo, which is started, driven and ended
  live:/NAMESPACE  a vehicle that runs, recorded for --duration seconds; live:/ for one without namespace

A model is sent the commands of the recording it is compared with, or --log, or else steps for --duration seconds. Runs
are aligned at their first command, in simulation time, and put at the same pose there; two vehicles that run beside
each other are aligned by their clock.

Written into a folder: report.html, which needs no other file, report.json and overlay.png; recordings that were made.
"""

EPILOG = """
A tolerance file makes a gate of it. Quantities are speed, yaw_rate, path and the names of the actuators:
  speed: {rms: 0.05, peak: 0.3, delay: 0.01}
  path: {rms: 0.1, peak: 0.2, end: 0.2, beside: 0.1}
  steering: {rms: 0.01, dead_time: 0.01, time_constant: 0.02}

examples:
  vds-gz compare runs/*/recording.mcap my_robot.yaml
  vds-gz compare ackermann_car slow_car.yaml --log drive.csv --tolerance bounds.yaml
  vds-gz compare gazebo:my_robot.yaml kinematic:my_robot.yaml
  vds-gz compare live:/robot live:/model --duration 60

After --ros-args: remaps for what is heard of live vehicles, as for any ROS 2 node.
exit code: 0 done and within tolerance, 1 a bound is broken or a vehicle failed, 2 wrong use or input
"""

HEAD = ("quantity", "rms", "peak", "at", "B later by", "rms without it")


def main(argv: Sequence[str] | None = None) -> int:
    """Compare two runs.

    Returns:
        0 if all is within tolerance, 1 if a bound is broken or a vehicle failed, 2 if something is wrong with what was
        given.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    end = given.index("--ros-args") if "--ros-args" in given else len(given)
    options = _parser().parse_args(given[:end])
    folder = Path(options.output)
    try:
        sources = find(options.a), find(options.b)
        options.graph = parse(given[end:], NODE_NAME)
        if options.tolerance:
            load(options.tolerance)
        folder.mkdir(parents=True, exist_ok=True)
        runs = get_runs(sources, options, folder)
        found = compare(*runs, together=_together(*sources))
        bounds = check(options.tolerance, found.numbers()) if options.tolerance else []
        notes = [f"{name}: {note}" for name, run in zip("AB", runs, strict=True) for note in run.notes]
        _write(folder, (options.a, options.b), found, bounds, notes)
    except (ArgumentError, ParameterError, CommandLogError, RecordingError, ToleranceError, OSError) as error:
        print(f"vds-gz compare: {error}", file=sys.stderr)
        return 2
    except (RunError, GraphError) as error:
        print(f"vds-gz compare: {error}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"vds-gz compare: '{options.a}' and '{options.b}': {error}", file=sys.stderr)
        return 2
    for note in notes:
        print(f"note: {note}")
    print(f"A  {options.a}\nB  {options.b}\n\n{text_table(HEAD, _rows(found))}\n")
    print(f"{text_table(*_measured(found))}\n\n{verdict(found)}\n\nreport  {folder / 'report.html'}")
    broken = [bound for bound in bounds if bound.broken]
    for bound in broken:
        print(f"vds-gz compare: out of tolerance: {bound}", file=sys.stderr)
    if bounds and not broken:
        print(f"all {len(bounds)} bounds of {options.tolerance} hold")
    return 1 if broken else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "vds-gz compare", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("a", metavar="A", help="a recording, a model, or a vehicle that runs")
    parser.add_argument("b", metavar="B", help="another one")
    parser.add_argument("--log", metavar="FILE", help="commands for models: a CSV file or a bag")
    parser.add_argument("--topic", metavar="NAME", help="the topic of a bag, where several have commands")
    parser.add_argument("--duration", type=_positive, default=60.0, metavar="S", help="of live runs, and of steps (60)")
    parser.add_argument("--world", metavar="NAME|FILE", default="empty", help="Gazebo's world (empty)")
    parser.add_argument(
        "--link", choices=[one for one in LINKS if one != "ros2_control"], default="auto", help="into Gazebo (auto)"
    )
    parser.add_argument("--tolerance", metavar="FILE", help="bounds that must hold (YAML)")
    parser.add_argument("-o", "--output", metavar="DIR", default="compare", help="folder for the report (compare)")
    return parser


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number greater than 0")
    return value


# ---------------------------------------------------------------------- the runs


def get_runs(sources: tuple[Source, Source], options: argparse.Namespace, folder: Path) -> tuple[Recording, Recording]:
    """Both runs: what is recorded is read, what is not is made.

    Live vehicles go first, because they cannot be repeated. Offline models go last: beside Gazebo they are told what
    came there when it came, so that no jitter of ours is between them.
    """
    if live := [one for one in sources if one.live]:
        path = folder / "live.mcap"
        record_live([one.namespace or "/" for one in live], path, options.duration, options.graph)
        a, b = (replace(one, path=path) if one.live else one for one in sources)
        sources = a, b
    log = _log(sources, options)
    runs: dict[int, Recording] = {}
    for i, one in enumerate(sources):
        if one.recorded:
            runs[i] = read_run(one)
        elif one.in_gazebo and one.path is not None and log is not None:
            path = run_in_gazebo(one.path, log, folder / "ab"[i], Gazebo(options.world, options.link))
            runs[i] = recording.read(path)
            if not sources[1 - i].in_gazebo:
                log = commands_of(runs[i], path)
    for i, one in enumerate(sources):
        if i not in runs:
            assert one.parameters is not None
            assert log is not None
            runs[i] = simulate(log, one.parameters)
    return runs[0], runs[1]


def _log(sources: tuple[Source, Source], options: argparse.Namespace) -> CommandLog | None:
    """What models are sent: the log given, or what the other run was sent, or steps."""
    parameters = next((one.parameters for one in sources if one.parameters is not None), None)
    if parameters is None:
        return None
    if options.log:
        return read(options.log, options.topic)
    recorded = next((one for one in sources if one.recorded), None)
    if recorded is None:
        ackermann = ACKERMANN in models()[parameters.model].accepts
        return make("steps", limits_of(parameters), ackermann=ackermann, duration=options.duration)
    assert recorded.path is not None
    if recorded.path.suffix == ".csv":
        raise ArgumentError(
            f"the table '{recorded.path}' has no commands to send to the model; give them with --log FILE"
        )
    return commands_of(read_run(recorded), recorded.path, options.topic)


def _together(a: Source, b: Source) -> bool:
    """Both were recorded at the same time."""
    return (a.live and b.live) or (a.recorded and a.path == b.path and a.namespace != b.namespace)


# ---------------------------------------------------------------------- in words and numbers


def verdict(found: Comparison) -> str:
    """The comparison in a sentence."""
    if all(one.peak == 0.0 for one in found.differences) and found.path.peak == 0.0:
        return "The runs are identical."
    delays = [f"{one.name} {_milliseconds(one)}" for one in found.differences if one.delay and abs(one.delay) > 5e-4]
    delays += [f"dead time of {one.name} {change * 1e3:+.1f} ms" for one, change in _changes(found)]
    if not delays:
        return "Neither run is later than the other by half a millisecond."
    return f"B against A: {', '.join(delays)}."


def _changes(found: Comparison) -> Iterator[tuple[Measured, float]]:
    """Actuators whose dead times differ [s]."""
    for one in found.measured:
        if one.a.dead_time is not None and one.b.dead_time is not None:
            change = one.b.dead_time - one.a.dead_time
            if abs(change) > 5e-4:
                yield one, change


def _milliseconds(one: Difference) -> str:
    assert one.delay is not None
    return f"{abs(one.delay) * 1e3:.1f} ms {'later' if one.delay > 0.0 else 'earlier'}"


def _rows(found: Comparison) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for one in found.differences:
        later = "-" if one.delay is None else f"{one.delay * 1e3 + 0.0:.1f} ms"
        left = "-" if one.rms_aligned is None else f"{one.rms_aligned:.4g} {one.unit}"
        values = f"{one.rms:.4g} {one.unit}", f"{one.peak:.4g} {one.unit}", f"{one.peak_time:.2f} s"
        rows.append((one.name, *values, later, left))
    path = found.path
    beside = f"at most {path.beside:.4g} m beside A's path"
    rows.append(("path", f"{path.rms:.4g} m", f"{path.peak:.4g} m", f"end {path.end:.4g} m", "", beside))
    return rows


def _measured(found: Comparison) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """What was measured of the actuators."""
    rows: list[tuple[str, ...]] = []
    for one in found.measured:
        for label, field in (("dead time", "dead_time"), ("time constant", "time_constant")):
            a, b = getattr(one.a, field), getattr(one.b, field)
            change = "" if a is None or b is None else f"{(b - a) * 1e3:+.1f} ms"
            rows.append((one.name, label, _seconds(a), _seconds(b), change))
    return ("actuator", "measured", "A", "B", "B - A"), rows


def _seconds(value: float | None) -> str:
    return "not excited" if value is None else f"{value:.4f} s"


# ---------------------------------------------------------------------- the report


def _write(
    folder: Path, names: tuple[str, str], found: Comparison, bounds: Sequence[Bound], notes: Sequence[str]
) -> None:
    picture = png(_figure(found, names))
    (folder / "overlay.png").write_bytes(picture)
    content = {
        "a": names[0],
        "b": names[1],
        "verdict": verdict(found),
        "notes": list(notes),
        "differences": [dataclasses.asdict(one) for one in found.differences],
        "path": dataclasses.asdict(found.path),
        "measured": [dataclasses.asdict(one) for one in found.measured],
        "bounds": [{**dataclasses.asdict(bound), "broken": bound.broken} for bound in bounds],
    }
    (folder / "report.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    page = Page(f"{names[0]} against {names[1]}")
    page.text(verdict(found))
    for bound in bounds:
        page.text(f"{'broken' if bound.broken else 'holds'}: {bound}", bad=bound.broken)
    for note in notes:
        page.text(f"Note: {note}")
    page.picture(picture, "both runs over time, and their paths")
    page.heading("Differences, B minus A")
    page.table(HEAD, _rows(found))
    page.heading("Measured of the actuators")
    page.table(*_measured(found))
    (folder / "report.html").write_text(page.html(), encoding="utf-8")


def _figure(found: Comparison, names: tuple[str, str]) -> Figure:
    """Every signal of both runs over time, and both paths."""
    with mpl.rc_context(STYLE):
        count = len(found.signals) + 1
        figure = Figure(figsize=(12.0, 2.1 * math.ceil(count / 2) + 0.6), dpi=100, layout="constrained")
        axes = figure.subplots(math.ceil(count / 2), 2, squeeze=False).ravel()
        for axis, signal in zip(axes, found.signals, strict=False):
            _draw(axis, signal, names)
        axis = axes[len(found.signals)]
        for points, colour in ((found.path_a, ASKED), (found.path_b, ACTUAL)):
            axis.plot(*points.T, color=colour, linewidth=1.5)
        axis.set_aspect("equal", adjustable="datalim")
        axis.set_title("path [m]")
        for axis in axes[count:]:
            axis.axis("off")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=2)
        return figure


def _draw(axis: mpl.axes.Axes, signal: Signal, names: tuple[str, str]) -> None:
    axis.axhline(0.0, color=PALE, linewidth=1.0)
    axis.plot(signal.time, signal.a, color=ASKED, linewidth=1.5, label=f"A  {names[0]}")
    axis.plot(signal.time, signal.b, color=ACTUAL, linewidth=1.1, label=f"B  {names[1]}")
    axis.set_title(f"{signal.name.replace('_', ' ')} [{signal.unit}]")


if __name__ == "__main__":
    sys.exit(main())
