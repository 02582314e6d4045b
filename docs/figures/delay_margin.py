"""Regenerates the outputs and pictures of docs/delay_margin.md."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from vds_gz.tools.study.report.style import ACTUAL, COMMANDED, STYLE, png

DOCS = Path(__file__).resolve().parents[1]
RUNS = "margins.csv"

#: What its commands write, and the picture that it becomes.
PICTURES = {
    "margin/heat_map_delay_margin.png": "delay_margin.png",
    "margin/heat_map_path_peak.png": "delay_margin_error.png",
    "latency/heat_map_path_peak.png": "delay_margin_latency.png",
    "sure/sensitivities.png": "delay_margin_sensitivities.png",
    "margin/runs.csv": RUNS,
}

#: Dead time and lag of the steering as identified, and half a period of the controller [s].
LATENCY = 0.0963 + 0.1106 + 0.01

#: No longer dead time was tried [s].
LONGEST = 1.0


def draw_law(runs: Path, picture: Path) -> None:
    """The margins of all runs over the look-ahead time, beside the delay margin of the linear path follower."""
    with runs.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ahead, speed, margin = (
        np.array([float(row[name]) for row in rows])
        for name in ("controller.look_ahead", "controller.speed", "delay_margin")
    )
    tried = margin < LONGEST
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 4.0), dpi=100, layout="constrained")
        axes = figure.subplots()
        times = np.linspace(0.0, 2.3, 50)
        law = 0.5205 * times - LATENCY
        axes.plot(times[law > 0.0], law[law > 0.0], color=COMMANDED, label="0.52 look_ahead / speed - latency")
        axes.plot((ahead / speed)[tried], margin[tried], "o", color=ACTUAL, markersize=4.0, label="simulated")
        axes.set_xlabel("look_ahead / speed [s]")
        axes.set_ylabel("delay_margin [s]")
        axes.legend()
    picture.write_bytes(png(figure))


if __name__ == "__main__":
    sys.path.insert(0, str(DOCS))
    from sessions import remade

    remade([DOCS / "delay_margin.md"], DOCS / "delay_margin", PICTURES)
    draw_law(DOCS / "pictures" / RUNS, DOCS / "pictures" / "delay_margin_law.png")
    (DOCS / "pictures" / RUNS).unlink()
