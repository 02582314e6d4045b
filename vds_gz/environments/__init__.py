"""Gymnasium environments with vehicles that have dead times, lags and limits.

Importing this package registers ``vds_gz/PathTracking-v0`` and ``vds_gz/Parking-v0``:

>>> import gymnasium
>>> import vds_gz.environments
>>> environments = gymnasium.make_vec("vds_gz/PathTracking-v0", num_envs=8, vehicle="ackermann_car", randomize=0.2)
>>> observations, infos = environments.reset(seed=1)
>>> observations.shape[0]
8

Thousands of vehicles are one :class:`~vds_gz.tools.fleet.fleet.Fleet`; the single environment is the vector one of size
1.
"""

from gymnasium.envs.registration import register

#: Default number of control periods in an episode.
EPISODE = 500

for _name, _module in (("PathTracking", "path_tracking"), ("Parking", "parking")):
    register(
        id=f"vds_gz/{_name}-v0",
        entry_point=f"{__name__}.{_module}:{_name}Env",
        vector_entry_point=f"{__name__}.{_module}:{_name}VectorEnv",
        max_episode_steps=EPISODE,
    )
