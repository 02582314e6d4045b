"""Observations, rewards and random vehicles, against their definitions."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from helpers.guest import needs_autoware

pytest.importorskip("gymnasium")
pytest.importorskip("numba")
import gymnasium

import vds_gz
import vds_gz.environments
from vds_gz.core.configuration import preset_names
from vds_gz.environments.kernels import seeds_from, uniform
from vds_gz.environments.path_tracking import eight
from vds_gz.tools.fleet.path import Path

TRACKING, PARKING = "vds_gz/PathTracking-v0", "vds_gz/Parking-v0"

#: A car that is ideal but for the dead time of its steering and its limits.
CAR = vds_gz.BicycleParameters(
    base_link_offset=0.5,
    wheel_base=2.0,
    drive_actuator=vds_gz.DriveParameters(dead_time=0.0, time_constant=0.0, max_velocity=8.0, max_acceleration=0.0),
    steering_actuator=vds_gz.SteeringParameters(dead_time=0.1, time_constant=0.0, max_velocity=0.0, max_position=0.5),
)
#: Presets vary by this part everywhere: what is compiled for Autoware's models depends on the longest dead time.
SPREAD = 0.05
#: One of each kind that runs in lanes; each preset compiles its own program.
USUAL = ("ackermann_car", "indoor_robot")
STRAIGHT = Path.from_points([(0.0, 0.0), (500.0, 0.0)])


def pose(environments):
    """x, y [m] and heading [rad] of base_link of the only environment, by the vehicle's own definition."""
    fleet = environments.unwrapped._fleet
    x, y, heading = (getattr(fleet.states, name)[0] for name in ("x", "y", "heading"))
    offset = environments.unwrapped._offsets[0]
    return x + offset * math.cos(heading), y + offset * math.sin(heading), heading


def seen(environments, observations):
    return dict(zip(environments.unwrapped.names, observations[0].tolist(), strict=True))


def test_a_path_is_observed_from_base_link_and_the_reward_follows_its_formula():
    environments = gymnasium.make_vec(
        TRACKING, 1, vehicle=CAR, path=STRAIGHT, speed=2.0, bound=3.0, error_scale=0.5, change_weight=0.3
    )
    observations, _ = environments.reset(seed=4)
    last = np.zeros(2)
    for action in np.random.default_rng(1).uniform(-1, 1, (40, 2)).astype(np.float32):
        observations, rewards, ended, _, _ = environments.step(action[None])
        now = seen(environments, observations)
        _, y, heading = pose(environments)
        assert now["lateral_error"] == pytest.approx(y, abs=1e-5)
        assert now["heading_error"] == pytest.approx(heading, abs=1e-5)
        assert now["v_x"] == pytest.approx(action[1] * 3.0, abs=1e-5)
        assert now["speed_error"] == pytest.approx(now["v_x"] - 2.0, abs=1e-5)
        error = (y / 0.5) ** 2 + (now["v_x"] - 2.0) ** 2
        change = ((action - last) ** 2).sum()
        assert rewards[0] == pytest.approx(math.exp(-error) - 0.3 * change, abs=1e-5)
        assert (now["steering_angle_1_before"], now["v_x_1_before"]) == (action[0], action[1])
        assert not ended[0]
        last = action


def test_the_curvature_ahead_is_that_of_the_path_at_the_speed_it_is_driven_with():
    """An arc with a radius of 20 m, after a straight of 100 m."""
    turns = [(100.0 + 20.0 * math.sin(a), 20.0 - 20.0 * math.cos(a)) for a in np.linspace(0.0, 1.5, 30)[1:]]
    path = Path.from_points([(float(x), 0.0) for x in range(0, 101, 2)] + turns)
    environments = gymnasium.make_vec(TRACKING, 1, vehicle=CAR, path=path, speed=8.0, bound=3.0)
    environments.reset(seed=1)
    fleet = environments.unwrapped._fleet
    environments.unwrapped._task._positions[0] = 95.0 / path.spacing
    fleet.states.x, fleet.states.y, fleet.states.heading = 95.0 - 0.5, 0.0, 0.0
    now = seen(environments, environments.step(np.zeros((1, 2), np.float32))[0])
    assert now["curvature_0_s_ahead"] == pytest.approx(0.0, abs=1e-3)
    assert now["curvature_0.25_s_ahead"] == pytest.approx(0.0, abs=1e-3)
    assert now["curvature_1_s_ahead"] == pytest.approx(0.05, abs=2e-3)


