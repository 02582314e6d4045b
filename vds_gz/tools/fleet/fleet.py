"""Many vehicles of one model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Generic, TypeAlias

import numpy as np

from vds_gz.core.errors import NUMBER, ArgumentError, ArgumentKind
from vds_gz.core.vehicle.vehicle import MODEL
from vds_gz.core.vehicle.vehicle_model import C, P, S, VehicleModel
from vds_gz.tools.fleet.lanes import Lanes
from vds_gz.tools.fleet.layout import Columns, Some, list_lengths
from vds_gz.tools.fleet.structs import Structs


class Fleet(Generic[P, C, S]):
    """Many vehicles of one model, each with its own parameters, stepped together on all cores.

    Attributes:
        dt: Length of a step [s].
        vehicles: The vehicles, with their ``model`` and ``parameters``.
    """

    def __init__(self, model: VehicleModel[P, C, S], parameters: Sequence[P], *, step_rate: float = 1000.0) -> None:
        """Put all vehicles at rest at the origin.

        Args:
            model: The vehicle model.
            parameters: One parameter group a vehicle.
            step_rate: Steps per second [Hz].

        Raises:
            ArgumentError: There is no vehicle, or an argument is not valid.
        """
        MODEL.check("model", model)
        ArgumentKind("a list of parameter groups", (list, tuple)).check("parameters", parameters)
        NUMBER.check("step_rate", step_rate)
        if not parameters:
            raise ArgumentError("the fleet has 0 vehicles; give the parameters of at least 1")
        if not 0.0 < step_rate < math.inf:
            raise ArgumentError(f"step_rate is {step_rate:g}; it must be a finite number greater than 0 [Hz]")
        check_class(model, parameters)
        self.dt = 1.0 / step_rate
        self._count = len(parameters)
        self.vehicles = (Lanes if model.lanes else Structs)(model, parameters, self.dt)

    def __len__(self) -> int:
        """Number of vehicles."""
        return self._count

    @property
    def states(self) -> Columns:
        """Fields as in the model's state, each an array with one entry a vehicle; delay lines are left out."""
        return self.vehicles.states

    @property
    def commands(self) -> Columns:
        """Fields as in :class:`~vds_gz.core.vehicle.command.Command`.

        ``fleet.commands.v_x = 1.0`` sets all, ``fleet.commands[3] = twist(1.0, 0.0, 0.3)`` one vehicle's. They hold
        until they are set again: arrays have no times of arrival, so there is no time-out as in
        :class:`~vds_gz.core.vehicle.vehicle.Vehicle`.
        """
        return self.vehicles.commands

    def advance(self, steps: int) -> None:
        """Do a number of steps with every vehicle's present command.

        Raises:
            ArgumentError: The number of steps is not valid.
        """
        self.vehicles.advance(whole("steps", steps))

    def state(self, vehicle: int) -> S:
        """A copy of one vehicle's state as the model's own object, with its delay lines."""
        return self.vehicles.state(self._index(vehicle))

    def set_state(self, vehicle: int, state: S) -> None:
        """Give one vehicle a copy of a state of the same dead times.

        Raises:
            ArgumentError: The state is another model's, or has other dead times.
        """
        index = self._index(vehicle)
        present = self.vehicles.state(index)
        if type(state) is not type(present):
            raise ArgumentError(
                f"the state of vehicle {index} is given as {type(state).__name__}; it must be {type(present).__name__}"
            )
        lengths = list_lengths(state)
        for name, length in list_lengths(present).items():
            if lengths[name] != length:
                raise ArgumentError(
                    f"the state for vehicle {index} has {lengths[name]} entries in '{name}'; it must have {length}, by "
                    "the vehicle's parameters"
                )
        self.vehicles.begin([state], np.array([index]))

    def reset(self, some: Some, parameters: Sequence[P] | None = None) -> None:
        """Put some vehicles at rest at the origin, with their present or new parameters; the others are not touched.

        Args:
            some: An index, a slice, a mask or indices.
            parameters: New parameters, one group for each of these vehicles; None keeps the present ones. A dead time
                longer than all before replaces ``states`` of a fleet that does not run in lanes: read it again.

        Raises:
            ArgumentError: There are not as many parameters as vehicles, or vehicles with them cannot be in this fleet.
        """
        vehicles = np.atleast_1d(np.arange(self._count)[some])
        if parameters is not None:
            if len(parameters) != len(vehicles):
                raise ArgumentError(
                    f"there are parameters of {len(parameters)} vehicles; give those of {len(vehicles)}"
                )
            check_class(self.vehicles.model, parameters)
            self.vehicles.configure(vehicles, parameters)
        self.vehicles.reset(vehicles)

    def _index(self, vehicle: int) -> int:
        """A vehicle's index, counted from the end where it is negative."""
        if not -self._count <= vehicle < self._count:
            raise IndexError(f"there is no vehicle {vehicle}; the fleet has {self._count}, counted from 0")
        return vehicle % self._count


def whole(name: str, number: int) -> int:
    """A number of steps or periods, checked."""
    if not isinstance(number, (int, np.integer)) or number < 0:
        raise ArgumentError(f"{name} is {number!r}; it must be a whole number, at least 0")
    return int(number)


def check_class(model: VehicleModel[P, C, S], parameters: Sequence[P]) -> None:
    """Refuse parameters of another model."""
    for k, group in enumerate(parameters):
        if not isinstance(group, model.parameters):
            raise ArgumentError(
                f"the parameters at {k} are {type(group).__name__}; vehicle model '{model.name}' has "
                f"{model.parameters.__name__}"
            )


#: A fleet whose model was chosen by its name.
AnyFleet: TypeAlias = Fleet[Any, Any, Any]
