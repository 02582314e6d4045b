"""Functions over many environments: random numbers, and those that are compiled.

The random numbers of an episode depend on the environment's seed and the episode's number alone, not on other
environments. The generator is counter-based: the mixing function of SplitMix64 (Steele, Lea and Flood, Fast Splittable
Pseudorandom Number Generators, 2014) of seed, episode and the number's place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.arrays import Array, Floats, Indices
from vds_gz.core.vehicle.trigonometry import exponential

Words = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_MASK = 2**64 - 1


def seeds_from(seed: int, count: int) -> Words:
    """Consecutive seeds of environments."""
    return np.array([seed + i & _MASK for i in range(count)], np.uint64)


def uniform(seeds: Words, episodes: Words, count: int) -> NDArray[np.float64]:
    """Numbers within [0, 1), of shape (environments, count), of the given episodes."""
    keys = _mixed(_mixed(seeds + _GOLDEN) + episodes * _GOLDEN)
    places = np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN
    words = _mixed(keys[:, np.newaxis] + places)
    return np.asarray((words >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _mixed(words: Words) -> Words:
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return np.asarray(words ^ (words >> np.uint64(31)))


def observe(
    indices: Indices,
    measured: Array,
    past: Floats,
    newest: int,
    first: int,
    low: Floats,
    high: Floats,
    observations: Floats,
) -> None:
    """Fill the columns from the first one on with measurements and past actions, within bounds."""
    count, _, inputs = past.shape
    columns = first + len(measured)
    for i in indices:
        for k in range(len(measured)):
            observations[i, first + k] = measured[k, i]
        for k in range(columns):
            observations[i, k] = min(max(observations[i, k], low[k]), high[k])
        for ago in range(count):
            slot = newest - ago if ago <= newest else newest - ago + count
            for k in range(inputs):
                observations[i, columns + ago * inputs + k] = past[slot, i, k]


def reward(errors: Array, changes: Array, weight: float, rewards: Array) -> None:
    """Rewards for squares of errors and of changes of the action."""
    for i in range(len(errors)):
        rewards[i] = exponential(-errors[i]) - weight * changes[i]
