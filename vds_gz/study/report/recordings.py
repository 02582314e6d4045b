"""What identify found of one vehicle in many recordings: tables, a picture, and all of it in one HTML file."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vds_gz.parameters.intervals import INTERVAL
from vds_gz.study.identify.estimates import Estimate
from vds_gz.study.identify.journal import Identified
from vds_gz.study.identify.pooling import Pooled, estimates_of
from vds_gz.study.identify.results import VehicleFit
from vds_gz.study.identify.words import Named, named
from vds_gz.study.report.html import Page
from vds_gz.study.report.plain import finite
from vds_gz.study.report.style import ACTUAL, BODY, COMMANDED, STYLE, literal, png

HEAD = ("axis", "number", "pooled", f"interval ({INTERVAL})", "recordings", "spread", "scatter")

#: Panels beside each other.
ACROSS = 3

Numbers = Mapping[str, Pooled]


def pooled_words(fit: VehicleFit, found: Numbers) -> list[Named]:
    """Words for the numbers of the vehicle and the calibrations that some recording tells."""
    return [one for one in named(fit.model, list(fit.numbers), list(fit.calibrations)) if one.name in found]


def pooled_rows(fit: VehicleFit, found: Numbers) -> Iterator[tuple[str, ...]]:
    """Rows under :data:`HEAD`: spread is the standard deviation from recording to recording."""
    for word in pooled_words(fit, found):
        one = found[word.name]
        scatter = "" if math.isnan(one.scatter) else f"{one.scatter:.1f} x"
        value, spread = word.estimate(one.estimate), word.with_unit(one.spread, 2)
        yield word.axis, word.label, value, one.estimate.interval, str(one.count), spread, scatter


def pooled_notes(fit: VehicleFit, found: Numbers) -> Iterator[str]:
    """Recordings of other models, and numbers of which the recordings differ by more than their intervals allow."""
    yield from fit.findings
    for word in pooled_words(fit, found):
        if (one := found[word.name]).differs:
            yield (
                f"{word.axis} {word.label} scatters {one.scatter:.1f} times as much as the recordings' "
                f"own intervals say, with a standard deviation of {word.with_unit(one.spread, 2)}, most of all in "
                f"{one.farthest}: the vehicle was not the same, or is not what the model takes it for"
            )


def write_table(path: Path, recordings: Sequence[Identified]) -> None:
    """Write a CSV file with one row a recording: file, status, and each number with its interval."""
    estimates = {one.log: estimates_of(one.fit) if one.fit is not None else {} for one in recordings}
    columns = list(dict.fromkeys(name for numbers in estimates.values() for name, number in numbers.items() if number))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["file", "status", *(f"{name}{end}" for name in columns for end in ("", ".low", ".high"))])
        for one in recordings:
            row: list[object] = [one.log, one.failure or "done"]
            for name in columns:
                number = estimates[one.log].get(name)
                row += ["", "", ""] if number is None else dataclasses.astuple(number)
            writer.writerow(row)


def write_report(folder: Path, recordings: Sequence[Identified], fit: VehicleFit | None, found: Numbers) -> None:
    """Write recordings.csv, report.html, report.json and pooled.png.

    Args:
        folder: Where to write.
        recordings: What each tells.
        fit: What all tell together; None where none tells anything.
        found: How each number of it came.
    """
    write_table(folder / "recordings.csv", recordings)
    failures = {one.log: one.failure for one in recordings if one.failure}
    content = {
        "recordings": len(recordings),
        "failures": failures,
        "pooled": {name: finite(dataclasses.asdict(one)) for name, one in found.items()},
    }
    (folder / "report.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    page = Page(f"What {len(recordings)} recordings tell of the vehicle")
    for note in pooled_notes(fit, found) if fit else ():
        page.text(f"Note: {note}.")
    for failure in failures.values():
        page.text(failure, bad=True)
    if fit is not None and found:
        picture = png(_figure(recordings, fit.model, pooled_words(fit, found), found))
        (folder / "pooled.png").write_bytes(picture)
        page.picture(picture, "every number by recording, with its interval")
        page.table(HEAD, pooled_rows(fit, found))
    (folder / "report.html").write_text(page.html(), encoding="utf-8")


def _figure(recordings: Sequence[Identified], model: str, words: Sequence[Named], found: Numbers) -> Figure:
    """Of each number what every recording of a model tells, in their order, and what all of them tell together."""
    with mpl.rc_context(STYLE):
        rows = math.ceil(len(words) / ACROSS)
        figure = Figure(figsize=(12.0, 2.3 * rows + 0.6), dpi=100, layout="constrained")
        panels = figure.subplots(rows, ACROSS, squeeze=False, sharex=True).ravel()
        for panel, word in zip(panels, words, strict=False):
            estimates = {
                k: number
                for k, one in enumerate(recordings, start=1)
                if one.fit is not None
                and one.fit.model == model
                and (number := estimates_of(one.fit).get(word.name)) is not None
            }
            _draw(panel, estimates, found[word.name])
            label = word.label if word.label.startswith(word.axis) else f"{word.axis} {word.label}"
            panel.set_title(literal(label + (f" [{word.unit}]" if word.unit else "")))
        for panel in panels[len(words) :]:
            panel.axis("off")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=3)
        figure.supxlabel("recording", fontsize=9.5)
        return figure


def _draw(panel: Axes, estimates: Mapping[int, Estimate], pooled: Pooled) -> None:
    values = [one.value for one in estimates.values()]
    ends = [[one.value - one.low for one in estimates.values()], [one.high - one.value for one in estimates.values()]]
    estimate = pooled.estimate
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
