"""Vehicles whose wheels each steer and drive."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from helpers.driving import (
    FREE_BODY,
    IDEAL_DRIVE,
    IDEAL_STEERING,
    SECOND,
    driven,
    joints_of,
    swerves,
    twists,
)
from hypothesis import assume, given
from hypothesis import strategies as st

from vds_gz.core.parameters.declaration import ParameterError
from vds_gz.core.parameters.vehicles import SwerveParameters
from vds_gz.core.vehicle import actuators, swerve
from vds_gz.core.vehicle.command import Command, SteadyMotion, twist
from vds_gz.core.vehicle.swerve import SWERVE
from vds_gz.core.vehicle.trigonometry import sine_cosine
from vds_gz.core.vehicle.vehicle import Vehicle

IDEAL = SwerveParameters(drive_actuators=IDEAL_DRIVE, steering_actuators=IDEAL_STEERING)
angles = st.floats(-math.pi, math.pi)
speeds = st.floats(-3.0, 3.0)


def ideal(p: SwerveParameters, **changes) -> SwerveParameters:
    """The same modules, whose actuators do at once what they are asked for."""
    at_once = {"drive_actuators": IDEAL_DRIVE, "steering_actuators": IDEAL_STEERING, "cosine_scaling": False}
    return dataclasses.replace(p, **FREE_BODY | at_once | {"base_link_offset": 0.0} | changes)


def turned(angle: float) -> float:
    """How far an angle is from the nearest whole turn."""
    return abs(math.remainder(angle, 2.0 * math.pi))


def places(p: SwerveParameters) -> list[tuple[float, float]]:
    return list(zip(p.module_x, p.module_y, strict=True))


def wheel_velocities(vehicle) -> np.ndarray:
    return np.array(
        [
            (
                module.drive.velocity * math.cos(module.steering.angle),
                module.drive.velocity * math.sin(module.steering.angle),
            )
            for module in vehicle.state.modules
        ]
    )


def with_wheels(p: SwerveParameters, wheels) -> Vehicle:
    """A vehicle whose wheels have speeds [m/s] and angles [rad]."""
    vehicle = Vehicle(SWERVE, p)
    for module, (speed, angle) in zip(vehicle.state.modules, wheels, strict=False):
        module.drive.velocity, module.steering.angle = speed, angle
    swerve.set_velocities(vehicle.coefficients, vehicle.state, Command())
    return vehicle


many_wheels = st.lists(st.tuples(speeds, angles), min_size=8, max_size=8)


# ---------------------------------------------------------------------- closed forms


@given(swerves, twists)
def test_each_wheel_moves_as_its_place_on_the_body(p, command):
    """Kinematics of ros2_controllers (doc/mobile_robot_kinematics.rst, swerve drive robots), for any places."""
    vehicle = driven(SWERVE, ideal(p), command, 0.002)
    expected = [(command.v_x - command.yaw_rate * y, command.v_y + command.yaw_rate * x) for x, y in places(p)]
    assert wheel_velocities(vehicle) == pytest.approx(np.array(expected), abs=1e-12)
    motion = vehicle.motion()
    assert (motion.v_x, motion.v_y, motion.yaw_rate) == pytest.approx(
        (command.v_x, command.v_y, command.yaw_rate), abs=1e-12
    )


@given(st.floats(0.2, 2.0), st.floats(0.2, 2.0), many_wheels)
def test_the_odometry_of_a_rectangle_is_that_of_ros2_controllers(length, width, wheels):
    """Its yaw rate is sum(x v_y - y v_x) / sum(x^2 + y^2) and its velocity the mean of the wheels'."""
    x, y = np.array([1, -1, -1, 1]) * length / 2.0, np.array([1, 1, -1, -1]) * width / 2.0
    vehicle = with_wheels(dataclasses.replace(IDEAL, module_x=tuple(x), module_y=tuple(y)), wheels)
    v_x, v_y = wheel_velocities(vehicle).T
    expected = v_x.mean(), v_y.mean(), (x * v_y - y * v_x).sum() / (x * x + y * y).sum()
    s = vehicle.state
    assert (s.v_x, s.v_y, s.yaw_rate) == pytest.approx(expected, abs=1e-12)


