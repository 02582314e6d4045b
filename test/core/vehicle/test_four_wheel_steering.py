"""Vehicles that steer both axles: closed forms, wheels, commands, the bicycle as a special case."""

import dataclasses
import math

import pytest
from helpers.driving import (
    IDEAL_DRIVE,
    IDEAL_LIMITED_STEERING,
    MILLISECOND,
    SECOND,
    driven,
    drives,
    four_wheel_steered,
    joints_of,
    limited_steerings,
    twists,
)
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.parameters.declaration import ParameterError
from vds_gz.core.parameters.vehicles import BicycleParameters, FourWheelSteeringParameters
from vds_gz.core.vehicle import four_wheel_steering as model
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import Command, SteadyMotion, ackermann, four_wheel_steering, twist
from vds_gz.core.vehicle.four_wheel_steering import FOUR_WHEEL_STEERING
from vds_gz.core.vehicle.vehicle import Vehicle

WHEELS = ("front_left", "front_right", "rear_left", "rear_right")

#: Angles of front and rear axle, and a speed other than 0.
angles = st.floats(-1.2, 1.2)
speeds = st.floats(0.1, 3.0).flatmap(lambda speed: st.sampled_from((speed, -speed)))


def ideal(**changes) -> FourWheelSteeringParameters:
    """A vehicle whose actuators do at once what they are asked for."""
    actuators = {
        "drive_actuator": IDEAL_DRIVE,
        "front_steering_actuator": IDEAL_LIMITED_STEERING,
        "rear_steering_actuator": IDEAL_LIMITED_STEERING,
    }
    return FourWheelSteeringParameters(**actuators | changes)


def moving(p: FourWheelSteeringParameters, speed: float, front: float, rear: float) -> Vehicle:
    """A vehicle whose actuators are at a speed and two angles."""
    vehicle = Vehicle(FOUR_WHEEL_STEERING, p)
    s = vehicle.state
    s.drive.velocity, s.steering_front.angle, s.steering_rear.angle = speed, front, rear
    model.set_velocities(vehicle.coefficients, s, Command())
    return vehicle


def wheels_of(vehicle: Vehicle) -> list[tuple[float, float, float, float]]:
    """Position x, y from the reference point, angle and rolling speed of each wheel."""
    p, joints = vehicle.parameters, joints_of(vehicle)
    places = []
    for axle, x, track in (("front", p.wheel_base, p.track_front), ("rear", 0.0, p.track_rear)):
        for side, y in {"_left": track / 2, "_right": -track / 2}.items() if track else (("", 0.0),):
            rolling = joints[f"wheel_{axle}{side}_joint"][1] * p.tire_diameter / 2.0
            places.append((x, y, joints[f"steering_{axle}{side}"][0], rolling))
    return places


def velocity_at(vehicle: Vehicle, x: float, y: float) -> tuple[float, float]:
    """Velocity of a point of the body at x, y from the reference point [m/s]."""
    s = vehicle.state
    return s.v_x - s.yaw_rate * y, s.v_y + s.yaw_rate * x


# Body


@given(four_wheel_steered, speeds, angles, angles)
def test_the_vehicle_moves_by_the_published_bicycle_with_two_steering_angles(p, speed, front, rear):
    # Rajamani, Vehicle Dynamics and Control (2012), equations 2.1 to 2.4, with the distances lf and lr of the axles.
    p = dataclasses.replace(p, max_wheel_velocity=0.0)
    vehicle = moving(p, speed, front, rear)
    lf = 0.4 * p.wheel_base
    lr = p.wheel_base - lf
    slip = math.atan((lf * math.tan(rear) + lr * math.tan(front)) / (lf + lr))
    along_path = speed / math.cos(slip)
    yaw_rate = along_path * math.cos(slip) * (math.tan(front) - math.tan(rear)) / (lf + lr)
    assert vehicle.state.yaw_rate == pytest.approx(yaw_rate, rel=1e-12, abs=1e-12)
    v_x, v_y = velocity_at(vehicle, lr, 0.0)
    assert math.hypot(v_x, v_y) == pytest.approx(abs(along_path), rel=1e-12)
    assert v_y == pytest.approx(along_path * math.sin(slip), rel=1e-12, abs=1e-12)


