"""Command logs that excite a vehicle's dynamics within its limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle_model import VehicleGeometry, VehicleLimits
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.programs.interface.commands import Ackermann, FourWheelSteering, Velocity

#: Default limits and wheel base, where the vehicle has none [m/s, rad/s, rad, m].
SPEED, YAW_RATE, STEERING, WHEEL_BASE = 1.0, 1.0, 0.4, 1.0

#: Shortest and longest times of a held step, of a quick step, and of a value of the pseudo-random binary sequence [s].
STEP_HOLD, QUICK_HOLD, BINARY_HOLD = (1.0, 3.0), (0.12, 0.5), (0.25, 1.5)

#: Number of quick steps after each held one, and their maximum distance from it, as a part of the limit.
QUICK_STEPS, QUICK_REACH = 6, 0.7

#: Frequencies of the chirp [Hz].
CHIRP = 0.05, 2.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Maxima of a log's commands [m/s, m/s, rad/s, rad]; ``wheel_base`` [m] of a vehicle that steers.

    ``rear_steering`` [rad] is for commands with the angles of both axles, ``front_limit`` [rad] the largest
    angle that the front axle reaches, ``rear_turned`` [rad] that of the rear axle while an Ackermann command has its
    maximum.
    """

    speed: float
    lateral: float
    yaw_rate: float
    steering: float
    wheel_base: float
    rear_steering: float
    front_limit: float = math.inf
    rear_turned: float = 0.0

    def circle(self, ackermann: bool, both_axles: bool = False) -> float:
        """Time of a full circle at 60 % of the speed with maximum turning [s]."""
        rear = 0.0 if both_axles else self.rear_turned
        front = min(self.steering, self.front_limit)
        bend = abs(math.tan(front) - math.tan(rear)) / self.wheel_base
        rate = 0.6 * self.speed * bend if ackermann else self.yaw_rate
        return 2.0 * math.pi / max(rate, 1e-3)


#: A function of times [s], a random generator and the time of a circle [s]: longitudinal, turning and lateral
#: references at these times, each as a part of its limit within +-1.
Profile = Callable[[Array, np.random.Generator, float], tuple[Array, Array, Array]]


def make(
    kind: str,
    limits: Limits,
    *,
    ackermann: bool,
    duration: float,
    rate: float = 50.0,
    seed: int = 0,
    both_axles: bool = False,
) -> CommandLog:
    """A command log of one of the :data:`PROFILES`: of twists, of Ackermann commands, or with angles of both axles."""
    times = np.arange(round(duration * rate) + 1) / rate
    drive, turn, side = PROFILES[kind](times, np.random.default_rng(seed), limits.circle(ackermann, both_axles))
    drive[-1] = turn[-1] = side[-1] = 0.0
    return log_of(times, drive, turn, side, limits, ackermann=ackermann, both_axles=both_axles)


def log_of(
    times: Array,
    drive: Array,
    turn: Array,
    side: Array,
    limits: Limits,
    *,
    ackermann: bool,
    both_axles: bool = False,
) -> CommandLog:
    """The log of longitudinal, turning and lateral references at some times [s], each as a part of its limit.

    For vehicles that steer both axles, the lateral reference is the angle of the rear axle.
    """
    moments = tuple(np.round(times, 9).tolist())
    if both_axles:
        columns = limits.speed * drive, limits.steering * turn, limits.rear_steering * side
        rows = np.round(np.column_stack(columns), 6)
        return CommandLog("four_wheel_steering", moments, tuple(FourWheelSteering(*row) for row in rows.tolist()))
    if ackermann:
        pairs = np.round(np.column_stack((limits.speed * drive, limits.steering * turn)), 6)
        return CommandLog("ackermann", moments, tuple(Ackermann(*row) for row in pairs.tolist()))
    columns = limits.speed * drive, limits.lateral * side, limits.yaw_rate * turn
    return CommandLog("twist", moments, tuple(Velocity(*row) for row in np.round(np.column_stack(columns), 6).tolist()))


def _levels(times: Array, random: np.random.Generator, hold: tuple[float, float], values: Sequence[float]) -> Array:
    """Values in random order, each held for a random time; all of them occur before one comes again."""
    edges, levels = [0.5], [0.0]
    while edges[-1] < times[-1]:
        for value in random.permutation(values):
            if value != levels[-1]:
                levels.append(float(value))
                edges.append(edges[-1] + random.uniform(*hold))
    return _stepped(times, edges, levels)


def _stepped(times: Array, edges: Sequence[float], levels: Sequence[float]) -> Array:
    """The level at each time; each begins at its edge."""
    stepped: Array = np.asarray(levels)[np.searchsorted(edges, times, side="right").clip(max=len(levels) - 1)]
    return stepped


