"""Measured parameters of a simulated actuator are those that it was given."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.vehicle import actuators
from vds_gz.tools.study.identify.actuator_response import measure
from vds_gz.tools.study.recording import ActuatorSeries

STEP, EVERY = 1e-3, 20
SAMPLE = EVERY * STEP
DURATION = 20.0
#: Time of the first step [s], and levels of the steps, each of which holds until its response has ended.
FIRST, STEPS = 0.513, [1.0, -0.4, 0.7, 0.25, -1.0, 0.0, 0.5, -0.2]


def sampled(drive, steering, commands):
    """Time, reference and response of drive and steering in steps of 1 ms, sampled like a recording."""
    c, s = actuators.drive_coefficients(drive, STEP), actuators.steering_coefficients(steering, STEP)
    driven, steered = actuators.drive_at_rest(c), actuators.steering_at_rest(s)
    times = np.array([command[0] for command in commands])
    held = np.searchsorted(times, STEP * np.arange(round(DURATION / STEP)) + 1e-9, side="right") - 1
    rows = []
    for k, number in enumerate(held, start=1):
        _, speed, angle = commands[number] if number >= 0 else (0.0, 0.0, 0.0)
        actuators.step_drive(c, driven, speed, math.inf)
        actuators.step_steering(s, steered, angle, math.inf)
        if k % EVERY == 0:
            rows.append((k * STEP, speed, driven.velocity, angle, steered.angle))
    return np.array(rows).T


def staircase(height, angle):
    """Commands in steps, at times that do not fall on samples."""
    return [(FIRST + 2.3371 * i, height * step, angle * step) for i, step in enumerate(STEPS)]


def measured(drive, steering, commands):
    """The responses of drive and steering, each measured when the caller takes it."""
    time, drive_reference, speed, steering_reference, angle = sampled(drive, steering, commands)
    at = [command[0] for command in commands]
    yield measure(ActuatorSeries("drive", "drive", time, drive_reference, speed), at)
    yield measure(ActuatorSeries("steering", "steering", time, steering_reference, angle), at)


def assert_times(response, parameters):
    assert response.dead_time == pytest.approx(parameters.dead_time, rel=0.05, abs=SAMPLE)
    assert response.time_constant == pytest.approx(parameters.time_constant, rel=0.05, abs=0.1 * SAMPLE)


def test_all_parameters_that_were_excited_are_found():
    drive, steering = DriveParameters(0.27, 0.31, 1.3, 1.4, 0.9), SteeringParameters(0.53, 0.07, 0.6, 0.4)
    of_drive, of_steering = measured(drive, steering, staircase(2.5, 0.7))
    assert_times(of_drive, drive)
    assert_times(of_steering, steering)
    limits = of_drive.max_rise, of_drive.max_fall, of_drive.max_value
    assert limits == pytest.approx((drive.max_acceleration, drive.max_deceleration, drive.max_velocity), rel=0.02)
    limits = of_steering.max_rise, of_steering.max_fall, of_steering.max_value
    assert limits == pytest.approx((steering.max_velocity, steering.max_velocity, steering.max_position), rel=0.02)


def test_limits_that_were_not_met_are_not_reported():
    drive = DriveParameters(0.19, 0.43, max_velocity=5.0, max_acceleration=100.0)
    steering = SteeringParameters(0.19, 0.43, max_velocity=100.0, max_position=1.2)
    for response, parameters in zip(measured(drive, steering, staircase(2.0, 0.5)), (drive, steering), strict=True):
        assert_times(response, parameters)
        assert response.max_rise is response.max_fall is response.max_value is None
        assert 0.0 < response.reached_rise < 100.0
        assert response.reached_value > 0.4


#: Measured parameters, by those of a drive.
MEASURED = {"dead_time": "dead_time", "time_constant": "time_constant", "max_velocity": "max_value"}
MEASURED |= {"max_acceleration": "max_rise", "max_deceleration": "max_fall"}
MEASURED |= {"gain": "gain", "offset": "offset", "dead_band": "dead_band"}

MAP = {"map_references": (0.0, 0.5, 1.0, 2.0), "map_responses": (0.0, 0.2, 0.9, 1.3)}


def assert_right_or_not_given(response, drive):
    """A measured value is within 2 % (times: within a tenth of a sample), or there is none.

    A dead band that ends between two levels of the commands is within its interval.
    """
    for name, attribute in MEASURED.items():
        value, configured = getattr(response, attribute), getattr(drive, name)
        if name == "max_deceleration":
            configured = configured or drive.max_acceleration
        absolute = 0.1 * SAMPLE if name in ("dead_time", "time_constant") else 1e-3
        if name == "dead_band":
            absolute = response.uncertainty.get(name, absolute)
        assert value is None or value == pytest.approx(configured, rel=0.02, abs=absolute), name


@pytest.mark.parametrize(
    ("static", "limits", "found"),
    [
        ({"gain": 0.9}, (1.2, 1.5), {"gain": 0.9, "max_value": 1.2, "max_rise": 1.5}),
        pytest.param({"gain": 0.9}, (0.0, 0.0), {"gain": 0.9}, marks=pytest.mark.slow),
        ({"offset": 0.1}, (3.0, 0.0), {"offset": 0.1}),
        (MAP, (3.0, 0.0), {}),
        pytest.param({"dead_band": 0.5, "gain": 1.2}, (3.0, 5.0), {}, marks=pytest.mark.slow),
        pytest.param({"gain": 0.85, "offset": -0.1}, (3.0, 5.0), {"offset": -0.1}, marks=pytest.mark.slow),
        pytest.param({"slow_share": 0.3, "slow_time_constant": 3.0}, (0.0, 0.0), {}, marks=pytest.mark.slow),
    ],
    ids=["gain, limits", "gain", "offset", "map", "dead band", "gain, offset", "slow share"],
)
def test_a_steady_state_response_changes_no_other_parameter(static, limits, found):
    drive = DriveParameters(0.12, 0.18, *limits, **static)
    response = next(measured(drive, SteeringParameters(), staircase(1.6, 0.0)))
    expected = {"dead_time": 0.12, "time_constant": 0.18, **found}
    assert {name: getattr(response, name) for name in expected} == pytest.approx(expected, rel=0.01)
    assert_right_or_not_given(response, drive)


def test_a_dead_band_is_between_two_levels_of_the_commands():
    drive = DriveParameters(0.3, 0.09, max_acceleration=3.0, gain=0.7, dead_band=0.7)
    commands = staircase(1.6, 0.0)
    levels = {abs(speed) for _, speed, _ in commands}
    below, above = max(level for level in levels if level < 0.7), min(level for level in levels if level > 0.7)
    response = next(measured(drive, SteeringParameters(), commands))
    assert response.dead_band == pytest.approx(0.5 * (below + above), abs=0.01)
    assert response.uncertainty["dead_band"] == pytest.approx(0.5 * (above - below), abs=0.01)


@pytest.mark.slow
@settings(max_examples=6, phases=(Phase.explicit, Phase.generate))
@given(
    drive=st.builds(
        DriveParameters,
        dead_time=st.floats(0.0, 0.8),
        time_constant=st.floats(0.05, 0.35),
        max_velocity=st.sampled_from([0.0, 1.0, 3.0]),
        max_acceleration=st.sampled_from([0.0, 1.0, 3.0]),
        gain=st.floats(0.6, 1.5),
        offset=st.sampled_from([0.0, 0.1, -0.2]),
        dead_band=st.sampled_from([0.0, 0.3, 0.7]),
    )
)
def test_random_actuators_are_measured_right_or_not_at_all(drive):
    assert_right_or_not_given(next(measured(drive, SteeringParameters(), staircase(1.6, 0.0))), drive)


def test_commands_at_unknown_times_give_wider_intervals():
    parameters = DriveParameters(0.2, 0.25, max_velocity=5.0, max_acceleration=1.3, gain=0.9)
    time, reference, speed, _, _ = sampled(parameters, SteeringParameters(), commands := staircase(2.0, 0.0))
    actuator = ActuatorSeries("drive", "drive", time, reference, speed)
    known, unknown = measure(actuator, [command[0] for command in commands]), measure(actuator)
    assert unknown.uncertainty["dead_time"] > 2.0 * known.uncertainty["dead_time"]
    for response in (known, unknown):
        assert response.dead_time == pytest.approx(0.2, abs=2.0 * response.uncertainty["dead_time"])


@pytest.mark.parametrize(("beyond", "met"), [(1.005, False), (1.03, True)])
def test_a_limit_that_references_barely_exceed_is_not_distinguished_from_late_commands(beyond, met):
    drive = DriveParameters(0.2, 0.2, max_velocity=2.0, max_acceleration=100.0)
    response = next(measured(drive, SteeringParameters(), staircase(2.0 * beyond, 0.0)))
    assert (response.max_value is not None) is met


@pytest.mark.parametrize("commands", [[], [(1.0, 0.0, 0.0)]], ids=["no commands", "commands of zero"])
def test_a_standing_vehicle_has_no_measured_parameters(commands):
    for response in measured(DriveParameters(), SteeringParameters(), commands):
        assert (response.dead_time, response.time_constant, response.max_rise, response.max_value) == (None,) * 4
        assert response.reached_value == 0.0


def test_an_actuator_without_commands_has_no_measured_parameters():
    drive, steering = measured(
        DriveParameters(), SteeringParameters(), [(t, v, 0.0) for t, v, _ in staircase(1.0, 0.0)]
    )
    assert drive.dead_time == pytest.approx(0.2, abs=SAMPLE)
    assert steering.dead_time is None
    assert steering.time_constant is None


def test_an_ideal_actuator_has_no_dead_time_and_no_lag():
    ideal = DriveParameters(0.0, 0.0, 0.0, 0.0)
    drive = next(measured(ideal, SteeringParameters(), staircase(2.0, 0.5)))
    assert drive.dead_time == pytest.approx(0.0, abs=SAMPLE)
    assert drive.time_constant == pytest.approx(0.0, abs=SAMPLE)
    assert drive.max_rise is None


def test_parameters_are_found_in_noise_and_with_lost_samples():
    parameters = DriveParameters(0.25, 0.3, max_velocity=5.0, max_acceleration=2.0)
    commands = staircase(2.0, 0.5)
    time, reference, speed, _, _ = sampled(parameters, SteeringParameters(), commands)
    random = np.random.default_rng(0)
    noisy = speed + random.normal(0.0, 0.02, len(speed))
    kept = random.random(len(time)) > 0.3
    samples = ActuatorSeries("drive", "drive", time[kept], reference[kept], noisy[kept])
    response = measure(samples, [command[0] for command in commands])
    assert response.dead_time == pytest.approx(0.25, abs=SAMPLE)
    assert response.time_constant == pytest.approx(0.3, rel=0.1)
    assert response.max_rise == pytest.approx(2.0, rel=0.05)


def test_equal_stamps_leave_the_maxima_as_they_are():
    time = np.repeat(SAMPLE * np.arange(100), 3)
    response = measure(ActuatorSeries("drive", "drive", time, np.ones(300), np.clip(time - 1.0, 0.0, 0.5)))
    assert response.reached_rise == pytest.approx(1.0)
    assert response.reached_value == 0.5


def test_only_a_part_of_a_long_recording_is_used():
    parameters = DriveParameters(0.25, 0.3, max_velocity=5.0, max_acceleration=100.0)
    commands = staircase(2.0, 0.5)
    time, reference, speed, _, _ = sampled(parameters, SteeringParameters(), commands)
    idle = np.zeros(50 * 3600)
    at = 1.0e4 + SAMPLE * np.arange(2 * len(idle) + len(time))
    references, states = (np.concatenate([idle, values, idle]) for values in (reference, speed))
    came = [at[len(idle)] - time[0] + command[0] for command in commands]
    response = measure(ActuatorSeries("drive", "drive", at, references, states), came)
    assert_times(response, parameters)


@pytest.mark.slow
def test_a_long_dead_time_is_found():
    drive = DriveParameters(4.0, 0.3, max_velocity=5.0, max_acceleration=100.0)
    commands = staircase(2.0, 0.5)[:6]
    assert_times(next(measured(drive, SteeringParameters(), commands)), drive)


def test_a_steering_without_stops_takes_the_short_way():
    steering = SteeringParameters(0.2, 0.1, max_velocity=2.0, max_position=0.0)
    angles = [2.5, -2.5, 3.1, -3.0, 1.0, -1.2]
    commands = [(0.513 + 2.7 * i, 0.0, angle) for i, angle in enumerate(angles)]
    time, _, _, reference, angle = sampled(DriveParameters(), steering, commands)
    response = measure(ActuatorSeries("steering", "steering", time, reference, angle), [at for at, *_ in commands])
    assert_times(response, steering)
    assert response.max_rise == pytest.approx(2.0, rel=0.02)
    assert response.max_value is None
    assert response.reached_value > math.pi / 2


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
import vds_gz.cli.run, vds_gz.cli.compare, vds_gz.cli.replay  # programs that measure along the way
import numpy as np
from vds_gz.tools.study.identify.actuator_response import measure
from vds_gz.tools.study.recording import ActuatorSeries
from vds_gz.tools.study.report.run_figure import SummaryRow

time = 0.02 * np.arange(200)
found = measure(ActuatorSeries("drive", "drive", time, 1.0 * (time > 1.0), np.clip(time - 1.0, 0.0, 1.0)))
print(found.dead_time, found.max_rise, round(found.reached_rise, 6))
print(*SummaryRow("drive", "dead time", "s", 0.2, None).texts(), sep="; ")
print(SummaryRow("drive", "acceleration", "m/s²", 2.0, None, 1.0).texts()[1])
"""


def test_without_numba_maxima_are_known_and_the_missing_package_is_named():
    done = subprocess.run([sys.executable, "-c", WITHOUT_NUMBA], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["None None 1.0", "0.200 s; needs numba", "needs numba; peak 1.000 m/s²"]
