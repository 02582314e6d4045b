"""Noise of sensors, by its statistics and its Allan deviation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.allan import allan_deviation

from vds_gz.sensing.noise import Array, ChannelNoise, NoiseModel, generator

SAMPLES, CHANNELS = 10_000, 200
RATE = 100.0


def record(model: NoiseModel, samples: int = SAMPLES, channels: int = CHANNELS, seed: int = 0) -> Array:
    """Samples of many channels, one row a sample."""
    noise = ChannelNoise(model, channels, generator(seed, "imu"))
    return np.array([noise.sample(1.0 / RATE if k else 0.0) for k in range(samples)])


def slope(samples: Array, counts: tuple[int, int]) -> float:
    low, high = (allan_deviation(samples, count, RATE) for count in counts)
    return math.log(high / low) / math.log(counts[1] / counts[0])


def test_white_noise_falls_with_the_root_of_the_averaging_time_from_its_density():
    samples = record(NoiseModel(stddev=0.02))
    density = 0.02 / math.sqrt(RATE)
    for count in (1, 10, 100, 500):
        assert allan_deviation(samples, count, RATE) == pytest.approx(density / math.sqrt(count / RATE), rel=0.05)
    assert slope(samples, (1, 500)) == pytest.approx(-0.5, abs=0.02)


def test_a_random_walk_rises_with_the_root_of_the_averaging_time():
    samples = record(NoiseModel(walk=3e-3))
    for count in (20, 100, 500):
        seconds = count / RATE
        assert allan_deviation(samples, count, RATE) == pytest.approx(3e-3 * math.sqrt(seconds / 3.0), rel=0.05)
    assert slope(samples, (20, 500)) == pytest.approx(0.5, abs=0.03)


def test_mean_and_spread_of_white_noise_and_no_correlation():
    samples = record(NoiseModel(stddev=0.017)).ravel()
    assert abs(samples.mean()) < 5.0 * 0.017 / math.sqrt(samples.size)
    assert samples.std() == pytest.approx(0.017, rel=0.01)
    assert abs(np.corrcoef(samples[:-1], samples[1:])[0, 1]) < 0.01


def test_biases_have_a_random_sign_and_their_spread():
    biases = np.array(ChannelNoise(NoiseModel(bias=0.3, bias_stddev=0.02), 20_000, generator(1, "imu")).bias)
    assert np.mean(biases < 0.0) == pytest.approx(0.5, abs=0.02)
    assert np.abs(biases).mean() == pytest.approx(0.3, rel=0.01)
    assert np.abs(biases).std() == pytest.approx(0.02, rel=0.03)


def test_a_gauss_markov_error_keeps_its_spread_and_is_forgotten_with_its_correlation_time():
    samples = record(NoiseModel.gauss_markov(1.5, 2.0), samples=2000, channels=2000)
    assert samples[0].std() == pytest.approx(1.5, rel=0.08)
    assert samples[-1].std() == pytest.approx(1.5, rel=0.08)
    lag = round(2.0 * RATE)
    assert np.mean(samples[lag:] * samples[:-lag]) / 1.5**2 == pytest.approx(math.exp(-1.0), abs=0.05)


def test_the_first_sample_has_the_bias_as_it_was_drawn():
    noise = ChannelNoise(NoiseModel(bias=0.1, walk=1.0), 3, generator(0, "imu"))
    drawn = noise.bias.copy()
    assert noise.sample(0.0) == drawn
    assert noise.sample(0.01) != drawn


def test_equal_seeds_and_names_give_equal_bits_and_others_others():
    model = NoiseModel(0.1, 0.2, 0.3, 0.4)
    one, same = (record(model, 10, 3, seed=5) for _ in range(2))
    assert one.tobytes() == same.tobytes()
    assert one.tobytes() != record(model, 10, 3, seed=6).tobytes()
    draws = {generator(0, name).random() for name in ("imu", "imu2", "gps", "")}
    assert len(draws) == 4


def test_one_parameter_does_not_change_the_draws_of_another():
    with_walk = record(NoiseModel(stddev=1.0, walk=1e-12), 50, 3)
    assert with_walk == pytest.approx(record(NoiseModel(stddev=1.0), 50, 3), abs=1e-9)
