"""Many vehicles with controllers on a path."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from vds_gz.core.arrays import Array, Flags
from vds_gz.core.compiling import compiled
from vds_gz.core.errors import NUMBER, ArgumentError, ArgumentKind
from vds_gz.core.parameters.controller_parameters import ControllerParameters
from vds_gz.core.vehicle.trigonometry import sine_cosine
from vds_gz.tools.fleet.callback import COMMAND_FIELDS, CallbackController, Observations
from vds_gz.tools.fleet.controllers import (
    AnyController,
    Callback,
    ControlledVehicle,
    Controller,
    Gains,
    controlled_vehicle,
    controller_named,
)
from vds_gz.tools.fleet.fleet import AnyFleet, Fleet, whole
from vds_gz.tools.fleet.lanes import Lanes
from vds_gz.tools.fleet.layout import Columns
from vds_gz.tools.fleet.loops import LoopLanes, LoopStructs
from vds_gz.tools.fleet.path import Path
from vds_gz.tools.fleet.tracking import FINISHED, LEFT, RUNNING, STATUSES, Course, Following, Tracking, locate


class ClosedLoop:
    """Vehicles that follow a path, each with its controller; all start at rest at the path's start.

    At the start of every period the controller reads the vehicle's state, and the measures take a sample. The command
    holds until the next period. A vehicle's run ends when it reaches the end, leaves the bound or diverges; the vehicle
    then brakes with its last steering angle. Controllers take wheelbase and maximum speed when this object is made:
    make a new one after the fleet's parameters have changed.

    Attributes:
        fleet: The vehicles.
        path: The path.
        period: Time between commands [s].
        tracking: Fields as in :class:`~vds_gz.tools.fleet.tracking.Tracking`, each an array with one entry a vehicle:
            errors at the beginning of the last period, sums and peaks.
    """

    def __init__(
        self,
        fleet: AnyFleet,
        path: Path,
        controller: str | AnyController | Callback = "pure_pursuit",
        parameters: ControllerParameters | Sequence[ControllerParameters] | None = None,
        *,
        rate: float = 50.0,
        bound: float = math.inf,
        laps: int = 1,
        preview: Sequence[float] = (1.0, 2.0, 4.0),
        actions: int = 1,
    ) -> None:
        """Put the vehicles at the path's start.

        Args:
            fleet: The vehicles.
            path: The path.
            controller: ``pure_pursuit``, ``stanley`` or ``lqr``, a custom ``module:function``, a
                :class:`~vds_gz.tools.fleet.controllers.Controller`, or a function. A function gets observations of
                shape (vehicles, numbers), see :attr:`observation_names`, and returns commands of shape (vehicles, 2):
                steering angle [rad] and speed [m/s] of models that take Ackermann commands, ``v_x`` [m/s] and yaw rate
                [rad/s] of others.
            parameters: Controller parameters, one group for all or one a vehicle; None for the defaults.
            rate: Commands per second [Hz]; the fleet's step rate must be a whole multiple of it.
            bound: A vehicle whose lateral error exceeds it has left the path [m].
            laps: Number of laps of a closed path until the run is finished.
            preview: Distances ahead at which a function observes the path [m].
            actions: Number of its own last commands that a function observes.

        Raises:
            ArgumentError: The arguments contradict each other.
        """
        ArgumentKind("a vds_gz.Fleet", (Fleet,)).check("fleet", fleet)
        ArgumentKind("a vds_gz.Path, as read_path() returns it", (Path,)).check("path", path)
        for name, number in (("rate", rate), ("bound", bound), ("laps", laps), ("actions", actions)):
            NUMBER.check(name, number)
        self.fleet, self.path = fleet, path
        self._steps, self.period, self._rate = steps_of_period(1.0 / fleet.dt, rate), 1.0 / rate, rate
        if not bound > 0.0:
            raise ArgumentError(f"bound is {bound:g}; it must be greater than 0 [m]")
        if not 1 <= laps < math.inf:
            raise ArgumentError(f"laps is {laps:g}; it must be a finite number, at least 1")
        self._course = Course(path.points, path.closed, path.spacing, bound)
        self._laps = laps
        name = controller if isinstance(controller, str) else getattr(controller, "__name__", repr(controller))
        chosen = controller_named(controller) if isinstance(controller, str) else controller
        if not isinstance(chosen, Controller) and not callable(chosen):
            raise ArgumentError(f"controller is {name}; it must be a controller, the name of one, or a function")
        controlled = [
            controlled_vehicle(fleet.vehicles.model, group, self.period, path.spacing)
            for group in fleet.vehicles.parameters
        ]
        kinds = {vehicle.kind for vehicle in controlled}
        if len(kinds) > 1:
            raise ArgumentError("some vehicles take Ackermann commands and others twists; all must take the same")
        (self._kind,) = kinds
        fleet.commands.kind = self._kind
        self._callback: CallbackController | None = None
        if not isinstance(chosen, Controller):
            self._callback = CallbackController(name, chosen, self._kind)
            chosen = UNCONTROLLED
        self._control = cast(FunctionType, chosen.control)
        gains = _gains(chosen, parameters, controlled)
        vehicles = fleet.vehicles
        self._loop = LoopLanes(vehicles, gains) if isinstance(vehicles, Lanes) else LoopStructs(vehicles, gains)
        self.tracking: Columns = self._loop.tracking
        self._observations = Observations(fleet, path, self._kind, preview, actions)
        self.place()

    def __len__(self) -> int:
        """Number of vehicles."""
        return len(self.fleet)

    @property
    def time(self) -> float:
        """Time since the vehicles were placed [s]."""
        return self._periods * self.period

    @property
    def observation_names(self) -> tuple[str, ...]:
        """Names of the numbers that a function observes.

        ``lateral`` [m] and ``heading_error`` [rad] from the path, ``reference_speed`` [m/s], ``distance`` along the
        path [m], ``curvature`` of it [1/m]; of the vehicle ``v_x``, ``v_y`` [m/s], ``yaw_rate`` [rad/s], ``x``, ``y``
        [m], ``heading`` [rad], ``steering_angle`` [rad], which is that of the front axle if both steer and 0 if nothing
        steers, or in its place ``steering_angle_1``, ``steering_angle_2`` ... of swerve modules; for each distance of
        ``preview`` the path's point there in the vehicle's own axes, ``x_1m``, ``y_1m`` [m], and ``curvature_1m``
        [1/m]; the last commands, newest first, ``last_steering_angle_1`` [rad] and ``last_v_x_1`` [m/s], or
        ``last_v_x_1`` and ``last_yaw_rate_1`` [rad/s].
        """
        return self._observations.names

    def place(self, distance: ArrayLike = 0.0, lateral: ArrayLike = 0.0, heading_error: ArrayLike = 0.0) -> None:
        """Put the vehicles at rest on the path, and restart.

        Args:
            distance: From the path's start [m], one number or one a vehicle.
            lateral: To the left of the path [m].
            heading_error: From the path's heading [rad].

        Raises:
            ArgumentError: The numbers are not finite, or not as many as vehicles.
        """
        offsets = [self._each("distance", distance), self._each("lateral", lateral)]
        offsets.append(self._each("heading_error", heading_error))
        self.fleet.reset(slice(None))
        states = self.fleet.states
        positions = np.empty(len(self))
        for i, (along, aside, turned) in enumerate(zip(*offsets, strict=True)):
            x, y, heading = self.path.pose_at(along)
            sine, cosine = sine_cosine(heading)
            states.x[i], states.y[i], states.heading[i] = x - aside * sine, y + aside * cosine, heading + turned
            positions[i] = along / self.path.spacing
        self._begin(positions)

    def locate(self) -> None:
        """Restart where the vehicles are, each at the nearest point of the whole path."""
        states, positions = self.fleet.states, np.empty(len(self))
        compiled(locate_all)(self.path.points, self.path.closed, states.x, states.y, positions)
        self._begin(positions)

    def advance(self, periods: int) -> None:
        """Advance by a number of periods.

        Raises:
            ArgumentError: The number of periods is not valid.
            ControllerError: The controller is a function and failed.
        """
        periods = whole("periods", periods)
        if self._callback is None:
            self._loop.advance(self._control, self._course, self._periods, self.period, periods, self._steps)
            self._periods += periods
            return
        for _ in range(periods):
            self._loop.advance(self._control, self._course, self._periods, self.period, 1, 0)
            running = self.tracking.status == RUNNING
            commands = self._callback.commands(self._observations.observe(self.tracking), running, self.time)
            self._obey(commands, running)
            self.fleet.advance(self._steps)
            self._periods += 1

    def observe(self) -> Array:
        """The observations for a function, of shape (vehicles, numbers).

        States are the present ones; positions and errors on the path are those at the start of the last period.
        """
        return self._observations.observe(self.tracking)

    def measures(self) -> dict[str, Array]:
        """The measures of all vehicles, one number for each.

        ``path.rms`` and ``path.peak`` of the lateral error [m], ``heading.rms`` and ``heading.peak`` [rad],
        ``speed.rms`` and ``speed.peak`` of the difference from the reference speed [m/s], ``distance`` along the path
        [m]; ``finished`` and ``left``, the time at which the vehicle reached the end or left the bound [s], or NaN.
        """
        f = self.tracking
        samples = np.maximum(f.samples, 1)
        ended = np.rint(f.ended * self._rate) / self._rate  # rounded: 4.6 instead of 4.6000000000000005
        return {
            "path.rms": np.sqrt(f.lateral_square / samples),
            "path.peak": f.lateral_peak.copy(),
            "heading.rms": np.sqrt(f.heading_square / samples),
            "heading.peak": f.heading_peak.copy(),
            "speed.rms": np.sqrt(f.speed_square / samples),
            "speed.peak": f.speed_peak.copy(),
            "distance": f.position * self.path.spacing,
            "finished": np.where(f.status == FINISHED, ended, math.nan),
            "left": np.where(f.status == LEFT, ended, math.nan),
        }

    def statuses(self) -> list[str]:
        """Status of each run: running, finished, left (the bound), diverged (NaN or infinite state)."""
        return [STATUSES[status] for status in self.tracking.status.tolist()]

    def _begin(self, positions: Array) -> None:
        """Reset all measures, with the vehicles at these positions along the path."""
        self._periods = 0
        u = self.fleet.commands
        u.v_x = u.v_y = u.yaw_rate = u.steering_angle = 0.0
        self._observations.reset()
        self.tracking[:] = Tracking()
        self.tracking.position = positions
        segments = len(self.path.points) - 1
        self.tracking.goal = positions + self._laps * segments if self.path.closed else float(segments)

    def _each(self, name: str, values: ArrayLike) -> list[float]:
        """One number for each vehicle."""
        try:
            numbers = np.asarray(values, np.float64)
        except (TypeError, ValueError):
            numbers = np.array(math.nan)
        if numbers.shape not in ((), (1,), (len(self),)) or not np.isfinite(numbers).all():
            shape = f" of shape {numbers.shape}" if numbers.ndim else ""
            raise ArgumentError(f"{name} is {values!r}{shape}; it must be one finite number or {len(self)}")
        return list(np.broadcast_to(numbers, len(self)).tolist())

    def _obey(self, commands: Array, running: Flags) -> None:
        """Apply a function's commands; vehicles whose run has ended brake with their last steering angle."""
        u = self.fleet.commands
        for name, values in zip(COMMAND_FIELDS[self._kind], commands.T, strict=True):
            setattr(u, name, np.where(running, values, u.steering_angle if name == "steering_angle" else 0.0))
        self._observations.remember_commands()


