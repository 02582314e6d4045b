"""Robots that limit their velocities behind the lag, or whose columns are late: no interval excludes the truth."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.signal import lfilter

from vds_gz import read_commands
from vds_gz.core.configuration import parameters_of
from vds_gz.core.parameters.declaration import Override
from vds_gz.tools.study.compare.sources import simulate
from vds_gz.tools.study.identify.actuator import ActuatorFit
from vds_gz.tools.study.identify.estimates import Estimate
from vds_gz.tools.study.identify.exports import overrides
from vds_gz.tools.study.identify.identification import identify
from vds_gz.tools.study.identify.single_axes import SingleAxis, axis_words
from vds_gz.tools.study.recording import Recording, Series

GROUP = "model_params.differential"
GIVEN = [Override("model", "differential"), Override(f"{GROUP}.track", 0.4), Override(f"{GROUP}.tire_diameter", 0.15)]
STEP, SAMPLE, COMMANDS = 1e-3, 0.05, 0.053


@dataclass(frozen=True)
class Robot:
    """A robot with equal dead time, lag and gain of both velocities."""

    limits: tuple[float, float] = (np.inf, np.inf)  # of the rates of speed and yaw rate [m/s^2, rad/s^2]
    behind: bool = True  # the limits act behind the lag, else on the commands
    latency: float = 0.0  # of the yaw rate's measurement [s]
    dead_time: float = 0.15
    time_constant: float = 0.3
    gain: float = 0.9


def response(commands, robot, limit):
    """A velocity in steps, from its commands in steps."""
    late = round(robot.dead_time / STEP)
    delayed = np.concatenate([np.zeros(late), commands])[: len(commands)]
    part = -np.expm1(-STEP / robot.time_constant)
    velocity = limited = 0.0
    result = np.empty(len(commands))
    for k, command in enumerate(delayed):
        if robot.behind:
            target = velocity + part * (robot.gain * command - velocity)
            velocity += float(np.clip(target - velocity, -limit * STEP, limit * STEP))
        else:
            limited += float(np.clip(command - limited, -limit * STEP, limit * STEP))
            velocity += part * (robot.gain * limited - velocity)
        result[k] = velocity
    return result


def recorded(robot, duration=50.0, seed=1, noise=(0.02, 0.03), correlation=0.0):
    """A recording of random steps with noise, of which successive samples have a correlation."""
    random = np.random.default_rng(seed)
    levels = {"v_x": [0.0, 0.3, 0.6, 1.0, -0.4], "yaw_rate": [0.0, 0.5, -0.5, 1.0, -1.0]}
    times = COMMANDS * np.arange(1, int(duration / COMMANDS))
    grid, samples = STEP * np.arange(int(duration / STEP)), SAMPLE * np.arange(1, int(duration / SAMPLE))
    commanded, measured = {}, {}
    for (name, values), limit, sigma in zip(levels.items(), robot.limits, noise, strict=True):
        changes = np.cumsum(random.choice([0.6, 1.2, 2.5, 4.0], len(times)))
        value = random.choice(values, len(times))[np.searchsorted(changes, times)]
        held = np.where(grid < times[0], 0.0, value[np.searchsorted(times, grid, side="right") - 1])
        seen = samples - (robot.latency if name == "yaw_rate" else 0.0)
        exact = np.interp(seen, grid + STEP, response(held, robot, limit))
        commanded[name] = Series(times, value)
        white = math.sqrt(1.0 - correlation**2) * random.standard_normal(len(samples))
        measured[name] = Series(samples, exact + sigma * lfilter([1.0], [1.0, -correlation], white))
    return Recording(commanded, measured)


def truth(robot):
    """The robot's values, by the names of terms."""
    numbers = {name: getattr(robot, name) for name in ("dead_time", "time_constant", "gain")}
    true = {f"drive_actuators.{name}": value for name, value in numbers.items()}
    true |= {"max_linear_acceleration": robot.limits[0], "max_angular_acceleration": robot.limits[1]}
    return true | {"yaw_rate latency": robot.latency, "effective_track": 0.4}


ROBOTS = {
    "speed limited": Robot((0.8, np.inf)),
    "both limited": Robot((0.8, 2.0)),
    "yaw rate limited": Robot((np.inf, 1.5)),
    "late yaw rate": Robot(latency=0.1),
    "both limited, late yaw rate": Robot((0.8, 2.0), latency=0.1),
    "both limited before the lag": Robot((0.8, 2.0), behind=False),
}


