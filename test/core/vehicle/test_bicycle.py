"""Vehicles with a fixed and a steered axle: their geometry, their wheels, their options."""

import dataclasses
import math

import pytest
from helpers.driving import (
    IDEAL_DRIVE,
    IDEAL_LIMITED_STEERING,
    IDEAL_STEERING,
    MILLISECOND,
    driven,
    fixed_drive_bicycles,
    ideal_bicycle,
    joints_of,
    steered_drive_bicycles,
    twists,
)
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.parameters.actuator_parameters import DriveParameters
from vds_gz.core.parameters.vehicles import BicycleParameters
from vds_gz.core.vehicle import bicycle
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import Command, ackermann, twist
from vds_gz.core.vehicle.vehicle import Vehicle
from vds_gz.core.vehicle.vehicle_model import VehicleLimits

STEP = 1e-3
ANGLES = [-3.0, -2.0, -1.5708, -1.2, -0.5, -0.1, 0.0, 0.1, 0.5, 1.2, 1.5707, 2.0, 3.0, 8.0]
#: Drive on the fixed or the steered axle, steered axle in front or behind.
CONFIGURATIONS = [(steered, reverse) for steered in (False, True) for reverse in (False, True)]


def standing(parameters, angle=0.0, speed=0.0) -> Vehicle:
    """A vehicle whose actuators are at an angle and a speed."""
    vehicle = Vehicle(BICYCLE, parameters)
    vehicle.state.steering.angle = angle
    vehicle.state.drive.velocity = speed
    bicycle.set_velocities(vehicle.coefficients, vehicle.state, Command())
    return vehicle


def steered_wheels(vehicle) -> list[tuple[float, float, float, float]]:
    """Position x, y from the reference point, angle and rolling speed of each steered wheel."""
    p, joints = vehicle.parameters, joints_of(vehicle)
    x = -p.wheel_base if p.reverse else p.wheel_base
    sides = {"_left": p.track_steered / 2.0, "_right": -p.track_steered / 2.0} if p.track_steered else {"": 0.0}
    return [
        (x, y, joints[f"steering{side}"][0], joints[f"steered_wheel{side}_joint"][1] * p.tire_diameter / 2.0)
        for side, y in sides.items()
    ]


# Understeer


@pytest.mark.parametrize(("steered", "reverse"), CONFIGURATIONS)
def test_a_car_that_understeers_turns_as_one_with_a_longer_wheelbase(steered, reverse):
    p = ideal_bicycle(drive_on_steered_wheel=steered, reverse=reverse, understeer_gradient=0.02)
    vehicle = standing(p, angle=0.2, speed=5.0)
    v_x = 5.0 * math.cos(0.2) if steered else 5.0
    length = p.wheel_base + 0.02 * v_x**2
    assert vehicle.state.yaw_rate == pytest.approx((-1.0 if reverse else 1.0) * v_x * math.tan(0.2) / length)


# Twist in, twist out


def test_an_angle_beyond_the_stops_gives_the_tightest_circle():
    p = ideal_bicycle(steering_actuator=dataclasses.replace(IDEAL_STEERING, max_position=0.5))
    motion = driven(BICYCLE, p, twist(1.0, 0.0, 5.0), 0.1).motion()
    assert motion.v_x == 1.0
    assert motion.yaw_rate == pytest.approx(math.tan(0.5) / p.wheel_base)


def test_a_standing_vehicle_points_its_steering_ahead():
    vehicle = driven(BICYCLE, ideal_bicycle(), twist(1.0, 0.0, 0.5), 0.01)
    vehicle.enter(twist(0.0, 0.0, 0.5), vehicle.time)
    vehicle.advance(vehicle.time + 5 * MILLISECOND)
    assert vehicle.state.steering.angle == 0.0


# Ackermann commands


@pytest.mark.parametrize(("steered", "reverse"), CONFIGURATIONS)
@pytest.mark.parametrize("speed", [1.2, -0.7])
@pytest.mark.parametrize("angle", [0.4, -0.3, 0.0])
def test_an_ackermann_command_sets_the_angle_and_the_speed_of_the_reference_point(steered, reverse, speed, angle):
    p = ideal_bicycle(drive_on_steered_wheel=steered, reverse=reverse)
    vehicle = driven(BICYCLE, p, ackermann(speed, angle), 0.01)
    lever = -p.wheel_base if reverse else p.wheel_base
    assert vehicle.state.steering.angle == angle
    assert vehicle.motion().v_x == pytest.approx(speed)
    assert vehicle.motion().yaw_rate == pytest.approx(speed * math.tan(angle) / lever)