def nothing(course: Course, g: Gains, s: object, f: Tracking, u: object) -> None:
    """The control of vehicles that a function commands."""


@dataclass(slots=True)
class NoGains:
    """The coefficients of vehicles that a function commands."""

    following: Following


UNCONTROLLED: AnyController = Controller(
    "", ControllerParameters, lambda p, plant: NoGains(plant.following(p)), nothing
)


def locate_all(points: Array, closed: bool, x: Array, y: Array, positions: Array) -> None:
    """Set the positions along a path that are nearest to given points."""
    for i in range(len(x)):
        positions[i] = locate(points, closed, x[i], y[i])[0]


def steps_of_period(step_rate: float, rate: float) -> int:
    """Number of steps in a controller's period."""
    if not rate > 0.0:
        raise ArgumentError(f"rate is {rate:g}; it must be greater than 0 [Hz]")
    steps = step_rate / rate
    if round(steps) < 1 or abs(steps - round(steps)) > 1e-6 * steps:
        raise ArgumentError(
            f"rate is {rate:g} Hz; the vehicles' {step_rate:g} steps per second must be a whole multiple of it"
        )
    return round(steps)


def _gains(
    controller: AnyController,
    parameters: ControllerParameters | Sequence[ControllerParameters] | None,
    controlled: Sequence[ControlledVehicle],
) -> list[Gains]:
    """Coefficients of every vehicle's controller."""
    if parameters is None:
        parameters = controller.parameters()
    groups = list(parameters) if isinstance(parameters, Sequence) else [parameters] * len(controlled)
    if len(groups) != len(controlled):
        raise ArgumentError(
            f"there are parameters of {len(groups)} controllers; there must be one or {len(controlled)}"
        )
    for group in groups:
        if not isinstance(group, controller.parameters):
            raise ArgumentError(
                f"the controller's parameters are {type(group).__name__}; they must be {controller.parameters.__name__}"
            )
    return [controller.coefficients(group, vehicle) for group, vehicle in zip(groups, controlled, strict=True)]
