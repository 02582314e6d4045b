"""Faults of a recording are named before the fit, with the number that shows them."""

import dataclasses
import math

import numpy as np
import pytest

from vds_gz.tools.study.identify.recording_faults import checked, turning_against_steering
from vds_gz.tools.study.reading.signal_table import read_csv
from vds_gz.tools.study.recording import MeasuredChannel, Recording, Series, SignalError

TIME = 0.02 * np.arange(3000)
RADIUS, TRACK = 0.2, 0.6


def lagged(command, constant=0.3):
    value, values = 0.0, []
    for one in command:
        value += (one - value) * 0.02 / constant
        values.append(value)
    return np.array(values)


def steps(seed, size):
    return np.repeat(np.random.default_rng(seed).uniform(-size, size, 60), 50)


@pytest.fixture
def robot():
    """A differential robot measured by odometry, wheels and an IMU, all with noise."""
    random = np.random.default_rng(1)
    commanded = {"v_x": steps(2, 1.0), "yaw_rate": steps(3, 1.5)}
    v, w = (lagged(one) for one in commanded.values())
    heading = np.cumsum(w) * 0.02
    poses = {"x": np.cumsum(v * np.cos(heading)) * 0.02, "y": np.cumsum(v * np.sin(heading)) * 0.02, "heading": heading}
    wheels = {f"wheel_{side}_joint": (v + k * w * TRACK / 2.0) / RADIUS for side, k in (("left", -1.0), ("right", 1.0))}

    def noisy(values, size=0.01):
        return Series(TIME, values + size * random.standard_normal(len(values)))

    further = [MeasuredChannel(f"odom {name}", name, "odom", noisy(one, 0.001)) for name, one in poses.items()]
    further.append(MeasuredChannel("imu yaw_rate", "yaw_rate", "imu", noisy(w)))
    further += [MeasuredChannel(name, "joint_velocity", "joints", noisy(one), name) for name, one in wheels.items()]
    return Recording(
        {name: Series(TIME, one) for name, one in commanded.items()},
        {"v_x": noisy(v), "yaw_rate": noisy(w)},
        further=further,
    )


def scale(signals, factors):
    """Multiply measurements by factors, by names of channels."""
    for quantity in signals.measured.keys() & factors.keys():
        series = signals.measured[quantity]
        signals.measured[quantity] = Series(series.time, factors[quantity] * series.value)
    signals.further = [
        dataclasses.replace(one, series=Series(one.series.time, factors.get(one.name, 1.0) * one.series.value))
        for one in signals.further
    ]


def test_a_recording_without_faults_has_no_findings_and_keeps_all_channels(robot):
    found = checked(robot)
    assert found.findings == []
    assert found.further == robot.further


def test_the_checked_recording_is_not_changed(robot):
    scale(robot, {"imu yaw_rate": -1.0})
    robot.findings.append("read by hand")
    kept = list(robot.further)
    assert [finding.split()[0] for finding in checked(robot).findings] == ["read", "imu"]
    assert robot.findings == ["read by hand"]
    assert robot.further == kept


def test_a_mirrored_axis_is_found_in_a_short_recording():
    """A few random steps correlate with themselves at other lags, but far more with the mirrored response."""
    command = steps(0, 1.0)[:500]
    time = TIME[: len(command)]
    signals = Recording({"v_x": Series(time, command)}, {"v_x": Series(time, -lagged(command))})
    with pytest.raises(SignalError, match=r"is -\d\.\d+ times the command .* mirrored"):
        checked(signals)


@pytest.mark.parametrize(
    ("factors", "said"),
    [
        ({"v_x": -1.0}, r"v_x measured \(v_x\) is -1\.\d+ times the command \(correlation -1\.00\).* axis mirrored"),
        ({"yaw_rate": 57.3}, r"is 5\d\.\d+ times the command: is the measurement in degrees\? It must be in rad/s"),
        ({"v_x": 1000.0}, r"is (9\d\d|1\d\d\d) times the command: is the measurement in mm/s\? It must be in m/s"),
    ],
)
def test_main_measurements_that_cannot_be_fitted_are_refused(robot, factors, said):
    scale(robot, factors)
    with pytest.raises(SignalError, match=said):
        checked(robot)


def test_kilometres_per_hour_are_named(robot):
    scale(robot, {"v_x": 3.6, "odom x": 3.6, "odom y": 3.6, "wheel_left_joint": 3.6, "wheel_right_joint": 3.6})
    found = checked(robot)
    assert [finding for finding in found.findings if "is 3." in finding and "is the measurement in km/h?" in finding]


