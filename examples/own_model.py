"""A custom vehicle model: a skid-steered robot, whose tracks slip when it turns.

    python examples/own_model.py

It is the differential drive with one more parameter and one more phase in each step. In a package of yours, an entry
point of the group ``vds_gz.models`` makes ``model: skid_steered`` known to the node, to Gazebo and to every tool.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path

import vds_gz
from vds_gz import modelling


@dataclass(frozen=True, slots=True)
class SkidSteeredParameters(vds_gz.DifferentialParameters):
    """A differential drive with tracks."""

    grip: float = modelling.real(
        0.7, "-", "part of the yaw rate that the tracks do not lose", positive=True, maximum=1.0
    )


@dataclass(slots=True)
class SkidSteeredCoefficients(modelling.DifferentialCoefficients):
    """The coefficients of a differential drive, and the grip."""

    grip: float


def coefficients(p: SkidSteeredParameters, dt: float) -> SkidSteeredCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    return modelling.extended(vds_gz.DIFFERENTIAL.coefficients(p, dt), SkidSteeredCoefficients, grip=p.grip)


def slip(c: SkidSteeredCoefficients, s: modelling.DifferentialState, u: vds_gz.Command) -> None:
    """Lose a part of the yaw rate."""
    s.yaw_rate *= c.grip


def at(c: SkidSteeredCoefficients, motion: modelling.SteadyMotion) -> modelling.DifferentialState:
    """A robot in steady state at the origin."""
    s = vds_gz.DIFFERENTIAL.at(c, motion._replace(yaw_rate=motion.yaw_rate / c.grip))
    s.yaw_rate = motion.yaw_rate
    return s


SKID_STEERED = dataclasses.replace(
    vds_gz.DIFFERENTIAL,
    name="skid_steered",
    parameters=SkidSteeredParameters,
    coefficients=coefficients,
    at=at,
    actuating=(*vds_gz.DIFFERENTIAL.actuating, slip),
    xacro=Path("differential.urdf.xacro"),
)


def main() -> None:
    """Turn on the spot for as long as a differential drive takes for one turn."""
    drive = vds_gz.DriveParameters(dead_time=0.1, time_constant=0.2, max_velocity=1.0, max_acceleration=2.0)
    vehicle = vds_gz.Vehicle(SKID_STEERED, SkidSteeredParameters(drive_actuators=drive), max_command_age=math.inf)
    vehicle.enter(vds_gz.twist(0.0, 0.0, 1.0), time=0)
    vehicle.enter(vds_gz.twist(0.0, 0.0, 0.0), time=round(2.0 * math.pi * 1e9))
    vehicle.advance(10_000_000_000)
    turned = math.degrees(vehicle.motion().heading)
    print(f"turned by {turned:.1f} degrees; tracks that do not slip would have turned by {360.0:.1f}")


if __name__ == "__main__":
    main()
