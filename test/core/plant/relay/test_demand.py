"""The demand of a relay: what goes out, and what a robot with a dead time and a lag makes of it."""

from __future__ import annotations

import dataclasses
import math

import pytest
from helpers.driving import IDEAL_DRIVE, IDEAL_LIMITED_STEERING, commands_for, ideal_bicycle, vehicles
from hypothesis import given
from hypothesis import strategies as st

from vds_gz import BICYCLE, DIFFERENTIAL, FOUR_WHEEL_STEERING, SWERVE
from vds_gz.core.parameters.declaration import Override, ParameterError
from vds_gz.core.plant.relay.demand import Demand
from vds_gz.core.plant.relay.led_vehicle import LedVehicle
from vds_gz.core.plant.relay.subtraction import Dynamics, RobotDynamics, actuators, leading
from vds_gz.core.vehicle.command import ackermann, four_wheel_steering, twist
from vds_gz.core.vehicle.vehicle import NANOSECONDS, Vehicle
from vds_gz.programs.nodes.preparation import prepare

MILLISECOND = 1_000_000
NOTHING = RobotDynamics(Dynamics(), Dynamics())


def led(model, parameters, robot: RobotDynamics, **settings) -> tuple[LedVehicle, Demand]:
    vehicle = LedVehicle(model, parameters, lambda group: leading(group, robot, hold=0.0), **settings)
    return vehicle, Demand(vehicle, robot)


def differential(**drive):
    return dataclasses.replace(
        DIFFERENTIAL.parameters(), drive_actuators=dataclasses.replace(IDEAL_DRIVE, **drive), track=0.5
    )


times = st.floats(0.0, 0.3).map(lambda time: round(time, 3))


@given(
    dead_time=times,
    constant=times,
    more_dead_time=times,
    more_lag=times,
    acceleration=st.one_of(st.just(0.0), st.floats(1.0, 5.0)),
    commands=st.lists(st.tuples(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0)), min_size=1, max_size=4),
)
def test_a_robot_behind_the_relay_responds_as_the_vehicle_was_configured(
    dead_time, constant, more_dead_time, more_lag, acceleration, commands
):
    own = Dynamics(dead_time, constant)
    configured = differential(
        dead_time=dead_time + more_dead_time, time_constant=constant + more_lag, max_acceleration=acceleration
    )
    vehicle, demand = led(DIFFERENTIAL, configured, RobotDynamics(own, own))
    robot = Vehicle(DIFFERENTIAL, differential(dead_time=dead_time, time_constant=constant), max_command_age=math.inf)
    change = 300 * MILLISECOND
    for number, (v_x, yaw_rate) in enumerate(commands):
        vehicle.enter(twist(v_x, 0.0, yaw_rate), number * change)
    for time in range(0, (len(commands) + 2) * change, MILLISECOND):
        demand.advance(time)
        asked = demand.now()
        robot.advance(time)
        robot.enter(twist(asked.v_x, 0.0, asked.yaw_rate), time)
        there, wanted = robot.motion(), vehicle.motion()
        # A step of the robot is held for a millisecond.
        assert there.v_x == pytest.approx(wanted.v_x, abs=0.03)
        assert there.yaw_rate == pytest.approx(wanted.yaw_rate, abs=0.1)


