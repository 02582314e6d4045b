"""The order of an actuator's lag is identified from its response."""

import dataclasses

import numpy as np
import pytest
from scipy.signal import lfilter

from vds_gz.core.configuration import load_parameters
from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.vehicle import Vehicle
from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.recording import Recording, Series

STEP = 0.001


def lag(values, time_constant):
    """Values behind a lag of first order."""
    left = np.exp(-STEP / time_constant)
    return lfilter([1.0 - left], [1.0, -left], values)


@pytest.fixture(scope="module")
def commanded():
    levels = np.random.default_rng(11).uniform(-1.0, 1.0, 25)
    return Series(1.2 * np.arange(25), levels)


def recorded(commanded, *constants, noise=0.01):
    """A speed that follows with lags and a dead time of 0.1 s, measured at 50 Hz."""
    time = STEP * np.arange(30_000)
    delayed = commanded.value[np.clip(np.searchsorted(commanded.time, time - 0.1, side="right") - 1, 0, None)]
    response = np.where(time < 0.1, 0.0, delayed)
    for constant in constants:
        response = lag(response, constant)
    at = slice(20, None, 20)
    disturbed = response[at] + noise * np.random.default_rng(12).standard_normal(len(response[at]))
    return Recording({"v_x": commanded}, {"v_x": Series(time[at], disturbed)})


def order(signals):
    return [one for one in identify(signals, hold_out=0.0).findings if "lag" in one]


def test_two_lags_are_distinguished_from_one(commanded):
    [finding] = order(recorded(commanded, 0.3, 0.2))
    assert finding.startswith("drive: two lags of about 0.")
    longer, shorter = _both(finding)
    assert longer == pytest.approx(0.3, rel=0.25)
    assert shorter == pytest.approx(0.2, rel=0.35)


def _both(finding):
    words = finding.split()
    at = words.index("and")
    return float(words[at - 1]), float(words[at + 1])


@pytest.mark.parametrize("noise", [0.01, pytest.param(0.0, marks=pytest.mark.slow)])
def test_one_lag_is_of_first_order(commanded, noise):
    assert order(recorded(commanded, 0.3, noise=noise)) == [
        "drive: a lag of first order is enough; a second lag does not improve the prediction"
    ]


@pytest.mark.slow
def test_a_car_driven_by_twists_is_identified_exactly_without_measured_angles():
    """A twist commands speed and angle together, so there is no finding on the order of either lag."""
    vehicle = Vehicle(BICYCLE, BicycleParameters(wheel_base=1.5, center_at_standstill=True))
    random = np.random.default_rng(5)
    times = 0.02 * np.arange(1250)
    speed, turn = (np.repeat(random.uniform(low, 1.0, 25), 50) for low in (0.4, -0.5))
    v_x, yaw_rate = [], []
    for time, forward, turned in zip(times, speed, turn, strict=True):
        vehicle.advance(round(time * 1e9))
        v_x.append(vehicle.state.v_x)
        yaw_rate.append(vehicle.state.yaw_rate)
        vehicle.enter(twist(forward, 0.0, turned), round(time * 1e9))
    signals = Recording(
        {"v_x": Series(times, speed), "yaw_rate": Series(times, turn)},
        {"v_x": Series(times, np.array(v_x)), "yaw_rate": Series(times, np.array(yaw_rate))},
    )
    car = load_parameters("ackermann_car")
    known = dataclasses.replace(car.vehicle, wheel_base=1.5)
    fit = identify(signals, vehicle=dataclasses.replace(car, model_params={"bicycle": known}), hold_out=0.0)
    assert not [finding for finding in fit.findings if "of first order" in finding]
    steering = vehicle.parameters.steering_actuator
    for name in ("dead_time", "time_constant", "max_velocity", "max_position"):
        estimate = fit.numbers[f"steering_actuator.{name}"]
        assert estimate.value == pytest.approx(getattr(steering, name), rel=1e-4)