@pytest.mark.parametrize("steered", [False, True])
def test_the_speed_of_an_ackermann_command_holds_when_its_angle_lies_beyond_the_stops(steered):
    p = ideal_bicycle(
        drive_on_steered_wheel=steered, steering_actuator=dataclasses.replace(IDEAL_STEERING, max_position=0.5)
    )
    vehicle = driven(BICYCLE, p, ackermann(0.5, 1.5), 0.01)
    assert vehicle.state.steering.angle == 0.5
    assert vehicle.motion().v_x == pytest.approx(0.5)


def test_an_ackermann_command_may_limit_its_own_rates():
    p = ideal_bicycle()
    vehicle = driven(BICYCLE, p, ackermann(1.0, 0.4, steering_rate=0.5, acceleration=2.0), 0.1)
    assert vehicle.state.steering.angle == pytest.approx(0.05)
    assert vehicle.state.drive.velocity == pytest.approx(0.2)


@pytest.mark.parametrize("angle", [math.pi / 2, -math.pi / 2])
def test_a_wheel_turned_by_a_right_angle_gives_no_infinite_speed(angle):
    p = ideal_bicycle(drive_on_steered_wheel=True)
    vehicle = driven(BICYCLE, p, ackermann(0.01, angle), 0.1)
    assert math.isfinite(vehicle.state.drive.velocity)
    assert abs(vehicle.state.drive.velocity) <= 0.01 / bicycle.SMALLEST_COSINE


# The two ways to steer


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("standing_at", "along", "across", "goal", "way"),
    [
        (0.0, 1.0, 0.0, 0.0, 1.0),
        (0.0, -1.0, 0.0, 0.0, -1.0),
        (3.0, 1.0, 0.0, math.pi, -1.0),
        (3.0, -1.0, 0.0, math.pi, 1.0),
        (0.0, 0.0, 1.0, math.pi / 2, 1.0),
        (0.0, 0.0, -1.0, -math.pi / 2, 1.0),
        (1.5, 0.0, -1.0, math.pi / 2, -1.0),
        (-1.5, 0.0, 1.0, -math.pi / 2, -1.0),
        (0.3, -1.0, -1.0, math.pi / 4, -1.0),
        (-2.2, -1.0, -1.0, -3 * math.pi / 4, 1.0),
        (3.1, -1.0, -0.1, -math.pi + math.atan(0.1), 1.0),
    ],
)
def test_a_free_steering_takes_the_nearer_of_two_ways_and_reverses_the_drive_to_match(
    reverse, standing_at, along, across, goal, way
):
    p = ideal_bicycle(drive_on_steered_wheel=True, reverse=reverse)
    vehicle = standing(p, standing_at)
    yaw_rate = across / vehicle.coefficients.signed_wheelbase
    vehicle.enter(twist(along, 0.0, yaw_rate), 0)
    vehicle.advance(MILLISECOND)
    assert math.remainder(vehicle.state.steering.angle - goal, 2 * math.pi) == pytest.approx(0.0, abs=1e-12)
    assert abs(vehicle.state.steering.angle - standing_at) <= math.pi / 2 + 1e-12
    assert vehicle.state.drive.velocity == pytest.approx(way * math.hypot(along, across))
    assert vehicle.motion().v_x == pytest.approx(along, abs=1e-12)
    assert vehicle.motion().yaw_rate == pytest.approx(yaw_rate)


