"""Robots whose wheels all steer: both axles by Ackermann's rule, or each wheel on its own."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vds_gz.core.parameters.vehicles import SwerveParameters
from vds_gz.core.vehicle.swerve import module_names
from vds_gz.tools.adopt import geometry_check as geometry
from vds_gz.tools.adopt.adopted_vehicle import AdoptedVehicle, Parts, neutral, offset, steering, twice
from vds_gz.tools.adopt.geometry_check import RobotWheel
from vds_gz.tools.adopt.robot_drive import Figure, RobotDrive
from vds_gz.tools.adopt.structure import Structure, StructureJoint


def four_wheel_steering(drive: RobotDrive, structure: Structure) -> AdoptedVehicle:
    """Both axles steer; the wheels turn about their hinges, as the robot's own do only if they stand on them."""
    corners = ("front_left", "front_right", "rear_left", "rear_right")  # the order of the model's joints
    hinges = {corner: structure.joint(drive.joints[f"steering_{corner}"][0]) for corner in corners}
    wheels = {corner: geometry.wheel(structure, structure.joint(drive.joints[corner][0])) for corner in corners}
    joints = {f"steering_{corner}": [hinge.name] for corner, hinge in hinges.items()}
    joints |= {f"wheel_{corner}_joint": drive.names(corner) for corner in corners}
    adopted = AdoptedVehicle("four_wheel_steering", Parts(joints, set(joints), [*wheels.values()]))
    middles, tracks = {}, {}
    for axle in ("front", "rear"):
        left, right = hinges[f"{axle}_left"].position, hinges[f"{axle}_right"].position
        middles[axle] = 0.5 * (left + right)
        measured = abs(float((left - right)[1]))
        tracks[axle] = adopted.take(f"distance of the {axle} hinges", drive, f"{axle}_track", measured)
    base = adopted.take("wheel base", drive, "wheel_base", float((middles["front"] - middles["rear"])[0]))
    radius = _wheel_radius(adopted, drive)
    adopted.values = {
        "base_link_offset": offset(middles["rear"], "rear hinges"),
        "wheel_base": base,
        "track_front": tracks["front"],
        "track_rear": tracks["rear"],
        "tire_diameter": twice(radius),
    }
    adopted.values |= neutral("drive_actuator", drive)
    for axle in ("front", "rear"):
        pair = [hinges[f"{axle}_left"], hinges[f"{axle}_right"]]
        _check_stops(pair)
        # In counter phase the turning centre is beside the middle of the wheel base.
        stop = min(geometry.stop_of(pair) or math.inf, math.radians(89.0))
        middle = geometry.middle_angle(stop, 0.5 * base.value, tracks[axle].value)
        limit = Figure(middle, "middle angle at which the inner hinge stops, with both axles in counter phase")
        adopted.values |= {f"{axle}_{name}": figure for name, figure in steering(limit, pair).items()}
    adopted.findings.append(
        "each axle turns as a whole, by Ackermann's rule, so the robot does not turn in place; wheels that turn "
        "independently are modules of the model 'swerve'"
    )
    return adopted


def swerve(drive: RobotDrive, structure: Structure) -> AdoptedVehicle:
    """Each wheel has a hinge of its own."""
    numbers = [place for place in drive.joints if not place.startswith("steering")]
    hinges = [structure.joint(drive.joints[f"steering_{number}"][0]) for number in numbers]
    wheels = [geometry.wheel(structure, structure.joint(drive.joints[number][0])) for number in numbers]
    for hinge, wheel in zip(hinges, wheels, strict=True):
        _check_module(hinge, wheel)
    x, y = ([float(np.round(hinge.position[axis], 9)) + 0.0 for hinge in hinges] for axis in (0, 1))
    adopted = AdoptedVehicle("swerve", Parts(wheels=wheels))
    radius = _wheel_radius(adopted, drive)
    adopted.flags |= {"module_x": x, "module_y": y}
    adopted.values = {
        "base_link_offset": Figure(0.0, "module_x counts from the model's frame"),
        "tire_diameter": twice(radius),
    }
    adopted.values |= neutral("drive_actuators", drive)
    _check_stops(hinges)
    stop = geometry.stop_of(hinges)
    limit = Figure(0.0, "no stops") if stop is None else Figure(stop, "stop of the hinges")
    actuator = steering(limit, hinges)
    adopted.values |= {name.replace("actuator", "actuators"): figure for name, figure in actuator.items()}
    places = replace(SwerveParameters(), module_x=tuple(x), module_y=tuple(y))
    names = module_names(places)
    adopted.parts.joints = {f"steering_{name}": [hinge.name] for name, hinge in zip(names, hinges, strict=True)}
    adopted.parts.joints |= {
        f"wheel_{name}_joint": [wheel.joint.name] for name, wheel in zip(names, wheels, strict=True)
    }
    adopted.parts.driven = set(adopted.parts.joints)
    return adopted


def _wheel_radius(adopted: AdoptedVehicle, drive: RobotDrive) -> Figure:
    """The median of the radii in the wheels' collisions, with a finding where they differ."""
    radii = sorted(wheel.radius for wheel in adopted.parts.wheels if wheel.radius is not None)
    median = statistics.median_low(radii) if radii else None
    if radii and radii[-1] - radii[0] > geometry.NEAR:
        adopted.findings.append(
            f"wheel radii are {radii[0]:.4g} to {radii[-1]:.4g} m; the median, {median:.4g}, counts"
        )
    return adopted.take("wheel radius", drive, "wheel_radius", median)


def _check_stops(hinges: Sequence[StructureJoint]) -> None:
    """Refuse hinges that turn to one side only; those of our models turn equally far to both."""
    for hinge in hinges:
        if min(-hinge.lower, hinge.upper) <= 0.0:
            hinge.tag.fail(
                f"hinge '{hinge.name}' turns from {hinge.lower:.4g} to {hinge.upper:.4g} rad; it must turn to both "
                "sides of angle 0, at which its wheel rolls ahead: change the pose of the hinge and its limits"
            )


def _check_module(hinge: StructureJoint, wheel: RobotWheel) -> None:
    """Refuse a tilted hinge, and a wheel that does not stand below its hinge or does not roll ahead at angle 0."""
    if abs(float(hinge.axis @ geometry.UP)) < 1.0 - geometry.ASKEW:
        hinge.tag.fail(
            f"hinge '{hinge.name}' has the axis {geometry.axis_text(hinge.axis)}; hinges of the model 'swerve' are "
            "vertical: 0 0 1"
        )
    apart = wheel.centre - hinge.position
    beside = float(np.linalg.norm(apart - (apart @ hinge.axis) * hinge.axis))
    if beside > geometry.NEAR:
        hinge.tag.fail(
            f"hinge '{hinge.name}' has its wheel '{wheel.joint.name}' {beside:.4g} m beside its axis, so the wheel "
            "rolls when the hinge turns; wheels of the model 'swerve' stand on the axes of their hinges, so that x and "
            "y of the wheel are 0 in the hinge's link"
        )
    if abs(float(wheel.joint.axis @ geometry.LEFT)) < 1.0 - geometry.ASKEW:
        wheel.joint.tag.fail(
            f"wheel '{wheel.joint.name}' has the axis {geometry.axis_text(wheel.joint.axis)} at angle 0 of hinge "
            f"'{hinge.name}'; at angle 0 all wheels must roll ahead, each about a lateral axis: turn the pose of the "
            "hinge"
        )