def test_speed_and_steering_lose_their_own_lags():
    robot = RobotDynamics(Dynamics(0.05, 0.2), Dynamics(0.1, 0.3))
    parameters = ideal_bicycle(
        drive_actuator=dataclasses.replace(IDEAL_DRIVE, dead_time=0.3, time_constant=0.2),
        steering_actuator=dataclasses.replace(IDEAL_LIMITED_STEERING, dead_time=0.3, time_constant=0.3),
    )
    vehicle, demand = led(BICYCLE, parameters, robot)
    vehicle.enter(ackermann(1.0, 0.4), 0)
    asked = {}
    for time in range(0, 400 * MILLISECOND, MILLISECOND):
        demand.advance(time)
        asked[time // MILLISECOND] = demand.now()
    # The lags are the robot's own, so it is asked for the command itself, earlier by its own dead time.
    for name, value, begin in (("v_x", 1.0, 250), ("steering_angle", 0.4, 200)):
        assert [getattr(asked[time], name) for time in (begin - 1, begin + 2)] == pytest.approx([0.0, value], abs=1e-9)


def slower(parameters, own: float):
    """The same vehicle, with actuators that are slow enough for a robot with such a lag and dead time [s]."""
    changes = {
        name: dataclasses.replace(group, dead_time=own, time_constant=max(own, group.time_constant))
        for name, group in actuators(parameters)
    }
    return dataclasses.replace(parameters, **changes)


@given(data=st.data(), vehicle=vehicles, drive=times, steering=times)
def test_whatever_comes_in_what_goes_out_is_finite_and_within_the_limits(data, vehicle, drive, steering):
    model, parameters = vehicle
    parameters = slower(parameters, 0.3)
    led_vehicle, demand = led(model, parameters, RobotDynamics(Dynamics(drive, drive), Dynamics(steering, steering)))
    limits, geometry = model.limits(parameters), model.geometry(parameters)
    for number in range(5):
        time = number * 200 * MILLISECOND
        led_vehicle.enter(data.draw(commands_for(model)), time)
        demand.advance(time + 150 * MILLISECOND)
        asked = demand.now()
        assert asked.finite
        assert not demand.broken
        assert abs(asked.v_x) <= (limits.speed or math.inf)
        assert abs(asked.steering_angle) <= (limits.steering or math.inf)
        if geometry.yaw_arm:
            assert abs(asked.yaw_rate) <= (limits.speed or math.inf) / geometry.yaw_arm
        elif geometry.signed_wheel_base:
            fastest = abs(asked.v_x) * math.tan(min(abs(asked.steering_angle), 1.5)) / geometry.wheel_base
            assert abs(asked.yaw_rate) <= fastest * (1.0 + 1e-9)


def test_a_car_turns_by_the_steering_angle_that_goes_out_however_different_the_lags_are():
    robot = RobotDynamics(Dynamics(), Dynamics(0.0, 0.5))
    drive = dataclasses.replace(IDEAL_DRIVE, max_acceleration=0.0)
    steering = dataclasses.replace(IDEAL_LIMITED_STEERING, time_constant=0.5, max_position=0.6)
    parameters = ideal_bicycle(drive_actuator=drive, steering_actuator=steering)
    vehicle, demand = led(BICYCLE, parameters, robot, max_command_age=math.inf)
    vehicle.enter(ackermann(1.0, 0.4), 0)
    demand.advance(NANOSECONDS)
    vehicle.enter(ackermann(3.0, 0.4), NANOSECONDS)
    for time in range(NANOSECONDS, NANOSECONDS + 10 * MILLISECOND, MILLISECOND):
        demand.advance(time)
        asked = demand.now()
        assert asked.yaw_rate == pytest.approx(asked.v_x * math.tan(0.4) / parameters.wheel_base)


def test_swerve_modules_ask_for_a_twist_and_their_angles_are_no_motion():
    vehicle, demand = led(SWERVE, SWERVE.parameters(), NOTHING, max_command_age=math.inf)
    vehicle.enter(twist(0.3, -0.4, 0.5), 0)
    demand.advance(5 * NANOSECONDS)
    asked = demand.now()
    assert (asked.v_x, asked.v_y, asked.yaw_rate) == pytest.approx((0.3, -0.4, 0.5), abs=1e-3)
    assert asked.steering_angle == 0.0
    assert demand.moves(asked)
    vehicle.enter(twist(0.0, 0.0, 0.0), 5 * NANOSECONDS)
    demand.advance(20 * NANOSECONDS)
    assert abs(vehicle.state.modules[0].steering.angle) > 0.1
    assert not demand.moves(demand.now())


def test_two_steered_axles_ask_for_a_twist_with_a_lateral_speed_and_for_the_front_angle():
    vehicle, demand = led(FOUR_WHEEL_STEERING, FOUR_WHEEL_STEERING.parameters(), NOTHING, max_command_age=math.inf)
    vehicle.enter(four_wheel_steering(0.5, 0.3, 0.1), 0)
    demand.advance(20 * NANOSECONDS)
    asked = demand.now()
    yaw_rate = 0.5 * (math.tan(0.3) - math.tan(0.1)) / vehicle.parameters.wheel_base
    assert (asked.v_x, asked.v_y, asked.yaw_rate) == pytest.approx((0.5, 0.5 * math.tan(0.1), yaw_rate), abs=1e-6)
    assert asked.steering_angle == pytest.approx(0.3)


def test_an_offset_without_a_command_is_no_motion():
    vehicle, demand = led(DIFFERENTIAL, differential(offset=0.1), NOTHING)
    demand.advance(NANOSECONDS)
    assert demand.now().v_x == pytest.approx(0.1)
    assert not demand.moves(demand.now())
    vehicle.enter(twist(0.5, 0.0, 0.0), NANOSECONDS)
    demand.advance(NANOSECONDS + 500 * MILLISECOND)
    assert demand.moves(demand.now())


def test_a_response_that_is_not_finite_becomes_zero():
    vehicle, demand = led(DIFFERENTIAL, differential(), NOTHING)
    vehicle.leader.state.v_x = math.nan
    assert set(demand.now()) == {0.0}
    assert demand.broken


def test_a_command_that_is_held_for_a_period_comes_half_a_period_earlier_as_far_as_it_can():
    group = differential(dead_time=0.05)
    robot = RobotDynamics(Dynamics(0.02), Dynamics(0.02))
    assert leading(group, robot, hold=0.01).drive_actuators.dead_time == pytest.approx(0.02)
    assert leading(group, robot, hold=0.04).drive_actuators.dead_time == 0.0


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            {"relay.dead_time": 0.3},
            "'drive_actuators.dead_time' is 0.2, but the robot behind the relay has 0.3 s itself; it must be at least",
        ),
        ({"relay.time_constant": 0.5}, "'drive_actuators.time_constant' is 0.4, but"),
        ({"relay.output": "ackermann"}, "model 'differential' has no single steering angle; it must be twist or"),
        ({"relay.simulator": "robot.yaml", "relay.dead_time": 0.1}, "has the robot's dead time and lag; leave"),
        ({"relay.topic": ""}, "'topic' is empty"),
        (
            {"relay.output": "steering_and_speed", "relay.steering_topic": "/x", "relay.speed_topic": "/x"},
            "are both '/x'; they must differ",
        ),
    ],
)
def test_what_a_relay_cannot_do_is_refused(values, words):
    drive = {"backend": "relay", "model_params.differential.drive_actuators.dead_time": 0.2}
    drive["model_params.differential.drive_actuators.time_constant"] = 0.4
    with pytest.raises(ParameterError, match=words):
        prepare([Override("model", "differential"), *(Override(*item) for item in (drive | values).items())])


