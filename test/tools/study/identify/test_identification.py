"""Identified parameters are those of the simulated vehicles; those of clean recordings are exact."""

import dataclasses

import numpy as np
import pytest
from helpers.identified_vehicles import (
    Case,
    clean,
    presets,
    random_case,
    signals_of,
    tolerance,
    truth,
    with_vehicle,
)

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.actuator_parameters import DriveParameters
from vds_gz.tools.study.compare.sources import simulate
from vds_gz.tools.study.identify.estimation import fit_all
from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.identify.outcome import vehicle_fit
from vds_gz.tools.study.identify.problem.unknowns import set_up
from vds_gz.tools.study.recording import MeasuredChannel, Recording, Series, SignalError

CASES = {case.name: case for case in presets()}


@pytest.mark.parametrize("name", ["indoor_robot", pytest.param("forklift", marks=pytest.mark.slow)])
def test_a_clean_recording_gives_the_exact_parameters(name):
    case = CASES[name]
    fit = identify(clean(case, 13, 12.0), vehicle=case.known())
    for number, true in truth(case.vehicle).items():
        found = fit.numbers.get(number)
        if found is not None:
            assert found.low <= true <= found.high, number
            assert abs(found.value - true) <= tolerance(number, true, {}), number
    assert fit.numbers[f"{'drive_actuators' if name == 'indoor_robot' else 'drive_actuator'}.max_acceleration"]
    for channel in fit.channels:
        assert channel.residual < 1e-3 * np.max(np.abs(channel.measured))
    for prediction in fit.predictions:
        assert prediction.rms < 0.01 * prediction.command


def published(case, rate):
    """A recording of a vehicle that publishes ``rate`` samples per second."""
    return dataclasses.replace(case, parameters=dataclasses.replace(case.parameters, pub_rate=rate))


@pytest.mark.parametrize("rate", [30.0, *(pytest.param(rate, marks=pytest.mark.slow) for rate in (60.0, 70.0))])
def test_publishing_rates_that_do_not_divide_the_step_rate_do_not_shift_dead_times(rate):
    case = published(random_case("differential", 0), rate)
    fit = identify(clean(case, 0, 10.0), vehicle=case.known(), hold_out=0.0)
    true = truth(case.vehicle)["drive_actuators.dead_time"]
    assert fit.numbers["drive_actuators.dead_time"].value == pytest.approx(true, abs=1e-4)


def test_a_dead_time_between_two_steps_is_not_identified_as_a_rate_limit():
    """A limit that acts only between two samples delays the rest as a dead time does."""
    dead_time, time_constant, time = 0.1004, 0.1, 0.02 * np.arange(1, 275)
    commands = Series(0.1 * np.arange(55), np.repeat([0.0, 0.2, 0.0], [15, 20, 20]))

    def rising(since):
        return 1.0 - np.exp(-np.maximum(time - since - dead_time, 0.0) / time_constant)

    [axis] = identify(Recording({"v_x": commands}, {"v_x": Series(time, 0.2 * (rising(1.5) - rising(3.5)))}))
    assert axis.numbers["dead_time"].value == pytest.approx(dead_time, abs=1e-5)
    assert axis.numbers["time_constant"].value == pytest.approx(time_constant, abs=1e-5)
    assert axis.numbers["rise"] is None


@pytest.mark.slow
def test_states_that_change_between_steps_are_not_assumed_to_hold():
    case = published(random_case("differential", 0), 1000.0)
    signals = clean(case, 0, 10.0)
    time = np.arange(1.0 / 60.0, 10.0, 1.0 / 60.0)
    for name, one in signals.measured.items():
        signals.measured[name] = Series(time, np.interp(time, one.time, one.value))
    fit = identify(signals, vehicle=case.known(), hold_out=0.0)
    true = truth(case.vehicle)["drive_actuators.dead_time"]
    assert fit.numbers["drive_actuators.dead_time"].value == pytest.approx(true, abs=1e-4)


@pytest.mark.slow
def test_jitter_of_commands_leaves_the_limits_in_their_intervals():
    """The vehicle takes each command a little later than the recorder, so whole ramps come late."""
    case = CASES["indoor_robot"]
    drive = DriveParameters(0.1, 0.1, 2.0, 3.0, 3.0)
    quick = with_vehicle(case.parameters, dataclasses.replace(case.vehicle, drive_actuators=drive))
    log = Case("quick", quick, {"speed": 2.5, "yaw_rate": 1.0}).log(2, 30.0)
    sent = np.arange(0.0, log.times[-1], 0.02)
    held = np.searchsorted(np.array(log.times), sent + 1e-9, side="right") - 1
    random = np.random.default_rng(2)
    taken, seen = (np.maximum.accumulate(sent + 1e-3 * random.exponential(size=len(sent))) for _ in range(2))
    seen, taken = seen - taken[0], taken - taken[0]
    sent_log = dataclasses.replace(log, times=tuple(taken), commands=tuple(log.commands[k] for k in held))
    signals = signals_of(sent_log, simulate(sent_log, quick))
    for name, one in signals.commanded.items():
        signals.commanded[name] = Series(seen, one.value)
    fit = identify(signals, vehicle=Case("quick", quick, {}).known())
    for name in ("max_acceleration", "max_deceleration"):
        found = fit.numbers[f"drive_actuators.{name}"]
        assert found.low <= 3.0 <= found.high
        assert found.high - found.low < 0.05
    for prediction in fit.predictions:
        assert prediction.rms < 0.1 * prediction.command


