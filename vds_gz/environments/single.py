"""One vehicle as an environment of Gymnasium."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from vds_gz.core.arrays import Floats
from vds_gz.core.errors import ArgumentError
from vds_gz.environments.task import Info
from vds_gz.environments.vector import VehicleVectorEnv


class VehicleEnv(Env[Floats, Floats]):
    """The vector environment of size 1.

    Attributes:
        vector: The class of the vector environment.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012  # as in the base class
    vector: type[VehicleVectorEnv]

    def __init__(self, render_mode: str | None = None, **options: Any) -> None:
        """An environment with options of the vector one."""
        self._vector = self.vector(1, render_mode=render_mode, autoreset_mode=AutoresetMode.DISABLED, **options)
        self.metadata = {**self.metadata, "render_fps": self._vector.metadata["render_fps"]}
        self.render_mode = render_mode
        self._state = "not begun"
        self.names = self._vector.names
        self.observation_space = self._vector.single_observation_space
        self.action_space = self._vector.single_action_space

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Floats, Info]:
        """Begin a new episode."""
        super().reset(seed=seed)
        observations, infos = self._vector.reset(seed=seed)
        self._state = "running"
        return observations[0], _single(infos)

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, Info]:
        """Let the vehicle act for a period.

        Raises:
            ArgumentError: The action is invalid, or the episode has ended.
        """
        if self._state != "running":
            raise ArgumentError(f"the episode has {self._state}; call reset() before step()")
        values = self._vector.action_array("the action", action)
        if not np.isfinite(values).all():
            raise ArgumentError(f"the action is {values.tolist()}; its numbers must be finite")
        observations, rewards, ended, truncated, infos = self._vector.step(values[np.newaxis])
        if ended[0] or truncated[0]:
            self._state = "ended"
        return observations[0], float(rewards[0]), bool(ended[0]), bool(truncated[0]), _single(infos)

    def render(self) -> NDArray[Any] | None:
        """A picture of shape (400, 400, 3); None without a ``render_mode``."""
        pictures = self._vector.render()
        return None if pictures is None else pictures[0]


def _single(infos: Info) -> Info:
    """The infos of the only environment."""
    return {
        name: _single(values) if isinstance(values, dict) else values[0].item()
        for name, values in infos.items()
        if not name.startswith("_")
    }
