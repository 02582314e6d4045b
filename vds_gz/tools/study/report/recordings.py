"""Report on one vehicle identified from many recordings: tables, a figure, and an HTML file with all of them."""

from __future__ import annotations

import csv
import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vds_gz.core.parameters.yaml_reader import INTERVAL
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.exports import NOT_MET
from vds_gz.tools.study.identify.labels import named
from vds_gz.tools.study.identify.many import Pooled, PooledVehicle, Result
from vds_gz.tools.study.identify.problem.command_hold import MAX_AGE, range_seen
from vds_gz.tools.study.report.style import ACTUAL, BODY, COMMANDED, STYLE, add_legend, literal, panels
from vds_gz.tools.study.report.text import ReportPage

HEAD = ("axis", "number", "pooled", f"interval ({INTERVAL})", "recordings", "spread", "scatter")

#: Number of panels in a row.
ACROSS = 3


def pooled_rows(vehicle: PooledVehicle) -> Iterator[tuple[str, ...]]:
    """Rows under :data:`HEAD`: pooled estimates, then the other lines of the parameter file.

    Spread and scatter are those of :class:`~vds_gz.tools.study.identify.many.Pooled`.
    """
    lines = {line.name.removeprefix(f"model_params.{vehicle.model}."): line for line in vehicle.overrides}
    for word in vehicle.words:
        number = vehicle.numbers[word.name]
        scatter = "" if math.isnan(number.scatter) else f"{number.scatter:.1f} x"
        value, spread = word.estimate(number.estimate), word.with_unit(number.spread, 2)
        interval = range_seen(number.estimate) if word.name == MAX_AGE else number.estimate.interval
        yield word.axis, word.label, value, interval, str(number.count), spread, scatter
    pooled = {word.name for word in vehicle.words}
    for word in named(vehicle.model, [name for name in lines if name not in pooled]):
        line = lines[word.name]
        unmet = line.origin.startswith(NOT_MET)
        value = "not met" if unmet else "none" if word.name == MAX_AGE else word.written(line.value)
        yield word.axis, word.label, value, line.origin, "", "", ""


def pooled_findings(vehicle: PooledVehicle) -> Iterator[str]:
    """Findings on recordings that contradict the others, and on parameters that scatter more than their intervals."""
    if vehicle.contradiction:
        yield vehicle.contradiction
    for other in vehicle.others:
        models = f"the model '{other.model}', most recordings '{vehicle.model}'"
        yield f"{other.log} shows {models}; its numbers are not pooled"
    for word in vehicle.words:
        if (number := vehicle.numbers[word.name]).differs:
            deviation = word.with_unit(number.spread, 2)
            yield (
                f"{word.axis} {word.label} scatters {number.scatter:.1f} times as much as the intervals of the "
                f"recordings predict (standard deviation {deviation}), most in {number.farthest}: the "
                "vehicle changed between recordings, or the model structure does not fit"
            )


def write_table(path: Path, results: Sequence[Result]) -> None:
    """Write a CSV file with one row per recording: file, status, and each estimate with its interval."""
    columns = list(dict.fromkeys(name for result in results for name in result.estimates))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["file", "status", *(f"{name}{end}" for name in columns for end in ("", ".low", ".high"))])
        for result in results:
            row: list[object] = [result.log, result.failure or "done"]
            for name in columns:
                number = result.estimates.get(name)
                row += ["", "", ""] if number is None else dataclasses.astuple(number)
            writer.writerow(row)


def write_report(folder: Path, results: Sequence[Result], vehicle: PooledVehicle | None) -> None:
    """Write recordings.csv, report.html, report.json and pooled.png."""
    write_table(folder / "recordings.csv", results)
    failures = {result.log: result.failure for result in results if result.failure}
    page = ReportPage(folder, f"Vehicle identified from {len(results)} recordings")
    for finding in pooled_findings(vehicle) if vehicle else ():
        page.text(f"Finding: {finding}.")
    for failure in failures.values():
        page.text(failure, bad=True)
    if vehicle is not None and vehicle.words:
        page.picture("pooled.png", _figure(results, vehicle), "each parameter by recording, with its interval")
        page.table(HEAD, pooled_rows(vehicle))
    pooled = vehicle.numbers if vehicle else {}
    page.write({"recordings": len(results), "failures": failures, "pooled": pooled})


@mpl.rc_context(STYLE)
def _figure(results: Sequence[Result], vehicle: PooledVehicle) -> Figure:
    """A panel for each parameter: the estimates of all recordings in their order, and the pooled one."""
    figure, axes = panels(len(vehicle.words), 2.3, across=ACROSS, extra=0.6, sharex=True)
    for panel, word in zip(axes, vehicle.words, strict=True):
        estimates = {
            k: result.estimates[word.name]
            for k, result in enumerate(results, start=1)
            if result.model == vehicle.model and word.name in result.estimates
        }
        _draw(panel, estimates, vehicle.numbers[word.name])
        label = word.label if word.label.startswith(word.axis) else f"{word.axis} {word.label}"
        panel.set_title(literal(label + (f" [{word.unit}]" if word.unit else "")))
    add_legend(figure, axes[0], columns=3)
    figure.supxlabel("recording", fontsize=9.5)
    return figure


def _draw(panel: Axes, estimates: Mapping[int, Estimate], pooled: Pooled) -> None:
    values, lows, highs = np.array([dataclasses.astuple(number) for number in estimates.values()]).T
    ends, estimate = [values - lows, highs - values], pooled.estimate
    panel.ticklabel_format(useOffset=False)
    panel.axhspan(
        estimate.value - 2.0 * pooled.spread,
        estimate.value + 2.0 * pooled.spread,
        color=BODY,
        alpha=0.35,
        label="spread between recordings, twice",
    )
    panel.axhline(estimate.value, color=COMMANDED, linewidth=1.4, label="pooled")
    panel.errorbar(
        list(estimates), values, yerr=ends, fmt="o", color=ACTUAL, markersize=3.0, linewidth=1.0, label="recording"
    )
