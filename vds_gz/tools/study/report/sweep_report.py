"""Report on a sweep: sentences, tables, pictures, and an HTML file with all of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from vds_gz.core.arrays import Array, Flags
from vds_gz.tools.study.report.style import ACTUAL, BODY, COMMANDED, INK, STYLE, add_legend, panels
from vds_gz.tools.study.report.sweep_curves import TOGETHER, cases_figure, label
from vds_gz.tools.study.report.text import ReportPage
from vds_gz.tools.study.sweep.analysis import (
    LARGER_IS_BETTER,
    Analysis,
    Distribution,
    Runs,
    bad_quantile,
    quantile,
    quantiles_of,
)
from vds_gz.tools.study.sweep.sensitivity import TRUSTED, Sensitivity

#: The runs of each case, and their analysis.
Cases: TypeAlias = "Sequence[tuple[Runs, Analysis]]"

#: Colours from small to large values.
COLOURS = LinearSegmentedColormap.from_list("error", ["#eef4f8", BODY, ACTUAL, "#0d2b40"])

#: Number of bins of a histogram.
BINS = 60

#: Approximate number of runs in a cell of a heat map, and maximum number of cells along an axis.
RUNS_A_CELL, CELLS = 10, 24

#: Maximum number of values of a parameter that are drawn one by one.
FEW = 12

#: Maximum number of cells with written numbers.
WRITTEN = FEW * FEW

#: Maximum number of heat maps side by side, by a third parameter.
SLICES = 3


@mpl.rc_context(STYLE)
def _distributions_figure(runs: Runs, analysis: Analysis) -> Figure:
    """Histograms of all measures, with quantiles and their required bounds."""
    figure, axes = panels(len(runs.measures), 2.6, extra=0.4)
    for panel, (name, values) in zip(axes, runs.measures.items(), strict=True):
        _draw_distribution(panel, values[np.isfinite(values)], runs, analysis, name)
    return figure


def _draw_distribution(panel: Axes, values: Array, runs: Runs, analysis: Analysis, name: str) -> None:
    panel.set_title(label(name, runs.units))
    if not len(values):
        words = "infinite in all runs" if analysis.distributions[name].count else "not measured in any run"
        panel.text(0.5, 0.5, words, ha="center", transform=panel.transAxes)
        return
    panel.set_axisbelow(True)
    panel.hist(values, bins=BINS, color=BODY, edgecolor="none")
    panel.set_ylabel("runs")
    distribution = analysis.distributions[name]
    marks = [(text, value, ACTUAL, "-") for text, value in list(distribution.quantiles.items())[:-1]]
    words = "at least" if name in LARGER_IS_BETTER else "at most"
    marks += [(f"{text} {words}", bound, COMMANDED, "--") for text, bound in runs.expected.get(name, {}).items()]
    top = panel.get_ylim()[1]
    for k, (text, value, colour, style) in enumerate(marks):
        if math.isfinite(value):
            panel.axvline(value, color=colour, linewidth=1.4, linestyle=style)
            # Each label is lower than the one before, as lines may be close together.
            annotation = panel.annotate(f" {text} {value:.3g}", (value, (0.97 - 0.1 * k) * top), va="top", fontsize=8.5)
            annotation.set_color(colour)
            annotation.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


@mpl.rc_context(STYLE)
def _sensitivities_figure(runs: Runs, sensitivities: Mapping[str, Sensitivity]) -> Figure:
    """The part of each measure's variance that each parameter causes, alone and with others."""
    names = list(runs.parameters)
    figure, axes = panels(len(sensitivities), 0.42 * len(names) + 0.8)
    for panel, (measure, indices) in zip(axes, sensitivities.items(), strict=True):
        _draw_sensitivity(panel, names, measure, indices)
    add_legend(figure, axes[0])
    return figure


def _draw_sensitivity(panel: Axes, names: Sequence[str], measure: str, indices: Sensitivity) -> None:
    places = np.arange(len(names))
    panel.set_axisbelow(True)
    panel.barh(places - 0.19, [indices.total[name] for name in names], 0.36, color=BODY, label="with others (total)")
    panel.barh(places + 0.19, [indices.first[name] for name in names], 0.36, color=ACTUAL, label="alone (first order)")
    panel.set_yticks(places, names)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.set_xlim(0.0, 1.0)
    panel.grid(visible=False, axis="y")
    doubt = "" if indices.trusted else f"; unreliable: surrogate R2 {max(indices.predicted, 0.0):.2f}"
    panel.set_title(f"{measure}: share of its variance{doubt}")


