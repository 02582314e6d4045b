"""Command logs that excite the maps of a car's pedals, every position at every speed, and its steering mechanism.

The speed does not follow from the pedals alone, so the car's model is simulated, and the pedals are chosen by its
speed. A real car responds somewhat differently; every few drives end at a standstill, so differences do not add up.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from vds_gz.autoware.command_types import Pedals
from vds_gz.autoware.parameters.car_parameters import ActuationCmdParameters, ActuationCmdVgrParameters
from vds_gz.autoware.vehicle.command_kinds import PEDALS
from vds_gz.autoware.vehicle.map_lookup import interpolate, map_of
from vds_gz.autoware.vehicle.steering import wheel_angle
from vds_gz.core.arrays import Array
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import ParameterError
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import DRIVE, Command
from vds_gz.core.vehicle.vehicle import NANOSECONDS, Vehicle
from vds_gz.core.vehicle.vehicle_model import AnyModel
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.programs.interface.commands import Gear, Values

#: Step of the car's model, and period of the driver [s].
STEP = 0.02

#: Shortest and longest quick and usual holds of a pedal [s]; quick ones show the dead times, usual ones the maps.
HOLDS = (0.5, 1.0), (1.0, 2.5)

#: Minimum acceleration or deceleration of a pedal that is used to change the speed [m/s^2].
ENOUGH = 0.1

#: Part of the drives that end at a standstill.
STOPS = 0.4

#: Maximum speed of a standstill [m/s], and its duration [s].
STANDING, REST = 0.1, 1.0


#: The model without a given vehicle.
DEFAULT_CAR = "actuation_cmd_mechanical"

Car = TypeVar("Car", bound=ActuationCmdParameters)


def car_of(parameters: NodeParameters | None, kind: type[Car], needed: str) -> tuple[AnyModel, Car]:
    """The model and the parameters of a car with pedals: the given one, or :data:`DEFAULT_CAR` with its defaults."""
    model = models()[parameters.model if parameters is not None else DEFAULT_CAR]
    car = parameters.vehicle if parameters is not None else model.parameters()
    if not isinstance(car, kind):
        raise ArgumentError(f"the model '{model.name}' has no {needed}")
    return model, car


@dataclass(frozen=True, slots=True)
class PedalLimits:
    """Maxima of a drive: speed [m/s], positions of accelerator and brake."""

    speed: float
    accel: float
    brake: float


def pedal_limits(
    car: ActuationCmdParameters, speed: float | None, accel: float | None, brake: float | None
) -> PedalLimits:
    """The given maxima, with those of the car's maps and limits for the rest."""
    known = {
        "speed": min(car.vel_lim, car.accel_map.states[-1]),
        "accel": car.accel_map.actuations[-1],
        "brake": car.brake_map.actuations[-1],
    }
    maxima = {"speed": speed, "accel": accel, "brake": brake}
    for name, value in maxima.items():
        if value is not None and value > known[name]:
            raise ParameterError(f"--{name} {value:g} is more than the car's maps and limits allow, {known[name]:g}")
    return PedalLimits(*(value or known[name] for name, value in maxima.items()))


def pedals(
    model: AnyModel,
    car: ActuationCmdParameters,
    limits: PedalLimits,
    *,
    duration: float,
    rate: float = 50.0,
    seed: int = 0,
) -> CommandLog:
    """Every pedal position of the car's maps at every speed, while the speed rises and falls, straight ahead."""
    driver = _Driver(model, car, limits, np.random.default_rng(seed))
    held = list(driver.drive(duration))
    times = np.arange(round(duration * rate) + 1) / rate
    at = (times / STEP + 1e-6).astype(int).clip(max=len(held) - 1)
    return geared_log(times, [Pedals(max(held[k], 0.0), max(-held[k], 0.0), 0.0) for k in at])


