"""Whether a second lag, of an actuator's commands, predicts better than one lag.

The model has one lag and a dead time, which share the effect of two lags, so a second lag is only a finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from scipy.signal import lfilter

from vds_gz.core.arrays import Array
from vds_gz.core.vehicle.command import TWIST
from vds_gz.tools.study.identify.build import Problem, coarse_segments, problem_of
from vds_gz.tools.study.identify.cross_validation import better, blocks_of, left_out
from vds_gz.tools.study.identify.observed_limits import Reaches
from vds_gz.tools.study.identify.problem.observed import steers
from vds_gz.tools.study.identify.problem.problem_setup import Setup
from vds_gz.tools.study.identify.problem.segments import Segment
from vds_gz.tools.study.identify.residual_noise import noise_of
from vds_gz.tools.study.identify.supported_terms import Fitted
from vds_gz.tools.study.identify.vehicle_fit import Solution, solve
from vds_gz.tools.study.recording import COMMANDED

#: Time constants of a second lag that are tried, as parts of the first one's; minimum length of a lag [s].
PARTS, SHORTEST_LAG = (0.3, 1.0), 0.01

#: The search continues with the best time constant divided and multiplied by this.
REFINEMENT = 1.35

#: Commands behind a lag change in steps of this [s].
GRID = 0.005

#: Simulations in a fit with a second lag.
SIMULATIONS = 5


def lag_findings(setup: Setup, reach: Reaches, fitted: Fitted) -> Iterator[str]:
    """Findings on the order of lags.

    A twist commands speed and steering of a car together, so neither can be delayed separately.
    """
    steerings = [name for name, actuator in setup.actuators.items() if actuator.steers]
    if setup.kind == TWIST and steerings:
        return
    angles = {setup.actuators[name].command or "steering_angle" for name in steerings}
    single = []
    index = {term.name: k for k, term in enumerate(setup.family.terms)}
    solution = fitted.solution
    for name, actuation in setup.actuators.items():
        if name in steerings and not angles <= set(setup.kind.fields):
            continue  # one command for several steerings
        k = index.get(actuation["time_constant"])
        if k is None or not solution.free[k] or solution.point[k] < SHORTEST_LAG:
            continue
        lags = None if fitted.exact else _two_lags(setup, reach, solution, name, k)
        if lags is not None:
            longer, shorter = sorted(lags, reverse=True)
            if shorter < SHORTEST_LAG:
                continue
            yield (
                f"{name}: two lags of about {longer:.2g} and {shorter:.2g} s explain the recording better than one; "
                "the model has one, whose time constant and dead time take the effect of both"
            )
        else:
            single.append(name)
    if single:
        yield f"{' and '.join(single)}: a lag of first order is enough; a second lag does not improve the prediction"


def _two_lags(setup: Setup, reach: Reaches, solution: Solution, name: str, k: int) -> tuple[float, float] | None:
    """The time constants of two lags that predict better than one [s]; None if none do."""
    segments, point, free = coarse_segments(setup), solution.point, solution.free
    plain = problem_of(setup, segments, reach)
    now = solve(plain, point, free, solution.noise, starts=solution.starts, evaluations=SIMULATIONS)
    noise, blocks = noise_of(plain, now.residuals), blocks_of(plain)
    score = left_out(plain, now, blocks, noise)
    names = [COMMANDED[quantity] for quantity in setup.family.start_names]
    if setup.actuators[name].command:
        fields: tuple[str, ...] = (setup.actuators[name].command,)
    elif setup.actuators[name].steers:
        fields = ("steering_angle",)
    else:
        fields = ("v_x",) if steers(setup.family.model, setup.family.parameters) else ("v_x", "v_y", "yaw_rate")
    dead_time = setup.actuators[name]["dead_time"]
    dead = setup.family.index(dead_time) if dead_time else None

    def fit_with(second: float) -> tuple[Problem, Solution]:
        """The fit with a second lag, whose time is subtracted from the dead time, and otherwise from the first lag."""
        starts = ({**dict.fromkeys(fields, 0.0), **dict(zip(names, start, strict=True))} for start in now.starts)
        delayed = [
            lagged(segment, second, {field: start[field] for field in fields})
            for segment, start in zip(segments, starts, strict=True)
        ]
        problem = problem_of(setup, delayed, reach)
        begin = now.point.copy()
        part = min(second, max(begin[k] - problem.lower[k], 0.0) * 0.5)
        begin[k] -= part
        if dead is not None and now.free[dead]:
            begin[dead] = max(begin[dead] - (second - part), 0.0)
        return problem, solve(problem, begin, now.free, now.noise, starts=now.starts, evaluations=SIMULATIONS)

    gain, second, first = 0.0, 0.0, 0.0
    tried = [part * float(point[k]) for part in PARTS]
    for _ in range(2):
        for time_constant in tried:
            problem, trial = fit_with(time_constant)
            trial_gain = better(score, left_out(problem, trial, blocks, noise))
            if trial_gain > gain:
                gain, second, first = trial_gain, time_constant, float(trial.point[k])
        if gain == 0.0:
            return None
        tried = [second / REFINEMENT, second * REFINEMENT]
    return second, first


def lagged(segment: Segment, time_constant: float, starts: Mapping[str, float]) -> Segment:
    """A segment whose commands pass a first-order lag.

    They change in steps of about :data:`GRID`; each is the mean of the lag's output in its time.
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
    """Means of a lag's output in each step, with steps of this part of its time constant."""
    left = np.exp(-step)
    ends = lfilter([1.0 - left], [1.0, -left], values, zi=[left * start])[0]
    begins = np.concatenate([[start], ends[:-1]])
    means: Array = values + (begins - values) * (1.0 - left) / step
    return means
