"""Measures of all cases of a sweep in one picture: over the only varied parameter, or as cumulative distributions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from vds_gz.core.arrays import Array
from vds_gz.tools.study.report.style import ACTUAL, BODY, COMMANDED, INK, STYLE, add_legend, panels
from vds_gz.tools.study.sweep.analysis import Analysis, Runs
from vds_gz.tools.study.sweep.knee import Knee

#: Colours of the cases, in turn; those after the first round are dashed.
COLOURS = (ACTUAL, COMMANDED, "#5b8c5a", "#8e5572", "#8a6d3b", "#3d405b")

#: Maximum number of cases in one picture.
TOGETHER = 2 * len(COLOURS)

#: Maximum number of points that are marked one by one.
MARKED = 60


def label(name: str, units: Mapping[str, str]) -> str:
    """A name with its unit."""
    unit = units.get(name)
    return f"{name} [{unit}]" if unit else name


@mpl.rc_context(STYLE)
def cases_figure(cases: Sequence[tuple[Runs, Analysis]]) -> Figure | None:
    """All measures of at most :data:`TOGETHER` cases; None for a single case in which several parameters are varied."""
    alone, measures = cases[0][0].varied_alone, list(cases[0][0].measures)
    if not measures or not (alone or len(cases) > 1):
        return None
    figure, axes = panels(len(measures), 3.0, extra=0.6)
    for panel, measure in zip(axes, measures, strict=True):
        for k, (runs, analysis) in enumerate(cases):
            style: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "linestyle": "-" if k < len(COLOURS) else "--"}
            style["label"] = runs.label
            if alone:
                _draw_curve(panel, runs, alone, measure, style)
                _draw_knee(panel, k, analysis.knees.get(measure), runs.units.get(alone, ""), style["color"])
            else:
                _draw_distribution(panel, runs.measures[measure], style)
        if alone:
            _mark_infinite(panel, [runs for runs, _ in cases], alone, measure)
        units = cases[0][0].units
        panel.set_title(label(measure, units))
        panel.set_xlabel(label(alone or measure, units))
        panel.set_ylabel("" if alone else "fraction of the runs")
        _draw_bounds(panel, cases[0][0].expected.get(measure, {}), across=bool(alone))
        if alone and len(cases) == 1:
            _draw_vehicle(panel, cases[0][0], alone)
    add_legend(figure, axes[0], columns=4)
    return figure


def _draw_curve(panel: Axes, runs: Runs, parameter: str, measure: str, style: Mapping[str, Any]) -> None:
    """A measure over a parameter; infinite values are triangles at the upper edge."""
    order = np.argsort(runs.parameters[parameter], kind="stable")
    x, y = runs.parameters[parameter][order], runs.measures[measure][order]
    marker = "o" if len(x) <= MARKED else ""
    panel.plot(x, np.where(np.isfinite(y), y, np.nan), marker=marker, markersize=3.0, **style)
    for place in x[np.isinf(y)].tolist():
        above = panel.plot(place, 1.0, "^", transform=panel.get_xaxis_transform(), color=style["color"], clip_on=False)
        above[0].set(markersize=4.0, in_layout=False)


def _mark_infinite(panel: Axes, cases: Sequence[Runs], parameter: str, measure: str) -> None:
    """Name the first triangle of all cases; without any finite value, there is no scale either."""
    x = np.concatenate([runs.parameters[parameter] for runs in cases])
    y = np.concatenate([runs.measures[measure] for runs in cases])
    if np.isinf(y).any():
        first = float(x[np.isinf(y)].min()), 1.0
        offset: Any = {"xytext": (0.0, -6.0), "textcoords": "offset points", "va": "top", "ha": "center"}
        panel.annotate("infinite", first, xycoords=panel.get_xaxis_transform(), **offset)
    if not np.isfinite(y).any():
        panel.set_yticks([])


def _draw_knee(panel: Axes, row: int, knee: Knee | None, unit: str, colour: str) -> None:
    """Mark a knee; texts of several cases are in different rows, as knees may be close together."""
    if knee is None:
        return
    at, transform = (knee.value, knee.measured), panel.transData
    if math.isinf(knee.measured):  # at the upper edge, as in the curve
        at, transform = (knee.value, 1.0), panel.get_xaxis_transform()
    panel.plot(*at, "o", transform=transform, color=colour, markeredgecolor=INK, markersize=7.0, zorder=4)
    side, direction = ("right", -1.0) if knee.above else ("left", 1.0)
    text = f"knee {knee.value:.3g} {unit}".strip()
    annotation = panel.annotate(
        text, at, (8.0 * direction, 8.0 + 13.0 * row), transform, textcoords="offset points", ha=side, color=colour
    )
    annotation.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    annotation.set_in_layout(False)


def _draw_bounds(panel: Axes, bounds: Mapping[str, float], *, across: bool) -> None:
    """The required bounds of quantiles, as lines across or upwards."""
    for quantile, bound in bounds.items():
        (panel.axhline if across else panel.axvline)(bound, color=INK, linestyle=":", linewidth=1.2)
        if across:
            panel.annotate(
                f"{quantile} required", (1.0, bound), xycoords=panel.get_yaxis_transform(), ha="right", va="bottom"
            )
        else:
            panel.annotate(f" {quantile} required", (bound, 0.02), xycoords=panel.get_xaxis_transform())


def _draw_vehicle(panel: Axes, runs: Runs, parameter: str) -> None:
    """The identified interval of the parameter as a band, and its nominal value as a line."""
    limits = panel.get_xlim()
    if (interval := runs.identified.get(parameter)) is not None:
        panel.axvspan(interval.low, interval.high, color=BODY, alpha=0.4, linewidth=0.0, label="identified (95 %)")
    if (nominal := runs.nominal.get(parameter)) is not None:
        panel.axvline(nominal, color=COMMANDED, linewidth=1.2, label="nominal vehicle")
    panel.set_xlim(limits)


def _draw_distribution(panel: Axes, values: Array, style: Mapping[str, Any]) -> None:
    """The fraction of the runs whose measure is at most a value; it ends below 1 if some are infinite."""
    known = np.sort(values[~np.isnan(values)])
    finite = known[np.isfinite(known)]
    if len(finite):
        part = np.arange(1, len(finite) + 1) / len(known)
        panel.step(finite, part, where="post", **style)
        panel.set_ylim(0.0, 1.02)
