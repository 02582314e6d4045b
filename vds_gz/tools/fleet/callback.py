"""Custom controllers, and the observations of all vehicles with which they are called."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vds_gz.core.arrays import Array, Flags
from vds_gz.core.compiling import compiled
from vds_gz.core.errors import ArgumentError, FailureError
from vds_gz.core.share import in_words
from vds_gz.core.vehicle.command import ACKERMANN, MAXIMUM, TWIST, CommandKind
from vds_gz.core.vehicle.trigonometry import sine_cosine
from vds_gz.tools.fleet.controllers import Callback
from vds_gz.tools.fleet.fleet import AnyFleet
from vds_gz.tools.fleet.layout import Columns
from vds_gz.tools.fleet.path import Path
from vds_gz.tools.fleet.tracking import CURVATURE, DIVERGED, point_at, value_at

#: Columns that are fields of the tracking, and of the vehicle's state.
_TRACKING = ("lateral", "heading_error", "reference_speed")
_STATE = ("v_x", "v_y", "yaw_rate", "x", "y", "heading")

#: Columns of a function's commands, as fields of a command.
COMMAND_FIELDS: dict[CommandKind, tuple[str, str]] = {ACKERMANN: ("steering_angle", "v_x"), TWIST: ("v_x", "yaw_rate")}


class Observations:
    """The numbers that a function observes: a row for each vehicle, in named columns.

    Attributes:
        names: Names of the columns.
    """

    def __init__(self, fleet: AnyFleet, path: Path, kind: CommandKind, preview: Sequence[float], actions: int) -> None:
        """Observe vehicles on a path; ``preview`` has distances ahead [m], ``actions`` the number of last commands."""
        if not all(0.0 <= distance < math.inf for distance in preview) or actions < 0:
            raise ArgumentError(
                f"preview is {tuple(preview)} and actions is {actions}; distances [m] must be finite and at least 0, "
                "actions at least 0"
            )
        self._fleet, self._path = fleet, path
        self._preview = np.array(preview, np.float64)
        self._last = np.zeros((actions, len(fleet), 2))
        self._fields = COMMAND_FIELDS[kind]
        self.names = (
            *_TRACKING,
            "distance",
            "curvature",
            *_STATE,
            *(name for name, _ in self._steering()),
            *(f"{name}_{distance:g}m" for distance in preview for name in ("x", "y", "curvature")),
            *(f"last_{name}_{k + 1}" for k in range(actions) for name in self._fields),
        )

    def _steering(self) -> list[tuple[str, Array]]:
        """The steering angles, with names: of the front axle, or of each module; 0 where nothing steers."""
        states = self._fleet.states
        if modules := getattr(states, "modules", ()):
            return [(f"steering_angle_{k}", module.steering.angle) for k, module in enumerate(modules, 1)]
        steering = getattr(states, "steering", getattr(states, "steering_front", None))
        return [("steering_angle", np.zeros(len(self._fleet)) if steering is None else steering.angle)]

    def reset(self) -> None:
        """Discard the last commands."""
        self._last[:] = 0.0

    def remember_commands(self) -> None:
        """Remember the present commands."""
        present = np.stack([getattr(self._fleet.commands, name) for name in self._fields], axis=1)
        self._last = np.concatenate([present[np.newaxis], self._last])[: len(self._last)]

    def observe(self, tracking: Columns) -> Array:
        """The observations, of shape (vehicles, columns); all 0 for a diverged vehicle."""
        path, states = self._path, self._fleet.states
        count = len(self._fleet)
        ahead = np.empty((count, 3 * len(self._preview)))
        curvature = np.empty(count)
        where = tracking.position, states.x, states.y, states.heading
        compiled(look_ahead)(path.points, path.closed, path.spacing, self._preview, *where, curvature, ahead)
        columns = [getattr(tracking, name) for name in _TRACKING]
        columns += [tracking.position * path.spacing, curvature, *(getattr(states, name) for name in _STATE)]
        columns += [angle for _, angle in self._steering()]
        numbers = np.concatenate([np.stack(columns, axis=1), ahead, *self._last], axis=1)
        numbers[tracking.status == DIVERGED] = 0.0
        return numbers


def look_ahead(
    points: Array,
    closed: bool,
    spacing: float,
    preview: Array,
    positions: Array,
    x: Array,
    y: Array,
    heading: Array,
    curvature: Array,
    ahead: Array,
) -> None:
    """The path's curvature at each vehicle, and its points ahead: x, y in the vehicle's own axes [m], curvature."""
    for i in range(len(x)):
        curvature[i] = value_at(points, closed, positions[i], CURVATURE)
        sine, cosine = sine_cosine(heading[i])
        for k in range(len(preview)):
            position = positions[i] + preview[k] / spacing
            point_x, point_y = point_at(points, closed, position)
            to_x, to_y = point_x - x[i], point_y - y[i]
            ahead[i, 3 * k] = cosine * to_x + sine * to_y
            ahead[i, 3 * k + 1] = cosine * to_y - sine * to_x
            ahead[i, 3 * k + 2] = value_at(points, closed, position, CURVATURE)


#: Names and units of the two columns of commands.
_COLUMNS = {ACKERMANN: (("steering angle", "rad"), ("speed", "m/s")), TWIST: (("v_x", "m/s"), ("yaw rate", "rad/s"))}


class ControllerError(FailureError):
    """A custom controller failed. The message names it, the vehicle and the time.

    Attributes:
        vehicle: The vehicle with the wrong command; None if it concerns all.
        time: Time in the run [s].
    """

    def __init__(self, message: str, time: float, vehicle: int | None = None) -> None:
        super().__init__(message)
        self.time, self.vehicle = time, vehicle


class CallbackController:
    """A function, and the check of its results."""

    def __init__(self, name: str, function: Callback, kind: CommandKind) -> None:
        """Call ``function``, which returns commands of ``kind``."""
        self.name, self._function = name, function
        self._columns = _COLUMNS[kind]

    def commands(self, observations: Array, running: Flags, time: float) -> Array:
        """The function's commands, of shape (vehicles, 2)."""
        where = f"controller '{self.name}', {len(observations)} vehicles at {time:.6g} s"
        try:
            result = self._function(observations.copy())
        except Exception as error:
            raise ControllerError(f"{where}: it raised {in_words(error)}", time) from error
        required = f"it must return commands of shape ({len(observations)}, 2): " + " and ".join(
            f"{name} [{unit}]" for name, unit in self._columns
        )
        try:
            commands = np.asarray(result, np.float64)
        except (TypeError, ValueError):
            raise ControllerError(f"{where}: it returned {type(result).__name__}; {required}", time) from None
        if commands.shape != (len(observations), 2):
            raise ControllerError(f"{where}: it returned the shape {commands.shape}; {required}", time)
        wrong = ~(abs(commands) <= MAXIMUM) & running[:, np.newaxis]
        if wrong.any():
            vehicle, column = np.argwhere(wrong)[0].tolist()
            name, unit = self._columns[column]
            raise ControllerError(
                f"controller '{self.name}', vehicle {vehicle} at {time:.6g} s: the {name} is "
                f"{commands[vehicle, column]:g}; it must be a number within +-{MAXIMUM:g} [{unit}]",
                time,
                vehicle,
            )
        return commands
