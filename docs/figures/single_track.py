"""Draws docs/pictures/single_track.png: the same slalom without slip, and on tyres at three speeds."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from vds_gz.core.configuration import load_parameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import SteadyMotion, ackermann
from vds_gz.core.vehicle.single_track import SINGLE_TRACK
from vds_gz.tools.study.report.style import ACTUAL, COMMANDED, INK, STYLE, png

DOCS = Path(__file__).resolve().parents[1]
DT = 1e-3  # [s]
PERIOD, LENGTH, ANGLE = 60.0, 150.0, 0.05  # [m, m, rad]
SPEEDS = {10.0: "#8a97a3", 20.0: ACTUAL, 30.0: INK}  # [m/s]


def slalom(model: Any, parameters: Any, speed: float) -> np.ndarray[Any, Any]:
    """Distance, x, y [m] and lateral acceleration [m/s^2] where the steering angle is a sine of the distance."""
    c = model.coefficients(parameters, DT)
    s = model.at(c, SteadyMotion(speed))
    samples = []
    for k in range(round(LENGTH / speed / DT)):
        distance = k * DT * speed
        angle = 0.5 * ANGLE if distance < 0.5 * PERIOD else ANGLE  # so that it goes straight on
        u = ackermann(speed, angle * math.sin(2.0 * math.pi * distance / PERIOD))
        model.set_references(c, s, u)
        v_y = s.v_y
        model.step(c, s, u)
        samples.append((distance, s.x, s.y, (s.v_y - v_y) / DT + s.v_x * s.yaw_rate))
    return np.array(samples)


def main() -> None:
    """Draw paths and lateral accelerations."""
    parameters = load_parameters("midsize_car").vehicle
    shared = {field.name: getattr(parameters, field.name) for field in dataclasses.fields(BICYCLE.parameters)}
    kinematic = slalom(BICYCLE, BICYCLE.parameters(**shared), 10.0)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 4.0), dpi=100, layout="constrained")
        path, lateral = figure.subplots(1, 2)
        path.plot(kinematic[:, 1], kinematic[:, 2], color=COMMANDED, label="without slip, any speed")
        for speed, color in SPEEDS.items():
            samples = slalom(SINGLE_TRACK, parameters, speed)
            path.plot(samples[:, 1], samples[:, 2], color=color, label=f"{speed:g} m/s")
            lateral.plot(samples[:, 0], samples[:, 3], color=color, label=f"{speed:g} m/s")
        path.set(xlabel="x [m]", ylabel="y [m]", title="Path of the rear axle", ylim=(-1.8, None))
        path.legend(loc="lower right", fontsize="small")
        lateral.set(xlabel="distance [m]", ylabel="lateral acceleration [m/s²]", title="Lateral acceleration there")
    (DOCS / "pictures" / "single_track.png").write_bytes(png(figure))


if __name__ == "__main__":
    main()