@given(swerves, many_wheels)
def test_velocity_and_scrub_are_the_least_squares_solution_and_its_residual(p, wheels):
    vehicle = with_wheels(p, wheels)
    rows = [row for x, y in places(p) for row in ((1.0, 0.0, -y), (0.0, 1.0, x))]
    measured = wheel_velocities(vehicle).ravel()
    solution = np.linalg.lstsq(np.array(rows), measured, rcond=None)[0]
    s = vehicle.state
    assert (s.v_x, s.v_y, s.yaw_rate) == pytest.approx(tuple(solution), abs=1e-12)
    left = (measured - rows @ solution).reshape(-1, 2)
    expected = math.sqrt((left**2).sum(axis=1).mean())
    assert swerve.scrub(vehicle.coefficients, s) == pytest.approx(expected, abs=1e-12)


# ---------------------------------------------------------------------- against WPILib


@pytest.fixture(scope="module")
def kinematics():
    return pytest.importorskip("wpimath.kinematics", reason="needs robotpy-wpimath")


@pytest.fixture(scope="module")
def geometry():
    return pytest.importorskip("wpimath.geometry", reason="needs robotpy-wpimath")


def drive_of(kinematics, geometry, p):
    """WPILib's kinematics of the modules; it has classes for some numbers of modules only."""
    kind = getattr(kinematics, f"SwerveDrive{len(p.module_x)}Kinematics", None)
    assume(kind is not None)
    return kind(*(geometry.Translation2d(x, y) for x, y in places(p)))


@given(swerves, twists, st.floats(0.1, 5.0))
def test_directions_and_desaturated_speeds_are_those_of_wpilib(kinematics, geometry, p, command, fastest):
    drive = drive_of(kinematics, geometry, p)
    chassis = kinematics.ChassisSpeeds(command.v_x, command.v_y, command.yaw_rate)
    states = drive.toSwerveModuleStates(chassis)
    assume(all(state.speed > 1e-6 for state in states))  # WPILib gives slower wheels no direction
    p = ideal(p, drive_actuators=dataclasses.replace(IDEAL_DRIVE, max_velocity=fastest))
    modules = driven(SWERVE, p, command, 0.001).state.modules
    for module, state in zip(modules, drive.desaturateWheelSpeeds(states, fastest), strict=True):
        assert module.speed_reference == pytest.approx(state.speed, rel=1e-12, abs=1e-12)
        assert turned(module.direction_reference - state.angle.radians()) < 1e-12


@given(swerves, many_wheels)
def test_the_velocity_is_that_of_wpilib(kinematics, geometry, p, wheels):
    drive = drive_of(kinematics, geometry, p)
    vehicle = with_wheels(p, wheels)
    states = [
        kinematics.SwerveModuleState(module.drive.velocity, geometry.Rotation2d(module.steering.angle))
        for module in vehicle.state.modules
    ]
    chassis = drive.toChassisSpeeds(tuple(states))
    s = vehicle.state
    assert (s.v_x, s.v_y, s.yaw_rate) == pytest.approx((chassis.vx, chassis.vy, chassis.omega), abs=1e-12)


@given(st.floats(0.0, 3.0), angles, st.floats(-20.0, 20.0), st.booleans(), st.booleans())
def test_optimization_and_cosine_scaling_are_those_of_wpilib(
    kinematics, geometry, speed, angle, position, optimizes, scales
):
    assume(abs(turned(angle - position) - math.pi / 2.0) > 1e-9)  # where both ways are equally long
    p = dataclasses.replace(IDEAL, optimize=optimizes, cosine_scaling=scales)
    vehicle = Vehicle(SWERVE, p)
    module = vehicle.state.modules[0]
    module.speed_reference, module.direction_reference, module.steering.angle = speed, angle, position
    expected = kinematics.SwerveModuleState(speed, geometry.Rotation2d(angle))
    if optimizes:
        expected.optimize(geometry.Rotation2d(position))
    if scales:
        expected.cosineScale(geometry.Rotation2d(position))
    swerve.follow_module(vehicle.coefficients, module, Command())
    assert turned(module.steering.angle - expected.angle.radians()) < 1e-12
    assert module.drive.velocity == pytest.approx(expected.speed, abs=1e-12)


# ---------------------------------------------------------------------- steering range