@pytest.mark.parametrize(
    ("factors", "said", "gone"),
    [
        ({"imu yaw_rate": -1.0}, "imu yaw_rate goes against yaw_rate (yaw_rate) (correlation -1.00)", {"imu yaw_rate"}),
        ({"imu yaw_rate": 57.3}, "times yaw_rate (yaw_rate): is one of them in degrees?", {"imu"}),
        ({"odom x": 1e3, "odom y": 1e3}, "times v_x when differentiated: is one of them in mm?", {"odom"}),
        ({"wheel_right_joint": -1.0}, "wheel_right_joint turns backwards when the vehicle drives forward", {"wheel"}),
        (
            {"wheel_left_joint": 57.3, "wheel_right_joint": 57.3},
            "radius is 0.00349 m: are they in revolutions per minute or degrees per second? They must be in rad/s",
            {"wheel"},
        ),
        (
            {"wheel_left_joint": RADIUS, "wheel_right_joint": RADIUS},
            "times v_x: they are in m/s, and must be in rad/s",
            {"wheel"},
        ),
        (
            {"wheel_left_joint": -1.0, "wheel_right_joint": -1.0},
            "wheel_left_joint and wheel_right_joint turn backwards when the vehicle drives forward (correlation -1.00)",
            {"wheel"},
        ),
    ],
)
def test_contradictory_channels_are_named_and_left_out(robot, factors, said, gone):
    scale(robot, factors)
    names = {one.name for one in robot.further}
    found = checked(robot)
    [finding] = found.findings
    assert said in finding
    assert finding.endswith("; left out")
    assert {one.name for one in found.further} == {name for name in names if not name.startswith(tuple(gone))}


@pytest.mark.parametrize("names", [("fl_wheel", "fr_wheel"), ("lr_wheel_joint", "rr_wheel_joint"), ("left", "right")])
@pytest.mark.parametrize("quantity", ["joint_velocity", "joint_position"])
@pytest.mark.parametrize("straight", [True, False])
def test_a_mirrored_wheel_is_found_by_other_names_of_joints(robot, names, quantity, straight):
    *others, left, right = robot.further
    wheels = [
        dataclasses.replace(wheel, name=name, joint=name)
        for wheel, name in zip((left, left if straight else right), names, strict=True)
    ]
    if straight:
        robot.measured.pop("yaw_rate")
        others = []
        signs = {names[0]: 1.0, names[1]: -1.0}
        robot.further = [
            dataclasses.replace(wheel, series=Series(TIME, signs[wheel.name] * robot.measured["v_x"].value / RADIUS))
            for wheel in wheels
        ]
    else:
        robot.further = [*others, *wheels]
        scale(robot, {names[1]: -1.0})
    if quantity == "joint_position":
        robot.further = [
            dataclasses.replace(wheel, quantity=quantity, series=Series(TIME, np.cumsum(wheel.series.value) * 0.02))
            if wheel.joint
            else wheel
            for wheel in robot.further
        ]
    found = checked(robot)
    [finding] = found.findings
    assert finding.startswith(f"{names[1]} turns backwards when the vehicle drives forward")
    assert not any(channel.joint for channel in found.further)


def test_wheels_with_a_known_radius_near_one_metre_are_kept(robot):
    scale(robot, {"wheel_left_joint": RADIUS, "wheel_right_joint": RADIUS})
    assert not checked(robot, wheel_radius=0.9).findings


def test_swapped_wheels_are_named(robot):
    *others, left, right = robot.further
    robot.further = [
        *others,
        dataclasses.replace(left, series=right.series),
        dataclasses.replace(right, series=left.series),
    ]
    found = checked(robot)
    [finding] = found.findings
    assert "wheel_right_joint is slower than wheel_left_joint in left turns" in finding
    assert "-1.00" in finding
    assert "are left and right swapped?" in finding
    assert {one.quantity for one in found.further} == {"x", "y", "heading", "yaw_rate"}


def test_wheels_are_compared_with_the_commands_if_nothing_else_was_measured(robot):
    robot.measured.clear()
    *_, left, right = robot.further
    robot.further = [dataclasses.replace(left, series=right.series), dataclasses.replace(right, series=left.series)]
    found = checked(robot)
    assert "are left and right swapped?" in found.findings[0]


def test_a_channel_of_another_vehicle_is_named(robot):
    other = MeasuredChannel("robot_2 v_x", "v_x", "/robot_2/odom", Series(TIME, lagged(steps(9, 1.0))))
    robot.further.append(other)
    found = checked(robot)
    [finding] = found.findings
    assert finding.startswith("robot_2 v_x contradicts v_x (v_x) (correlation ")
    assert "is it of another vehicle?; left out" in finding
    assert other not in found.further