def test_an_episode_ends_beyond_the_bound_and_at_the_end_of_an_open_path():
    short = Path.from_points([(0.0, 0.0), (20.0, 0.0)])
    environments = gymnasium.make_vec(TRACKING, 2, vehicle=CAR, path=short, speed=4.0, bound=2.0, randomize=None)
    environments.reset(seed=4)
    results = [environments.step(np.array([[1.0, 0.7], [0.0, 1.0]], np.float32)) for _ in range(250)]
    first = [next(k for k, result in enumerate(results) if result[2][i]) for i in (0, 1)]
    assert abs(results[first[0]][0][0, 0]) > 2.0
    assert not results[first[0]][4]["is_success"][0]
    assert abs(results[first[0] - 1][0][0, 0]) <= 2.0
    ended = results[first[1]]
    assert ended[4]["is_success"][1] == (abs(ended[0][1, 0]) <= 2.0)


def test_the_slot_is_observed_from_the_vehicle_and_to_stand_in_it_is_a_success():
    environments = gymnasium.make_vec(PARKING, 1, vehicle=CAR, speed=1.0, error_scale=9.0)
    environments.reset(seed=3)
    observations, rewards, _, _, infos = environments.step(np.zeros((1, 2), np.float32))
    now = seen(environments, observations)
    x, y, heading = pose(environments)
    assert now["slot_x"] == pytest.approx(-x * math.cos(heading) - y * math.sin(heading), abs=1e-5)
    assert now["slot_y"] == pytest.approx(x * math.sin(heading) - y * math.cos(heading), abs=1e-5)
    assert (now["slot_cosine"], now["slot_sine"]) == pytest.approx((math.cos(heading), -math.sin(heading)), abs=1e-6)
    chord = (2.0 * math.cos(heading) - 2.0) ** 2 + (2.0 * math.sin(heading)) ** 2
    assert rewards[0] == pytest.approx(math.exp(-(x * x + y * y + chord) / 9.0**2), abs=1e-6)
    assert not infos["is_success"][0]
    states = environments.unwrapped._fleet.states
    states.x, states.y, states.heading = -0.5, 0.0, 0.0
    _, rewards, ended, _, infos = environments.step(np.zeros((1, 2), np.float32))
    assert infos["is_success"][0]
    assert not ended[0]
    assert rewards[0] == pytest.approx(1.0)


def test_the_directions_of_swerve_modules_are_observed():
    environments = gymnasium.make_vec(PARKING, 1, vehicle="swerve_robot", speed=1.0)
    environments.reset(seed=3)
    for _ in range(40):
        observations, *_ = environments.step(np.array([[0.0, 0.4, 0.3]], np.float32))
    now = seen(environments, observations)
    for number in range(1, 5):
        assert (now[f"module_{number}_cosine"], now[f"module_{number}_sine"]) == pytest.approx((0.8, 0.6), abs=1e-3)
    assert now["v_y"] == pytest.approx(0.75 * now["v_x"], rel=1e-2)


