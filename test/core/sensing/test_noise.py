"""Noise of sensors by its statistics and Allan deviation; noise of measurements; noise of numbered samples."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from helpers.allan import allan_deviation

from vds_gz.core.arrays import Array
from vds_gz.core.geometry import Pose
from vds_gz.core.parameters.node import LocalizationParameters, MeasurementNoiseParameters
from vds_gz.core.sensing.estimate import StateEstimator
from vds_gz.core.sensing.localization import MeasurementNoise
from vds_gz.core.sensing.noise import ChannelNoise, NoiseModel, SampleNoise, generator, sample_number

SAMPLES, CHANNELS = 10_000, 80
RATE = 100.0


def record(model: NoiseModel, samples: int = SAMPLES, channels: int = CHANNELS, seed: int = 0) -> Array:
    """Samples of many channels, one row per sample."""
    noise = ChannelNoise(model, channels, generator(seed, "imu"))
    return np.array([noise.sample(1.0 / RATE if k else 0.0) for k in range(samples)])


def slope(samples: Array, counts: tuple[int, int]) -> float:
    low, high = (allan_deviation(samples, count, RATE) for count in counts)
    return math.log(high / low) / math.log(counts[1] / counts[0])


def test_the_allan_deviation_of_white_noise_falls_with_the_root_of_the_averaging_time():
    samples = record(NoiseModel(stddev=0.02))
    density = 0.02 / math.sqrt(RATE)
    for count in (1, 10, 100, 500):
        assert allan_deviation(samples, count, RATE) == pytest.approx(density / math.sqrt(count / RATE), rel=0.05)
    assert slope(samples, (1, 500)) == pytest.approx(-0.5, abs=0.02)


def test_the_allan_deviation_of_a_random_walk_rises_with_the_root_of_the_averaging_time():
    samples = record(NoiseModel(walk=3e-3))
    for count in (20, 100, 500):
        seconds = count / RATE
        assert allan_deviation(samples, count, RATE) == pytest.approx(3e-3 * math.sqrt(seconds / 3.0), rel=0.05)
    assert slope(samples, (20, 500)) == pytest.approx(0.5, abs=0.03)


def test_mean_spread_and_correlation_of_white_noise():
    samples = record(NoiseModel(stddev=0.017)).ravel()
    assert abs(samples.mean()) < 5.0 * 0.017 / math.sqrt(samples.size)
    assert samples.std() == pytest.approx(0.017, rel=0.01)
    assert abs(np.corrcoef(samples[:-1], samples[1:])[0, 1]) < 0.01


def test_biases_have_a_random_sign_and_their_spread():
    biases = np.array(ChannelNoise(NoiseModel(bias=0.3, bias_stddev=0.02), 20_000, generator(1, "imu")).bias)
    assert np.mean(biases < 0.0) == pytest.approx(0.5, abs=0.02)
    assert np.abs(biases).mean() == pytest.approx(0.3, rel=0.01)
    assert np.abs(biases).std() == pytest.approx(0.02, rel=0.03)


def test_a_gauss_markov_error_has_its_spread_and_correlation_time():
    samples = record(NoiseModel.gauss_markov(1.5, 2.0), samples=1000, channels=800)
    assert samples[0].std() == pytest.approx(1.5, rel=0.08)
    assert samples[-1].std() == pytest.approx(1.5, rel=0.08)
    lag = round(2.0 * RATE)
    assert np.mean(samples[lag:] * samples[:-lag]) / 1.5**2 == pytest.approx(math.exp(-1.0), abs=0.05)


def test_the_first_sample_has_the_initial_bias():
    noise = ChannelNoise(NoiseModel(bias=0.1, walk=1.0), 3, generator(0, "imu"))
    drawn = noise.bias.copy()
    assert noise.sample(0.0) == drawn
    assert noise.sample(0.01) != drawn


def test_noise_depends_on_seed_and_name_alone():
    model = NoiseModel(0.1, 0.2, 0.3, 0.4)
    first, second = (record(model, 10, 3, seed=5) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert first.tobytes() != record(model, 10, 3, seed=6).tobytes()
    draws = {generator(0, name).random() for name in ("imu", "imu2", "gps", "")}
    assert len(draws) == 4


def test_one_parameter_does_not_change_the_draws_of_another():
    with_walk = record(NoiseModel(stddev=1.0, walk=1e-12), 50, 3)
    assert with_walk == pytest.approx(record(NoiseModel(stddev=1.0), 50, 3), abs=1e-9)


# Measurements of the state

TRUE = Pose(1.0, 2.0, 3.0), 4.0, 0.5


def test_measurements_without_noise_are_true():
    assert MeasurementNoise(MeasurementNoiseParameters()).of(*TRUE) == TRUE


def test_equal_seeds_give_equal_measurements_also_after_a_reset():
    first, second = (MeasurementNoise(MeasurementNoiseParameters(add_measurement_noise=True, seed=7)) for _ in range(2))
    run = [first.of(*TRUE) for _ in range(5)]
    assert run == [second.of(*TRUE) for _ in range(5)]
    first.reset()
    assert run == [first.of(*TRUE) for _ in range(5)]


def test_measurements_have_the_spread_of_their_parameters():
    p = MeasurementNoiseParameters(
        add_measurement_noise=True,
        pos_noise_stddev=0.1,
        vel_noise_stddev=0.2,
        rpy_noise_stddev=0.3,
        steer_noise_stddev=0.4,
    )
    noise = MeasurementNoise(p)
    draws = (noise.of(*TRUE) for _ in range(4000))
    errors = np.array([(*dataclasses.astuple(pose), speed, steering) for pose, speed, steering in draws])
    errors -= (1.0, 2.0, 3.0, 4.0, 0.5)
    for values, spread in zip(errors.T, (0.1, 0.1, 0.3, 0.2, 0.4), strict=True):
        assert np.std(values) == pytest.approx(spread, rel=0.05)
        assert abs(np.mean(values)) < 4.0 * spread / np.sqrt(len(values))


def test_a_reset_repeats_drift_and_measurement_noise():
    estimator = StateEstimator(LocalizationParameters(), MeasurementNoiseParameters(add_measurement_noise=True))
    runs = []
    for _ in range(2):
        runs.append([estimator.update(20_000_000 * k, Pose(0.1 * k, 0.0, 0.01 * k), 1.0, 0.2, 0.02) for k in range(5)])
        estimator.reset(Pose())
    assert runs[0] == runs[1]
    assert runs[0][0].speed != 1.0


# Samples by number


def draws(seed, sensor, sample, count=1000):
    return SampleNoise(seed, sensor).generator(sample).standard_normal(count)


def test_equal_keys_give_samples_of_equal_bits():
    assert draws(1, "front", 7).tolist() == draws(1, "front", 7).tolist()


def test_seed_sensor_and_sample_number_change_the_noise():
    keys = [(1, "front", 7), (2, "front", 7), (1, "rear", 7), (1, "front", 8), (12, "front", 7), (1, "2 front", 7)]
    table = np.array([draws(*key) for key in keys])
    assert np.abs(np.corrcoef(table) - np.eye(len(keys))).max() < 0.15


def test_samples_do_not_overlap():
    long, following = draws(0, "a", 0, 100_000), draws(0, "a", 1, 100)
    assert not np.isin(following, long).any()


def test_the_number_of_a_sample():
    assert [sample_number(time, 10.0) for time in (0, 100_000_000, 99_999_999, 3_600_000_000_000)] == [0, 1, 1, 36_000]
