"""Many vehicles driven by a recording's commands, with readings at given instants: the forward model of a fit.

Each vehicle does the whole run in one call of compiled code. Only the readings are kept, so memory grows with readings
times vehicles, not with steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vds_gz.errors import ArgumentError
from vds_gz.fleet.fleet import check_class
from vds_gz.fleet.lanes import Lanes
from vds_gz.fleet.layout import Reals, Wholes
from vds_gz.fleet.program import NARROW
from vds_gz.fleet.sampled_loops import Events, read_lanes, read_structs
from vds_gz.fleet.structs import Structs
from vds_gz.vehicle.compiled import ROOM
from vds_gz.vehicle.model import C, P, S, VehicleModel
from vds_gz.vehicle.schedule import Records


@dataclass(frozen=True)
class Readings:
    """Readings of every vehicle: each is a sum of terms, a weight times a number of the state.

    A sample between two steps is two terms with the weights ``1 - w`` and ``w``; a derivative in time is two terms with
    ``-1 / dt`` and ``1 / dt``.

    Attributes:
        steps: Step of each term, 0 for the start; they do not decrease. Shape (terms,).
        numbers: Dotted names of the state's numbers that are read, ``v_x`` or ``steering.angle``.
        number: Index into ``numbers``, of each term.
        reading: Index of the reading to which each term belongs.
        weights: Weight of each term.
        count: Number of readings.
    """

    steps: Wholes
    numbers: tuple[str, ...]
    number: Wholes
    reading: Wholes
    weights: Reals
    count: int

    def __post_init__(self) -> None:
        """Check them.

        Raises:
            ArgumentError: The terms contradict each other.
        """
        terms = [getattr(self, name) for name in ("steps", "number", "reading", "weights")]
        if any(np.shape(one) != (len(self.steps),) for one in terms):
            raise ArgumentError(
                f"the terms of readings have the shapes {[np.shape(one) for one in terms]}; all must be equal"
            )
        _check_steps("steps of readings", self.steps)
        for name, indices, end in (("number", self.number, len(self.numbers)), ("reading", self.reading, self.count)):
            if len(indices) and not 0 <= np.min(indices) <= np.max(indices) < end:
                raise ArgumentError(
                    f"'{name}' of readings is {np.min(indices)} to {np.max(indices)}; it must be 0 to {end - 1}"
                )


class Calibrations(NamedTuple):
    """Calibration of commands before they enter a vehicle, each one number or one for each vehicle.

    Attributes:
        v_x, v_y, yaw_rate, steering_angle: Factors of the commanded ones.
        steering_offset: Added to the commanded steering angle, after its factor [rad].
    """

    v_x: ArrayLike = 1.0
    v_y: ArrayLike = 1.0
    yaw_rate: ArrayLike = 1.0
    steering_angle: ArrayLike = 1.0
    steering_offset: ArrayLike = 0.0


#: Unchanged commands.
EXACT = Calibrations()


class Simulations(Generic[P, C, S]):
    """Vehicles that follow recordings' commands, one recording after the other.

    Args:
        model: The vehicle model.
        parameters: One parameter group for each vehicle.
        step_rate: Steps per second [Hz].

    Raises:
        ArgumentError: The arguments contradict each other.
    """

    def __init__(self, model: VehicleModel[P, C, S], parameters: Sequence[P], step_rate: float = 1000.0) -> None:
        if not parameters:
            raise ArgumentError("there are the parameters of 0 vehicles; give those of at least 1")
        check_class(model, parameters)
        if not 0.0 < step_rate < math.inf:
            raise ArgumentError(f"step_rate is {step_rate:g}; it must be a finite number greater than 0 [Hz]")
        self.model, self._parameters, self._dt = model, parameters, 1.0 / step_rate
        self._lanes: Lanes[P, C, S] | None = None

    def read(
        self,
        commands: Records,
        begins: Wholes,
        readings: Readings,
        calibrations: Calibrations = EXACT,
        starts: Sequence[S] | None = None,
    ) -> Reals:
        """Readings of the vehicles, all of which follow the same commands, of shape (readings, vehicles).

        Args:
            commands: Of :func:`~vds_gz.vehicle.schedule.command_records`, each the whole command that holds from its
                step on, with its gear.
            begins: Step from which each command holds; the first one is 0, and they do not decrease.
            readings: The readings.
            calibrations: Calibration of the commands.
            starts: The state of each vehicle at the start, as from ``model.at``; at rest if None.

        Raises:
            ArgumentError: The arguments contradict each other.
        """
        if len(begins) != len(commands) or not len(begins) or begins[0] != 0:
            begin = f", {begins[0]} first" if len(begins) else ""
            raise ArgumentError(
                f"there are {len(commands)} commands, which begin at {len(begins)} steps{begin}; there must be as "
                "many of both, at least 1, and the first one begins at 0"
            )
        _check_steps("steps at which commands begin", begins)
        vehicles = len(self._parameters)
        lanes = self._at_rest()
        places = np.array([lanes.place(name) for name in readings.numbers], np.int64)
        events = Events(
            commands=commands,
            begins=np.asarray(begins, np.int64),
            factors=np.stack([_each(name, value, vehicles) for name, value in calibrations._asdict().items()]),
            steps=np.asarray(readings.steps, np.int64),
            places=places[readings.number],
            readings=np.asarray(readings.reading, np.int64),
            weights=np.asarray(readings.weights, np.float64),
        )
        if starts is not None:
            if len(starts) != vehicles:
                raise ArgumentError(
                    f"there are {len(starts)} starts and {vehicles} vehicles; there must be one for each"
                )
            lanes.begin(starts)
        if isinstance(lanes, Lanes):
            return read_lanes(lanes, events, readings.count)
        return read_structs(lanes, events, readings.count)

    def _at_rest(self) -> Lanes[P, C, S] | Structs[P, C, S]:
        """The vehicles; one program of a model serves all of its vehicles, whatever their flags and dead times."""
        if not self.model.lanes:
            return Structs(self.model, self._parameters, self._dt, room=ROOM)
        if self._lanes is None:
            self._lanes = Lanes(self.model, self._parameters, self._dt, constant_flags=False, width=NARROW)
        else:
            self._lanes.reset(np.arange(len(self._parameters)))
        return self._lanes


def sampled(
    model: VehicleModel[P, C, S],
    parameters: Sequence[P],
    commands: Records,
    begins: Wholes,
    readings: Readings,
    *,
    step_rate: float = 1000.0,
    calibrations: Calibrations = EXACT,
    starts: Sequence[S] | None = None,
) -> Reals:
    """Readings of vehicles that follow one recording's commands; see :class:`Simulations`."""
    return Simulations(model, parameters, step_rate).read(commands, begins, readings, calibrations, starts)


def _each(name: str, values: ArrayLike, vehicles: int) -> Reals:
    """One number for each vehicle."""
    numbers = np.asarray(values, np.float64)
    if numbers.shape not in ((), (1,), (vehicles,)) or not np.isfinite(numbers).all():
        raise ArgumentError(
            f"'{name}' is of shape {numbers.shape}; it must be 1 finite number, or one for each of {vehicles} vehicles"
        )
    each: Reals = np.broadcast_to(numbers, vehicles).copy()
    return each


def _check_steps(name: str, steps: Wholes) -> None:
    if len(steps) and (steps[0] < 0 or (np.diff(steps) < 0).any()):
        raise ArgumentError(f"{name} must not decrease, nor be negative")
