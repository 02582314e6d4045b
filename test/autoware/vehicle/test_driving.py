"""Driving Autoware's cars with any command, with twists and pedals, and after the last command."""

from __future__ import annotations

import dataclasses
import itertools
import math

import pytest
from helpers.autoware_cars import GUARDED, LAGGING, MODELS, REVERSE, WITH_PEDALS, Car
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.autoware.parameters.car_parameters import MechanicalParameters
from vds_gz.autoware.vehicle.command_kinds import PEDALS, control, pedals
from vds_gz.autoware.vehicle.state import (
    actuation_status,
    gear_report,
    has_actuation_status,
    put,
    steering_report,
)
from vds_gz.core.geometry import slope_acceleration
from vds_gz.core.vehicle.command import MAXIMUM, STOP, Command, ackermann, fault, gear, twist
from vds_gz.core.vehicle.vehicle import NANOSECONDS as SECOND
from vds_gz.core.vehicle.vehicle import Vehicle

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
both = pytest.mark.parametrize("compatibility", ["physical", "autoware"])

#: Step rate of long drives whose result does not depend on it [Hz].
FEW = 250.0


def numbers_of(value) -> list[float]:
    """All numbers in nested dicts and lists."""
    if isinstance(value, dict):
        return [number for member in value.values() for number in numbers_of(member)]
    return list(value) if isinstance(value, list) else [value]


anything = st.one_of(st.just(0.0), st.floats(-2.0, 2.0), st.floats(-MAXIMUM, MAXIMUM))
commands = st.builds(
    Command,
    kind=st.sampled_from((0, 1, 4, 5, 7, 8)),
    v_x=anything,
    yaw_rate=anything,
    steering_angle=anything,
    accel_pedal=anything,
    brake_pedal=anything,
    steering_command=anything,
    target_acceleration=anything,
    gear=st.integers(-1, 300),
    slope=st.one_of(st.just(0.0), st.floats(-50.0, 50.0)),
)


@both
@every_model
@settings(max_examples=15)
@given(held=st.lists(commands, min_size=1, max_size=5), dt=st.sampled_from((1e-4, 1e-3, 0.01, 1 / 30, 0.1, 1.0)))
def test_state_stays_finite(model, compatibility, held, dt):
    """For any commands, in any gear, with steps of any length."""
    car = Car(model.name, compatibility=compatibility, dt=dt)
    for command in held:
        car.drive(20 * dt, command)
        assert all(map(math.isfinite, numbers_of(dataclasses.asdict(car.s))))
        assert all(map(math.isfinite, actuation_status(car.c, car.s)))


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (pedals(math.nan, 0.0, 0.0), "accel_pedal"),
        (pedals(0.0, math.inf, 0.0), "brake_pedal"),
        (pedals(0.0, 0.0, 2e6), "steering_command"),
        (control(0.0, math.nan, 0.0), "target_acceleration"),
        (control(0.0, 0.0, 0.0, slope=math.inf), "slope"),
        (gear(25), "gear is 25"),
        (gear(-2), "gear is -2"),
    ],
)
def test_bad_commands_are_refused(command, says):
    assert says in fault(command)
    vehicle = Vehicle(MODELS["actuation_cmd"], MODELS["actuation_cmd"].parameters())
    with pytest.raises(ValueError, match=says):
        vehicle.enter(command, 0)


@both
@every_model
def test_follows_a_twist(model, compatibility):
    """Forwards, slower, to a standstill, backwards: speed and curvature are those commanded."""
    vehicle = Vehicle(model, model.parameters(compatibility=compatibility), max_command_age=1e3, step_rate=FEW)
    time = 0
    for v_x, yaw_rate in ((6.0, 0.4), (2.0, -0.1), (0.0, 0.0), (-2.0, 0.2), (3.0, 0.3)):
        vehicle.enter(twist(v_x, 0.0, yaw_rate), time)
        time += 8 * SECOND
        vehicle.advance(time)
        motion = vehicle.motion()
        assert motion.v_x == pytest.approx(v_x, abs=1e-3)
        assert motion.yaw_rate == pytest.approx(yaw_rate, rel=0.05, abs=1e-3)


@pytest.mark.parametrize("pitch", [-0.1, 0.1])
@pytest.mark.parametrize("model", GUARDED, ids=lambda model: model.name)
def test_follows_a_speed_on_a_slope_and_stands_there(model, pitch):
    vehicle = Vehicle(model, model.parameters(road_pitch=pitch), max_command_age=1e3, step_rate=FEW)
    vehicle.enter(ackermann(4.0, 0.0), 0)
    vehicle.advance(10 * SECOND)
    assert vehicle.state.v_x == pytest.approx(4.0, abs=1e-2)
    vehicle.enter(twist(0.0, 0.0, 0.0), 10 * SECOND)
    vehicle.advance(20 * SECOND)
    x = vehicle.state.x
    vehicle.advance(25 * SECOND)
    assert (vehicle.state.v_x, vehicle.state.x) == (0.0, x)