@given(angles, st.floats(-1.0, 1.0), st.floats(0.3, 15.0), st.booleans())
def test_a_steering_with_stops_takes_the_nearest_angle_between_them(angle, part, stop, optimizes):
    """Against a list of all angles of this direction."""
    steering = dataclasses.replace(IDEAL_STEERING, max_position=stop)
    vehicle = Vehicle(SWERVE, dataclasses.replace(IDEAL, steering_actuators=steering, optimize=optimizes))
    module, position = vehicle.state.modules[0], part * stop
    module.speed_reference, module.direction_reference, module.steering.angle = 1.0, angle, position
    chosen, speed = swerve.references(vehicle.coefficients, module)
    forwards, backwards = ([angle + start + 2.0 * math.pi * turn for turn in range(-4, 5)] for start in (0.0, math.pi))
    within = {1.0: [a for a in forwards if abs(a) <= stop], -1.0: [a for a in backwards if abs(a) <= stop]}
    if not optimizes and within[1.0]:
        within[-1.0] = []
    choices = [*within[1.0], *within[-1.0]]
    if choices:
        assert abs(chosen) <= stop
        assert abs(chosen - position) == pytest.approx(min(abs(a - position) for a in choices), abs=1e-9)
    else:
        assert abs(chosen) == pytest.approx(min(map(abs, (*forwards, *backwards))), abs=1e-9)
    assert speed * math.cos(chosen) == pytest.approx(math.cos(angle), abs=1e-9)
    assert speed * math.sin(chosen) == pytest.approx(math.sin(angle), abs=1e-9)


def test_with_quarter_turns_either_way_every_direction_is_reached():
    p = ideal(IDEAL, steering_actuators=dataclasses.replace(IDEAL_STEERING, max_position=math.pi / 2.0))
    for command in itertools.starmap(twist, itertools.product((-0.5, 0.0, 0.5), (-0.5, 0.0, 0.5), (-0.5, 0.0, 0.5))):
        vehicle = driven(SWERVE, p, command, 0.002)
        motion = vehicle.motion()
        assert (motion.v_x, motion.v_y, motion.yaw_rate) == pytest.approx(
            (command.v_x, command.v_y, command.yaw_rate), abs=1e-12
        )
        assert all(abs(module.steering.angle) <= math.pi / 2.0 for module in vehicle.state.modules)


def test_a_steering_without_stops_turns_on_and_on():
    vehicle = Vehicle(SWERVE, dataclasses.replace(IDEAL, optimize=False), max_command_age=1e6)
    for step in range(200):  # a direction that rotates five times
        heading = step * math.pi / 20.0
        vehicle.enter(twist(0.3 * math.cos(heading), 0.3 * math.sin(heading), 0.0), step * 10_000_000)
        vehicle.advance((step + 1) * 10_000_000)
    last = 199 * math.pi / 20.0
    assert [module.steering.angle for module in vehicle.state.modules] == pytest.approx([last] * 4)


# ---------------------------------------------------------------------- standstill


@pytest.mark.parametrize(
    ("at_standstill", "expected"),
    [
        ("hold", [math.atan2(0.3, 0.2)] * 4),
        ("straighten", [0.0] * 4),
        ("cross", [math.atan2(0.25, 0.3), -math.atan2(0.25, 0.3)] * 2),
    ],
)
def test_at_standstill(at_standstill, expected):
    p = dataclasses.replace(IDEAL, at_standstill=at_standstill)
    vehicle = driven(SWERVE, p, twist(0.2, 0.3, 0.0), 0.5)
    vehicle.enter(twist(0.0, 0.0, 0.0), SECOND)
    vehicle.advance(2 * SECOND)
    found = [module.steering.angle for module in vehicle.state.modules]
    assert [math.remainder(angle, math.pi) for angle in found] == pytest.approx(expected)
    motion = vehicle.motion()
    assert (motion.v_x, motion.v_y, motion.yaw_rate) == (0.0, 0.0, 0.0)


@given(swerves)
def test_no_motion_of_the_body_rolls_a_crossed_wheel(p):
    """All axles of crossed wheels are across their way around the middle, so they meet in no point."""
    vehicle = driven(SWERVE, ideal(p, at_standstill="cross"), twist(0.0, 0.0, 0.0), 0.002)
    middle = np.mean(places(p), axis=0)
    for place, module in zip(np.array(places(p)), vehicle.state.modules, strict=True):
        x, y = place - middle
        if math.hypot(x, y) > 1e-9:
            around = -y * math.cos(module.steering.angle) + x * math.sin(module.steering.angle)
            assert around == pytest.approx(0.0, abs=1e-9)