class _Driver:
    """Drives the model, and presses the pedal position that was pressed least at its speed; brakes are negative."""

    def __init__(
        self, model: AnyModel, car: ActuationCmdParameters, limits: PedalLimits, random: np.random.Generator
    ) -> None:
        self._car = Vehicle(model, car, step_rate=1.0 / STEP, max_command_age=math.inf)
        self._limits, self._random = limits, random
        self._accel, self._brake = map_of(car.accel_map), map_of(car.brake_map)
        self._response_times = (
            car.accel_time_delay + car.accel_time_constant + STEP,
            car.brake_time_delay + car.brake_time_constant + STEP,
        )
        up = {min(key, limits.accel) for key in car.accel_map.actuations}
        down = {-min(key, limits.brake) for key in car.brake_map.actuations}
        self._positions = sorted(up | down)
        self._speeds = np.array(car.accel_map.states)
        self._seconds: dict[tuple[float, int], float] = defaultdict(float)

    def drive(self, duration: float) -> Iterator[float]:
        """The pedal position in every step."""
        pedal, until, faster, target, standing = 0.0, 0.0, True, self._top(), 0.0
        for k in range(round(duration / STEP) + 1):
            now, speed = k * STEP, self._car.motion().v_x
            standing = standing + STEP if speed < STANDING and not faster else 0.0
            if duration - now <= self._stopping(speed):
                pedal = -self._limits.brake
            elif faster and self._soon(pedal, speed) >= target:
                faster, target, until = False, self._bottom(target), now
            elif not faster and (standing >= REST or (target > 0.0 and self._soon(pedal, speed) <= target)):
                faster, target, until = True, self._top(), now
            if now >= until and duration - now > self._stopping(speed):
                pedal = self._least_pressed(speed, faster)
                low, high = HOLDS[int(self._random.uniform() < 0.5)]
                until = now + (REST if speed < STANDING and not faster else self._random.uniform(low, high))
            self._press(pedal, speed, now)
            yield pedal

    def _press(self, pedal: float, speed: float, now: float) -> None:
        self._seconds[pedal, self._column(speed)] += STEP
        command = Command(PEDALS, accel_pedal=max(pedal, 0.0), brake_pedal=max(-pedal, 0.0), gear=DRIVE)
        self._car.enter(command, round(now * NANOSECONDS))
        self._car.advance(round((now + STEP) * NANOSECONDS))

    def _top(self) -> float:
        """A target speed; high ones more often, as other drives do not reach them."""
        return float(self._limits.speed * (0.98 - 0.7 * self._random.uniform() ** 2))

    def _bottom(self, top: float) -> float:
        return 0.0 if self._random.uniform() < STOPS else float(top * self._random.uniform(0.1, 0.7))

    def _soon(self, pedal: float, speed: float) -> float:
        """The speed when another pedal will act."""
        return speed + self._response_times[int(pedal > 0.0)] * self._gives(pedal, speed)

    def _stopping(self, speed: float) -> float:
        """A generous time for braking to a standstill [s]."""
        brakes = max((-self._gives(-self._limits.brake, at_speed) for at_speed in (0.0, speed)), default=0.0)
        return 2.0 * REST + 1.5 * speed / max(brakes, ENOUGH)

    def _gives(self, pedal: float, speed: float) -> float:
        """The acceleration by the maps [m/s^2]."""
        return interpolate(self._accel, pedal, speed) if pedal >= 0.0 else interpolate(self._brake, -pedal, speed)

    def _column(self, speed: float) -> int:
        return int(np.argmin(np.abs(self._speeds - speed)))

    def _least_pressed(self, speed: float, faster: bool) -> float:
        """The suitable pedal position that was pressed least around this speed."""
        sign = 1.0 if faster else -1.0
        fitting = [position for position in self._positions if sign * self._gives(position, speed) >= ENOUGH]
        if not fitting:
            return self._positions[-1 if faster else 0]
        column = self._column(speed)
        return min(fitting, key=lambda position: (self._seconds[position, column], self._random.uniform()))


