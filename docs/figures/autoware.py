"""Draws the pictures of docs/autoware.md: step responses of the steerings, and what each correction changes.

python3 docs/figures/autoware.py
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from vds_gz.autoware.parameters.car_parameters import MechanicalParameters
from vds_gz.autoware.vehicle.command_kinds import DIRECT, PEDALS
from vds_gz.autoware.vehicle.models import AUTOWARE_MODELS
from vds_gz.autoware.vehicle.state import actuation_status, put
from vds_gz.core.vehicle.command import Command
from vds_gz.tools.study.report.style import ACTUAL, COMMANDED, INK, STYLE

FOLDER = Path(__file__).resolve().parent
MODELS = {model.name: model for model in AUTOWARE_MODELS}
COLOURS = {"autoware": COMMANDED, "physical": ACTUAL}
DRIVE, NEUTRAL, REVERSE = 2, 1, 20

Phase = dict[str, Any]


def run(name: str, phases: Sequence[Phase], *, dt: float = 0.001, speed: float = 0.0, **parameters: Any) -> Any:
    """Drive a car through phases of ``seconds`` with pedals held; its state after every step, by name."""
    model = MODELS[name]
    c = model.coefficients(model.parameters(**parameters), dt)
    s = model.at_rest(c)
    put(c, s, 0.0, 0.0, 0.0, speed)
    kept: dict[str, list[float]] = {key: [] for key in ("t", "v", "a", "angle", "rate", "brake")}
    for phase in phases:
        held = {"gear": DRIVE, **phase}
        seconds = held.pop("seconds")
        u = command(PEDALS in model.accepts, **held)
        for _ in range(round(seconds / dt)):
            model.step(c, s, u)
            values = (s.v_x, s.acceleration, s.steering.angle, s.steering.rate, actuation_status(c, s).brake)
            for key, value in zip(kept, (len(kept["t"]) * dt + dt, *values), strict=True):
                kept[key].append(value)
    return {key: np.array(values) for key, values in kept.items()}


def command(with_pedals: bool, accel: float = 0.0, brake: float = 0.0, steer: float = 0.0, **more: Any) -> Command:
    """Pedals and a steering command, or an acceleration and an angle."""
    if with_pedals:
        return Command(PEDALS, accel_pedal=accel, brake_pedal=brake, steering_command=steer, **more)
    return Command(DIRECT, target_acceleration=accel, steering_angle=steer, **more)


def both(axes: Axes, what: str, name: str, phases: Sequence[Phase], **options: Any) -> None:
    """One quantity of both behaviours."""
    for compatibility, colour in COLOURS.items():
        trace = run(name, phases, compatibility=compatibility, **options)
        axes.plot(trace["t"], trace[what], color=colour, label=compatibility, linewidth=1.6)


def mechanical(**changes: float) -> MechanicalParameters:
    """The sample's mechanism with some parameters changed."""
    return dataclasses.replace(MechanicalParameters(), **changes)


def gear_change(axes: Axes) -> None:
    """Speed [m/s]: D to R at 5 m/s"""
    phases = [{"seconds": 0.5}, {"seconds": 3.5, "gear": REVERSE}]
    both(axes, "v", "delay_steer_acc_geared", phases, speed=5.0, dt=0.025, vel_rate_lim=7.0)


def bounded_acceleration(axes: Axes) -> None:
    """Acceleration [m/s²]: throttle 0.5 down a slope of 5 m/s²"""
    both(axes, "a", "actuation_cmd", [{"seconds": 3.0, "accel": 0.5, "slope": 5.0}, {"seconds": 2.0}])


def neutral(axes: Axes) -> None:
    """Speed [m/s]: from D to N at 8 m/s, throttle pressed"""
    both(axes, "v", "actuation_cmd", [{"seconds": 0.5}, {"seconds": 2.5, "gear": NEUTRAL, "accel": 0.5}], speed=8.0)


