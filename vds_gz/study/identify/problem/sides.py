"""A vehicle with two drives whose wheels differ: each moves its side by its own gain.

A wheel whose diameter is not the configured one turns as its drive does, and rolls further or less far; that is all its
joint and its drive know of it (J. Borenstein and L. Feng, Measurement and correction of systematic odometry errors in
mobile robots, 1996).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vds_gz.parameters.vehicles import DifferentialParameters
from vds_gz.study.identify.problem.observed import Geometry
from vds_gz.vehicle.command import Command
from vds_gz.vehicle.differential import DIFFERENTIAL, DifferentialCoefficients, DifferentialState
from vds_gz.vehicle.differential import actuate as drive
from vds_gz.vehicle.model import AnyModel, SteadyMotion, extended


@dataclass(frozen=True, slots=True)
class SidedParameters:
    """A vehicle, and how far its wheels roll for each metre that they should."""

    vehicle: DifferentialParameters
    left_gain: float
    right_gain: float


@dataclass(slots=True)
class SidedCoefficients(DifferentialCoefficients):
    """Those of the vehicle, and the gains."""

    left_gain: float
    right_gain: float


def sided(vehicles: Sequence[DifferentialParameters], geometry: Geometry) -> list[SidedParameters]:
    """Vehicles with the gains of their wheels, of which there is one a vehicle."""
    gains = zip(vehicles, geometry.left_gain.tolist(), geometry.right_gain.tolist(), strict=True)
    return [SidedParameters(*one) for one in gains]


def coefficients(p: SidedParameters, dt: float) -> SidedCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    plain = DIFFERENTIAL.coefficients(p.vehicle, dt)
    return extended(plain, SidedCoefficients, left_gain=p.left_gain, right_gain=p.right_gain)


def actuate(c: SidedCoefficients, s: DifferentialState, u: Command) -> None:
    """Advance both drives by one step and set the velocity that both wheels give the reference point."""
    drive(c, s, u)
    left = c.left_gain * s.left.velocity
    right = c.right_gain * s.right.velocity
    s.v_x = 0.5 * (left + right)
    s.yaw_rate = (right - left) / c.turning_track


def at(c: SidedCoefficients, motion: SteadyMotion) -> DifferentialState:
    """A vehicle in steady state at the origin."""
    half = 0.5 * c.turning_track * motion.yaw_rate
    left, right = (motion.v_x - half) / c.left_gain, (motion.v_x + half) / c.right_gain
    s = DIFFERENTIAL.at(c, SteadyMotion(v_x=0.5 * (left + right), yaw_rate=(right - left) / c.turning_track))
    s.v_x, s.yaw_rate = motion.v_x, motion.yaw_rate
    return s


_PLAIN: AnyModel = DIFFERENTIAL

#: What of the model depends on its parameters is that of ``vehicle``: ask the plain model for it.
SIDED: AnyModel = replace(_PLAIN, parameters=SidedParameters, coefficients=coefficients, at=at, actuating=(actuate,))
