"""Many vehicles driven by recordings' commands, with readings at given instants: the forward model of a fit.

Each vehicle does the whole run in one call of compiled code. Only the readings are kept, so memory grows with readings
times vehicles, not with steps.

Commands take effect and readings are taken between steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vds_gz.core.arrays import Array, Integers
from vds_gz.core.errors import ArgumentError
from vds_gz.core.vehicle.command import LIMITS, Command
from vds_gz.core.vehicle.compiled import ROOM
from vds_gz.core.vehicle.schedule import Records
from vds_gz.core.vehicle.vehicle_model import C, P, S, VehicleModel
from vds_gz.tools.fleet.fleet import check_class
from vds_gz.tools.fleet.lanes import AnyLanes, Lanes
from vds_gz.tools.fleet.program import NARROW, DelayLines, Engine
from vds_gz.tools.fleet.structs import AnyStructs, Structs


class Events(NamedTuple):
    """Commands and terms of readings of all recordings, each by its step, in order.

    Every recording has the same vehicles: vehicle ``v`` of recording ``r`` is number ``r * vehicles + v``.

    Attributes:
        commands, begins: The commands, and the step at which each begins to hold; the first one of a recording begins
            at 0.
        command_ends: Of each recording, the number of commands of it and those before.
        factors: Of shape (5, vehicles of all recordings): factors of ``v_x``, ``v_y``, ``yaw_rate`` and
            ``steering_angle`` of the commands, and the offset of the steering angle [rad].
        steps: Of each term, its step.
        places: Of each term, where its number lies.
        readings: Of each term, the reading to which it is added.
        weights: Of each term.
        term_ends: Of each recording, the number of terms of it and those before.
        vehicles: Number of vehicles in each recording.
    """

    commands: Records
    begins: Integers
    command_ends: Integers
    factors: Array
    steps: Integers
    places: Integers
    readings: Integers
    weights: Array
    term_ends: Integers
    vehicles: int

    @property
    def end(self) -> int:
        """The last step with a reading."""
        return int(self.steps.max(initial=0))


def calibrate(u: Command, given: Command, factors: Array, vehicle: int) -> None:
    """Give a vehicle its own version of a command."""
    u.kind = given.kind
    u.v_x = given.v_x * factors[0, vehicle]
    u.v_y = given.v_y * factors[1, vehicle]
    u.yaw_rate = given.yaw_rate * factors[2, vehicle]
    u.steering_angle = given.steering_angle * factors[3, vehicle] + factors[4, vehicle]
    u.rear_steering_angle = given.rear_steering_angle * factors[3, vehicle]
    u.steering_rate = given.steering_rate
    u.rear_steering_rate = given.rear_steering_rate
    u.acceleration = given.acceleration
    u.accel_pedal = given.accel_pedal
    u.brake_pedal = given.brake_pedal
    u.steering_command = given.steering_command
    u.target_acceleration = given.target_acceleration
    u.gear = given.gear
    u.slope = given.slope


def begun_by(begins: Integers, entered: int, end: int, done: int) -> int:
    """Index of the first command that begins after step ``done``, or ``end``; those before ``entered`` have begun."""
    while entered < end and begins[entered] <= done:
        entered += 1
    return entered


def next_event(when: int, begins: Integers, entered: int, end: int) -> int:
    """The step of the next event: the reading at step ``when``, or the beginning of a command before it."""
    return begins[entered] if entered < end and begins[entered] < when else when


def begin_of(ends: Integers, recording: int) -> int:
    """Index of the first entry of a recording."""
    return ends[recording - 1] if recording > 0 else 0


def event_loop(engine: Engine) -> Callable[..., None]:
    """The loop of steps between commands and readings; the arguments are the events and the readings.

    Readings have the shape (readings, vehicles of a recording). A block may have vehicles of several recordings: it
    stops at the events of all of them.
    """
    steps, read_number, width, in_lanes = engine.steps, engine.read, engine.width, engine.in_lanes

    def block(
        vehicles: Any,
        reals: Array,
        delays: DelayLines,
        b: int,
        slot: int,
        arguments: tuple[Events, Array],
    ) -> None:
        c, s, u = vehicles
        events, out = arguments
        commands, begins, command_ends, factors, when, places, readings, weights, term_ends, count = events
        entered, read = np.empty(term_ends.size, np.int64), np.empty(term_ends.size, np.int64)
        origin = b * width
        first = 0 if in_lanes else b
        first_recording = origin // count
        after_last = min((origin + width - 1) // count + 1, term_ends.size)
        for r in range(first_recording, after_last):
            entered[r], read[r] = begin_of(command_ends, r), begin_of(term_ends, r)
        done, until = 0, 0
        while until >= 0:
            until = -1
            for r in range(first_recording, after_last):
                if read[r] < term_ends[r]:
                    begun = begun_by(begins, entered[r], command_ends[r], done)
                    if begun > entered[r]:
                        for i in range(max(r * count, origin), min((r + 1) * count, origin + width)):
                            calibrate(u[first + i - origin], commands[begun - 1], factors, i)
                        entered[r] = begun
                    event = next_event(when[read[r]], begins, begun, command_ends[r])
                    until = event if until < 0 or event < until else until
            if until >= 0:
                slot = steps(c, s, u, reals, delays, b, slot, until - done)
                done = until
            for r in range(first_recording, after_last):
                while read[r] < term_ends[r] and when[read[r]] == done:
                    t = read[r]
                    for i in range(max(r * count, origin), min((r + 1) * count, origin + width)):
                        number = read_number(reals, b, places[t], i - origin)
                        out[readings[t], i - r * count] += weights[t] * number
                    read[r] += 1

    return block


def read_structs(structs: AnyStructs, events: Events, count: int) -> Array:
    """``count`` readings, of shape (readings of all recordings, vehicles); see :meth:`Simulations.read`."""
    out: Array = np.zeros((events.vehicles, count)).T
    structs.execute(event_loop, events.end, (events, out))
    return out


def read_lanes(lanes: AnyLanes, events: Events, count: int) -> Array:
    """``count`` readings, of shape (readings of all recordings, vehicles); see :meth:`Simulations.read`."""
    if any((events.commands[name] < math.inf).any() for name in LIMITS):
        lanes.begin_limits()
    events = events._replace(factors=lanes.padded(events.factors).astype(np.float64, copy=False))
    out: Array = np.zeros((count, events.vehicles))
    lanes.execute(event_loop, events.end, (events, out))
    return out


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

    steps: Integers
    numbers: tuple[str, ...]
    number: Integers
    reading: Integers
    weights: Array
    count: int

    def __post_init__(self) -> None:
        """Check them.

        Raises:
            ArgumentError: The terms contradict each other.
        """
        terms = [getattr(self, name) for name in ("steps", "number", "reading", "weights")]
        if any(np.shape(term) != (len(self.steps),) for term in terms):
            raise ArgumentError(
                f"the terms of readings have shapes {[np.shape(term) for term in terms]}; all must have equal lengths"
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
        v_x, v_y, yaw_rate, steering_angle: Factors of these numbers of a command; ``steering_angle`` multiplies the
            angles of both axles.
        steering_offset: Added to the commanded angle of the front axle, after its factor [rad].
    """

    v_x: ArrayLike = 1.0
    v_y: ArrayLike = 1.0
    yaw_rate: ArrayLike = 1.0
    steering_angle: ArrayLike = 1.0
    steering_offset: ArrayLike = 0.0


