"""Report on identified pedals or mechanical steering: findings, tables, pictures, and an HTML file with all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from vds_gz.autoware.identify.map_figure import map_figure
from vds_gz.autoware.identify.mechanism_fit import MechanismFit
from vds_gz.autoware.identify.pedal_fit import PedalFit
from vds_gz.core.parameters.yaml_reader import INTERVAL
from vds_gz.tools.study.identify.estimates import CERTAIN, Estimate
from vds_gz.tools.study.report.identification_report import report_title
from vds_gz.tools.study.report.style import ACTUAL, COMMANDED, INK, STYLE
from vds_gz.tools.study.report.text import ReportPage

HEAD = ("number", "value", f"interval ({INTERVAL})")
CELL_HEAD = ("pedal", "speed", "acceleration", f"interval ({INTERVAL})", "data", "")


def write_report(
    folder: Path, log: str, findings: Sequence[str], fit: PedalFit | MechanismFit
) -> Sequence[tuple[str, ...]]:
    """Write report.html, report.json, identified.png and pictures of maps; return the rows under :data:`HEAD`."""
    page = ReportPage(folder, report_title(log))
    for finding in findings:
        page.text(finding)
    page.picture("identified.png", _figure(fit), "measured and modelled")
    if isinstance(fit, PedalFit):
        rows, unit = list(_rows(fit.numbers, "s")), "m/s"
        page.table(HEAD, rows)
        content = _with_maps(page, log, fit)
    else:
        rows, unit = [*_rows(fit.numbers, ""), *_rows({"steer_bias": fit.offset}, "rad")], "rad"
        page.table(HEAD, rows)
        content = {"numbers": fit.numbers | {"steer_bias": fit.offset}, "residual": fit.residual}
    page.write({"log": log, "findings": findings, **content})
    return [*rows, ("residual", f"{fit.residual:.4g} {unit}", "standard deviation")]


def _with_maps(page: ReportPage, log: str, fit: PedalFit) -> dict[str, object]:
    """Add identified maps to the page, and return their content of report.json."""
    for name, table in fit.maps().items():
        page.picture(f"{name}_map.png", map_figure(table, f"{name} map of {Path(log).name}"), f"{name} map")
    page.heading("Every cell")
    page.text("Brakes are negative pedals. Data is the time that the recording spent around a cell.")
    page.table(CELL_HEAD, _cells(fit))
    return {
        "times": fit.numbers,
        "residual": fit.residual,
        "speeds": fit.grid.speeds,
        "pedals": fit.grid.pedals,
        "values": fit.values,
        "half_intervals": fit.half,
        "seconds": fit.seconds,
        "filled": fit.filled,
    }


def pedal_findings(fit: PedalFit) -> Iterator[str]:
    """Findings about identified maps."""
    if fit.moved:
        yield f"{fit.moved} cells were changed so that more pedal gives more; the recording contradicts itself there"
    wide = (fit.half > 0.3) & ~fit.filled
    if wide.any():
        count = int(wide.sum())
        yield f"{count} cells with data are known to no better than +-0.3 m/s^2; hold their pedal positions longer"
    unknown = [name for name, number in fit.numbers.items() if number is None]
    if unknown:
        yield f"{', '.join(unknown)}: not excited; press and release the pedals abruptly, several times"


def steering_findings(fit: MechanismFit) -> Iterator[str]:
    """Findings about an identified steering."""
    unknown = [name for name, number in fit.numbers.items() if number is None]
    if unknown:
        yield f"{', '.join(unknown)}: not excited, kept as given"
    for name, number in fit.numbers.items():
        half = 0.5 * (number.high - number.low) / number.value if number is not None else 0.0
        if half > CERTAIN:
            yield (
                f"{name} is poorly determined, to +-{half:.0%}; record more slow and small turns "
                "(`vds-gz profile turns`), or for longer"
            )
    if not fit.parameters.physical and fit.parameters.mechanical_params.dead_zone_threshold > 0.0:
        yield (
            "the dead zone of Autoware's own steering stops the tyres at random angles, which the fit ignores; the "
            "intervals are too narrow"
        )
    yield "such a recording does not determine the scale of torques; they are relative to steering_torque_limit"


def _cells(fit: PedalFit) -> Iterator[tuple[str, ...]]:
    for i, pedal in enumerate(fit.grid.pedals):
        for j, speed in enumerate(fit.grid.speeds):
            value, half = fit.values[i, j], fit.half[i, j]
            mark = "filled from its neighbours" if fit.filled[i, j] else ""
            interval = f"{value - half:.3f} to {value + half:.3f}"
            seconds = f"{fit.seconds[i, j]:.1f} s"
            yield f"{pedal:g}", f"{speed:g} m/s", f"{value:.3f} m/s²", interval, seconds, mark


def _rows(numbers: dict[str, Estimate | None], unit: str) -> Iterator[tuple[str, str, str]]:
    for name, number in numbers.items():
        if number is None:
            yield name, "not excited", ""
        else:
            yield name, f"{number.value:.4g} {unit}".strip(), number.interval


@mpl.rc_context(STYLE)
def _figure(fit: PedalFit | MechanismFit) -> Figure:
    """Measurement and model over time."""
    figure = Figure(figsize=(12.0, 4.2), dpi=100, layout="constrained")
    panel = figure.subplots()
    if isinstance(fit, MechanismFit):
        panel.step(fit.time, fit.commanded, where="post", color=COMMANDED, linewidth=1.2, label="commanded")
    panel.plot(fit.time, fit.measured, ".", color=ACTUAL, markersize=2.0, alpha=0.5, label="measured")
    panel.plot(fit.time, fit.modelled, color=INK, linewidth=1.1, label="model")
    panel.set_title("tyre angle [rad]" if isinstance(fit, MechanismFit) else "speed [m/s]")
    panel.set_xlabel("time [s]")
    panel.legend(ncols=3, loc="upper right")
    return figure