@pytest.mark.parametrize(
    ("dead_time", "rate", "actions"), [(0.1, 50.0, 5), (0.101, 50.0, 6), (0.0, 50.0, 1), (0.3, 20.0, 6)]
)
def test_as_many_actions_are_observed_as_the_longest_dead_time_covers(dead_time, rate, actions):
    steering = dataclasses.replace(CAR.steering_actuator, dead_time=dead_time)
    vehicle = dataclasses.replace(CAR, steering_actuator=steering)
    environments = gymnasium.make_vec(TRACKING, 2, vehicle=vehicle, rate=rate)
    assert environments.names[-2:] == (f"steering_angle_{actions}_before", f"v_x_{actions}_before")


def test_equal_observations_have_equal_futures():
    """If actions differ only in ones that are no longer observed, all that follows is equal, as the lags are 0."""
    environments = gymnasium.make_vec(TRACKING, 2, vehicle=CAR, path=STRAIGHT, bound=50.0)
    environments.reset(seed=[9, 9])
    random = np.random.default_rng(2)
    held = random.uniform(-0.2, 0.2, (12, 2)).astype(np.float32)
    environments.step(np.array([[0.5, 0.0], [-0.5, 0.0]], np.float32))
    for _ in range(10):
        environments.step(np.zeros((2, 2), np.float32))
    first = [environments.step(np.stack([action, action]))[0] for action in held]
    assert all(rows[0].tobytes() == rows[1].tobytes() for rows in first)
    environments.reset(seed=[9, 9])
    environments.step(np.array([[0.5, 1.0], [-0.5, 1.0]], np.float32))
    short = [environments.step(np.stack([action, action]))[0] for action in held]
    assert short[3][0, :9].tobytes() == short[3][1, :9].tobytes()
    assert short[3].tobytes() != np.stack([short[3][0]] * 2).tobytes()
    assert short[6][0, :9].tobytes() != short[6][1, :9].tobytes()


def test_vehicles_are_drawn_evenly_from_their_intervals_and_reported():
    intervals = {"steering_actuator.dead_time": (0.05, 0.3), "model_params.bicycle.wheel_base": 0.25}
    environments = gymnasium.make_vec(TRACKING, 2000, vehicle=CAR, randomize=intervals)
    _, infos = environments.reset(seed=1)
    for name, low, high in (("steering_actuator.dead_time", 0.05, 0.3), ("wheel_base", 1.5, 2.5)):
        values = infos["parameters"][name]
        counts, _ = np.histogram(values, 10, (low, high))
        assert counts.sum() == 2000
        assert counts.min() > 140
    vehicles = environments.unwrapped._vehicles
    assert [vehicle.wheel_base for vehicle in vehicles] == infos["parameters"]["wheel_base"].tolist()
    assert {type(vehicle) for vehicle in vehicles} == {vds_gz.BicycleParameters}
    assert vehicles[0].steering_actuator.max_position == 0.5
    assert vehicles[0].drive_actuator == CAR.drive_actuator


def test_a_part_varies_every_number_that_is_not_0():
    environments = gymnasium.make_vec(TRACKING, 3, vehicle="indoor_robot", randomize=0.2)
    _, infos = environments.reset(seed=1)
    names = {name for name in infos["parameters"] if not name.startswith("_")}
    assert {"track", "drive_actuators.dead_time", "drive_actuators.time_constant"} <= names
    assert "drive_actuators.max_deceleration" not in names


