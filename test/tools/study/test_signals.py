"""Operations on the samples of a signal, against those of scipy and by hand."""

import numpy as np
import pytest
from scipy.ndimage import median_filter

from vds_gz.tools.study.signals import derivative, held, median_and_error, median_filtered


def test_values_hold_until_the_next_and_the_first_one_also_before():
    time, rows = np.array([1.0, 2.0, 2.0, 4.0]), np.array([[1, 10], [2, 20], [3, 30], [4, 40]])
    at = np.array([0.0, 1.0, 1.9, 2.0, 3.9, 4.0, 9.0])
    assert held(time, rows[:, 0], at).tolist() == [1, 1, 1, 3, 3, 4, 4]
    assert held(time, rows, at)[:, 1].tolist() == [10, 10, 10, 30, 30, 40, 40]


def test_a_derivative_uses_the_last_of_equal_stamps():
    time = np.repeat(0.02 * np.arange(200), 3)
    value = np.where(np.arange(len(time)) % 3 == 2, 2.0 * time, 99.0)
    at, slope = derivative(time, value, 0.4)
    assert (at[0], at[-1]) == (pytest.approx(0.2, abs=0.021), pytest.approx(3.78, abs=0.021))
    assert slope == pytest.approx(2.0)


@pytest.mark.parametrize("time", [[], [0.0], [0.0, 0.3]])
def test_a_signal_that_is_too_short_has_no_derivative(time):
    assert [len(values) for values in derivative(np.array(time), np.array(time), 0.4)] == [0, 0]


@pytest.mark.parametrize("window", [3, 5, 7])
def test_medians_are_those_of_scipy_and_a_wild_first_value_is_none(window):
    value = np.random.default_rng(1).standard_normal(50)
    value[0] = value[-1] = 1e6
    medians, half = median_filtered(value, window), window // 2
    assert np.array_equal(medians[half:-half], median_filter(value, window)[half:-half])
    assert np.abs(medians).max() < 5.0


def test_the_error_of_a_median_is_that_of_many_repetitions():
    samples = 3.0 + 2.0 * np.random.default_rng(2).standard_normal((2000, 101))
    middles, errors = np.transpose([median_and_error(sample) for sample in samples])
    assert np.std(middles) == pytest.approx(np.mean(errors), rel=0.05)