@given(four_wheel_steered, speeds, angles)
def test_crab_does_not_turn(p, speed, angle):
    vehicle = moving(dataclasses.replace(p, max_wheel_velocity=0.0), speed, angle, angle)
    assert vehicle.state.yaw_rate == 0.0
    for _, _, wheel_angle, rolling in wheels_of(vehicle):
        assert wheel_angle == pytest.approx(angle, abs=1e-12)
        assert rolling == pytest.approx(speed / math.cos(angle), rel=1e-12)


@pytest.mark.parametrize(("front", "rear"), [(0.5, -0.5), (0.4, 0.1), (-0.3, 0.6)])
def test_the_middle_drives_a_circle_of_the_geometric_radius(front, rear):
    p = ideal(base_link_offset=0.8)
    vehicle = Vehicle(FOUR_WHEEL_STEERING, p, max_command_age=1e6)
    vehicle.enter(four_wheel_steering(1.0, front, rear), 0)
    centre_y = p.wheel_base / (math.tan(front) - math.tan(rear))
    centre_x = -centre_y * math.tan(rear)
    radius = math.hypot(0.8 - centre_x, centre_y)
    for second in range(1, 31):
        vehicle.advance(second * SECOND)
        motion = vehicle.motion()
        assert math.hypot(motion.x - centre_x, motion.y - centre_y) == pytest.approx(radius, rel=1e-6)


# Wheels


@given(four_wheel_steered, speeds, angles, angles)
def test_each_wheel_rolls_without_slip(p, speed, front, rear):
    vehicle = moving(dataclasses.replace(p, parallel_steering=False), speed, front, rear)
    for x, y, angle, rolling in wheels_of(vehicle):
        v_x, v_y = velocity_at(vehicle, x, y)
        cosine, sine = math.cos(angle), math.sin(angle)
        assert v_y * cosine - v_x * sine == pytest.approx(0.0, abs=1e-9)
        assert v_x * cosine + v_y * sine == pytest.approx(rolling, abs=1e-9)
        assert abs(angle - (front if x else rear)) <= math.pi / 2


@given(four_wheel_steered, speeds, angles, angles)
def test_parallel_wheels_point_like_the_middle_of_their_axle(p, speed, front, rear):
    vehicle = moving(dataclasses.replace(p, parallel_steering=True), speed, front, rear)
    for x, y, angle, rolling in wheels_of(vehicle):
        v_x, v_y = velocity_at(vehicle, x, y)
        assert angle == (front if x else rear)
        assert rolling == pytest.approx(v_x * math.cos(angle) + v_y * math.sin(angle), abs=1e-9)


@given(
    st.floats(-1.0, 1.0),
    st.floats(-1.0, 1.0),
    st.floats(0.1, 2.0),
    st.floats(0.5, 3.0),
    st.floats(0.1, 1.5),
)
def test_wheels_are_those_of_four_wheel_steering_controller(front, rear, speed, wheel_base, track):
    """The formulas of ros_controllers for a command of speed and angles, with hinges above the wheels.

    They hold while the turning centre is outside the wheels.
    """
    difference = track * (math.tan(front) - math.tan(rear)) / 2.0
    if abs(difference) > 0.9 * wheel_base:
        return
    p = ideal(wheel_base=wheel_base, track_front=track, track_rear=track)
    joints = joints_of(driven(FOUR_WHEEL_STEERING, p, four_wheel_steering(speed, front, rear), 0.002))
    turn = speed * (math.tan(front) - math.tan(rear)) / wheel_base
    for axle, angle in (("front", front), ("rear", rear)):
        for side, sign in (("left", 1.0), ("right", -1.0)):
            hinge = math.atan(wheel_base * math.tan(angle) / (wheel_base - sign * difference))
            assert joints[f"steering_{axle}_{side}"][0] == pytest.approx(hinge, abs=1e-12)
            # Its l_front and l_rear are the distances of the turning centre from the axles along the vehicle.
            along = speed - sign * turn * track / 2.0
            across = speed * math.tan(angle)
            rolling = joints[f"wheel_{axle}_{side}_joint"][1] * p.tire_diameter / 2.0
            assert rolling == pytest.approx(math.hypot(along, across), rel=1e-12)