def test_a_module_in_the_centre_of_a_turn_keeps_its_angle():
    p = ideal(IDEAL, module_x=(0.0, 1.0, -1.0), module_y=(0.0, 0.0, 0.0), optimize=False)
    vehicle = driven(SWERVE, p, twist(0.3, 0.3, 0.0), 0.5)
    vehicle.enter(twist(0.0, 0.0, 1.0), SECOND // 2)
    vehicle.advance(SECOND)
    angles_now = [module.steering.angle for module in vehicle.state.modules]
    assert angles_now == pytest.approx([math.pi / 4.0, math.pi / 2.0, -math.pi / 2.0])


# ---------------------------------------------------------------------- motion


@given(swerves, speeds, speeds)
def test_in_a_translation_all_wheels_are_parallel_and_nothing_turns(p, v_x, v_y):
    vehicle = driven(SWERVE, ideal(p), twist(v_x, v_y, 0.0), 1.0, step_rate=50)
    motion = vehicle.motion()
    assert (motion.x, motion.y, motion.heading) == pytest.approx((v_x, v_y, 0.0), abs=1e-9)
    assert swerve.scrub(vehicle.coefficients, vehicle.state) == pytest.approx(0.0, abs=1e-12)


@given(swerves, st.floats(-2.0, 2.0), st.floats(-0.5, 0.5))
def test_in_a_rotation_base_link_stays(p, yaw_rate, offset):
    vehicle = driven(SWERVE, ideal(p, base_link_offset=offset), twist(0.0, 0.0, yaw_rate), 1.0, step_rate=50)
    motion = vehicle.motion()
    assert (motion.x, motion.y, motion.heading) == pytest.approx((offset, 0.0, yaw_rate), abs=1e-3)
    assert (motion.v_x, motion.v_y, motion.yaw_rate) == pytest.approx((0.0, 0.0, yaw_rate), abs=1e-12)


@given(swerves, speeds, speeds, st.sampled_from((-1.0, 1.0)))
def test_a_circle_closes(p, v_x, v_y, side):
    yaw_rate = side * math.pi  # a turn in 2 s
    vehicle = driven(SWERVE, ideal(p), twist(v_x, v_y, yaw_rate), 2.0, step_rate=50)
    motion = vehicle.motion()
    assert (motion.x, motion.y) == pytest.approx((0.0, 0.0), abs=1e-9)
    assert motion.heading == pytest.approx(side * 2.0 * math.pi)


@given(swerves, twists)
def test_the_scrub_of_a_steady_motion_is_zero(p, command):
    """Also with slow actuators that have been driven long enough, and drives with a gain."""
    drive = dataclasses.replace(p.drive_actuators, dead_band=0.0, max_velocity=0.0)
    steering = dataclasses.replace(p.steering_actuators, dead_band=0.0, gain=1.0, max_position=0.0)
    p = dataclasses.replace(p, drive_actuators=drive, steering_actuators=steering)
    c = SWERVE.coefficients(p, 0.01)
    s = SWERVE.at(c, SteadyMotion(command.v_x, command.v_y, command.yaw_rate))
    v_y = command.v_y - p.base_link_offset * command.yaw_rate
    for _ in range(20):
        assert swerve.scrub(c, s) == pytest.approx(0.0, abs=1e-9)
        assert (s.v_x, s.v_y, s.yaw_rate) == pytest.approx((command.v_x, v_y, command.yaw_rate), abs=1e-9)
        SWERVE.step(c, s, Command())


def test_wheels_that_still_steer_scrub():
    p = dataclasses.replace(IDEAL, steering_actuators=dataclasses.replace(IDEAL_STEERING, max_velocity=1.0))
    vehicle = driven(SWERVE, p, twist(0.0, 0.0, 1.0), 0.1)
    assert swerve.scrub(vehicle.coefficients, vehicle.state) > 0.01
    vehicle.advance(3 * SECOND)
    assert swerve.scrub(vehicle.coefficients, vehicle.state) == pytest.approx(0.0, abs=1e-12)


@given(swerves, twists)
def test_every_module_has_the_stages_of_its_actuators(p, command):
    """Against each actuator alone, with the references of the module."""
    p = dataclasses.replace(p, **FREE_BODY)
    vehicle = Vehicle(SWERVE, p, max_command_age=1e6, step_rate=100)
    vehicle.enter(command, 0)
    c, s = vehicle.coefficients, vehicle.state
    alone = SWERVE.at_rest(c).modules
    for step in range(1, 30):
        vehicle.advance(vehicle.time_of(step))
        for k, module in enumerate(alone):
            module.direction_reference = s.modules[k].direction_reference
            module.speed_reference = s.modules[k].speed_reference
            angle, speed = swerve.references(c, module)
            if p.cosine_scaling:
                speed *= sine_cosine(angle - module.steering.angle)[1]
            actuators.step_drive(c.drive, module.drive, speed, math.inf)
            actuators.step_steering(c.steering, module.steering, angle, math.inf)
            assert (module.drive, module.steering) == (s.modules[k].drive, s.modules[k].steering)


def test_a_stopped_vehicle_turns_its_wheels_back_by_what_they_rolled_too_far():
    vehicle = driven(SWERVE, IDEAL, twist(1.0, 0.0, 0.0), 1.0)
    before = vehicle.state.modules[0].roll
    SWERVE.stop(vehicle.coefficients, vehicle.state, 0.01)
    assert [module.roll for module in vehicle.state.modules] == pytest.approx([before - 0.1] * 4)
    assert [module.drive.velocity for module in vehicle.state.modules] == [0.0] * 4
    assert (vehicle.state.v_x, vehicle.state.v_y, vehicle.state.yaw_rate) == (0.0, 0.0, 0.0)


# ---------------------------------------------------------------------- description


def test_modules_are_named_by_their_corners_in_the_order_of_their_positions():
    p = SwerveParameters(module_x=(2.0, 1.0, 1.0, 2.0), module_y=(-1.0, 1.0, -1.0, 1.0), drive_actuators=IDEAL_DRIVE)
    assert swerve.module_names(p) == ("front_right", "rear_left", "rear_right", "front_left")
    assert [actuator.name for actuator in SWERVE.actuators_of(p)] == [
        *(f"drive_{name}" for name in swerve.module_names(p)),
        *(f"steering_{name}" for name in swerve.module_names(p)),
    ]
    joints = joints_of(driven(SWERVE, p, twist(1.0, 0.0, 0.0), 0.5))
    assert next(iter(joints)) == "steering_front_right"
    assert list(joints)[4:] == [f"wheel_{name}_joint" for name in swerve.module_names(p)]
    assert joints["wheel_front_right_joint"] == pytest.approx((5.0, 10.0), abs=0.02)


@pytest.mark.parametrize(
    "place", [((0.3, -0.3, 0.0), (0.2, 0.2, -0.3)), ((0.3, -0.3, -0.3, -0.2), (0.2, 0.2, -0.3, -0.3))]
)
def test_other_modules_are_numbered(place):
    p = SwerveParameters(module_x=place[0], module_y=place[1])
    assert swerve.module_names(p) == tuple("1234")[: len(place[0])]


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ((0.3, -0.3), (0.0, 0.0), "have 2 and 2 numbers; they must have one for each module, 3 to 8"),
        ((0.3, -0.3, 0.0), (0.0, 0.0), "have 3 and 2 numbers"),
        (
            (0.3, 0.3, 0.0),
            (0.2, 0.205, 0.0),
            r"1 at \(0.3, 0.2\) and module 2 at \(0.3, 0.205\); .* at least 0.01 m apart",
        ),
        (tuple(range(9)), tuple(range(9)), "at most 8"),
    ],
)
def test_impossible_modules_are_refused(x, y, message):
    with pytest.raises(ParameterError, match=message):
        SwerveParameters(module_x=x, module_y=y)


@given(swerves)
def test_the_arm_of_the_geometry_is_the_speed_of_a_wheel_that_turns_in_place(p):
    vehicle = driven(SWERVE, ideal(p, base_link_offset=p.base_link_offset), twist(0.0, 0.0, 1.0), 0.002)
    fastest = np.linalg.norm(wheel_velocities(vehicle), axis=1).max()
    assert SWERVE.geometry(p).yaw_arm == pytest.approx(fastest, abs=1e-9)
