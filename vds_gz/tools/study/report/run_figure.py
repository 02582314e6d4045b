"""The picture of a run: commands, motion, and measured parameters of actuators beside the configured ones."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Polygon
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from vds_gz.core.arrays import Array
from vds_gz.core.geometry import Pose
from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.world.scene import Scene
from vds_gz.tools.study.identify.actuator_response import ActuatorResponse, measure, unknown
from vds_gz.tools.study.recording import Recording
from vds_gz.tools.study.report.style import ACTUAL, BODY, COMMANDED, INK, PALE, STYLE, TOUCHED, png
from vds_gz.tools.study.report.world_figure import draw_obstacles

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """A number of an actuator."""

    # actuator, quantity, unit: its meaning
    actuator: str
    quantity: str
    unit: str
    configured: float | None  # the configured parameter; None if the model has no such group
    measured: float | None  # its value in the recording; None if it is not identifiable
    reached: float | None = None  # for a limit, the maximum observed magnitude
    uncertainty: float | None = None  # half of the 95 % interval of the measured value; None without one

    def texts(self) -> tuple[str, str]:
        """Configured and measured value in words."""
        configured = "-" if self.configured is None else f"{self.configured:.3f} {self.unit}".strip()
        if self.reached is not None and self.configured == 0.0:
            configured = "unlimited"
        if self.measured is not None:
            sure = f"{self.uncertainty or 0.0:.3f}"
            plus_minus = f" +-{sure}" if float(sure) else ""
            return configured, f"{self.measured:.3f} {self.unit}".strip() + plus_minus
        if self.reached is not None:
            return configured, f"{unknown()}; peak {self.reached:.3f} {self.unit}".strip()
        return configured, unknown()


def summarize(recording: Recording, vehicle: DataclassInstance) -> list[SummaryRow]:
    """Measure all actuators of a recording; drives only until the first touch, after which obstacles may stop them."""
    rows: list[SummaryRow] = []
    free = min((touch.begin for touch in recording.touches), default=math.inf)
    for actuator in recording.actuators:
        if actuator.kind == "drive":
            known = actuator.time < free
            time, reference, response = (
                values[known] for values in (actuator.time, actuator.reference, actuator.response)
            )
            actuator = dataclasses.replace(actuator, time=time, reference=reference, response=response)
        rows += _rows(actuator.name, actuator.kind, measure(actuator, recording.command_times), vehicle)
    return rows


def _rows(name: str, kind: str, response: ActuatorResponse, vehicle: DataclassInstance) -> Iterator[SummaryRow]:
    groups = (getattr(vehicle, group.name) for group in dataclasses.fields(vehicle))
    group_type = SteeringParameters if kind == "steering" else DriveParameters
    # A model may have separate parameters instead of groups for its actuators.
    group = next((group for group in groups if isinstance(group, group_type)), None)

    def row(quantity: str, unit: str, parameter: str, measured: str, reached: float | None = None) -> SummaryRow:
        configured = None if group is None else float(getattr(group, parameter))
        value = getattr(response, measured)
        return SummaryRow(name, quantity, unit, configured, value, reached, response.uncertainty.get(measured))

    yield row("dead time", "s", "dead_time", "dead_time")
    yield row("time constant", "s", "time_constant", "time_constant")
    unit = "rad" if kind == "steering" else "m/s"
    for parameter, own_unit, neutral in (("gain", "", 1.0), ("offset", unit, 0.0), ("dead_band", unit, 0.0)):
        if getattr(response, parameter) is not None or getattr(group, parameter, neutral) != neutral:
            yield row(parameter.replace("_", " "), own_unit, parameter, parameter)
    rise, fall, value = response.reached_rise, response.reached_fall, response.reached_value
    if kind == "steering":
        yield row("maximum rate", "rad/s", "max_velocity", "max_rise", rise)
        yield row("maximum angle", "rad", "max_position", "max_value", value)
    else:
        yield row("acceleration", "m/s²", "max_acceleration", "max_rise", rise)
        slowing = "max_deceleration" if getattr(group, "max_deceleration", 0.0) else "max_acceleration"
        yield row("deceleration", "m/s²", slowing, "max_fall", fall)
        yield row("maximum speed", "m/s", "max_velocity", "max_value", value)


#: Times that are shown before the first command, and between two outlines of the vehicle [s].
LEAD, OUTLINES = 0.5, 2.0


@mpl.rc_context(STYLE)
def draw(
    recording: Recording,
    rows: Sequence[SummaryRow],
    parameters: NodeParameters,
    title: str,
    path: Path,
    scene: Scene | None = None,
) -> None:
    """Draw a run with the measured parameters of its actuators as a PNG file; with a scene, the world around it too."""
    figure = Figure(figsize=(15.0, 9.2), dpi=110, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=14, weight="bold")
    halves: Any = figure.subfigures(1, 2, width_ratios=(1.12, 1.0), wspace=0.03)
    left, right = halves
    times = recording.command_times if len(recording.command_times) else recording.motion.time
    begin = max(float(recording.motion.time[0]), float(times[0]) - LEAD)
    _draw_panels(left, recording, list(_panels(recording, parameters)), begin)
    above, below = right.subfigures(2, 1, height_ratios=(1.0, min(1.2, 0.042 * (len(rows) + 1) + 0.1)))
    axis = above.subplots()
    if scene is not None:
        draw_obstacles(axis, scene, np.column_stack((recording.motion.x, recording.motion.y)))
    _draw_path(axis, recording, parameters, begin)
    _draw_table(below.subplots(), rows)
    path.write_bytes(png(figure))


class _Panel(NamedTuple):
    """A commanded and an actual quantity, each at its own times [s]."""

    label: str
    unit: str
    command_time: Array
    commanded: Array
    time: Array
    actual: Array


def _panels(recording: Recording, parameters: NodeParameters) -> Iterator[_Panel]:
    """The panels over time, from top to bottom."""
    motion, commands = recording.motion, recording.references
    yield _Panel("speed", "m/s", commands.time, commands.speed, motion.time, motion.v_x)
    if np.nanmax(np.abs(commands.v_y), initial=0.0) > 0.0 or np.max(np.abs(motion.v_y)) > 1e-6:
        yield _Panel("lateral speed", "m/s", commands.time, commands.v_y, motion.time, motion.v_y)
    yield _Panel("yaw rate", "rad/s", commands.time, _yaw_rate(recording, parameters), motion.time, motion.yaw_rate)
    steerings = [actuator for actuator in recording.actuators if actuator.kind == "steering"]
    for actuator in steerings or recording.actuators[:2]:
        label, unit = actuator.name.replace("_", " "), "rad" if actuator.kind == "steering" else "m/s"
        yield _Panel(label, unit, actuator.time, actuator.reference, actuator.time, actuator.response)


def _draw_panels(figure: SubFigure, recording: Recording, panels: Sequence[_Panel], begin: float) -> None:
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, panel in zip(axes, panels, strict=True):
        axis.axhline(0.0, color=PALE, linewidth=1.0, zorder=1)
        known = np.isfinite(panel.commanded)
        commanded = panel.command_time[known], panel.commanded[known]
        axis.step(*commanded, where="post", color=COMMANDED, linewidth=1.3, label="commanded")
        axis.plot(panel.time, panel.actual, color=ACTUAL, linewidth=1.8, label="actual")
        axis.set_title(panel.label)
        axis.set_ylabel(panel.unit)
        axis.margins(y=0.08)
        for touch in recording.touches:
            axis.axvspan(touch.begin, touch.end, color=TOUCHED, alpha=0.15, linewidth=1.0, zorder=0)
    axes[0].legend(loc="lower left", bbox_to_anchor=(0.45, 1.0), ncols=2, borderaxespad=0.2)
    axes[-1].set_xlabel("time [s]")
    axes[-1].set_xlim(begin, recording.motion.time[-1])


def _yaw_rate(recording: Recording, parameters: NodeParameters) -> Array:
    """Commanded yaw rate; that of a speed and a steering angle follows from the geometry."""
    commands = recording.references
    wheel_base = models()[parameters.model].geometry(parameters.vehicle).signed_wheel_base
    if not wheel_base:
        return commands.yaw_rate
    by_geometry = commands.speed * np.tan(commands.steering_angle) / wheel_base
    return np.where(np.isfinite(commands.steering_angle), by_geometry, commands.yaw_rate)


def _draw_path(axis: Axes, recording: Recording, parameters: NodeParameters, begin: float) -> None:
    motion = recording.motion
    axis.plot(motion.x, motion.y, color=ACTUAL, linewidth=1.6, zorder=3)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_title("path")
    axis.set_xlabel("x [m]")
    axis.set_ylabel("y [m]", labelpad=2)
    for moment in _moments(recording, parameters, begin):
        i = int(np.searchsorted(motion.time, moment))
        pose = motion.x[i], motion.y[i], motion.heading[i]
        body, *wheels = _outline(parameters, _steering(recording, moment))
        axis.add_patch(Polygon(_placed(body, pose), facecolor=BODY, edgecolor=ACTUAL, alpha=0.4, zorder=2))
        for wheel in wheels:
            axis.add_patch(Polygon(_placed(wheel, pose), facecolor=INK, alpha=0.85, zorder=2))
        _annotate(axis, f"{moment:.0f} s", pose[:2], (0.0, 8.0), ha="center", zorder=5)
        axis.plot(*pose[:2], "o", color=ACTUAL, markersize=3.5, zorder=4)
    middle = 0.5 * (motion.x.min() + motion.x.max())
    for touch in recording.touches:
        axis.plot(touch.x, touch.y, "X", color=TOUCHED, markersize=9.0, markeredgecolor="white", zorder=6)
        inwards, side = (-1.0, "right") if touch.x > middle else (1.0, "left")
        text = f"{touch.thing}, {touch.begin:.1f} s"
        _annotate(axis, text, (touch.x, touch.y), (8.0 * inwards, 0.0), ha=side, va="center", color=TOUCHED, zorder=6)
    axis.autoscale_view()


def _annotate(axis: Axes, text: str, place: tuple[float, float], offset: tuple[float, float], **options: Any) -> None:
    """Write a text with a white outline beside a place [m], at an offset [pt]."""
    outline = [withStroke(linewidth=2.5, foreground="white")]
    axis.annotate(text, place, xytext=offset, textcoords="offset points", fontsize=8.5, path_effects=outline, **options)


def _moments(recording: Recording, parameters: NodeParameters, begin: float) -> Iterator[float]:
    """Times at which the vehicle is drawn [s]: regular, but not when it has hardly moved."""
    motion = recording.motion
    length = float(np.ptp(next(_outline(parameters, 0.0))[:, 0]))
    drawn: tuple[float, float] | None = None
    for moment in np.arange(math.floor(begin), motion.time[-1], OUTLINES):
        here = float(np.interp(moment, motion.time, motion.x)), float(np.interp(moment, motion.time, motion.y))
        if drawn is None or math.dist(here, drawn) > 0.5 * length:
            drawn = here
            yield float(moment)


def _steering(recording: Recording, moment: float) -> float:
    """Steering angle at a time [rad], 0 for a vehicle without."""
    for actuator in recording.actuators:
        if actuator.kind == "steering":
            return float(np.interp(moment, actuator.time, actuator.response))
    return 0.0


def _outline(parameters: NodeParameters, steering: float) -> Iterator[Array]:
    """Body and wheels around base_link [m], the body first; steered wheels at an angle [rad]."""
    geometry = models()[parameters.model].geometry(parameters.vehicle)
    diameter = geometry.tire_diameter
    x = [wheel.x for wheel in geometry.wheels]
    y = [abs(wheel.y) for wheel in geometry.wheels]
    half_width = max(*y, 0.3 * (max(x) - min(x)), 0.25 * diameter)
    yield _rectangle((min(x) + max(x)) / 2.0, 0.0, max(x) - min(x) + 1.3 * diameter, 2.0 * half_width, 0.0)
    for wheel in geometry.wheels:
        yield _rectangle(wheel.x, wheel.y, diameter, 0.35 * diameter, steering if wheel.steered else 0.0)


def _rectangle(x: float, y: float, length: float, width: float, angle: float) -> Array:
    corners = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) * (length / 2.0, width / 2.0)
    return _placed(corners, (x, y, angle))


def _placed(points: Array, pose: tuple[float, float, float]) -> Array:
    """Points of a body at a pose, in the frame of the pose's coordinates."""
    return np.column_stack(Pose(*pose).apply(points[:, 0], points[:, 1]))


def _draw_table(axis: Axes, rows: Sequence[SummaryRow]) -> None:
    axis.axis("off")
    axis.set_title("measured from the recording, beside the parameters")
    cells, last = [], ""
    for row in rows:
        name = row.actuator.replace("_", " ")
        cells.append([name if name != last else "", row.quantity, *row.texts()])
        last = name
    table = axis.table(
        cells,
        colLabels=["actuator", "", "configured", "measured"],
        colWidths=[0.2, 0.25, 0.22, 0.33],
        cellLoc="left",
        colLoc="left",
        bbox=Bbox.unit(),
    )
    table.auto_set_font_size(False)
    table.set_fontsize(9.5 if len(rows) < 14 else 7.5)
    for (line, column), cell in table.get_celld().items():
        cell.set_edgecolor(PALE)
        cell.visible_edges = "B" if line == 0 else ("T" if line and cells[line - 1][0] else "")
        if line == 0 or column == 0:
            cell.set_text_props(weight="bold")
        elif column == 3:
            cell.set_text_props(color=ACTUAL if rows[line - 1].measured is not None else "#8a97a3")
