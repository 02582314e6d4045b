"""Identified parameters of a mechanical steering are those of its simulation."""

import csv
import dataclasses
import gzip
from pathlib import Path

import numpy as np
import pytest

from vds_gz.autoware.command_types import Pedals
from vds_gz.autoware.identify.mechanism_fit import fit_mechanism
from vds_gz.autoware.identify.mechanism_log import MechanismLog
from vds_gz.autoware.identify.pedal_profile import turns
from vds_gz.autoware.parameters.car_parameters import ActuationCmdMechanicalParameters
from vds_gz.cli import main
from vds_gz.core.configuration import parameters_of_file
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle import Vehicle
from vds_gz.tools.study.recording import Series, SignalError

GIVEN = ActuationCmdMechanicalParameters()
#: True parameters of the steering; the search begins at the defaults.
TRUE = {"kp": 300.0, "ki": 7.0, "inertia": 35.0, "damping": 90.0, "friction": 0.9}


def steered(duration=50.0, seed=3, **more):
    """Time, command of the steering wheel, speed and tyre angle of a steering with those parameters."""
    mechanical = dataclasses.replace(GIVEN.mechanical_params, **TRUE, **more)
    true = dataclasses.replace(GIVEN, mechanical_params=mechanical)
    model = models()["actuation_cmd_mechanical"]
    log = turns(model, GIVEN, duration=duration, seed=seed)
    car = Vehicle(model, true, step_rate=500.0, max_command_age=1e9)  # compiling takes longer than this drive
    rows = []
    for time, command in zip(log.times, log.commands, strict=True):
        car.advance(round(time * 1e9))
        car.enter(command.command(), round(time * 1e9))
        if isinstance(command, Pedals):
            rows.append((time, command.steering_command, car.motion().v_x, float(car.state.steering.angle)))
    return np.array(rows).T


@pytest.fixture(scope="module")
def run():
    return steered()


def series(run, noise):
    time, wheel, speed, angle = run
    noisy = angle + noise * np.random.default_rng(1).standard_normal(len(angle))
    return Series(time, wheel), Series(time, speed), Series(time, noisy)


@pytest.mark.slow
def test_inertia_damping_and_gain_are_found_through_noise(run):
    fit = fit_mechanism(*series(run, 0.004), GIVEN, free=("kp", "inertia", "damping", "friction"))
    for name in ("kp", "inertia", "damping"):
        number = fit.numbers[name]
        assert number.value == pytest.approx(TRUE[name], rel=0.06), name
        assert number.low < number.value < number.high
        assert getattr(fit.parameters.mechanical_params, name) == number.value
    assert fit.residual == pytest.approx(0.004, rel=0.3)


@pytest.mark.slow
def test_the_dead_zone_is_found_and_all_numbers_lie_in_their_intervals():
    fit = fit_mechanism(*series(steered(dead_zone_threshold=1.0), 0.002), GIVEN)
    for name, true in (TRUE | {"dead_zone_threshold": 1.0}).items():
        number = fit.numbers[name]
        assert number.low <= true <= number.high, (name, number)
        assert number.high / number.value < (1.4 if name in ("friction", "dead_zone_threshold") else 1.1), name
        assert getattr(fit.parameters.mechanical_params, name) == number.value


@pytest.mark.slow
def test_a_few_outliers_hardly_change_the_parameters(run):
    """No angle is removed, and no parameter leaves its interval."""
    wheel, speed, angle = series(run, 0.002)
    wrong = angle.value.copy()
    wrong[::50] += 0.1
    fit = fit_mechanism(wheel, speed, Series(angle.time, wrong), GIVEN)
    for name, true in TRUE.items():
        assert fit.numbers[name].low <= true <= fit.numbers[name].high, name
    assert not np.isnan(fit.modelled).any()


@pytest.mark.slow
def test_a_run_of_autoware_is_identified(golden):
    """Twenty seconds are enough for inertia and damping, but too few for friction, which is not tested."""
    with gzip.open(golden / "autoware" / "ACTUATION_CMD_MECHANICAL__random_drive_default_dt1ms.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    time, wheel, speed, angle = (np.array([float(row[n]) for row in rows]) for n in ("t", "in_steer", "vx", "steer"))
    given = dataclasses.replace(GIVEN, compatibility="autoware")
    fit = fit_mechanism(Series(time[:-1], wheel[1:]), Series(time, speed), Series(time, angle), given)
    for name in ("kp", "inertia", "damping"):
        assert fit.numbers[name].value == pytest.approx(getattr(GIVEN.mechanical_params, name), rel=0.05), name
    friction = fit.numbers["friction"]
    assert friction is None or friction.low <= GIVEN.mechanical_params.friction <= friction.high


@pytest.mark.slow
def test_parameters_that_noise_hides_are_not_excited_and_keep_their_values(run):
    fit = fit_mechanism(*series(run, 0.009), GIVEN)
    assert fit.numbers["kd"] is fit.numbers["dead_zone_threshold"] is None
    for name in ("kd", "dead_zone_threshold"):
        assert getattr(fit.parameters.mechanical_params, name) == getattr(GIVEN.mechanical_params, name)
    assert fit.numbers["damping"] is not None


def test_a_steering_without_commands_is_refused(run):
    wheel, speed, angle = series(run, 0.0)
    with pytest.raises(SignalError, match="commands that change"):
        fit_mechanism(Series(wheel.time, 0.0 * wheel.value), speed, angle, GIVEN)


def test_a_log_without_commands_or_speeds_is_refused(run):
    wheel, speed, angle = series(run, 0.0)
    nothing = Series(np.empty(0), np.empty(0))
    for one in ((nothing, speed, angle), (wheel, nothing, angle)):
        with pytest.raises(SignalError, match="at least 1 of each is needed"):
            fit_mechanism(*one, GIVEN)


def test_a_single_speed_holds(run):
    wheel, speed, angle = series(run, 0.0)
    log = MechanismLog(wheel, Series(speed.time[:1], speed.value[:1]), angle, GIVEN, 100.0)
    assert len(log.begins) >= 1


def test_from_a_table_to_a_parameter_file(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with open("log.csv", "w", newline="") as file:
        csv.writer(file).writerows([("time", "steer_cmd", "v_x", "steering"), *run.T.round(6).tolist()])
    assert main(["identify", "log.csv", "--model", "steering", "--fit", "inertia,damping,kp"]) == 0
    assert "does not determine the scale of torques" in capsys.readouterr().out
    found = parameters_of_file(tmp_path / "identified" / "parameters.yaml").vehicle.mechanical_params
    assert found.inertia == pytest.approx(35.0, rel=0.05)
    assert Path("identified/identified.png").stat().st_size > 1000
    for arguments, said in (
        (["--fit", "mass"], "is not a parameter in mechanical_params"),
        (["--preset", "forklift"], "no mechanical"),
    ):
        assert main(["identify", "log.csv", "--model", "steering", *arguments]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1
