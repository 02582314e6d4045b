"""Gains of different left and right wheels are identified, or findings name what they are confounded with.

Wheel speeds are those of the vehicle without gains; the motion of the body by the gains is computed here.
"""

from dataclasses import replace

import numpy as np
import pytest
from helpers.identified_vehicles import Case, disturbed, presets, random_case, signals_of
from helpers.sampling import sampled
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.cli import main
from vds_gz.core.configuration import load_parameters
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.vehicles import DifferentialParameters
from vds_gz.core.parameters.yaml_reader import Interval
from vds_gz.core.vehicle.command import TWIST
from vds_gz.core.vehicle.differential import DIFFERENTIAL
from vds_gz.core.vehicle.schedule import command_records
from vds_gz.tools.fleet.sampled import Readings
from vds_gz.tools.study.compare.sources import simulate
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.identify.problem.observed import SidedParameters, sided_model
from vds_gz.tools.study.identify.results import VehicleFit
from vds_gz.tools.study.identify.wheel_calibration import with_wheel_gains
from vds_gz.tools.study.recording import MeasuredChannel, Recording, Series

LEFT, RIGHT = 0.98, 1.03
GAINS = ("left wheel gain", "right wheel gain")

CASES = {case.name: case for case in presets()}

#: Samples that are used of a recording in steps of 1 ms.
EVERY = slice(None, None, 20)


def wheel(side, time, speed, joint="wheel_{}_joint"):
    """Speed of a wheel's joint."""
    name = joint.format(side)
    return MeasuredChannel(name, "joint_velocity", "joints", Series(time[EVERY], speed[EVERY]), name)


def recorded(case, seed, *, measured=("v_x", "yaw_rate"), wheels=False, poses=False, duration=10.0):
    """A vehicle with two drives whose wheels roll :data:`LEFT` and :data:`RIGHT` times as far as they should."""
    log = case.log(seed, duration)
    run = simulate(log, replace(case.parameters, pub_rate=1000.0))
    left, right = (
        next(actuator for actuator in run.actuators if actuator.name == f"drive_{side}") for side in ("left", "right")
    )
    time, signals = left.time, signals_of(log, run)
    v_x = 0.5 * (RIGHT * right.response + LEFT * left.response)
    yaw_rate = (RIGHT * right.response - LEFT * left.response) / case.vehicle.track
    found = {"v_x": v_x, "yaw_rate": yaw_rate}
    signals.measured = {name: Series(time[EVERY], found[name][EVERY]) for name in measured}
    if wheels:
        radius = 0.5 * case.vehicle.tire_diameter
        signals.further = [wheel(one.name[6:], time, one.response / radius) for one in (left, right)]
    if poses:
        heading = np.cumsum(yaw_rate) * 1e-3
        middle = heading - 0.5e-3 * yaw_rate
        pose = {"x": np.cumsum(v_x * np.cos(middle)) * 1e-3, "y": np.cumsum(v_x * np.sin(middle)) * 1e-3}
        for name, values in (pose | {"heading": heading}).items():
            signals.further.append(MeasuredChannel(f"odom {name}", name, "odom", Series(time[EVERY], values[EVERY])))
    return signals


def only(case, **reach):
    """The same vehicle, commanded to go straight ahead or to turn on the spot."""
    return Case(case.name, case.parameters, {"speed": 1e-9, "yaw_rate": 1e-9} | reach)


def still(signals, quantity):
    """The same with a command of 0."""
    series = signals.commanded[quantity]
    return replace(signals, commanded={**signals.commanded, quantity: Series(series.time, 0.0 * series.value)})


ROBOT = random_case("differential", 3)


