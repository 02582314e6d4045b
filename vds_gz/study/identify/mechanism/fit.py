"""The parameters of a mechanical steering from logs: what the steering wheel was commanded, and how the tires turned.

The parameters are the most likely ones (:mod:`vds_gz.study.identify.solver`): from the best of many sets, with few
steps a second, then with as many as are wanted; size and tails of the noise are found too.

Torques have no scale in such a log: inertia, damping, stiffness, friction, dead zone and the torque's limit may all be
multiplied by the same number. So what is not looked for keeps the value that it is given, above all the limit of the
torque and the power steering's polynomial.

In Autoware's own steering (``compatibility: autoware``) the dead zone is not looked for: it acts by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from vds_gz.parameters.autoware import ActuationCmdMechanicalParameters
from vds_gz.study.identify.estimates import Estimate
from vds_gz.study.identify.mechanism.log import MechanismLog
from vds_gz.study.identify.mechanism.unknowns import DEAD_ZONE, FRICTION, Unknowns, with_values
from vds_gz.study.identify.solver.explanation import explain, with_correlation
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.profile import profile_intervals
from vds_gz.study.identify.solver.protocol import Array
from vds_gz.study.progress import Advance, ignore
from vds_gz.study.signals import Series

#: What is looked for unless others are named.
FREE = ("kp", "ki", "kd", "inertia", "damping", "stiffness", FRICTION, DEAD_ZONE)

#: The first search is done with no more steps a second [Hz].
ROUGH_RATE = 200.0

#: So many sets within this part of what is expected are tried; from the best ones the likelihood is climbed.
TRIED, AROUND, CLIMBED = 200, 0.8, 3

#: A climb ends after so many iterations; the deviance is found to this.
ROUGHLY, PRECISE = 25, 1e-3

#: Residuals beyond so many times the noise count less in that.
OUTLIERS = 3.0


@dataclass(frozen=True, slots=True)
class MechanismFit:
    """What was found of a steering.

    Attributes:
        numbers: By parameter, as far as they were looked for; None where the log does not tell.
        offset: What the sensor of the angle reads too much [rad].
        parameters: The vehicle with what was found.
        residual: Standard deviation of the angles from the model [rad].
        time, commanded, measured, modelled: For pictures; commands as tire angles [rad] at the gear's ratio.
    """

    numbers: dict[str, Estimate | None]
    offset: Estimate
    parameters: ActuationCmdMechanicalParameters
    residual: float
    time: Array
    commanded: Array
    measured: Array
    modelled: Array


def fit_mechanism(
    wheel: Series,
    speed: Series | None,
    angle: Series,
    given: ActuationCmdMechanicalParameters,
    *,
    free: Sequence[str] = FREE,
    step_rate: float = 1000.0,
    advance: Advance = ignore,
) -> MechanismFit:
    """Find parameters of a mechanical steering.

    Args:
        wheel: Angle of the steering wheel as commanded [rad]; each holds until the next.
        speed: Speed as measured [m/s]; None: the car stood.
        angle: Tire angle as measured [rad].
        given: The vehicle; what is not looked for keeps its values, and the search begins at the others.
        free: Names in ``mechanical_params`` to look for.
        step_rate: Steps of the model per second [Hz].
        advance: Called with the part of the work, 1 in all, that was done.

    Raises:
        SignalError: The log is too short, or nothing was commanded.
    """
    vehicle = given if given.physical else with_values(given, {DEAD_ZONE: 0.0})
    unknowns = Unknowns(vehicle, [name for name in free if given.physical or name != DEAD_ZONE])
    rough = MechanismLog(wheel, speed, angle, unknowns, min(step_rate, ROUGH_RATE))
    begun = solve(rough.problem(), _promising(rough, unknowns), iterations=ROUGHLY, tolerance=PRECISE)
    advance(0.4)
    log = MechanismLog(wheel, speed, angle, unknowns, step_rate)
    best = solve(log.problem(), begun.of([begun.best]), warm=True, tolerance=PRECISE)
    problem = with_correlation(log.problem(), best, 0)
    best = solve(problem, best, warm=True, tolerance=PRECISE)
    advance(0.2)
    intervals = profile_intervals(problem, best, 0, np.ones(len(unknowns.given), bool))
    explained = explain(problem, intervals.solution, 0)
    residuals = np.concatenate([part.residuals for part in explained])
    *found, offset, _ = np.column_stack((intervals.solution.points[0], intervals.low, intervals.high)).tolist()
    advance(0.4)
    numbers = {name: unknowns.estimate(name, *one) for name, one in zip(unknowns.names, found, strict=True)}
    return MechanismFit(
        dict.fromkeys(free) | numbers,
        Estimate(*offset),
        with_values(given, {name: one.value for name, one in numbers.items() if one is not None}),
        float(np.std(residuals)),
        log.angle.time,
        log.commanded(),
        log.angle.value,
        log.angle.value + residuals,
    )


def _promising(log: MechanismLog, unknowns: Unknowns) -> Array:
    """The given point, and the best ones of many about it."""
    space = unknowns.space
    cube = qmc.LatinHypercube(len(space), seed=0).random(TRIED)
    points = np.clip(unknowns.given + AROUND * space.sigma * (2.0 * cube - 1.0), space.lower, space.upper)
    points[:, len(unknowns.names) :] = 0.0
    cost = np.zeros(TRIED)
    for part in log.parts:
        left = part.evaluate(points, np.repeat(part.own_begin[None], TRIED, axis=0), None).predicted - part.measured
        cost += np.log1p((left / (OUTLIERS * log.level + 1e-6)) ** 2).sum(axis=1)
    best = np.argsort(np.where(np.isfinite(cost), cost, np.inf), kind="stable")[:CLIMBED]
    return np.vstack((unknowns.given, points[best]))
