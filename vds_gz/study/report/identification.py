"""What identify found of the axes of a vehicle: tables, a picture, and all of it in one HTML file."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from vds_gz.study.identify.axis_fit import LIMITS, NAMES
from vds_gz.study.identify.estimates import INTERVAL, Estimate
from vds_gz.study.identify.signals import Signals
from vds_gz.study.identify.vehicle_fit import Axis, autoware, nav2
from vds_gz.study.report.html import Page
from vds_gz.study.report.style import ACTUAL, COMMANDED, INK, STYLE, png

HEAD = ("axis", "number", "value", f"interval ({INTERVAL})")


def report_title(log: str) -> str:
    """Title of the report on a recording."""
    return f"What {Path(log).name} tells of the vehicle"


def plain(numbers: dict[str, Estimate | None]) -> dict[str, object]:
    """Estimates for a JSON file."""
    return {name: None if number is None else dataclasses.asdict(number) for name, number in numbers.items()}


def write_json(folder: Path, log: str, notes: Iterable[str], content: dict[str, object]) -> None:
    """Write report.json."""
    text = json.dumps({"log": log, "notes": list(notes), **content}, indent=2)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")


def axis_rows(axes: list[Axis]) -> Iterator[tuple[str, str, str, str]]:
    """Rows under :data:`HEAD`."""
    for axis in axes:
        for name in NAMES:
            if name == "fall" and axis.quantity == "steering":
                continue
            number, unit = axis.fit.numbers[name], axis.unit_of(name)
            if number is not None:
                yield axis.quantity, axis.label(name), f"{number.value:.4g} {unit}".strip(), number.interval
            elif name in LIMITS:
                reached = getattr(axis.fit.reached, name)
                yield axis.quantity, axis.label(name), "not excited", f"reached {reached:.3g} {unit}"
            else:
                yield axis.quantity, axis.label(name), "not excited", ""
        left_out = f", {axis.fit.left_out} samples left out" if axis.fit.left_out else ""
        yield axis.quantity, "residual", f"{axis.fit.residual:.4g} {axis.unit}", f"standard deviation{left_out}"


def write_report(folder: Path, log: str, signals: Signals, axes: list[Axis]) -> None:
    """Write report.html, report.json and identified.png."""
    picture = png(_figure(axes))
    (folder / "identified.png").write_bytes(picture)
    content: dict[str, object] = {
        "axes": {
            axis.quantity: {
                "unit": axis.unit,
                "numbers": plain(axis.fit.numbers),
                "reached": axis.fit.reached._asdict(),
                "residual": axis.fit.residual,
                "left_out": axis.fit.left_out,
            }
            for axis in axes
        },
        "nav2": list(nav2(axes, signals)),
        "autoware": list(autoware(axes)),
    }
    write_json(folder, log, signals.notes, content)
    page = Page(report_title(log))
    for note in signals.notes:
        page.text(note)
    page.picture(picture, "commanded, measured and modelled")
    page.table(HEAD, axis_rows(axes))
    for title, lines in (("For Nav2", nav2(axes, signals)), ("For Autoware", autoware(axes))):
        page.heading(title)
        page.table((), [(line,) for line in lines])
    (folder / "report.html").write_text(page.html(), encoding="utf-8")


def _figure(axes: list[Axis]) -> Figure:
    """Of each axis what was commanded, measured and modelled, and what is left."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12.0, 3.3 * len(axes) + 0.4), dpi=100, layout="constrained")
        heights = [part for _ in axes for part in (3.0, 1.0)]
        panels = figure.subplots(2 * len(axes), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
        for axis, panel, below in zip(axes, panels[::2], panels[1::2], strict=True):
            fit = axis.fit
            panel.step(fit.time, fit.commanded, where="post", color=COMMANDED, linewidth=1.2, label="commanded")
            panel.plot(fit.time, fit.measured, ".", color=ACTUAL, markersize=2.0, alpha=0.5, label="measured")
            panel.plot(fit.time, fit.modelled, color=INK, linewidth=1.1, label="model")
            panel.set_title(f"{axis.quantity.replace('_', ' ')} [{axis.unit}]")
            below.plot(fit.time, fit.measured - fit.modelled, ".", color=ACTUAL, markersize=1.5)
            below.set_ylabel("left")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=3)
        panels[-1].set_xlabel("time [s]")
        return figure
