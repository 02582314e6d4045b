"""Every limit in Nav2's lines is what the vehicle of the parameter file reaches."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.core.configuration import load_parameters
from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.parameters.vehicles import (
    BicycleParameters,
    DifferentialParameters,
    FourWheelSteeringParameters,
    OmniParameters,
    SwerveParameters,
)
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.vehicle import Vehicle
from vds_gz.tools.study.identify.exports import nav2
from vds_gz.tools.study.identify.observed_limits import observed_maxima
from vds_gz.tools.study.identify.reachable_motion import reachable
from vds_gz.tools.study.identify.results import NAMES, Axis, Channel, Reached, VehicleFit

TIME = 0.05 * np.arange(400)

#: Observed maxima: 0.4 of any unit, and 0.2 of it per second.
SPEED, PERIOD = 0.4, 4.0 * math.pi

QUANTITIES = "v_x", "v_y", "yaw_rate"

#: The maxima observed, with the signs of Nav2's parameters, and the note on them.
OBSERVED = {"max_velocity": SPEED, "max_accel": 0.5 * SPEED, "max_decel": -0.5 * SPEED}
NO_LIMIT = "observed, no limit was met: "
LIMITS = st.sampled_from([0.3, 0.8, 2.0])

#: Models that move to the side by their wheels, and models that must drive in order to turn.
SIDEWAYS, STEERED = ("omni", "swerve"), ("bicycle", "four_wheel_steering")


def lines_of(model, parameters, observed=None):
    """Nav2's lines of a vehicle that was observed up to :data:`SPEED` in each quantity, and their numbers.

    ``observed`` has other speeds by quantity; None: not measured.
    """
    axes, channels = [], []
    for quantity in QUANTITIES:
        if quantity == "v_y" and model not in SIDEWAYS:
            continue
        if (speed := (observed or {}).get(quantity, SPEED)) is not None:
            value = speed * np.sin(2.0 * math.pi / PERIOD * TIME)
            shared = "odom", 0, 0.0, 0.0, 0, 0.0, TIME, value, value, value, np.ones(len(TIME))
            channels.append(Channel(quantity, quantity, "m/s", *shared))
        axes.append(Axis(quantity, "m/s", dict.fromkeys(NAMES), Reached(0.0, 0.0, 0.0)))
    lines = list(nav2(VehicleFit(model, parameters, {}, {}, {}, tuple(channels), (), tuple(axes))))
    numbers = {}
    for line in lines:
        name, _, rest = line.partition(": [")
        if rest:
            values, _, note = rest.partition("]")
            shown = (None if value == "?" else float(value) for value in values.split(", "))
            numbers[name.removeprefix("# ")] = dict(zip(QUANTITIES, shown, strict=True)), note
    return numbers


def driven(model, parameters, quantity, command, speed=0.0, seconds=20.0):
    """The velocity every 10 ms, as modules that turn change it fast, of a step to a command and back."""
    vehicle = Vehicle(models()[model], parameters, step_rate=200.0, max_command_age=math.inf)
    values, place = [], QUANTITIES.index(quantity)
    for top in (command, 0.0):
        goal = [speed, 0.0, 0.0]
        goal[place] = top
        vehicle.enter(twist(*goal), vehicle.time)
        for _ in range(round(seconds * 100)):
            vehicle.advance(vehicle.time + 10_000_000)
            values.append(getattr(vehicle.state, quantity))
    return np.array(values)


@st.composite
def vehicles(draw):
    """A vehicle with a gain, an effective track, and limits of wheels and body, some of which are none."""
    none_or = st.one_of(st.just(0.0), LIMITS)
    drive = DriveParameters(
        dead_time=draw(st.sampled_from([0.0, 0.1])),
        time_constant=draw(st.sampled_from([0.0, 0.2])),
        gain=draw(st.sampled_from([0.7, 1.0, 1.3])),
        max_velocity=draw(none_or),
        max_acceleration=draw(none_or),
        max_deceleration=draw(none_or),
    )
    kind = draw(st.sampled_from(["differential", *SIDEWAYS, *STEERED]))
    steering = SteeringParameters(dead_time=0.05, max_velocity=draw(none_or), max_position=0.4)
    if kind == "bicycle":
        return kind, BicycleParameters(wheel_base=0.5, drive_actuator=drive, steering_actuator=steering)
    if kind == "four_wheel_steering":
        axles = {"front_steering_actuator": steering, "rear_steering_actuator": steering}
        return kind, FourWheelSteeringParameters(wheel_base=0.5, drive_actuator=drive, **axles)
    body = {
        "max_linear_velocity": draw(none_or),
        "max_linear_acceleration": draw(none_or),
        "max_angular_velocity": draw(none_or),
        "max_angular_acceleration": draw(none_or),
    }
    if kind == "swerve":
        return kind, SwerveParameters(
            drive_actuators=drive, steering_actuators=replace(steering, max_position=0.0), **body
        )
    if kind == "omni":
        return kind, OmniParameters(drive_actuators=drive, **body)
    return kind, DifferentialParameters(
        track=0.5, effective_track=draw(st.sampled_from([0.0, 0.8])), drive_actuators=drive, **body
    )


@settings(max_examples=10, deadline=None)
@given(vehicles())
def test_limits_are_those_that_the_vehicle_reaches(case):
    model, parameters = case
    numbers = lines_of(model, parameters)
    for quantity in QUANTITIES:
        if quantity == "v_y" and model not in SIDEWAYS:
            continue
        steered = model in STEERED and quantity == "yaw_rate"
        speed = numbers["max_velocity"][0]["v_x"] / parameters.drive_actuator.gain if steered else 0.0
        run = driven(model, parameters, quantity, 10.0 * SPEED, speed)
        rates = np.diff(run, prepend=0.0) * 100.0  # without dead time and lag the first step jumps
        reached = {"max_velocity": run.max(), "max_accel": rates.max(), "max_decel": rates.min()}
        for name, most in reached.items():
            values, note = numbers[name]
            unmet = quantity in note.partition(";")[0] and NO_LIMIT in note
            if unmet:
                assert values[quantity] == pytest.approx(OBSERVED[name], rel=0.02), (quantity, name)
            if unmet or speed:  # of a vehicle that steers, the yaw rate is the lower one of limit and observed maximum
                assert abs(values[quantity]) <= 1.02 * abs(most) + 1e-3, (quantity, name)
            else:
                assert values[quantity] == pytest.approx(most, rel=0.05, abs=2e-3), (quantity, name)


def test_a_skid_steered_robot_turns_by_its_effective_track():
    drive = DriveParameters(dead_time=0.1, time_constant=0.2, max_velocity=1.0)
    numbers = lines_of("differential", DifferentialParameters(track=0.5, effective_track=1.0, drive_actuators=drive))
    assert numbers["max_velocity"][0]["yaw_rate"] == pytest.approx(2.0)
    assert numbers["min_velocity"][0]["yaw_rate"] == pytest.approx(-2.0)


def test_a_calculated_spin_is_named_if_no_recording_reached_it():
    drive = DriveParameters(dead_time=0.1, time_constant=0.2, max_velocity=0.4)
    slow, spinning = (
        lines_of("differential", DifferentialParameters(track=track, drive_actuators=drive)) for track in (0.25, 2.0)
    )
    assert slow["max_velocity"][0]["yaw_rate"] == pytest.approx(3.2)
    assert slow["max_velocity"][1] == "  # yaw_rate is calculated, the recording reached 0.4"
    assert spinning["max_velocity"][0]["yaw_rate"] == pytest.approx(0.4)
    assert spinning["max_velocity"][1] == ""


@pytest.mark.parametrize(("speed", "note"), [(0.0, "not observed: yaw_rate"), (None, "not measured: yaw_rate")])
def test_a_maximum_without_a_limit_or_motion_is_not_written(speed, note):
    drive = DriveParameters(dead_time=0.1, time_constant=0.2, max_velocity=0.4)
    numbers = lines_of("differential", DifferentialParameters(drive_actuators=drive), {"yaw_rate": speed})
    assert numbers["max_velocity"] == ({"v_x": 0.4, "v_y": 0.0, "yaw_rate": None}, f"  # {note}")
    assert numbers["max_accel"][0]["yaw_rate"] is None


def test_lines_with_an_unknown_number_are_comments():
    drive = DriveParameters(dead_time=0.1, time_constant=0.2, max_velocity=0.4)
    channel = Channel("v_x", "v_x", "m/s", "odom", 0, 0.0, 0.0, 0, 0.0, TIME, TIME, TIME, TIME, np.ones(len(TIME)))
    axis = Axis("v_x", "m/s", dict.fromkeys(NAMES), Reached(0.0, 0.0, 0.0))
    robot = DifferentialParameters(drive_actuators=drive)
    lines = list(nav2(VehicleFit("differential", robot, {}, {}, {}, (channel,), (), (axis,))))
    assert (
        "# max_velocity: [0.400, 0.000, ?]  # not measured: yaw_rate; v_x is calculated, the recording reached 20"
        in lines
    )


def test_a_speed_that_stays_shows_no_acceleration():
    random = np.random.default_rng(0)
    measured, modelled = (1.0 + scale * random.standard_normal(len(TIME)) for scale in (0.1, 1e-4))
    channel = Channel(
        "v_x", "v_x", "m/s", "", 0, 0.1, 0.1, 0, 0.0, TIME, measured, modelled, modelled, 0.0 * TIME + 1.0
    )
    assert observed_maxima([channel], "v_x")[:2] == (0.0, 0.0)


def test_rare_accelerations_that_the_model_shows_too_are_observed():
    """A robot that speeds up once a minute; its sensor has noise, bumps, and one sample each 0.2 s."""
    time = 0.2 * np.arange(1500)
    since = np.mod(time, 60.0)
    speed = 0.5 * np.where(since < 30.0, 1.0 - np.exp(-since / 0.3), np.exp((30.0 - since) / 0.3))
    measured = speed + 0.005 * np.random.default_rng(0).standard_normal(len(time))
    measured[700:703] += 0.3
    channel = Channel(
        "v_x", "v_x", "m/s", "odom", 0, 0.005, 0.005, 0, 0.0, time, measured, speed, speed, 1.0 + 0.0 * time
    )
    most = observed_maxima([channel], "v_x")
    mean_of_first_interval = 0.5 * (1.0 - math.exp(-0.2 / 0.3)) / 0.2
    assert (most.rise, most.fall) == (pytest.approx(mean_of_first_interval, rel=0.15),) * 2
    assert most.value == pytest.approx(0.5, rel=0.03), "a bump is no motion"
    assert observed_maxima([channel], "yaw_rate") == (0.0, 0.0, 0.0)


def maxima_of(time, measured, modelled):
    """The observed maxima of a channel without noise."""
    channel = Channel("v_x", "v_x", "", "", 0, 0.0, 0.0, 0, 0.0, time, measured, modelled, modelled, 1.0 + 0.0 * time)
    return observed_maxima([channel], "v_x")


@pytest.mark.parametrize(("lag", "rise"), [(1e-3, 0.5 / 0.1), (0.1, (math.exp(-1.0) - math.exp(-2.0)) / 0.1)])
def test_reversals_show_accelerations_and_decelerations(lag, rise):
    """A square wave of 0.5 m/s behind a lag, with a sample each 0.1 s: each reversal begins at 0.5 m/s."""
    k = np.arange(400)
    since, sign = 0.1 * np.mod(k, 20), np.where(np.mod(k, 40) < 20, 1.0, -1.0)
    speed = sign * (0.5 - np.exp(-since / lag))
    assert maxima_of(0.1 * k, speed, speed) == pytest.approx((rise, 0.5 / 0.1, 0.5), rel=1e-3)


def test_a_reversal_does_not_show_the_deceleration_as_an_acceleration():
    """From 0.5 to -0.5 m/s and back with 3 m/s2 towards standstill and 1 m/s2 away from it."""
    time = 0.1 * np.arange(400)
    corners = np.cumsum([0.0, 1.0, 0.5 / 3.0, 0.5, 1.0, 0.5 / 3.0, 0.5])
    speed = np.interp(np.mod(time, corners[-1]), corners, [0.5, 0.5, 0.0, -0.5, -0.5, 0.0, 0.5])
    assert maxima_of(time, speed, speed) == pytest.approx((1.0, 3.0, 0.5), rel=1e-6)


def test_a_robot_that_creeps_back_before_a_step_shows_its_acceleration():
    time = 0.1 * np.arange(100)
    speed = np.where(time < 5.0, -0.001, 0.5)
    assert maxima_of(time, speed, speed).rise == pytest.approx(0.5 / 0.1)


def test_a_value_of_the_opposite_sign_is_not_shown_by_the_model():
    time = 0.1 * np.arange(100)
    moved = (time > 4.95) & (time < 5.25)  # three samples, so it does not last
    assert maxima_of(time, np.where(moved, -0.5, 0.0), np.where(moved, 0.5, 0.0)).value == 0.0
    assert maxima_of(time, np.where(moved, -0.5, 0.0), np.where(moved, -0.4, 0.0)).value == 0.4


def test_a_car_that_skids_beyond_the_observed_speeds_has_its_limits():
    """At ten times the observed speed its steering, which is not quite straight, spins it."""
    car = load_parameters("f1tenth").vehicle
    drive = DriveParameters(dead_time=0.2, time_constant=0.25, max_acceleration=4.0, max_deceleration=3.0)
    car = replace(car, drive_actuator=drive, steering_actuator=replace(car.steering_actuator, offset=-0.02))
    most = reachable(models()["single_track"], car, "v_x", 9.0)
    assert (most.rise, most.fall) == (pytest.approx(4.0, rel=0.01), pytest.approx(3.0, rel=0.01))


@pytest.mark.parametrize(
    "response",
    [
        {},
        {"gain": 0.5},
        {"gain": 0.5, "offset": 0.1},
        {"map_references": (0.0, 1.0, 2.0), "map_responses": (0.0, 2.0, 4.0)},
        {"gain": 0.5, "map_references": (0.0, 0.1, 2.0), "map_responses": (0.0, 0.4, 2.3), "offset": 0.1},
    ],
)
def test_the_yaw_rate_of_a_car_is_that_at_its_speed_and_not_at_the_same_command(response):
    steering = SteeringParameters(dead_time=0.05, max_position=0.3)
    drive = DriveParameters(max_velocity=0.0, max_acceleration=0.0, **response)
    car = BicycleParameters(wheel_base=0.5, drive_actuator=drive, steering_actuator=steering)
    # Its observed yaw rate is above its limit.
    yaw_rate = lines_of("bicycle", car, {"yaw_rate": 1.0})["max_velocity"][0]["yaw_rate"]
    assert yaw_rate == pytest.approx(SPEED * math.tan(0.3) / 0.5, rel=0.01)


def test_a_limited_command_beyond_the_speed_of_the_wheels_falls_for_a_while_first():
    drive = DriveParameters(dead_time=0.1, time_constant=0.05, max_velocity=0.3, max_acceleration=0.0)
    robot = DifferentialParameters(max_linear_acceleration=0.3, max_linear_velocity=2.0, drive_actuators=drive)
    most = reachable(models()["differential"], robot, "v_x", SPEED)
    assert most == pytest.approx((0.3, 0.3, 0.3), rel=0.05)


def test_a_limit_of_the_body_acts_before_the_gain():
    drive = DriveParameters(dead_time=0.1, time_constant=0.2, max_velocity=0.0, gain=0.5)
    numbers = lines_of("differential", DifferentialParameters(max_linear_velocity=1.0, drive_actuators=drive))
    assert numbers["max_velocity"][0]["v_x"] == pytest.approx(0.5, rel=1e-2)


def test_a_maximum_that_is_no_limit_is_named():
    drive = DriveParameters(dead_time=0.1, time_constant=0.2, max_velocity=0.0, max_acceleration=0.0)
    values, note = lines_of("differential", DifferentialParameters(drive_actuators=drive))["max_velocity"]
    assert values["v_x"] == pytest.approx(SPEED, rel=0.02)
    assert note == "  # observed, no limit was met: v_x, yaw_rate"


def test_a_default_without_an_estimate_is_no_limit():
    values, note = lines_of("bicycle", BicycleParameters(wheel_base=0.5))["max_velocity"]
    assert values["v_x"] == pytest.approx(SPEED, rel=0.02)
    assert "v_x" in note


def test_a_drive_without_dead_time_and_lag_has_no_limit_of_the_acceleration():
    drive = DriveParameters(dead_time=0.0, time_constant=0.0, max_velocity=0.5, max_acceleration=0.0)
    numbers = lines_of("differential", DifferentialParameters(drive_actuators=drive))
    for name, sign in (("max_accel", 1.0), ("max_decel", -1.0)):
        values, note = numbers[name]
        assert values["v_x"] == pytest.approx(sign * 0.5 * SPEED, rel=0.02)
        assert note == "  # observed, no limit was met: v_x, yaw_rate"


def test_a_lag_is_no_limit_of_the_acceleration():
    drive = DriveParameters(dead_time=0.1, time_constant=0.07, max_velocity=0.5, max_acceleration=0.0)
    numbers = lines_of("differential", DifferentialParameters(drive_actuators=drive))
    assert numbers["max_velocity"][0] == {"v_x": 0.5, "v_y": 0.0, "yaw_rate": pytest.approx(0.833)}
    values, note = numbers["max_accel"]
    assert values["v_x"] == pytest.approx(0.5 * SPEED, rel=0.02)
    assert note == "  # observed, no limit was met: v_x, yaw_rate"


def test_a_maximum_below_the_observed_one_has_a_note():
    drive = DriveParameters(dead_time=0.0, time_constant=0.0, max_velocity=0.2, max_acceleration=0.0)
    _, note = lines_of("differential", DifferentialParameters(track=2.5, drive_actuators=drive))["max_velocity"]
    assert "yaw_rate is calculated, the recording reached 0.4" in note


def test_a_vehicle_with_an_offset_has_the_limits_that_it_reaches_in_both_directions():
    drive = DriveParameters(dead_time=0.0, time_constant=0.1, max_velocity=1.0, offset=0.1)
    parameters = DifferentialParameters(drive_actuators=drive)
    values, _ = lines_of("differential", parameters)["max_velocity"]
    slower = min(abs(driven("differential", parameters, "v_x", sign * 10.0)).max() for sign in (1.0, -1.0))
    assert values["v_x"] == pytest.approx(slower, rel=0.01)


def test_a_deceleration_is_seen_though_a_slow_body_first_reduces_the_command():
    drive = DriveParameters(dead_time=0.0, time_constant=0.0, max_velocity=0.3, max_deceleration=0.5)
    parameters = OmniParameters(drive_actuators=drive, max_linear_acceleration=0.8)
    values, note = lines_of("omni", parameters)["max_decel"]
    assert values["v_x"] == pytest.approx(-0.5, rel=0.05)
    assert "v_x" not in note