def coasting(axes: Axes) -> None:
    """Speed [m/s]: all pedals released at 10 m/s"""
    both(axes, "v", "actuation_cmd", [{"seconds": 12.0}], speed=10.0, dt=0.01)


def maps_in_reverse(axes: Axes) -> None:
    """Speed [m/s]: reverse, throttle 0.3"""
    both(axes, "v", "actuation_cmd", [{"seconds": 12.0, "accel": 0.3, "gear": REVERSE}], dt=0.01)


def time_constants(axes: Axes) -> None:
    """Acceleration [m/s²]: throttle released; the brake lags 1 s"""
    phases = [{"seconds": 2.0, "accel": 0.4}, {"seconds": 2.0}]
    both(axes, "a", "actuation_cmd", phases, brake_time_constant=1.0)


def brake_status(axes: Axes) -> None:
    """Reported brake: 0.2 and then 0.6 is pressed"""
    phases = [{"seconds": 1.0, "brake": 0.2}, {"seconds": 1.0, "brake": 0.6}]
    both(axes, "brake", "actuation_cmd", phases, speed=20.0)


def steering_map(axes: Axes) -> None:
    """Tyre angle [rad]: 10 m/s, no steering command"""
    both(axes, "angle", "actuation_cmd_steer_map", [{"seconds": 5.0, "accel": 0.1}], speed=10.0)


def feedback(axes: Axes) -> None:
    """Tyre angle [rad]: lag 0.03 s, steps of 60 ms"""
    both(axes, "angle", "actuation_cmd", [{"seconds": 1.5, "steer": 0.2}], dt=0.06, steer_time_constant=0.03)


def end_stops(axes: Axes) -> None:
    """Tyre angle [rad]: limit 0.5, scaling factor 1.5"""
    options = {"steer_lim": 0.5, "debug_steer_scaling_factor": 1.5}
    both(axes, "angle", "delay_steer_acc", [{"seconds": 2.0, "steer": 0.5}], **options)


def torque_delay(axes: Axes) -> None:
    """Tyre angle [rad]: torque delay 0.15 s, command reversed at 1 s"""
    phases = [{"seconds": 1.0, "steer": 2.0}, {"seconds": 1.5, "steer": -2.0}]
    both(axes, "angle", "actuation_cmd_mechanical", phases, mechanical_params=mechanical(torque_delay_time=0.15))


def command_rate(axes: Axes) -> None:
    """Tyre angle [rad]: command limited to 0.1 rad/s"""
    quick = mechanical(rate_limit=0.1, inertia=2.0, damping=20.0)
    both(axes, "angle", "actuation_cmd_mechanical", [{"seconds": 3.0, "steer": 2.0}], mechanical_params=quick)


def friction(axes: Axes) -> None:
    """Tyre angle [mrad]: at rest, no command"""
    for compatibility, colour in COLOURS.items():
        trace = run("actuation_cmd_mechanical", [{"seconds": 3.0}], dt=1 / 30, compatibility=compatibility)
        axes.plot(trace["t"], 1e3 * trace["angle"], color=colour, label=compatibility, linewidth=1.6)


def dead_zone(axes: Axes) -> None:
    """Steering rate [rad/s]: as remembered; dead zone 2 N m"""
    phases = [{"seconds": 1.5, "steer": 3.0}, {"seconds": 1.0, "steer": 2.9}, {"seconds": 1.0, "steer": 3.2}]
    for compatibility, colour in COLOURS.items():
        trace = memory_of_the_rate(phases, compatibility)
        axes.plot(trace[0], trace[1], color=colour, label=compatibility, linewidth=1.6)


