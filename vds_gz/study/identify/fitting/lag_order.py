"""Whether an actuator's lag is of first order: a second one is tried in front of it, by Bayes' information criterion.

A lag in front of an actuator is a lag of what is commanded. The model knows one lag and a dead time; what a second lag
does, these two share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.fitting.fitting import Fit
from vds_gz.study.identify.fitting.standstill import commanded_steering
from vds_gz.study.identify.forward.measurements import geometry_of, start_names
from vds_gz.study.identify.forward.pieces import Piece
from vds_gz.study.identify.forward.problems import problem_of
from vds_gz.study.identify.forward.setup import FIELDS
from vds_gz.study.identify.forward.unknowns import Actuation
from vds_gz.study.identify.signals import Series
from vds_gz.study.identify.solver.explanation import with_correlation
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.protocol import Problem, Solution
from vds_gz.vehicle.command import ACKERMANN, TWIST

#: Time constants of a second lag that are tried, as parts of the first one's; none where that is shorter than this [s].
PARTS, SHORTEST = (0.3, 1.0), 0.01

#: The best one is refined by this factor to both sides.
FACTOR = 1.8

#: A second lag must leave so much less of the criterion.
BETTER = 10.0

#: What is commanded through a lag changes in steps of this [s].
GRID = 0.005

#: Iterations of a trial.
ITERATIONS = 12


class TwoLags(NamedTuple):
    """Time constants of two lags that explain a recording better than one [s], the longer one first.

    What they leave unexplained is this part of what one leaves, in the channel where that is least.
    """

    first: float
    second: float
    left: float


def lag_findings(fit: Fit, actuators: Sequence[str]) -> Iterator[str]:
    """Whether lags are of first order, in words.

    Args:
        fit: Of all data.
        actuators: Those of which the data tell the time constant.
    """
    single, mixed = [], []
    for name in actuators:
        if not _has_lag(fit, name):
            continue
        trials = _trials(fit, name)
        if trials is None:
            mixed.append(name)
        elif (found := trials.two_lags()) is not None:
            yield (
                f"{name}: two lags of about {found.first:.2g} and {found.second:.2g} s explain the recording better "
                f"than one (what is left is {found.left:.2g} times as much); the model has one, whose time constant "
                "and dead time share what two do"
            )
        else:
            single.append(name)
    if single:
        yield f"the lag of {' and '.join(single)} is of first order as far as the recording tells"
    if mixed:
        yield (
            f"whether the lag of {' and '.join(mixed)} is of first order is not told: a twist commands speed and "
            "steering at once, and no steering angles explain the recording as well as its yaw rates; commands of "
            "speeds and steering angles would tell"
        )


def _has_lag(fit: Fit, actuator: str) -> bool:
    names = [one.name for one in fit.setup.family.unknowns]
    constant = fit.setup.actuators[actuator].time_constant
    return constant in names and fit.solution.points[0, names.index(constant)] >= SHORTEST


def _trials(fit: Fit, actuator: str) -> _Trials | None:
    """Trials of an actuator; None where nothing can be tried, as it is not commanded by itself."""
    setup, piece = fit.setup, fit.telling
    numbers = setup.actuators[actuator]
    fields = _fields(numbers, twists=setup.kind == TWIST and "steering" not in setup.actuators, name=actuator)
    trials = _Trials(fit, piece, numbers, fields)
    if setup.kind != TWIST or "steering" not in setup.actuators:
        return trials
    split = _Trials(fit, _with_angles(fit), numbers, fields)
    return split if split.single.deviance[0] <= trials.single.deviance[0] + BETTER else None


def _fields(numbers: Actuation, *, twists: bool, name: str) -> tuple[str, ...]:
    """What of a command an actuator follows."""
    if twists:
        return "v_x", "v_y", "yaw_rate"
    if name == "steering":
        return ("steering_angle",)
    return ("target_acceleration",) if numbers.time_constant.startswith("acc") else ("v_x",)


class _Trials:
    """Fits of the piece that tells most, with a second lag of an actuator and without."""

    def __init__(self, fit: Fit, piece: Piece, numbers: Actuation, fields: tuple[str, ...]) -> None:
        self.fit, self.piece, self.numbers, self.fields = fit, piece, numbers, fields
        self.names = [one.name for one in fit.setup.family.unknowns]
        self.problem, self.single = self._solved(piece, fit.solution.points)

    def _solved(self, piece: Piece, points: Array, rival: float = math.inf) -> tuple[Problem, Solution]:
        """A fit from next to it; given up where it cannot come below a rival's deviance."""
        problem = problem_of(self.fit.setup, [piece])
        free = self.fit.free[np.newaxis]
        return problem, solve(problem, points, free=free, warm=True, iterations=ITERATIONS, rival=rival, margin=0.0)

    def two_lags(self) -> TwoLags | None:
        """Two lags that explain more than one; None if none do."""
        constant = self._constant(self.single)
        tried = {second: self._with(second) for second in (part * constant for part in PARTS)}
        best = _best(tried)
        if tried[best][1].deviance[0] > self.single.deviance[0] - BETTER:
            return None
        tried |= {second: self._with(second) for second in (best / FACTOR, best * FACTOR)}
        between = _lowest({second: float(one.deviance[0]) for second, (_, one) in tried.items()})
        tried |= {between: self._with(between)}
        best = _best(tried)
        problem, double = tried[best]
        if not self._believed(problem, double):
            return None
        left = float(np.min(double.noise.scale[0] / self.single.noise.scale[0]))
        second, first = sorted((self._constant(double), best))
        return TwoLags(first, second, left)

    def _constant(self, solution: Solution) -> float:
        return float(solution.points[0, self.names.index(self.numbers.time_constant)])

    def _with(self, second: float) -> tuple[Problem, Solution]:
        """The fit with a second lag, which takes from the dead time what it adds, and else from the first lag."""
        begin = self.single.points.copy()
        rest = second
        for name in (self.numbers.dead_time, self.numbers.time_constant):
            if name in self.names:
                k = self.names.index(name)
                taken = min(rest, max(float(begin[0, k]) - self.problem.space.lower[k], 0.0))
                begin[0, k] -= taken
                rest -= taken
        return self._solved(lagged(self.piece, second, self._starts()), begin, float(self.single.deviance[0]))

    def _starts(self) -> dict[str, float]:
        """Where the fields that a lag is put before begin, by what the vehicle did then."""
        unknowns, point = self.fit.setup.family.unknowns, self.single.points[0]
        gains = {one.target: float(x) for one, x in zip(unknowns, point, strict=True) if one.name.endswith(" gain")}
        did = dict(zip(start_names(self.fit.setup.family.model), self.single.own[0][0], strict=False))
        did = {FIELDS[quantity]: value / gains.get(FIELDS[quantity], 1.0) for quantity, value in did.items()}
        return {name: did.get(name, 0.0) for name in self.fields}

    def _believed(self, problem: Problem, double: Solution) -> bool:
        """By the information criterion, with as much independent noise as two lags leave."""
        correlation = with_correlation(problem, double, 0).correlation
        free = self.fit.free[np.newaxis]
        refits = [
            solve(replace(one, correlation=correlation), found, free=free, warm=True, iterations=ITERATIONS)
            for one, found in ((self.problem, self.single), (problem, double))
        ]
        counts = np.bincount(problem.parts[0].channel, minlength=len(correlation))
        asked = BETTER + float(np.log(max(np.sum(counts / correlation), 2.0)))
        single, two = (float(one.deviance[0]) for one in refits)
        return two < single - asked


