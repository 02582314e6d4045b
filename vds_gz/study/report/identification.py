"""Report on an identified vehicle: tables, pictures, and an HTML file with all of them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from vds_gz.parameters.intervals import INTERVAL
from vds_gz.study.identify.axes import LIMITS, TIMES
from vds_gz.study.identify.estimates import Estimate
from vds_gz.study.identify.exports import autoware, nav2
from vds_gz.study.identify.results import Channel, VehicleFit
from vds_gz.study.identify.words import advice, named, noise_words, prediction_words
from vds_gz.study.report.residuals import channels_figure
from vds_gz.study.report.style import png
from vds_gz.study.report.text import ReportPage, finite
from vds_gz.study.signals import QUANTITIES

HEAD = ("axis", "number", "value", f"interval ({INTERVAL})")

#: Fields of each channel in report.json.
STATISTICS = ("name", "quantity", "unit", "source", "recording", "noise", "residual", "outliers", "correlation")

Rows = Iterator[tuple[str, ...]]


def report_title(log: str) -> str:
    """Title of the report on a recording."""
    return f"What {Path(log).name} tells of the vehicle"


def plain(numbers: Mapping[str, Estimate] | Mapping[str, Estimate | None]) -> dict[str, object]:
    """Estimates for a JSON file."""
    return {name: None if number is None else dataclasses.asdict(number) for name, number in numbers.items()}


def write_json(folder: Path, log: str, notes: Iterable[str], content: dict[str, object]) -> None:
    """Write report.json."""
    text = json.dumps({"log": log, "notes": list(notes), **content}, indent=2)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")


def fit_rows(fit: VehicleFit) -> Rows:
    """Rows under :data:`HEAD`: numbers of actuators and of the vehicle, calibrations, and what is left."""
    estimates = fit.numbers | fit.calibrations
    for one in named(fit.model, list(fit.numbers), list(fit.calibrations)):
        number = estimates[one.name]
        if number is not None:
            yield one.axis, one.label, one.estimate(number), number.interval
        elif one.name in fit.reached:
            yield one.axis, one.label, "not met", f"reached {one.with_unit(fit.reached[one.name], 3)}"
        elif one.kind in LIMITS or one.kind in TIMES:
            yield one.axis, one.label, "not determined", ""
    for channel in fit.channels:
        left = f"{channel.residual:.4g} {channel.unit}"
        title = fit.title(channel)
        yield "residual", title, left, noise_words(channel)


def write_report(folder: Path, log: str, fit: VehicleFit) -> None:
    """Write report.html, report.json, identified.png and, of further recordings and channels, further pictures."""
    write_json(folder, log, fit.notes, _content(fit))
    page = ReportPage(report_title(log))
    for note in (*map(prediction_words, fit.predictions), *fit.notes, *fit.findings):
        page.text(note)
    for name, (what, channels) in _pictures(fit).items():
        picture = png(channels_figure(channels, [fit.title(one) for one in channels]))
        (folder / name).write_bytes(picture)
        page.picture(picture, what)
    page.table(HEAD, fit_rows(fit))
    for more in advice(fit.numbers, named(fit.model, list(fit.numbers))):
        page.text(f"Poorly determined: {more}.")
    for title, lines in (("For Nav2", nav2(fit)), ("For Autoware", autoware(fit))):
        page.heading(title)
        page.table((), [(line,) for line in lines])
    (folder / "report.html").write_text(page.html(), encoding="utf-8")


def _pictures(fit: VehicleFit) -> dict[str, tuple[str, list[Channel]]]:
    """Channels of each picture, by the names of files: the velocities and the steering angle, and the others."""
    pictures: dict[str, tuple[str, list[Channel]]] = {}
    for recording in sorted({one.recording for one in fit.channels}):
        there = [one for one in fit.channels if one.recording == recording]
        main = [one for one in there if one.name in QUANTITIES] or there
        others = [one for one in there if one not in main]
        number = f"_{recording + 1}" if recording else ""
        what = "commanded, measured and modelled; what is left, and its autocorrelation"
        pictures[f"identified{number}.png"] = what, main
        if others:
            pictures[f"identified_further{number}.png"] = "what else was measured, and modelled", others
    return pictures


def _content(fit: VehicleFit) -> dict[str, object]:
    """The content of report.json."""
    return {
        "axes": {
            axis.quantity: {
                "unit": axis.unit,
                "numbers": plain(axis.fit.numbers),
                "reached": axis.fit.reached._asdict(),
                **finite({"residual": axis.fit.residual, "left_out": axis.fit.left_out}),
            }
            for axis in fit.axes
        },
        "nav2": list(nav2(fit)),
        "autoware": list(autoware(fit)),
        "model": fit.model,
        "numbers": plain(fit.numbers),
        "calibrations": plain(fit.calibrations),
        "reached": fit.reached,
        "channels": [finite({name: getattr(one, name) for name in STATISTICS}) for one in fit.channels],
        "predictions": [finite(dataclasses.asdict(one)) for one in fit.predictions],
        "findings": list(fit.findings),
    }
