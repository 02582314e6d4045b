"""Draws docs/figures/side_by_side.png from a recording of side_by_side.launch.py.

ros2 bag record -o drive /twist_reference /ideal/ground_truth /realistic/ground_truth \
    /ideal/twist_actual /realistic/twist_actual
python3 docs/figures/side_by_side.py drive
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from vds_gz.tools.study.report.style import ACTUAL, COMMANDED, INK, STYLE

FOLDER = Path(__file__).resolve().parent
COLOURS = {"ideal": COMMANDED, "realistic": ACTUAL}

#: What the launch file puts between the two starts [m].
SPACING = 3.0

#: Shown before the first command that moves them, and after the last [s].
LEAD, TAIL = 0.5, 2.5


def signals(bag: Path) -> dict[str, np.ndarray]:
    """The columns of every topic: time of arrival [s] and two numbers."""
    rows: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    with AnyReader([bag], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        for connection, moment, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            rows[connection.topic].append((moment * 1e-9, *_numbers(message, connection.msgtype)))
    return {topic: np.array(values).T for topic, values in rows.items()}


def _numbers(message: Any, kind: str) -> tuple[float, float]:
    """Position of an odometry [m], else speed and yaw rate [m/s, rad/s]."""
    if kind == "nav_msgs/msg/Odometry":
        return message.pose.pose.position.x, message.pose.pose.position.y
    twist = message.twist if kind.endswith("Stamped") else message
    return twist.linear.x, twist.angular.z


def draw(found: dict[str, np.ndarray]) -> Figure:
    """The paths as seen from behind the robots, and speed and yaw rate over time."""
    moving = found["/twist_reference"][0][np.any(found["/twist_reference"][1:] != 0.0, axis=0)]
    begin, end = moving[0] - LEAD, moving[-1] + TAIL
    figure = Figure(figsize=(9.5, 4.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.25))
    paths = figure.add_subplot(grid[:, 0], title="Paths", xlabel="y to the left [m]", ylabel="x ahead [m]")
    paths.invert_xaxis()
    paths.set_aspect("equal")
    panels = [
        figure.add_subplot(grid[0, 1], title="Speed [m/s]"),
        figure.add_subplot(grid[1, 1], title="Yaw rate [rad/s]", xlabel="time [s]"),
    ]
    time, *commanded = found["/twist_reference"]
    for panel, values in zip(panels, commanded, strict=True):
        panel.plot(time - begin, values, color=INK, linewidth=0.9, linestyle=":", label="command")
        panel.set_xlim(0.0, end - begin)
    for name, side in (("ideal", -SPACING / 2.0), ("realistic", SPACING / 2.0)):
        colour = COLOURS[name]
        _, x, y = found[f"/{name}/ground_truth"]
        paths.plot(y + side, x, color=colour, label=name)
        paths.plot(y[0] + side, x[0], "o", color=colour)
        paths.plot(y[-1] + side, x[-1], "s", color=colour)
        time, *actual = found[f"/{name}/twist_actual"]
        for panel, values in zip(panels, actual, strict=True):
            panel.plot(time - begin, values, color=colour, linewidth=1.4, label=name)
    panels[1].legend(loc="upper right")
    return figure


def main() -> None:
    """Draw the recording that the command line names."""
    with mpl.rc_context(STYLE):
        figure = draw(signals(Path(sys.argv[1])))
        FigureCanvasAgg(figure)
        figure.savefig(FOLDER / "side_by_side.png", dpi=130)


if __name__ == "__main__":
    main()