def test_a_constant_speed_measured_twice_is_no_contradiction():
    """The speeds of a 3 s run at constant speed differ by noise only, so their correlation is small."""
    time = 0.025 * np.arange(120)
    random = np.random.default_rng(3)
    speed = Series(time, 0.38 + 0.002 * random.standard_normal(len(time)))
    place = {"x": 0.38 * time, "y": 0.0 * time, "heading": 0.0 * time}
    further = [
        MeasuredChannel(name, name, "", Series(time, value + 0.005 * random.standard_normal(len(time))))
        for name, value in place.items()
    ]
    recording = Recording({"v_x": Series(time, np.full(len(time), 0.4))}, {"v_x": speed}, further=further)
    assert checked(recording).findings == []
    still = dataclasses.replace(further[0], series=Series(time, 0.005 * random.standard_normal(len(time))))
    [finding] = checked(dataclasses.replace(recording, further=[still, *further[1:]])).findings
    assert finding.startswith("x contradicts v_x when differentiated (correlation ")


def test_a_channel_with_a_small_scale_error_is_kept_and_named(robot):
    scale(robot, {"imu yaw_rate": 1.4})
    found = checked(robot)
    [finding] = found.findings
    assert finding.startswith("imu yaw_rate is 1.")
    assert finding.endswith(" times yaw_rate (yaw_rate): one of them is not calibrated")
    assert "imu yaw_rate" in {one.name for one in found.further}


def car(sign=1.0, factor=1.0):
    angle, speed = lagged(steps(4, 0.5), 0.1), np.full(len(TIME), 1.0) + lagged(steps(5, 0.5))
    yaw_rate = Series(TIME, sign * speed * np.tan(angle) / 1.5)
    return Recording(
        measured={"v_x": Series(TIME, speed), "steering": Series(TIME, factor * angle), "yaw_rate": yaw_rate}
    )


DEGREES = 15.0 * np.sign(lagged(steps(4, 0.5), 0.1))
WITH_OUTLIER = np.where(np.arange(len(TIME)) == 700, 2.0, steps(4, 0.5))


@pytest.mark.parametrize(
    ("sign", "signals", "angles", "turns_against"),
    [
        (1.0, "measured", lagged(steps(4, 0.5), 0.1), False),
        (-1.0, "measured", lagged(steps(4, 0.5), 0.1), True),
        (1.0, "commanded", steps(4, 0.5), False),
        (-1.0, "commanded", steps(4, 0.5), True),
        (-1.0, "commanded", WITH_OUTLIER, True),
        (1.0, "measured", DEGREES, False),
        (1.0, "commanded", DEGREES, False),
    ],
)
def test_a_car_that_turns_against_its_steering_is_named(sign, signals, angles, turns_against):
    recording = car(sign)
    del recording.measured["steering"]
    getattr(recording, signals)["steering"] = Series(TIME, angles)
    said = turning_against_steering(recording)
    assert "turns against its steering (correlation" in said if turns_against else said == ""


def test_a_mirrored_axis_is_found_in_noise():
    rng = np.random.default_rng(7)
    command = steps(0, 1.0)
    measured = -lagged(command) + rng.normal(0.0, 0.6 * np.std(command), len(command))
    with pytest.raises(SignalError, match=r"correlation -0\.[78]\d\).* mirrored"):
        checked(Recording({"v_x": Series(TIME, command)}, {"v_x": Series(TIME, measured)}))


def test_a_steering_angle_in_degrees_is_named():
    signals = car(factor=math.degrees(1.0))
    found = checked(signals)
    assert any("reaches 2" in finding and "is it in degrees, or" in finding for finding in found.findings)


def test_a_clock_in_milliseconds_is_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("time,v_x_command,v_x\n" + "".join(f"{20 * k},1,1\n" for k in range(30)))
    with pytest.raises(SignalError, match=r"column 'time' has steps of 20; it must be in s\. Is it in ms"):
        read_csv(path)


def test_a_slow_ramp_shows_no_lead():
    """With a dead band and air drag a speed may lead its command, but the correlation has no peak."""
    time = 0.1 * np.arange(480)
    command = np.interp(time, [0.0, 1.6, 1.61, 48.0], [0.0, 0.0, 0.22, 0.52])
    speed = np.interp(time, [0.0, 9.5, 12.0, 20.0, 30.0, 40.0, 48.0], [0.0, 0.0, 0.5, 1.5, 2.1, 2.65, 3.0])
    assert checked(Recording({"v_x": Series(time, command)}, {"v_x": Series(time, speed)})).findings == []


@pytest.mark.parametrize("leading", [("v_x", "yaw_rate"), ("yaw_rate",)])
def test_measurements_lead_if_none_of_the_same_commands_follows(robot, leading):
    """The other one may lead by chance, or where a person turns the robot."""
    for quantity in leading:
        series = robot.measured[quantity]
        robot.measured[quantity] = Series(series.time - 0.7, series.value)
    robot = dataclasses.replace(robot, further=[])
    if len(leading) == 2:
        with pytest.raises(SignalError, match=r"the measured \w+ leads the command by 0\.[3-7]\d s"):
            checked(robot)
    else:
        assert checked(robot).findings == []