@mpl.rc_context({**STYLE, "axes.grid": False})
def draw_heat_map(runs: Runs, measure: str, indices: Sensitivity) -> Figure | None:
    """A measure's bad quantile over its two or three most influential parameters; None if only one was varied.

    Identified intervals are drawn as a box, the nominal vehicle as a point.
    """
    ranked = [name for name in indices.ranked() if np.ptp(runs.parameters[name]) > 0.0][:3]
    if len(ranked) < 2:
        return None
    x, y, *third = sorted(ranked, key=list(runs.parameters).index)
    values, part = runs.measures[measure], quantiles_of(measure)[bad_quantile(measure)]
    slices = [(title, chosen) for title, chosen in _slices(runs, third, np.isfinite(values)) if chosen.any()]
    edges = [_edges(runs.parameters[name], int(slices[0][1].sum())) for name in (x, y)]
    cells = [_cells(runs, x, y, edges, values, chosen, part) for _, chosen in slices]
    norm = Normalize(float(np.nanmin(cells)), float(np.nanmax(cells)))
    colours = COLOURS.reversed() if measure in LARGER_IS_BETTER else COLOURS
    figure = Figure(figsize=(min(4.6 * len(slices) + 1.2, 12.0), 4.3), dpi=100, layout="constrained")
    axes = figure.subplots(1, len(slices), squeeze=False, sharey=True)[0]
    for panel, (title, _), cell in zip(axes, slices, cells, strict=True):
        mesh = panel.pcolormesh(*edges, cell, cmap=colours, norm=norm, rasterized=True)
        if len(slices) == 1 and cell.size <= WRITTEN:
            _write_cells(panel, edges, cell, mesh)
        _draw_box(panel, runs, x, y)
        panel.set_title(title)
        panel.set_xlabel(label(x, runs.units))
    axes[0].set_ylabel(label(y, runs.units))
    # A cell with one run has no quantile of several.
    several = np.isfinite(values).sum() > sum(np.isfinite(cell).sum() for cell in cells)
    prefix = f"{bad_quantile(measure)} of " if several else ""
    figure.colorbar(mesh, ax=list(axes), label=prefix + label(measure, runs.units), pad=0.015)
    add_legend(figure, axes[0])
    return figure


def _slices(runs: Runs, third: Sequence[str], known: Flags) -> Iterator[tuple[str, Flags]]:
    """The runs in groups by the value of the third parameter, with their titles."""
    if not third:
        yield "", known
        return
    name, column = third[0], runs.parameters[third[0]]
    unit = runs.units.get(name, "")
    distinct = np.unique(column[known])
    if len(distinct) <= SLICES:
        for value in distinct:
            yield f"{name} {value:.3g} {unit}".strip(), known & (column == value)
        return
    ends = np.quantile(column[known], np.linspace(0.0, 1.0, SLICES + 1))
    for low, high in pairwise(ends):
        inside = (column >= low) & ((column < high) | (high == ends[-1]))
        yield f"{name} {low:.3g} to {high:.3g} {unit}".strip(), known & inside


def _edges(column: Array, count: int) -> Array:
    """Edges of cells along an axis: around the values of a grid, or evenly spaced."""
    distinct = np.unique(column)
    if len(distinct) <= FEW:
        middles = 0.5 * (distinct[1:] + distinct[:-1])
        return np.concatenate(
            ([1.5 * distinct[0] - 0.5 * distinct[1]], middles, [1.5 * distinct[-1] - 0.5 * distinct[-2]])
        )
    cells = min(max(int(math.sqrt(count / RUNS_A_CELL)), 3), CELLS)
    return np.linspace(distinct[0], distinct[-1], cells + 1)


def _cells(runs: Runs, x: str, y: str, edges: Sequence[Array], values: Array, chosen: Flags, part: float) -> Array:
    """The quantile of the runs in each cell, rows along y; NaN where there is none."""
    column, row = (
        np.clip(np.searchsorted(ends, runs.parameters[name][chosen], side="right") - 1, 0, len(ends) - 2)
        for name, ends in zip((x, y), edges, strict=True)
    )
    cells = np.full((len(edges[1]) - 1, len(edges[0]) - 1), np.nan)
    place = row * cells.shape[1] + column
    for cell in np.unique(place):
        cells.flat[cell] = quantile(values[chosen][place == cell], part)
    return cells


def _write_cells(panel: Axes, edges: Sequence[Array], cells: Array, mesh: QuadMesh) -> None:
    """Write the numbers into the cells, white on dark ones."""
    centres = [0.5 * (ends[1:] + ends[:-1]) for ends in edges]
    for (row, column), value in np.ndenumerate(cells):
        if np.isfinite(value):
            red, green, blue, _ = mesh.to_rgba(value)
            colour = INK if 0.3 * red + 0.6 * green + 0.1 * blue > 0.55 else "white"
            place = float(centres[0][column]), float(centres[1][row])
            panel.annotate(f"{value:.2g}", place, ha="center", va="center", fontsize=8.0, color=colour)


def _draw_box(panel: Axes, runs: Runs, x: str, y: str) -> None:
    """Draw the identified intervals and the nominal vehicle; unknown intervals cover all of an axis."""
    limits = panel.get_xlim(), panel.get_ylim()
    if x in runs.identified or y in runs.identified:
        (left, right), (low, high) = (
            (runs.identified[name].low, runs.identified[name].high) if name in runs.identified else limit
            for name, limit in zip((x, y), limits, strict=True)
        )
        style: Any = {"fill": False, "edgecolor": COMMANDED, "linewidth": 2.0, "label": "identified (95 %)"}
        panel.add_patch(Rectangle((left, low), right - left, high - low, **style))
    if x in runs.nominal and y in runs.nominal:
        style = {"color": COMMANDED, "markeredgecolor": INK, "markersize": 6.0, "label": "nominal vehicle"}
        panel.plot(runs.nominal[x], runs.nominal[y], "o", clip_on=False, linestyle="none", **style)
    panel.set(xlim=limits[0], ylim=limits[1])


