"""Random numbers of a sensor's samples, each sample with its own.

What sample number k of a sensor draws depends on the seed, the sensor's name and k alone. So a sample that no one wants
may be skipped, and all others stay equal to the bit.
"""

from __future__ import annotations

import hashlib

import numpy as np


class SampleNoise:
    """The generators of one sensor."""

    def __init__(self, seed: int, sensor: str) -> None:
        """Derive the sensor's key.

        Args:
            seed: Of the run.
            sensor: Name of the sensor.
        """
        digest = hashlib.blake2b(f"{seed} {sensor}".encode(), digest_size=16).digest()
        self._key = np.frombuffer(digest, "<u8")

    def generator(self, sample: int) -> np.random.Generator:
        """The generator of sample ``sample`` >= 0: a stretch of Philox's counter that no other sample has."""
        return np.random.Generator(np.random.Philox(key=self._key, counter=[0, 0, sample, 0]))


def sample_number(time: int, rate: float) -> int:
    """Which sample of a sensor with this rate [Hz] is due at a time [ns]."""
    return round(time * 1e-9 * rate)
