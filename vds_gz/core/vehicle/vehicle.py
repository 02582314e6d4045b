"""Simulates one vehicle in fixed time steps, and queues its commands."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from random import Random
from typing import Any, Generic, NamedTuple, TypeAlias

from vds_gz.core.errors import NUMBER, ArgumentError, ArgumentKind
from vds_gz.core.geometry import Pose
from vds_gz.core.vehicle.command import ACKERMANN, DRIVE, KEEP_GEAR, KINDS, NEVER, Command, fault, timed_out
from vds_gz.core.vehicle.trigonometry import sine_cosine
from vds_gz.core.vehicle.vehicle_model import C, MotionState, P, S, StepCoefficients, VehicleModel

NANOSECONDS = 1_000_000_000

#: In place of an expiry, once it has passed; later than every other [ns].
_EXPIRED = 2 * NEVER - 1

#: Arguments of :class:`Vehicle`.
MODEL = ArgumentKind("a vehicle model, such as vds_gz.BICYCLE or one of vds_gz.models()", (VehicleModel,))
COMMAND = ArgumentKind("a command, as vds_gz.twist() or vds_gz.ackermann() make it", (Command,))


class TimedCommand(NamedTuple):
    """A command, its arrival and its expiry [ns]. A tuple, because there are very many.

    ``sent`` is the arrival without a random delay.
    """

    command: Command
    arrived: int
    expires: int
    sent: int = 0


class CommandQueue:
    """Commands in order of arrival, and the present one.

    The latest arrival wins. Speed and steering angle may arrive separately, each with its own time-out, after which
    :func:`~vds_gz.core.vehicle.command.timed_out` replaces it. A gear holds until the next one.

    Attributes:
        next_change: Time of the first change after the last call of :meth:`at` [ns].
    """

    def __init__(self) -> None:
        self._waiting: deque[TimedCommand] = deque()
        self.clear()

    def clear(self) -> None:
        """Discard everything, as when time jumps back."""
        self._waiting.clear()
        self._current = Command()
        self._speed_until = self._steering_until = _EXPIRED
        self._gear: int = DRIVE
        self._holding = Command()
        self.next_change = NEVER

    @property
    def waits(self) -> bool:
        """Whether there are commands that have not arrived yet."""
        return bool(self._waiting)

    def enter(self, timed: TimedCommand) -> None:
        """Add a command. An arrival before that of the previous command counts as simultaneous."""
        if self._waiting and timed.arrived < self._waiting[-1].arrived:
            timed = timed._replace(arrived=self._waiting[-1].arrived)
        self._waiting.append(timed)
        self.next_change = min(self.next_change, timed.arrived)

    def limit_delay(self, longest: int) -> None:
        """Let no waiting command arrive more than ``longest`` [ns] after it was sent; their order stays."""
        arrived = 0
        for place, timed in enumerate(self._waiting):
            arrived = max(arrived, min(timed.arrived, timed.sent + longest))
            self._waiting[place] = timed._replace(arrived=arrived)
        if self._waiting:
            self.next_change = min(self.next_change, self._waiting[0].arrived)

    def expire_later(self, by: int) -> None:
        """Move the time-outs of all commands, the present one too, by some time [ns]; a negative time: earlier."""
        self._waiting = deque(timed._replace(expires=timed.expires + by) for timed in self._waiting)
        if self._speed_until != _EXPIRED:
            self._speed_until += by
        if self._steering_until != _EXPIRED:
            self._steering_until += by
        arrival = self._waiting[0].arrived if self._waiting else NEVER
        self.next_change = min(self._speed_until, self._steering_until, arrival)

    def at(self, time: int) -> Command:
        """The command that holds at ``time`` [ns]; times must not decrease from call to call."""
        if time < self.next_change:
            return self._holding
        while self._waiting and self._waiting[0].arrived <= time:
            command, _, expires, _ = self._waiting.popleft()
            kind = KINDS[command.kind]
            if kind.part == "whole":
                self._current = self._in_gear(command) if kind.geared else command
                self._speed_until = self._steering_until = expires
            elif kind.part == "gear":
                self._gear = command.gear
                self._current = replace(self._current, gear=self._gear)
            else:
                half = {name: getattr(command, name) for name in kind.fields}
                self._current = replace(self._ackermann(), **half)
                if kind.part == "speed":
                    self._speed_until = expires
                else:
                    self._steering_until = expires
        if self._speed_until <= time:
            self._speed_until = _EXPIRED
            self._current = timed_out(self._current, "speed")
        if self._steering_until <= time:
            self._steering_until = _EXPIRED
            self._current = timed_out(self._current, "steering")
        self._holding = self._current
        arrival = self._waiting[0].arrived if self._waiting else NEVER
        self.next_change = min(self._speed_until, self._steering_until, arrival)
        return self._holding

    def _in_gear(self, command: Command) -> Command:
        """The command with the gear that holds."""
        if command.gear != KEEP_GEAR:
            self._gear = command.gear
        return replace(command, gear=self._gear)

    def _ackermann(self) -> Command:
        """The current command as an Ackermann command, so that its speed or its steering can be replaced."""
        if self._current.kind == ACKERMANN:
            return self._current
        self._speed_until = self._steering_until = _EXPIRED
        return Command(ACKERMANN)


@dataclass(frozen=True, slots=True)
class Motion:
    """Pose [m, m, rad] and velocity in the vehicle's own axes [m/s, m/s, rad/s] of base_link."""

    x: float
    y: float
    heading: float
    v_x: float
    v_y: float
    yaw_rate: float

    @property
    def pose(self) -> Pose:
        """The pose alone."""
        return Pose(self.x, self.y, self.heading)

    def at_rest(self) -> Motion:
        """The same pose, at rest."""
        return replace(self, v_x=0.0, v_y=0.0, yaw_rate=0.0)