@pytest.mark.parametrize(
    ("how", "separable"),
    [
        ({}, False),
        ({"wheels": True}, True),
        pytest.param({"measured": (), "poses": True}, False, marks=pytest.mark.slow),
        pytest.param({"measured": ("yaw_rate",)}, False, marks=pytest.mark.slow),
    ],
)
def test_wheel_gains_are_identified_from_any_set_of_measurements(how, separable):
    fit = identify(recorded(ROBOT, 1, **how), vehicle=ROBOT.known(), fit=("wheel_gains",), hold_out=0.0)
    for name, true in zip(GAINS, (LEFT, RIGHT), strict=True):
        assert fit.calibrations[name].value == pytest.approx(true, rel=1e-3)
        assert fit.calibrations[name].low <= true <= fit.calibrations[name].high
    plain = identify(recorded(ROBOT, 1, **how), vehicle=ROBOT.known(), hold_out=0.0)
    assert fit.parameters == plain.parameters, "gains of wheels leave the file as it is"
    assert fit.numbers == plain.numbers
    assert any("calibrate odometry" in finding for finding in fit.findings)
    left_out = [finding for finding in fit.findings if ": taken as 1; without measured wheel speeds" in finding]
    assert [one.startswith("v_x gain") for one in left_out] == ([] if separable else [True])
    assert fit.parameters.tire_diameter == 0.4
    diameters = [finding for finding in fit.findings if "left wheel: diameter" in finding]
    assert ["0.392 m" in finding and "its gain times the given 0.4 m" in finding for finding in diameters] == (
        [True] if separable else []
    ), "without measured wheels the gains include those of the commands"


def test_straight_and_turning_motion_distinguish_the_track_from_the_gains():
    guessed = replace(ROBOT.known().vehicle, track=1.1 * ROBOT.vehicle.track)
    known = replace(ROBOT.parameters, model_params={"differential": guessed})
    fit = identify(recorded(ROBOT, 1, wheels=True), vehicle=known, fit=("track", "wheel_gains"), hold_out=0.0)
    assert fit.numbers["track"].value == pytest.approx(ROBOT.vehicle.track, rel=1e-3)
    assert fit.calibrations[GAINS[0]].value == pytest.approx(LEFT, rel=1e-3)
    assert fit.calibrations[GAINS[1]].value == pytest.approx(RIGHT, rel=1e-3)


@pytest.mark.parametrize("measured", ["v_x", pytest.param("yaw_rate", marks=pytest.mark.slow)])
def test_a_track_with_the_gains_needs_a_speed_and_a_yaw_rate_or_an_exact_command(measured):
    signals = recorded(ROBOT, 1, measured=(measured,), wheels=True, duration=12.0)
    fit = identify(signals, vehicle=ROBOT.known(), fit=("track", "wheel_gains"), hold_out=0.0)
    assert any(finding.startswith("yaw_rate gain: taken as 1; a speed and a yaw rate") for finding in fit.findings)
    assert fit.numbers["track"].value == pytest.approx(ROBOT.vehicle.track, rel=1e-3)


@pytest.mark.slow
def test_intervals_contain_the_gains_as_often_as_promised():
    held = 0
    for seed in range(10):
        noisy = disturbed(recorded(ROBOT, seed, duration=30.0), np.random.default_rng(seed))
        fit = identify(noisy, vehicle=ROBOT.known(), fit=("wheel_gains",), hold_out=0.0)
        for name, true in zip(GAINS, (LEFT, RIGHT), strict=True):
            held += fit.calibrations[name].low <= true <= fit.calibrations[name].high
    assert held >= 17


