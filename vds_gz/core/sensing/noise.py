"""Noise of sensors: white noise, and a bias that starts at random and walks.

The model is that of Gazebo (``GaussianNoiseModel`` of gz-sensors), whose bias is an Ornstein-Uhlenbeck process. That of
kalibr (https://github.com/ethz-asl/kalibr/wiki/IMU-Noise-Model) is its limit for a long correlation time.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

BLOCK = 64  # number of samples that are drawn at once
ENDLESS = 1e9  # a correlation time beyond any run [s]


@dataclass(frozen=True, slots=True)
class NoiseModel:
    """The noise of one kind of channel; u is the channel's unit."""

    stddev: float = 0.0  # standard deviation of the white noise, per sample [u]
    bias: float = 0.0  # mean magnitude of the bias at the start [u]; its sign is random
    bias_stddev: float = 0.0  # standard deviation of that magnitude [u]
    walk: float = 0.0  # density of the white noise that drives the bias [u/sqrt(s)]
    correlation_time: float = ENDLESS  # correlation time of the bias [s]

    @classmethod
    def gauss_markov(cls, stddev: float, correlation_time: float) -> NoiseModel:
        """Only a bias, with a constant standard deviation [u]."""
        return cls(
            bias_stddev=stddev, walk=stddev * math.sqrt(2.0 / correlation_time), correlation_time=correlation_time
        )


class ChannelNoise:
    """Noise of several independent channels with one model.

    Every sample draws the same number of random numbers, whatever the parameters.

    Attributes:
        bias: The channels' biases [u].
        variance: Variance of the last sample of each channel over many runs [u^2].
    """

    def __init__(self, model: NoiseModel, channels: int, random: np.random.Generator) -> None:
        self._model = model
        magnitude = model.bias + model.bias_stddev * random.standard_normal(channels)
        self.bias: list[float] = np.where(random.random(channels) < 0.5, -magnitude, magnitude).tolist()
        self._bias_variance = model.bias**2 + model.bias_stddev**2
        self.variance = self._bias_variance + model.stddev**2
        self._draws = _normal(random, channels)

    def sample(self, interval: float) -> list[float]:
        """The noise of the next sample, an interval [s] after the one before; 0 for the first one."""
        model = self._model
        white, driving = next(self._draws)
        if model.walk > 0.0 and interval > 0.0:
            tau = model.correlation_time
            spread = model.walk * math.sqrt(-0.5 * tau * math.expm1(-2.0 * interval / tau))
            decay = math.exp(-interval / tau)
            self.bias = [decay * bias + spread * draw for bias, draw in zip(self.bias, driving, strict=True)]
            self._bias_variance = decay * decay * self._bias_variance + spread * spread
            self.variance = self._bias_variance + model.stddev**2
        return [bias + model.stddev * draw for bias, draw in zip(self.bias, white, strict=True)]


def _normal(random: np.random.Generator, channels: int) -> Iterator[tuple[list[float], list[float]]]:
    """Yield two standard normal numbers per channel, drawn in blocks, which is much faster."""
    while True:
        yield from random.standard_normal((BLOCK, 2, channels)).tolist()


def generator(seed: int, name: str) -> np.random.Generator:
    """A generator that depends only on a seed and a sensor's name."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, *name.encode()])))


class SampleNoise:
    """The random generators of a sensor, one for each of its samples.

    The random numbers of sample k depend only on the seed, the sensor's name and k. So a sample without subscribers can
    be skipped without changing the others.
    """

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
