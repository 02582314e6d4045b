"""Vehicles with a left and a right drive."""

import dataclasses

import pytest
from helpers.driving import IDEAL_DRIVE, driven, joints_of
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.parameters.actuator_parameters import DriveParameters
from vds_gz.core.parameters.vehicles import DifferentialParameters
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.differential import DIFFERENTIAL

IDEAL = DifferentialParameters(drive_actuators=IDEAL_DRIVE)


def test_each_wheel_rolls_with_the_speed_of_its_own_contact_point():
    p = dataclasses.replace(IDEAL, track=0.8, tire_diameter=0.5)
    joints = joints_of(driven(DIFFERENTIAL, p, twist(1.0, 0.0, 0.5), 2.0))
    assert joints["wheel_left_joint"] == pytest.approx((2.0 * 0.8 / 0.25, 0.8 / 0.25))
    assert joints["wheel_right_joint"] == pytest.approx((2.0 * 1.2 / 0.25, 1.2 / 0.25))


@given(st.floats(-5.0, 5.0), st.floats(-5.0, 5.0), st.floats(0.1, 2.0))
def test_a_command_beyond_the_drives_is_slowed_down_along_the_same_curve(v, w, limit):
    p = dataclasses.replace(IDEAL, drive_actuators=dataclasses.replace(IDEAL_DRIVE, max_velocity=limit))
    vehicle = driven(DIFFERENTIAL, p, twist(v, 0.0, w), 0.002)
    motion = vehicle.motion()
    left, right = v - 0.6 * w, v + 0.6 * w
    scale = min(1.0, limit / max(abs(left), abs(right), 1e-300))
    assert (motion.v_x, motion.yaw_rate) == pytest.approx((v * scale, w * scale), abs=1e-12)
    assert max(abs(vehicle.state.left.velocity), abs(vehicle.state.right.velocity)) <= limit


def test_each_side_has_its_own_actuator():
    p = DifferentialParameters(drive_actuators=dataclasses.replace(IDEAL_DRIVE, max_acceleration=1.0))
    vehicle = driven(DIFFERENTIAL, p, twist(1.0, 0.0, 1.0), 0.5)
    assert vehicle.state.left.velocity == pytest.approx(0.4)
    assert vehicle.state.right.velocity == pytest.approx(0.5)
    assert vehicle.motion().v_x == pytest.approx(0.45)
    assert vehicle.motion().yaw_rate == pytest.approx(0.1 / 1.2)


def test_actuator_states_are_references_and_responses():
    p = DifferentialParameters(drive_actuators=DriveParameters(dead_time=0.1))
    vehicle = driven(DIFFERENTIAL, p, twist(1.0, 0.0, 0.5), 0.05)
    states = DIFFERENTIAL.actuator_states(vehicle.coefficients, vehicle.state)
    assert [
        (actuator.name, actuator.kind, actuator.unit)
        for actuator in DIFFERENTIAL.actuators_of(DifferentialParameters())
    ] == [
        ("drive_left", "drive", "m/s"),
        ("drive_right", "drive", "m/s"),
    ]
    assert [state.reference_velocity for state in states] == pytest.approx((0.7, 1.3))
    assert [state.velocity for state in states] == [0.0, 0.0]