@given(speeds, st.floats(-1.0, 1.0))
def test_a_twist_of_the_middle_gives_the_angles_of_four_wheel_steering_controller(speed, curvature):
    """The formulas of ros_controllers for a twist: both axles in counter phase."""
    p = ideal(base_link_offset=0.8, max_wheel_velocity=0.0)
    turn = curvature * speed
    joints = joints_of(driven(FOUR_WHEEL_STEERING, p, twist(speed, 0.0, turn), 0.002))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        angle = math.atan(turn * p.wheel_base / (2.0 * speed - sign * turn * 1.2))
        rolling = math.copysign(math.hypot(speed - sign * turn * 0.6, turn * 0.8), speed)
        assert joints[f"steering_front_{side}"][0] == pytest.approx(angle, abs=1e-12)
        assert joints[f"steering_rear_{side}"][0] == pytest.approx(-angle, abs=1e-12)
        for axle in ("front", "rear"):
            assert joints[f"wheel_{axle}_{side}_joint"][1] * 0.25 == pytest.approx(rolling, rel=1e-12)


@given(four_wheel_steered, speeds, angles, angles, st.floats(0.05, 2.0))
def test_no_wheel_exceeds_its_limit_and_the_path_is_kept(p, speed, front, rear, limit):
    free = moving(dataclasses.replace(p, max_wheel_velocity=0.0), speed, front, rear)
    vehicle = moving(dataclasses.replace(p, max_wheel_velocity=limit), speed, front, rear)
    fastest = max(abs(getattr(free.state, f"speed_{wheel}")) for wheel in WHEELS)
    scale = min(1.0, limit / fastest)
    for name in ("v_x", "v_y", "yaw_rate", *(f"speed_{wheel}" for wheel in WHEELS)):
        assert getattr(vehicle.state, name) == pytest.approx(scale * getattr(free.state, name), abs=1e-12)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_wheel_at_the_turning_centre_stands_still(side):
    # tan(front) - tan(rear) = 2 wheel_base / track puts the centre on the line through the wheels of one side.
    rear = -math.atan(side * (2 * 1.6 / 1.2 - math.tan(1.0)))
    vehicle = moving(ideal(), 1.0, side * 1.0, rear)
    inner = "left" if side > 0.0 else "right"
    along, _ = velocity_at(vehicle, 0.0, side * 0.6)
    assert along == pytest.approx(0.0, abs=1e-12)
    joints = joints_of(vehicle)
    for axle, turned in (("front", side), ("rear", -side)):
        assert joints[f"steering_{axle}_{inner}"][0] == pytest.approx(turned * math.pi / 2, abs=1e-9)
    assert all(math.isfinite(number) for pair in joints.values() for number in pair)


def test_axles_without_a_track_have_one_wheel():
    vehicle = driven(FOUR_WHEEL_STEERING, ideal(track_front=0.0, track_rear=0.0), four_wheel_steering(1.0, 0.3, 0.1), 1)
    joints = joints_of(vehicle)
    assert list(joints) == ["steering_front", "steering_rear", "wheel_front_joint", "wheel_rear_joint"]
    assert joints["steering_front"][0] == pytest.approx(0.3)
    assert joints["wheel_rear_joint"] == pytest.approx((4.0 / math.cos(0.1), 4.0 / math.cos(0.1)))


