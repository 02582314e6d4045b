"""Vehicles in a real Gazebo, compared with their kinematics and their configured dynamics."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import pytest
from helpers.gazebo import preset, vehicle
from helpers.guest import HERE
from helpers.parity import Manoeuvre, Pair, Sample, averaged, error, lateral_speed, manoeuvres, speed, yaw_rate
from helpers.stepped import drive

from vds_gz.core.vehicle.command import four_wheel_steering, twist

pytestmark = pytest.mark.gazebo

#: Maximum root mean square of differences, in parts of the peak.
LIMIT = 0.01

#: The same in real time, where a busy machine delays commands; it still detects a wrong joint, sign or size.
LIVE_LIMIT = 0.05

VEHICLES = {
    "ackermann_car": preset("ackermann_car"),
    **{name: preset(name) for name in ("autoware_car", "autoware_delay_car") if HERE},
    "deepracer": preset("deepracer"),
    "forklift": preset("forklift"),
    "four_wheel_steering_robot": preset("four_wheel_steering_robot"),
    "indoor_robot": preset("indoor_robot"),
    "scaled_car": preset("scaled_car"),
    "steered_drive": preset("vds_defaults"),
    "differential": preset("vds_defaults", model="differential"),
    "omni": preset("vds_defaults", model="omni"),
}


@cache
def driven(name: str) -> dict[str, list[Sample]]:
    """Every manoeuvre of a vehicle, driven once for all tests."""
    return drive(VEHICLES[name], manoeuvres(VEHICLES[name]))


@pytest.mark.parametrize("name", VEHICLES)
def test_vehicles_follow_their_kinematics(name: str, partition: str):
    for manoeuvre, samples in driven(name).items():
        errors = error(samples, speed), error(samples, yaw_rate)
        assert max(errors) < LIMIT, f"speed and yaw rate of the {manoeuvre}"


def test_two_steered_axles_follow_their_kinematics_in_crab_and_in_a_drifting_turn(partition: str):
    parameters = VEHICLES["four_wheel_steering_robot"]
    phases = [(0.0, 0.0, 0.0), (0.8, 0.4, 0.4), (0.8, -0.4, -0.4), (0.8, 0.4, 0.1), (-0.8, 0.1, -0.3), (0.0, 0.0, 0.0)]
    commands = [(0.3 + 0.1 * i, four_wheel_steering(*phases[i // 15])) for i in range(15 * len(phases))]
    [samples] = drive(parameters, [Manoeuvre("crab", commands, 9.5)]).values()
    assert max(error(samples, number) for number in (speed, yaw_rate, lambda motion: motion.v_y)) < LIMIT


@pytest.mark.parametrize("name", VEHICLES)
def test_identified_dead_times_and_time_constants_are_those_configured(name: str, partition: str):
    pytest.importorskip("scipy", reason="the identification needs it")
    from helpers.identified_responses import answers

    parameters = VEHICLES[name]
    for answer in answers(parameters, manoeuvres(parameters), driven(name)):
        assert answer.agrees(), answer


def test_a_swerve_vehicle_follows_its_kinematics_where_its_wheels_agree(partition: str):
    """Modules that turn together, several times round, and steady turns. Wheels that scrub move Gazebo's body
    otherwise: its friction is no least squares."""
    still = twist(0.0, 0.0, 0.0)
    circling = [(0.05 * i, twist(math.cos(0.1 * i), math.sin(0.1 * i), 0.0)) for i in range(200)]
    turns = {"turn": twist(0.0, 0.0, 1.0), "bend": twist(0.7, 0.4, 0.8), "back": twist(-0.5, 0.3, -0.8)}
    samples = drive(
        preset("swerve_robot"),
        [
            Manoeuvre("circling direction", [*circling, (10.0, still), (10.9, still)], 11.5),
            *(Manoeuvre(name, [(0.3 + 0.5 * i, command) for i in range(6)], 3.3) for name, command in turns.items()),
        ],
    )
    for quantity in (speed, lateral_speed, yaw_rate):
        assert error(samples["circling direction"], quantity) < LIMIT
        for name in turns:
            steady = [sample for sample in samples[name] if sample.time > 1.8]
            assert error(steady, quantity) < LIMIT, name


def test_a_vehicle_follows_its_kinematics_over_transport(serve: Callable[..., object]):
    parameters = VEHICLES["ackermann_car"]
    serve(vehicle(parameters))
    slalom = next(manoeuvre for manoeuvre in manoeuvres(parameters) if manoeuvre.name == "slalom")
    pair = Pair(parameters)
    try:
        samples = averaged(pair.drive(slalom.commands, slalom.seconds))
    finally:
        pair.plant.close()
    assert max(error(samples, speed), error(samples, yaw_rate)) < LIVE_LIMIT
