"""Picture of an actuation map."""

from __future__ import annotations

import matplotlib as mpl
from matplotlib.figure import Figure

from vds_gz.autoware.parameters.map_files import ActuationMap
from vds_gz.tools.study.report.style import STYLE


@mpl.rc_context(STYLE)
def map_figure(table: ActuationMap, title: str) -> Figure:
    """The map's values over its states, a line for each actuation."""
    figure = Figure(figsize=(8.0, 5.0), dpi=130, layout="constrained")
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
    return figure
