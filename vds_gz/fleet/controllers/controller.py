"""The interface of controllers: parameters, coefficients, and the function for commands."""

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

#: Assumed maximum speed of a vehicle without a limit [m/s].
FASTEST = 50.0

P = TypeVar("P", bound=ControllerParameters)


class Gains(Protocol):
    """Fields that the coefficients of all controllers have."""

    following: Following


G = TypeVar("G", bound=Gains)


@dataclass(frozen=True, slots=True)
class ControlledVehicle:
    """The properties of a vehicle that its controller uses.

    Attributes:
        model: Name of its model.
        kind: ``ACKERMANN`` for commands of speed and steering angle, or ``TWIST`` for speed and yaw rate.
        wheel_base: Position of the steered axle along +x from the reference point [m]; 0 without one.
        max_speed: [m/s].
        period: Time between commands [s].
        spacing: Distance between the path's points [m].
    """

    model: str
    kind: CommandKind
    wheel_base: float
    max_speed: float
    period: float
    spacing: float

    def following(self, p: ControllerParameters) -> Following:
        """The coefficients that all controllers have.

        The vehicle's position is searched along the path within 1.5 times its maximum distance in a period.
        """
        fastest = min(max(self.max_speed, p.speed), MAXIMUM)
        reach = 2 + math.ceil(1.5 * fastest * self.period / self.spacing)
        steers = self.kind == ACKERMANN
        return Following(steers, self.wheel_base, reach, p.speed, or_infinite(p.lateral_acceleration))


@dataclass(frozen=True)
class Controller(Generic[P, G]):
    """A controller of parameters ``P`` and coefficients ``G``.

    Attributes:
        name: Its name in files.
        parameters: The parameter group.
        coefficients: (parameters, plant) -> the object ``g`` of the control function.
        control: (course, g, s, f, u) sets the command ``u`` by the vehicle's state ``s`` and its tracking ``f``. It
            runs in lanes: numbers and attributes, without lists.
    """

    name: str
    parameters: type[P]
    coefficients: Callable[[P, ControlledVehicle], G]
    control: Callable[[Course, G, MotionState, Tracking, Command], None]


#: A controller that is selected by name at run time.
AnyController: TypeAlias = Controller[Any, Any]


def plant_of(model: AnyModel, parameters: object, period: float, spacing: float) -> ControlledVehicle:
    """The properties of a vehicle for its controller.

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
    return ControlledVehicle(
        model.name, kind, wheel_base, limits.speed if limits.speed > 0.0 else FASTEST, period, spacing
    )


def command_curvature(c: Following, f: Tracking, u: Command, curvature: float) -> None:
    """Command the reference speed along a curvature, positive to the left [1/m].

    After the end of a run, the speed is 0 and the steering angle stays.
    """
    u.v_x = f.reference_speed
    if c.steers:
        if f.status == RUNNING:
            u.steering_angle = direction(curvature * c.wheel_base, 1.0)
    else:
        u.yaw_rate = curvature * f.reference_speed
