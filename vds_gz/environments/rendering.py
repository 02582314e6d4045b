"""Pictures of vehicles at their tasks. Needs matplotlib."""

from __future__ import annotations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.typing import NDArray

from vds_gz.core.vehicle.trigonometry import sine_cosine
from vds_gz.core.vehicle.vehicle_model import VehicleGeometry
from vds_gz.environments.task import Task

#: Width and height [pixels].
SIZE = 400

_DPI = 100


def picture(task: Task, geometry: VehicleGeometry, x: float, y: float, heading: float) -> NDArray[np.uint8]:
    """The surroundings of a vehicle, as RGB of shape (400, 400, 3)."""
    figure = Figure((SIZE / _DPI, SIZE / _DPI), _DPI)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    for line in task.scenery():
        axes.plot(*line.T, color="tab:gray", linewidth=1.5)
    for corners, colour in _shapes(geometry):
        axes.add_patch(Polygon(_placed(corners, x, y, heading), closed=True, color=colour))
    view = task.view(x, y)
    axes.set_xlim(view.x - view.half, view.x + view.half)
    axes.set_ylim(view.y - view.half, view.y + view.half)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.array(canvas.buffer_rgba(), np.uint8)  # type: ignore[no-untyped-call]
    return np.ascontiguousarray(pixels[:, :, :3])


def _shapes(geometry: VehicleGeometry) -> list[tuple[NDArray[np.float64], str]]:
    """Corners in base_link [m] and colours: the body around the wheels, its front, the wheels."""
    radius = 0.5 * geometry.tire_diameter
    x = [wheel.x for wheel in geometry.wheels]
    y = [wheel.y for wheel in geometry.wheels]
    side = max(*map(abs, y), radius)
    back, front = min(x) - radius, max(x) + radius
    body = _rectangle(back, front, -side, side)
    nose = _rectangle(front - 0.15 * (front - back), front, -side, side)
    wheels = [
        (_rectangle(a - radius, a + radius, b - 0.3 * radius, b + 0.3 * radius), "black")
        for a, b in zip(x, y, strict=True)
    ]
    return [(body, "tab:blue"), (nose, "tab:orange"), *wheels]


def _rectangle(back: float, front: float, right: float, left: float) -> NDArray[np.float64]:
    return np.array([[back, right], [front, right], [front, left], [back, left]])


def _placed(corners: NDArray[np.float64], x: float, y: float, heading: float) -> NDArray[np.float64]:
    sine, cosine = sine_cosine(heading)
    return np.asarray(corners @ np.array([[cosine, sine], [-sine, cosine]]) + (x, y))