@pytest.mark.parametrize("model", LAGGING, ids=lambda model: model.name)
def test_follows_autoware_control(model):
    vehicle = Vehicle(model, model.parameters(), max_command_age=1e3)
    vehicle.enter(control(3.0, 1.0, 0.1), 0)
    vehicle.advance(4 * SECOND)
    expected = 3.0 if model.name == "delay_steer_vel" else 3.8
    assert vehicle.state.v_x == pytest.approx(expected, abs=0.15)
    assert steering_report(vehicle.coefficients, vehicle.state) == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize("model", GUARDED, ids=lambda model: model.name)
def test_a_car_whose_commands_end_brakes_and_keeps_its_tire_angle(model):
    """After Pedals and Control the car stops and does not roll on."""
    vehicle = Vehicle(model, model.parameters(), max_command_age=0.5, step_rate=FEW)
    for i in range(30):
        vehicle.enter(control(5.0, 2.0, 0.2), i * SECOND // 10)
        vehicle.advance((i + 1) * SECOND // 10)
    angle = vehicle.state.steering.angle
    assert vehicle.state.v_x > 4.0
    assert angle == pytest.approx(0.2, rel=0.05)
    vehicle.advance(12 * SECOND)
    assert vehicle.command.kind == STOP
    assert vehicle.state.v_x == 0.0
    assert vehicle.state.steering.angle == pytest.approx(angle, abs=0.02)


def test_a_gear_command_holds_until_the_next_one():
    model = MODELS["actuation_cmd"]
    vehicle = Vehicle(model, model.parameters(), max_command_age=0.5)
    vehicle.enter(gear(REVERSE), 0)
    vehicle.enter(pedals(0.3, 0.0, 0.0), 1)
    vehicle.advance(SECOND // 4)
    assert gear_report(vehicle.state) == REVERSE
    assert vehicle.state.v_x < 0.0
    vehicle.advance(10 * SECOND)
    assert vehicle.state.v_x == 0.0
    vehicle.enter(pedals(0.3, 0.0, 0.0), 10 * SECOND)
    vehicle.advance(10 * SECOND + SECOND // 4)
    assert gear_report(vehicle.state) == REVERSE
    vehicle.enter(gear(2), 10 * SECOND + SECOND // 4)
    vehicle.advance(10 * SECOND + SECOND // 3)
    assert gear_report(vehicle.state) == 2


@pytest.mark.parametrize("model", WITH_PEDALS, ids=lambda model: model.name)
def test_dead_times_are_exact(model):
    """Nothing moves before the end of its dead time, and everything moves after it."""
    raw = {"convert_accel_cmd": False, "convert_brake_cmd": False}
    car = Car(model.name, accel_time_delay=0.05, steer_time_delay=0.08, **raw)
    car.go(0.05, accel=2.0, steer=5.0)
    assert (car.v, car.angle) == (0.0, 0.0)
    car.go(0.01, accel=2.0, steer=5.0)
    assert car.v > 0.0
    assert car.angle == 0.0
    car.go(0.02, accel=2.0, steer=5.0)
    assert car.angle == 0.0
    car.go(0.02, accel=2.0, steer=5.0)
    assert car.angle > 0.0


@pytest.mark.parametrize("name", ["actuation_cmd", "actuation_cmd_steer_map", "actuation_cmd_vgr", "delay_steer_acc"])
@given(command=st.floats(-10.0, 10.0))
@settings(max_examples=10)
def test_left_and_right_are_symmetric(name, command):
    left = Car(name, dt=0.01).go(2.0, accel=0.4, steer=command)
    right = Car(name, dt=0.01).go(2.0, accel=0.4, steer=-command)
    assert left.angle == pytest.approx(-right.angle)
    assert left.s.y == pytest.approx(-right.s.y)


def test_slope_holds_guarded_cars_and_lets_the_other_roll():
    """Uphill, a car in drive without throttle stands still under the guard, and rolls back without it."""
    uphill = slope_acceleration(-0.1)
    assert Car("delay_steer_acc_geared").go(3.0, slope=uphill).v == 0.0
    assert Car("delay_steer_acc_geared_wo_fall_guard").go(3.0, slope=uphill).v < -2.0


def test_slope_can_be_switched_off():
    car = Car("actuation_cmd", enable_road_slope_simulation=False, road_pitch=0.2)
    flat = Car("actuation_cmd")
    assert car.go(3.0, accel=0.2, slope=5.0).v == flat.go(3.0, accel=0.2).v


def test_gazebo_moves_the_car():
    """``actuate`` does everything except move the car."""
    moved, held = Car("actuation_cmd_mechanical"), Car("actuation_cmd_mechanical")
    u = pedals(0.5, 0.0, 3.0, 2)
    for _ in range(2000):
        moved.model.step(moved.c, moved.s, u)
        held.model.actuate(held.c, held.s, u)
    assert held.v == moved.v
    assert held.angle == moved.angle
    assert (held.s.x, held.s.y, held.s.heading) == (0.0, 0.0, 0.0)


def test_joints_are_those_of_a_car():
    car = Car("actuation_cmd_vgr").go(3.0, accel=0.3, steer=5.0)
    names = [joint.name for joint in car.model.joints(car.parameters)]
    states = car.model.joint_states(car.c, car.s)
    joints = dict(zip(names, zip(states.positions, states.velocities, strict=True), strict=True))
    assert joints["steering_left"][0] > car.angle > joints["steering_right"][0] > 0.0
    assert joints["fixed_wheel_left_joint"][1] < joints["fixed_wheel_right_joint"][1]
    mean = (joints["fixed_wheel_left_joint"][1] + joints["fixed_wheel_right_joint"][1]) / 2
    assert mean * car.c.wheel_radius == pytest.approx(car.v)


@every_model
def test_reports(model):
    car = Car(model.name).go(2.0, accel=0.5, steer=0.05)
    assert car.s.v_y == 0.0
    assert car.s.yaw_rate == pytest.approx(car.v * math.tan(car.angle) / car.parameters.wheel_base)
    assert gear_report(car.s) == 2
    assert has_actuation_status(car.c) == (PEDALS in model.accepts)


def test_status_reports_the_accelerator_that_is_pressed():
    car = Car("actuation_cmd", dt=0.01).go(8.0, accel=0.4)
    assert actuation_status(car.c, car.s).accel == pytest.approx(0.4, abs=0.03)


@every_model
def test_new_parameters_make_no_jump(model):
    """A car that gets other dead times while driving continues without a jump."""
    vehicle = Vehicle(model, model.parameters(), max_command_age=1e3)
    vehicle.enter(control(5.0, 1.0, 0.1), 0)
    vehicle.advance(2 * SECOND)
    before = (vehicle.state.v_x, vehicle.state.steering.angle)
    changes = {field.name: 0.3 for field in dataclasses.fields(model.parameters) if field.name.endswith("_time_delay")}
    if "mechanical" in model.name:
        changes["mechanical_params"] = MechanicalParameters(torque_delay_time=0.02)
    vehicle.configure(dataclasses.replace(vehicle.parameters, **changes))
    vehicle.advance(2 * SECOND + SECOND // 1000)
    assert (vehicle.state.v_x, vehicle.state.steering.angle) == pytest.approx(before, abs=0.01)
    vehicle.advance(3 * SECOND)
    assert math.isfinite(vehicle.state.v_x)


# Step responses of the steerings


def steered(name: str, command: float, speed: float = 5.0, seconds: float = 3.0, **parameters) -> list[float]:
    """Tire angle every 10 ms after a step of the steering command, at a speed."""
    car = Car(name, steer_time_delay=0.0, convert_accel_cmd=False, convert_brake_cmd=False, **parameters)
    put(car.c, car.s, 0.0, 0.0, 0.0, speed)
    angles = []
    for _ in range(round(seconds * 100)):
        car.go(0.01, steer=command)
        angles.append(car.angle)
    return angles


def test_first_order_steering_has_its_time_constant():
    angles = steered("actuation_cmd", 0.3, steer_time_constant=0.2)
    assert angles[19] == pytest.approx(0.3 * (1.0 - math.exp(-1.0)), rel=1e-4)


def test_mapped_steering_turns_at_the_rate_of_its_map():
    angles = steered("actuation_cmd_steer_map", 6.0)
    assert angles[0] == pytest.approx(0.27 * 0.01, rel=0.01)
    assert angles[99] == pytest.approx(0.27 / 0.12 * (1.0 - math.exp(-0.12)), rel=1e-3)


def test_variable_ratio_grows_with_speed():
    slow, fast = (steered("actuation_cmd_vgr", 3.0, speed)[-1] for speed in (2.0, 25.0))
    assert slow == pytest.approx(3.0 / (15.713 + 0.053 * 4.0 - 0.042 * 3.0), rel=1e-3)
    assert fast == pytest.approx(3.0 / (15.713 + 0.053 * 625.0 - 0.042 * 3.0), rel=1e-3)


def test_mechanical_steering_sticks_and_is_slow():
    """A command with a torque below the friction has no effect; the torque limit bounds a large one."""
    assert steered("actuation_cmd_mechanical", 0.01, 0.0, 0.3)[-1] == 0.0
    angles = steered("actuation_cmd_mechanical", 8.0, 0.0)
    rates = [(b - a) / 0.01 for a, b in itertools.pairwise(angles)]
    assert max(rates) == pytest.approx((30.0 - 0.66) / 117.0, rel=0.02)
    assert max(angles) == pytest.approx(8.0 / 15.4, rel=0.05)


def test_mechanical_steering_has_a_dead_zone():
    """Turning back, it waits until the torque leaves the dead zone."""
    wide = dataclasses.replace(MechanicalParameters(), dead_zone_threshold=1.5)
    car = Car("actuation_cmd_mechanical", mechanical_params=wide)
    car.go(4.0, steer=3.0)
    rest = car.angle
    car.go(0.05, steer=2.99)
    assert car.s.steering.mechanism.in_dead_zone
    assert car.angle == rest
