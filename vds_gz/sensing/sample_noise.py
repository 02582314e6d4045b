"""Random numbers of a sensor's samples, each sample with its own.

The draws of sample number k of a sensor only depend on the seed, the sensor's name and k. So an unused sample may be
skipped, and all others stay equal to the bit.
"""

from __future__ import annotations

import hashlib

import numpy as np


class SampleNoise:
    """The random generators of one sensor."""

    def __init__(self, seed: int, sensor: str) -> None:
        """Derive the sensor's key.

        Args:
            seed: Seed of the run.
            sensor: Name of the sensor.
        """
        digest = hashlib.blake2b(f"{seed} {sensor}".encode(), digest_size=16).digest()
        self._key = np.frombuffer(digest, "<u8")

    def generator(self, sample: int) -> np.random.Generator:
        """The generator of sample ``sample`` >= 0: a separate range of Philox's counter."""
        return np.random.Generator(np.random.Philox(key=self._key, counter=[0, 0, sample, 0]))


def sample_number(time: int, rate: float) -> int:
    """Number of the sample that is due at a time [ns], for a sensor with a rate [Hz]."""
    return round(time * 1e-9 * rate)
