"""Delay margin: additional dead time that a controlled vehicle tolerates before its error exceeds a bound."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from vds_gz.fleet.closed_loop import ClosedLoop
from vds_gz.fleet.fleet import Fleet
from vds_gz.fleet.path import Path
from vds_gz.fleet.tracking import DIVERGED, LEFT, RUNNING
from vds_gz.parameters.controllers import ControllerParameters
from vds_gz.parameters.declaration import ParameterGroup
from vds_gz.vehicle.model import AnyModel

Reals = NDArray[np.float64]
Wholes = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: End of the names of actuators' dead times in all models.
DEAD_TIMES = ("dead_time", "time_delay")

#: Additional dead times are whole milliseconds: so many per second.
MILLISECONDS = 1000

#: Length of the long steps of the scan.
STEPS = (64, 16, 4, 1)

#: Number of vehicles that are run together.
TOGETHER = 2048

#: Number of periods between checks whether any vehicle is still running.
PERIODS = 250


@dataclass(frozen=True, eq=False)
class DelayTask:
    """A task with a bound.

    Attributes:
        path: The path.
        controller: Its name or function, as in :class:`~vds_gz.fleet.closed_loop.ClosedLoop`.
        bound: Maximum lateral error [m].
        duration: A run of this duration has stayed within the bound [s].
        laps: Number of laps of a closed path until the run is finished.
        lateral, heading_error: Errors of the vehicles at the start [m, rad], one number for all or one for each
            vehicle; a straight path needs an error to correct.
        rate: Commands per second [Hz].
        step_rate: Steps per second [Hz].
        longest: Maximum additional dead time [s].
    """

    path: Path
    controller: str
    bound: float
    duration: float = 60.0
    laps: int = 1
    lateral: float | Reals = 0.0
    heading_error: float | Reals = 0.0
    rate: float = 50.0
    step_rate: float = 1000.0
    longest: float = 1.0


def delay_margins(
    task: DelayTask, model: AnyModel, vehicles: Sequence[ParameterGroup], controllers: Sequence[ControllerParameters]
) -> Reals:
    """The additional dead time in all actuators up to which each vehicle stays within the bound [s].

    Vehicles and dead times are run side by side.

    Args:
        task: The task.
        model: The vehicles' model.
        vehicles: Their parameter groups.
        controllers: Parameters of each vehicle's controller.

    Returns:
        One number for each vehicle: 0 if it leaves the bound without additional dead time, ``longest`` if it never
        leaves it.
    """
    most = round(task.longest * MILLISECONDS)
    last = last_before_leaving(_Candidates(task, model, vehicles, controllers).stay, len(vehicles), most)
    return np.maximum(last, 0) / MILLISECONDS


def linear_delay_margin(k1: float, k2: float, speed: float) -> float:
    """The dead time [s] at which a linear path follower becomes unstable.

    It drives at a speed v, y' = v psi, psi' = v kappa(t - T), and steers by kappa = -(k1 y + k2 psi). The loop's gain
    is 1 at w^2 = (k2^2 v^2 + sqrt(k2^4 v^4 + 4 k1^2 v^4)) / 2, where its phase margin is atan(k2 w / (k1 v)). Pure
    pursuit with a look-ahead distance L has k1 = 2 / L^2 and k2 = 2 / L on a straight path. Holding commands for a
    period adds half of it to the dead time.

    Args:
        k1: Gain of the lateral error [1/m^2].
        k2: Gain of the heading error [1/m].
        speed: [m/s].
    """
    square = k2**2 * speed**2
    w = math.sqrt(0.5 * (square + math.sqrt(square**2 + 4.0 * k1**2 * speed**4)))
    return math.atan(k2 * w / (k1 * speed)) / w


def last_before_leaving(stays: Callable[[Wholes, Wholes], Flags], count: int, most: int) -> Wholes:
    """For each candidate, the value of 0 ... ``most`` before the first one at which it leaves; -1 if that is 0.

    Bisection would be wrong: a candidate that leaves at a value may stay at some larger ones. All values are scanned in
    long steps, and then in shorter ones from one long step before the last value at which it stays.

    Args:
        stays: (candidates, values), both of shape (n,) -> whether each candidate stays at the value.
        count: Number of candidates.
        most: The last value.
    """
    begin, leaves = np.zeros(count, np.int64), np.full(count, most + 1)
    last = begin
    for step in STEPS:
        probes = -((begin - leaves) // step)
        rows = np.repeat(np.arange(count), probes)
        values = begin[rows] + step * (np.arange(len(rows)) - np.repeat(np.cumsum(probes) - probes, probes))
        np.minimum.at(leaves, rows, np.where(stays(rows, values), most + 1, values))
        last = begin + (leaves - 1 - begin) // step * step
        begin = np.maximum(last - step, 0)
    return np.where(leaves > 0, last, -1)


def later(parameters: ParameterGroup, extra: float) -> ParameterGroup:
    """A vehicle with more dead time [s] in all of its actuators."""
    changes: dict[str, object] = {}
    for field in dataclasses.fields(parameters):
        value = getattr(parameters, field.name)
        if dataclasses.is_dataclass(value):
            changes[field.name] = later(cast(ParameterGroup, value), extra)
        elif field.name.endswith(DEAD_TIMES):
            changes[field.name] = value + extra
    return dataclasses.replace(parameters, **changes)


@dataclass(frozen=True)
class _Candidates:
    """Vehicles with their controllers and their task."""

    task: DelayTask
    model: AnyModel
    vehicles: Sequence[ParameterGroup]
    controllers: Sequence[ControllerParameters]

    def stay(self, candidates: Wholes, values: Wholes) -> Flags:
        """Whether candidates, by their numbers, stay within the bound with additional dead times [ms]."""
        stayed = np.empty(len(candidates), bool)
        for begin in range(0, len(candidates), TOGETHER):
            part = slice(begin, begin + TOGETHER)
            stayed[part] = self._run(candidates[part].tolist(), values[part].tolist())
        return stayed

    def _run(self, candidates: list[int], values: list[int]) -> Flags:
        task = self.task
        delayed = [later(self.vehicles[k], value / MILLISECONDS) for k, value in zip(candidates, values, strict=True)]
        fleet = Fleet(self.model, delayed, step_rate=task.step_rate)
        gains = [self.controllers[k] for k in candidates]
        loop = ClosedLoop(fleet, task.path, task.controller, gains, rate=task.rate, bound=task.bound, laps=task.laps)
        starts = (np.broadcast_to(one, len(self.vehicles))[candidates] for one in (task.lateral, task.heading_error))
        loop.place(0.0, *starts)
        periods = math.ceil(task.duration * task.rate)
        while periods > 0 and (loop.tracking.status == RUNNING).any():
            loop.advance(min(PERIODS, periods))
            periods -= PERIODS
        stayed: Flags = ~np.isin(loop.tracking.status, (LEFT, DIVERGED))
        return stayed