@pytest.mark.parametrize("standing_at", [-2.0, 0.0, 2.0])
@pytest.mark.parametrize(("along", "across"), [(-1.0, 0.3), (-1.0, -0.3), (1.0, 0.3), (1.0, -0.3)])
def test_a_way_beyond_the_stops_is_not_taken(standing_at, along, across):
    limited = dataclasses.replace(IDEAL_STEERING, max_position=math.pi / 2)
    p = ideal_bicycle(drive_on_steered_wheel=True, steering_actuator=limited)
    vehicle = standing(p, max(-1.5, min(standing_at, 1.5)))
    vehicle.enter(twist(along, 0.0, across / p.wheel_base), 0)
    vehicle.advance(MILLISECOND)
    assert vehicle.motion().v_x == pytest.approx(along)
    assert vehicle.motion().yaw_rate == pytest.approx(across / p.wheel_base)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_steering_with_stops_takes_the_way_that_is_nearer_without_passing_through_them(side):
    # From 2.4 rad to -2.4 rad a steering with stops travels 4.8 rad; the opposite angle, 0.74 rad, is 1.66 rad away.
    limited = dataclasses.replace(IDEAL_STEERING, max_position=2.5)
    p = ideal_bicycle(drive_on_steered_wheel=True, steering_actuator=limited)
    vehicle = standing(p, side * 2.4)
    vehicle.enter(twist(math.cos(2.4), 0.0, -side * math.sin(2.4) / p.wheel_base), 0)
    vehicle.advance(MILLISECOND)
    assert vehicle.state.steering.angle == pytest.approx(side * (math.pi - 2.4))
    assert vehicle.state.drive.velocity == pytest.approx(-1.0)


# Wheels


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("track", [0.0, 0.3, 1.2, 8.0])
@pytest.mark.parametrize("angle", ANGLES)
def test_steered_wheels_point_at_the_turning_centre_and_roll_as_fast_as_they_move(reverse, track, angle):
    p = ideal_bicycle(drive_on_steered_wheel=True, reverse=reverse, track_steered=track)
    vehicle = standing(p, angle, 1.3)
    s = vehicle.state
    wheels = steered_wheels(vehicle)
    assert len(wheels) == (2 if track else 1)
    for x, y, wheel_angle, rolling in wheels:
        move_x, move_y = s.v_x - s.yaw_rate * y, s.yaw_rate * x
        cosine, sine = math.cos(wheel_angle), math.sin(wheel_angle)
        assert -move_x * sine + move_y * cosine == pytest.approx(0.0, abs=1e-9)
        assert move_x * cosine + move_y * sine == pytest.approx(rolling, abs=1e-9)
        assert abs(wheel_angle - angle) <= math.pi / 2


@pytest.mark.parametrize("angle", [-0.9, 0.0, 0.6])
def test_parallel_steering_points_both_wheels_the_same_way(angle):
    vehicle = standing(ideal_bicycle(parallel_steering=True), angle, 1.0)
    s = vehicle.state
    for x, y, wheel_angle, rolling in steered_wheels(vehicle):
        assert wheel_angle == angle
        move_x, move_y = s.v_x - s.yaw_rate * y, s.yaw_rate * x
        assert rolling == pytest.approx(move_x * math.cos(angle) + move_y * math.sin(angle))


@pytest.mark.parametrize(("v", "w"), [(1.0, 0.5), (1.0, -0.5), (-1.0, 0.3)])
def test_fixed_wheels_roll_with_the_speed_of_their_own_contact_point(v, w):
    p = ideal_bicycle(track_fixed=0.8, tire_diameter=0.6)
    joints = joints_of(driven(BICYCLE, p, twist(v, 0.0, w), 0.01))
    assert joints["fixed_wheel_left_joint"][1] * 0.3 == pytest.approx(v - 0.4 * w)
    assert joints["fixed_wheel_right_joint"][1] * 0.3 == pytest.approx(v + 0.4 * w)


def test_an_axle_without_a_track_has_one_wheel():
    vehicle = driven(BICYCLE, ideal_bicycle(track_fixed=0.0, track_steered=0.0), twist(1.0, 0.0, 0.4), 0.01)
    joints = joints_of(vehicle)
    assert list(joints) == ["steering", "fixed_wheel_joint", "steered_wheel_joint"]
    assert joints["steering"][0] == vehicle.state.steering.angle
    assert joints["fixed_wheel_joint"][1] == pytest.approx(1.0 / 0.25)
    assert joints["steered_wheel_joint"][1] == pytest.approx(math.hypot(1.0, 0.4 * 1.6) / 0.25)


def test_joints_are_named_left_before_right_and_hinges_before_wheels():
    assert [joint.name for joint in BICYCLE.joints(BicycleParameters())] == [
        "steering_left",
        "steering_right",
        "fixed_wheel_left_joint",
        "fixed_wheel_right_joint",
        "steered_wheel_left_joint",
        "steered_wheel_right_joint",
    ]


