"""Whether an actuator's lag is of first order: a second lag is tried in front of it.

A lag in front of an actuator is a lag of what is commanded. The model has one lag and a dead time, which share what two
lags do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from scipy.signal import lfilter

from vds_gz.study.identify.build import coarse_segments, problem_of
from vds_gz.study.identify.estimates import Array
from vds_gz.study.identify.fit import Problem, Solution, noise_of, solve
from vds_gz.study.identify.problem.observed import start_names
from vds_gz.study.identify.problem.segments import Segment
from vds_gz.study.identify.problem.setup import FIELDS, Setup
from vds_gz.study.identify.reach import Reach
from vds_gz.study.identify.selection import better, blocks_of, left_out
from vds_gz.vehicle.command import TWIST

#: Time constants of a second lag that are tried, as parts of the first one's; none where that is shorter than this [s].
PARTS, SHORTEST = (0.3, 1.0), 0.01

#: What is commanded through a lag changes in steps of this [s].
GRID = 0.005

#: Simulations in a trial.
TRIAL = 5


def lag_findings(setup: Setup, reach: Mapping[str, Reach], found: Solution) -> Iterator[str]:
    """Whether lags are of first order, in words."""
    single = []
    for name, actuation in setup.actuators.items():
        names = [term.name for term in setup.family.terms]
        if actuation.time_constant not in names or (
            name == "drive" and "steering" in setup.actuators and _twists(setup)
        ):
            continue
        k = names.index(actuation.time_constant)
        if not found.free[k] or found.point[k] < SHORTEST or (name == "steering" and _twists(setup)):
            continue
        lags = _two_lags(setup, reach, found, name, k)
        if lags is not None:
            longer, shorter = sorted(lags, reverse=True)
            yield (
                f"{name}: two lags of about {longer:.2g} and {shorter:.2g} s explain the recording better than one; "
                "the model has one, whose time constant and dead time share what two do"
            )
        else:
            single.append(name)
    if single:
        yield f"the lag of {' and '.join(single)} is of first order as far as the recording tells"


def _twists(setup: Setup) -> bool:
    """A twist commands speed and steering at once, so that none of both can be delayed by itself."""
    return setup.kind == TWIST and "steering" in setup.actuators


def _two_lags(
    setup: Setup, reach: Mapping[str, Reach], found: Solution, name: str, k: int
) -> tuple[float, float] | None:
    """The time constants of two lags that predict better than one [s]; None if none do."""
    segments = coarse_segments(setup)
    plain = problem_of(setup, segments, reach)
    now = solve(plain, found.point, found.free, found.noise, starts=found.starts, evaluations=TRIAL)
    noise = noise_of(plain, now.residuals)
    blocks = blocks_of(plain)
    score = left_out(plain, now, blocks, noise)
    if float(np.max(noise.correlation)) < 1.0 and (noise.scale <= plain.floors).all():
        return None
    if name == "steering":
        fields: tuple[str, ...] = ("steering_angle",)
    elif setup.actuators[name].time_constant.startswith("acc"):
        fields = ("target_acceleration",)
    else:
        fields = ("v_x", "v_y", "yaw_rate") if "steering" not in setup.actuators else ("v_x",)
    best: tuple[float, float, float] | None = None
    tried = [part * float(found.point[k]) for part in PARTS]
    for _ in range(2):
        for second in tried:
            problem, solution = _with(setup, reach, segments, now, fields, second, k)
            gained = better(score, left_out(problem, solution, blocks, noise))
            if gained > 0.0 and (best is None or gained > best[0]):
                best = gained, second, float(solution.point[k])
        if best is None:
            return None
        tried = [best[1] / 1.35, best[1] * 1.35]
    assert best is not None
    return best[1], best[2]


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
    lagged_ = []
    for segment, start in zip(segments, now.starts, strict=True):
        first = {FIELDS[name]: value for name, value in zip(names, start, strict=True)}
        lagged_.append(lagged(segment, second, {field: first.get(field, 0.0) for field in fields}))
    problem = problem_of(setup, lagged_, reach)
    begin = now.point.copy()
    part = min(second, max(begin[k] - problem.lower[k], 0.0) * 0.5)
    begin[k] -= part
    dead = next((j for j, term in enumerate(setup.family.terms) if term.name == _dead_time(setup, k)), None)
    if dead is not None and now.free[dead]:
        begin[dead] = max(begin[dead] - (second - part), 0.0)
    return problem, solve(problem, begin, now.free, now.noise, starts=now.starts, evaluations=TRIAL)


def _dead_time(setup: Setup, k: int) -> str:
    name = setup.family.terms[k].name
    return next(one.dead_time for one in setup.actuators.values() if one.time_constant == name)


def lagged(segment: Segment, time_constant: float, starts: Mapping[str, float]) -> Segment:
    """A segment whose commands come through a lag of first order.

    They change in steps of about :data:`GRID`; each is the mean of what the lag gives in its time.

    Args:
        segment: Part of a recording.
        time_constant: Of the lag [s].
        starts: Fields that come through it, with what they begin at.
    """
    steps = int(np.ceil(segment.duration / segment.dt)) + 1
    every = max(1, round(GRID / segment.dt))
    begins = np.union1d(segment.begins[segment.begins < steps], np.arange(0, steps, every))
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
