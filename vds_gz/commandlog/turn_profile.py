"""Command logs that bring out the mechanics of a car's steering: turns of the steering wheel at a steady speed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vds_gz.commandlog.log import CommandLog
from vds_gz.commandlog.pedal_profile import geared_log
from vds_gz.interface.commands import Pedals
from vds_gz.parameters.autoware import ActuationCmdParameters, ActuationCmdVgrParameters
from vds_gz.vehicle.autoware.maps import interpolate, map_of
from vds_gz.vehicle.autoware.steering import wheel_angle
from vds_gz.vehicle.model import AnyModel

#: Where nothing else is given: speed while the steering is turned [m/s], maximum tire angle [rad].
TURNING_SPEED, TURNING_ANGLE = 3.0, 0.4

#: Coefficients of the steering's gear are those of steps of this length, which it does not depend on [s].
DT = 0.02


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
    tires stay where they stick, and in slow ones, which they follow by jerks.

    Args:
        model, car: What the car is taken for.
        speed: Which the accelerator keeps [m/s].
        angle: Maximum tire angle [rad].
        duration: [s].
        rate: Commands per second.
        seed: Another one gives other turns.
    """
    random = np.random.default_rng(seed)
    times = np.arange(round(duration * rate) + 1) / rate
    edges, levels = [0.0, 1.0], [0.0, 0.0]
    while edges[-1] < duration:
        for turn in random.permutation(len(_TURNS)):
            for wait, level in _TURNS[turn](random, levels[-1]):
                edges.append(edges[-1] + wait)
                levels.append(float(np.clip(level, -1.0, 1.0)))
    geared = model.coefficients(car, DT).steering
    wheel = [wheel_angle(geared, speed, angle * part) for part in np.interp(times, edges, levels)]
    pedal = _keeping(car, speed)
    return geared_log(times, [Pedals(pedal, 0.0, one) for one in wheel])


def _keeping(car: ActuationCmdParameters, speed: float) -> float:
    """The accelerator that keeps a speed."""
    given = map_of(car.accel_map)
    positions = np.linspace(0.0, car.accel_map.actuations[-1], 1001)
    away = [abs(interpolate(given, one, speed)) for one in map(float, positions)]
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
