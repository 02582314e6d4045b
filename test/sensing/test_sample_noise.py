"""Random numbers by seed, sensor and number of the sample."""

import numpy as np

from vds_gz.sensing.noise import SampleNoise, sample_number


def draws(seed, sensor, sample, count=1000):
    return SampleNoise(seed, sensor).generator(sample).standard_normal(count)


def test_equal_keys_give_equal_bits():
    assert draws(1, "front", 7).tolist() == draws(1, "front", 7).tolist()


def test_seed_sensor_and_sample_each_give_other_numbers():
    keys = [(1, "front", 7), (2, "front", 7), (1, "rear", 7), (1, "front", 8), (12, "front", 7), (1, "2 front", 7)]
    table = np.array([draws(*key) for key in keys])
    assert np.abs(np.corrcoef(table) - np.eye(len(keys))).max() < 0.15


def test_samples_do_not_overlap():
    long, following = draws(0, "a", 0, 100_000), draws(0, "a", 1, 100)
    assert not np.isin(following, long).any()


def test_the_number_of_a_sample():
    assert [sample_number(time, 10.0) for time in (0, 100_000_000, 99_999_999, 3_600_000_000_000)] == [0, 1, 1, 36_000]
