"""The parameters of a mechanical steering from a recording of the commanded steering wheel and the tyre angle.

The search starts at the given vehicle and at the best of many random ones, first with large steps of the model, then
with its own. Robust least squares weight the angles by their noise, which is estimated from the residuals.

Such a recording does not determine the scale of torques: inertia, damping, stiffness, friction, dead zone and the
torque's limit may all be multiplied by the same number. Parameters that are not estimated keep the given values, above
all the limit of the torque and the power steering's polynomial.

In Autoware's own steering (``compatibility: autoware``) the dead zone is not estimated: it acts by chance.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import qmc

from vds_gz.autoware.identify.mechanism_log import MechanismLog
from vds_gz.autoware.parameters.car_parameters import ActuationCmdMechanicalParameters
from vds_gz.core.arrays import Array
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.robust import ROBUST, half_widths, influence, noise_scale
from vds_gz.tools.study.progress import Advance, ignore
from vds_gz.tools.study.recording import Series

DEAD_ZONE, FRICTION = "dead_zone_threshold", "friction"

#: Parameters that are positive are estimated as their logarithms.
LOGARITHMIC = ("kp", "inertia", "damping", "angle_limit", "rate_limit", "steering_torque_limit")

#: Parameters that are not negative.
NOT_NEGATIVE = ("stiffness", FRICTION, DEAD_ZONE)

#: Scale of a parameter and standard deviation of its prior, which is around the given value: of a logarithm; of
#: friction and dead zone, as a part of the torque's limit; of others, as a part of the value, or of LEAST if larger.
LOGARITHM, TORQUE = (0.3, 1.5), (0.02, 0.1)
OTHER, LEAST = (0.5, 1.5), 1e-3

#: The same for the sensor's offset [rad], and for the integral at the start of the recording [rad s].
OFFSET, INTEGRAL = (0.01, 1.0), (0.1, 10.0)

#: Scales of a stretch's initial angle [rad], rate [rad/s] and integral [rad s]; derivatives are differences over the
#: part DIFFERENCE of a scale.
BEGIN, DIFFERENCE = (0.01, 0.1, 0.1), 1e-3

#: Parameters that are estimated unless others are named.
FREE = ("kp", "ki", "kd", "inertia", "damping", "stiffness", FRICTION, DEAD_ZONE)

#: Maximum number of steps per second in the first search [Hz], and its noise as a part of the measured range.
ROUGH_RATE, ROUGH_NOISE = 200.0, 0.01

#: Number of vehicles that are tried, their spread as a part of the prior, and number of those from which fits start.
TRIED, AROUND, CONTINUED = 200, 0.8, 3

#: Maximum numbers of evaluations of the model in the first search and in each fit, and of estimates of the noise.
ROUGHLY, PRECISELY, ROUNDS = 25, 30, 8

#: The noise is settled when its estimate changes by less than this part.
SETTLED = 0.02

#: Number of blocks of time for the intervals.
BLOCKS = 20


@dataclass(frozen=True, slots=True)
class MechanismFit:
    """An identified mechanical steering.

    ``numbers`` has the estimated parameters by name; None if the recording does not determine one. The offset is that
    of the angle's sensor, the residual the standard deviation of angles, and ``commanded`` are the tyre angles that
    follow from the commands by the steering gear [rad].
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
    """Estimate parameters in ``mechanical_params`` of a given vehicle, whose other parameters stay.

    An angle of the steering wheel [rad] holds until the next; without speeds [m/s] the car is assumed to stand.
    """
    vehicle = given if given.physical else with_values(given, {DEAD_ZONE: 0.0})
    names = [name for name in free if given.physical or name != DEAD_ZONE]
    rough, problem = (
        MechanismProblem(MechanismLog(wheel, speed, angle, vehicle, rate), vehicle, names)
        for rate in (min(step_rate, ROUGH_RATE), step_rate)
    )
    x, noise = _refine(problem, _search(rough, advance), advance)
    half, log = _half_widths(problem, x, noise), problem.log
    numbers = {name: problem.estimate(k, float(x[k]), float(half[k])) for k, name in enumerate(names)}
    offset, width = float(x[len(names)]), float(half[len(names)])
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


