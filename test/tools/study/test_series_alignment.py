"""Alignment of two series: the shift, the gain and the correlation are those with which one was made of the other."""

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import linregress

from vds_gz.tools.study.recording import Series
from vds_gz.tools.study.series_alignment import common_grid, linear_fit, moments, relation

TIME = 0.02 * np.arange(3000)


def steps(seed, size):
    return np.repeat(np.random.default_rng(seed).uniform(-size, size, 60), 50)


def test_the_fit_is_that_of_scipy_and_its_moments_can_be_added():
    random = np.random.default_rng(3)
    a, b = random.standard_normal((2, len(TIME)))
    b += 0.7 * a + 2.0
    parts = [moments(TIME, a, b, samples, [0.0]) for samples in np.array_split(np.arange(len(TIME)), 3)]
    [gain], [residual], [correlation] = linear_fit(sum(parts))
    expected = linregress(a, b)
    assert gain == pytest.approx(expected.slope)
    assert correlation == pytest.approx(expected.rvalue)
    assert residual == pytest.approx(np.var(b - expected.slope * a))


def test_constant_signals_have_no_correlation():
    ones = np.full(len(TIME), 0.1)
    for a, b in ((ones, TIME), (TIME, ones), (ones, ones)):
        assert linear_fit(moments(TIME, a, b, np.arange(len(TIME)), [0.0])).correlation == 0.0


@pytest.mark.parametrize("shift", [-0.4, 0.0, 0.26])
def test_the_shift_is_found_between_even_and_uneven_samples(shift):
    uneven = np.sort(np.random.default_rng(4).uniform(0.0, 60.0, 4000))
    b = 3.0 + 0.5 * np.interp(uneven - shift, TIME, steps(5, 1.0))
    grid = common_grid(Series(TIME, steps(5, 1.0)), Series(uneven, b), -0.5, 0.5)
    fit = grid.fit()
    best = np.argmax(fit.correlation)
    assert grid.shifts[best] == pytest.approx(shift, abs=0.011)
    assert fit.gain[best] == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize("gain", [1.0, -0.4])
def test_a_response_behind_a_lag_is_related_to_its_command(gain):
    command = steps(6, 1.0)
    kept = np.exp(-0.02 / 0.3)
    response = gain * lfilter([1.0 - kept], [1.0, -kept], np.append(np.zeros(20), command[:-20]))
    match = relation(Series(TIME, command), Series(TIME, response), 0.0, 2.0, held=True)
    assert match.gain == pytest.approx(gain, rel=0.02)
    assert match.correlation == pytest.approx(np.sign(gain), abs=0.005)
    assert match.unexplained < 0.05


def test_short_and_constant_series_have_no_relation():
    series, constant = Series(TIME, steps(7, 1.0)), Series(TIME, np.ones(len(TIME)))
    assert relation(series, constant, -0.5, 0.5) is None
    assert relation(constant, series, -0.5, 0.5) is None
    assert relation(Series(TIME[:19], TIME[:19]), series, -0.5, 0.5) is None
    assert relation(Series(TIME[:100], TIME[:100]), series, -0.5, 0.5) is None


@pytest.mark.parametrize("factor", [1.0, 0.75])
def test_a_gain_that_spikes_cause_is_no_fault(factor):
    """Spikes in one of 30 samples lower the gain by least squares; most samples show the true factor."""
    speed = steps(5, 0.3)
    spiked = speed + np.where(np.arange(len(TIME)) % 30 == 0, 0.6 * np.sign(speed), 0.0)
    match = relation(Series(TIME, spiked), Series(TIME, factor * speed), -0.5, 0.5)
    assert match.gain < 0.8 * factor
    assert match.ratio == pytest.approx(factor, rel=0.02)
    assert match.agrees
    assert relation(Series(TIME, speed), Series(TIME, factor * speed), -0.5, 0.5).agrees == (factor == 1.0)
