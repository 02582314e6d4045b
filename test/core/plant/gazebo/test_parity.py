"""Vehicles in a real Gazebo, compared with their kinematics and their configured dynamics."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from helpers.gazebo import preset, vehicle
from helpers.guest import HERE
from helpers.parity import Pair, Sample, averaged, error, manoeuvres, speed, yaw_rate
from helpers.stepped import drive

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


@pytest.mark.parametrize("name", VEHICLES)
def test_identified_dead_times_and_time_constants_are_those_configured(name: str, partition: str):
    pytest.importorskip("scipy", reason="the identification needs it")
    from helpers.identified_responses import answers

    parameters = VEHICLES[name]
    for answer in answers(parameters, manoeuvres(parameters), driven(name)):
        assert answer.agrees(), answer


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