def with_values(
    vehicle: ActuationCmdMechanicalParameters, values: dict[str, float]
) -> ActuationCmdMechanicalParameters:
    """The vehicle with other values in its steering."""
    return dataclasses.replace(vehicle, mechanical_params=dataclasses.replace(vehicle.mechanical_params, **values))


class MechanismProblem:
    """Residuals of a recording and of the prior, as functions of all unknowns.

    The unknowns are parameters, the offset of the angle's sensor and the controller's integral at the start of the
    recording, which all stretches share, (p,); then the initial angle, rate and controller's integral of each stretch.
    The prior is around ``begin``: the vehicle's values, 0, and initial guesses of the stretches, (n,).
    """

    def __init__(self, log: MechanismLog, vehicle: ActuationCmdMechanicalParameters, names: Sequence[str]) -> None:
        self.log, self.names, self.shared = log, tuple(names), len(names) + 2
        torque = vehicle.mechanical_params.steering_torque_limit
        values, kinds = [], []
        for name in names:
            value = float(getattr(vehicle.mechanical_params, name))
            kind, size = OTHER, max(abs(value), LEAST)
            if name in LOGARITHMIC:
                kind, size, value = LOGARITHM, 1.0, math.log(max(value, LEAST))
            elif name in (FRICTION, DEAD_ZONE):
                kind, size = TORQUE, torque
            values.append(value)
            kinds.append((kind[0] * size, kind[1] * size))
        scale, sigma = np.array([*kinds, OFFSET, INTEGRAL]).T
        lower = [0.0 if name in NOT_NEGATIVE else -math.inf for name in names]
        self.begin = np.concatenate((values, (0.0, 0.0), log.begins.ravel()))
        self.lower = np.concatenate((lower, np.full(2 + log.begins.size, -np.inf)))
        self.scale = np.concatenate((scale, np.tile(BEGIN, len(log.begins))))
        self.sigma = np.concatenate((sigma, log.deviations.ravel()))
        self._known = np.flatnonzero(np.isfinite(self.sigma))

    def simulate(self, points: Array, begins: Array) -> Array:
        """Predicted measurements [rad], (steerings, measurements).

        Shared unknowns are (steerings, p), starts of stretches (steerings, stretches, 3).
        """
        offset, integral = points[:, -2, np.newaxis], points[:, -1, np.newaxis]
        parameters = {
            name.removeprefix("poly_").removeprefix("steering_").removesuffix("_time"): (
                np.exp(column) if name in LOGARITHMIC else column
            )
            for name, column in zip(self.names, points.T, strict=False)
        }
        begins = begins.copy()
        begins[:, :, 0] -= offset
        # The controller saw the angles without the offset.
        begins[:, :, 2] += integral + offset * self.log.since
        return self.log.simulate(parameters, begins) + offset

    def residuals(self, x: Array, noise: float) -> Array:
        """Residuals of all measurements, with a noise [rad], then of the prior; in standard deviations."""
        point, begins = self._split(x)
        left = (self.simulate(point[np.newaxis], begins[np.newaxis])[0] - self.log.angle.value) / noise
        return np.concatenate((left, (x - self.begin)[self._known] / self.sigma[self._known]))

    def jacobian(self, x: Array, noise: float) -> Array:
        """Derivatives of the residuals, (residuals, n), by differences: all steerings are simulated in one call."""
        point, begins = self._split(x)
        p, count = len(point), len(self.log.stretch)
        points, all_begins = (np.repeat(v[np.newaxis], 1 + p + len(BEGIN), axis=0) for v in (point, begins))
        steps = DIFFERENCE * self.scale[: p + len(BEGIN)]
        points[1 : 1 + p] += np.diag(steps[:p])
        for j in range(len(BEGIN)):  # stretches do not depend on each other, so all change at once
            all_begins[1 + p + j, :, j] += steps[p + j]
        readings = self.simulate(points, all_begins)
        slopes = ((readings[1:] - readings[0]) / (steps[:, np.newaxis] * noise)).T
        jacobian = np.zeros((count + len(self._known), len(x)))
        jacobian[:count, :p] = slopes[:, :p]
        columns = p + len(BEGIN) * self.log.stretch[:, np.newaxis] + np.arange(len(BEGIN))
        jacobian[np.arange(count)[:, np.newaxis], columns] = slopes[:, p:]
        jacobian[count + np.arange(len(self._known)), self._known] = 1.0 / self.sigma[self._known]
        return jacobian

    def estimate(self, k: int, number: float, half: float) -> Estimate | None:
        """Parameter ``k`` by its number in the vector; None if its interval is wider than twice the value."""
        ends = [max(number - half, self.lower[k]), number, min(number + half, 700.0)]
        low, value, high = (math.exp(end) if self.names[k] in LOGARITHMIC else end for end in ends)
        return Estimate(value, low, high) if high - low < 2.0 * abs(value) else None

    def _split(self, x: Array) -> tuple[Array, Array]:
        """Shared unknowns (p,), and starts of stretches (stretches, 3)."""
        return x[: self.shared], x[self.shared :].reshape(-1, len(BEGIN))


