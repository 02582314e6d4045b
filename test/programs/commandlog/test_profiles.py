"""Profiles stay within their limits, are the same for the same seed, and every vehicle drives them."""

import numpy as np
import pytest

from vds_gz.cli import main
from vds_gz.core.configuration import load_parameters, parameters_of, preset_names
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import ackermann, four_wheel_steering
from vds_gz.programs.commandlog import command_log
from vds_gz.programs.commandlog.profiles import PROFILES, Limits, limits_of, make

LIMITS = Limits(1.7, 0.6, 1.1, 0.35, 1.2, 0.0)


@pytest.mark.parametrize("kind", PROFILES)
@pytest.mark.parametrize("ackermann", [True, False])
def test_every_profile_stays_within_its_limits_and_uses_them(kind, ackermann):
    log = make(kind, LIMITS, ackermann=ackermann, duration=60.0)
    values = np.abs(np.array(log.commands))
    limits = [1.7, 0.35, 0.0, 0.0] if ackermann else [1.7, 0.6, 1.1]
    assert (values.max(axis=0) <= np.array(limits) + 1e-9).all()
    assert values[:, 0].max() >= 0.5 * 1.7
    assert values[:, 1 if ackermann else 2].max() >= 0.9 * limits[1 if ackermann else 2]
    assert log.duration == pytest.approx(60.0)
    assert not any(log.commands[-1])


@pytest.mark.parametrize("changes", [{}, {"rear_ratio": 0.5}, {"rear_steering": "crab", "rear_ratio": 0.3}])
@pytest.mark.parametrize("both_axles", [False, True])
def test_an_eight_turns_a_vehicle_with_two_steered_axles_once(changes, both_axles):
    values = {f"model_params.four_wheel_steering.{name}": value for name, value in changes.items()}
    parameters = load_parameters("four_wheel_steering_robot", values)
    limits, model = limits_of(parameters), models()[parameters.model]
    c = model.coefficients(parameters.vehicle, 1e-3)
    s = model.at_rest(c)
    front = limits.steering
    command = (
        four_wheel_steering(0.6 * limits.speed, front, 0.0) if both_axles else ackermann(0.6 * limits.speed, front)
    )
    model.set_references(c, s, command)
    for _ in range(5000):
        model.step(c, s, command)
    assert s.yaw_rate * limits.circle(True, both_axles) == pytest.approx(2.0 * np.pi, rel=1e-6)


@pytest.mark.parametrize("preset", ["ackermann_car", "four_wheel_steering_robot"])
def test_commands_beyond_the_limit_turn_the_vehicle_no_faster(preset):
    parameters = load_parameters(preset)
    beyond, within = limits_of(parameters, steering=1.0), limits_of(parameters)
    assert beyond.steering == 1.0
    assert beyond.circle(ackermann=True) == pytest.approx(within.circle(ackermann=True))


def test_a_profile_moves_both_axles_independently_within_the_limit(tmp_path):
    path, preset = tmp_path / "log.csv", "four_wheel_steering_robot"
    options = ["--preset", preset, "--as", "four_wheel_steering", "--duration", "30", "-o", str(path)]
    assert main(["profile", "steps", *options]) == 0
    log = command_log.read(path)
    speed, front, rear, *limits = np.array(log.commands).T
    assert log.kind == "four_wheel_steering"
    assert np.abs((front, rear)).max(axis=1) == pytest.approx([0.4782, 0.4782])
    assert abs(np.corrcoef(front, rear)[0, 1]) < 0.5
    assert np.abs(speed).max() == pytest.approx(1.5)
    assert not np.any(limits)
    assert main(["profile", "optimal", *options]) == 2


def test_each_axle_has_a_profile_up_to_its_own_stop():
    stop = "model_params.four_wheel_steering.rear_steering_actuator.max_position"
    vehicle = parameters_of([Override("model", "four_wheel_steering"), Override(stop, 0.1)])
    limits = limits_of(vehicle)
    log = make("steps", limits, ackermann=True, both_axles=True, duration=30.0)
    _, front, rear, *_ = np.abs(np.array(log.commands)).max(axis=0)
    assert (front, rear) == pytest.approx((vehicle.vehicle.front_steering_actuator.max_position, 0.1))
    assert limits_of(vehicle, steering=0.2).rear_steering == 0.2


@pytest.mark.parametrize("pattern", ["o", "x"])
def test_an_omni_vehicle_turns_moderately(pattern):
    """In an O, wheels of 1 m/s could turn it at 10 rad/s."""
    vehicle = parameters_of([Override("model", "omni"), Override("model_params.omni.roller_pattern", pattern)])
    assert 0.1 < limits_of(vehicle).yaw_rate / limits_of(vehicle).speed < 1.0


def test_equal_seeds_give_equal_logs_and_others_do_not():
    log, same, other = (make("steps", LIMITS, ackermann=True, duration=20.0, seed=seed) for seed in (3, 3, 4))
    assert log == same
    assert log != other


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_has_its_profile(tmp_path, preset):
    path = tmp_path / "log.csv"
    assert main(["profile", "steps", "--preset", preset, "--duration", "5", "-o", str(path)]) == 0
    assert len(command_log.read(path).times) == 251


def test_options_come_before_the_vehicle(tmp_path, capsys):
    path = tmp_path / "log.csv"
    assert main(["profile", "prbs", "--preset", "ackermann_car", "--speed", "0.5", "-o", str(path)]) == 0
    assert "up to 0.5 m/s" in capsys.readouterr().out


def test_wrong_use_is_reported(capsys):
    assert main(["profile", "steps", "--preset", "indoor_robot", "--as", "ackermann"]) == 2
    assert "takes no steering angles" in capsys.readouterr().err
    assert main(["profile", "steps", "--preset", "forklift", "--as", "four_wheel_steering"]) == 2
    assert "'bicycle' takes no steering angles of both axles" in capsys.readouterr().err
    assert main(["profile", "steps", "--preset", "nothing"]) == 2
    assert "there is no preset 'nothing'" in capsys.readouterr().err
