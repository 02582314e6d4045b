"""Vehicles whose wheels all steer: drives and steerings are found from the motion, and joints are read."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from helpers.identified_vehicles import truth, with_vehicle
from scipy.stats import binom

from vds_gz.core.configuration import load_parameters
from vds_gz.core.parameters.actuator_parameters import DriveParameters, SteeringParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import TWIST, Command
from vds_gz.core.vehicle.schedule import command_records
from vds_gz.programs.commandlog.profiles import limits_of, make
from vds_gz.tools.study.compare.sources import simulate
from vds_gz.tools.study.identify.identification import checked_recordings, identify
from vds_gz.tools.study.identify.problem.observed import geometry_of, observed
from vds_gz.tools.study.identify.problem.parameters import actuations
from vds_gz.tools.study.identify.problem.references import reference_ranges
from vds_gz.tools.study.identify.problem.unknowns import set_up
from vds_gz.tools.study.offline.offline_replay import Replay
from vds_gz.tools.study.offline.replay_bag import write_mcap
from vds_gz.tools.study.reading.bag import read_signals
from vds_gz.tools.study.recording import Series, commands_of

PRESETS = "swerve_robot", "four_wheel_steering_robot"


def forgotten(parameters):
    """The vehicle with actuators that are not its own."""
    drive = DriveParameters(dead_time=0.2, time_constant=0.3, max_velocity=0.0, max_acceleration=0.0)
    stop = 0.0 if parameters.model == "swerve" else 1.5
    steering = SteeringParameters(dead_time=0.2, time_constant=0.3, max_velocity=0.0, max_position=stop)
    groups = {}
    for field in dataclasses.fields(parameters.vehicle):
        value = getattr(parameters.vehicle, field.name)
        if isinstance(value, (DriveParameters, SteeringParameters)):
            groups[field.name] = drive if isinstance(value, DriveParameters) else steering
    return with_vehicle(parameters, replace(parameters.vehicle, **groups))


def recorded(preset, directory, *, duration=12.0):
    """The twist in a bag of `vds-gz replay` of a profile."""
    parameters = load_parameters(preset)
    log = make("steps", limits_of(parameters), duration=duration, ackermann=False)
    path = directory / "run.mcap"
    write_mcap(Replay(log.stream(), parameters, compiled=False), path, parameters, lambda time: None)
    return parameters, replace(read_signals(path), further=[])


def with_noise(signals, part, seed):
    random = np.random.default_rng(seed)

    def disturbed(series):
        noise = part * max(float(np.max(np.abs(series.value))), 0.3)
        return Series(series.time, series.value + noise * random.standard_normal(len(series.value)))

    return replace(signals, measured={name: disturbed(series) for name, series in signals.measured.items()})


TIMES = "dead_time", "time_constant"
SWERVE = tuple(f"{group}.{name}" for group in ("drive_actuators", "steering_actuators") for name in TIMES)
BOTH_AXLES = tuple(
    f"{group}.{name}"
    for group in ("drive_actuator", "front_steering_actuator", "rear_steering_actuator")
    for name in TIMES
)


SEEDS = range(4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "names", "unknown"), [(PRESETS[0], SWERVE, 0), (PRESETS[1], BOTH_AXLES, 1)], ids=PRESETS
)
def test_twists_show_drive_and_steerings_with_noise(preset, names, unknown, tmp_path):
    """Intervals of 95 % lack the truth now and then, but not oftener than one binomial in 1000, nor by their width.

    Of two axles, twists with noise may leave the lag of one open.
    """
    parameters, signals = recorded(preset, tmp_path)
    true = truth(parameters.vehicle)
    left_open, lacking, count = [], [], 0
    for seed in SEEDS:
        fit = identify(with_noise(signals, 0.02, seed), vehicle=forgotten(parameters), hold_out=0.0)
        for name in names:
            estimate = fit.numbers.get(name)
            if estimate is None:
                left_open.append((seed, name))
                continue
            count += 1
            if not estimate.low <= true[name] <= estimate.high:
                lacking.append((seed, name, true[name], estimate))
            assert abs(estimate.value - true[name]) <= estimate.high - estimate.low, (seed, name, estimate)
    assert len(left_open) <= unknown, left_open
    assert len(lacking) <= binom.ppf(0.999, count, 0.05), lacking


@pytest.mark.parametrize("preset", PRESETS)
def test_joints_are_read_as_the_model_publishes_them(preset):
    vehicle = load_parameters(preset).vehicle
    model = models()[load_parameters(preset).model]
    s = _random_state(model, vehicle)
    states = model.joint_states(model.coefficients(vehicle, 1e-3), s)
    geometry = geometry_of([vehicle])
    for joint, position, velocity in zip(model.joints(vehicle), states.positions, states.velocities, strict=True):
        expected = {"joint_position": position}
        if joint.kind == "wheel":
            expected["joint_velocity"] = velocity
        for quantity, value in expected.items():
            reading = observed(model, vehicle, quantity, joint.name)
            numbers = [np.array([[eval(f"s.{name}", {"s": s})]]) for name in reading.numbers]
            assert reading.read(numbers, geometry) == pytest.approx(value, rel=1e-12), joint.name


def _random_state(model, vehicle):
    """A state after a while of different commands for all actuators."""
    random = np.random.default_rng(5)
    c = model.coefficients(vehicle, 0.01)
    s = model.at_rest(c)
    for _ in range(40):
        v_x, v_y, yaw_rate = random.uniform((0.5, -0.3, 0.3), (1.0, 0.3, 1.0)).tolist()
        u = Command(TWIST, v_x=v_x, v_y=v_y, yaw_rate=yaw_rate)
        model.set_references(c, s, u)
        model.step(c, s, u)
    return s


def test_each_axle_has_its_actuator_and_the_range_of_its_references():
    vehicle = load_parameters("four_wheel_steering_robot").vehicle
    steerings = actuations(vehicle)
    assert list(steerings) == ["drive", "steering_front", "steering_rear"]
    assert steerings["steering_rear"]["value"] == "rear_steering_actuator.max_position"
    assert steerings["steering_rear"].command == "rear_steering_angle"
    angles = np.linspace(-0.3, 0.2, 9)
    commands = commands_of({"v_x": Series(angles, 1.0 + angles), "steering": Series(angles, angles)})
    ranges = reference_ranges(models()["four_wheel_steering"], vehicle, [commands.records])
    assert ranges["steering_front"] == (-0.3, 0.2)
    assert ranges["steering_rear"] == (-0.2, 0.3), "in counter phase"
    assert ranges["drive"] == pytest.approx((0.7, 1.2))


def test_a_single_turn_in_a_long_recording_moves_the_modules():
    vehicle = load_parameters("swerve_robot").vehicle
    yaw_rate = np.zeros(20_000)
    yaw_rate[2001:2009] = 0.4
    commands = command_records(kind=TWIST, v_x=1.0, yaw_rate=yaw_rate)
    ranges = reference_ranges(models()["swerve"], vehicle, [commands])
    turned = ranges["steering_front_left"].highest
    assert turned == pytest.approx(np.arctan2(0.4 * vehicle.module_x[0], 1.0 - 0.4 * vehicle.module_y[0]))
    assert ranges["steering_front_left"].lowest == 0.0


def test_a_rear_axle_that_alone_moves_is_excited():
    parameters = load_parameters("four_wheel_steering_robot")
    log = make("steps", limits_of(parameters), duration=6.0, ackermann=True, both_axles=True)
    commands = tuple(command._replace(speed=1.0, front_steering_angle=0.0) for command in log.commands)
    recordings = checked_recordings([simulate(replace(log, commands=commands), parameters)], parameters)
    setup = set_up(recordings, vehicle=parameters, wheel_base=None, fit=(), priors={})
    assert setup.moves
    assert setup.excited == ["steering_rear"]


def test_a_mean_of_steering_angles_is_left_out_with_a_finding(tmp_path):
    parameters, signals = recorded(PRESETS[0], tmp_path, duration=1.0)
    (usable,) = checked_recordings([signals], parameters)
    assert "steering" in signals.measured
    assert "steering" not in usable.measured
    assert any("left out, as all wheels of this vehicle steer" in finding for finding in usable.findings)