def _search(problem: MechanismProblem, advance: Advance) -> Array:
    """The best of several fits: from the given vehicle, and from the best ones of many around it."""
    noise = max(problem.log.level, ROUGH_NOISE * float(np.ptp(problem.log.angle.value)))
    solutions = []
    starts = _promising(problem, noise)
    for start in starts:
        solutions.append(_solve(problem, start, noise, "soft_l1", ROUGHLY))
        advance(0.4 / len(starts))
    return np.asarray(min(solutions, key=lambda solution: solution.cost).x)


def _promising(problem: MechanismProblem, noise: float) -> list[Array]:
    """The given vehicle, and the best ones of many around it."""
    p = problem.shared
    cube = qmc.LatinHypercube(p, seed=0).random(TRIED)
    spread = AROUND * problem.sigma[:p] * (2.0 * cube - 1.0)
    points = np.maximum(problem.begin[:p] + spread, problem.lower[:p])
    points[:, len(problem.names) :] = 0.0
    angles = problem.simulate(points, np.repeat(problem.log.begins[np.newaxis], TRIED, axis=0))
    cost = np.log1p(((angles - problem.log.angle.value) / (ROBUST * noise)) ** 2).sum(axis=1)
    best = np.argsort(np.where(np.isfinite(cost), cost, np.inf), kind="stable")[:CONTINUED]
    return [problem.begin, *(np.concatenate((points[k], problem.begin[p:])) for k in best)]


def _refine(problem: MechanismProblem, begin: Array, advance: Advance) -> tuple[Array, float]:
    """Fit all unknowns, and the noise of the angles [rad], which is estimated again until it settles.

    The last fit is with Cauchy's loss, with which outliers to one side hardly shift the estimates.
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


def _solve(problem: MechanismProblem, x: Array, noise: float, loss: str, evaluations: int) -> Any:
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


def _half_widths(problem: MechanismProblem, x: Array, noise: float) -> Array:
    """Half the widths of all unknowns' intervals, (n,)."""
    time = problem.log.angle.time
    blocks = np.minimum((time - time[0]) / np.ptp(time) * BLOCKS, BLOCKS - 1).astype(np.intp)
    jacobian = problem.jacobian(x, noise)
    prior = jacobian[len(time) :]
    residuals = influence(problem.residuals(x, noise)[: len(time)])
    return half_widths(residuals, jacobian[: len(time)], blocks, prior.T @ prior)