def memory_of_the_rate(phases: Sequence[Phase], compatibility: str) -> tuple[list[float], list[float]]:
    """The mechanism's rate, also while it stands in its dead zone."""
    model = MODELS["actuation_cmd_mechanical"]
    wide = mechanical(dead_zone_threshold=2.0)
    c = model.coefficients(model.parameters(compatibility=compatibility, mechanical_params=wide), 0.001)
    s = model.at_rest(c)
    times, rates = [], []
    for phase in phases:
        u = command(True, steer=phase["steer"], gear=DRIVE)
        for _ in range(round(phase["seconds"] / 0.001)):
            model.step(c, s, u)
            times.append(len(times) * 0.001)
            rates.append(s.steering.mechanism.rate)
    return times, rates


CORRECTIONS: dict[str, tuple[Callable[[Axes], None], ...]] = {
    "drive": (
        gear_change,
        bounded_acceleration,
        neutral,
        coasting,
        maps_in_reverse,
        time_constants,
        brake_status,
    ),
    "steering": (steering_map, feedback, end_stops, torque_delay, command_rate, friction, dead_zone),
}


def draw_corrections(name: str, panels: Sequence[Callable[[Axes], None]]) -> None:
    """All corrections of one kind, a panel each."""
    rows = -(-len(panels) // 2)
    figure = Figure(figsize=(9.0, 2.5 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, 2).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        panel(axes)
        axes.set_title(f"{panel.__name__.replace('_', ' ')}", fontsize=10)
        axes.set_ylabel((panel.__doc__ or "").partition(":")[0], fontsize=8.5)
        axes.text(
            0.99,
            1.02,
            (panel.__doc__ or "").partition(":")[2].strip(),
            transform=axes.transAxes,
            ha="right",
            fontsize=7.5,
        )
    for axes in grid[len(panels) :]:
        axes.axis("off")
    handles, labels = grid[0].get_legend_handles_labels()
    (grid[-1] if len(panels) % 2 else grid[0]).legend(handles, labels, loc="center" if len(panels) % 2 else "best")
    figure.savefig(FOLDER / f"autoware_corrections_{name}.png", dpi=110)


def draw_steerings() -> None:
    """Step responses side by side: small and large, slow and fast."""
    steerings = {
        "actuation_cmd": lambda angle: angle,
        "actuation_cmd_steer_map": lambda angle: 12.0,
        "actuation_cmd_vgr": lambda angle: 15.7 * angle,
        "actuation_cmd_mechanical": lambda angle: 15.7 * angle,
    }
    figure = Figure(figsize=(11.0, 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(2, 4, sharex=True)
    for column, (name, command_for) in enumerate(steerings.items()):
        for row, angle in enumerate((0.2, 0.001)):
            axes = grid[row, column]
            for speed, style in ((2.0, "-"), (20.0, "--")):
                steer = command_for(angle) * (1.0 if row == 0 or column != 1 else 0.05)
                phases = [{"seconds": 2.0, "steer": steer, "accel": 0.05}, {"seconds": 2.0, "accel": 0.05}]
                trace = run(name, phases, speed=speed, steer_time_delay=0.0)
                axes.plot(trace["t"], 1e3 * trace["angle"], style, color=ACTUAL, label=f"{speed:g} m/s")
            if column != 1:
                axes.plot([0.0, 2.0, 2.0, 4.0], [1e3 * angle, 1e3 * angle, 0.0, 0.0], ":", color=INK, label="commanded")
            axes.set_title(
                name.removeprefix("actuation_") if row == 0 else "0.6 V" if column == 1 else "1 mrad commanded",
                fontsize=9.5,
            )
    grid[0, 0].set_ylabel("tyre angle [mrad]")
    grid[1, 0].set_ylabel("tyre angle [mrad]")
    grid[0, 0].legend(fontsize=8, loc="upper right")
    for axes in grid[1]:
        axes.set_xlabel("time [s]")
    figure.savefig(FOLDER / "autoware_steerings.png", dpi=110)


def main() -> None:
    """Draw everything."""
    with mpl.rc_context(STYLE):
        draw_steerings()
        for name, panels in CORRECTIONS.items():
            draw_corrections(name, panels)


if __name__ == "__main__":
    main()
