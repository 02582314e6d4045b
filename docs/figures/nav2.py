"""Draws what dead time does to Nav2's controllers, from ``docs/nav2/dead_times.json``.

That file comes from Nav2 itself, in a shell where it is:

    python bench/nav2.py --dead-times 0 0.1 0.2 0.3 0.4 --goals 4 --json docs/nav2/dead_times.json
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import yaml
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.image import imread

from vds_gz.core.share import share
from vds_gz.tools.study.report.style import ACTUAL, COMMANDED, INK, PALE, STYLE, png

DOCS = Path(__file__).resolve().parents[1]

COLOURS = {"MPPI": COMMANDED, "Regulated Pure Pursuit": ACTUAL}


def draw_tracks(axes: Axes, runs: list[dict[str, Any]], controller: str) -> None:
    """Where the vehicle went with the shortest and with the longest dead time."""
    own = sorted((run for run in runs if run["controller"] == controller), key=lambda run: run["dead_time"])
    for run, colour in ((own[-1], COLOURS[controller]), (own[0], INK)):
        label = f"dead time {run['dead_time']:g} s"
        for drive in run["drives"]:
            _, x, y = np.array(drive["track"]).T
            axes.plot(x, y, color=colour, linewidth=1.4, label=label)
            label = ""
    goals = np.array([drive["goal"] for drive in own[0]["drives"]])
    axes.plot(goals[:, 0], goals[:, 1], "o", color=INK, markersize=5.0, markerfacecolor="white", label="goal")
    axes.set_title(controller)
    axes.legend(loc="lower left", fontsize=8.0)


def draw_hall(axes: Axes) -> None:
    """The map that Nav2 has."""
    occupied = imread(share("config", "nav2", "map.pgm")) < 128
    described = yaml.safe_load(share("config", "nav2", "map.yaml").read_text(encoding="utf-8"))
    (x, y, _), cell = described["origin"], described["resolution"]
    rows, columns = occupied.shape
    extent = (x, x + columns * cell, y, y + rows * cell)
    axes.imshow(occupied, cmap=ListedColormap(["white", PALE]), extent=extent)
    axes.set_aspect("equal")
    axes.grid(visible=False)
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")


def draw_figures(axes: Axes, runs: list[dict[str, Any]], quantity: str, title: str) -> None:
    """A quantity over the dead time, its median and its maximum over all goals."""
    for controller, colour in COLOURS.items():
        own = sorted((run for run in runs if run["controller"] == controller), key=lambda run: run["dead_time"])
        times = [run["dead_time"] for run in own]
        values = [[drive[quantity] for drive in run["drives"]] for run in own]
        axes.plot(
            times, [float(np.median(value)) for value in values], "o-", color=colour, label=f"{controller}, median"
        )
        axes.plot(times, [max(value) for value in values], ":", color=colour, label="maximum of the goals")
    axes.set_title(title)
    axes.set_xlabel("dead time [s]")
    axes.set_ylim(bottom=0.0)


def main() -> None:
    """Draw it."""
    runs = json.loads((DOCS / "nav2" / "dead_times.json").read_text(encoding="utf-8"))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 6.4), dpi=100, layout="constrained")
        above, below = figure.subplots(2, 2, height_ratios=(1.25, 1.0))
        for axes, controller in zip(above, COLOURS, strict=True):
            draw_hall(axes)
            draw_tracks(axes, runs, controller)
        draw_figures(below[0], runs, "off_path", "Distance from the planned path [m]")
        draw_figures(below[1], runs, "passed", "Way past the goal [m]")
        below[1].legend(fontsize=8.0, loc="upper left")
    (DOCS / "pictures" / "nav2_dead_times.png").write_bytes(png(figure))


if __name__ == "__main__":
    main()
