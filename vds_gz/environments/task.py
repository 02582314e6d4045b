"""The interface of tasks: start of episodes, observations, and results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from vds_gz.core.arrays import Array, Flags, Floats, Indices
from vds_gz.core.configuration import load_parameters
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import ACKERMANN, TWIST, CommandKind
from vds_gz.core.vehicle.vehicle_model import AnyModel
from vds_gz.tools.fleet.layout import BaseLinks

#: The infos and options of Gymnasium's methods.
Info = dict[str, Any]

#: Options of compiled functions: functions that they call are inlined, and division by zero raises no exception.
OPTIONS = {"inlined": True, "error_model": "numpy"}


class ObservedNumber(NamedTuple):
    """An observed number and its bounds."""

    name: str
    low: float
    high: float


class Judged(NamedTuple):
    """Results of environments, an entry for each."""

    errors: Array  # squares of the error, in units of the error at which the reward has fallen to 1/e
    ended: Flags  # the episode is over
    successes: Flags  # the task is done


class PictureArea(NamedTuple):
    """The part of the plane that a picture shows: its centre, and the distance from there to its sides [m]."""

    x: float
    y: float
    half: float


class Task(Protocol):
    """A task, of many environments."""

    observed: tuple[ObservedNumber, ...]  # its numbers, the first columns of the observations
    random_numbers: int  # number of random numbers of an episode
    max_speed: float  # speed for an action of 1 [m/s]

    def begin(self, indices: Indices, random: Array) -> tuple[Array, Array, Array]:
        """Begin episodes of some environments.

        Args:
            indices: Their indices.
            random: Numbers within [0, 1), of shape (len(indices), random_numbers).

        Returns:
            Poses of base_link [m, m, rad].
        """

    def judge(self, indices: Indices, motion: BaseLinks, observations: Floats) -> Judged:
        """The results of some environments, from the motion of all; fills the first columns of the observations."""

    def scenery(self) -> list[Array]:
        """Lines of a picture, each of shape (points, 2) [m]."""

    def view(self, x: float, y: float) -> PictureArea:
        """The area of a picture of a vehicle at a place [m]."""


#: The name of a preset, a parameter file, or parameters, of a vehicle or of its node.
SomeVehicle: TypeAlias = "str | Path | NodeParameters | ParameterGroup"

#: Maximum steering angle for an action of 1 [rad].
ROUND = 1.5


@dataclass(frozen=True)
class NominalVehicle:
    """A nominal vehicle and its commands."""

    model: AnyModel
    vehicle: ParameterGroup
    step_rate: float  # steps per second [Hz]
    size: float  # distance between its axles, or between the wheels of its only axle [m]
    kind: CommandKind  # kind of its commands
    inputs: tuple[str, ...]  # fields of a command that an action sets, in this order; the speed is the second one
    # meaning of 1 as the first number of an action: a steering angle [rad], or a yaw rate [rad/s] per unit of maximum
    # speed [1/m]
    turn: float

    def scales(self, max_speed: float) -> tuple[float, ...]:
        """Meaning of 1 for each number of an action."""
        turn = self.turn if self.kind == ACKERMANN else self.turn * max_speed
        return turn, *(max_speed for _ in self.inputs[1:])

    @property
    def holonomic(self) -> bool:
        """Whether it moves laterally too."""
        return len(self.inputs) > 2

    def speed_within(self, speed: float) -> float:
        """A speed, or the vehicle's maximum if that is less [m/s]."""
        limit = self.model.limits(self.vehicle).speed
        return min(speed, limit) if limit > 0.0 else speed


def nominal_vehicle(source: SomeVehicle) -> NominalVehicle:
    """The nominal vehicle of a source, with the commands that an environment gives it."""
    model, vehicle, step_rate = _chosen(source)
    geometry = model.geometry(vehicle)
    size = geometry.wheel_base or 2.0 * geometry.yaw_arm
    if ACKERMANN in model.accepts and geometry.signed_wheel_base:
        turn = model.limits(vehicle).steering or ROUND
        return NominalVehicle(model, vehicle, step_rate, size, ACKERMANN, ("steering_angle", "v_x"), min(turn, ROUND))
    if TWIST in model.accepts:
        inputs = ("yaw_rate", "v_x", "v_y") if geometry.holonomic else ("yaw_rate", "v_x")
        return NominalVehicle(model, vehicle, step_rate, size, TWIST, inputs, 1.0 / (geometry.default_yaw_arm or size))
    raise ArgumentError(
        f"vehicle {source!r}: model '{model.name}' takes no twist, and no Ackermann command with a steered and a fixed "
        "axle; an environment needs one of them"
    )


def _chosen(source: SomeVehicle) -> tuple[AnyModel, ParameterGroup, float]:
    """Model, parameters and steps per second [Hz]."""
    if isinstance(source, (str, Path)):
        source = load_parameters(source)
    if isinstance(source, NodeParameters):
        return models()[source.model], source.vehicle, source.step_rate
    model = next((model for model in models().values() if model.parameters is type(source)), None)
    if model is None:
        raise ArgumentError(
            f"vehicle is {source!r}; it must be the name of a preset, a parameter file, or parameters of a vehicle, "
            "such as vds_gz.BicycleParameters()"
        )
    return model, source, NodeParameters().step_rate
