"""The environments keep Gymnasium's interface, and one vehicle does what it does among many, to the bit."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
from helpers.guest import needs_autoware

pytest.importorskip("gymnasium")
pytest.importorskip("numba")
import gymnasium
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import vds_gz
import vds_gz.environments
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.vehicles import BicycleParameters, OmniParameters
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.vehicle.command import TWIST
from vds_gz.environments.task import nominal_vehicle

IDS = ["vds_gz/PathTracking-v0", "vds_gz/Parking-v0"]

#: With these, episodes end by the bound and by time in every mode, and the delay lines wrap around.
OPTIONS = {
    "vehicle": "ackermann_car",
    "randomize": {"steering_actuator.dead_time": (0.05, 0.3), "wheel_base": 0.1, "drive_actuator.time_constant": 0.5},
    "rate": 25.0,
}
SHORT = {IDS[0]: {"bound": 0.75}, IDS[1]: {"extent": 0.4}}
COUNT, STEPS = 5, 160


def actions(count: int, inputs: int, steps: int, seed: int = 3):
    random = np.random.default_rng(seed)
    drift = random.uniform(-0.6, 1.0, (count, inputs))
    return [np.clip(drift + random.uniform(-0.4, 0.4, drift.shape), -1, 1).astype(np.float32) for _ in range(steps)]


def same(one: object, other: object) -> bool:
    """Whether values are equal to the bit, with their types."""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, tuple) or (isinstance(one, np.ndarray) and one.dtype == object):
        return all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return type(one) is type(other) and one == other


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize(
    "vehicle",
    [
        "ackermann_car",
        pytest.param("indoor_robot", marks=pytest.mark.slow),
        pytest.param(vds_gz.OmniParameters(roller_pattern="x"), marks=pytest.mark.slow),
    ],
)
def test_the_single_environment_passes_the_check_without_a_warning(name, vehicle):
    pytest.importorskip("matplotlib")
    environment = gymnasium.make(name, vehicle=vehicle, randomize=0.1)
    check_env(environment.unwrapped)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("name", IDS)
def test_many_are_as_many_single_ones_to_the_bit(name, mode):
    options = OPTIONS | SHORT[name] | {"max_episode_steps": 50}
    many = gymnasium.make_vec(name, COUNT, autoreset_mode=mode, **options)
    singles = gymnasium.make_vec(name, COUNT, "sync", vector_kwargs={"autoreset_mode": mode}, **options)
    assert same(many.reset(seed=11), singles.reset(seed=11))
    assert many.names[:2] == (("lateral_error", "heading_error") if name == IDS[0] else ("slot_x", "slot_y"))
    ended = cut = 0
    for k, action in enumerate(actions(COUNT, 2, STEPS)):
        one, other = many.step(action), singles.step(action)
        assert same(one, other), k
        ended += one[2].sum()
        cut += one[3].sum()
        if mode is AutoresetMode.DISABLED and (over := one[2] | one[3]).any():
            assert same(*(env.reset(options={"reset_mask": over.copy()}) for env in (many, singles)))
    assert ended > 0
    assert cut > 0


@pytest.mark.parametrize("name", IDS)
def test_resets_of_other_environments_have_no_effect(name):
    options = OPTIONS | SHORT[name] | {"autoreset_mode": AutoresetMode.DISABLED}
    one, other = (gymnasium.make_vec(name, 70, **options) for _ in range(2))
    one.reset(seed=1), other.reset(seed=1)
    rest = np.arange(70) != 66
    alive = rest.copy()
    for k, action in enumerate(actions(70, 2, 60)):
        if k in (5, 6, 20):
            one.reset(options={"reset_mask": ~rest})
        results = [env.step(action) for env in (one, other)]
        for a, b in zip(results[0][:4], results[1][:4], strict=True):
            assert a[alive].tobytes() == b[alive].tobytes()
        for env, result in zip((one, other), results, strict=True):
            if result[2].any():
                env.reset(options={"reset_mask": result[2]})
        assert (results[0][2] == results[1][2])[rest].all()


def test_a_seed_determines_everything_and_episodes_differ():
    environments = gymnasium.make_vec(IDS[0], 4, **OPTIONS)
    first, infos = environments.reset(seed=5)
    _, others = environments.reset()
    again, same_infos = environments.reset(seed=5)
    shifted, _ = environments.reset(seed=6)
    one_each, _ = environments.reset(seed=[8, 7, 6, 5])
    assert first.tobytes() == again.tobytes()
    assert same(infos, same_infos)
    assert not (infos["parameters"]["wheel_base"] == others["parameters"]["wheel_base"]).any()
    assert shifted[:3].tobytes() == first[1:].tobytes()
    assert one_each[::-1].tobytes() == first.tobytes()
    assert len(np.unique(first[:, 0])) == 4


def test_observations_share_no_memory():
    environments = gymnasium.make_vec(IDS[0], 2, **OPTIONS)
    first, _ = environments.reset(seed=1)
    copy = first.copy()
    second = environments.step(np.ones((2, 2), np.float32))[0]
    assert first.tobytes() == copy.tobytes()
    assert not np.shares_memory(first, second)


@pytest.mark.parametrize("name", IDS)
def test_pictures_show_the_vehicle_where_it_is(name):
    pytest.importorskip("matplotlib")
    environments = gymnasium.make_vec(name, 2, render_mode="rgb_array")
    environments.reset(seed=2)
    before = environments.render()
    for _ in range(60):
        environments.step(np.array([[0.5, 1.0], [0.5, 1.0]], np.float32))
    after = environments.render()
    assert [picture.shape for picture in before] == [(400, 400, 3)] * 2
    assert all(picture.dtype == np.uint8 and picture.std() > 5.0 for picture in (*before, *after))
    assert (before[0] != after[0]).any()
    assert (before[0] != before[1]).any()
    assert gymnasium.make_vec(name, 2).render() is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.full((3, 2), np.nan), r"action of environment 0 is \[nan, nan\]; it must be finite"),
        (np.zeros((3, 1)), r"shape \(3, 1\); it must be \(3, 2\), for steering_angle, v_x"),
        (np.zeros(6), r"shape \(6,\)"),
        ([["left", 1.0]] * 3, "must be an array of numbers"),
    ],
)
def test_invalid_actions_are_refused_and_change_nothing(wrong, message):
    environments, others = (gymnasium.make_vec(IDS[0], 3) for _ in range(2))
    with pytest.raises(ArgumentError, match="call reset before step"):
        environments.step(np.zeros((3, 2), np.float32))
    environments.reset(seed=1), others.reset(seed=1)
    with pytest.raises(ArgumentError, match=message):
        environments.step(wrong)
    results = [env.step(np.ones((3, 2), np.float32)) for env in (environments, others)]
    assert results[0][0].tobytes() == results[1][0].tobytes()


def test_an_action_of_the_single_environment_may_be_a_list_and_invalid_ones_are_refused():
    one, other = (gymnasium.make(IDS[0]).unwrapped for _ in range(2))
    with pytest.raises(ArgumentError, match=r"the episode has not begun; call reset\(\) before step\(\)"):
        one.step([0.5, 1])
    one.reset(seed=1), other.reset(seed=1)
    assert same(one.step([0.5, 1]), other.step(np.array([0.5, 1.0], np.float32)))
    for wrong, message in (
        (0.5, r"the action has the shape \(\); it must be \(2,\), for steering_angle, v_x"),
        (None, "shape"),
        ({}, "the action is {}; it must be an array of numbers"),
        ("left", "the action is 'left'"),
        ([0.5], r"shape \(1,\)"),
        ([0.5, np.nan], r"the action is \[0.5, nan\]; its numbers must be finite"),
    ):
        with pytest.raises(ArgumentError, match=message):
            one.step(wrong)


def test_an_ended_single_environment_says_so_in_its_own_terms():
    one = gymnasium.make(IDS[0], **SHORT[IDS[0]]).unwrapped
    for _ in range(2):
        one.reset(seed=1)
        while not one.step([1.0, 1.0])[2]:
            pass
        with pytest.raises(ArgumentError, match=r"^the episode has ended; call reset\(\) before step\(\)$"):
            one.step([0.0, 0.0])


def test_numbers_of_numpy_are_numbers():
    options = {"randomize": {"wheel_base": np.float32(0.25)}, "rate": np.int64(50), "speed": np.float32(2.0)}
    one = gymnasium.make_vec(IDS[0], np.int64(2), **options)
    other = gymnasium.make_vec(IDS[0], 2, randomize={"wheel_base": 0.25}, rate=50.0, speed=2.0)
    assert same(one.reset(seed=np.int64(3)), other.reset(seed=3))
    assert same(one.reset(seed=np.array([5, 6])), other.reset(seed=5))


@pytest.mark.parametrize("rate", [0.1, 1000 / 30])
def test_a_period_may_be_any_number_of_steps(rate):
    """1000 % 0.1 is not 0."""
    environments = gymnasium.make_vec(IDS[1], 1, rate=rate, vehicle="deepracer")
    assert environments.unwrapped._steps == round(1000 / rate)


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        (-1, "seed is -1; it must be a whole number, at least 0, or one or None per environment"),
        (2.5, "seed is 2.5"),
        ("abc", "seed is 'abc'"),
        ([1.5, 2, 3], r"seed is \[1.5, 2, 3\]"),
        ([-1, 2, 3], r"seed is \[-1, 2, 3\]"),
        ([1, 2], "there are 2 seeds; give a whole number, or 3 seeds, one per environment"),
    ],
)
def test_invalid_seeds_are_refused(seed, message):
    with pytest.raises(ArgumentError, match=message):
        gymnasium.make_vec(IDS[0], 3).reset(seed=seed)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.zeros(3, bool), "has no True"),
        (np.ones(2, bool), "NumPy array of 3 booleans"),
        ([True, False, True], "NumPy array of 3 booleans"),
        (np.array([0, 1, 1]), "NumPy array of 3 booleans"),
    ],
)
def test_invalid_masks_are_refused(mask, message):
    environments = gymnasium.make_vec(IDS[0], 3, autoreset_mode="Disabled")
    environments.reset(seed=1)
    with pytest.raises(ArgumentError, match=message):
        environments.reset(options={"reset_mask": mask})


def test_an_ended_environment_must_be_reset_unless_it_resets_itself():
    environments = gymnasium.make_vec(IDS[0], 2, autoreset_mode="Disabled", max_episode_steps=1)
    with pytest.raises(ArgumentError, match="first reset must be of all"):
        environments.reset(options={"reset_mask": np.array([True, False])})
    environments.reset(seed=1)
    environments.step(np.zeros((2, 2), np.float32))
    with pytest.raises(ArgumentError, match="environment 0 has ended; with autoreset_mode Disabled it must be reset"):
        environments.step(np.zeros((2, 2), np.float32))
    environments.reset(options={"reset_mask": np.array([True, True])})
    environments.step(np.zeros((2, 2), np.float32))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vehicle": "batmobile"}, "'batmobile' is no parameter file .* presets are"),
        ({"vehicle": 3}, "vehicle is 3; it must be the name of a preset"),
        (
            {"randomize": {"steering_actuator.dead_tim": (0.1, 0.2)}},
            "nearest valid name is 'steering_actuator.dead_time'",
        ),
        ({"randomize": {"wheel_base": (2.0, 1.0)}}, r"'wheel_base' varies by \(2.0, 1.0\); it must be an interval"),
        ({"randomize": {"wheel_base": (2.0, 2.0)}}, "it must be an interval"),
        ({"randomize": {"wheel_base": (2.0, np.nan)}}, "it must be an interval"),
        ({"randomize": {"wheel_base": ()}}, "it must be an interval"),
        ({"randomize": {"wheel_base": (-1.0, 1.0)}}, "'wheel_base' is -1 .*at least 1e-06"),
        ({"randomize": {"reverse": 0.2}}, "this one is False"),
        ({"randomize": {"reverse": (0, 1)}}, r"'reverse' varies by \(0, 1\); .*this one is False"),
        ({"randomize": {"drive_actuator.max_deceleration": 0.2}}, "this one is 0.0"),
        ({"randomize": -0.2}, "varies by -0.2"),
        ({"randomize": {"steering_actuator.max_position": (0.3, 1.7)}}, "less than pi/2"),
        ({"randomize": "nowhere.yaml"}, "'nowhere.yaml' does not exist"),
        ({"rate": 30.0}, "rate is 30 Hz; the vehicles' 1000 steps per second must be a whole multiple"),
        ({"rate": 0.0}, "rate is 0.0"),
        ({"rate": "50"}, r"rate is '50'; it must be a finite number greater than 0 \[Hz\]"),
        ({"randomize": (0.1, 0.2)}, r"randomize is \(0.1, 0.2\); it must be a part of every parameter"),
        ({"randomize": True}, "randomize is True; it must be a part of every parameter"),
        (
            {"randomize": {"wheel_base": 0.1, "model_params.bicycle.wheel_base": 0.2}},
            "'wheel_base' is given twice, also as 'model_params.bicycle.wheel_base'",
        ),
        ({"randomize": {3: 0.1}}, "unknown parameter '3'"),
        ({"change_weight": float("nan")}, "change_weight is nan; it must be a finite number, at least 0"),
        ({"change_weight": "much"}, "change_weight is 'much'"),
        ({"history": 0}, "history is 0; it must be a whole number, at least 1"),
        ({"num_envs": 0}, "num_envs is 0"),
        ({"num_envs": True}, "num_envs is True"),
        ({"max_episode_steps": 0}, "max_episode_steps is 0"),
        ({"autoreset_mode": "never"}, "autoreset_mode is 'never'; it must be one of NextStep, SameStep, Disabled"),
        ({"render_mode": "human"}, "render_mode is 'human'"),
        ({"path": "nowhere.csv"}, "nowhere.csv"),
        ({"path": [(0.0, 0.0), (1.0, 1.0)]}, r"path is \[\(0.0, 0.0\), .*it must be a vds_gz.Path, or a CSV file"),
        ({"speed": -1.0}, r"speed is -1.0; it must be a finite number greater than 0 \[m/s\]"),
        ({"bound": 0.0}, "bound is 0.0"),
    ],
)
def test_wrong_options_are_refused_in_words(options, message):
    with pytest.raises(vds_gz.VdsGzError, match=message):
        gymnasium.make_vec(IDS[0], **{"num_envs": 2} | options)


def test_gymnasiums_wrappers_work():
    environments = gymnasium.make_vec(IDS[0], 3, max_episode_steps=5)
    environments = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        gymnasium.wrappers.vector.RescaleObservation(environments, -1.0, 1.0)
    )
    observations, _ = environments.reset(seed=1)
    assert (np.abs(observations) <= 1.0 + 1e-6).all()
    for _ in range(5):
        *_, infos = environments.step(np.zeros((3, 2), np.float32))
    assert infos["episode"]["l"].tolist() == [5, 5, 5]


def test_environments_in_other_processes_give_the_same():
    options = {"max_episode_steps": 3, "randomize": 0.1}
    many = gymnasium.make_vec(IDS[1], 2, **options)
    processes = gymnasium.make_vec(IDS[1], 2, "async", vector_kwargs={"context": "spawn"}, **options)
    try:
        assert same(many.reset(seed=4), processes.reset(seed=4))
        for action in actions(2, 2, 5):
            assert same(many.step(action), processes.step(action))
    finally:
        processes.close()


@pytest.mark.parametrize(
    "vehicle", ["ackermann_car", pytest.param("autoware_delay_car", marks=[pytest.mark.slow, needs_autoware])]
)
def test_a_copy_looks_ahead(vehicle):
    environments = gymnasium.make_vec(IDS[0], 2, vehicle=vehicle, randomize=0.05)
    environments.reset(seed=1)
    several = actions(2, 2, 30)
    for action in several[:10]:
        environments.step(action)
    copied = copy.deepcopy(environments)
    ahead = [copied.step(action) for action in several[10:]]
    assert all(same(one, environments.step(action)) for one, action in zip(ahead, several[10:], strict=True))


def test_an_environment_drives_a_vehicle_whose_wheels_all_steer_by_twists(monkeypatch):
    def geometry(p):
        plain = BICYCLE.geometry(p)
        wheels = tuple(dataclasses.replace(wheel, steered=True) for wheel in plain.wheels)
        return dataclasses.replace(plain, wheels=wheels)

    rover = dataclasses.replace(BICYCLE, name="rover", geometry=geometry)
    monkeypatch.setattr("vds_gz.environments.task.models", lambda: {"rover": rover})
    nominal = nominal_vehicle(BicycleParameters(wheel_base=2.0))
    assert (nominal.kind, nominal.inputs, nominal.turn) == (TWIST, ("yaw_rate", "v_x"), 0.5)


def test_an_omni_vehicle_with_a_small_yaw_arm_turns_by_half_its_wheel_base():
    nominal = nominal_vehicle(OmniParameters(wheel_base=1.4, track=1.2, roller_pattern="o"))
    assert nominal.turn == pytest.approx(1.0 / 0.7)
