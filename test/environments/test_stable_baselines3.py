"""The environments under Stable-Baselines3, if installed: it brings PyTorch, so the extra ``test`` lacks it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("numba")
pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed (it brings PyTorch)")
import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy

from vds_gz.core.errors import ArgumentError
from vds_gz.environments.stable_baselines3 import StableBaselines3VecEnv

IDS = ["vds_gz/PathTracking-v0", "vds_gz/Parking-v0"]


def adapted(name: str, count: int, **options) -> StableBaselines3VecEnv:
    return StableBaselines3VecEnv(gymnasium.make_vec(name, count, autoreset_mode="SameStep", **options))


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("name", IDS)
def test_the_single_environment_passes_its_check(name):
    check_env(gymnasium.make(name, randomize=0.1).unwrapped)


def test_ends_of_episodes_are_passed_on():
    environments = adapted(IDS[0], 3, max_episode_steps=4)
    plain = gymnasium.make_vec(IDS[0], 3, autoreset_mode="SameStep", max_episode_steps=4)
    environments.seed(7)
    actions = np.zeros((3, 2), np.float32)
    assert (environments.reset() == plain.reset(seed=7)[0]).all()
    for k in range(1, 9):
        observations, rewards, over, infos = environments.step(actions)
        expected = plain.step(actions)
        assert (observations == expected[0]).all()
        assert (rewards == expected[1].astype(np.float32)).all()
        assert (over == (k % 4 == 0)).all()
        assert [info.get("TimeLimit.truncated", False) for info in infos] == over.tolist()
        if k % 4 == 0:
            last = np.stack([info["terminal_observation"] for info in infos])
            assert (last == np.stack(expected[4]["final_obs"])).all()


def test_it_learns_in_it():
    environments = adapted(IDS[0], 16, vehicle="deepracer", randomize=0.1, render_mode="rgb_array")
    model = PPO("MlpPolicy", environments, n_steps=32, batch_size=128, n_epochs=2, seed=1, device="cpu")
    model.learn(2 * 16 * 32)
    mean, _ = evaluate_policy(model, environments, n_eval_episodes=4, warn=False)
    assert np.isfinite(mean)
    assert environments.get_images()[15].shape == (400, 400, 3)


def test_unsupported_requests_are_refused():
    with pytest.raises(ArgumentError, match="have autoreset_mode 'NextStep'; Stable-Baselines3 needs"):
        StableBaselines3VecEnv(gymnasium.make_vec(IDS[0], 2))
    environments = adapted(IDS[0], 2)
    with pytest.raises(ArgumentError, match="attribute 'rate'"):
        environments.set_attr("rate", 3)
    with pytest.raises(ArgumentError, match="method 'render'"):
        environments.env_method("render")
