"""Which limits a vehicle has met: those that explain enough to be believed, by Bayes' information criterion.

From a fit, every other limit is tried with a value just within what came up, and every uncertain one is tried without,
all at once; the best change is made, until none is one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from vds_gz.fleet.sampled import Readings
from vds_gz.study.identify.axes import steepest
from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.forward.measurements import start_names
from vds_gz.study.identify.forward.part import VehicleFamily, VehiclePart
from vds_gz.study.identify.forward.unknowns import NO_LIMIT, UNLIMITED, Actuation, Kind, index_of
from vds_gz.study.identify.solver.explanation import with_correlation
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.intervals import covariance
from vds_gz.study.identify.solver.protocol import Mask, Problem, Solution
from vds_gz.vehicle.model import AnyModel

#: A limit must explain so much more than the criterion asks for.
PENALTY = 10.0

#: A limit that is tried lies at these parts of what came up without it.
TRIED = 0.97, 0.8

#: Iterations of a trial; the best one is followed to its end, unless it is worse than what there is by so much.
TRIAL_ITERATIONS, HOPELESS = 8, 100.0

#: Where residuals are correlated no more than this, nothing is missing in the model.
WHITE = 1.2

#: A limit that is known as exactly as this (standard deviation of its logarithm) was met for certain.
CERTAINLY = 0.02

#: So often per second the vehicle is looked at for what it reaches [Hz].
LOOKS = 250.0


@dataclass(frozen=True)
class Selected:
    """A fit with the limits that are believed.

    Attributes:
        solution: Of one start.
        free: Unknowns that were free: all but limits that are none.
        criterion: The less the better.
    """

    solution: Solution
    free: NDArray[np.bool_]
    criterion: float


def is_limited(family: VehicleFamily, points: Array) -> Mask:
    """Of points (S, p), which unknowns are free: all but limits that are none."""
    free = np.ones(points.shape, bool)
    limits = index_of(family.unknowns, Kind.LIMIT)
    free[:, limits] = points[:, limits] < math.log(NO_LIMIT)
    return free


def criterion(problem: Problem, solution: Solution, free: Mask) -> Array:
    """Of every start's solution, (S,)."""
    counts = sum((np.bincount(part.channel, minlength=len(problem.floors)) for part in problem.parts), 0)
    effective = float(np.sum(counts / problem.correlation))
    limits = free.sum(axis=1)
    return np.asarray(solution.deviance + limits * (math.log(max(effective, 2.0)) + PENALTY))


def select_limits(
    problem: Problem, family: VehicleFamily, actuators: Mapping[str, Actuation], begin: Solution
) -> Selected:
    """Find out which limits were met.

    Limits are added as long as that explains something, then taken away as long as nothing is lost.

    Args:
        problem: The data.
        family: What is looked for.
        actuators: Of the model.
        begin: A fit, of one start, with the limits that it happens to have.
    """
    now = _selected(problem, family, begin)
    limits = len(index_of(family.unknowns, Kind.LIMIT))
    for _ in range(limits):
        correlated = with_correlation(problem, now.solution, 0).correlation
        if float(np.max(correlated)) < WHITE:
            break
        after = _best_of(problem, family, now, _with_more(problem, family, actuators, now))
        if after.criterion >= now.criterion:
            break
        now = after
    problem = with_correlation(problem, now.solution, 0)
    now = _selected(problem, family, solve(problem, now.solution, free=now.free[np.newaxis], warm=True))
    for _ in range(limits):
        after = _best_of(problem, family, now, _with_less(family, now))
        if after.criterion > now.criterion:
            break
        now = after
    return now


def _selected(problem: Problem, family: VehicleFamily, solution: Solution) -> Selected:
    free = is_limited(family, solution.points)
    return Selected(solution, free[0], float(criterion(problem, solution, free)[0]))


def _best_of(problem: Problem, family: VehicleFamily, now: Selected, starts: Array) -> Selected:
    """The best fit from some starts; one without hope is not followed to its end, and is worse than now."""
    if not len(starts):
        return replace(now, criterion=math.inf)
    begin = replace(now.solution.of([0] * len(starts)), points=starts)
    free = is_limited(family, starts)
    found = solve(problem, begin, free=free, warm=True, iterations=TRIAL_ITERATIONS, margin=HOPELESS)
    after = criterion(problem, found, free)
    best = [int(np.argmin(after))]
    if after[best[0]] > now.criterion + HOPELESS:
        return replace(now, criterion=math.inf)
    further = solve(problem, found.of(best), free=free[best], warm=True)
    return _selected(problem, family, further)