def test_a_latency_is_distinguished_from_the_dead_time_of_the_actuator():
    case = random_case("bicycle fs rd", 3)
    signals = clean(case, 1, 7.0)
    yaw_rate = signals.measured["yaw_rate"]
    signals.measured["yaw_rate"] = Series(yaw_rate.time + 0.03, yaw_rate.value)
    fit = identify(signals, vehicle=case.known(), hold_out=0.0)
    assert fit.calibrations["yaw_rate latency"].value == pytest.approx(0.03, abs=1e-5)
    true = truth(case.vehicle)["steering_actuator.dead_time"]
    assert fit.numbers["steering_actuator.dead_time"].value == pytest.approx(true, abs=1e-5)


def test_the_variant_of_a_bicycle_and_its_wheel_base_follow_from_its_motion():
    case = CASES["forklift"]
    signals = clean(case, 4, 7.0)
    fit = identify(signals, hold_out=0.0)
    assert (fit.parameters.drive_on_steered_wheel, fit.parameters.reverse) == (True, True)
    assert fit.numbers["wheel_base"].value == pytest.approx(2.0, rel=1e-3)
    [turns] = (finding for finding in fit.findings if "turns against" in finding)
    assert "as one whose rear axle steers; if it does not, the yaw rate or the steering angle is mirrored" in turns


@pytest.mark.slow
def test_a_vehicle_with_a_given_rear_steering_has_no_finding_on_it():
    case = CASES["forklift"]
    signals = clean(case, 4, 4.0)
    fit = identify(signals, vehicle=case.known(), hold_out=0.0)
    assert not [one for one in fit.findings if "turns against" in one]


def test_errors_name_the_recording_if_there_are_several():
    case = CASES["indoor_robot"]
    right, mirrored = clean(case, 1, 10.0), clean(case, 2, 10.0)
    speed = mirrored.measured["v_x"]
    mirrored.measured["v_x"] = Series(speed.time, -speed.value)
    with pytest.raises(SignalError, match=r"^recording 2: v_x measured .* is -0\.\d+ times the command"):
        identify([right, mirrored])


def test_a_yaw_rate_against_the_commanded_steering_of_a_given_car_is_refused():
    case = random_case("bicycle fs rd", 3)
    signals = clean(case, 1, 20.0)
    del signals.measured["steering"]
    yaw_rate = signals.measured["yaw_rate"]
    signals.measured["yaw_rate"] = Series(yaw_rate.time, -yaw_rate.value)
    with pytest.raises(SignalError, match=r"turns against its steering .* mirrored .*reverse: true"):
        identify(signals, vehicle=case.known())


@pytest.mark.slow
def test_recordings_with_different_offsets_are_fitted_together():
    case = random_case("bicycle fs rd", 3)
    first, second = clean(case, 1, 10.0), clean(case, 2, 10.0)
    shifted = second.measured["v_x"]
    second.measured["v_x"] = Series(shifted.time, shifted.value + 0.01)
    fit = identify([first, second], vehicle=case.known(), fit=("wheel_base",))
    assert fit.numbers["wheel_base"].value == pytest.approx(case.vehicle.wheel_base, rel=1e-3)
    assert fit.calibrations["v_x offset of recording 2"].value == pytest.approx(0.01, abs=1e-4)
    assert {one.recording for one in fit.channels} == {0, 1}


@pytest.mark.slow
def test_a_channel_that_is_nearly_always_constant_is_fitted():
    random, times = np.random.default_rng(0), 0.05 * np.arange(300)
    speeds = np.repeat([0.5, 1.0, 0.2, 0.8, 0.0, 1.0], 50)
    turning, turned = (np.where((times >= begin) & (times < begin + 0.15), 0.5, 0.0) for begin in (7.5, 7.8))
    measured = {"v_x": 0.9 * speeds + 0.01 * random.standard_normal(len(times)), "yaw_rate": turned}
    fit = identify(
        Recording(
            {"v_x": Series(times, speeds), "yaw_rate": Series(times, turning)},
            {name: Series(times, values) for name, values in measured.items()},
        )
    )
    assert fit.numbers["drive_actuators.gain"].value == pytest.approx(0.9, abs=0.01)
    assert {prediction.quantity for prediction in fit.predictions} == {"v_x", "yaw_rate"}


