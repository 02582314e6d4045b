"""Vehicles with four mecanum wheels."""

import dataclasses
import math

import numpy as np
import pytest
from helpers.driving import FREE_BODY, IDEAL_DRIVE, SECOND, driven, joints_of, omnis, twists
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.parameters.vehicles import OmniParameters
from vds_gz.core.vehicle import omni
from vds_gz.core.vehicle.command import Command, twist
from vds_gz.core.vehicle.omni import OMNI
from vds_gz.core.vehicle.vehicle import Vehicle

IDEAL = OmniParameters(drive_actuators=IDEAL_DRIVE)
WHEELS = ("front_left", "rear_left", "rear_right", "front_right")
#: Positions of the wheels in halves of wheel base and track, and the direction of their rollers in an O.
CORNERS = ((1, 1, 1), (-1, 1, -1), (-1, -1, 1), (1, -1, -1))


def system(p: OmniParameters) -> np.ndarray:
    """The 4x3 matrix from body velocity (v_x, v_y, yaw rate) to the speeds of the four actuators."""
    pattern = 1.0 if p.roller_pattern == "o" else -1.0
    rows = []
    for ahead, aside, sign in CORNERS:
        x, y, a = ahead * p.wheel_base / 2.0, aside * p.track / 2.0, pattern * sign
        rows.append([a, 1.0, x - a * y])
    return np.array(rows)


def speeds(vehicle) -> np.ndarray:
    return np.array([getattr(vehicle.state, wheel).velocity for wheel in WHEELS])


@given(omnis, twists)
def test_each_actuator_gets_the_speed_of_its_wheel_for_the_body_velocity(p, command):
    p = dataclasses.replace(p, base_link_offset=0.0, drive_actuators=IDEAL_DRIVE, **FREE_BODY)
    vehicle = driven(OMNI, p, command, 0.002)
    expected = system(p) @ (command.v_x, command.v_y, command.yaw_rate)
    assert speeds(vehicle) == pytest.approx(expected, abs=1e-9)


@given(omnis, st.lists(st.floats(-3.0, 3.0), min_size=4, max_size=4))
def test_the_body_velocity_is_the_least_squares_solution_of_the_wheel_speeds(p, velocities):
    vehicle = Vehicle(OMNI, p)
    for wheel, velocity in zip(WHEELS, velocities, strict=True):
        getattr(vehicle.state, wheel).velocity = velocity
    omni.set_velocities(vehicle.coefficients, vehicle.state, Command())
    expected = np.linalg.lstsq(system(p), np.array(velocities), rcond=None)[0]
    s = vehicle.state
    assert (s.v_x, s.v_y, s.yaw_rate) == pytest.approx(tuple(expected), abs=1e-9)


@given(omnis, twists, st.floats(0.1, 2.0))
def test_a_command_beyond_the_drives_is_slowed_down_in_the_same_direction(p, command, limit):
    drives = dataclasses.replace(IDEAL_DRIVE, max_velocity=limit)
    p = dataclasses.replace(p, base_link_offset=0.0, drive_actuators=drives, **FREE_BODY)
    vehicle = driven(OMNI, p, command, 0.002)
    body = np.array([command.v_x, command.v_y, command.yaw_rate])
    fastest = np.abs(system(p) @ body).max()
    scale = min(1.0, limit / fastest) if fastest else 1.0
    s = vehicle.state
    assert (s.v_x, s.v_y, s.yaw_rate) == pytest.approx(tuple(scale * body), abs=1e-9)
    assert np.abs(speeds(vehicle)).max() <= limit


@given(omnis)
def test_the_arm_of_the_geometry_is_the_speed_of_a_wheel_that_turns_in_place(p):
    assert OMNI.geometry(p).yaw_arm == pytest.approx(np.abs(system(p) @ [0.0, 0.0, 1.0]).max(), abs=1e-12)


def test_all_wheels_roll_forward_on_a_straight():
    joints = joints_of(driven(OMNI, dataclasses.replace(IDEAL, tire_diameter=0.4), twist(1.0, 0.0, 0.0), 3.0))
    assert list(joints) == [f"wheel_{wheel}_joint" for wheel in WHEELS]
    for state in joints.values():
        assert state == pytest.approx((15.0, 5.0))


@pytest.mark.parametrize(("pattern", "signs"), [("o", (1, -1, 1, -1)), ("x", (-1, 1, -1, 1))])
def test_laterally_the_wheels_of_a_diagonal_roll_together(pattern, signs):
    p = dataclasses.replace(IDEAL, tire_diameter=0.4, roller_pattern=pattern)
    joints = joints_of(driven(OMNI, p, twist(0.0, 1.0, 0.0), 3.0))
    assert [velocity for _, velocity in joints.values()] == pytest.approx([5.0 * sign for sign in signs])
    assert [position for position, _ in joints.values()] == pytest.approx([15.0 * sign for sign in signs])


@pytest.mark.parametrize("pattern", ["o", "x"])
def test_turning_to_the_left_the_right_wheels_of_an_x_roll_forward(pattern):
    p = dataclasses.replace(IDEAL, tire_diameter=0.4, roller_pattern=pattern, wheel_base=1.0, track=0.6)
    joints = joints_of(driven(OMNI, p, twist(0.0, 0.0, 1.0), 1.0))
    # A wheel at (x, y) with rollers a rolls with (v_x - w y) + a (v_y + w x).
    reach = 0.8 if pattern == "x" else 0.2
    forward = 1.0 if pattern == "x" else -1.0
    expected = [-forward * reach, -forward * reach, forward * reach, forward * reach]
    assert [velocity * 0.2 for _, velocity in joints.values()] == pytest.approx(expected)


def test_a_circle_driven_laterally_has_the_commanded_radius():
    vehicle = Vehicle(OMNI, IDEAL, max_command_age=1e6)
    vehicle.enter(twist(0.3, 0.4, 0.2), 0)
    centre = (-0.4 / 0.2, 0.3 / 0.2)
    for second in range(1, 31):
        vehicle.advance(second * SECOND)
        motion = vehicle.motion()
        assert math.hypot(motion.x - centre[0], motion.y - centre[1]) == pytest.approx(2.5, rel=1e-6)


@pytest.mark.parametrize("offset", [0.7, -0.3])
def test_pose_and_twist_are_those_of_base_link(offset):
    p = dataclasses.replace(IDEAL, base_link_offset=offset)
    spinning = driven(OMNI, p, twist(0.0, 0.0, 0.5), 3.0)
    motion = spinning.motion()
    # base_link starts `offset` ahead of the origin; a command to turn turns it in place.
    assert (motion.v_x, motion.v_y, motion.yaw_rate) == pytest.approx((0.0, 0.0, 0.5), abs=1e-12)
    assert (motion.x, motion.y) == pytest.approx((offset, 0.0), abs=1e-6)
    assert spinning.state.v_y == pytest.approx(-offset * 0.5)


def test_actuator_states_are_references_and_responses():
    p = OmniParameters(wheel_base=1.4, track=1.2)
    vehicle = driven(OMNI, p, twist(0.5, 0.2, 0.0), 0.1)
    states = OMNI.actuator_states(vehicle.coefficients, vehicle.state)
    assert [(actuator.name, actuator.kind) for actuator in OMNI.actuators_of(OmniParameters())] == [
        (f"drive_{wheel}", "drive") for wheel in WHEELS
    ]
    assert [state.reference_velocity for state in states] == pytest.approx((0.7, -0.3, 0.7, -0.3))
    assert [state.velocity for state in states] == [0.0] * 4
