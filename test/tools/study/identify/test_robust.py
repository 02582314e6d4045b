"""Intervals of robust least squares contain the true values in 95 of 100 draws, also if the noise is not ideal."""

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.signal import lfilter

from vds_gz.tools.study.identify.robust import ROBUST, half_widths, influence, noise_scale

SAMPLES, DRAWS = 1000, 150
BLOCKS = np.arange(SAMPLES) // 50
#: A constant and a slow oscillation.
DESIGN = np.column_stack((np.ones(SAMPLES), np.sin(np.arange(SAMPLES) / 80.0)))
TRUE = np.array([1.0, -2.0])


def white(random):
    return random.standard_normal(SAMPLES)


def outliers(random):
    return white(random) + 50.0 * (random.random(SAMPLES) < 0.02) * random.choice([-1.0, 1.0], SAMPLES)


def heavy_tails(random):
    return random.standard_t(2.0, SAMPLES)


def correlated(random):
    return lfilter([1.0], [1.0, -0.8], random.standard_normal(SAMPLES))


def fit(measured):
    """Point and half widths of a fit with Cauchy's loss."""
    start = np.linalg.lstsq(DESIGN, measured, rcond=None)[0]
    scale = noise_scale(DESIGN @ start - measured, 1e-9)

    def residuals(x):
        return (DESIGN @ x - measured) / scale

    x = least_squares(residuals, start, lambda x: DESIGN / scale, loss="cauchy", f_scale=ROBUST).x
    return x, half_widths(influence(residuals(x)), DESIGN / scale, BLOCKS, np.zeros((2, 2)))


@pytest.mark.parametrize("noise", [white, outliers, heavy_tails, correlated])
def test_intervals_contain_the_true_values(noise):
    random = np.random.default_rng(1)
    held = np.zeros(2)
    for _ in range(DRAWS):
        x, half = fit(DESIGN @ TRUE + noise(random))
        held += np.abs(x - TRUE) <= half
    assert (held >= 0.9 * DRAWS).all()
    assert (held < DRAWS).all()


def test_the_interval_of_a_parameter_that_one_block_informs_contains_the_true_value():
    """Blocks do not show how such a number repeats, so the autocorrelation of all residuals is used."""
    random, held = np.random.default_rng(4), 0
    design = np.column_stack((DESIGN, BLOCKS == 5)).astype(float)
    for _ in range(DRAWS):
        noise = correlated(random)
        x = np.linalg.lstsq(design, noise, rcond=None)[0]
        scale = np.std(noise)
        half = half_widths((design @ x - noise) / scale, design / scale, BLOCKS, np.zeros((3, 3)))
        held += abs(x[2]) <= half[2]
    assert 0.88 * DRAWS <= held < DRAWS


def test_intervals_of_white_noise_are_those_of_the_covariance():
    measured = DESIGN @ TRUE + white(np.random.default_rng(3))
    expected = 1.96 * np.sqrt(np.diag(np.linalg.inv(DESIGN.T @ DESIGN)))
    assert fit(measured)[1] == pytest.approx(expected, rel=0.1)


def test_an_undetermined_parameter_has_an_infinite_interval():
    same = np.column_stack((DESIGN, DESIGN[:, 1], np.zeros(SAMPLES)))
    half = half_widths(white(np.random.default_rng(2)), same, BLOCKS, np.zeros((4, 4)))
    assert np.isfinite(half).tolist() == [True, False, False, False]


def test_a_prior_bounds_an_interval():
    known = np.diag([0.0, 0.0, 4.0])
    none = np.column_stack((DESIGN, np.zeros(SAMPLES)))
    half = half_widths(white(np.random.default_rng(2)), none, BLOCKS, known)
    assert half[2] == pytest.approx(1.96 * 0.5, rel=0.1)


def test_block_numbers_may_have_gaps():
    residuals = correlated(np.random.default_rng(2))
    expected = half_widths(residuals, DESIGN, BLOCKS, np.zeros((2, 2)))
    assert half_widths(residuals, DESIGN, 7 * BLOCKS + 3, np.zeros((2, 2))) == pytest.approx(expected, rel=1e-12)


def test_numbers_of_two_recordings_of_a_vehicle_that_changes_slowly_agree_within_their_intervals():
    random, agree = np.random.default_rng(4), 0
    for _ in range(DRAWS):
        drifts = lfilter([0.2], [1.0, -0.97], random.standard_normal((2, SAMPLES)))
        (one, width), (other, other_width) = (fit(DESIGN @ TRUE + d * DESIGN[:, 1] + white(random)) for d in drifts)
        agree += abs(one[1] - other[1]) <= np.hypot(width[1], other_width[1])
    assert 0.9 * DRAWS <= agree < DRAWS
