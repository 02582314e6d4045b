"""Random numbers of many environments: those of an episode follow from the environment's seed and the episode's number.

So they do not depend on how many environments there are, or on when the episodes of others end. A counter-based
generator: the mixing function of SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators,
2014) of seed, episode and the number's place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_WORD = 2**64 - 1


def seeds_from(seed: int, count: int) -> Words:
    """The seeds of environments, one after the other."""
    return np.array([seed + i & _WORD for i in range(count)], np.uint64)


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
