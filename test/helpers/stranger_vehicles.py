"""Vehicles of a stranger's package: they move as ours do, but their actuators and limits have other names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vds_gz.core.parameters.actuator_parameters import (
    STEERED_BY,
    ActuatorStages,
    DriveParameters,
    SteeringParameters,
)
from vds_gz.core.parameters.declaration import ParameterError, ParameterGroup, flag, group, real, reals
from vds_gz.core.parameters.trailer_parameters import TrailerParameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.swerve import SWERVE, actuators_of
from vds_gz.core.vehicle.vehicle_model import Actuator, AnyModel


def limit(unit: str) -> float:
    return real(0.0, unit, "maximum; 0: unlimited", minimum=0.0)


@dataclass(frozen=True, slots=True)
class PacedParameters(ParameterGroup):
    """Limits of the body."""

    pace: float = limit("m/s")
    pace_rate: float = limit("m/s^2")
    spin: float = limit("rad/s")
    spin_rate: float = limit("rad/s^2")
    max_linear_velocity = property(lambda self: self.pace)
    max_linear_acceleration = property(lambda self: self.pace_rate)
    max_angular_velocity = property(lambda self: self.spin)
    max_angular_acceleration = property(lambda self: self.spin_rate)

    def identified_actuators(self) -> Mapping[str, ActuatorStages]:
        """The limits."""
        return {
            "pace": ActuatorStages({"rise": "pace_rate", "value": "pace"}, follows=("v_x",)),
            "spin": ActuatorStages({"rise": "spin_rate", "value": "spin"}, follows=("yaw_rate",)),
        }


@dataclass(frozen=True, slots=True)
class CartParameters(PacedParameters):
    """Our differential drive."""

    base_link_offset: float = real(0.0, "m", "to base_link")
    track: float = real(1.2, "m", "between the wheels", positive=True)
    effective_track: float = real(0.0, "m", "if the wheels slip; 0: track", minimum=0.0)
    tire_diameter: float = real(0.4, "m", "of the wheels", positive=True)
    motors: DriveParameters = group(DriveParameters)
    trailers: TrailerParameters = group(TrailerParameters)
    drive_actuators = property(lambda self: self.motors)

    def identified_actuators(self) -> Mapping[str, ActuatorStages]:
        """The motors, and the limits of the body."""
        return {"motors": ActuatorStages(group="motors"), **PacedParameters.identified_actuators(self)}


@dataclass(frozen=True, slots=True)
class RickshawParameters(ParameterGroup):
    """Our bicycle."""

    base_link_offset: float = real(0.0, "m", "to base_link")
    wheel_base: float = real(1.6, "m", "between the axles", positive=True)
    track_fixed: float = real(1.2, "m", "between the wheels of the fixed axle", minimum=0.0)
    track_steered: float = real(1.2, "m", "between the wheels of the steered axle", minimum=0.0)
    tire_diameter: float = real(0.5, "m", "of the wheels", positive=True)
    drive_on_steered_wheel: bool = flag(False, "the steered axle is driven")
    four_wheel_drive: bool = flag(False, "all wheels are driven")
    reverse: bool = flag(False, "the steered axle is behind")
    allow_reverse: bool = flag(True, "negative speeds are obeyed")
    center_at_standstill: bool = flag(False, "the fork goes to 0 at speed 0")
    parallel_steering: bool = flag(False, "both wheels point the same way")
    hub_speed: float = limit("m/s")
    understeer_gradient: float = real(0.0, "rad s^2/m", "of the tyres", minimum=0.0, maximum=1.0)
    motor: DriveParameters = group(DriveParameters)
    fork: SteeringParameters = group(SteeringParameters)
    trailers: TrailerParameters = group(TrailerParameters)
    max_wheel_velocity = property(lambda self: self.hub_speed)
    drive_actuator = property(lambda self: self.motor)
    steering_actuator = property(lambda self: self.fork)

    def identified_actuators(self) -> Mapping[str, ActuatorStages]:
        """The motor, the fork, and the hubs."""
        return {
            "motor": ActuatorStages(group="motor"),
            "fork": ActuatorStages(group="fork", follows=STEERED_BY),
            "hubs": ActuatorStages({"value": "hub_speed"}, {"value": 1e6}, each_wheel=True),
        }

    def check_together(self) -> None:
        """Refuse a fork that turns round."""
        if not self.fork.max_position:
            raise ParameterError("parameter 'fork.max_position' is 0; a fork cannot turn round")


@dataclass(frozen=True, slots=True)
class CrabParameters(PacedParameters):
    """Our swerve drive."""

    base_link_offset: float = real(0.0, "m", "to base_link")
    module_x: tuple[float, ...] = reals((0.3, -0.3, -0.3, 0.3), "m", "positions", most=8)
    module_y: tuple[float, ...] = reals((0.25, 0.25, -0.25, -0.25), "m", "positions", most=8)
    tire_diameter: float = real(0.2, "m", "of the wheels", positive=True)
    legs: DriveParameters = group(DriveParameters)
    hips: SteeringParameters = group(SteeringParameters, max_position=0.0)
    trailers: TrailerParameters = group(TrailerParameters)
    optimize = property(lambda self: True)
    cosine_scaling = property(lambda self: False)
    at_standstill = property(lambda self: "hold")
    drive_actuators = property(lambda self: self.legs)
    steering_actuators = property(lambda self: self.hips)

    def identified_actuators(self) -> Mapping[str, ActuatorStages]:
        """The legs, the hips, and the limits of the body."""
        groups = {name: ActuatorStages(group=name) for name in ("legs", "hips")}
        return {**groups, **PacedParameters.identified_actuators(self)}


def _legs_and_hips(p: Any) -> tuple[Actuator, ...]:
    names = {"drive": "leg", "steering": "hip"}
    return tuple(Actuator(f"{names[a.kind]}_{k}", a.kind, a.feedback) for k, a in enumerate(actuators_of(p)))


CART: AnyModel = replace(
    DIFFERENTIAL,
    name="cart",
    parameters=CartParameters,
    actuators=(Actuator("left_motor", "drive"), Actuator("right_motor", "drive")),
)
RICKSHAW: AnyModel = replace(
    BICYCLE,
    name="rickshaw",
    parameters=RickshawParameters,
    actuators=(Actuator("motor", "drive"), Actuator("fork", "steering")),
)
CRAB: AnyModel = replace(SWERVE, name="crab", parameters=CrabParameters, actuators=_legs_and_hips)

#: Our models by theirs, and our names of actuators and parameters by theirs.
OURS: Mapping[str, Mapping[str, str]] = {
    "cart": {"cart": "differential", "motors.": "drive_actuators.", "motors": "drive"},
    "rickshaw": {
        "rickshaw": "bicycle",
        "motor.": "drive_actuator.",
        "fork.": "steering_actuator.",
        "motor": "drive",
        "fork": "steering",
    },
    "crab": {
        "crab": "swerve",
        "legs.": "drive_actuators.",
        "hips.": "steering_actuators.",
        "legs": "drive",
        "hips": "steering",
    },
}
LIMITS = {
    "pace_rate": "max_linear_acceleration",
    "spin_rate": "max_angular_acceleration",
    "pace": "max_linear_velocity",
    "spin": "max_angular_velocity",
    "hub_speed": "max_wheel_velocity",
    "hub speed": "max wheel velocity",
}


def ours(text: str, model: str) -> str:
    """A text about a stranger's vehicle with our names."""
    for theirs, own in {**OURS[model], **LIMITS}.items():
        text = re.sub(rf"\b{re.escape(theirs)}(?:(?<=\.)|\b)", own, text)
    return text


def install(folder: Path) -> None:
    """Put a package with these models into a folder, as pip does."""
    info = folder / "strange_vehicles-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange-vehicles\nVersion: 1.0\n")
    names = (f"{name} = helpers.stranger_vehicles:{name.upper()}" for name in ("cart", "rickshaw", "crab"))
    (info / "entry_points.txt").write_text("\n".join(("[vds_gz.models]", *names)) + "\n")
