"""The behaviour of a steering at standstill is identified only if the wheel was turned while the vehicle stood."""

import dataclasses

import numpy as np
import pytest

from vds_gz.core.configuration import load_parameters
from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import ackermann, twist
from vds_gz.core.vehicle.vehicle import Vehicle
from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.recording import Recording, Series

TIMES = 0.02 * np.arange(500)
MOVING = (TIMES // 2.5) % 2 == 0
CAR = load_parameters("ackermann_car")


def recorded(speed, turn, *, twists, centred=False, reverse=False, times=TIMES):
    """Commands of a car, and its steering angle."""
    vehicle = Vehicle(BICYCLE, BicycleParameters(wheel_base=2.7, center_at_standstill=centred, reverse=reverse))
    angles = []
    for time, v_x, turned in zip(times, speed, turn, strict=True):
        vehicle.advance(round(time * 1e9))
        angles.append(vehicle.state.steering.angle)
        vehicle.enter(twist(v_x, 0.0, turned) if twists else ackermann(v_x, turned), round(time * 1e9))
    commands = {"v_x": Series(times, speed), "yaw_rate" if twists else "steering": Series(times, turn)}
    return Recording(commands, {"steering": Series(times, np.array(angles))}, steers=not twists)


def found(signals, *, centred=False):
    vehicle = dataclasses.replace(CAR.vehicle, center_at_standstill=centred)
    given = dataclasses.replace(CAR, model_params=dict(CAR.model_params) | {"bicycle": vehicle})
    [axis] = (one for one in identify(signals, vehicle=given, hold_out=0.0) if one.quantity == "steering")
    return axis.centred


@pytest.mark.parametrize("centred", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_ten_seconds_at_standstill_correct_a_wrong_flag(centred):
    speed = np.where(MOVING, 1.0, 0.0)
    turn = np.where((TIMES // 4.0) % 2 == 0, 0.3, -0.2)
    assert found(recorded(speed, turn, twists=False, centred=centred), centred=not centred) is centred


@pytest.mark.slow
def test_a_short_standstill_is_enough_at_a_high_rate_of_samples():
    times = 1e-3 * np.arange(6000)
    speed = np.where((times > 3.0) & (times < 3.1), 0.0, 1.0)
    turn = np.where((times // 2.0) % 2 == 0, 0.3, -0.2)
    assert found(recorded(speed, turn, twists=False, centred=True, times=times), centred=False) is True


def test_the_flag_is_unknown_if_the_wheel_was_never_turned_at_standstill():
    rate = np.where(MOVING, 0.1, 0.0)
    assert found(recorded(np.ones(len(TIMES)), rate, twists=True, centred=False)) is None


def test_the_flag_is_unknown_if_noise_hides_the_angle_at_standstill():
    turn = np.where(TIMES % 5.0 < 1.0, 0.3, 0.0005)
    signals = recorded(np.where(MOVING, 1.0, 0.0), turn, twists=False)
    noise = np.random.default_rng(5).normal(0.0, 0.01, len(TIMES))
    signals.measured["steering"] = Series(TIMES, signals.measured["steering"].value + noise)
    assert found(signals) is None


def test_the_angle_commanded_by_velocities_is_that_of_a_settled_rear_axle():
    turn = np.where((TIMES // 5.0) % 2 == 0, 0.2, -0.1)
    bicycle = dataclasses.replace(CAR.vehicle, wheel_base=2.7, reverse=True)
    given = dataclasses.replace(CAR, model_params=dict(CAR.model_params) | {"bicycle": bicycle})
    fit = identify(recorded(np.ones(len(TIMES)), turn, twists=True, reverse=True), vehicle=given, hold_out=0.0)
    [steering] = (channel for channel in fit.channels if channel.quantity == "steering")
    settled = np.isclose(TIMES % 5.0, 4.9)
    assert settled.sum() == 2
    assert steering.commanded[np.isin(steering.time, TIMES[settled])] == pytest.approx(
        steering.measured[np.isin(steering.time, TIMES[settled])], abs=1e-3
    )
