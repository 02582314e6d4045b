"""Vehicles to test with, and ways to drive them."""

import dataclasses
import math

from hypothesis import strategies as st

from vds_gz.core.parameters.actuator_parameters import BodyLimits, DriveParameters, SteeringParameters
from vds_gz.core.parameters.declaration import describe
from vds_gz.core.parameters.vehicles import (
    BicycleParameters,
    DifferentialParameters,
    FourWheelSteeringParameters,
    OmniParameters,
    SwerveParameters,
)
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import Command, ackermann, four_wheel_steering, twist
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.four_wheel_steering import FOUR_WHEEL_STEERING
from vds_gz.core.vehicle.omni import OMNI
from vds_gz.core.vehicle.swerve import SWERVE
from vds_gz.core.vehicle.vehicle import Vehicle

MILLISECOND = 1_000_000
SECOND = 1_000_000_000

#: Actuators that do at once what they are asked for.
IDEAL_DRIVE = DriveParameters(
    dead_time=0.0, time_constant=0.0, max_velocity=0.0, max_acceleration=0.0, max_deceleration=0.0
)
IDEAL_STEERING = SteeringParameters(dead_time=0.0, time_constant=0.0, max_velocity=0.0, max_position=0.0)
#: Bodies without limits of their own.
FREE_BODY = {limit.name: limit.default for limit in describe(BodyLimits())}
IDEAL_LIMITED_STEERING = dataclasses.replace(IDEAL_STEERING, max_position=1.5)


def ideal_bicycle(**changes) -> BicycleParameters:
    """A bicycle whose actuators do at once what they are asked for."""
    free = changes.get("drive_on_steered_wheel", False)
    steering = IDEAL_STEERING if free else IDEAL_LIMITED_STEERING
    return BicycleParameters(**{"drive_actuator": IDEAL_DRIVE, "steering_actuator": steering} | changes)


def driven(model, parameters, command: Command, seconds: float, *, kind: type[Vehicle] = Vehicle, **options) -> Vehicle:
    """A vehicle that has done one thing for some time, from rest."""
    vehicle = kind(model, parameters, **{"max_command_age": 1e6} | options)
    vehicle.enter(command, 0)
    vehicle.advance(round(seconds * SECOND))
    return vehicle


def snapshot(vehicle: Vehicle) -> dict:
    """Everything that a vehicle's state holds."""
    return dataclasses.asdict(vehicle.state)


def joints_of(vehicle: Vehicle) -> dict[str, tuple[float, float]]:
    """Position and velocity of every joint by its name."""
    states = vehicle.model.joint_states(vehicle.coefficients, vehicle.state)
    names = [joint.name for joint in vehicle.model.joints(vehicle.parameters)]
    return dict(zip(names, zip(states.positions, states.velocities, strict=True), strict=True))


def _zero_or(low: float, high: float):
    return st.one_of(st.just(0.0), st.floats(low, high))


def _one_or(low: float, high: float):
    return st.one_of(st.just(1.0), st.floats(low, high))


