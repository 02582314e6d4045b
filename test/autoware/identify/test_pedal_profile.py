"""Profiles of pedals and of the steering wheel excite the whole maps and the mechanism."""

import numpy as np
import pytest

from vds_gz.autoware.identify.pedal_profile import PedalLimits, pedals, turns
from vds_gz.autoware.parameters.car_parameters import ActuationCmdParameters
from vds_gz.autoware.vehicle.steering import gear_ratio
from vds_gz.cli import main
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle import Vehicle
from vds_gz.programs.commandlog import command_log
from vds_gz.programs.interface.commands import Gear

MODELS = models()
ALLOWED = PedalLimits(14.0, 0.8, 0.6)


def driven(log, model):
    """The speed of a car after every command of a log."""
    car = Vehicle(MODELS[model], MODELS[model].parameters(), step_rate=50.0, max_command_age=1e9)
    for time, command in zip(log.times, log.commands, strict=True):
        car.advance(round(time * 1e9))
        car.enter(command.command(), round(time * 1e9))
        yield car.motion().v_x


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_pedals_visit_every_cell_of_the_maps_within_the_limits(seed):
    log = pedals(MODELS["actuation_cmd"], ActuationCmdParameters(), ALLOWED, duration=300.0, seed=seed)
    speed = np.array(list(driven(log, "actuation_cmd")))[1:]
    assert speed.max() <= ALLOWED.speed
    assert speed[-1] == pytest.approx(0.0, abs=0.05)
    accel, brake, wheel = np.array(log.commands[1:]).T
    assert (accel.max(), brake.max()) == (ALLOWED.accel, ALLOWED.brake)
    assert not (accel * brake).any()
    assert not wheel.any()
    car = ActuationCmdParameters()
    keys = [key for key in car.accel_map.states if key <= ALLOWED.speed]
    column = np.argmin(np.abs(speed[:, None] - keys), axis=1)
    positions = [key for key in car.accel_map.actuations if key <= ALLOWED.accel]
    positions += [-key for key in car.brake_map.actuations if 0.0 < key <= ALLOWED.brake]
    seconds = 0.02 * np.array(
        [[np.sum((accel - brake == position) & (column == j)) for j in range(8)] for position in positions]
    )
    assert (seconds >= 0.3).mean() > 0.9
    changes = np.flatnonzero(np.diff(accel - brake))
    holds = 0.02 * np.diff(changes)
    assert np.percentile(holds, 5) < 0.7
    assert np.percentile(holds, 95) > 1.5


def test_turns_are_large_and_small_quick_and_slow_and_held():
    name = "actuation_cmd_mechanical"
    log = turns(MODELS[name], MODELS[name].parameters(), speed=3.0, angle=0.3, duration=60.0, seed=2)
    speed = np.array(list(driven(log, name)))[1:]
    assert np.percentile(speed, (50, 100)) == pytest.approx([3.0, 3.0], abs=0.3)
    geared = MODELS[name].coefficients(MODELS[name].parameters(), 0.02).steering
    angle = np.array(
        [command.steering_command / gear_ratio(geared, 3.0, command.steering_command) for command in log.commands[1:]]
    )
    assert np.abs(angle).max() == pytest.approx(0.3, abs=0.03)
    steps = np.abs(np.diff(angle))
    assert (steps > 0.2).sum() >= 5, "quick and large"
    assert ((steps > 0.006) & (steps < 0.04)).sum() >= 5, "quick and small"
    assert ((steps > 1e-5) & (steps < 0.004)).mean() > 0.1, "slow"
    assert (steps == 0.0).mean() > 0.3, "held"
    moving = np.sign(np.diff(angle))[steps > 0.0]
    assert (np.diff(moving) != 0.0).sum() >= 20, "reversals"


def test_logs_for_pedals_begin_in_gear_and_are_read_as_they_were_made(tmp_path, capsys):
    for kind in ("pedals", "turns"):
        path = tmp_path / f"{kind}.csv"
        assert main(["profile", kind, "--preset", "autoware_car", "--duration", "30", "-o", str(path)]) == 0
        log = command_log.read(path)
        assert log.kind == "pedals"
        assert log.commands[0] == Gear(2)
        assert log.duration == pytest.approx(30.0)
    assert "1501 commands, 30.0 s, up to 0.4 rad at the tyres, at 3 m/s" in capsys.readouterr().out
    other = pedals(MODELS["actuation_cmd"], ActuationCmdParameters(), ALLOWED, duration=20.0, seed=1)
    assert other != pedals(MODELS["actuation_cmd"], ActuationCmdParameters(), ALLOWED, duration=20.0, seed=2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pedals", "--preset", "ackermann_car"], "the model 'bicycle' has no pedals"),
        (["turns", "--preset", "ackermann_car"], "the model 'bicycle' has no steering wheel"),
        (["pedals", "--accel", "1.5"], "--accel 1.5 is more than the car's maps and limits allow, 1"),
        (["turns", "--as", "twist"], "leave out --as twist"),
    ],
)
def test_logs_for_pedals_need_a_car_with_pedals(tmp_path, capsys, arguments, said):
    assert main(["profile", *arguments, "-o", str(tmp_path / "log.csv")]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
