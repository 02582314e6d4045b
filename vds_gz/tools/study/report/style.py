"""The style of all pictures, and the bytes of a picture."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from vds_gz.core.arrays import Array

COMMANDED, ACTUAL, INK, PALE, BODY = "#e07b39", "#2a6f97", "#22303c", "#d9e0e6", "#a9c6d9"
#: Colours of obstacles and of touches.
OBSTACLE, TOUCHED = "#b9c0c6", "#c1121f"
#: Values are far beyond the others if they are so many times the others' range away.
FAR = 2.0

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


def show_usual(axis: Axes, *signals: Array) -> None:
    """Limit the vertical axis to where nearly all values are, if single ones are far beyond these."""
    values = np.concatenate(signals)
    low, high = np.percentile(values, (0.5, 99.5))
    margin = high - low
    if margin > 0.0 and max(low - values.min(), values.max() - high) > FAR * margin:
        axis.set_ylim(low - 0.2 * margin, high + 0.2 * margin)


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