HEAD = ("runs", "median", "p95 or p5", "p99 or p1", "worst")

#: Number of runs in a table of the worst ones.
WORST = 5


def distribution_table(cases: Cases) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The quantiles of every measure, below each other for several cases: head and rows."""
    several = len(cases) > 1
    rows = [
        (name, *([runs.label] if several else []), *_quantile_cells(analysis.distributions[name], runs.units.get(name)))
        for name in cases[0][0].measures
        for runs, analysis in cases
    ]
    return ("measure", *(["case"] if several else []), *HEAD), rows


def _quantile_cells(distribution: Distribution, unit: str | None) -> Iterator[str]:
    yield str(distribution.count)
    for part, value in distribution.quantiles.items():
        yield f"{value:.4g} {unit or ''} ({part})" if distribution.count else "-"


def sentences(runs: Runs, analysis: Analysis) -> Iterator[str]:
    """Knees, and which parameter to measure more accurately, or why that is unknown."""
    for measure, knee in analysis.knees.items():
        yield knee.sentence(measure, runs.units)
    for accuracy in analysis.accuracies.values():
        yield accuracy.sentence(runs.units)
    for name, indices in analysis.sensitivities.items():
        if not indices.trusted and not runs.varied_alone:
            yield (
                f"Sobol indices of {name} are unreliable: surrogate R2 {max(indices.predicted, 0.0):.2f}, "
                f"{TRUSTED:.2f} needed; draw more samples."
            )


def worst_table(runs: Runs, measure: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The runs in which a measure is worst: head and rows."""
    head = ("run", *(label(name, runs.units) for name in (*runs.parameters, *runs.measures)))
    columns = [*runs.parameters.values(), *runs.measures.values()]
    places = runs.worst(measure, WORST).tolist()
    return head, [(str(runs.number(k)), *(f"{column[k]:.4g}" for column in columns)) for k in places]


def write_report(folder: Path, title: str, cases: Cases, findings: Sequence[str] = ()) -> None:
    """Write report.html, report.json and its pictures as PNG files, with the runs of each case and their analysis."""
    page = ReportPage(folder, title)
    for finding in findings:
        page.text(f"Finding: {finding}")
    page.table(*distribution_table(cases))
    for first in range(0, len(cases), TOGETHER):
        figure = cases_figure(cases[first : first + TOGETHER])
        if figure is not None:
            alone = cases[0][0].varied_alone
            caption = f"Measures over {alone}" if alone else "Cumulative distributions"
            page.heading(caption)
            page.picture(f"cases_{first}.png" if first else "cases.png", figure, caption)
    contents = []
    for number, (runs, analysis) in enumerate(cases, start=1):
        _add_case(page, f"{number}_" if len(cases) > 1 else "", runs, analysis)
        contents.append({"label": runs.label, "sentences": list(sentences(runs, analysis)), **_content(analysis)})
    page.write({"title": title, "findings": findings, "cases": contents})


def _add_case(page: ReportPage, prefix: str, runs: Runs, analysis: Analysis) -> None:
    """Add the analysis of a case; the names of its pictures begin with the prefix."""
    if runs.label:
        page.heading(runs.label)
    for check in analysis.expectations:
        page.text(f"{'broken' if check.broken else 'holds'}: {check}", bad=check.broken)
    for text in sentences(runs, analysis):
        page.text(text)
    for name, caption, figure in _figures(runs, analysis):
        page.heading(caption)
        page.picture(f"{prefix}{name}.png", figure, caption)
    for measure in runs.measures:
        if len(runs.worst(measure, 1)):
            page.heading(f"Worst runs by {measure}")
            page.table(*worst_table(runs, measure))


def _figures(runs: Runs, analysis: Analysis) -> Iterator[tuple[str, str, Figure]]:
    """File names, captions and pictures."""
    if runs.measures and not runs.varied_alone:
        yield "distributions", "Distributions", _distributions_figure(runs, analysis)
    for measure, indices in analysis.sensitivities.items():
        figure = draw_heat_map(runs, measure, indices)
        if figure is not None:
            yield f"heat_map_{measure.replace('.', '_')}", f"{measure} over its most influential parameters", figure
    if analysis.sensitivities and len(runs.parameters) > 1:
        yield "sensitivities", "Sobol indices", _sensitivities_figure(runs, analysis.sensitivities)


def _content(analysis: Analysis) -> dict[str, object]:
    """The analysis in report.json."""
    return {
        "expectations": [dataclasses.asdict(check) | {"broken": check.broken} for check in analysis.expectations],
        "distributions": analysis.distributions,
        "sensitivities": analysis.sensitivities,
        "accuracies": analysis.accuracies,
        "knees": analysis.knees,
    }
