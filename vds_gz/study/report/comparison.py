"""Report on a comparison of two runs: a sentence, tables, a picture, and an HTML file with all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vds_gz.study.compare.differences import Bound, Comparison, Measured, Signal
from vds_gz.study.identify.actuator_response import unknown
from vds_gz.study.report.style import ACTUAL, COMMANDED, PALE, STYLE, add_legend, panels, png
from vds_gz.study.report.text import ReportPage

HEAD = ("quantity", "rms", "peak", "at", "B later by", "rms without it", "gain B/A", "residual")


def verdict(found: Comparison) -> str:
    """The comparison in a sentence."""
    if all(one.peak == 0.0 for one in found.differences) and (found.path is None or found.path.peak == 0.0):
        return "The runs are identical."
    delays = [
        f"{one.name} {abs(one.delay) * 1e3:.1f} ms {'later' if one.delay > 0.0 else 'earlier'}"
        for one in found.differences
        if one.delay and abs(one.delay) > 5e-4
    ]
    delays += [f"dead time of {one.name} {change * 1e3:+.1f} ms" for one, change in _changes(found)]
    if not delays and all(one.delay is None for one in found.differences):
        return f"No delay is given: {found.doubt or 'no delay reduces the difference clearly'}."
    if not delays:
        return "Neither run is later than the other by half a millisecond."
    return f"B against A: {', '.join(delays)}."


def _changes(found: Comparison) -> Iterator[tuple[Measured, float]]:
    """Actuators whose dead times differ [s]."""
    for one in found.measured:
        if one.a.dead_time is not None and one.b.dead_time is not None:
            change = one.b.dead_time - one.a.dead_time
            if abs(change) > max(5e-4, one.resolution):
                yield one, change


def difference_rows(found: Comparison) -> list[tuple[str, ...]]:
    """Rows under :data:`HEAD`; the residual is followed by its relative reduction by the delay."""
    rows: list[tuple[str, ...]] = []
    for one in found.differences:
        later = left = "-"
        if one.delay is not None and one.rms_aligned is not None:
            later = f"{one.delay * 1e3 + 0.0:.1f} ms"
            if one.delay and one.delay_error:
                later += f" +-{2e3 * one.delay_error:.1f}"
            left = f"{one.rms_aligned:.4g} {one.unit}"
        gain = "-" if one.gain is None else f"{one.gain:.4g}"
        residual = f"{one.residual:.4g} {one.unit}" + (f" (-{one.lowered:.0%})" if one.lowered else "")
        values = f"{one.rms:.4g} {one.unit}", f"{one.peak:.4g} {one.unit}", f"{one.peak_time:.2f} s"
        rows.append((one.name, *values, later, left, gain, residual))
    if (path := found.path) is not None:
        beside = f"at most {path.beside:.4g} m beside A's path"
        rows.append(("path", f"{path.rms:.4g} m", f"{path.peak:.4g} m", f"end {path.end:.4g} m", "", beside, "", ""))
    return rows


def measured_table(found: Comparison) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Measured parameters of the actuators: head and rows."""
    rows: list[tuple[str, ...]] = []
    for one in found.measured:
        for label, field in (("dead time", "dead_time"), ("time constant", "time_constant")):
            a, b = getattr(one.a, field), getattr(one.b, field)
            change = "" if a is None or b is None else f"{(b - a) * 1e3:+.1f} ms"
            if change and one.resolution and field == "dead_time":
                change += f" +-{one.resolution * 1e3:.0f}"
            rows.append((one.name, label, _seconds(a), _seconds(b), change))
    return ("actuator", "measured", "A", "B", "B - A"), rows


def _seconds(value: float | None) -> str:
    return unknown() if value is None else f"{value:.4f} s"


def write_report(
    folder: Path, names: tuple[str, str], found: Comparison, bounds: Sequence[Bound], notes: Sequence[str]
) -> None:
    """Write report.html, report.json and overlay.png."""
    picture = png(_figure(found, names))
    (folder / "overlay.png").write_bytes(picture)
    content = {
        "a": names[0],
        "b": names[1],
        "verdict": verdict(found),
        "notes": list(notes),
        "differences": [dataclasses.asdict(one) for one in found.differences],
        "path": None if found.path is None else dataclasses.asdict(found.path),
        "doubt": found.doubt,
        "measured": [dataclasses.asdict(one) for one in found.measured],
        "bounds": [{**dataclasses.asdict(bound), "broken": bound.broken} for bound in bounds],
    }
    page = ReportPage(f"{names[0]} against {names[1]}")
    page.text(verdict(found))
    for bound in bounds:
        page.text(f"{'broken' if bound.broken else 'holds'}: {bound}", bad=bound.broken)
    for note in notes:
        page.text(f"Note: {note}")
    page.picture(picture, "both runs over time, and their paths")
    page.heading("Differences, B minus A")
    page.table(HEAD, difference_rows(found))
    page.heading("Measured of the actuators")
    page.table(*measured_table(found))
    page.write(folder, content)


@mpl.rc_context(STYLE)
def _figure(found: Comparison, names: tuple[str, str]) -> Figure:
    """Every signal of both runs over time, and both paths."""
    figure, (*axes, beside) = panels(len(found.signals) + 1, 2.1, extra=0.6)
    for axis, signal in zip(axes, found.signals, strict=True):
        _draw(axis, signal, names)
    beside.plot(*found.path_a.T, color=COMMANDED, linewidth=1.5)
    beside.plot(*found.path_b.T, color=ACTUAL, linewidth=1.5)
    beside.set_aspect("equal", adjustable="datalim")
    beside.set_title("path [m]")
    add_legend(figure, axes[0])
    return figure


def _draw(axis: Axes, signal: Signal, names: tuple[str, str]) -> None:
    axis.axhline(0.0, color=PALE, linewidth=1.0)
    axis.plot(signal.time, signal.a, color=COMMANDED, linewidth=1.5, label=f"A  {names[0]}")
    axis.plot(signal.time, signal.b, color=ACTUAL, linewidth=1.1, label=f"B  {names[1]}")
    axis.set_title(f"{signal.name.replace('_', ' ')} [{signal.unit}]")