def geared_log(times: Array, rows: list[Pedals]) -> CommandLog:
    """A log of pedals at times [s] that begins with the forward gear."""
    moments = np.round(times, 9).tolist()
    commands: list[Values] = [
        Gear(DRIVE),
        *(Pedals(*(round(float(number), 6) for number in row)) for row in rows),
    ]
    return CommandLog("pedals", (moments[0], *moments), tuple(commands))


#: Defaults of the speed while the steering turns [m/s] and of the maximum tyre angle [rad].
TURNING_SPEED, TURNING_ANGLE = 3.0, 0.4


def turns(
    model: AnyModel,
    car: ActuationCmdVgrParameters,
    *,
    speed: float = TURNING_SPEED,
    angle: float = TURNING_ANGLE,
    duration: float,
    rate: float = 50.0,
    seed: int = 0,
) -> CommandLog:
    """Turns of the steering wheel at a steady speed: large and small, slow and quick, to and fro, and held.

    Large and quick ones show inertia, damping and gains. Dry friction and dead zone show in small ones, after which the
    tyres stick, and in slow ones, which the tyres follow in jerks.
    """
    random = np.random.default_rng(seed)
    times = np.arange(round(duration * rate) + 1) / rate
    edges, levels = [0.0, 1.0], [0.0, 0.0]
    while edges[-1] < duration:
        for turn in random.permutation(len(_TURNS)):
            for wait, level in _TURNS[turn](random, levels[-1]):
                edges.append(edges[-1] + wait)
                levels.append(float(np.clip(level, -1.0, 1.0)))
    geared = model.coefficients(car, STEP).steering  # the gear does not depend on the step
    wheel = [wheel_angle(geared, speed, angle * part) for part in np.interp(times, edges, levels)]
    pedal = _keeping(car, speed)
    return geared_log(times, [Pedals(pedal, 0.0, position) for position in wheel])


def _keeping(car: ActuationCmdParameters, speed: float) -> float:
    """The accelerator position that keeps a speed."""
    accelerator = map_of(car.accel_map)
    positions = np.linspace(0.0, car.accel_map.actuations[-1], 1001)
    away = [abs(interpolate(accelerator, position, speed)) for position in map(float, positions)]
    return round(float(positions[int(np.argmin(away))]), 3)


#: Times since the last edge [s] and the level there, in parts of the maximum angle, linear between edges.
Turn = Iterator[tuple[float, float]]


def _jump(random: np.random.Generator, level: float) -> Turn:
    there = random.uniform(-1.0, 1.0)
    yield 0.0, there
    yield random.uniform(0.8, 2.5), there


def _small_jumps(random: np.random.Generator, level: float) -> Turn:
    for _ in range(3):
        level = 0.9 * level + random.choice((-1.0, 1.0)) * random.uniform(0.02, 0.15)
        yield 0.0, level
        yield random.uniform(0.5, 1.2), level


def _quick(random: np.random.Generator, level: float) -> Turn:
    reach = random.uniform(0.2, 0.8)
    for sign in (1.0, -1.0, 1.0, -1.0):
        yield 0.0, sign * reach
        yield random.uniform(0.25, 0.7), sign * reach


def _slow(random: np.random.Generator, level: float) -> Turn:
    there = random.uniform(-0.8, 0.8)
    yield random.uniform(1.5, 3.5), there
    yield random.uniform(0.3, 1.0), there


def _to_and_fro(random: np.random.Generator, level: float) -> Turn:
    reach, slowly = random.uniform(0.03, 0.2), random.uniform(0.4, 1.5)
    for sign in (1.0, -1.0, 1.0, -1.0, 0.0):
        yield slowly, 0.9 * level + sign * reach


_TURNS = (_jump, _small_jumps, _quick, _slow, _to_and_fro)
