"""Report on a comparison of two runs: a sentence, tables, a picture, and an HTML file with all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vds_gz.tools.study.compare.differences import Bound, Comparison, Measured, Signal
from vds_gz.tools.study.identify.actuator_response import unknown
from vds_gz.tools.study.report.style import ACTUAL, COMMANDED, PALE, STYLE, add_legend, panels, show_usual
from vds_gz.tools.study.report.text import ReportPage

HEAD = ("quantity", "rms", "peak", "at", "B later by", "rms without it", "gain B/A", "residual")


def verdict(comparison: Comparison) -> str:
    """The comparison in a sentence."""
    if all(difference.peak == 0.0 for difference in comparison.differences) and (
        comparison.path is None or comparison.path.peak == 0.0
    ):
        return "The runs are identical."
    delays = [
        f"{difference.name} {abs(difference.delay) * 1e3:.1f} ms {'later' if difference.delay > 0.0 else 'earlier'}"
        for difference in comparison.differences
        if difference.delay and abs(difference.delay) > 5e-4
    ]
    delays += [f"dead time of {actuator.name} {change * 1e3:+.1f} ms" for actuator, change in _changes(comparison)]
    if not delays and all(difference.delay is None for difference in comparison.differences):
        return f"No delay is given: {comparison.doubt or 'no delay reduces the difference clearly'}."
    if not delays:
        return "Neither run is later than the other by half a millisecond."
    return f"B against A: {', '.join(delays)}."


def _changes(comparison: Comparison) -> Iterator[tuple[Measured, float]]:
    """Actuators whose dead times differ, and the differences [s]."""
    for actuator in comparison.measured:
        if actuator.a.dead_time is not None and actuator.b.dead_time is not None:
            change = actuator.b.dead_time - actuator.a.dead_time
            if abs(change) > max(5e-4, actuator.uncertainty("dead_time")):
                yield actuator, change


def difference_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """Rows under :data:`HEAD`; the residual is followed by its relative reduction by the delay."""
    rows: list[tuple[str, ...]] = []
    for difference in comparison.differences:
        later = left = "-"
        if difference.delay is not None and difference.rms_aligned is not None:
            later = f"{difference.delay * 1e3 + 0.0:.1f} ms"
            if difference.delay and difference.delay_error:
                later += f" +-{2e3 * difference.delay_error:.1f}"
            left = f"{difference.rms_aligned:.4g} {difference.unit}"
        gain = "-" if difference.gain is None else f"{difference.gain:.4g}"
        residual = f"{difference.residual:.4g} {difference.unit}" + (
            f" (-{difference.lowered:.0%})" if difference.lowered else ""
        )
        values = (
            f"{difference.rms:.4g} {difference.unit}",
            f"{difference.peak:.4g} {difference.unit}",
            f"{difference.peak_time:.2f} s",
        )
        rows.append((difference.name, *values, later, left, gain, residual))
    if (path := comparison.path) is not None:
        beside = f"at most {path.beside:.4g} m beside A's path"
        rows.append(("path", f"{path.rms:.4g} m", f"{path.peak:.4g} m", f"end {path.end:.4g} m", "", beside, "", ""))
    return rows


def measured_table(comparison: Comparison) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Measured parameters of the actuators: head and rows."""
    rows: list[tuple[str, ...]] = []
    for actuator in comparison.measured:
        for label, field in (("dead time", "dead_time"), ("time constant", "time_constant")):
            a, b = getattr(actuator.a, field), getattr(actuator.b, field)
            change = "" if a is None or b is None else f"{(b - a) * 1e3:+.1f} ms"
            if change and (uncertainty := 1e3 * actuator.uncertainty(field)) >= 0.05:
                change += f" +-{uncertainty:.{0 if uncertainty >= 10.0 else 1}f}"
            rows.append((actuator.name, label, _seconds(a), _seconds(b), change))
    return ("actuator", "measured", "A", "B", "B - A"), rows


def _seconds(value: float | None) -> str:
    return unknown() if value is None else f"{value:.4f} s"


def write_report(
    folder: Path, names: tuple[str, str], comparison: Comparison, bounds: Sequence[Bound], findings: Sequence[str]
) -> None:
    """Write report.html, report.json and overlay.png."""
    page = ReportPage(folder, f"{names[0]} against {names[1]}")
    page.text(verdict(comparison))
    for bound in bounds:
        page.text(f"{'broken' if bound.broken else 'holds'}: {bound}", bad=bound.broken)
    for finding in findings:
        page.text(f"Finding: {finding}")
    page.picture("overlay.png", _figure(comparison, names), "both runs over time, and their paths")
    page.heading("Differences, B minus A")
    page.table(HEAD, difference_rows(comparison))
    if comparison.measured:
        page.heading("Measured parameters of the actuators")
        page.table(*measured_table(comparison))
    page.write(
        {
            "a": names[0],
            "b": names[1],
            "verdict": verdict(comparison),
            "findings": findings,
            "differences": comparison.differences,
            "path": comparison.path,
            "doubt": comparison.doubt,
            "measured": comparison.measured,
            "bounds": [dataclasses.asdict(bound) | {"broken": bound.broken} for bound in bounds],
        }
    )


@mpl.rc_context(STYLE)
def _figure(comparison: Comparison, names: tuple[str, str]) -> Figure:
    """Every signal of both runs over time, and both paths."""
    figure, (*axes, beside) = panels(len(comparison.signals) + 1, 2.1, extra=0.6)
    for axis, signal in zip(axes, comparison.signals, strict=True):
        _draw(axis, signal, names)
    beside.plot(*comparison.path_a.T, color=COMMANDED, linewidth=1.5)
    beside.plot(*comparison.path_b.T, color=ACTUAL, linewidth=1.5)
    beside.set_aspect("equal", adjustable="datalim")
    beside.set_title("path")
    beside.set_xlabel("x [m]")
    beside.set_ylabel("y [m]")
    add_legend(figure, axes[0])
    return figure


def _draw(axis: Axes, signal: Signal, names: tuple[str, str]) -> None:
    axis.axhline(0.0, color=PALE, linewidth=1.0)
    axis.plot(signal.time, signal.a, color=COMMANDED, linewidth=1.5, label=f"A  {names[0]}")
    axis.plot(signal.time, signal.b, color=ACTUAL, linewidth=1.1, label=f"B  {names[1]}")
    show_usual(axis, signal.a, signal.b)
    axis.set_title(f"{signal.name.replace('_', ' ')} [{signal.unit}]")
    axis.set_xlabel("time since the first command [s]")
