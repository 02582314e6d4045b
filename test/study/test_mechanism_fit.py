"""Parameters of a mechanical steering that are found are those that it was simulated with."""

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pytest

from vds_gz.cli import main
from vds_gz.parameters.autoware import ActuationCmdMechanicalParameters
from vds_gz.study.mechanism_fit import fit_mechanism
from vds_gz.study.signals import Series, SignalError
from vds_gz.study.vehicle_options import parameters_of_file
from vds_gz.vehicle.catalogue import models
from vds_gz.vehicle.command import PEDALS, Command
from vds_gz.vehicle.compiled import CompiledVehicle

GIVEN = ActuationCmdMechanicalParameters()
INTERVAL = 0.02
#: What the steering really has; the search begins at the defaults.
TRUE = {"kp": 300.0, "inertia": 35.0, "damping": 90.0}


def steered(duration=40.0, seed=3):
    """Time, command of the steering wheel, speed and tire angle of a steering with those parameters."""
    random = np.random.default_rng(seed)
    mechanical = dataclasses.replace(GIVEN.mechanical_params, **TRUE)
    true = dataclasses.replace(GIVEN, mechanical_params=mechanical)
    car = CompiledVehicle(models()["actuation_cmd_mechanical"], true, max_command_age=1e9)
    time = INTERVAL * np.arange(round(duration / INTERVAL))
    edges = np.cumsum(random.uniform(0.3, 2.5, len(time)))
    levels = np.where(random.uniform(size=len(edges)) < 0.5, 1.0, 0.15) * random.uniform(-0.45, 0.45, len(edges))
    wheel = 15.7 * np.concatenate(([0.0], levels))[np.searchsorted(edges, time, side="right")]
    rows = []
    for now, angle in zip(time, wheel, strict=True):
        rows.append((now, angle, float(car.state.v_x), float(car.state.steering.angle)))
        car.enter(Command(PEDALS, accel_pedal=0.12, gear=2, steering_command=angle), round(now * 1e9))
        car.advance(round((now + INTERVAL) * 1e9))
    return np.array(rows).T


@pytest.fixture(scope="module")
def run():
    return steered()


def series(run, noise):
    time, wheel, speed, angle = run
    noisy = angle + noise * np.random.default_rng(1).standard_normal(len(angle))
    return Series(time, wheel), Series(time, speed), Series(time, noisy)


def test_inertia_damping_and_gain_are_found_through_noise(run):
    fit = fit_mechanism(*series(run, 0.004), GIVEN, free=tuple(TRUE))
    for name, true in TRUE.items():
        number = fit.numbers[name]
        assert number.value == pytest.approx(true, rel=0.06), name
        assert number.low < number.value < number.high
        assert getattr(fit.parameters.mechanical_params, name) == number.value
    assert fit.residual == pytest.approx(0.004, rel=0.3)


def test_what_noise_hides_is_not_excited_and_keeps_its_value(run):
    fit = fit_mechanism(*series(run, 0.009), GIVEN, free=("damping", "kd", "dead_zone_threshold", "stiffness"))
    assert fit.numbers["kd"] is fit.numbers["dead_zone_threshold"] is None
    assert fit.parameters.mechanical_params.kd == GIVEN.mechanical_params.kd
    assert fit.numbers["damping"] is not None


def test_a_steering_that_was_told_nothing_is_refused(run):
    wheel, speed, angle = series(run, 0.0)
    with pytest.raises(SignalError, match="commands that change"):
        fit_mechanism(Series(wheel.time, 0.0 * wheel.value), speed, angle, GIVEN)


def test_from_a_table_to_a_parameter_file(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with open("log.csv", "w", newline="") as file:
        csv.writer(file).writerows([("time", "steer_cmd", "v_x", "steering"), *run.T.round(6).tolist()])
    assert main(["identify", "log.csv", "--model", "steering", "--fit", "inertia,damping,kp"]) == 0
    assert "no scale" in capsys.readouterr().out
    found = parameters_of_file(tmp_path / "identified" / "parameters.yaml").vehicle.mechanical_params
    assert found.inertia == pytest.approx(35.0, rel=0.05)
    assert Path("identified/identified.png").stat().st_size > 1000
    for arguments, said in (
        (["--fit", "mass"], "is no parameter in mechanical_params"),
        (["--preset", "forklift"], "no mechanical"),
    ):
        assert main(["identify", "log.csv", "--model", "steering", *arguments]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1
