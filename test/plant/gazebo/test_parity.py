"""In a real Gazebo, every vehicle does what its kinematics does, as late and as slowly as it was configured."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from helpers.gazebo import preset, vehicle
from helpers.parity import Pair, Sample, averaged, error, manoeuvres, speed, yaw_rate
from helpers.stepped import drive

pytestmark = pytest.mark.gazebo

#: Root mean square of what is left, in parts of the peak.
LIMIT = 0.01

#: The same in real time, where a busy machine delays commands: enough to see a wrong joint, sign or size.
LIVE_LIMIT = 0.05

VEHICLES = {
    "ackermann_car": preset("ackermann_car"),
    "autoware_car": preset("autoware_car"),
    "autoware_delay_car": preset("autoware_delay_car"),
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
def test_it_follows_the_kinematics(name: str, partition: str):
    for manoeuvre, samples in driven(name).items():
        errors = error(samples, speed), error(samples, yaw_rate)
        assert max(errors) < LIMIT, f"speed and yaw rate of the {manoeuvre}"


@pytest.mark.parametrize("name", VEHICLES)
def test_gazebo_shows_the_dead_times_and_time_constants_configured(name: str, partition: str):
    pytest.importorskip("scipy", reason="the identification needs it")
    from helpers.identified_responses import answers

    parameters = VEHICLES[name]
    for answer in answers(parameters, manoeuvres(parameters), driven(name)):
        assert answer.agrees(), answer


def test_it_follows_them_over_transport_too(serve: Callable[..., object]):
    parameters = VEHICLES["ackermann_car"]
    serve(vehicle(parameters))
    slalom = next(manoeuvre for manoeuvre in manoeuvres(parameters) if manoeuvre.name == "slalom")
    pair = Pair(parameters)
    try:
        samples = averaged(pair.drive(slalom.commands, slalom.seconds))
    finally:
        pair.plant.close()
    assert max(error(samples, speed), error(samples, yaw_rate)) < LIVE_LIMIT
