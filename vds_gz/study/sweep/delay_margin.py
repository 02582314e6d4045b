"""How much more dead time a controlled vehicle bears before its error leaves a bound."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vds_gz.fleet.closed_loop import ClosedLoop
from vds_gz.fleet.fleet import Fleet
from vds_gz.fleet.path import Path
from vds_gz.fleet.program import WIDTH
from vds_gz.fleet.tracking import DIVERGED, LEFT, RUNNING
from vds_gz.parameters.controllers import ControllerParameters
from vds_gz.vehicle.model import AnyModel

Reals = NDArray[np.float64]
Wholes = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: How the dead times of actuators end in the parameters of all models.
DEAD_TIMES = ("dead_time", "time_delay")

#: The bisection ends at this [s].
RESOLUTION = 0.001

#: Vehicles that are run together.
TOGETHER = 2048

#: After so many periods it is looked whether any vehicle is still under way.
PERIODS = 250


@dataclass(frozen=True, eq=False)
class Task:
    """What vehicles are to do within a bound.

    Attributes:
        path: The path.
        controller: Its name or function, as of :class:`~vds_gz.fleet.closed_loop.ClosedLoop`.
        bound: Maximum lateral error [m].
        duration: A run that has not ended then has stayed within the bound [s].
        laps: After so many rounds of a closed path the run is finished.
        lateral, heading_error: Of the vehicles at the start, from the path [m, rad], one number for all or one a
            vehicle; on a straight path it takes something to correct.
        rate: Commands per second [Hz].
        step_rate: Steps per second [Hz].
        longest: No more additional dead time is tried [s].
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
    task: Task, model: AnyModel, vehicles: Sequence[Any], controllers: Sequence[ControllerParameters]
) -> Reals:
    """The most additional dead time with which each vehicle stays within the bound [s], in all of its actuators.

    All vehicles are bisected at once, each run beside the others; where there are few, several dead times of each.

    Args:
        task: What to do.
        model: The vehicles' model.
        vehicles: Their parameter groups.
        controllers: Of each its controller's parameters.

    Returns:
        One a vehicle: 0 where it leaves the bound as it is, ``longest`` where it does not leave it with that either.
    """
    most = round(task.longest / RESOLUTION)
    last = bisect(_Candidates(task, model, vehicles, controllers).stay, len(vehicles), most)
    return np.maximum(last, 0) * RESOLUTION


def linear_delay_margin(k1: float, k2: float, speed: float) -> float:
    """The dead time [s] at which a linear path follower begins to oscillate without end.

    It drives at a speed v, y' = v psi, psi' = v kappa(t - T), and steers by kappa = -(k1 y + k2 psi). The loop's gain
    is 1 at w^2 = (k2^2 v^2 + sqrt(k2^4 v^4 + 4 k1^2 v^4)) / 2, where its phase leaves atan(k2 w / (k1 v)) to dead
    time. Pure pursuit with a look-ahead distance L is k1 = 2 / L^2, k2 = 2 / L on a straight path. Commands that are
    held for a period add half of it.

    Args:
        k1: Gain of the lateral error [1/m^2].
        k2: Gain of the heading error [1/m].
        speed: [m/s].
    """
    square = k2**2 * speed**2
    w = math.sqrt(0.5 * (square + math.sqrt(square**2 + 4.0 * k1**2 * speed**4)))
    return math.atan(k2 * w / (k1 * speed)) / w


def bisect(stays: Callable[[Wholes, Wholes], Flags], count: int, most: int) -> Wholes:
    """The last of 0 ... ``most`` at which each of some candidates stays, -1 where it does not at 0.

    Args:
        stays: (candidates, values), both of shape (n,) -> whether each candidate stays at the value.
        count: So many candidates.
        most: The last value; candidates that stay there are not tried further.
    """
    low, high = np.full(count, -1), np.full(count, most + 1)
    while len(open_ := np.flatnonzero(high - low > 1)):
        probes = max(1, WIDTH // len(open_))
        parts = np.arange(1, probes + 1)
        gap = (high - low)[open_, np.newaxis]
        values = low[open_, np.newaxis] + np.clip(gap * parts // (probes + 1), 1, gap - 1)
        stayed = stays(np.repeat(open_, probes), values.ravel()).reshape(values.shape)
        # The first that leaves counts, be there others beyond it that stay.
        first = np.where(stayed.all(axis=1), probes, stayed.argmin(axis=1))
        left, rows = first < probes, np.arange(len(open_))
        low[open_] = np.where(first > 0, values[rows, np.maximum(first - 1, 0)], low[open_])
        high[open_] = np.where(left, values[rows, np.minimum(first, probes - 1)], high[open_])
    return low


def later(parameters: Any, extra: float) -> Any:
    """A vehicle with more dead time [s] in all of its actuators."""
    changes: dict[str, object] = {}
    for field in dataclasses.fields(parameters):
        value = getattr(parameters, field.name)
        if dataclasses.is_dataclass(value):
            changes[field.name] = later(value, extra)
        elif field.name.endswith(DEAD_TIMES):
            changes[field.name] = value + extra
    return dataclasses.replace(parameters, **changes)


@dataclass(frozen=True)
class _Candidates:
    """Vehicles with their controllers, and what they are to do."""

    task: Task
    model: AnyModel
    vehicles: Sequence[Any]
    controllers: Sequence[ControllerParameters]

    def stay(self, candidates: Wholes, values: Wholes) -> Flags:
        """Whether candidates, given by their numbers, stay with so much more dead time [RESOLUTION]."""
        parts = (slice(begin, begin + TOGETHER) for begin in range(0, len(candidates), TOGETHER))
        return np.concatenate([self._run(candidates[part].tolist(), values[part].tolist()) for part in parts])

    def _run(self, candidates: list[int], values: list[int]) -> Flags:
        task = self.task
        delayed = [later(self.vehicles[k], value * RESOLUTION) for k, value in zip(candidates, values, strict=True)]
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
