"""Many vehicles as one vector environment of Gymnasium: actions, dead time, episodes, random vehicles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from vds_gz.core.arrays import Array, Flags, Floats, Indices
from vds_gz.core.compiling import compiled
from vds_gz.core.errors import ArgumentError
from vds_gz.environments.kernels import Words, observe, reward, seeds_from, uniform
from vds_gz.environments.randomization import (
    Randomization,
    Randomize,
    at_least_0,
    at_least_1,
    autoreset_mode_of,
    is_whole,
    longest_dead_time,
    positive,
    seeds_of,
)
from vds_gz.environments.task import OPTIONS, Info, ObservedNumber, SomeVehicle, Task, nominal_vehicle
from vds_gz.tools.fleet.closed_loop import steps_of_period
from vds_gz.tools.fleet.fleet import Fleet
from vds_gz.tools.fleet.layout import BaseLinks, Columns, base_links, move

#: Weight of an action's change in the reward.
CHANGE_WEIGHT = 0.1


class VehicleVectorEnv(VectorEnv[Floats, Floats, NDArray[Any]]):
    """Vehicles with a task, each with its own parameters and random numbers.

    An action is held for a period, in which every vehicle does the same number of steps. Observations end with the last
    actions, as many as the longest dead time covers: without them the state is not observable. docs/train.md has the
    reward.

    Attributes:
        task: Factory of the task, from a nominal vehicle, the number of vehicles, actions per second [Hz], and options.
        names: Names of the observations, by column.
    """

    task: Callable[..., Task]

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012  # as in the base class

    def __init__(
        self,
        num_envs: int = 1,
        *,
        vehicle: SomeVehicle = "ackermann_car",
        randomize: Randomize = None,
        rate: float = 50.0,
        history: int | None = None,
        change_weight: float = CHANGE_WEIGHT,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **task_options: Any,
    ) -> None:
        """Make environments; :meth:`reset` begins their episodes.

        Args:
            num_envs: Number of environments.
            vehicle: Name of a preset, parameter file, or parameters.
            randomize: The parameters of the vehicle that are drawn for every episode; see :data:`Randomize`.
            rate: Actions per second [Hz].
            history: Number of observed last actions; None: as many as the longest dead time covers.
            change_weight: Weight of an action's change in the reward.
            max_episode_steps: Number of actions after which an episode is truncated; None: never.
            autoreset_mode: When an environment whose episode ended begins the next one, as in Gymnasium.
            render_mode: ``rgb_array`` or None.
            task_options: Options of the task.

        Raises:
            ArgumentError: An argument is not allowed.
            ParameterError: A parameter is not allowed.
        """
        self.num_envs = num_envs = at_least_1("num_envs", num_envs)
        nominal = nominal_vehicle(vehicle)
        self._nominal = nominal
        self._max_steps = None if max_episode_steps is None else at_least_1("max_episode_steps", max_episode_steps)
        self._steps = steps_of_period(nominal.step_rate, positive("rate", rate, "Hz"))
        self._change_weight = at_least_0("change_weight", change_weight)
        self._autoreset = autoreset_mode_of(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self._autoreset, "render_fps": rate}
        if render_mode not in (None, "rgb_array"):
            raise ArgumentError(f"render_mode is {render_mode!r}; it must be 'rgb_array' or None")
        self.render_mode = render_mode

        self._randomization = Randomization(nominal.model.name, nominal.vehicle, randomize)
        all_high = self._randomization.extremes[1]
        self._vehicles = [all_high] * num_envs
        self._fleet = Fleet(nominal.model, self._vehicles, step_rate=nominal.step_rate)
        self._fleet.commands.kind = nominal.kind
        self._task = self.task(nominal, num_envs, rate, **task_options)
        self._scales = np.array(nominal.scales(self._task.max_speed))

        if history is None:
            history = max(1, -(-longest_dead_time(nominal, all_high) // self._steps))
        self._past = np.zeros((at_least_1("history", history), num_envs, len(nominal.inputs)), np.float32)
        self._newest = 0
        observed = (*self._task.observed, *self._measured(), *self._last_actions(history))
        self.names = tuple(number.name for number in observed)
        self._low, self._high = (
            np.array([getattr(number, end) for number in observed], np.float32) for end in ("low", "high")
        )
        self.single_observation_space = Box(self._low, self._high, dtype=np.float32)
        self.single_action_space = Box(-1.0, 1.0, (len(nominal.inputs),), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

        self._observations: Floats = np.zeros((num_envs, len(observed)), np.float32)
        self._offsets = np.zeros(num_envs)
        self._values = np.zeros((len(self._randomization.names), num_envs))
        self._seeds: Words | None = None
        self._episodes = np.zeros(num_envs, np.uint64)
        self._elapsed = np.zeros(num_envs, np.int64)
        self._over = np.zeros(num_envs, np.bool_)
        self._successes = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Info | None = None
    ) -> tuple[Floats, Info]:
        """Begin new episodes.

        Args:
            seed: Seed of environment 0, to which environment i adds i; or one for each; None keeps the seeds.
            options: ``reset_mask`` says for every environment whether it is reset; without it all are.

        Raises:
            ArgumentError: The mask or the seeds do not fit the environments.
        """
        indices = self._masked(options or {})
        self._seed(seed, indices)
        self._begin(indices)
        self._judge(indices)
        return self._observations.copy(), self._infos(indices)

    def step(self, actions: ArrayLike) -> tuple[Floats, Array, Flags, Flags, Info]:
        """Let every vehicle act for a period; actions are clipped to [-1, 1].

        Raises:
            ArgumentError: An action is not finite, the shape is wrong, or an environment must be reset first.
        """
        checked = self._checked(actions)
        again = np.flatnonzero(self._over)
        changes = self._act(checked)
        self._fleet.advance(self._steps)
        self._elapsed += 1
        if len(again):
            self._begin(again)
        every = np.arange(self.num_envs)
        errors, ended = self._judge(every)
        rewards = np.empty(self.num_envs)
        compiled(reward, **OPTIONS)(errors, changes, self._change_weight, rewards)
        rewards[again] = 0.0
        ended[again] = False
        truncated = np.zeros(self.num_envs, np.bool_) if self._max_steps is None else self._elapsed >= self._max_steps
        self._over = ended | truncated
        if self._autoreset is AutoresetMode.SAME_STEP and self._over.any():
            infos = self._begin_at_once(np.flatnonzero(self._over))
        else:
            infos = self._infos(every)
        return self._observations.copy(), rewards, ended, truncated, infos

    def action_array(self, what: str, actions: ArrayLike, *counts: int) -> Floats:
        """Actions as an array of shape (counts, inputs); ``what`` names them in messages.

        Raises:
            ArgumentError: They are not numbers, or of another shape.
        """
        try:
            values: Floats = np.asarray(actions, np.float32)
        except (TypeError, ValueError):
            raise ArgumentError(f"{what} is {actions!r}; it must be an array of numbers") from None
        shape = (*counts, len(self._nominal.inputs))
        if values.shape != shape:
            inputs = ", ".join(self._nominal.inputs)
            raise ArgumentError(f"{what} has the shape {values.shape}; it must be {shape}, for {inputs}")
        return values

    def motion(self) -> BaseLinks:
        """Poses [m, m, rad] and velocities [m/s, m/s, rad/s] of every base_link."""
        return base_links(self._fleet.states, self._offsets)

    def scenery(self) -> list[Array]:
        """Lines of a picture besides the vehicles, each of shape (points, 2) [m]."""
        return self._task.scenery()

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Pictures of all environments, of shape (400, 400, 3) each; None without a ``render_mode``."""
        if self.render_mode is None:
            return None
        from vds_gz.environments.rendering import picture

        motion = self.motion()
        geometries = map(self._nominal.model.geometry, self._vehicles)
        poses = zip(motion.x.tolist(), motion.y.tolist(), motion.heading.tolist(), strict=True)
        return tuple(picture(self._task, geometry, *pose) for geometry, pose in zip(geometries, poses, strict=True))

    def _begin(self, indices: Indices) -> None:
        """Begin new episodes of some environments, with new vehicles."""
        assert self._seeds is not None
        varied = len(self._randomization.names)
        random = uniform(self._seeds[indices], self._episodes[indices], varied + self._task.random_numbers)
        self._episodes[indices] += np.uint64(1)
        if varied:
            values = self._randomization.drawn(random[:, :varied])
            self._values[:, indices] = values.T
            vehicles = self._randomization.vehicles(values)
            for i, vehicle in zip(indices.tolist(), vehicles, strict=True):
                self._vehicles[i] = vehicle
            self._fleet.reset(indices, vehicles)
        else:
            self._fleet.reset(indices)
        self._offsets[indices] = [self._vehicles[i].base_link_offset for i in indices.tolist()]
        states = self._fleet.states
        pose, still = np.array(self._task.begin(indices, random[:, varied:])), np.zeros(len(indices))
        # The pose becomes that of the reference point. The vehicles stand still.
        compiled(move)(*pose, still, still, still, -self._offsets[indices])
        states.x[indices], states.y[indices], states.heading[indices] = pose
        self._past[:, indices] = 0.0
        self._elapsed[indices] = 0
        self._over[indices] = False

    def _begin_at_once(self, indices: Indices) -> Info:
        """Begin the next episodes of some environments; the infos have the last observations of the old ones."""
        last = np.full(self.num_envs, None, object)
        for i in indices.tolist():
            last[i] = self._observations[i].copy()
        over = self._over.copy()
        final = {"final_obs": last, "_final_obs": over, "final_info": self._infos(indices), "_final_info": over.copy()}
        self._begin(indices)
        self._judge(indices)
        return final | self._infos(np.arange(self.num_envs))

    def _act(self, actions: Floats) -> Array:
        """Command the vehicles; return the squares of the actions' changes."""
        changes: Array = np.square(np.subtract(actions, self._past[self._newest], dtype=np.float64)).sum(axis=1)
        self._newest = (self._newest + 1) % len(self._past)
        self._past[self._newest] = actions
        for name, values, scale in zip(self._nominal.inputs, actions.T.astype(np.float64), self._scales, strict=True):
            setattr(self._fleet.commands, name, values * scale)
        return changes

    def _judge(self, indices: Indices) -> tuple[Array, Flags]:
        """Update the observations of some environments; return their errors and whether each has ended."""
        motion = self.motion()
        errors, ended, self._successes[indices] = self._task.judge(indices, motion, self._observations)
        measured = self._measurements(motion)
        first = len(self._task.observed)
        compiled(observe, **OPTIONS)(
            indices, measured, self._past, self._newest, first, self._low, self._high, self._observations
        )
        return errors, ended

    def _measurements(self, motion: BaseLinks) -> Array:
        """Measurements, of shape (numbers, vehicles)."""
        steering = getattr(self._fleet.states, "steering", None)
        turn = motion.yaw_rate if steering is None else steering.angle
        lateral = (motion.v_y,) if self._nominal.holonomic else ()
        angles = [module.steering.angle for module in self._modules]
        directions = [function(angle) for angle in angles for function in (np.cos, np.sin)]
        return np.stack([motion.v_x, *lateral, turn, *directions])

    def _measured(self) -> tuple[ObservedNumber, ...]:
        """The measured numbers of a vehicle: speeds [m/s], and steering angle [rad] or yaw rate [rad/s].

        Swerve modules turn all the way round, so their directions are measured.
        """
        speed, turn = 2.0 * self._task.max_speed, 2.0 * float(self._scales[0])
        lateral = (ObservedNumber("v_y", -speed, speed),) if self._nominal.holonomic else ()
        angle = "steering_angle" if hasattr(self._fleet.states, "steering") else "yaw_rate"
        directions = (
            ObservedNumber(f"module_{k}_{name}", -1.0, 1.0)
            for k in range(1, len(self._modules) + 1)
            for name in ("cosine", "sine")
        )
        return ObservedNumber("v_x", -speed, speed), *lateral, ObservedNumber(angle, -turn, turn), *directions

    @property
    def _modules(self) -> tuple[Columns, ...]:
        """The states of the modules of swerve vehicles; none of others."""
        return getattr(self._fleet.states, "modules", ())

    def _last_actions(self, history: int) -> tuple[ObservedNumber, ...]:
        """The last actions, the newest one first."""
        return tuple(
            ObservedNumber(f"{name}_{ago}_before", -1.0, 1.0)
            for ago in range(1, history + 1)
            for name in self._nominal.inputs
        )

    def _infos(self, indices: Indices) -> Info:
        """Infos of some environments: true values of varied parameters, and successes; zeros for the others."""
        mask = np.zeros(self.num_envs, np.bool_)
        mask[indices] = True
        values = self._values * mask
        parameters: dict[str, NDArray[Any]] = dict(zip(self._randomization.names, values, strict=True))
        parameters |= {f"_{name}": mask for name in self._randomization.names}
        return {
            "parameters": parameters,
            "_parameters": mask,
            "is_success": self._successes & mask,
            "_is_success": mask,
        }

    def _masked(self, options: Info) -> Indices:
        """The environments to reset."""
        mask = options.get("reset_mask")
        if mask is None:
            return np.arange(self.num_envs)
        required = f"it must be a NumPy array of {self.num_envs} booleans, at least one of them True"
        if not (isinstance(mask, np.ndarray) and mask.shape == (self.num_envs,) and mask.dtype == np.bool_):
            raise ArgumentError(f"option 'reset_mask' is {mask!r}; {required}")
        if not mask.any():
            raise ArgumentError(f"option 'reset_mask' has no True in it; {required}")
        if self._seeds is None and not mask.all():
            raise ArgumentError("option 'reset_mask' leaves environments out; the first reset must be of all")
        return np.flatnonzero(mask)

    def _seed(self, seed: int | Sequence[int | None] | None, indices: Indices) -> None:
        """Set the given seeds of some environments."""
        if self._seeds is None:
            self._seeds = seeds_from(int(self.np_random.integers(2**63)), self.num_envs)
        if seed is None:
            return
        seeds = seeds_of(seed, self.num_envs)
        if is_whole(seed):
            super().reset(seed=int(seed))
        for i in indices.tolist():
            new = seeds[i]
            if new is not None:
                self._seeds[i] = seeds_from(new, 1)[0]
                self._episodes[i] = 0

    def _checked(self, actions: ArrayLike) -> Floats:
        """Actions within their bounds."""
        if self._seeds is None:
            raise ArgumentError("the environments have not begun; call reset before step")
        if self._autoreset is not AutoresetMode.NEXT_STEP and self._over.any():
            raise ArgumentError(
                f"environment {np.flatnonzero(self._over)[0]} has ended; with autoreset_mode {self._autoreset.value} "
                "it must be reset before the next step, by reset(options={'reset_mask': ...})"
            )
        values = self.action_array("the array of actions", actions, self.num_envs)
        if not np.isfinite(values).all():
            wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))[0]
            raise ArgumentError(f"the action of environment {wrong} is {values[wrong].tolist()}; it must be finite")
        return np.clip(values, np.float32(-1.0), np.float32(1.0))