def _best(tried: Mapping[float, tuple[Problem, Solution]]) -> float:
    return min(tried, key=lambda second: float(tried[second][1].deviance[0]))


def _lowest(deviances: Mapping[float, float]) -> float:
    """Where a parabola through the lowest of some values and its neighbours is lowest, by the logarithm of where.

    The lowest itself where there is no such parabola, as a neighbour is infinite.
    """
    at = np.array(sorted(deviances))
    values = np.array([deviances[one] for one in at])
    k = min(max(int(np.argmin(values)), 1), len(at) - 2)
    x, y = np.log(at[k - 1 : k + 2]), values[k - 1 : k + 2]
    bend, slope, _ = np.polyfit(x - x[1], y, 2) if np.isfinite(y).all() else (0.0, 0.0, 0.0)
    if bend <= 0.0:
        return float(at[np.argmin(values)])
    return float(np.exp(np.clip(x[1] - 0.5 * slope / bend, x[0], x[2])))


# ---------------------------------------------------------------------- commands


def lagged(piece: Piece, time_constant: float, starts: Mapping[str, float]) -> Piece:
    """A piece whose commands come through a lag of first order.

    They change in steps of about :data:`GRID`; each is the mean of what the lag gives in its time.

    Args:
        piece: Part of a recording.
        time_constant: Of the lag [s].
        starts: Fields that come through it, with what they begin at.
    """
    steps = int(np.ceil(piece.duration / piece.dt)) + 1
    every = max(1, round(GRID / piece.dt))
    begins = np.union1d(piece.begins[piece.begins < steps], np.arange(0, steps, every))
    held = np.searchsorted(piece.begins, np.arange(steps), side="right") - 1
    commands = piece.commands[held[begins]].copy()
    counts = np.diff(begins, append=steps)
    for name, start in starts.items():
        means = _means(piece.commands[name][held], start, piece.dt / time_constant)
        commands[name] = np.add.reduceat(means, begins) / counts
    return replace(piece, commands=commands, begins=begins)


def _means(values: Array, start: float, step: float) -> Array:
    """Means in each step of what a lag gives that follows values, its steps being this part of its time constant."""
    left = np.exp(-step)
    ends = lfilter([1.0 - left], [1.0, -left], values, zi=[left * start])[0]
    begins = np.concatenate([[start], ends[:-1]])
    means: Array = values + (begins - values) * (1.0 - left) / step
    return means


def _with_angles(fit: Fit) -> Piece:
    """The piece that tells most with steering angles instead of yaw rates, gains of both in the angles."""
    piece, family, point = fit.telling, fit.setup.family, fit.solution.points
    gains = family.calibrations(point)
    time: Array = np.asarray(piece.begins * piece.dt, np.float64)
    v_x = Series(time, piece.commands["v_x"] * float(np.asarray(gains.v_x).flat[0]))
    yaw_rate = Series(time, piece.commands["yaw_rate"] * float(np.asarray(gains.yaw_rate).flat[0]))
    parameters = family.vehicle(point[0])
    centred = bool(getattr(parameters, "center_at_standstill", False))
    wheel_base = float(geometry_of([parameters]).signed_wheelbase[0])
    angles = commanded_steering(v_x, yaw_rate, wheel_base, centred=centred)
    commands = piece.commands.copy()
    commands["kind"] = int(ACKERMANN)
    commands["steering_angle"] = angles.value
    return replace(piece, commands=commands)