def motion_of(c: StepCoefficients, s: MotionState) -> Motion:
    """Pose and velocity of base_link, from a model's coefficients and state."""
    return Motion(*motion_numbers(c, s))


def motion_numbers(c: StepCoefficients, s: MotionState) -> tuple[float, float, float, float, float, float]:
    """The numbers of :func:`motion_of`, also for compiled code."""
    offset = c.base_link_offset
    sine, cosine = sine_cosine(s.heading)
    return s.x + offset * cosine, s.y + offset * sine, s.heading, s.v_x, s.v_y + offset * s.yaw_rate, s.yaw_rate


class Vehicle(Generic[P, C, S]):
    """A model with its state, its commands and its time.

    The state changes in whole steps only. A command acts from the first step that begins at its arrival or later. So
    results depend on when commands arrive, but not on how often :meth:`advance` is called.

    Attributes:
        state: The state of the model. That of a compiled vehicle is a copy: assign it to change the vehicle.
    """

    state: S

    def __init__(
        self,
        model: VehicleModel[P, C, S],
        parameters: P,
        *,
        step_rate: float = 1000.0,
        max_command_age: float = 1.0,
        dead_time_jitter: float = 0.0,
        seed: int = 0,
        start: int = 0,
        moves: bool = True,
    ) -> None:
        """Put a vehicle at rest at the origin.

        Args:
            model: The vehicle model.
            parameters: Its parameter group.
            step_rate: Steps per second of simulated time [Hz].
            max_command_age: Age at which zero or a stop replaces a command [s]; ``math.inf`` for never.
            dead_time_jitter: Maximum additional delay of a command [s], as on a radio link. The delay of each command
                is random, uniformly distributed; no command overtakes another.
            seed: Seed of these delays.
            start: Start time [ns].
            moves: Whether the model moves the vehicle. If false, Gazebo does, and the model only moves actuators and
                wheels.

        Raises:
            ArgumentError: An argument has a wrong type, or the step rate is not allowed.
        """
        MODEL.check("model", model)
        ArgumentKind(f"{model.parameters.__name__}, as model '{model.name}' has them", (model.parameters,)).check(
            "parameters", parameters
        )
        NUMBER.check("step_rate", step_rate)
        if not 0.0 < step_rate < math.inf:
            raise ArgumentError(
                f"argument 'step_rate' is {step_rate:g}; it must be a finite number greater than 0 [Hz]"
            )
        for name, number in (
            ("max_command_age", max_command_age),
            ("dead_time_jitter", dead_time_jitter),
            ("seed", seed),
            ("start", start),
        ):
            NUMBER.check(name, number)
        self.model = model
        self.parameters = parameters
        self.step_rate = step_rate
        self.max_command_age = max_command_age
        self.dead_time_jitter = dead_time_jitter
        self._seed = seed
        self._random = Random(seed)
        self._step = model.step if moves else model.actuate
        self.coefficients = model.coefficients(parameters, 1.0 / step_rate)
        self.state = model.at_rest(self.coefficients)
        self.start = start
        self.steps = 0
        self._queue = CommandQueue()

    @property
    def time(self) -> int:
        """The vehicle's present time: the end of its last step [ns]."""
        return self.time_of(self.steps)

    @property
    def command(self) -> Command:
        """The command that holds at the vehicle's present time."""
        return self._queue.at(self.time)

    def time_of(self, steps: int) -> int:
        """The time at the end of a number of steps since the start [ns]."""
        return self.start + round(steps * NANOSECONDS / self.step_rate)

    def steps_until(self, time: int) -> int:
        """The number of steps since the start that have ended by ``time`` [ns]."""
        steps = math.floor((time - self.start) * self.step_rate / NANOSECONDS)
        if self.time_of(steps) > time:
            return steps - 1
        return steps + 1 if self.time_of(steps + 1) <= time else steps

    def enter(self, command: Command, time: int, stamp: int | None = None) -> None:
        """Give the vehicle a command, which holds until the next one or its time-out, ``max_command_age``.

        Args:
            command: The command.
            time: Arrival of the command [ns]; a command from the past acts from the next step.
            stamp: Time from which the command ages [ns], at most its arrival, which is the default.

        Raises:
            ArgumentError: A number of the command is not finite or too large, a limit negative, or a gear unknown.
        """
        if not isinstance(command, Command):
            COMMAND.check("command", command)
        if type(time) is not int:
            NUMBER.check("time", time)
        reason = fault(command)
        if reason:
            raise ArgumentError(reason)
        origin, arrival = time if stamp is None else min(stamp, time), time
        if self.dead_time_jitter > 0.0:
            time += round(self._random.random() * self.dead_time_jitter * NANOSECONDS)
        expires = origin + round(min(self.max_command_age * NANOSECONDS, NEVER))
        self._queue.enter(TimedCommand(command, time, expires, arrival))

    def advance(self, time: int) -> int:
        """Advance in whole steps, up to ``time`` [ns] at most, and return the number of steps."""
        if type(time) is not int:
            NUMBER.check("time", time)
        start = self.steps
        for command, steps in self._segments(time):
            self._do(command, steps)
        return self.steps - start

    def sample(self, times: Iterable[int]) -> Iterator[S]:
        """Advance to each of these increasing times [ns]; yield the states, usually in the same object."""
        for time in times:
            self.advance(time)
            yield self.state

    def _do(self, command: Command, steps: int) -> None:
        c, s, step = self.coefficients, self.state, self._step
        self.model.set_references(c, s, command)
        for _ in range(steps):
            step(c, s, command)

    def _segments(self, time: int) -> Iterator[tuple[Command, int]]:
        """Each command up to a time [ns], and its number of steps, to be done before the next item."""
        end = self.steps_until(time)
        while self.steps < end:
            command = self._queue.at(self.time_of(self.steps))
            change, until = self._queue.next_change, end
            if change < time:  # a change acts from the first step that begins then, at the earliest from the next one
                until = min(end, max(self.steps_until(change - 1), self.steps) + 1)
            yield command, until - self.steps
            self.steps = until

    def stand_still(self, time: int) -> None:
        """Stop in place and discard all commands; continue from ``time`` [ns], which may be in the past."""
        stopped = self.state
        self.reset(time)
        state = self.state
        state.x, state.y, state.heading = stopped.x, stopped.y, stopped.heading
        for trailer, before in zip(getattr(state, "trailers", ()), getattr(stopped, "trailers", ()), strict=True):
            trailer.angle = before.angle
        self.state = state

    def skip_to(self, time: int) -> None:
        """Set the present time [ns], without a step, while the vehicle is held."""
        self.start = time
        self.steps = 0

    def set_pose(self, x: float, y: float, heading: float) -> None:
        """Place base_link at a pose [m, m, rad]; velocities and actuators do not change."""
        offset, state = self.coefficients.base_link_offset, self.state
        sine, cosine = sine_cosine(heading)
        state.x = x - offset * cosine
        state.y = y - offset * sine
        state.heading = heading
        self.state = state

    def reset(self, time: int | None = None) -> None:
        """Start again at rest at the origin, without commands, at ``time`` [ns] or the present."""
        self.start = self.time if time is None else time
        self.steps = 0
        self.state = self.model.at_rest(self.coefficients)
        self._queue.clear()
        self._random = Random(self._seed)

    def configure(self, parameters: P) -> None:
        """Use other parameters from the next step on, without a jump of any state.

        Raises:
            ArgumentError: The parameters are those of a vehicle with another number of modules or trailers.
        """
        state = self.state
        coefficients = self.model.coefficients(parameters, 1.0 / self.step_rate)
        _check_records(state, self.model.at_rest(coefficients))
        self.parameters, self.coefficients = parameters, coefficients
        self.model.resize(self.coefficients, state)
        self.state = state

    def configure_commands(self, max_command_age: float, dead_time_jitter: float) -> None:
        """Use another time-out [s] and another maximum delay [s], also for commands in the queue."""
        old_age, new_age = (round(min(age * NANOSECONDS, NEVER)) for age in (self.max_command_age, max_command_age))
        if new_age != old_age:
            self._queue.expire_later(new_age - old_age)
        if dead_time_jitter < self.dead_time_jitter:
            self._queue.limit_delay(round(dead_time_jitter * NANOSECONDS))
        self.max_command_age, self.dead_time_jitter = max_command_age, dead_time_jitter

    def motion(self) -> Motion:
        """Pose and velocity of base_link."""
        return motion_of(self.coefficients, self.state)