@given(four_wheel_steered, twists, twists)
def test_joint_velocities_are_the_changes_of_the_joint_positions(p, first, second):
    # Without lag and rate limits positions jump, and a jump has no velocity; tracks keep the centre out of the wheels.
    slow = {"dead_time": 0.0, "time_constant": 0.1, "max_velocity": 2.0, "max_position": 0.5}
    p = dataclasses.replace(
        p,
        track_front=min(p.track_front, 0.8 * p.wheel_base),
        track_rear=min(p.track_rear, 0.8 * p.wheel_base),
        drive_actuator=dataclasses.replace(p.drive_actuator, dead_time=0.01, time_constant=0.1),
        front_steering_actuator=dataclasses.replace(p.front_steering_actuator, **slow),
        rear_steering_actuator=dataclasses.replace(p.rear_steering_actuator, **slow),
    )
    vehicle = Vehicle(FOUR_WHEEL_STEERING, p)
    for command in (first, second):
        vehicle.enter(command, vehicle.time)
        for _ in range(30):
            before = joints_of(vehicle)
            vehicle.advance(vehicle.time + MILLISECOND)
            for name, (position, velocity) in joints_of(vehicle).items():
                change = (position - before[name][0]) / 1e-3
                tolerance = 1e-9 + (2e-2 * abs(change) + 1e-2 if "steering" in name else 0.0)
                assert velocity == pytest.approx(change, abs=tolerance)


# Commands


@given(twists, st.floats(-1.0, 1.5), st.floats(-0.9, 0.9), st.floats(-0.9, 0.9))
def test_base_link_moves_as_a_twist_within_the_stops_says(command, offset, sideways, bend):
    v_x = command.v_x
    command = twist(v_x, sideways * v_x, bend * v_x)
    motion = driven(FOUR_WHEEL_STEERING, ideal(base_link_offset=offset), command, 0.002).motion()
    assert (motion.v_x, motion.v_y, motion.yaw_rate) == pytest.approx((v_x, command.v_y, command.yaw_rate), abs=1e-9)


@pytest.mark.parametrize("command", [twist(0.0, 1.0, 0.0), twist(0.0, 0.0, 1.0), twist(0.0, 0.0, 0.0)])
def test_a_twist_without_longitudinal_speed_leaves_the_vehicle_standing_straight(command):
    vehicle = driven(FOUR_WHEEL_STEERING, ideal(), four_wheel_steering(1.0, 0.4, -0.4), 0.01)
    vehicle.enter(command, vehicle.time)
    vehicle.advance(vehicle.time + 5 * MILLISECOND)
    s = vehicle.state
    assert (s.drive.velocity, s.steering_front.angle, s.steering_rear.angle) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("rear_steering", "sign"), [("counter_phase", -1.0), ("crab", 1.0), ("fixed", 0.0)])
@pytest.mark.parametrize(("angle", "taken"), [(0.3, 0.3), (-0.2, -0.2), (1.0, 0.5)])
def test_the_rear_axle_follows_an_ackermann_command(rear_steering, sign, angle, taken):
    front = dataclasses.replace(IDEAL_LIMITED_STEERING, max_position=0.5)
    p = ideal(rear_steering=rear_steering, rear_ratio=0.7, front_steering_actuator=front)
    s = driven(FOUR_WHEEL_STEERING, p, ackermann(1.0, angle), 0.01).state
    assert s.steering_front.angle == taken
    assert s.steering_rear.angle == sign * 0.7 * taken


def test_each_axle_has_its_own_rate_limit_and_an_ackermann_command_limits_both():
    command = four_wheel_steering(1.0, 0.4, 0.4, steering_rate=1.0, rear_steering_rate=0.5, acceleration=2.0)
    s = driven(FOUR_WHEEL_STEERING, ideal(), command, 0.1).state
    numbers = s.drive.velocity, s.steering_front.angle, s.steering_rear.angle
    assert numbers == pytest.approx((0.2, 0.1, 0.05))
    s = driven(FOUR_WHEEL_STEERING, ideal(), ackermann(1.0, 0.4, steering_rate=1.0), 0.1).state
    assert (s.steering_front.angle, s.steering_rear.angle) == pytest.approx((0.1, -0.1))


