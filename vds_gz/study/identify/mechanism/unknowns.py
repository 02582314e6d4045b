"""What is not known of a mechanical steering, as the vector that the solver works on."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from vds_gz.parameters.autoware import ActuationCmdMechanicalParameters
from vds_gz.study.identify.estimates import Estimate
from vds_gz.study.identify.solver.protocol import Array, Space
from vds_gz.vehicle.autoware.models import mechanism
from vds_gz.vehicle.schedule import Records

DEAD_ZONE, FRICTION = "dead_zone_threshold", "friction"

#: What is more than nothing is found as its logarithm.
LOGARITHMIC = ("kp", "inertia", "damping", "angle_limit", "rate_limit", "steering_torque_limit")

#: What may be nothing, and is not less.
AT_LEAST_NONE = ("stiffness", FRICTION, DEAD_ZONE)

#: Scales, and within what of the given value a number is expected, which holds what acts little: of a logarithm; of
#: friction and dead zone, as a part of the torque's limit; of others, as a part of the value, at least of this.
LOGARITHM, TORQUE, OTHER, LEAST = (0.3, 1.5), (0.02, 0.1), (0.5, 1.5), 1e-3

#: Scales of what the sensor reads too much [rad] and of the integral at the log's begin [rad s].
OFFSET, INTEGRAL = 0.01, 0.1


def with_values(
    vehicle: ActuationCmdMechanicalParameters, values: dict[str, float]
) -> ActuationCmdMechanicalParameters:
    """The vehicle with other values in its steering."""
    return dataclasses.replace(vehicle, mechanical_params=dataclasses.replace(vehicle.mechanical_params, **values))


class Unknowns:
    """Some parameters, what the sensor of the angle reads too much, and the controller's integral at the log's begin.

    Attributes:
        vehicle: What is given; parameters that are not looked for keep its values.
        names: In ``mechanical_params``.
        given: The point that the vehicle stands for.
        space: Of the solver.
    """

    def __init__(self, vehicle: ActuationCmdMechanicalParameters, names: Sequence[str]) -> None:
        self.vehicle, self.names = vehicle, tuple(names)
        values = {name: getattr(vehicle.mechanical_params, name) for name in names}
        kinds = np.array([self._kind(*one) for one in values.items()]).reshape(-1, 2)
        lowest = [0.0 if name in AT_LEAST_NONE else -math.inf for name in names]
        given = [math.log(max(value, LEAST)) if name in LOGARITHMIC else value for name, value in values.items()]
        self.given = np.array([*given, 0.0, 0.0])
        self.space = Space.of(
            [*kinds[:, 0], OFFSET, INTEGRAL],
            [*lowest, -math.inf, -math.inf],
            mean=self.given,
            sigma=[*kinds[:, 1], 1.0, 10.0],
        )

    def _kind(self, name: str, value: float) -> tuple[float, float]:
        """Scale of a number, and within what of the given value it is expected."""
        if name in LOGARITHMIC:
            return LOGARITHM
        kind, size = OTHER, max(abs(value), LEAST)
        if name in (FRICTION, DEAD_ZONE):
            kind, size = TORQUE, self.vehicle.mechanical_params.steering_torque_limit
        return kind[0] * size, kind[1] * size

    def estimate(self, name: str, number: float, low: float, high: float) -> Estimate | None:
        """A parameter by its number in the vector; None where that may as well be nothing, or anything."""
        value, *ends = (math.exp(one) if name in LOGARITHMIC else one for one in (number, low, high))
        return Estimate(value, *ends) if max(ends) - min(ends) < 2.0 * abs(value) else None

    def offset(self, points: Array) -> Array:
        """What the sensor reads too much [rad]."""
        return points[:, -2]

    def integral(self, points: Array) -> Array:
        """The controller's integral at the log's begin, less what is guessed [rad s]."""
        return points[:, -1]

    def coefficients(self, points: Array, dt: float) -> Records:
        """Of a steering for each point, with steps of a length [s]."""
        from vds_gz.vehicle.compiled import records

        c = records([mechanism(self.vehicle, dt)]).repeat(len(points))
        for name, column in zip(self.names, points.T, strict=False):
            field = name.removeprefix("poly_").removeprefix("steering_").removesuffix("_time")
            c["mechanism"][field] = np.exp(column) if name in LOGARITHMIC else column
        return c
