"""The style of all pictures, and the bytes of a picture."""

from __future__ import annotations

import io
import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

COMMANDED, ACTUAL, INK, PALE, BODY = "#e07b39", "#2a6f97", "#22303c", "#d9e0e6", "#a9c6d9"
#: Colours of obstacles and of touches.
OBSTACLE, TOUCHED = "#b9c0c6", "#c1121f"
STYLE: Any = {
    "font.size": 9.5,
    "axes.edgecolor": "#8a97a3",
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e8edf1",
    "grid.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "legend.frameon": False,
}


def literal(text: str) -> str:
    """Text whose dollar signs do not begin a formula."""
    return text.replace("$", r"\$")


def panels(count: int, row: float, *, across: int = 2, extra: float = 0.5, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure with ``count`` panels in rows of height ``row`` [in]."""
    rows = math.ceil(count / across)
    figure = Figure(figsize=(12.0, row * rows + extra), dpi=100, layout="constrained")
    axes = figure.subplots(rows, across, squeeze=False, **options).ravel()
    for unused in axes[count:]:
        unused.axis("off")
    return figure, list(axes[:count])


def add_legend(figure: Figure, panel: Axes, columns: int = 2) -> None:
    """Write the legend of a panel above the figure."""
    handles, labels = panel.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper right", ncols=columns)


def png(figure: Figure) -> bytes:
    """A figure as the bytes of a PNG file."""
    FigureCanvasAgg(figure)
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()