@pytest.mark.parametrize("wheels", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_gains_that_straight_motion_does_not_distinguish_are_named(wheels):
    signals = recorded(only(ROBOT, speed=2.0), 1, measured=("v_x",), wheels=wheels)
    fit = identify(still(signals, "yaw_rate"), vehicle=ROBOT.known(), fit=("wheel_gains",), hold_out=0.0)
    assert [fit.calibrations[name] for name in GAINS] == [None, None]
    said = "left wheel gain and right wheel gain are not distinguishable in this recording; no interval is given"
    assert f"with gains of wheels: {said}" in fit.findings


def test_the_gain_of_the_yaw_rate_is_left_out_if_nothing_else_was_commanded():
    signals = still(recorded(only(ROBOT, yaw_rate=2.5), 1, duration=12.0), "v_x")
    fit = identify(signals, vehicle=ROBOT.known(), fit=("wheel_gains",), hold_out=0.0)
    assert any(finding.startswith("yaw_rate gain: taken as 1") for finding in fit.findings)
    assert fit.calibrations[GAINS[0]].value == pytest.approx(LEFT, rel=1e-3)


def test_a_finding_says_that_the_yaw_rate_s_gain_and_the_effective_track_are_one_effect():
    gains = dict.fromkeys(GAINS, Estimate(1.0, 0.99, 1.01))
    rows = DifferentialParameters(effective_track=1.3), {"effective_track": Estimate(1.3, 1.2, 1.4)}
    plain = VehicleFit("differential", *rows, {}, {}, (), (), ())
    said = "yaw_rate gain and effective_track describe one effect"
    for turning in (None, Estimate(0.92, 0.9, 0.94)):
        calibrated = VehicleFit("differential", *rows, {**gains, "yaw_rate gain": turning}, {}, (), (), ())
        findings = with_wheel_gains(plain, calibrated).findings
        assert sum(finding.startswith(said) for finding in findings) == (turning is not None)


@pytest.mark.parametrize("effective", [0.0, 0.6])
def test_the_track_of_the_wheels_does_not_change_the_motion(effective):
    number = Estimate(0.48, 0.47, 0.49)
    numbers = {"effective_track": Estimate(effective, 0.5, 0.7)} if effective else {}
    parameters = DifferentialParameters(track=0.5, effective_track=effective)
    plain = VehicleFit("differential", parameters, numbers, {}, {}, (), (), ())
    fit = with_wheel_gains(plain, replace(plain, numbers={"track": number}))
    before, after = (one.track / (one.effective_track or one.track) for one in (parameters, fit.parameters))
    assert fit.parameters.track == 0.48
    assert after == pytest.approx(before)


@pytest.mark.slow
def test_wheels_of_unknown_diameter_are_left_out():
    fit = identify(recorded(ROBOT, 1, wheels=True), fit=("wheel_gains",), hold_out=0.0)
    [finding] = (one for one in fit.findings if "left out" in one)
    assert finding.startswith("wheel_left_joint, wheel_right_joint: left out, as they need the vehicle's tire_diameter")
    assert finding.endswith("(--params)")
    assert fit.calibrations[GAINS[1]].value == pytest.approx(RIGHT, rel=1e-3)
    assert [one for one in fit.findings if "diameter" in one] == [finding]


@pytest.mark.slow
def test_a_prior_of_a_gain_is_used():
    noisy = disturbed(recorded(ROBOT, 1), np.random.default_rng(1))
    known = {GAINS[0]: Interval(LEFT, LEFT - 1e-4, LEFT + 1e-4)}
    fit = identify(noisy, vehicle=ROBOT.known(), fit=("wheel_gains",), priors=known, hold_out=0.0)
    assert fit.calibrations[GAINS[0]].value == pytest.approx(LEFT, abs=1e-4)
    assert fit.calibrations[GAINS[0]].high - fit.calibrations[GAINS[0]].low < 3e-4


# ---------------------------------------------------------------------- cars

CAR = random_case("bicycle fs rd", 3)


def car(seed, **wheels):
    """A car with the speeds of some of its wheels, whose diameters differ."""
    log = CAR.log(seed, 10.0)
    run = simulate(log, CAR.parameters)
    signals = signals_of(log, run)
    motion, half, radius = run.motion, 0.5 * CAR.vehicle.track_fixed, 0.5 * CAR.vehicle.tire_diameter
    for side, gain in wheels.items():
        contact = motion.v_x + (half if side == "right" else -half) * motion.yaw_rate
        name = f"fixed_wheel_{side}_joint"
        series = Series(motion.time, contact / (gain * radius))
        signals.further.append(MeasuredChannel(name, "joint_velocity", "joints", series, name))
    return signals


def test_wheel_speeds_and_the_speed_of_a_car_determine_the_diameters():
    guessed = replace(CAR.known().vehicle, track_fixed=1.2 * CAR.vehicle.track_fixed)
    known = replace(CAR.parameters, model_params={"bicycle": guessed})
    signals = car(1, left=LEFT, right=RIGHT)
    fit = identify(signals, vehicle=known, fit=("track_fixed", "wheel_gains"), hold_out=0.0)
    assert fit.calibrations[GAINS[0]].value == pytest.approx(LEFT, rel=1e-3)
    assert fit.calibrations[GAINS[1]].value == pytest.approx(RIGHT, rel=1e-3)
    assert fit.parameters.drive_actuator.gain == pytest.approx(1.0, rel=1e-3)
    assert fit.numbers["track_fixed"].value == pytest.approx(CAR.vehicle.track_fixed, rel=1e-3)


@pytest.mark.slow
def test_a_car_without_wheel_speeds_has_no_wheel_gains():
    fit = identify(car(1), vehicle=CAR.known(), fit=("wheel_gains",), hold_out=0.0)
    assert [fit.calibrations[name] for name in GAINS] == [None, None]
    names = " and ".join(GAINS)
    assert f"{names} need measured speeds of a left and a right wheel; the recording has none" in fit.findings


@pytest.mark.slow
def test_wheel_gains_are_relative_to_the_commands_if_only_wheels_were_measured():
    signals = car(1, left=LEFT, right=RIGHT)
    signals.measured = {}
    fit = identify(signals, vehicle=CAR.known(), fit=("wheel_gains",), hold_out=0.0)
    assert fit.calibrations[GAINS[0]].value == pytest.approx(LEFT, rel=1e-3)
    assert fit.numbers["drive_actuator.gain"] is None


# ---------------------------------------------------------------------- the forward model


@settings(max_examples=20, deadline=None)
@given(st.floats(0.5, 2.0), st.floats(0.5, 2.0), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_each_wheel_moves_its_side_by_its_gain(left, right, v_x, yaw_rate):
    vehicle = DifferentialParameters()
    numbers = ("v_x", "yaw_rate", "left.velocity", "right.velocity", "roll_left", "x")
    read = Readings(np.full(6, 900), numbers, np.arange(6), np.arange(6), np.ones(6), 6)
    given_ = command_records(kind=[TWIST], v_x=[v_x], yaw_rate=[yaw_rate]), np.array([0]), read
    plain = sampled(DIFFERENTIAL, [vehicle], *given_)[:, 0]
    equal, other = sampled(
        sided_model(DIFFERENTIAL), [SidedParameters(vehicle, 1.0, 1.0), SidedParameters(vehicle, left, right)], *given_
    ).T
    assert equal.tobytes() == plain.tobytes(), "equal wheels change no bit"
    assert other[2:5].tobytes() == plain[2:5].tobytes(), "drives and wheels' joints know nothing of it"
    assert other[0] == 0.5 * (left * plain[2] + right * plain[3])
    assert other[1] == pytest.approx((right * plain[3] - left * plain[2]) / vehicle.track, rel=1e-15)


# ---------------------------------------------------------------------- requests


@pytest.mark.parametrize(
    ("case", "fit", "said"),
    [
        (CASES["indoor_robot"], ("wheel_gain",), "track, tire_diameter, .*wheel_gains, all$"),
        (CASES["indoor_robot"], ("tire_diameter", "wheel_gains"), "cannot be fitted together: .*; leave one of them"),
        (CASES["vds_defaults omni"], ("wheel_gains",), "'wheel_gains' cannot be fitted; it must be one of"),
    ],
)
def test_names_that_cannot_be_fitted_are_refused_with_those_that_can(case, fit, said):
    still_ = Series(0.02 * np.arange(100), np.zeros(100))
    with pytest.raises(ArgumentError, match=said):
        identify(Recording({"v_x": still_}, {"v_x": still_}), vehicle=case.known(), fit=fit)


@pytest.mark.slow
def test_all_geometry_with_wheel_gains_excludes_the_diameter():
    fit = identify(recorded(ROBOT, 1, wheels=True), vehicle=ROBOT.known(), fit=("all", "wheel_gains"), hold_out=0.0)
    assert {"track", "base_link_offset"} <= fit.numbers.keys()
    assert "tire_diameter" not in fit.numbers
    assert fit.calibrations[GAINS[1]].value == pytest.approx(RIGHT, rel=1e-3)


def test_the_command_line_prints_the_diameter_of_each_wheel(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    signals = recorded(CASES["indoor_robot"], 1, wheels=True, duration=12.0)
    columns = {f"{name}_command": one for name, one in signals.commanded.items()} | signals.measured
    columns |= {f"{channel.joint}_velocity": channel.series for channel in signals.further}
    time = signals.measured["v_x"].time
    rows = [time, *(column.value[np.searchsorted(column.time, time, side="right") - 1] for column in columns.values())]
    header = ",".join(["time", *columns])
    np.savetxt("log.csv", np.array(rows).T, delimiter=",", header=header, comments="", fmt="%.9g")
    assert main(["identify", "log.csv", "--preset", "indoor_robot", "--fit", "wheel_gains"]) == 0
    said = capsys.readouterr().out
    diameter = load_parameters("indoor_robot").vehicle.tire_diameter
    assert "calibration  left wheel gain" in said
    assert f"finding: right wheel: diameter {RIGHT * diameter:.3f}" in said
    assert main(["identify", "log.csv", "--preset", "indoor_robot", "--fit", "wheel_gain"]) == 2
    assert "'wheel_gain' cannot be fitted; it must be one of" in capsys.readouterr().err
