"""Limits of the body's velocity and acceleration, before a command is split into wheel speeds."""

import dataclasses
import math

import pytest
from helpers.driving import FREE_BODY, IDEAL_DRIVE, driven, twists
from hypothesis import given

from vds_gz.core.parameters.vehicles import DifferentialParameters, OmniParameters
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.omni import OMNI

ROBOTS = [
    (DIFFERENTIAL, DifferentialParameters(drive_actuators=IDEAL_DRIVE)),
    (OMNI, OmniParameters(drive_actuators=IDEAL_DRIVE)),
]
robots = pytest.mark.parametrize(("model", "parameters"), ROBOTS, ids=["differential", "omni"])


@robots
def test_speed_and_yaw_rate_are_limited_separately(model, parameters):
    p = dataclasses.replace(parameters, max_linear_velocity=0.5, max_angular_velocity=0.4)
    motion = driven(model, p, twist(1.0, 0.0, -2.0), 0.01).motion()
    assert (motion.v_x, motion.yaw_rate) == pytest.approx((0.5, -0.4))


@robots
@pytest.mark.parametrize(
    ("body", "wheel", "limit"), [(0.5, 2.0, 0.5), (3.0, 2.0, 2.0), (0.5, 0.0, 0.5), (0.0, 2.0, 2.0), (0.0, 0.0, 0.0)]
)
def test_the_limit_of_the_vehicle_is_the_smaller_one_and_zero_is_unlimited(model, parameters, body, wheel, limit):
    drive = dataclasses.replace(parameters.drive_actuators, max_velocity=wheel)
    p = dataclasses.replace(parameters, max_linear_velocity=body, drive_actuators=drive)
    assert model.limits(p).speed == limit


@robots
def test_references_change_no_faster_than_the_maximum_accelerations(model, parameters):
    p = dataclasses.replace(parameters, max_linear_acceleration=0.5, max_angular_acceleration=2.0)
    vehicle = driven(model, p, twist(1.0, 0.0, -3.0), 1.0)
    motion = vehicle.motion()
    assert (motion.v_x, motion.yaw_rate) == pytest.approx((0.5, -2.0))
    vehicle.advance(2_000_000_000)
    motion = vehicle.motion()
    assert (motion.v_x, motion.yaw_rate) == pytest.approx((1.0, -3.0))


def test_limits_keep_the_direction_of_an_omni_vehicle():
    p = dataclasses.replace(ROBOTS[1][1], max_linear_velocity=0.5, max_linear_acceleration=1.0)
    for seconds, speed in ((0.2, 0.2), (1.0, 0.5)):
        motion = driven(OMNI, p, twist(3.0, -4.0, 0.0), seconds).motion()
        assert (motion.v_x, motion.v_y) == pytest.approx((0.6 * speed, -0.8 * speed))


@robots
def test_limits_that_are_set_while_driving_cause_no_jump(model, parameters):
    vehicle = driven(model, parameters, twist(1.0, 0.0, 0.5), 0.5)
    vehicle.configure(dataclasses.replace(parameters, max_linear_acceleration=1.0, max_angular_acceleration=1.0))
    vehicle.advance(501_000_000)
    assert vehicle.motion().v_x == pytest.approx(1.0)
    vehicle.enter(twist(0.0, 0.0, 0.0), 501_000_000)
    vehicle.advance(1_001_000_000)
    assert vehicle.motion().v_x == pytest.approx(0.5)


@robots
@given(command=twists)
def test_limits_that_are_not_reached_change_nothing(model, parameters, command):
    wide = dict.fromkeys(FREE_BODY, 100.0) | {"max_linear_acceleration": 1e5, "max_angular_acceleration": 1e5}
    limited = driven(model, dataclasses.replace(parameters, **wide), command, 0.01).motion()
    assert limited == driven(model, parameters, command, 0.01).motion()
    assert math.isfinite(limited.x)