def _check_records(before: Any, after: Any) -> None:
    """Refuse lists of records whose length changes; those of numbers may be delay lines."""
    for field in fields(before):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if isinstance(old, list) and len(old) != len(new) and is_dataclass((old or new)[0]):
            raise ArgumentError(
                f"these parameters give the state {len(new)} '{field.name}', and the vehicle has {len(old)}; make "
                "another vehicle"
            )


#: A vehicle whose model was chosen by its name.
AnyVehicle: TypeAlias = Vehicle[Any, Any, Any]


class GuardedVehicle(Vehicle[P, C, S]):
    """Calls a guard when the vehicle may have reached an obstacle; the guard corrects the last step.

    Steps equal those of :class:`Vehicle` to the bit; a free step costs one more comparison.

    Attributes:
        guard: Called after a step, with the previous pose of the reference point and the end of the step [ns]. It may
            set the pose and the velocity.
        reach: Distance of the farthest part of the vehicle from the reference point [m].
        lever: How much farther a part of a trailer may move than the farthest part of the vehicle.
        reserve: Distance that any part may still move before the guard is called [m].
        drift: Maximum speed at which obstacles come nearer [m/s].
    """

    guard: Callable[[Pose, int], None] | None = None
    reach: float = 0.0
    lever: float = 1.0
    reserve: float = math.inf
    drift: float = 0.0

    def _do(self, command: Command, steps: int) -> None:
        c, s, step = self.coefficients, self.state, self._step
        self.model.set_references(c, s, command)
        reach, lever, drift = self.reach, self.lever, self.drift * c.dt
        for number in range(1, steps + 1):
            x, y, heading = s.x, s.y, s.heading
            step(c, s, command)
            distance = lever * (abs(s.x - x) + abs(s.y - y) + reach * abs(s.heading - heading)) + drift
            self.reserve -= distance
            if self.reserve < 0.0 < distance and self.guard is not None:
                self.guard(Pose(x, y, heading), self.time_of(self.steps + number))
                drift = self.drift * c.dt


#: A guarded vehicle whose model was chosen by its name.
AnyGuardedVehicle: TypeAlias = GuardedVehicle[Any, Any, Any]
