"""Lower bounds of limits hold for measurements with peaks: speeds that are differences over uneven intervals."""

import numpy as np
import pytest

from vds_gz.core.configuration import load_parameters, parameters_of
from vds_gz.core.parameters.actuator_parameters import DriveParameters
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.vehicles import DifferentialParameters
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.compiled import CompiledVehicle
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.identify.observed_limits import reach_of
from vds_gz.tools.study.identify.problem.unknowns import set_up
from vds_gz.tools.study.recording import Recording, Series

TRACK, LIMIT, DEAD_TIME = 0.25, 0.3, 0.3
INTERVAL = 0.15
GIVEN = parameters_of([Override("model", "differential"), Override("model_params.differential.track", TRACK)])


def recorded(duration=50.0, seed=2):
    """A recording of a robot that scales both wheels, commanded up to eight times faster than it can drive.

    Its speeds are displacements over a nominal interval, and its samples are not evenly spaced.
    """
    random = np.random.default_rng(seed)
    drive = DriveParameters(dead_time=DEAD_TIME, time_constant=0.0, max_velocity=LIMIT, max_acceleration=0.0)
    parameters = DifferentialParameters(track=TRACK, drive_actuators=drive)
    robot = CompiledVehicle(DIFFERENTIAL, parameters, max_command_age=duration)
    times = np.cumsum(random.choice([0.6, 1.0, 1.6], round(duration / 1.1)))
    commands = np.column_stack((random.uniform(-0.8, 2.5, len(times)), random.uniform(-1.5, 1.5, len(times))))
    for time, (v_x, yaw_rate) in zip(times, commands, strict=True):
        robot.enter(twist(v_x, 0.0, yaw_rate), round(1e9 * time))
    arrivals = INTERVAL * np.arange(1, round(duration / INTERVAL))
    arrivals += random.uniform(-0.07, 0.07, len(arrivals))
    states = np.array([(s.v_x, s.yaw_rate) for s in robot.sample(np.rint(1e9 * arrivals).astype(int).tolist())])
    measured = states * (np.diff(arrivals, prepend=0.0) / INTERVAL)[:, np.newaxis]
    names = ("v_x", "yaw_rate")
    return Recording(
        {name: Series(times, commands[:, k]) for k, name in enumerate(names)},
        {name: Series(arrivals, measured[:, k]) for k, name in enumerate(names)},
    )


def test_peaks_are_no_lower_bound_of_the_limit_of_a_wheel():
    setup = set_up([recorded()], vehicle=GIVEN, wheel_base=None, fit=(), priors={})
    reach = reach_of(setup)["drive_actuators.max_velocity"]
    assert 0.5 * LIMIT < reach.least < LIMIT


def test_the_limit_at_which_both_wheels_are_scaled_is_identified():
    fit = identify(recorded(), vehicle=GIVEN, hold_out=0.0)
    assert fit.numbers["drive_actuators.max_velocity"].value == pytest.approx(LIMIT, rel=0.05)


def test_commands_alone_show_no_rate():
    time = 0.05 * np.arange(400)
    speed, angle = 1.0 + 0.5 * np.sign(np.sin(time)), 0.3 * np.sign(np.sin(2.0 * time))
    commanded = {"v_x": Series(time, speed), "steering": Series(time, angle)}
    car = parameters_of([Override("model", "bicycle"), Override("model_params.bicycle.wheel_base", 0.3)])
    recording = Recording(commanded, {"v_x": Series(time, speed)}, steers=True)
    reaches = reach_of(set_up([recording], vehicle=car, wheel_base=None, fit=(), priors={}))
    rate, limit = (reaches[f"steering_actuator.{name}"] for name in ("max_velocity", "max_position"))
    assert np.isnan(rate.most)
    assert limit.most == pytest.approx(0.3)
    assert not rate.measured
    assert not limit.measured
    assert reaches["drive_actuator.max_velocity"].measured


def test_commands_alone_show_no_rate_of_steered_modules():
    time = 0.05 * np.arange(400)
    speed, turn = 1.0 + 0.5 * np.sign(np.sin(time)), 0.3 * np.sign(np.sin(2.0 * time))
    series = {"v_x": Series(time, speed), "yaw_rate": Series(time, turn)}
    swerve = load_parameters("swerve_robot")
    reaches = reach_of(set_up([Recording(series, series)], vehicle=swerve, wheel_base=None, fit=(), priors={}))
    rate, limit = (reaches[f"steering_actuators.{name}"] for name in ("max_velocity", "max_position"))
    assert np.isnan(rate.most)
    assert (rate.measured, limit.measured) == (False, False)
    assert limit.most > 0.0


def test_the_acceleration_of_a_wheel_is_not_the_sum_of_peaks_at_different_times():
    time = 0.02 * np.arange(3000)
    phase = np.mod(time, 20.0)  # first it speeds up and slows down, then it turns
    v_x = np.interp(phase, [0.0, 1.0, 5.0, 6.0, 20.0], [0.0, 1.0, 1.0, 0.0, 0.0])
    yaw_rate = np.interp(phase, [0.0, 10.0, 11.0, 15.0, 16.0, 20.0], [0.0, 0.0, 8.0, 8.0, 0.0, 0.0])
    series = {"v_x": Series(time, v_x), "yaw_rate": Series(time, yaw_rate)}
    setup = set_up([Recording(series, series)], vehicle=GIVEN, wheel_base=None, fit=(), priors={})
    assert reach_of(setup)["drive_actuators.max_acceleration"].most == pytest.approx(1.0, rel=0.05)


