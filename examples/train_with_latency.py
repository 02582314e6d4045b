"""A car learns to follow a path: once as if it responded at once, once with its latency. Which policy drives better?

python examples/train_with_latency.py [ITERATIONS]

Policies are linear and found by cross-entropy search with NumPy alone, in less than a minute: every vehicle of a vector
environment tries one policy, and the next ones are drawn around the best of them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import gymnasium
import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]

ENVIRONMENT = "vds_gz.environments:vds_gz/PathTracking-v0"
TASK = {"vehicle": "ackermann_car", "speed": 6.0, "rate": 25.0, "history": 10}  # speed [m/s], rate [Hz]
#: Latency of the real car: its dead times and lags are not known exactly [s].
LATENCY = {
    "steering_actuator.dead_time": (0.2, 0.4),
    "steering_actuator.time_constant": (0.05, 0.15),
    "drive_actuator.dead_time": (0.1, 0.3),
}
#: The same car without latency.
AT_ONCE = dict.fromkeys(LATENCY, (0.0, 1e-09))

POLICIES, TRIALS = 256, 4  # TRIALS vehicles try every policy
STEPS = 250  # 10 s
#: Cars that no policy has seen, and the seed of the first one.
CARS, SEED = 200, 50_000


def features(observations: NDArray[np.float32], scale: Reals, inputs: int) -> Reals:
    """Inputs of a policy: the observations without the last actions, the mean of the last actions, and 1."""
    past = observations[:, -inputs * TASK["history"] :].reshape(len(observations), -1, inputs)
    present = observations[:, : -inputs * TASK["history"]] / scale
    return np.concatenate([present, past.mean(axis=1), np.ones((len(present), 1))], axis=1)


def driven(
    environments: gymnasium.vector.VectorEnv, policies: Reals, seeds: Sequence[int]
) -> tuple[Reals, Reals, list[Reals]]:
    """Drive one episode in every environment.

    Args:
        environments: Environments made from :data:`ENVIRONMENT` and :data:`TASK`.
        policies: One an environment, of shape (environments, features, inputs).
        seeds: One an environment.

    Returns:
        Sums of rewards; lateral errors [m] of shape (steps, environments), NaN after an episode's end; positions of the
        first car [m].
    """
    inputs = environments.single_action_space.shape[0]
    scale = np.abs(environments.single_observation_space.high[: -inputs * TASK["history"]]).astype(np.float64)
    observations, _ = environments.reset(seed=list(seeds))
    returns, alive = np.zeros(len(policies)), np.ones(len(policies), bool)
    errors, positions = [], []
    for _ in range(STEPS):
        actions = np.tanh((features(observations, scale, inputs)[:, :, np.newaxis] * policies).sum(axis=1))
        observations, rewards, ended, _, _ = environments.step(actions.astype(np.float32))
        returns += rewards * alive
        alive &= ~ended
        errors.append(np.where(alive, observations[:, 0], np.nan))
        if alive[0]:
            motion = environments.unwrapped.motion()
            positions.append(np.array([motion.x[0], motion.y[0]]))
    return returns, np.array(errors), positions


def trained(randomize: dict[str, tuple[float, float]], iterations: int, seed: int = 1) -> Reals:
    """A policy, of shape (features, inputs), trained on vehicles with these intervals of parameters."""
    environments = gymnasium.make_vec(ENVIRONMENT, POLICIES * TRIALS, randomize=randomize, **TASK)
    inputs = environments.single_action_space.shape[0]
    size = environments.single_observation_space.shape[0] - inputs * TASK["history"] + inputs + 1
    random = np.random.default_rng(seed)
    mean, spread = np.zeros((size, inputs)), np.full((size, inputs), 1.5)
    for iteration in range(iterations):
        policies = mean + spread * random.standard_normal((POLICIES, size, inputs))
        seeds = np.tile(seed + 1000 * iteration + np.arange(TRIALS), POLICIES).tolist()
        returns, *_ = driven(environments, np.repeat(policies, TRIALS, axis=0), seeds)
        returns = returns.reshape(POLICIES, TRIALS).mean(axis=1)
        best = policies[np.argsort(returns)[-POLICIES // 10 :]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.05
        best_tenth = np.sort(returns)[-POLICIES // 10 :].mean()
        print(f"  iteration {iteration + 1}: the best tenth got {best_tenth:.1f} of {STEPS}", flush=True)
    return mean


def main(arguments: Sequence[str] = ()) -> None:
    """Train both policies and drive the car that has latency with them."""
    iterations = int(arguments[0]) if arguments else 20
    cars = gymnasium.make_vec(ENVIRONMENT, CARS, randomize=LATENCY, **TASK)
    for name, randomize in (("without latency", AT_ONCE), ("with latency", LATENCY)):
        print(f"training {name}:")
        policy = trained(randomize, iterations)
        returns, errors, _ = driven(cars, np.repeat(policy[np.newaxis], CARS, axis=0), range(SEED, SEED + CARS))
        left = np.isnan(errors[-1]).mean()
        rms = np.sqrt(np.nanmean(errors**2))
        print(
            f"trained {name}, on cars with latency: {100 * left:.0f} % left the path, return {returns.mean():.1f}, "
            f"lateral error {rms:.2f} m rms while on it"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
