"""Draws docs/pictures/model.png: what each stage of the actuator model does to a step and to a sine."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.vehicle.actuators import (
    drive_at_rest,
    drive_coefficients,
    steering_at_rest,
    steering_coefficients,
    step_drive,
    step_steering,
)
from vds_gz.tools.study.report.style import ACTUAL, COMMANDED, INK, STYLE, png

DOCS = Path(__file__).resolve().parents[1]
DT = 1e-3  # [s]


def drive_response(p: DriveParameters, references: Sequence[float]) -> list[float]:
    """Velocities [m/s] of a drive from rest, after each of the references [m/s]."""
    c = drive_coefficients(p, DT)
    s = drive_at_rest(c)
    return [stepped(step_drive, c, s, reference).velocity for reference in references]


def steering_response(p: SteeringParameters, references: Sequence[float]) -> list[float]:
    """Angles [rad] of a steered wheel from rest, after each of the references [rad]."""
    c = steering_coefficients(p, DT)
    s = steering_at_rest(c)
    return [stepped(step_steering, c, s, reference).angle for reference in references]


def stepped(step: Callable[..., object], c: object, s: Any, reference: float) -> Any:
    """The state of an actuator after a step without a limit of the command."""
    step(c, s, reference, math.inf)
    return s


def draw_drive(axes: Axes) -> None:
    """A step to 2 m/s and back: dead time and lag, then with a limit of acceleration, then with one of velocity."""
    times = [DT * step for step in range(8000)]
    references = [2.0 if 0.5 <= time < 4.0 else 0.0 for time in times]
    lag: dict[str, Any] = {"dead_time": 0.2, "time_constant": 0.4, "max_velocity": 0.0, "max_acceleration": 0.0}
    ramp = lag | {"max_acceleration": 1.5, "max_deceleration": 1.0}
    axes.plot(times, references, color=COMMANDED, label="reference")
    curves: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
        (lag, "dead time 0.2 s, lag 0.4 s", {"color": "#8a97a3"}),
        (ramp, "and at most 1.5 m/s² up, 1.0 m/s² down", {"color": ACTUAL}),
        (ramp | {"max_velocity": 1.6}, "and at most 1.6 m/s", {"color": INK, "linestyle": "--"}),
    ]
    for values, label, style in curves:
        axes.plot(times, drive_response(DriveParameters(**values), references), label=label, **style)
    axes.set(xlabel="time [s]", ylabel="velocity [m/s]", title="Drive", ylim=(-0.1, 2.9))
    axes.legend(loc="upper right", fontsize="small")


def draw_steering(axes: Axes) -> None:
    """A sine, with a dead band, then with backlash."""
    times = [DT * step for step in range(8000)]
    references = [0.3 * math.sin(2.0 * math.pi * time / 4.0) for time in times]
    lag: dict[str, Any] = {"dead_time": 0.1, "time_constant": 0.05, "max_velocity": 0.0, "max_position": 0.0}
    axes.plot(times, references, color=COMMANDED, label="reference")
    curves: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
        (lag | {"dead_band": 0.1}, "dead time 0.1 s, lag 0.05 s, dead band 0.1 rad", {"color": ACTUAL}),
        (lag | {"backlash": 0.1}, "backlash 0.1 rad instead of the dead band", {"color": INK, "linestyle": "--"}),
    ]
    for values, label, style in curves:
        axes.plot(times, steering_response(SteeringParameters(**values), references), label=label, **style)
    axes.set(xlabel="time [s]", ylabel="angle [rad]", title="Steering", ylim=(-0.35, 0.52))
    axes.legend(loc="upper right", fontsize="small")


def main() -> None:
    """Draw both."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 4.0), dpi=100, layout="constrained")
        drive, steering = figure.subplots(1, 2)
        draw_drive(drive)
        draw_steering(steering)
    (DOCS / "pictures" / "model.png").write_bytes(png(figure))


if __name__ == "__main__":
    main()
