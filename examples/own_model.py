"""A vehicle model of one's own: a skid-steered robot, whose tracks slip when it turns.

    python examples/own_model.py

It is the differential drive of this package with one more parameter and another yaw rate. In a package of yours, an
entry point of the group ``vds_gz.models`` makes ``model: skid_steered`` known to the node, to Gazebo and to every tool.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import vds_gz
from vds_gz import modelling

#: The parent's functions, by names of this module: what a step calls by its name can be compiled.
actuate_tracks = vds_gz.DIFFERENTIAL.actuate
integrate_pose = modelling.integrate_pose


@dataclass(frozen=True, slots=True)
class SkidSteeredParameters(vds_gz.DifferentialParameters):
    """A differential drive with tracks."""

    grip: float = modelling.real(
        0.7, "", "part of the yaw rate that the tracks do not lose", positive=True, maximum=1.0
    )


@dataclass(slots=True)
class SkidSteeredCoefficients:
    """The parent's coefficients and the grip."""

    dt: float
    base_link_offset: float
    track: float
    turning_track: float
    wheel_radius: float
    body: object
    drive: object
    grip: float


def coefficients(p: SkidSteeredParameters, dt: float) -> SkidSteeredCoefficients:
    """Coefficients for steps of ``dt`` seconds."""
    parent = vds_gz.DIFFERENTIAL.coefficients(p, dt)
    given = {field.name: getattr(parent, field.name) for field in dataclasses.fields(parent)}
    return SkidSteeredCoefficients(**given, grip=p.grip)


def actuate(c, s, u) -> None:  # type: ignore[no-untyped-def]
    """Advance both drives by one step; the vehicle turns less than its tracks would have it."""
    actuate_tracks(c, s, u)
    s.yaw_rate *= c.grip


def step(c, s, u) -> None:  # type: ignore[no-untyped-def]
    """Advance drives, tracks and pose by one step."""
    actuate(c, s, u)
    s.roll_left += s.left.velocity * c.dt / c.wheel_radius
    s.roll_right += s.right.velocity * c.dt / c.wheel_radius
    integrate_pose(s, c.dt)


SKID_STEERED = dataclasses.replace(
    vds_gz.DIFFERENTIAL,
    name="skid_steered",
    parameters=SkidSteeredParameters,
    coefficients=coefficients,
    actuate=actuate,
    step=step,
)


def main() -> None:
    """Turn on the spot, as often as a differential drive would go round once."""
    drive = vds_gz.DriveParameters(dead_time=0.1, time_constant=0.2, max_velocity=1.0, max_acceleration=2.0)
    vehicle = vds_gz.Vehicle(SKID_STEERED, SkidSteeredParameters(drive_actuators=drive), max_command_age=math.inf)
    vehicle.enter(vds_gz.twist(0.0, 0.0, 1.0), time=0)
    vehicle.enter(vds_gz.twist(0.0, 0.0, 0.0), time=round(2.0 * math.pi * 1e9))
    vehicle.advance(10_000_000_000)
    turned = math.degrees(vehicle.motion().heading)
    print(f"turned by {turned:.1f} degrees, where tracks that do not slip would have turned by {360.0:.1f}")


if __name__ == "__main__":
    main()