@pytest.mark.parametrize(
    "name",
    [
        "speed limited",
        "both limited before the lag",
        *(pytest.param(name, marks=pytest.mark.slow) for name in list(ROBOTS)[1:-1]),
    ],
)
def test_no_interval_excludes_the_truth_and_the_verdict_is_that_of_the_file(name, tmp_path):
    robot, given = ROBOTS[name], parameters_of(GIVEN)
    recording = recorded(robot)
    fit = identify(recording, vehicle=given)
    estimates = fit.numbers | fit.calibrations
    for term, true in truth(robot).items():
        if (number := estimates.get(term)) is not None:
            slack = 0.1 * (number.high - number.low)  # of 95 % intervals, some are beside the truth
            assert number.low - slack <= true <= number.high + slack, f"{term} {number}"
    if robot.latency and estimates["yaw_rate latency"]:
        assert any("yaw_rate latency" in finding and "standard deviations" in finding for finding in fit.findings)
    log = tmp_path / "log.csv"
    v_x, yaw_rate = (recording.commanded[quantity] for quantity in ("v_x", "yaw_rate"))
    columns = np.column_stack((v_x.time, v_x.value, 0.0 * v_x.value, yaw_rate.value))
    np.savetxt(log, columns, delimiter=",", header="time,v_x,v_y,yaw_rate", comments="")
    run = simulate(read_commands(log), parameters_of([*GIVEN, *overrides(fit, given)]))
    for prediction in fit.predictions:
        quantity = prediction.quantity
        measured = recording.measured[quantity]
        late = measured.time > v_x.time[-1] - prediction.duration
        late &= measured.time <= v_x.time[-1]
        replayed = np.interp(measured.time - v_x.time[0], run.measured[quantity].time, run.measured[quantity].value)
        error = np.sqrt(np.mean((replayed - measured.value)[late] ** 2))
        assert prediction.written == pytest.approx(error, rel=0.02), quantity
        assert prediction.rms == pytest.approx(error, rel=0.25), quantity


@pytest.mark.slow
def test_recordings_of_unequal_noise_show_no_limits_behind_the_lag():
    """The residuals of the noisier one are structured, but an actuator alone leaves as much."""
    steps = [recorded(Robot(), 20.0, 1, (0.005, 0.005)), recorded(Robot(), 20.0, 2, (0.05, 0.05), correlation=0.8)]
    fit = identify(steps, vehicle=parameters_of(GIVEN), hold_out=0.0)
    assert max(channel.correlation for channel in fit.channels) > 0.5
    assert not any("behind the lag" in finding for finding in fit.findings)
    assert fit.numbers["drive_actuators.dead_time"].high - fit.numbers["drive_actuators.dead_time"].low < 0.02


def test_numbers_of_a_single_axis_are_given_if_they_are_known():
    axis = SingleAxis("yaw_rate", "rad/s", ActuatorFit({"dead_time": None}, 0.05, True), 0.1)
    words = "yaw_rate: a separate actuator explains it better (0.05 against 0.1 rad/s)"
    assert axis_words(axis) == words, "without limits, nothing is said about them"
    known = ActuatorFit({"dead_time": Estimate(0.2, 0.1, 0.3)}, 0.05, True)
    shown = "; intervals in the table, where given, include these values"
    assert axis_words(dataclasses.replace(axis, fit=known)) == f"{words}: dead time 0.2 s{shown}"
    limited = ActuatorFit({"dead_time": None, "rise": Estimate(2.0, 1.9, 2.1)}, 0.05, True)
    words = "yaw_rate: limits behind the lag explain it better (0.05 against 0.1 rad/s)"
    before = "; the model has limits before the lag: acceleration limit 2 rad/s^2"
    assert axis_words(dataclasses.replace(axis, fit=limited)) == words + before + shown


@pytest.mark.slow
def test_a_large_offset_of_a_sensor_is_not_called_given():
    recording = recorded(Robot(), 60.0)
    shifted = dataclasses.replace(recording.measured["yaw_rate"], value=recording.measured["yaw_rate"].value + 0.3)
    measured = {**recording.measured, "yaw_rate": shifted}
    fit = identify(dataclasses.replace(recording, measured=measured), vehicle=parameters_of(GIVEN), hold_out=0.0)
    finding = next(words for words in fit.findings if "standard deviations" in words)
    assert finding.startswith("yaw_rate offset: 0.299 is ")
    assert finding.endswith("from the expected 0; check the sensor's zero")
