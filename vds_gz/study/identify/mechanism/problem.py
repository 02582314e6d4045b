"""The least squares problem of a mechanical steering: its unknowns, their residuals and derivatives.

The unknowns are parameters, the offset of the angle's sensor and the controller's integral at the begin of the
recording; and of each stretch the initial angle, rate and controller's integral.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from vds_gz.parameters.autoware import ActuationCmdMechanicalParameters
from vds_gz.study.identify.estimates import Array, Estimate
from vds_gz.study.identify.mechanism.log import MechanismLog

DEAD_ZONE, FRICTION = "dead_zone_threshold", "friction"

#: Parameters that are positive are estimated as their logarithms.
LOGARITHMIC = ("kp", "inertia", "damping", "angle_limit", "rate_limit", "steering_torque_limit")

#: Parameters that are not negative.
NOT_NEGATIVE = ("stiffness", FRICTION, DEAD_ZONE)

#: Scale of a parameter and standard deviation of its prior, which is around the given value: of a logarithm; of
#: friction and dead zone, as a part of the torque's limit; of others, as a part of the value, at least of this.
LOGARITHM, TORQUE, OTHER, LEAST = (0.3, 1.5), (0.02, 0.1), (0.5, 1.5), 1e-3

#: The same of the sensor's offset [rad], and of the integral at the begin of the recording [rad s].
OFFSET, INTEGRAL = (0.01, 1.0), (0.1, 10.0)

#: Scales of a stretch's initial angle [rad], rate [rad/s] and integral [rad s].
BEGIN = 0.01, 0.1, 0.1

#: Derivatives are differences over this part of an unknown's scale.
DIFFERENCE = 1e-3


def with_values(
    vehicle: ActuationCmdMechanicalParameters, values: dict[str, float]
) -> ActuationCmdMechanicalParameters:
    """The vehicle with other values in its steering."""
    return dataclasses.replace(vehicle, mechanical_params=dataclasses.replace(vehicle.mechanical_params, **values))


class Unknowns:
    """The parameters of a steering that are estimated, the offset of the angle's sensor and the initial integral.

    Attributes:
        names: Parameters in ``mechanical_params``.
        given: The given vehicle's values, and 0 of offset and integral, (p,).
        scale: Steps in which the model is nearly linear, (p,).
        sigma: Standard deviation of the prior around the given values, (p,).
        lower: Bounds, (p,).
    """

    def __init__(self, vehicle: ActuationCmdMechanicalParameters, names: Sequence[str]) -> None:
        self.names = tuple(names)
        torque = vehicle.mechanical_params.steering_torque_limit
        given, kinds = [], []
        for name in names:
            value = float(getattr(vehicle.mechanical_params, name))
            kind, size = OTHER, max(abs(value), LEAST)
            if name in LOGARITHMIC:
                kind, size, value = LOGARITHM, 1.0, math.log(max(value, LEAST))
            elif name in (FRICTION, DEAD_ZONE):
                kind, size = TORQUE, torque
            given.append(value)
            kinds.append((kind[0] * size, kind[1] * size))
        self.given = np.array([*given, 0.0, 0.0])
        self.scale, self.sigma = np.array([*kinds, OFFSET, INTEGRAL]).T
        self.lower = np.array([0.0 if name in NOT_NEGATIVE else -math.inf for name in (*names, "offset", "integral")])

    def values(self, point: Array) -> dict[str, float]:
        """The parameters at a point (p,)."""
        pairs = zip(self.names, point.tolist(), strict=False)
        return {name: math.exp(number) if name in LOGARITHMIC else number for name, number in pairs}

    def estimate(self, k: int, number: float, half: float) -> Estimate | None:
        """Parameter ``k`` by its number in the vector; None where its interval is longer than twice the value."""
        ends = [max(number - half, self.lower[k]), number, min(number + half, 700.0)]
        low, value, high = (math.exp(end) if self.names[k] in LOGARITHMIC else end for end in ends)
        return Estimate(value, low, high) if high - low < 2.0 * abs(value) else None


class Problem:
    """Residuals of a recording and of what is known beforehand, as functions of all unknowns.

    Attributes:
        log, unknowns: The recording, and the unknowns that its stretches share.
        begin: The given vehicle and guesses of how stretches begin, (n,).
        lower, scale: Bounds and scales, (n,).
    """

    def __init__(self, log: MechanismLog, unknowns: Unknowns) -> None:
        self.log, self.unknowns = log, unknowns
        self.begin = np.concatenate((unknowns.given, log.begins.ravel()))
        self.lower = np.concatenate((unknowns.lower, np.full(log.begins.size, -np.inf)))
        self.scale = np.concatenate((unknowns.scale, np.tile(BEGIN, len(log.begins))))
        sigma = np.concatenate((unknowns.sigma, log.deviations.ravel()))
        self._known = np.flatnonzero(np.isfinite(sigma))
        self._sigma = sigma[self._known]

    def simulate(self, points: Array, begins: Array) -> Array:
        """Predicted measurements [rad], (steerings, measurements).

        Args:
            points: Shared unknowns of each steering, (steerings, p).
            begins: How its stretches begin, (steerings, stretches, 3).
        """
        names, offset, integral = self.unknowns.names, points[:, -2, np.newaxis], points[:, -1, np.newaxis]
        c = self.log.coefficients(len(points))
        for name, column in zip(names, points.T, strict=False):
            field = name.removeprefix("poly_").removeprefix("steering_").removesuffix("_time")
            c["mechanism"][field] = np.exp(column) if name in LOGARITHMIC else column
        begins = begins.copy()
        begins[:, :, 0] -= offset
        # The controller saw the angles without the offset.
        begins[:, :, 2] += integral + offset * self.log.since
        return self.log.simulate(c, begins) + offset

    def residuals(self, x: Array, noise: float) -> Array:
        """Of all measurements, then of what is known beforehand; in standard deviations.

        Args:
            x: All unknowns, (n,).
            noise: Standard deviation of the measurements [rad].
        """
        point, begins = self._split(x)
        left = (self.simulate(point[np.newaxis], begins[np.newaxis])[0] - self.log.angle.value) / noise
        return np.concatenate((left, (x - self.begin)[self._known] / self._sigma))

    def jacobian(self, x: Array, noise: float) -> Array:
        """Derivatives of the residuals, (residuals, n), by differences: all steerings are simulated in one call."""
        point, begins = self._split(x)
        p, count = len(point), len(self.log.stretch)
        points, all_begins = (np.repeat(v[np.newaxis], 1 + p + len(BEGIN), axis=0) for v in (point, begins))
        steps = DIFFERENCE * self.scale[: p + len(BEGIN)]
        points[1 : 1 + p] += np.diag(steps[:p])
        for j in range(len(BEGIN)):  # stretches do not depend on each other, and so change at once
            all_begins[1 + p + j, :, j] += steps[p + j]
        readings = self.simulate(points, all_begins)
        slopes = ((readings[1:] - readings[0]) / (steps[:, np.newaxis] * noise)).T
        jacobian = np.zeros((count + len(self._known), len(x)))
        jacobian[:count, :p] = slopes[:, :p]
        own = p + len(BEGIN) * self.log.stretch[:, np.newaxis] + np.arange(len(BEGIN))
        jacobian[np.arange(count)[:, np.newaxis], own] = slopes[:, p:]
        jacobian[count + np.arange(len(self._known)), self._known] = 1.0 / self._sigma
        return jacobian

    def _split(self, x: Array) -> tuple[Array, Array]:
        """Shared unknowns (p,), and how stretches begin (stretches, 3)."""
        p = len(self.unknowns.given)
        return x[:p], x[p:].reshape(-1, len(BEGIN))
