"""The parameters of a mechanical steering from a recording of the commanded steering wheel and the tire angle.

The search begins at the given vehicle and at the best of many random ones, first with large steps of the model, then
with the wanted ones. Robust least squares weigh the angles by their noise, which is estimated from the residuals.

Torques have no scale in such a recording: inertia, damping, stiffness, friction, dead zone and the torque's limit may
all be multiplied by the same number. Parameters that are not estimated keep the given values, above all the limit of
the torque and the power steering's polynomial.

In Autoware's own steering (``compatibility: autoware``) the dead zone is not estimated: it acts by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import qmc

from vds_gz.parameters.autoware import ActuationCmdMechanicalParameters
from vds_gz.study.identify.estimates import Array, Estimate
from vds_gz.study.identify.mechanism.log import MechanismLog
from vds_gz.study.identify.mechanism.problem import DEAD_ZONE, FRICTION, Problem, Unknowns, with_values
from vds_gz.study.identify.robust import ROBUST, half_widths, influence, noise_scale
from vds_gz.study.progress import Advance, ignore
from vds_gz.study.recording import Series

#: Parameters that are estimated unless others are named.
FREE = ("kp", "ki", "kd", "inertia", "damping", "stiffness", FRICTION, DEAD_ZONE)

#: The first search is done with no more steps a second [Hz].
ROUGH_RATE = 200.0

#: So many vehicles within this part of the prior are tried; the search continues from the best ones.
TRIED, AROUND, CONTINUED = 200, 0.8, 3

#: Noise of the first search, as a part of the measured range.
ROUGH_NOISE = 0.01

#: Evaluations of the model: of the first search, and of a fit with each estimate of the noise, so often estimated.
ROUGHLY, PRECISELY, ROUNDS = 25, 30, 8

#: The noise is settled when its estimate changes by less than this part.
SETTLED = 0.02

#: Blocks of time for the intervals.
BLOCKS = 20


@dataclass(frozen=True, slots=True)
class MechanismFit:
    """An identified mechanical steering.

    Attributes:
        numbers: By parameter, as far as they were estimated; None where the recording does not determine one.
        offset: Offset of the angle's sensor [rad].
        parameters: The vehicle with the estimates.
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
    """Estimate parameters of a mechanical steering.

    Args:
        wheel: Angle of the steering wheel as commanded [rad]; each holds until the next.
        speed: Speed as measured [m/s]; None: the car stood.
        angle: Tire angle as measured [rad].
        given: The vehicle; parameters that are not estimated keep its values, and the search begins at the others.
        free: Names in ``mechanical_params`` to estimate.
        step_rate: Steps of the model per second [Hz].
        advance: Called with the part of the work, 1 in all, that was done.

    Raises:
        SignalError: The recording is too short, or nothing was commanded.
    """
    vehicle = given if given.physical else with_values(given, {DEAD_ZONE: 0.0})
    unknowns = Unknowns(vehicle, [name for name in free if given.physical or name != DEAD_ZONE])
    rough = Problem(MechanismLog(wheel, speed, angle, vehicle, min(step_rate, ROUGH_RATE)), unknowns)
    begin = _search(rough, advance)
    problem = Problem(MechanismLog(wheel, speed, angle, vehicle, step_rate), unknowns)
    x, noise = _refine(problem, begin, advance)
    log = problem.log
    half = _half_widths(problem, x, noise)
    numbers = {name: unknowns.estimate(k, float(x[k]), float(half[k])) for k, name in enumerate(unknowns.names)}
    offset, width = float(x[len(numbers)]), float(half[len(numbers)])
    residuals = noise * problem.residuals(x, noise)[: len(log.stretch)]
    advance(0.2)
    return MechanismFit(
        dict.fromkeys(free) | numbers,
        Estimate(offset, offset - width, offset + width),
        with_values(given, {name: number.value for name, number in numbers.items() if number is not None}),
        float(np.std(residuals)),
        log.angle.time,
        log.commanded(),
        log.angle.value,
        log.angle.value + residuals,
    )


def _search(problem: Problem, advance: Advance) -> Array:
    """The best of several fits: from the given vehicle, and from the best ones of many around it."""
    noise = max(problem.log.level, ROUGH_NOISE * float(np.ptp(problem.log.angle.value)))
    solutions = []
    starts = _promising(problem, noise)
    for start in starts:
        solutions.append(_solve(problem, start, noise, "soft_l1", ROUGHLY))
        advance(0.4 / len(starts))
    return np.asarray(min(solutions, key=lambda solution: solution.cost).x)


def _promising(problem: Problem, noise: float) -> list[Array]:
    """The given vehicle, and the best ones of many around it."""
    unknowns, p = problem.unknowns, len(problem.unknowns.given)
    cube = qmc.LatinHypercube(p, seed=0).random(TRIED)
    points = np.maximum(unknowns.given + AROUND * unknowns.sigma * (2.0 * cube - 1.0), unknowns.lower)
    points[:, len(unknowns.names) :] = 0.0
    angles = problem.simulate(points, np.repeat(problem.log.begins[np.newaxis], TRIED, axis=0))
    cost = np.log1p(((angles - problem.log.angle.value) / (ROBUST * noise)) ** 2).sum(axis=1)
    best = np.argsort(np.where(np.isfinite(cost), cost, np.inf), kind="stable")[:CONTINUED]
    return [problem.begin, *(np.concatenate((points[k], problem.begin[p:])) for k in best)]


def _refine(problem: Problem, begin: Array, advance: Advance) -> tuple[Array, float]:
    """All unknowns, and the noise of the angles [rad], which is estimated again until it settles.

    The last fit is with Cauchy's loss, by which outliers to one side hardly shift the estimates.
    """
    x, count = begin, len(problem.log.stretch)
    noise = noise_scale(problem.residuals(x, 1.0)[:count], problem.log.floor)
    for _ in range(ROUNDS):
        x = _solve(problem, x, noise, "soft_l1", PRECISELY).x
        advance(0.4 / ROUNDS)
        before, noise = noise, noise_scale(noise * problem.residuals(x, noise)[:count], problem.log.floor)
        if abs(noise / before - 1.0) < SETTLED:
            break
    return np.asarray(_solve(problem, x, noise, "cauchy", PRECISELY).x), noise


def _solve(problem: Problem, x: Array, noise: float, loss: str, evaluations: int) -> Any:
    return least_squares(
        problem.residuals,
        x,
        problem.jacobian,
        bounds=(problem.lower, np.inf),
        x_scale=problem.scale,
        loss=loss,
        f_scale=ROBUST,
        ftol=1e-7,
        xtol=1e-9,
        gtol=None,
        max_nfev=evaluations,
        args=(noise,),
    )


def _half_widths(problem: Problem, x: Array, noise: float) -> Array:
    """Half the widths of all unknowns' intervals, (n,)."""
    time = problem.log.angle.time
    blocks = np.minimum((time - time[0]) / np.ptp(time) * BLOCKS, BLOCKS - 1).astype(np.intp)
    jacobian = problem.jacobian(x, noise)
    prior = jacobian[len(time) :]
    residuals = influence(problem.residuals(x, noise)[: len(time)])
    return half_widths(residuals, jacobian[: len(time)], blocks, prior.T @ prior)