def test_a_robot_that_only_drives_straight_ahead_has_the_acceleration_of_its_wheels():
    time = 0.02 * np.arange(3000)
    v_x = np.interp(np.mod(time, 10.0), [0.0, 1.0, 5.0, 6.0, 10.0], [0.0, 1.0, 1.0, 0.0, 0.0])
    commanded = {"v_x": Series(time, v_x), "yaw_rate": Series(time, np.zeros(len(time)))}
    setup = set_up(
        [Recording(commanded, {"v_x": Series(time, v_x)})], vehicle=GIVEN, wheel_base=None, fit=(), priors={}
    )
    reaches = reach_of(setup)
    assert reaches["drive_actuators.max_acceleration"].most == pytest.approx(1.0, rel=0.05)
    assert reaches["drive_actuators.max_acceleration"].measured
    assert np.isnan(reaches["max_angular_velocity"].most)


def identified_car(speed, noise=0.0, **limits):
    """The fit of a car whose speed command never changes, so that its drive has no excitation, with given limits.

    ``speed`` is that of its 600 samples, one each 0.05 s.
    """
    time = 0.05 * np.arange(600)
    turn = 0.2 * np.sign(np.sin(time))
    yaw_rate = speed * np.tan(np.interp(time - 0.1, time, turn)) / 0.3
    commanded = {"v_x": Series(time, np.full(len(time), 3.0)), "steering": Series(time, turn)}
    measured = speed + noise * np.random.default_rng(0).standard_normal(len(time))
    car = parameters_of(
        [
            Override("model", "bicycle"),
            Override("model_params.bicycle.wheel_base", 0.3),
            *(Override(f"model_params.bicycle.drive_actuator.{name}", limit) for name, limit in limits.items()),
        ]
    )
    recording = Recording(commanded, {"v_x": Series(time, measured), "yaw_rate": Series(time, yaw_rate)}, steers=True)
    return identify(recording, vehicle=car, hold_out=0.0)


def test_a_given_limit_that_the_recording_exceeds_is_not_kept():
    """The speed changes for other reasons than its command."""
    fit = identified_car(2.8 + 0.2 * np.sin(0.025 * np.arange(600)), max_velocity=2.0)
    assert fit.parameters.drive_actuator.max_velocity == 0.0
    assert fit.reached["drive_actuator.max_velocity"] == pytest.approx(3.0, rel=0.01)
    assert fit.parameters.drive_actuator.max_acceleration == DriveParameters().max_acceleration


def test_noise_exceeds_no_given_limit():
    """A constant speed with noise of 0.1 m/s, which is 0.6 m/s2 in the means of five samples."""
    fit = identified_car(np.full(600, 3.0), noise=0.1, max_acceleration=0.5)
    assert fit.parameters.drive_actuator.max_acceleration == 0.5
    assert "drive_actuator.max_acceleration" not in fit.reached


def test_an_axis_reached_the_maximum_of_all_recordings():
    """Two recordings, 0.1 s late: the second one is faster and turns further."""
    time = 0.05 * np.arange(400)
    speed, turn = np.sign(np.sin(time)), np.sign(np.sin(0.7 * time))
    recordings = []
    for top, angle in ((0.3, 0.1), (1.0, 0.3)):
        commanded = {"v_x": Series(time, top * speed), "steering": Series(time, angle * turn)}
        measured = {name: Series(time, np.interp(time - 0.1, time, series.value)) for name, series in commanded.items()}
        recordings.append(Recording(commanded, measured, steers=True))
    car = parameters_of([Override("model", "bicycle"), Override("model_params.bicycle.wheel_base", 0.3)])
    fit = identify(recordings, vehicle=car, hold_out=0.0)
    assert {axis.quantity: axis.reached.value for axis in fit} == pytest.approx({"v_x": 1.0, "steering": 0.3})


def test_a_driven_wheel_that_steers_is_faster_than_the_vehicle():
    """A wheel at 1 m/s that turns to 1 rad, 0.1 s late; the speed of base_link is its cosine."""
    time = 0.05 * np.arange(200)
    commanded = {"v_x": np.sign(np.sin(time)), "steering": np.where(time < 5.0, 0.9, 1.0)}
    wheel, angle = (np.interp(time - 0.1, time, value) for value in commanded.values())
    recording = Recording(
        {name: Series(time, value) for name, value in commanded.items()},
        {"v_x": Series(time, wheel * np.cos(angle)), "steering": Series(time, angle)},
        steers=True,
    )
    tricycle = parameters_of(
        [
            Override("model", "bicycle"),
            Override("model_params.bicycle.wheel_base", 0.3),
            Override("model_params.bicycle.drive_on_steered_wheel", True),
        ]
    )
    fit = identify(recording, vehicle=tricycle, hold_out=0.0)
    assert fit.reached["drive_actuator.max_velocity"] == pytest.approx(1.0, rel=0.01)


def test_without_its_angle_a_driven_wheel_that_steers_shows_no_acceleration():
    """The wheel has a constant speed; the speed of base_link changes with the angle, which is not measured."""
    time = 0.05 * np.arange(200)
    angle = np.where(np.sin(time) > 0.0, 0.1, 1.0)
    recording = Recording(
        {"v_x": Series(time, np.ones(len(time))), "steering": Series(time, angle)},
        {"v_x": Series(time, np.cos(angle))},
        steers=True,
    )
    tricycle = parameters_of(
        [
            Override("model", "bicycle"),
            Override("model_params.bicycle.wheel_base", 0.3),
            Override("model_params.bicycle.drive_on_steered_wheel", True),
        ]
    )
    reach = reach_of(set_up([recording], vehicle=tricycle, wheel_base=None, fit=(), priors={}))
    rate = reach["drive_actuator.max_acceleration"]
    assert (rate.least, rate.measured) == (0.0, False)
    assert np.isnan(rate.most)