@pytest.mark.slow
def test_little_understeer_is_not_at_the_bound_of_its_range():
    case = CASES["ackermann_car"]
    vehicle = dataclasses.replace(case.vehicle, understeer_gradient=8e-5)
    case = dataclasses.replace(case, parameters=with_vehicle(case.parameters, vehicle))
    known = case.known()
    known = with_vehicle(known, dataclasses.replace(known.vehicle, understeer_gradient=0.02))
    fit = identify(clean(case, 1, 12.0), vehicle=known, hold_out=0.0)
    assert fit.parameters.understeer_gradient == pytest.approx(8e-5, rel=0.01)
    assert not any("no value in its range" in finding for finding in fit.findings)


def test_a_sensor_of_only_the_part_held_out_has_no_score():
    case = CASES["indoor_robot"]
    signals = clean(case, 1, 15.0)
    yaw_rate = signals.measured["yaw_rate"]
    late = yaw_rate.time > 0.9 * yaw_rate.time[-1]
    series = Series(yaw_rate.time[late], yaw_rate.value[late])
    signals.further = [MeasuredChannel("imu yaw_rate", "yaw_rate", "imu", series)]
    fit = identify(signals, vehicle=case.known())
    assert "imu yaw_rate" in {one.name for one in fit.channels}
    assert {one.quantity for one in fit.predictions} == {"v_x", "yaw_rate"}


@pytest.mark.parametrize("part", [-0.1, 1.0, float("nan")])
def test_an_invalid_hold_out_is_refused(part):
    with pytest.raises(ArgumentError, match=rf"hold_out is {part}; it must be at least 0 \(no score\) and less than 1"):
        identify(clean(CASES["indoor_robot"], 1, 5.0), hold_out=part)


@pytest.mark.slow
def test_wheel_base_and_base_link_offset_are_found_on_request():
    case = random_case("bicycle rs fd", 3)
    car = dataclasses.replace(case.vehicle, base_link_offset=0.31, wheel_base=1.3)
    built = Case("car", with_vehicle(case.parameters, car), case.reach)
    guessed = dataclasses.replace(built.known().vehicle, wheel_base=1.2, base_link_offset=0.1)
    known = with_vehicle(case.parameters, guessed)
    fit = identify(clean(built, 1, 10.0), vehicle=known, fit=("wheel_base", "base_link_offset"), hold_out=0.0)
    assert fit.numbers["wheel_base"].value == pytest.approx(1.3, rel=1e-3)
    assert fit.numbers["base_link_offset"].value == pytest.approx(0.31, rel=1e-3)


def test_a_limit_that_was_met_stays_in_the_vehicle_even_if_its_interval_is_wide():
    case = CASES["indoor_robot"]
    setup = set_up([clean(case, 12, 10.0)], vehicle=case.known(), wheel_base=None, fit=(), priors={})
    found = fit_all(setup)
    name = "drive_actuators.max_acceleration"
    wide = dataclasses.replace(found.intervals, low=found.intervals.low.copy())
    wide.low[setup.family.index(name)] -= 1.0
    certain, rough = (vehicle_fit(dataclasses.replace(found, intervals=one)) for one in (found.intervals, wide))
    assert rough.numbers[name] is None
    assert rough.parameters == certain.parameters
    said = f"{name}: a limit of about 1 m/s² was met, but the recording determines it only roughly"
    assert said in rough.findings
    assert said not in certain.findings


def test_wheels_and_hinges_are_used_only_if_their_geometry_is_known_or_fitted():
    case = CASES["ackermann_car"]
    wheels = ("fixed_wheel_left_joint", "joint_velocity"), ("steering_left", "joint_position")

    def used(vehicle, fit):
        signals = clean(case, 4, 5.0)
        series = signals.measured["v_x"]
        signals.further = [MeasuredChannel(name, quantity, "joints", series, name) for name, quantity in wheels]
        setup = set_up([signals], vehicle=vehicle, wheel_base=None, fit=fit, priors={})
        assert signals.findings == []
        return {one.name for one in setup.channels[0]} & {name for name, _ in wheels}, setup.recordings[0].findings

    every = {name for name, _ in wheels}
    left, [finding] = used(None, ())
    assert left == set()
    assert finding.startswith(
        "fixed_wheel_left_joint, steering_left: left out, as they need the vehicle's tire_diameter"
    )
    assert finding.endswith("(--fit tire_diameter,track_fixed,track_steered)")
    assert used(None, ("tire_diameter", "track_fixed"))[0] == {"fixed_wheel_left_joint"}
    assert used(None, ("all",)) == (every, [])
    assert used(case.known(), ()) == (every, [])