drives = st.builds(
    DriveParameters,
    dead_time=st.floats(0.0, 0.1),
    dead_band=_zero_or(0.01, 0.5),
    gain=_one_or(0.5, 2.0),
    time_constant=_zero_or(1e-3, 1.0),
    max_velocity=_zero_or(0.1, 5.0),
    max_acceleration=_zero_or(0.1, 20.0),
    max_deceleration=_zero_or(0.1, 20.0),
    slow_share=_zero_or(0.05, 1.0),
    slow_time_constant=st.floats(0.01, 10.0),
)
free_steerings = st.builds(
    SteeringParameters,
    dead_time=st.floats(0.0, 0.1),
    dead_band=_zero_or(0.01, 0.2),
    gain=_one_or(0.5, 2.0),
    backlash=_zero_or(0.01, 0.3),
    time_constant=_zero_or(1e-3, 0.5),
    max_velocity=_zero_or(0.1, 10.0),
    max_position=_zero_or(0.1, 3.5),
)
limited_steerings = st.builds(
    SteeringParameters,
    dead_time=st.floats(0.0, 0.1),
    dead_band=_zero_or(0.01, 0.2),
    gain=_one_or(0.5, 2.0),
    backlash=_zero_or(0.01, 0.3),
    time_constant=_zero_or(1e-3, 0.5),
    max_velocity=_zero_or(0.1, 10.0),
    max_position=st.floats(0.1, 1.4),
)
_geometry = {
    "base_link_offset": st.floats(-1.0, 1.0),
    "wheel_base": st.floats(0.5, 3.0),
    "reverse": st.booleans(),
    "allow_reverse": st.booleans(),
    "center_at_standstill": st.booleans(),
    "parallel_steering": st.booleans(),
    "track_fixed": _zero_or(0.2, 2.0),
    "track_steered": _zero_or(0.2, 2.0),
    "tire_diameter": st.floats(0.1, 1.0),
    "max_wheel_velocity": _zero_or(0.1, 5.0),
    "understeer_gradient": _zero_or(0.001, 0.1),
    "drive_actuator": drives,
}
fixed_drive_bicycles = st.builds(
    BicycleParameters, **_geometry, four_wheel_drive=st.booleans(), steering_actuator=limited_steerings
)
steered_drive_bicycles = st.builds(
    BicycleParameters, **_geometry, drive_on_steered_wheel=st.just(True), steering_actuator=free_steerings
)
four_wheel_steered = st.builds(
    FourWheelSteeringParameters,
    base_link_offset=st.floats(-1.0, 1.0),
    wheel_base=st.floats(0.5, 3.0),
    rear_steering=st.sampled_from(("counter_phase", "crab", "fixed")),
    rear_ratio=_one_or(0.0, 2.0),
    allow_reverse=st.booleans(),
    center_at_standstill=st.booleans(),
    parallel_steering=st.booleans(),
    track_front=_zero_or(0.2, 2.0),
    track_rear=_zero_or(0.2, 2.0),
    tire_diameter=st.floats(0.1, 1.0),
    max_wheel_velocity=_zero_or(0.1, 5.0),
    drive_actuator=drives,
    front_steering_actuator=limited_steerings,
    rear_steering_actuator=limited_steerings,
)
_body_limits = {
    "max_linear_velocity": _zero_or(0.1, 5.0),
    "max_linear_acceleration": _zero_or(0.1, 20.0),
    "max_angular_velocity": _zero_or(0.1, 3.0),
    "max_angular_acceleration": _zero_or(0.1, 20.0),
}
differentials = st.builds(
    DifferentialParameters,
    **_body_limits,
    base_link_offset=st.floats(-1.0, 1.0),
    track=st.floats(0.2, 2.0),
    tire_diameter=st.floats(0.1, 1.0),
    drive_actuators=drives,
)
omnis = st.builds(
    OmniParameters,
    **_body_limits,
    base_link_offset=st.floats(-1.0, 1.0),
    wheel_base=st.floats(1.1, 2.0),
    track=st.floats(0.3, 1.0),
    tire_diameter=st.floats(0.1, 1.0),
    roller_pattern=st.sampled_from(("o", "x")),
    drive_actuators=drives,
)


def _swerve(places, **parameters) -> SwerveParameters:
    return SwerveParameters(module_x=[x for x, _ in places], module_y=[y for _, y in places], **parameters)


#: Modules at least 0.3 m apart: points of a grid, each moved a little.
_places = st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=3, max_size=8, unique=True).flatmap(
    lambda points: st.tuples(*(st.tuples(st.floats(x - 0.2, x + 0.2), st.floats(y - 0.2, y + 0.2)) for x, y in points))
)
swerves = st.builds(
    _swerve,
    _places,
    **_body_limits,
    base_link_offset=st.floats(-1.0, 1.0),
    tire_diameter=st.floats(0.1, 1.0),
    optimize=st.booleans(),
    cosine_scaling=st.booleans(),
    at_standstill=st.sampled_from(("hold", "straighten", "cross")),
    drive_actuators=drives,
    steering_actuators=free_steerings,
)
#: (model, parameters)
vehicles = st.one_of(
    st.tuples(st.just(BICYCLE), fixed_drive_bicycles),
    st.tuples(st.just(BICYCLE), steered_drive_bicycles),
    st.tuples(st.just(DIFFERENTIAL), differentials),
    st.tuples(st.just(OMNI), omnis),
    st.tuples(st.just(FOUR_WHEEL_STEERING), four_wheel_steered),
    st.tuples(st.just(SWERVE), swerves),
)

_speed = st.floats(-6.0, 6.0)
twists = st.builds(twist, _speed, _speed, st.floats(-3.0, 3.0))
_angle, _limit = st.floats(-math.pi, math.pi), st.floats(0.0, 5.0)
ackermanns = st.builds(ackermann, _speed, _angle, _limit, _limit)
four_wheel_steerings = st.builds(four_wheel_steering, _speed, _angle, _angle, _limit, _limit, _limit)


def commands_for(model):
    """Commands that a model understands."""
    kinds = {BICYCLE: (twists, ackermanns), FOUR_WHEEL_STEERING: (twists, ackermanns, four_wheel_steerings)}
    return st.one_of(kinds.get(model, (twists,)))
