#!/usr/bin/env python3
"""A car on tyres by ``single_track`` and in Gazebo: ``python docs/figures/tyres_beside_gazebo.py``.

Draws docs/pictures/tyres_beside_gazebo.png. It needs Gazebo's Python bindings, and no window.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

DOCS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(DOCS.parent / "test"))

from helpers.parity import PERIOD, Manoeuvre  # noqa: E402
from helpers.stepped import drive  # noqa: E402

from vds_gz.core.configuration import load_parameters  # noqa: E402
from vds_gz.core.parameters.node import NodeParameters  # noqa: E402
from vds_gz.core.vehicle.bicycle import BICYCLE  # noqa: E402
from vds_gz.core.vehicle.command import ackermann  # noqa: E402
from vds_gz.core.vehicle.vehicle import NANOSECONDS, Motion, Vehicle  # noqa: E402
from vds_gz.tools.study.report.style import ACTUAL, COMMANDED, INK, STYLE, png  # noqa: E402

SECONDS = 7.0

#: Preset, speed [m/s] and steering angle [rad].
CARS = (("f1tenth", 3.0, 0.2), ("slippery_forklift", 3.0, 0.35))


def turns(speed: float, angle: float) -> Manoeuvre:
    """Accelerate, turn left, turn right, brake."""
    phases = ((0.0, 0.0, 0.0), (0.2, speed, 0.0), (2.5, speed, angle), (4.0, speed, -angle), (5.5, 0.0, 0.0))
    commands = []
    for k in range(round(SECONDS / 0.1)):
        _, v, delta = next(phase for phase in reversed(phases) if phase[0] <= 0.1 * k + 1e-9)
        commands.append((0.1 * k, ackermann(v, delta)))
    return Manoeuvre("turns", commands, SECONDS)


def without_slip(parameters: NodeParameters, manoeuvre: Manoeuvre) -> list[Motion]:
    """Motions of the bicycle with the same actuators and wheel base."""
    shared = {field.name: getattr(parameters.vehicle, field.name) for field in dataclasses.fields(BICYCLE.parameters)}
    vehicle = Vehicle(BICYCLE, BICYCLE.parameters(**shared), max_command_age=parameters.twist_reference_max_oldness)
    for at, command in manoeuvre.commands:
        vehicle.enter(command, round(at * NANOSECONDS))
    motions = []
    for k in range(1, round(SECONDS * NANOSECONDS) // PERIOD):
        vehicle.advance(k * PERIOD)
        motions.append(vehicle.motion())
    return motions


def main() -> None:
    """Draw paths from the same start, and yaw rates."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.0, 7.0), dpi=100, layout="constrained")
        for (preset, speed, angle), (path, turning) in zip(CARS, figure.subplots(len(CARS), 2), strict=True):
            parameters, manoeuvre = load_parameters(preset), turns(speed, angle)
            samples = drive(parameters, [manoeuvre])[manoeuvre.name]
            times = [sample.time for sample in samples]
            drives = {  # the first one is wide, because Gazebo's may lie on it
                "without slip": (COMMANDED, 4.0, without_slip(parameters, manoeuvre)),
                "single_track": (ACTUAL, 1.8, [sample.wanted for sample in samples]),
                "Gazebo": (INK, 1.8, [sample.gazebo for sample in samples]),
            }
            for label, (color, width, motions) in drives.items():
                start = motions[0]
                poses = [motion.pose.seen_from(start.pose) for motion in motions]
                path.plot([p.x for p in poses], [p.y for p in poses], color=color, linewidth=width, label=label)
                turning.plot(times[: len(motions)], [m.yaw_rate for m in motions], color=color, linewidth=width)
            path.set(xlabel="x [m]", ylabel="y [m]", title=f"{preset}: path of the fixed axle", aspect="equal")
            path.legend(fontsize="small")
            turning.set(xlabel="time [s]", ylabel="yaw rate [rad/s]", title=f"{preset}: yaw rate")
    (DOCS / "pictures" / "tyres_beside_gazebo.png").write_bytes(png(figure))


if __name__ == "__main__":
    main()