#: Unchanged commands.
EXACT = Calibrations()


class SampledDrive(NamedTuple):
    """The commands that vehicles follow in one recording, and the readings.

    Attributes:
        commands: Of :func:`~vds_gz.core.vehicle.schedule.command_records`, each the whole command that holds from its
            step on, with its gear.
        begins: Step from which each command holds; the first one is 0, and they do not decrease.
        readings: The readings.
        starts: The state of each vehicle at the start, as from ``model.at``; at rest if None.
    """

    commands: Records
    begins: Integers
    readings: Readings
    starts: Sequence[Any] | None = None


class Simulations(Generic[P, C, S]):
    """Vehicles that follow recordings' commands.

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
        self._lanes: tuple[int, Lanes[P, C, S]] | None = None

    def configure(self, parameters: Sequence[P]) -> None:
        """Give the vehicles other parameters, one group for each: faster than new simulations.

        Raises:
            ArgumentError: They are not as many, or not of this model.
        """
        if len(parameters) != len(self._parameters):
            raise ArgumentError(
                f"there are the parameters of {len(parameters)} vehicles; give those of {len(self._parameters)}"
            )
        check_class(self.model, parameters)
        self._parameters = parameters
        if self._lanes is not None:
            copies, lanes = self._lanes
            lanes.configure(np.arange(copies * len(parameters)), parameters)

    def read(self, drives: Sequence[SampledDrive], calibrations: Calibrations = EXACT) -> list[Array]:
        """Readings of the vehicles in each recording, of shape (readings, vehicles).

        Args:
            drives: The recordings, which the vehicles follow side by side.
            calibrations: Calibration of the commands.

        Raises:
            ArgumentError: The arguments contradict each other.
        """
        vehicles = len(self._parameters)
        for drive in drives:
            _check(drive, vehicles)
        lanes = self._at_rest(len(drives))
        factors = [_each(name, value, vehicles) for name, value in calibrations._asdict().items()]
        readings = [drive.readings for drive in drives]
        ends = np.cumsum([read.count for read in readings])
        counts = [len(read.steps) for read in readings]
        events = Events(
            commands=np.concatenate([drive.commands for drive in drives]),
            begins=_joined([drive.begins for drive in drives]),
            command_ends=np.cumsum([len(drive.begins) for drive in drives]),
            factors=np.tile(np.stack(factors), len(drives)),
            steps=_joined([read.steps for read in readings]),
            places=_joined([np.array([*map(lanes.place, read.numbers)], np.int64)[read.number] for read in readings]),
            readings=_joined([read.reading for read in readings]) + np.repeat(np.append(0, ends[:-1]), counts),
            weights=np.concatenate([np.asarray(read.weights, np.float64) for read in readings]),
            term_ends=np.cumsum(counts),
            vehicles=vehicles,
        )
        moving = [k for k, drive in enumerate(drives) if drive.starts is not None]
        if moving:
            starts = [start for drive in drives for start in drive.starts or ()]
            lanes.begin(starts, np.concatenate([k * vehicles + np.arange(vehicles) for k in moving]))
        count = int(ends[-1])
        numbers = read_lanes(lanes, events, count) if isinstance(lanes, Lanes) else read_structs(lanes, events, count)
        return np.split(numbers, ends[:-1])

    def _at_rest(self, copies: int) -> Lanes[P, C, S] | Structs[P, C, S]:
        """Copies of the vehicles at rest; one program of a model serves all flags and dead times."""
        if not self.model.lanes:
            return Structs(self.model, self._parameters, self._dt, room=ROOM, copies=copies)
        if self._lanes is None or self._lanes[0] != copies:
            lanes = Lanes(self.model, self._parameters, self._dt, constant_flags=False, width=NARROW, copies=copies)
            self._lanes = copies, lanes
        else:
            self._lanes[1].reset(np.arange(copies * len(self._parameters)))
        return self._lanes[1]


def _check(drive: SampledDrive, vehicles: int) -> None:
    """Refuse a recording whose parts contradict each other."""
    commands, begins, _, starts = drive
    if len(begins) != len(commands) or not len(begins) or begins[0] != 0:
        begin = f", {begins[0]} first" if len(begins) else ""
        raise ArgumentError(
            f"there are {len(commands)} commands, which begin at {len(begins)} steps{begin}; there must be one step "
            "for each command, at least 1, and the first one must be 0"
        )
    _check_steps("steps at which commands begin", begins)
    if starts is not None and len(starts) != vehicles:
        raise ArgumentError(f"there are {len(starts)} starts and {vehicles} vehicles; there must be one for each")


def _joined(parts: Sequence[Integers]) -> Integers:
    return np.concatenate([np.asarray(part, np.int64) for part in parts])


def _each(name: str, values: ArrayLike, vehicles: int) -> Array:
    """One number for each vehicle."""
    numbers = np.asarray(values, np.float64)
    if numbers.shape not in ((), (1,), (vehicles,)) or not np.isfinite(numbers).all():
        raise ArgumentError(
            f"calibration '{name}' is {values!r}; it must be 1 finite number, or one for each of {vehicles} vehicles"
        )
    per_vehicle: Array = np.broadcast_to(numbers, vehicles).copy()
    return per_vehicle


def _check_steps(name: str, steps: Integers) -> None:
    if len(steps) and (steps[0] < 0 or (np.diff(steps) < 0).any()):
        raise ArgumentError(f"{name} must not decrease, nor be negative")
