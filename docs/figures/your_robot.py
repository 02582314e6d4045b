"""Remakes what docs/tutorials/your_robot.md shows, and the README's picture of a real car and the identified one."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from vds_gz.core.configuration import load_parameters
from vds_gz.tools.study.reading.recorded_run import read
from vds_gz.tools.study.report.style import ACTUAL, COMMANDED, INK, STYLE, png

DOCS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(DOCS), str(DOCS.parent / "bench")]

from real import TAUGHT, courses, identified, vehicle_prediction  # noqa: E402

PAGE = DOCS / "tutorials" / "your_robot.md"
DATA = DOCS.parent / "examples" / "data"

#: What the page's commands write, and the picture that it becomes.
PICTURES = {"identified/identified.png": "real_identified.png", "compare/overlay.png": "real_compared.png"}

#: The part that the README shows [s]. What is learned ends before it.
BEGIN, END = 93.0, 107.0

UNITS = {"speed": "m/s", "yaw rate": "rad/s"}


def draw_real_car(recording: Path, vehicle: Path, picture: Path) -> None:
    """Command, measurement and the identified vehicle in a part of the recording that did not teach it."""
    wheel_base = load_parameters(vehicle).vehicle.wheel_base
    courses_ = courses(read(recording), wheel_base)
    border = TAUGHT * max(course.time[-1] for course in courses_.values())
    assert border < BEGIN, f"the first {border:.1f} s teach the vehicle"
    with tempfile.TemporaryDirectory() as scratch, mpl.rc_context(STYLE):
        folder = Path(scratch)
        identified([recording], border, vehicle, folder)
        figure = Figure(figsize=(10.0, 5.2), dpi=100, layout="constrained")
        for panel, (quantity, course) in zip(figure.subplots(2, 1, sharex=True), courses_.items(), strict=True):
            shown = (course.time >= BEGIN) & (course.time <= END)
            time = course.time[shown]
            command = (course.held(course.time) * course.factor)[shown]
            predicted = vehicle_prediction(recording, folder, course, quantity)[shown]
            error = np.sqrt(np.mean((predicted - course.measured[shown]) ** 2))
            panel.step(time, command, where="post", color=COMMANDED, label="command")
            panel.plot(time, course.measured[shown], ".", color=ACTUAL, markersize=4.0, label="measured")
            panel.plot(time, predicted, color=INK, label="identified vehicle")
            panel.set_title(f"{quantity} [{UNITS[quantity]}], rms error {error:.2g} {UNITS[quantity]}")
        panel.set_xlabel(f"time [s]; the vehicle was identified from the first {border:.0f} s")
        figure.axes[0].legend(ncols=3, loc="upper right")
    picture.write_bytes(png(figure))


if __name__ == "__main__":
    from sessions import remade

    remade([PAGE], DATA, PICTURES)
    draw_real_car(DATA / "f1tenth_race.csv.gz", DATA / "f1tenth.yaml", DOCS / "pictures" / "real_car.png")
