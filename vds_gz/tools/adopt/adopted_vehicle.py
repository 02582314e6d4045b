"""Our vehicle model with the robot's geometry, limits and names of joints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.tools.adopt.geometry_check import GeometryCheck, RobotWheel
from vds_gz.tools.adopt.robot_drive import Figure, RobotDrive
from vds_gz.tools.adopt.structure import StructureJoint


@dataclass(slots=True)
class Parts:
    """The joints of the robot in the roles of ours.

    Attributes:
        joints: Names of the robot's joints by that of ours; the first one reports the state.
        driven: Names of ours that the robot drives; others roll freely.
        reversed: Names of ours whose joints of the robot turn the other way round.
        wheels: All wheels, for the height of the ground.
    """

    joints: dict[str, list[str]] = field(default_factory=dict)
    driven: set[str] = field(default_factory=set)
    wheels: list[RobotWheel] = field(default_factory=list)
    reversed: set[str] = field(default_factory=set)

    @property
    def ground(self) -> float | None:
        """Height of the ground in the model's frame when it stands on its wheels [m]; None if no collision does."""
        lowest = [float(wheel.centre[2]) - wheel.radius for wheel in self.wheels if wheel.radius is not None]
        return min(lowest, default=None)


@dataclass(slots=True)
class AdoptedVehicle:
    """A vehicle of ours in place of the robot's drive.

    Attributes:
        model: Name of our model.
        values: Its parameters, by their names below the model's.
        checks: Figures of the plugin beside those of the model.
        flags: Its parameters that are no single numbers.
        findings: What differs.
        yaw: Direction in which it drives, from +x of the model about z [rad].
    """

    model: str
    parts: Parts
    values: dict[str, Figure] = field(default_factory=dict)
    flags: dict[str, bool | str | list[float]] = field(default_factory=dict)
    checks: list[GeometryCheck] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    yaw: float = 0.0

    def take(self, name: str, drive: RobotDrive, figure: str, measured: float | None, unit: str = "m") -> Figure:
        """The plugin's figure, else the measured one; both are compared."""
        given = drive.figures.get(figure)
        self.checks.append(GeometryCheck(name, unit, given, measured))
        if given is not None:
            return given
        if measured is None or not measured > 0.0:
            drive.tag.fail(
                f"{drive.what} gives no {name}, and "
                + (
                    "the collisions of its wheels give none or different ones; each wheel needs a sphere, cylinder or "
                    "readable mesh of one radius"
                    if figure == "wheel_radius"
                    else "the joints coincide; move them apart"
                )
            )
        return Figure(measured, "collisions of the wheels" if figure == "wheel_radius" else "poses of the joints")


def steering(limit: Figure, hinges: Sequence[StructureJoint]) -> dict[str, Figure]:
    """The steering actuator: neutral, with the limits of the hinges."""
    rate = min((hinge.velocity for hinge in hinges), default=math.inf)
    return {
        "steering_actuator.dead_time": Figure(0.0, "neutral: set yours"),
        "steering_actuator.time_constant": Figure(0.0, "neutral: set yours"),
        "steering_actuator.max_position": limit,
        "steering_actuator.max_velocity": Figure(rate, "velocity limit of the hinges")
        if math.isfinite(rate)
        else Figure(0.0, "unlimited"),
    }


def neutral(group: str, drive: RobotDrive) -> dict[str, Figure]:
    """An actuator that changes nothing, with the limits that the drive has."""
    neutral = {
        f"{group}.dead_time": Figure(0.0, "neutral: set yours"),
        f"{group}.time_constant": Figure(0.0, "neutral: set yours"),
        f"{group}.max_velocity": Figure(0.0, "unlimited"),
        f"{group}.max_acceleration": Figure(0.0, "unlimited"),
    }
    return {name: drive.limits.get(name, figure) for name, figure in neutral.items()}


def offset(reference: Array, what: str) -> Figure:
    """``base_link_offset``: from the reference point to the model's frame."""
    return Figure(
        float(np.round(-reference[0], 9)) + 0.0,
        f"x of the {what} in the model: {float(np.round(reference[0], 9)) + 0.0:.6g}",
    )


def twice(radius: Figure) -> Figure:
    """A diameter."""
    return radius._replace(value=2.0 * radius.value, origin=f"twice the wheel radius, {radius.origin}")
