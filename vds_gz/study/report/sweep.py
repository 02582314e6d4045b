"""Report on a sweep: sentences, tables, pictures, and an HTML file with all of them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from vds_gz.study.report.style import png
from vds_gz.study.report.sweep_figures import draw_distributions, draw_heat_map, draw_sensitivities, label
from vds_gz.study.report.text import ReportPage, finite
from vds_gz.study.sweep.analysis import Analysis, Runs
from vds_gz.study.sweep.sensitivity import TRUSTED

HEAD = ("measure", "runs", "median", "p95 or p5", "p99 or p1", "worst")

#: Runs in the table of the worst ones.
WORST = 5


def distribution_rows(runs: Runs, found: Analysis) -> Iterator[tuple[str, ...]]:
    """Rows under :data:`HEAD`."""
    for name, one in found.distributions.items():
        unit = runs.units.get(name, "")
        yield name, str(one.count), *(f"{value:.4g} {unit} ({part})" for part, value in one.quantiles.items())


def sentences(runs: Runs, found: Analysis) -> Iterator[str]:
    """Which parameter to measure more accurately, or why that is unknown."""
    for advice in found.advice.values():
        yield advice.sentence(runs.units)
    for name, one in found.sensitivities.items():
        if not one.trusted:
            yield (
                f"Sobol indices of {name} are unreliable: surrogate R2 {max(one.predicted, 0.0):.2f}, "
                f"{TRUSTED:.2f} needed; draw more samples."
            )


def worst_table(runs: Runs, measure: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The runs in which a measure is worst: head and rows."""
    head = ("run", *(label(name, runs.units) for name in (*runs.parameters, *runs.measures)))
    columns = [*runs.parameters.values(), *runs.measures.values()]
    places = runs.worst(measure, WORST).tolist()
    return head, [(str(runs.number(k)), *(f"{column[k]:.4g}" for column in columns)) for k in places]


def write_report(folder: Path, title: str, cases: Sequence[tuple[Runs, Analysis]], notes: Sequence[str] = ()) -> None:
    """Write report.html, report.json and its pictures as PNG files.

    Args:
        folder: The report's folder.
        title: Title of the report.
        cases: The runs of each case, and their analysis.
        notes: Further notes, such as failed runs.
    """
    page = ReportPage(title)
    for note in notes:
        page.text(f"Note: {note}")
    contents = []
    for number, (runs, found) in enumerate(cases, start=1):
        _add_case(page, folder, f"{number}_" if len(cases) > 1 else "", runs, found)
        contents.append({"label": runs.label, "sentences": list(sentences(runs, found)), **_plain(found)})
    (folder / "report.html").write_text(page.html(), encoding="utf-8")
    content = {"title": title, "notes": list(notes), "cases": contents}
    (folder / "report.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _add_case(page: ReportPage, folder: Path, prefix: str, runs: Runs, found: Analysis) -> None:
    """Add the analysis of a case; the names of its pictures begin with the prefix."""
    if runs.label:
        page.heading(runs.label)
    for one in found.expectations:
        page.text(f"{'broken' if one.broken else 'holds'}: {one}", bad=one.broken)
    for text in sentences(runs, found):
        page.text(text)
    page.table(HEAD, distribution_rows(runs, found))
    for name, what, figure in _figures(runs, found):
        picture = png(figure)
        (folder / f"{prefix}{name}.png").write_bytes(picture)
        page.heading(what)
        page.picture(picture, what)
    for measure in runs.measures:
        if len(runs.worst(measure, 1)):
            page.heading(f"Worst runs by {measure}")
            page.table(*worst_table(runs, measure))


def _figures(runs: Runs, found: Analysis) -> Iterator[tuple[str, str, Figure]]:
    """File names, captions and pictures."""
    if runs.measures:
        yield "distributions", "Distributions", draw_distributions(runs, found)
    for measure, one in found.sensitivities.items():
        figure = draw_heat_map(runs, measure, one)
        if figure is not None:
            yield f"heat_map_{measure.replace('.', '_')}", f"{measure} over what it depends on", figure
    if found.sensitivities and len(runs.parameters) > 1:
        yield "sensitivities", "What it depends on: Sobol indices", draw_sensitivities(runs, found.sensitivities)


def _plain(found: Analysis) -> dict[str, object]:
    """The analysis for a JSON file, which has no NaN and no infinity."""
    return {
        "expectations": [{**finite(dataclasses.asdict(one)), "broken": one.broken} for one in found.expectations],
        "distributions": {
            name: {"count": one.count, "quantiles": finite(one.quantiles)} for name, one in found.distributions.items()
        },
        "sensitivities": {name: dataclasses.asdict(one) for name, one in found.sensitivities.items()},
        "advice": {name: finite(dataclasses.asdict(one)) for name, one in found.advice.items()},
    }