def _steps(times: Array, random: np.random.Generator, circle: float) -> tuple[Array, Array, Array]:
    """Held steps, which show the limits, each followed by quick steps, which show the lag.

    With a rate limit, only the end of a step shows the lag; so there are many quick steps.
    """

    def axis() -> Array:
        edges, levels = [0.5], [0.0]
        while edges[-1] < times[-1]:
            for value in random.permutation((1.0, -1.0, 0.5, -0.5, 0.0, 0.8, 0.25)):
                low, high = max(-1.0, value - QUICK_REACH), min(1.0, value + QUICK_REACH)
                levels += [value, *random.uniform(low, high, QUICK_STEPS)]
                holds = random.uniform(*STEP_HOLD), *random.uniform(*QUICK_HOLD, QUICK_STEPS)
                edges += (edges[-1] + np.cumsum(holds)).tolist()
        return _stepped(times, edges, levels)

    return axis(), axis(), axis()


def _binary(times: Array, random: np.random.Generator, circle: float) -> tuple[Array, Array, Array]:
    drive = 0.6 + 0.4 * _levels(times, random, BINARY_HOLD, (-1.0, 1.0))
    turn, side = (_levels(times, random, BINARY_HOLD, (-1.0, 1.0)) for _ in range(2))
    return drive, turn, side


def _ramps(times: Array, random: np.random.Generator, circle: float) -> tuple[Array, Array, Array]:
    def axis() -> Array:
        edges = np.cumsum(np.concatenate(([0.5], random.uniform(1.0, 4.0, int(times[-1]) + 2))))
        values = np.concatenate(([0.0], random.uniform(-1.0, 1.0, len(edges) - 1)))
        values[1::4] = np.copysign(1.0, values[1::4])
        ramps: Array = np.interp(times, edges, values)
        return ramps

    return axis(), axis(), axis()


def _chirp(times: Array, random: np.random.Generator, circle: float) -> tuple[Array, Array, Array]:
    low, high = CHIRP
    growth = math.log(high / low) / max(float(times[-1]), 1e-9)
    phase = 2.0 * math.pi * low * np.expm1(growth * times) / growth
    return 0.5 + 0.5 * np.sin(phase), np.sin(0.7 * phase), np.sin(0.9 * phase)


def _slalom(times: Array, random: np.random.Generator, circle: float) -> tuple[Array, Array, Array]:
    return 0.7 * _under_way(times), np.sin(2.0 * math.pi * times / 4.0), np.zeros_like(times)


def _figure8(times: Array, random: np.random.Generator, circle: float) -> tuple[Array, Array, Array]:
    left = np.floor(times / circle) % 2 == 0
    return 0.6 * _under_way(times), np.where(left, 1.0, -1.0), np.zeros_like(times)


def _parking(times: Array, random: np.random.Generator, circle: float) -> tuple[Array, Array, Array]:
    moves = [(0.5, 0.0), (0.0, -1.0), (-0.35, -1.0), (-0.35, 1.0), (0.0, 1.0), (0.3, -1.0), (0.3, 1.0), (0.0, 0.0)]
    index = (times / 2.0).astype(int) % len(moves)
    drive, turn = np.array(moves)[index].T
    return drive, turn, np.zeros_like(times)


def _under_way(times: Array) -> Array:
    """1, but 0 in the last three seconds."""
    return np.where(times < times[-1] - 3.0, 1.0, 0.0)


PROFILES: dict[str, Profile] = {
    "steps": _steps,
    "ramps": _ramps,
    "chirp": _chirp,
    "prbs": _binary,
    "slalom": _slalom,
    "figure8": _figure8,
    "parking": _parking,
}


def limits_of(
    parameters: NodeParameters | None,
    *,
    speed: float | None = None,
    lateral: float | None = None,
    yaw_rate: float | None = None,
    steering: float | None = None,
) -> Limits:
    """The given limits, with those of the vehicle for the rest, or small values for an unknown vehicle."""
    known, geometry = VehicleLimits(0.0), VehicleGeometry((), 0.0)
    if parameters is not None:
        model = models()[parameters.model]
        known, geometry = model.limits(parameters.vehicle), model.geometry(parameters.vehicle)
    speed = speed or known.speed or SPEED
    front, rear = steering or known.steering or STEERING, steering or known.rear_steering or STEERING
    front_limit = known.steering or math.inf
    turned = geometry.rear_ratio * min(front, front_limit)
    default_lateral = 0.5 * speed if geometry.holonomic else 0.0
    return Limits(
        speed,
        default_lateral if lateral is None else lateral,
        yaw_rate or (0.5 * speed / geometry.default_yaw_arm if geometry.default_yaw_arm else YAW_RATE),
        front,
        geometry.wheel_base or WHEEL_BASE,
        rear,
        front_limit,
        max(-known.rear_steering, min(turned, known.rear_steering)),
    )
