"""What every controller gives: its parameters, its coefficients, its command."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from vds_gz.errors import ArgumentError
from vds_gz.fleet.tracking import RUNNING, Course, Following, Tracking
from vds_gz.parameters.controllers import ControllerParameters
from vds_gz.vehicle.actuators import or_infinite
from vds_gz.vehicle.command import ACKERMANN, MAXIMUM, TWIST, Command, CommandKind
from vds_gz.vehicle.model import AnyModel, MotionState
from vds_gz.vehicle.trigonometry import direction

#: What a vehicle without a limit of speed is taken to reach [m/s].
FASTEST = 50.0

P = TypeVar("P", bound=ControllerParameters)


class Gains(Protocol):
    """What the coefficients of every controller have."""

    following: Following


G = TypeVar("G", bound=Gains)


@dataclass(frozen=True, slots=True)
class Plant:
    """What a controller knows of the vehicle that it drives.

    Attributes:
        model: Name of its model.
        kind: ``ACKERMANN``, where its commands are speed and steering angle, or ``TWIST``, speed and yaw rate.
        wheel_base: Position of the steered axle along +x from the reference point [m]; 0 without one.
        max_speed: [m/s].
        period: From one command to the next [s].
        spacing: Of the path's points [m].
    """

    model: str
    kind: CommandKind
    wheel_base: float
    max_speed: float
    period: float
    spacing: float

    def following(self, p: ControllerParameters) -> Following:
        """What every controller has in its coefficients.

        The vehicle is searched as far along the path as it can drive in a period, and half as far again.
        """
        fastest = min(max(self.max_speed, p.speed), MAXIMUM)
        reach = 2 + math.ceil(1.5 * fastest * self.period / self.spacing)
        steers = self.kind == ACKERMANN
        return Following(steers, self.wheel_base, reach, p.speed, or_infinite(p.lateral_acceleration))


@dataclass(frozen=True)
class Controller(Generic[P, G]):
    """A controller of parameters ``P`` and coefficients ``G``.

    Attributes:
        name: What selects it.
        parameters: The parameter group.
        coefficients: (parameters, plant) -> the object ``g`` of the control function.
        control: (course, g, s, f, u) sets the command ``u`` by the vehicle's state ``s`` and where it is on its path,
            ``f``. It runs in lanes: numbers and attributes, and without lists.
    """

    name: str
    parameters: type[P]
    coefficients: Callable[[P, Plant], G]
    control: Callable[[Course, G, MotionState, Tracking, Command], None]


#: A controller that was chosen by its name when the program runs.
AnyController: TypeAlias = Controller[Any, Any]


def plant_of(model: AnyModel, parameters: object, period: float, spacing: float) -> Plant:
    """What controllers know of a vehicle.

    Raises:
        ArgumentError: The model takes neither speed and steering angle nor a velocity.
    """
    kind = next((one for one in (ACKERMANN, TWIST) if one in model.accepts), None)
    if kind is None:
        raise ArgumentError(
            f"vehicle model '{model.name}' takes no Ackermann command and no twist, so no controller can drive it"
        )
    geometry, limits = model.geometry(parameters), model.limits(parameters)
    steered, fixed = ([wheel.x for wheel in geometry.wheels if wheel.steered is turns] for turns in (True, False))
    wheel_base = math.copysign(geometry.wheel_base, steered[0] - fixed[0]) if steered and fixed else 0.0
    return Plant(model.name, kind, wheel_base, limits.speed if limits.speed > 0.0 else FASTEST, period, spacing)


def command_curvature(c: Following, f: Tracking, u: Command, curvature: float) -> None:
    """Command the reference speed along a curvature, positive to the left [1/m].

    A run that has ended gets speed 0 and the steering angle that it had.
    """
    u.v_x = f.reference_speed
    if c.steers:
        if f.status == RUNNING:
            u.steering_angle = direction(curvature * c.wheel_base, 1.0)
    else:
        u.yaw_rate = curvature * f.reference_speed