@pytest.mark.parametrize("command", [ackermann(0.0, 0.3), four_wheel_steering(0.0, 0.3, 0.2)])
def test_both_axles_may_return_to_the_centre_at_standstill(command):
    vehicle = driven(FOUR_WHEEL_STEERING, ideal(center_at_standstill=True), four_wheel_steering(1.0, 0.4, 0.4), 0.01)
    vehicle.enter(command, vehicle.time)
    vehicle.advance(vehicle.time + 5 * MILLISECOND)
    assert (vehicle.state.steering_front.angle, vehicle.state.steering_rear.angle) == (0.0, 0.0)


@pytest.mark.parametrize("command", [twist(-1.0, 0.0, 0.2), four_wheel_steering(-1.0, 0.3, 0.2), ackermann(-1.0, 0.1)])
def test_without_reverse_a_negative_speed_is_0(command):
    assert driven(FOUR_WHEEL_STEERING, ideal(allow_reverse=False), command, 0.1).state.v_x == 0.0


def test_a_steady_start_has_the_requested_speed_and_angles():
    c = FOUR_WHEEL_STEERING.coefficients(FourWheelSteeringParameters(), 1e-3)
    s = FOUR_WHEEL_STEERING.at(c, SteadyMotion(0.8, steering_angle=0.3, rear_steering_angle=-0.1))
    assert (s.v_x, s.steering_front.angle, s.steering_rear.angle) == (0.8, 0.3, -0.1)
    assert s.yaw_rate == pytest.approx(0.8 * (math.tan(0.3) + math.tan(0.1)) / 1.6)


@pytest.mark.parametrize("axle", ["front", "rear"])
@pytest.mark.parametrize("limit", [0.0, math.pi / 2])
def test_a_steering_up_to_a_right_angle_is_refused(axle, limit):
    actuator = {f"{axle}_steering_actuator": dataclasses.replace(IDEAL_LIMITED_STEERING, max_position=limit)}
    with pytest.raises(ParameterError, match=rf"'{axle}_steering_actuator.max_position' is .*; it must be greater"):
        ideal(**actuator).check_together()


# The bicycle


@given(
    st.lists(st.one_of(twists, st.builds(ackermann, st.floats(-3.0, 3.0), angles)), min_size=1, max_size=4),
    st.floats(-1.0, 1.0),
    st.floats(0.2, 2.0),
    st.floats(0.2, 2.0),
    drives,
    limited_steerings,
    st.sampled_from(("counter_phase", "crab", "fixed")),
    st.sampled_from((0.0, 0.7)),
)
def test_with_a_fixed_rear_axle_it_is_the_bicycle(commands, offset, front, rear, drive, steering, mode, limit):
    common = {"base_link_offset": offset, "wheel_base": 1.9, "max_wheel_velocity": limit, "drive_actuator": drive}
    vehicle = Vehicle(
        FOUR_WHEEL_STEERING,
        FourWheelSteeringParameters(
            **common,
            track_front=front,
            track_rear=rear,
            rear_steering=mode,
            rear_ratio=0.0,
            front_steering_actuator=steering,
            rear_steering_actuator=IDEAL_LIMITED_STEERING,
        ),
    )
    bicycle = Vehicle(
        BICYCLE,
        BicycleParameters(
            **common, track_fixed=rear, track_steered=front, four_wheel_drive=True, steering_actuator=steering
        ),
    )
    for command in commands:
        if command.kind == twist(0.0, 0.0, 0.0).kind:  # a twist that keeps the rear axle straight
            command = dataclasses.replace(command, v_y=offset * command.yaw_rate)
        for each in (vehicle, bicycle):
            each.enter(command, each.time)
            each.advance(each.time + 200 * MILLISECOND)
        ours, theirs = joints_of(vehicle), joints_of(bicycle)
        for name in dataclasses.asdict(vehicle.motion()):
            assert getattr(vehicle.motion(), name) == pytest.approx(getattr(bicycle.motion(), name), abs=1e-12)
        for side in ("left", "right"):
            for mine, other in (
                (f"steering_front_{side}", f"steering_{side}"),
                (f"wheel_front_{side}_joint", f"steered_wheel_{side}_joint"),
                (f"wheel_rear_{side}_joint", f"fixed_wheel_{side}_joint"),
            ):
                assert ours[mine] == pytest.approx(theirs[other], abs=1e-12)
