"""The noise of a channel is found from counts of its residuals' sizes, as its likelihood says."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from scipy.stats import t as student

from vds_gz.study.identify.solver.noise import APPROACH, HUBER, Sizes, deviance, relative_weights, weights


@pytest.mark.parametrize("nu", [2.0, 5.0, 30.0, math.inf])
def test_the_deviance_is_minus_twice_the_logarithm_of_the_likelihood(nu: float) -> None:
    residuals = np.random.default_rng(0).normal(size=(3, 50))
    scale = np.array([0.5, 1.0, 2.0])
    law = norm(scale=scale[:, None]) if math.isinf(nu) else student(nu, scale=scale[:, None])
    expected = -2.0 * law.logpdf(residuals).sum(axis=1)
    assert deviance(residuals, scale, np.full(3, nu)) == pytest.approx(expected)


@pytest.mark.parametrize("nu", [APPROACH, 2.0, 10.0, math.inf])
def test_weights_give_half_the_gradient_of_the_deviance(nu: float) -> None:
    residuals = np.array([[-4.0, -0.3, 0.0, 0.7, 1.5, 60.0]])
    scale, kind = np.array([0.8]), np.array([nu])
    weight, factor = weights(residuals, scale, kind)
    step = 1e-6
    for i in range(residuals.shape[1]):
        shift = step * (np.arange(6) == i)
        rise = deviance(residuals + shift, scale, kind) - deviance(residuals - shift, scale, kind)
        assert rise[0] / (2.0 * step) == pytest.approx(2.0 * (weight * factor * residuals)[0, i], abs=1e-6)


@pytest.mark.parametrize("nu", [2.0, 5.0])
def test_weights_are_on_average_the_information_of_fisher(nu: float) -> None:
    residuals = 0.3 * np.random.default_rng(1).standard_t(nu, size=(1, 200_000))
    weight, _ = weights(residuals, np.array([0.3]), np.array([nu]))
    assert weight.mean() == pytest.approx((nu + 1.0) / (nu + 3.0) / 0.09, rel=0.01)


@pytest.mark.parametrize("nu", [2.0, 3.0, 5.0, math.inf])
def test_scale_and_nu_are_those_of_maximum_likelihood(nu: float) -> None:
    rng = np.random.default_rng(2)
    residuals = 0.02 * (rng.normal(size=4000) if math.isinf(nu) else rng.standard_t(nu, size=4000))
    sizes = Sizes(1, 1e-6)
    sizes.add(residuals[None, :1000])
    sizes.add(residuals[None, 1000:])
    scale, found = sizes.noise()
    assert found[0] == nu

    def at(logarithm: float) -> float:
        return float(deviance(residuals[None], np.exp([logarithm]), np.array([nu]))[0])

    assert at(math.log(scale[0])) < minimize_scalar(at, bracket=(-5.0, -3.0)).fun + 0.01


def test_heavy_tails_are_not_believed_for_a_few_samples_of_normal_noise() -> None:
    sizes = Sizes(1000, 1e-6)
    sizes.add(np.random.default_rng(1).normal(size=(1000, 100)))
    assert np.isinf(sizes.noise()[1]).mean() > 0.9


def test_no_scale_is_below_the_floor() -> None:
    sizes = Sizes(2, 1e-3)
    sizes.add(np.array([[0.0] * 100, [1e-9] * 100]))
    scale, nu = sizes.noise()
    assert (scale == 1e-3).all()
    assert np.isinf(nu).all()


def test_the_scale_of_residuals_far_above_the_floor_is_found() -> None:
    sizes = Sizes(1, 1e-9)
    sizes.add(1e3 * np.random.default_rng(3).normal(size=(1, 5000)))
    scale, _ = sizes.noise()
    assert scale[0] == pytest.approx(1e3, rel=0.03)


@pytest.mark.parametrize("size", [1e13, 1e30])
def test_residuals_beyond_all_sizes_count_as_the_largest(size: float) -> None:
    """As of a candidate that runs away: it must neither end the fit nor change the noise of another one."""
    sizes = Sizes(2, 1.0)
    sizes.add(np.array([[1.0, 1.0], [1.0, size]]))
    sizes.add(np.array([[1.0, size], [1.0, 1.0]]))
    assert sizes.counts.sum(axis=1).tolist() == [4.0, 4.0]
    scale, _ = sizes.noise()
    assert scale[0] == scale[1]


def test_points_do_not_know_each_other() -> None:
    residuals = np.random.default_rng(4).standard_t(3, size=(3, 500)) * np.array([[0.1], [1.0], [10.0]])
    together, alone = Sizes(3, 1e-6), Sizes(1, 1e-6)
    together.add(residuals)
    alone.add(residuals[1:2])
    assert together.noise()[0][1] == pytest.approx(alone.noise()[0][0], rel=1e-12)
    assert together.noise()[1][1] == alone.noise()[1][0]


def test_the_approach_sees_nine_of_ten_residuals_and_stays_wide() -> None:
    residuals = np.random.default_rng(5).normal(size=(1, 5000))
    residuals[0, :200] = 1e6
    sizes = Sizes(1, 1e-6)
    sizes.add(residuals)
    assert sizes.approach(1.0)[0] == pytest.approx(1.1, rel=0.1)
    assert sizes.approach(1e4)[0] == 100.0


def test_an_outlier_weighs_little_and_a_sample_without_residual_1() -> None:
    found = relative_weights(np.array([[0.0, 100.0]]), np.ones(1), np.array([3.0]))
    assert found[0, 0] == 1.0
    assert found[0, 1] < 0.001
    assert relative_weights(np.array([[10.0 * HUBER]]), np.ones(1), np.array([APPROACH]))[0, 0] == pytest.approx(0.1)