@pytest.mark.parametrize("output", ["ackermann", "steering_and_speed"])
def test_swerve_modules_do_not_ask_for_one_steering_angle(output):
    with pytest.raises(ParameterError, match="of model 'swerve' has no single steering angle; it must be twist or"):
        prepare([Override("model", "swerve"), Override("backend", "relay"), Override("relay.output", output)])


def test_what_is_subtracted_can_come_from_the_file_of_the_robot(tmp_path):
    (tmp_path / "robot.yaml").write_text(
        "/**:\n  ros__parameters:\n    model: bicycle\n    model_params:\n      bicycle:\n"
        "        drive_actuator: {dead_time: 0.03, time_constant: 0.1}\n"
        "        steering_actuator: {dead_time: 0.02, time_constant: 0.04}\n"
    )
    overrides = [Override("model", "bicycle"), Override("backend", "relay")]
    robot = prepare([*overrides, Override("relay.simulator", str(tmp_path / "robot.yaml"))]).robot
    assert robot == RobotDynamics(Dynamics(0.03, 0.1), Dynamics(0.02, 0.04))


def test_a_live_change_that_the_robot_cannot_follow_is_refused_and_changes_nothing():
    own = Dynamics(0.1)
    vehicle, _ = led(DIFFERENTIAL, differential(dead_time=0.2), RobotDynamics(own, own))
    with pytest.raises(ParameterError, match="it must be at least 0"):
        vehicle.configure(differential(dead_time=0.05))
    assert vehicle.parameters.drive_actuators.dead_time == 0.2
    vehicle.configure(differential(dead_time=0.15))
    assert vehicle.leader.parameters.drive_actuators.dead_time == pytest.approx(0.05)


def test_vehicle_and_leader_stop_and_continue_together():
    vehicle, demand = led(DIFFERENTIAL, differential(), NOTHING, max_command_age=math.inf)
    vehicle.enter(twist(1.0, 0.0, 0.0), 0)
    demand.advance(NANOSECONDS)
    vehicle.stand_still(0)
    assert set(demand.now()) == {0.0}
    vehicle.skip_to(5 * NANOSECONDS)
    vehicle.enter(twist(0.5, 0.0, 0.0), 5 * NANOSECONDS)
    demand.advance(6 * NANOSECONDS)
    assert demand.now().v_x == pytest.approx(0.5)
