"""Picture of an actuation map."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from vds_gz.parameters.maps import ActuationMap
from vds_gz.study.report.style import STYLE


def draw(table: ActuationMap, title: str, path: Path) -> None:
    """Draw a map into a PNG file."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.0, 5.0), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        colours = mpl.colormaps["viridis"]
        last = len(table.actuations) - 1
        for i, (actuation, row) in enumerate(zip(table.actuations, table.values, strict=True)):
            axes.plot(table.states, row, ".-", color=colours(0.95 * i / last), linewidth=1.4, label=f"{actuation:g}")
        axes.set_title(title)
        axes.set_xlabel("state (columns)")
        axes.set_ylabel("value")
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(handles[::-1], labels[::-1], title="actuation (rows)", loc="upper left", bbox_to_anchor=(1.01, 1.0))
        figure.savefig(path, dpi=130)