def _with_less(family: VehicleFamily, now: Selected) -> Array:
    """Points with one limit less, of those that are not certain; all that was never met is left out together."""
    point, information = now.solution.points[0], now.solution.information[0]
    held = [int(k) for k in index_of(family.unknowns, Kind.LIMIT) if now.free[k]]
    blind = [k for k in held if information[k, k] == 0.0]
    deviation = np.sqrt(np.diag(covariance(information)))
    sets = [blind] if blind else [[k] for k in held if deviation[k] > CERTAINLY]
    return np.array([_with(point, one, math.log(UNLIMITED)) for one in sets]).reshape(-1, len(point))


def _with_more(problem: Problem, family: VehicleFamily, actuators: Mapping[str, Actuation], now: Selected) -> Array:
    """Points with one limit more, which is a little less than what comes up without it."""
    point = now.solution.points[0]
    top = reached(problem.parts, family, actuators, now.solution)
    starts = []
    for k in index_of(family.unknowns, Kind.LIMIT):
        value = top.get(family.unknowns[k].name, 0.0)
        if value > 0.0 and point[k] > math.log(value):
            starts += [_with(point, [int(k)], math.log(part * value)) for part in TRIED]
    return np.array(starts).reshape(-1, len(point))


def _with(point: Array, which: Sequence[int], coordinate: float) -> Array:
    changed: Array = point.copy()
    changed[list(which)] = coordinate
    return changed


# ---------------------------------------------------------------------- what came up


def reached(
    parts: Sequence[object], family: VehicleFamily, actuators: Mapping[str, Actuation], solution: Solution
) -> dict[str, float]:
    """Maximum rates and values of the actuators in the model, by the names of their limits.

    Args:
        parts: Pieces of recordings.
        family: The vehicles.
        actuators: Of the model.
        solution: Of one start.
    """
    top: dict[str, float] = {}
    for part, own in zip(parts, solution.own, strict=True):
        assert isinstance(part, VehiclePart)
        for name, value in _reached_in(part, family, actuators, solution.points[0], own[0]).items():
            top[name] = max(top.get(name, 0.0), value)
    return top


def _reached_in(
    part: VehiclePart, family: VehicleFamily, actuators: Mapping[str, Actuation], point: Array, own: Array
) -> dict[str, float]:
    dt = part.piece.dt
    every = max(1, round(1.0 / (LOOKS * dt)))
    steps = np.arange(1, max(int(part.duration / dt), 3), every, dtype=np.int64)
    numbers = {name: responses(family.model, name) for name in actuators}
    names = tuple(dict.fromkeys(chain.from_iterable(numbers.values())))
    count, kinds = len(steps), len(names)
    readings = Readings(
        np.repeat(steps, kinds),
        names,
        np.tile(np.arange(kinds), count),
        np.arange(count * kinds),
        np.ones(count * kinds),
        count * kinds,
    )
    whole = point.copy()
    dead = index_of(family.unknowns, Kind.DEAD_TIME)
    whole[dead] = np.floor(point[dead] / dt + 1e-7) * dt
    start = own[np.newaxis, : len(start_names(family.model))]
    values = family.driven(whole[np.newaxis], start, part.piece, readings)[0][:, 0].reshape(count, kinds)
    found: dict[str, float] = {}
    for name, actuation in actuators.items():
        columns = values[:, [names.index(one) for one in numbers[name]]]
        rise, fall = steepest(columns[:-1], columns[1:], every * dt)
        top = (rise if actuation.fall else max(rise, fall)), fall, float(np.max(np.abs(columns), initial=0.0))
        limits = actuation.rise, actuation.fall, actuation.value
        found |= {limit: maximum for limit, maximum in zip(limits, top, strict=True) if limit}
    return found


def responses(model: AnyModel, actuator: str) -> tuple[str, ...]:
    """Numbers of a model's state that are the responses of an actuator."""
    if actuator == "steering":
        return ("steering.angle",)
    if actuator == "wheels":
        return "speed_fixed_left", "speed_fixed_right", "speed_steered_left", "speed_steered_right"
    drives = {
        "bicycle": ("drive.velocity",),
        "differential": ("left.velocity", "right.velocity"),
        "omni": ("front_left.velocity", "rear_left.velocity", "rear_right.velocity", "front_right.velocity"),
    }
    return drives.get(model.name, ("v_x",))
