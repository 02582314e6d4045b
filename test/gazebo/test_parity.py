"""In a real Gazebo, every vehicle does what its kinematics does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from gazebo_support import preset, vehicle
from parity import Manoeuvre, Pair, error, manoeuvres, speed, yaw_rate

from vds_gz.parameters.node import NodeParameters
from vds_gz.study.response import measure

pytestmark = pytest.mark.gazebo

#: Root mean square of what is left, in parts of the peak.
LIMIT = 0.01

TRIES = 3

VEHICLES = {
    "ackermann_car": preset("ackermann_car"),
    "deepracer": preset("deepracer"),
    "forklift": preset("forklift"),
    "indoor_robot": preset("indoor_robot"),
    "scaled_car": preset("scaled_car"),
    "steered_drive": preset("vds_defaults"),
    "differential": preset("vds_defaults", model="differential"),
    "omni": preset("vds_defaults", model="omni"),
}


@pytest.mark.parametrize("name", VEHICLES)
def test_it_follows_the_kinematics(name: str, serve: Callable[..., object]):
    parameters = VEHICLES[name]
    serve(vehicle(parameters))
    for manoeuvre in manoeuvres(parameters):
        errors = [driven(parameters, manoeuvre)]
        # Gazebo does not wait for us. Where the machine has kept us waiting, what was missed says nothing.
        while max(errors[-1]) >= LIMIT and len(errors) < TRIES:
            errors.append(driven(parameters, manoeuvre))
        assert max(errors[-1]) < LIMIT, f"speed and yaw rate of the {manoeuvre.name}, in each try: {errors}"


def driven(parameters: NodeParameters, manoeuvre: Manoeuvre) -> tuple[float, float]:
    """Errors of speed and yaw rate."""
    pair = Pair(parameters)
    try:
        samples = pair.drive(manoeuvre.commands, manoeuvre.seconds)
    finally:
        pair.plant.close()
    return error(samples, speed), error(samples, yaw_rate)


def test_gazebo_shows_the_dead_time_and_time_constant_configured(serve: Callable[..., object]):
    parameters = VEHICLES["differential"]
    serve(vehicle(parameters))
    pair = Pair(parameters)
    step = manoeuvres(parameters)[0]
    try:
        samples = pair.drive(step.commands, step.seconds)
    finally:
        pair.plant.close()
    times = [sample.time for sample in samples]
    reference = [0.3 if 0.3 <= time < 2.8 else 0.0 for time in times]
    found = measure(times, reference, [sample.gazebo.v_x for sample in samples], commands=[0.3, 2.8])
    drive = parameters.vehicle.drive_actuators
    assert found.dead_time == pytest.approx(drive.dead_time, abs=0.02)
    assert found.time_constant == pytest.approx(drive.time_constant, rel=0.05)
