"""Many vehicles driven by a recording's commands, with readings at given instants: the forward model of a fit.

Each vehicle does the whole run in one call of compiled code. Only the readings are kept, so memory grows with readings
times vehicles, not with steps.

Commands begin and numbers are read between the steps of the compiled programs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from types import FunctionType
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vds_gz.compiling import outermost, part
from vds_gz.errors import ArgumentError
from vds_gz.fleet.fleet import check_class
from vds_gz.fleet.lanes import AnyLanes, Lanes
from vds_gz.fleet.layout import Reals, Wholes
from vds_gz.fleet.program import NARROW, NO_EXCEPTIONS, Blocks, DelayLines, blocks_of, inlined, load, share
from vds_gz.fleet.structs import AnyStructs, Structs
from vds_gz.vehicle.command import Command
from vds_gz.vehicle.compiled import ROOM
from vds_gz.vehicle.model import C, P, S, VehicleModel
from vds_gz.vehicle.schedule import Records


class Events(NamedTuple):
    """Commands and terms of readings, each by its step, in order.

    Attributes:
        commands, begins: So many steps are done when each command begins to hold, none when the first one does.
        factors: Of shape (5, vehicles): those of ``v_x``, ``v_y``, ``yaw_rate`` and ``steering_angle`` of the commands,
            and what is added to the last one [rad].
        steps: Of each term, so many steps are done.
        places: Of each term, where its number lies.
        readings: Of each term, the reading to which it is added.
        weights: Of each term.
    """

    commands: Records
    begins: Wholes
    factors: Reals
    steps: Wholes
    places: Wholes
    readings: Wholes
    weights: Reals

    @property
    def end(self) -> int:
        """The last step that anybody reads."""
        return int(self.steps[-1]) if len(self.steps) else 0


def calibrate(u: Command, given: Command, factors: Reals, vehicle: int) -> None:
    """Give a vehicle its own version of a command."""
    u.kind = given.kind
    u.v_x = given.v_x * factors[0, vehicle]
    u.v_y = given.v_y * factors[1, vehicle]
    u.yaw_rate = given.yaw_rate * factors[2, vehicle]
    u.steering_angle = given.steering_angle * factors[3, vehicle] + factors[4, vehicle]
    u.steering_rate = given.steering_rate
    u.acceleration = given.acceleration
    u.accel_pedal = given.accel_pedal
    u.brake_pedal = given.brake_pedal
    u.steering_command = given.steering_command
    u.target_acceleration = given.target_acceleration
    u.gear = given.gear
    u.slope = given.slope


def begun_by(begins: Wholes, entered: int, done: int) -> int:
    """How many commands have begun when so many steps are done; ``entered`` of them had before."""
    while entered < begins.size and begins[entered] <= done:
        entered += 1
    return entered


def next_event(when: int, begins: Wholes, entered: int) -> int:
    """The steps that are done when a number is read or the next command begins, whatever is first."""
    return begins[entered] if entered < begins.size and begins[entered] < when else when


def read_structs(structs: AnyStructs, events: Events, count: int) -> Reals:
    """So many readings of vehicles, of shape (readings, vehicles); see :func:`vds_gz.fleet.sampled.sampled`."""
    run = sampled_run_of_structs(structs.model.step, structs.model.set_references)
    arrays = tuple(array.view(np.ndarray) for array in structs.arrays)
    vehicles = len(structs.parameters)
    out: Reals = np.zeros((vehicles, count))
    numbers: Reals = arrays[1].view(np.float64).reshape(vehicles, -1)
    share(partial(run, *arrays, numbers, events, out), vehicles, vehicles * events.end)
    read: Reals = out.transpose()
    return read


@cache
def sampled_run_of_structs(step: FunctionType, set_references: FunctionType) -> Any:
    """``run(c, s, u, numbers, ...)``: some vehicles through all events; arrays have one record a vehicle.

    ``numbers`` are the states as rows of reals, of which ``places`` are columns; ``out`` has the shape (vehicles,
    readings).
    """
    step_once, refer, command, begun_at, next_at = (
        part(one, error_model=NO_EXCEPTIONS) for one in (step, set_references, calibrate, begun_by, next_event)
    )

    def run(
        c: Records, s: Records, u: Records, numbers: Reals, events: Events, out: Reals, first: int, end: int
    ) -> None:
        commands, begins, factors, when, places, readings, weights = events
        for i in range(first, end):
            done, entered, read = 0, 0, 0
            while read < when.size:
                begun = begun_at(begins, entered, done)
                if begun > entered:
                    command(u[i], commands[begun - 1], factors, i)
                    refer(c[i], s[i], u[i])
                    entered = begun
                until = next_at(when[read], begins, entered)
                for _ in range(until - done):
                    step_once(c[i], s[i], u[i])
                done = until
                while read < when.size and when[read] == done:
                    out[i, readings[read]] += weights[read] * numbers[i, places[read]]
                    read += 1

    return outermost(run, error_model=NO_EXCEPTIONS, nogil=True, no_cfunc_wrapper=True)


def read_lanes(lanes: AnyLanes, events: Events, count: int) -> Reals:
    """So many readings of vehicles, of shape (readings, vehicles); see :func:`vds_gz.fleet.sampled.sampled`."""
    if any((events.commands[name] < math.inf).any() for name in ("acceleration", "steering_rate")):
        lanes.begin_limits()
    events = events._replace(factors=lanes.padded(events.factors).astype(np.float64, copy=False))
    out: Reals = np.zeros((count, events.factors.shape[1]))
    run = sampled_run_of_lanes(blocks_of(*lanes.phases, lanes.plan))
    lanes.execute(run, lanes.plan.rows, events.end, events, out)
    return out[:, : len(lanes.parameters)]


@cache
def sampled_run_of_lanes(blocks: Blocks) -> Any:
    """The program of :func:`~vds_gz.fleet.program.lanes_run` with a loop over events around the steps.

    ``places`` are rows of a block; ``out`` has the shape (readings, vehicles of all blocks). States are not kept.
    """
    steps, u, width = blocks.steps, blocks.u, blocks.width
    fetch, command, begun_at, next_at = (inlined(one) for one in (load, calibrate, begun_by, next_event))

    def run(
        block: Reals, numbers: Reals, delays: DelayLines, at: int, first: int, end: int, events: Events, out: Reals
    ) -> None:
        commands, begins, factors, when, places, readings, weights = events
        for b in range(first, end):
            fetch(block, 0, numbers, b, width)
            slot, done, entered, read = at, 0, 0, 0
            while read < when.size:
                begun = begun_at(begins, entered, done)
                if begun > entered:
                    for i in range(width):
                        command(u(block, i), commands[begun - 1], factors, b * width + i)
                    entered = begun
                until = next_at(when[read], begins, entered)
                slot = steps(block, b, delays, slot, until - done)
                done = until
                while read < when.size and when[read] == done:
                    for i in range(width):
                        out[readings[read], b * width + i] += weights[read] * block[places[read] * width + i]
                    read += 1

    return outermost(run, error_model=NO_EXCEPTIONS, nogil=True, no_cfunc_wrapper=True)


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