def test_vehicles_are_drawn_from_the_intervals_that_identify_wrote(tmp_path):
    file = tmp_path / "identified.yaml"
    file.write_text(
        "sim_node:\n  ros__parameters:\n    model: bicycle\n    model_params:\n      bicycle:\n"
        "        steering_actuator:\n          dead_time: 0.2  # 95 % if the model holds: 0.19 to 0.22\n"
        "          time_constant: 0.01  # 95 % if the model holds: -0.01 to 0.02\n"
    )
    environments = gymnasium.make_vec(TRACKING, 400, vehicle=file, randomize=file)
    _, infos = environments.reset(seed=1)
    times = infos["parameters"]["steering_actuator.dead_time"]
    lags = infos["parameters"]["steering_actuator.time_constant"]
    assert 0.19 <= times.min() < 0.195 < 0.215 < times.max() <= 0.22
    assert 0.0 <= lags.min() < 0.001
    for interval in ("-0.5 to 4", "-2 to -1"):
        file.write_text(
            "sim_node:\n  ros__parameters:\n    model: bicycle\n    model_params:\n      bicycle:\n"
            f"        wheel_base: 2.0  # 95 % if the model holds: {interval}\n"
        )
        low = interval.split()[0]
        with pytest.raises(vds_gz.ParameterError, match=f"'wheel_base' is {low} .*end of its interval in '.*yaml"):
            gymnasium.make_vec(TRACKING, 2, randomize=file)
    with pytest.raises(vds_gz.ArgumentError, match=r"no confidence interval for 'model_params.differential"):
        gymnasium.make_vec(TRACKING, 2, vehicle="indoor_robot", randomize=file)


@pytest.mark.slow
def test_a_vehicle_of_another_kind_is_driven_too():
    """Autoware's models, which do not run in lanes; a robot that is turned by its wheels; one that moves laterally."""
    for vehicle, inputs in (
        pytest.param(
            "autoware_delay_car",
            2,
            marks=needs_autoware,
        ),
        ("indoor_robot", 2),
        (vds_gz.OmniParameters(roller_pattern="x"), 3),
    ):
        environments = gymnasium.make_vec(TRACKING, 3, vehicle=vehicle, randomize=SPREAD, max_episode_steps=30)
        environments.reset(seed=1)
        begun = environments.unwrapped._fleet.states.x.copy()
        for _ in range(50):
            observations = environments.step(np.full((3, inputs), 0.5, np.float32))[0]
        assert observations in environments.observation_space
        assert (environments.unwrapped._fleet.states.x != begun).all()


def test_the_eight_has_the_requested_radius():
    path = eight(2.0, 0.05)
    assert path.closed
    assert np.abs(path.curvature).max() == pytest.approx(0.5, rel=0.05)
    assert np.abs(path.x).max() == pytest.approx(6.0, rel=1e-3)


def test_random_numbers_are_uniform_and_independent():
    numbers = uniform(seeds_from(2**64 - 2, 300), np.arange(300, dtype=np.uint64), 40)
    assert numbers.min() >= 0.0
    assert numbers.max() < 1.0
    assert len(np.unique(numbers)) == numbers.size
    counts, _ = np.histogram(numbers, 10, (0.0, 1.0))
    assert counts == pytest.approx(1200, abs=130)
    rows = numbers - 0.5
    correlations = (rows @ rows.T) / (rows**2).sum(axis=1)
    assert np.abs(correlations - np.diag(np.diag(correlations))).max() < 0.85


def test_a_custom_path_sets_the_speed(tmp_path):
    file = tmp_path / "path.csv"
    file.write_text("x,y,speed\n0,0,2\n100,0,2\n200,0,4\n")
    environments = gymnasium.make_vec(TRACKING, 1, vehicle=CAR, path=file)
    environments.reset(seed=1)
    now = seen(environments, environments.step(np.array([[0.0, 0.5]], np.float32))[0])
    assert now["v_x"] == pytest.approx(0.5 * 1.5 * 4.0)
    assert now["speed_error"] == pytest.approx(3.0 - 2.0, abs=0.01)


@pytest.mark.parametrize("name", [TRACKING, PARKING])
@pytest.mark.parametrize(
    "preset", [pytest.param(name, marks=[] if name in USUAL else pytest.mark.slow) for name in preset_names()]
)
def test_every_preset_can_be_driven(name, preset):
    environments = gymnasium.make_vec(name, 2, vehicle=preset, randomize=SPREAD)
    environments.reset(seed=1)
    environments.action_space.seed(1)
    for _ in range(20):
        observations, rewards, *_ = environments.step(environments.action_space.sample())
        assert observations in environments.observation_space
        assert np.isfinite(rewards).all()
