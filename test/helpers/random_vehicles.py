"""Random vehicles of the models that run in lanes, and random commands."""

import numpy as np

from vds_gz.core.parameters.actuator_parameters import MAP_POINTS, BodyLimits, DriveParameters, SteeringParameters
from vds_gz.core.parameters.declaration import describe
from vds_gz.core.parameters.vehicles import BicycleParameters, DifferentialParameters, OmniParameters, SwerveParameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import ackermann, twist
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.omni import OMNI
from vds_gz.core.vehicle.swerve import SWERVE


def some(random, low, high):
    """A number of a range, or now and then 0."""
    return 0.0 if random.random() < 0.2 else random.uniform(low, high)


def random_response(random) -> dict:
    """What an actuator does in steady state, often as asked."""
    references = np.sort(random.uniform(-1.0, 4.0, random.integers(2, MAP_POINTS + 1)))
    is_mapped = random.random() < 0.3
    return {
        "dead_band": some(random, 0.05, 0.5),
        "gain": random.uniform(0.5, 1.5) if random.random() < 0.5 else 1.0,
        "map_references": tuple(references) if is_mapped else (),
        "map_responses": tuple(random.uniform(-2.0, 4.0, len(references))) if is_mapped else (),
        "offset": some(random, -0.2, 0.2),
    }


def random_body_limits(random) -> dict:
    return {limit.name: some(random, 0.5, 20.0) for limit in describe(BodyLimits())}


def random_drive(random) -> DriveParameters:
    return DriveParameters(
        **random_response(random),
        dead_time=random.integers(0, 100) * 1e-3,
        time_constant=some(random, 1e-3, 0.5),
        max_velocity=some(random, 0.5, 5.0),
        max_acceleration=some(random, 1.0, 50.0),
        max_deceleration=some(random, 1.0, 50.0),
        slow_share=some(random, 0.05, 0.5),
        slow_time_constant=random.uniform(0.1, 10.0),
    )


def random_steering(random, *, turns: bool) -> SteeringParameters:
    """Of a wheel that ``turns`` about its axis beyond a right angle, or of a car's."""
    return SteeringParameters(
        **random_response(random),
        backlash=some(random, 0.01, 0.2),
        dead_time=random.integers(0, 100) * 1e-3,
        time_constant=some(random, 1e-3, 0.2),
        max_velocity=some(random, 1.0, 20.0),
        max_position=some(random, 0.3, 3.5) if turns else random.uniform(0.3, 1.4),
    )


def random_bicycle(random) -> BicycleParameters:
    steered_drive = bool(random.random() < 0.5)
    flags = {
        name: bool(random.random() < 0.5)
        for name in ("reverse", "allow_reverse", "center_at_standstill", "parallel_steering")
    }
    return BicycleParameters(
        wheel_base=random.uniform(0.5, 3.0),
        base_link_offset=random.uniform(-1.0, 1.0),
        drive_on_steered_wheel=steered_drive,
        four_wheel_drive=not steered_drive and bool(random.random() < 0.5),
        track_fixed=some(random, 0.2, 2.0),
        track_steered=some(random, 0.2, 2.0),
        max_wheel_velocity=some(random, 0.5, 5.0),
        understeer_gradient=some(random, 0.001, 0.05),
        drive_actuator=random_drive(random),
        steering_actuator=random_steering(random, turns=steered_drive),
        **flags,
    )


def random_differential(random) -> DifferentialParameters:
    return DifferentialParameters(
        track=random.uniform(0.2, 2.0),
        tire_diameter=random.uniform(0.1, 1.0),
        drive_actuators=random_drive(random),
        **random_body_limits(random),
    )


def random_omni(random) -> OmniParameters:
    return OmniParameters(
        base_link_offset=random.uniform(-1.0, 1.0),
        wheel_base=random.uniform(1.2, 2.0),
        track=random.uniform(0.3, 1.0),
        roller_pattern="ox"[random.integers(2)],
        drive_actuators=random_drive(random),
        **random_body_limits(random),
    )


def random_swerve(random) -> SwerveParameters:
    """Four modules anywhere in their corners."""
    return SwerveParameters(
        base_link_offset=random.uniform(-1.0, 1.0),
        module_x=tuple(random.uniform(0.2, 1.0, 4) * (1, -1, -1, 1)),
        module_y=tuple(random.uniform(0.2, 1.0, 4) * (1, 1, -1, -1)),
        tire_diameter=random.uniform(0.1, 1.0),
        optimize=bool(random.random() < 0.5),
        cosine_scaling=bool(random.random() < 0.5),
        at_standstill=("hold", "straighten", "cross")[random.integers(3)],
        drive_actuators=random_drive(random),
        steering_actuators=random_steering(random, turns=True),
        **random_body_limits(random),
    )


def random_command(model, random):
    if model is BICYCLE and random.random() < 0.5:
        return ackermann(random.uniform(-4, 4), random.uniform(-2, 2), some(random, 0.1, 5), some(random, 0.1, 20))
    return twist(random.uniform(-4, 4), random.uniform(-4, 4), random.uniform(-3, 3))


#: Makers of parameters, by model.
RANDOM = {
    BICYCLE.name: random_bicycle,
    DIFFERENTIAL.name: random_differential,
    OMNI.name: random_omni,
    SWERVE.name: random_swerve,
}
