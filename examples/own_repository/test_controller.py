"""The controller keeps the car on its line in spite of the latency of the actuators: ``pytest``."""

from __future__ import annotations

from pathlib import Path

import pytest
from controller import steering_angle

import vds_gz

CAR = Path(__file__).with_name("my_car.yaml")
DEAD_TIME = "model_params.bicycle.steering_actuator.dead_time"

#: Speed [m/s], period of the controller [ns] and first distance from the line [m].
SPEED, PERIOD, START = 1.5, 20_000_000, 0.5


def lateral_errors(values: dict[str, float] | None = None) -> list[float]:
    """Distances from the line at each period of 15 s [m], for a car with some other parameters."""
    car = vds_gz.load_vehicle(CAR, values)
    errors = []
    for time in range(0, 15_000_000_000, PERIOD):
        car.advance(time)
        motion = car.motion()
        errors.append(START + motion.y)
        car.enter(vds_gz.ackermann(SPEED, steering_angle(errors[-1], motion.heading)), time=time)
    return errors


def test_the_car_reaches_the_line() -> None:
    """Without overshooting by more than 5 cm."""
    errors = lateral_errors()
    assert min(errors) > -0.05, "it overshoots"
    assert all(abs(error) < 0.01 for error in errors[-250:]), "it does not settle"


@pytest.mark.parametrize("latency", [0.05, 0.1, 0.2])
def test_it_tolerates_more_latency(latency: float) -> None:
    """As of a network between controller and car."""
    dead_time = vds_gz.load_parameters(CAR).vehicle.steering_actuator.dead_time
    errors = lateral_errors({DEAD_TIME: dead_time + latency})
    assert all(abs(error) < 0.05 for error in errors[-250:])
