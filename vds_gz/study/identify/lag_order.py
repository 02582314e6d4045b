"""Whether an actuator's lag is of first order: a second lag is tried in front of it.

A lag in front of an actuator is a lag of what is commanded. The model has one lag and a dead time, which share what two
lags do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from scipy.signal import lfilter

from vds_gz.study.identify.build import Problem, coarse_segments, problem_of
from vds_gz.study.identify.cross_validation import better, blocks_of, left_out
from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.fit import Solution, solve
from vds_gz.study.identify.noise import noise_of
from vds_gz.study.identify.problem.observed import start_names
from vds_gz.study.identify.problem.segments import Segment
from vds_gz.study.identify.problem.setup import FIELDS, Setup
from vds_gz.study.identify.reach import Reach
from vds_gz.study.identify.support import Fitted
from vds_gz.vehicle.command import TWIST

#: Time constants of a second lag that are tried, as parts of the first one's; a shorter first lag is taken for one [s].
PARTS, SHORTEST_LAG = (0.3, 1.0), 0.01

#: The search continues with the best time constant divided and multiplied by this.
REFINEMENT = 1.35

#: A command changes in steps of this behind a lag [s].
GRID = 0.005

#: Simulations in the fit with a second lag.
TRIAL_SIMULATIONS = 5


def lag_findings(setup: Setup, reach: Mapping[str, Reach], fitted: Fitted) -> Iterator[str]:
    """Whether lags are of first order, in words.

    A twist commands speed and steering of a car at once, so that neither can be delayed by itself.
    """
    if setup.kind == TWIST and "steering" in setup.actuators:
        return
    single = []
    index = {term.name: k for k, term in enumerate(setup.family.terms)}
    solution = fitted.solution
    for name, actuation in setup.actuators.items():
        k = index.get(actuation.time_constant)
        if k is None or not solution.free[k] or solution.point[k] < SHORTEST_LAG:
            continue
        lags = None if fitted.exact else _two_lags(setup, reach, solution, name, k)
        if lags is not None:
            longer, shorter = sorted(lags, reverse=True)
            yield (
                f"{name}: two lags of about {longer:.2g} and {shorter:.2g} s explain the recording better than one; "
                "the model has one, whose time constant and dead time share what two do"
            )
        else:
            single.append(name)
    if single:
        yield f"{' and '.join(single)}: a lag of first order is enough; a second lag does not improve the prediction"


def _two_lags(
    setup: Setup, reach: Mapping[str, Reach], solution: Solution, name: str, k: int
) -> tuple[float, float] | None:
    """The time constants of two lags that predict better than one [s]; None if none do."""
    segments = coarse_segments(setup)
    plain = problem_of(setup, segments, reach)
    now = solve(
        plain, solution.point, solution.free, solution.noise, starts=solution.starts, evaluations=TRIAL_SIMULATIONS
    )
    noise, blocks = noise_of(plain, now.residuals), blocks_of(plain)
    score = left_out(plain, now, blocks, noise)
    if name == "steering":
        fields: tuple[str, ...] = ("steering_angle",)
    elif setup.actuators[name].time_constant.startswith("acc"):
        fields = ("target_acceleration",)
    else:
        fields = ("v_x", "v_y", "yaw_rate") if "steering" not in setup.actuators else ("v_x",)
    gain, second, first = 0.0, 0.0, 0.0
    tried = [part * float(solution.point[k]) for part in PARTS]
    for _ in range(2):
        for time_constant in tried:
            problem, trial = _with(setup, reach, segments, now, fields, time_constant, k)
            trial_gain = better(score, left_out(problem, trial, blocks, noise))
            if trial_gain > gain:
                gain, second, first = trial_gain, time_constant, float(trial.point[k])
        if gain == 0.0:
            return None
        tried = [second / REFINEMENT, second * REFINEMENT]
    return second, first


def _with(
    setup: Setup,
    reach: Mapping[str, Reach],
    segments: list[Segment],
    now: Solution,
    fields: tuple[str, ...],
    second: float,
    k: int,
) -> tuple[Problem, Solution]:
    """The fit with a second lag, which takes from the dead time what it adds, and else from the first lag."""
    names = start_names(setup.family.model)
    delayed = []
    for segment, start in zip(segments, now.starts, strict=True):
        first = {FIELDS[name]: value for name, value in zip(names, start, strict=True)}
        delayed.append(lagged(segment, second, {field: first.get(field, 0.0) for field in fields}))
    problem = problem_of(setup, delayed, reach)
    begin = now.point.copy()
    part = min(second, max(begin[k] - problem.lower[k], 0.0) * 0.5)
    begin[k] -= part
    name = setup.family.terms[k].name
    dead_time = next(actuation.dead_time for actuation in setup.actuators.values() if actuation.time_constant == name)
    for j, term in enumerate(setup.family.terms):
        if term.name == dead_time and now.free[j]:
            begin[j] = max(begin[j] - (second - part), 0.0)
    return problem, solve(problem, begin, now.free, now.noise, starts=now.starts, evaluations=TRIAL_SIMULATIONS)


def lagged(segment: Segment, time_constant: float, starts: Mapping[str, float]) -> Segment:
    """A segment whose commands come through a lag of first order.

    They change in steps of about :data:`GRID`; each is the mean of what the lag gives in its time.
    """
    steps = int(np.ceil(segment.duration / segment.dt)) + 1
    stride = max(1, round(GRID / segment.dt))
    begins = np.union1d(segment.begins[segment.begins < steps], np.arange(0, steps, stride))
    held = np.searchsorted(segment.begins, np.arange(steps), side="right") - 1
    commands = segment.commands[held[begins]].copy()
    counts = np.diff(begins, append=steps)
    for name, start in starts.items():
        means = _means(segment.commands[name][held], start, segment.dt / time_constant)
        commands[name] = np.add.reduceat(means, begins) / counts
    return replace(segment, commands=commands, begins=begins)


def _means(values: Array, start: float, step: float) -> Array:
    """Means in each step of what a lag gives that follows values, its steps being this part of its time constant."""
    left = np.exp(-step)
    ends = lfilter([1.0 - left], [1.0, -left], values, zi=[left * start])[0]
    begins = np.concatenate([[start], ends[:-1]])
    means: Array = values + (begins - values) * (1.0 - left) / step
    return means
