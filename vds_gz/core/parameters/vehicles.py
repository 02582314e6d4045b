"""Parameters of the vehicle models: geometry and actuators.

The names are those of ``vehicle_dynamics_sim``. It only draws some dimensions (``vis_track_fixed``, ...), which have an
effect here: they have no prefix, and the old names are aliases.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from vds_gz.core.parameters.actuator_parameters import (
    HUB_MOTORS,
    ActuatorStages,
    BodyLimits,
    DriveParameters,
    SteeringParameters,
)
from vds_gz.core.parameters.declaration import ParameterError, ParameterGroup, choice, flag, group, real, reals
from vds_gz.core.parameters.trailer_parameters import TrailerParameters

#: Maximum distance from the reference point to base_link [m].
MAX_OFFSET = 100.0

#: Maximum understeer gradient [rad s^2/m]. Cars have 0 to 0.01, small ones on smooth floors up to 0.05.
MAX_UNDERSTEER = 1.0

#: Minimum difference of wheel base and track for an omni vehicle to turn with rollers in an O [m].
MIN_ROTATION_LEVER = 1e-3

#: Minimum and maximum number of modules of a swerve vehicle, and minimum distance between two of them [m].
MIN_MODULES, MAX_MODULES = 3, 8
MIN_MODULE_DISTANCE = 0.01


def _offset(origin: str) -> float:
    doc = f"from the middle of the {origin} to base_link, along +x"
    return real(0.0, "m", doc, minimum=-MAX_OFFSET, maximum=MAX_OFFSET)


def _tire_diameter(default: float, alias: str = "vis_tire_diameter") -> float:
    return real(default, "m", "diameter of the wheels", positive=True, aliases=(alias,))


def _track(axle: str) -> float:
    doc = f"between the wheels of the {axle} axle; 0: one wheel"
    return real(1.2, "m", doc, minimum=0.0, aliases=(f"vis_track_{axle}",))


def _stiffness(default: float, axle: str) -> float:
    doc = f"lateral force of the {axle} axle per slip angle and load, at small angles"
    return real(default, "1/rad", doc, minimum=0.1, maximum=200.0)


@dataclass(frozen=True, slots=True)
class BicycleParameters(ParameterGroup):
    """A vehicle with a fixed and a steered axle: cars, forklifts, tricycles."""

    base_link_offset: float = _offset("fixed axle")
    wheel_base: float = real(1.6, "m", "distance between the axles", positive=True)
    drive_on_steered_wheel: bool = flag(False, "the steered axle is driven, else the fixed one")
    four_wheel_drive: bool = flag(False, "all wheels are driven, each by its path; the speed is the fixed axle's")
    reverse: bool = flag(False, "the steered axle is behind the fixed axle")
    allow_reverse: bool = flag(True, "negative speeds are obeyed, else taken as 0", live=True)
    center_at_standstill: bool = flag(False, "the steering goes to 0 while the commanded speed is 0", live=True)
    parallel_steering: bool = flag(False, "both steered wheels point the same way, else by Ackermann's rule")
    track_fixed: float = _track("fixed")
    track_steered: float = _track("steered")
    tire_diameter: float = _tire_diameter(0.5)
    max_wheel_velocity: float = real(
        0.0, "m/s", "maximum speed of every driven wheel, as with hub motors; 0: unlimited", minimum=0.0
    )
    understeer_gradient: float = real(
        0.0,
        "rad s^2/m",
        "steering angle in a curve, beyond the geometric one, per lateral acceleration; 0: tyres do not slip",
        minimum=0.0,
        maximum=MAX_UNDERSTEER,
    )
    drive_actuator: DriveParameters = group(DriveParameters)
    steering_actuator: SteeringParameters = group(SteeringParameters)
    trailers: TrailerParameters = group(TrailerParameters)

    def identified_actuators(self) -> Mapping[str, ActuatorStages]:
        """The wheels with hub motors, beside the drive and the steering."""
        return {"wheels": HUB_MOTORS}

    def check_together(self) -> None:
        """Refuse a steering that reaches 90 degrees with a driven fixed axle, and two kinds of drive."""
        limit = self.steering_actuator.max_position
        if not self.drive_on_steered_wheel and not 0.0 < limit < math.pi / 2:
            raise ParameterError(
                f"parameter 'steering_actuator.max_position' is {limit:g}; with the drive on the fixed axle "
                "(drive_on_steered_wheel: false) it must be greater than 0 and less than pi/2 [rad]"
            )
        if self.drive_on_steered_wheel and self.four_wheel_drive:
            raise ParameterError(
                "parameters 'drive_on_steered_wheel' and 'four_wheel_drive' are both true; only one of them may be"
            )


@dataclass(frozen=True, slots=True)
class SingleTrackParameters(BicycleParameters):
    """A bicycle with a mass, whose tyres slip."""

    mass: float = real(500.0, "kg", "mass of the vehicle with its load", positive=True)
    yaw_inertia: float = real(
        320.0, "kg m^2", "moment of inertia about the vertical through the centre of gravity", positive=True
    )
    cg_distance: float = real(
        0.8, "m", "from the fixed axle to the centre of gravity, towards the steered axle", positive=True
    )
    cg_height: float = real(
        0.4,
        "m",
        "height of the centre of gravity; 0: accelerating and braking shift no load",
        minimum=0.0,
        maximum=100.0,
    )
    cornering_stiffness_fixed: float = _stiffness(14.0, "fixed")
    cornering_stiffness_steered: float = _stiffness(12.0, "steered")
    friction: float = real(
        0.9, "-", "friction coefficient: maximum force of a tyre per load", minimum=0.01, maximum=10.0, live=True
    )
    tire_shape: float = real(
        1.4,
        "-",
        "shape factor C of the magic formula; above 1 the force falls beyond its peak",
        minimum=1.0,
        maximum=2.0,
    )
    tire_curvature: float = real(
        0.0, "-", "curvature factor E of the magic formula: sharpness of the peak", minimum=-10.0, maximum=1.0
    )
    drag: float = real(
        0.0, "kg/m", "air drag per speed squared: half the product of density, drag coefficient and area", minimum=0.0
    )
    rolling_resistance: float = real(0.0, "-", "rolling resistance per weight", minimum=0.0, maximum=1.0)
    brakes_on_all_wheels: bool = flag(True, "all wheels brake, in proportion to their loads, else the driven ones")
    drive_gives_acceleration: bool = flag(
        False, "the drive sets the force, so slopes and resistances change the speed; else it holds the speed"
    )
    small_angles: bool = flag(
        False,
        "linear equations without a limit by friction, as in CommonRoad's single-track model and f1tenth_gym",
    )
    blend_speed: float = real(
        0.5, "m/s", "below half of it wheels do not slip; above it only tyre forces act", positive=True, maximum=100.0
    )

    def check_together(self) -> None:
        """Refuse an understeer gradient, and a centre of gravity outside the axles."""
        BicycleParameters.check_together(self)
        if self.understeer_gradient:
            raise ParameterError(
                f"parameter 'understeer_gradient' is {self.understeer_gradient:g}; it must be 0 for tyres that slip: "
                "the understeer follows from the cornering stiffnesses"
            )
        if not self.cg_distance < self.wheel_base:
            raise ParameterError(
                f"parameter 'cg_distance' is {self.cg_distance:g}; it must be less than wheel_base, "
                f"{self.wheel_base:g} [m]: the centre of gravity is between the axles"
            )


@dataclass(frozen=True, slots=True)
class FourWheelSteeringParameters(ParameterGroup):
    """A vehicle that steers both axles: cars with a steered rear axle, sweepers, field robots."""

    base_link_offset: float = real(
        0.0,
        "m",
        "from the middle of the rear axle to base_link, along +x; half the wheel base: in the middle",
        minimum=-MAX_OFFSET,
        maximum=MAX_OFFSET,
    )
    wheel_base: float = real(1.6, "m", "distance between the axles", positive=True)
    rear_steering: str = choice(
        "counter_phase",
        ("counter_phase", "crab", "fixed"),
        "rear angle of an Ackermann command: opposite to the front angle, the same way, or 0",
        live=True,
    )
    rear_ratio: float = real(
        1.0,
        "-",
        "rear angle per front angle, with an Ackermann command in counter phase or crab",
        minimum=0.0,
        maximum=10.0,
        live=True,
    )
    allow_reverse: bool = flag(True, "negative speeds are obeyed, else taken as 0", live=True)
    center_at_standstill: bool = flag(False, "both axles go to 0 while the commanded speed is 0", live=True)
    parallel_steering: bool = flag(
        False, "both wheels of an axle point the same way, else to the common turning centre by Ackermann's rule"
    )
    track_front: float = real(1.2, "m", "between the front wheels; 0: one wheel", minimum=0.0)
    track_rear: float = real(1.2, "m", "between the rear wheels; 0: one wheel", minimum=0.0)
    tire_diameter: float = _tire_diameter(0.5)
    max_wheel_velocity: float = real(
        0.0, "m/s", "maximum speed of every wheel, as with hub motors; 0: unlimited", minimum=0.0
    )
    drive_actuator: DriveParameters = group(DriveParameters)
    front_steering_actuator: SteeringParameters = group(SteeringParameters)
    rear_steering_actuator: SteeringParameters = group(SteeringParameters)
    trailers: TrailerParameters = group(TrailerParameters)

    def identified_actuators(self) -> Mapping[str, ActuatorStages]:
        """The steerings of both axles, and the wheels with hub motors."""
        return {
            "steering_front": ActuatorStages(group="front_steering_actuator"),
            "steering_rear": ActuatorStages(group="rear_steering_actuator", command="rear_steering_angle"),
            "wheels": HUB_MOTORS,
        }

    def check_together(self) -> None:
        """Refuse a steering that reaches 90 degrees, where the speed no longer sets the motion."""
        for axle in ("front", "rear"):
            limit = getattr(self, f"{axle}_steering_actuator").max_position
            if not 0.0 < limit < math.pi / 2:
                raise ParameterError(
                    f"parameter '{axle}_steering_actuator.max_position' is {limit:g}; it must be greater than 0 and "
                    "less than pi/2 [rad]. Wheels that turn further are modules of the model 'swerve'"
                )


@dataclass(frozen=True, slots=True)
class DifferentialParameters(BodyLimits):
    """A vehicle with a left and a right drive."""

    base_link_offset: float = _offset("driven axle")
    track: float = real(1.2, "m", "distance between the left and the right wheel", positive=True)
    effective_track: float = real(
        0.0, "m", "track with which the wheels turn the vehicle, larger if they slip; 0: track", minimum=0.0
    )
    tire_diameter: float = _tire_diameter(0.4)
    drive_actuators: DriveParameters = group(DriveParameters)
    trailers: TrailerParameters = group(TrailerParameters)


@dataclass(frozen=True, slots=True)
class OmniParameters(BodyLimits):
    """A vehicle with four mecanum wheels."""

    base_link_offset: float = _offset("wheels")
    wheel_base: float = real(1.4, "m", "distance between the front and the rear wheels", positive=True)
    track: float = real(1.2, "m", "distance between the left and the right wheels", positive=True)
    tire_diameter: float = _tire_diameter(0.3, "vis_wheel_diameter")
    roller_pattern: str = choice(
        "o", ("o", "x"), "pattern of the rollers seen from above; most robots have x, vehicle_dynamics_sim has o"
    )
    drive_actuators: DriveParameters = group(DriveParameters)
    trailers: TrailerParameters = group(TrailerParameters)

    def check_together(self) -> None:
        """Refuse rollers that cannot turn the vehicle."""
        if self.roller_pattern == "o" and abs(self.wheel_base - self.track) < MIN_ROTATION_LEVER:
            raise ParameterError(
                f"parameters 'wheel_base' and 'track' are {self.wheel_base:g} and {self.track:g}; with "
                "'roller_pattern: o', equal ones cannot turn the vehicle. Most mecanum robots have 'roller_pattern: x'"
            )


@dataclass(frozen=True, slots=True)
class SwerveParameters(BodyLimits):
    """A vehicle with three to eight modules, wheels that each steer and drive."""

    base_link_offset: float = real(
        0.0,
        "m",
        "from the origin of module_x and module_y to base_link, along +x",
        minimum=-MAX_OFFSET,
        maximum=MAX_OFFSET,
    )
    module_x: tuple[float, ...] = reals(
        (0.3, -0.3, -0.3, 0.3), "m", "positions of three to eight modules, forwards", most=MAX_MODULES
    )
    module_y: tuple[float, ...] = reals(
        (0.25, 0.25, -0.25, -0.25), "m", "positions of the modules, to the left", most=MAX_MODULES
    )
    tire_diameter: float = _tire_diameter(0.2)
    optimize: bool = flag(
        True, "a module takes the shorter way to its direction, if need be with its drive reversed", live=True
    )
    cosine_scaling: bool = flag(False, "drive references are multiplied by the cosine of the steering error", live=True)
    at_standstill: str = choice(
        "hold",
        ("hold", "straighten", "cross"),
        "steering references at a command of 0: the last ones, straight ahead, or towards the middle, as an X",
        live=True,
    )
    drive_actuators: DriveParameters = group(DriveParameters)
    steering_actuators: SteeringParameters = group(SteeringParameters, max_position=0.0)
    trailers: TrailerParameters = group(TrailerParameters)

    def check_together(self) -> None:
        """Refuse lists of different lengths, too few modules, and two modules at one place."""
        lengths = len(self.module_x), len(self.module_y)
        if lengths[0] != lengths[1] or lengths[0] < MIN_MODULES:
            raise ParameterError(
                f"parameters 'module_x' and 'module_y' have {lengths[0]} and {lengths[1]} numbers; they must have one "
                f"for each module, {MIN_MODULES} to {MAX_MODULES}"
            )
        modules = enumerate(zip(self.module_x, self.module_y, strict=True), 1)
        for (first, place), (second, other) in combinations(modules, 2):
            if math.dist(place, other) < MIN_MODULE_DISTANCE:
                raise ParameterError(
                    f"parameters 'module_x' and 'module_y' have module {first} at ({place[0]:g}, {place[1]:g}) and "
                    f"module {second} at ({other[0]:g}, {other[1]:g}); they must be at least "
                    f"{MIN_MODULE_DISTANCE:g} m apart"
                )