@given(st.one_of(fixed_drive_bicycles, steered_drive_bicycles), twists, twists)
def test_joint_velocities_are_the_changes_of_the_joint_positions(p, first, second):
    # Without lag and rate limits positions jump, and a jump has no velocity.
    p = dataclasses.replace(
        p,
        track_steered=min(p.track_steered, p.wheel_base),
        drive_actuator=dataclasses.replace(p.drive_actuator, dead_time=0.01, time_constant=0.1),
        steering_actuator=dataclasses.replace(p.steering_actuator, dead_time=0.0, time_constant=0.1, max_velocity=2.0),
    )
    vehicle = Vehicle(BICYCLE, p)
    for command in (first, second):
        vehicle.enter(command, vehicle.time)
        for _ in range(30):
            before = joints_of(vehicle)
            vehicle.advance(vehicle.time + MILLISECOND)
            for name, (position, velocity) in joints_of(vehicle).items():
                change = (position - before[name][0]) / STEP
                tolerance = 1e-9 + (2e-2 * abs(change) if "steering" in name else 0.0)
                assert velocity == pytest.approx(change, abs=1e-9 + tolerance)


# Driven wheels and their limit


@given(
    st.one_of(fixed_drive_bicycles, steered_drive_bicycles),
    st.floats(-1.4, 1.4),
    st.floats(-1.0, 1.0),
    st.floats(0.1, 3.0),
)
def test_no_driven_wheel_exceeds_its_own_limit_and_the_curvature_is_kept(p, angle, share, limit):
    vehicle = standing(dataclasses.replace(p, max_wheel_velocity=limit), angle, share * limit)
    free = standing(dataclasses.replace(p, max_wheel_velocity=0.0), angle, share * limit)
    s, f = vehicle.state, free.state
    driven_wheels = [s.speed_steered_left, s.speed_steered_right]
    if not p.drive_on_steered_wheel:
        driven_wheels = [s.speed_fixed_left, s.speed_fixed_right] + (driven_wheels if p.four_wheel_drive else [])
    fastest = max(map(abs, driven_wheels))
    assert fastest <= limit * (1.0 + 1e-12)
    assert s.v_x * f.yaw_rate == pytest.approx(f.v_x * s.yaw_rate, abs=1e-9)
    assert abs(s.v_x) <= abs(f.v_x) + 1e-12
    assert fastest == pytest.approx(limit) or s.v_x == pytest.approx(f.v_x)


@pytest.mark.parametrize("four_wheel_drive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_in_a_saturated_turn_the_middle_of_the_fixed_axle_has_the_maximum_velocity(
    four_wheel_drive, reverse, parallel, side
):
    p = ideal_bicycle(
        drive_actuator=dataclasses.replace(IDEAL_DRIVE, max_velocity=1.0),
        four_wheel_drive=four_wheel_drive,
        reverse=reverse,
        parallel_steering=parallel,
    )
    vehicle = driven(BICYCLE, p, ackermann(5.0, side * 0.6), 0.01)
    s = vehicle.state
    yaw_rate = math.tan(side * 0.6) / (-p.wheel_base if reverse else p.wheel_base)
    assert vehicle.motion().v_x == 1.0
    assert vehicle.motion().yaw_rate == pytest.approx(yaw_rate)
    assert max(s.speed_fixed_left, s.speed_fixed_right) == pytest.approx(1.0 + abs(yaw_rate) * 0.6)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("angle", [0.7, -1.2])
def test_in_a_saturated_turn_the_middle_of_a_driven_steered_axle_has_the_maximum_velocity(reverse, angle):
    p = ideal_bicycle(
        drive_on_steered_wheel=True,
        reverse=reverse,
        drive_actuator=dataclasses.replace(IDEAL_DRIVE, max_velocity=1.0),
    )
    vehicle = driven(BICYCLE, p, ackermann(5.0, angle), 0.01)
    s = vehicle.state
    assert vehicle.motion().v_x == pytest.approx(math.cos(angle))
    assert vehicle.motion().yaw_rate == pytest.approx(math.sin(angle) / (-p.wheel_base if reverse else p.wheel_base))
    assert max(s.speed_steered_left, s.speed_steered_right) > 1.0


def test_undriven_wheels_do_not_slow_the_vehicle_down():
    vehicle = driven(BICYCLE, ideal_bicycle(max_wheel_velocity=1.0, track_fixed=0.0), ackermann(1.0, 0.6), 0.01)
    assert vehicle.motion().v_x == 1.0
    assert vehicle.state.speed_steered_left > 1.0


