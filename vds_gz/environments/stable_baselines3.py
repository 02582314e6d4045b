"""The vector environment for Stable-Baselines3. Needs stable-baselines3, which brings PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from vds_gz.core.arrays import Flags, Floats
from vds_gz.core.errors import ArgumentError
from vds_gz.environments.task import Info
from vds_gz.environments.vector import VehicleVectorEnv


class StableBaselines3VecEnv(VecEnv):
    """Adapter to Stable-Baselines3's own interface of vector environments."""

    def __init__(self, environments: VehicleVectorEnv) -> None:
        """Take environments.

        Args:
            environments: Made with ``autoreset_mode="SameStep"``, as Stable-Baselines3 expects.

        Raises:
            ArgumentError: They have another mode.
        """
        mode = environments.metadata["autoreset_mode"]
        if mode is not AutoresetMode.SAME_STEP:
            raise ArgumentError(
                f"the environments have autoreset_mode '{mode.value}'; Stable-Baselines3 needs "
                f"autoreset_mode='{AutoresetMode.SAME_STEP.value}'"
            )
        self.environments = environments
        super().__init__(environments.num_envs, environments.single_observation_space, environments.single_action_space)

    def reset(self) -> Floats:
        """Begin new episodes, with seeds given since the last reset; return the observations."""
        observations, _ = self.environments.reset(seed=self._seeds)
        self._reset_seeds()
        return observations

    def step_async(self, actions: Floats) -> None:
        """Take actions for :meth:`step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Floats, NDArray[np.float32], Flags, list[Info]]:
        """Let every vehicle act; return observations, rewards, ends and infos."""
        observations, rewards, ended, truncated, infos = self.environments.step(self._actions)
        over = ended | truncated
        listed: list[Info] = [{"is_success": bool(done)} for done in infos["is_success"]]
        for i in np.flatnonzero(over).tolist():
            listed[i] = {
                "is_success": bool(infos["final_info"]["is_success"][i]),
                "terminal_observation": infos["final_obs"][i],
                "TimeLimit.truncated": bool(truncated[i] and not ended[i]),
            }
        return observations, rewards.astype(np.float32), over, listed

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """A picture of every environment."""
        return self.environments.render() or [None] * self.num_envs

    def close(self) -> None:
        """Close the environments."""
        self.environments.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute, the same for all environments."""
        return [getattr(self.environments, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused, because the environments are one object."""
        raise ArgumentError(f"attribute '{attr_name}' cannot be set for some environments: they are one object")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Refused, because the environments are one object."""
        raise ArgumentError(f"method '{method_name}' cannot be called for some environments: they are one object")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Whether each environment is wrapped: none is."""
        return [False for _ in self._get_indices(indices)]