def test_with_four_wheel_drive_the_fastest_of_all_wheels_counts():
    p = ideal_bicycle(max_wheel_velocity=1.0, four_wheel_drive=True)
    s = driven(BICYCLE, p, ackermann(1.0, 0.6), 0.01).state
    assert s.speed_steered_right == pytest.approx(1.0)
    assert s.v_x < 1.0
    assert s.yaw_rate / s.v_x == pytest.approx(math.tan(0.6) / p.wheel_base)


# Options


@pytest.mark.parametrize("command", [twist(-1.0, 0.0, 0.0), ackermann(-1.0, 0.0)])
def test_a_vehicle_that_may_not_reverse_takes_negative_speeds_as_zero(command):
    motion = driven(BICYCLE, ideal_bicycle(allow_reverse=False), command, 0.1).motion()
    assert motion.v_x == 0.0
    assert motion.x == 0.0
    assert driven(BICYCLE, ideal_bicycle(), command, 0.1).motion().v_x == -1.0


def test_a_vehicle_that_may_not_reverse_still_steers():
    vehicle = driven(BICYCLE, ideal_bicycle(allow_reverse=False), ackermann(-1.0, 0.3), 0.1)
    assert vehicle.state.steering.angle == 0.3


def test_the_steering_centres_at_standstill_only_if_configured():
    for centred, angle in ((True, 0.0), (False, 0.3)):
        p = ideal_bicycle(center_at_standstill=centred)
        assert driven(BICYCLE, p, ackermann(0.0, 0.3), 0.1).state.steering.angle == angle
        assert driven(BICYCLE, p, ackermann(0.5, 0.3), 0.1).state.steering.angle == 0.3


def test_turning_in_place_is_not_standstill():
    p = ideal_bicycle(drive_on_steered_wheel=True, center_at_standstill=True)
    motion = driven(BICYCLE, p, twist(0.0, 0.0, 0.5), 0.1).motion()
    assert motion.yaw_rate == pytest.approx(0.5)
    assert motion.v_x == pytest.approx(0.0, abs=1e-12)


# Symmetry


def drive_through(p, commands) -> Vehicle:
    vehicle = Vehicle(BICYCLE, p)
    for command in commands:
        vehicle.enter(command, vehicle.time)
        vehicle.advance(vehicle.time + 40 * MILLISECOND)
    return vehicle


@given(fixed_drive_bicycles, st.lists(twists, min_size=1, max_size=4))
def test_a_steered_axle_behind_steers_the_other_way_for_the_same_motion(p, commands):
    front = drive_through(dataclasses.replace(p, reverse=False, track_steered=0.0, four_wheel_drive=False), commands)
    rear = drive_through(dataclasses.replace(p, reverse=True, track_steered=0.0, four_wheel_drive=False), commands)
    assert dataclasses.astuple(rear.motion()) == pytest.approx(dataclasses.astuple(front.motion()), abs=1e-9)
    assert rear.state.steering.angle == pytest.approx(-front.state.steering.angle, abs=1e-9)


def test_actuator_states_are_references_and_responses():
    p = ideal_bicycle(
        drive_actuator=DriveParameters(dead_time=0.1), steering_actuator=dataclasses.replace(IDEAL_LIMITED_STEERING)
    )
    vehicle = driven(BICYCLE, p, ackermann(1.0, 0.3), 0.05)
    states = BICYCLE.actuator_states(vehicle.coefficients, vehicle.state)
    assert [(actuator.name, actuator.unit) for actuator in BICYCLE.actuators_of(BicycleParameters())] == [
        ("drive", "m/s"),
        ("steering", "rad"),
    ]
    assert states == ((0.0, 1.0, 0.0, 0.0), (0.3, 0.0, 0.3, 0.0))


@pytest.mark.parametrize("reverse", [False, True])
def test_limits_and_geometry_are_those_of_the_parameters(reverse):
    p = BicycleParameters(reverse=reverse, base_link_offset=0.2, track_fixed=0.0)
    assert BICYCLE.limits(p) == VehicleLimits(2.0, math.pi / 6)
    geometry = BICYCLE.geometry(p)
    ahead = -1.8 if reverse else pytest.approx(1.4)
    assert [(wheel.x, wheel.y, wheel.steered) for wheel in geometry.wheels] == [
        (-0.2, 0.0, False),
        (ahead, 0.6, True),
        (ahead, -0.6, True),
    ]
    assert (geometry.tire_diameter, geometry.wheel_base, geometry.holonomic) == (0.5, 1.6, False)
