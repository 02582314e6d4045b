"""What a solution explains, and how much independent noise is in what it leaves."""

import numpy as np
import pytest
from helpers.forward_models import linear, problem

from vds_gz.study.identify.solver.explanation import autocorrelation_time, explain, with_correlation
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.protocol import Array, Space


def autoregressive(coefficient: float, count: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    values = np.zeros(count)
    for i in range(1, count):
        values[i] = coefficient * values[i - 1] + rng.normal()
    return values * np.sqrt(1.0 - coefficient**2)


@pytest.mark.parametrize("coefficient", [0.5, 0.9])
def test_the_time_of_an_autoregressive_process_is_that_of_theory(coefficient: float) -> None:
    runs = [autoregressive(coefficient, 5000, seed) for seed in range(4)]
    assert autocorrelation_time(runs, 1.0) == pytest.approx((1.0 + coefficient) / (1.0 - coefficient), rel=0.15)


def test_it_sees_correlation_beyond_the_next_sample() -> None:
    white = np.random.default_rng(0).normal(size=20_000)
    average = np.convolve(white, np.ones(8) / np.sqrt(8.0), mode="valid")
    assert autocorrelation_time([average], 1.0) == pytest.approx(8.0, rel=0.25)


def test_independent_noise_counts_whole() -> None:
    assert autocorrelation_time([np.random.default_rng(1).normal(size=5000)], 1.0) < 1.15
    alternating = np.tile([1.0, -1.0], 500)
    assert autocorrelation_time([alternating], 1.0) == 1.0
    assert autocorrelation_time([], 1.0) == autocorrelation_time([np.zeros(100)], 1.0) == 1.0


def test_outliers_neither_make_nor_hide_it_nor_does_what_is_below_the_resolution() -> None:
    values = np.random.default_rng(2).normal(size=4000)
    values[::500] = 1e6
    assert autocorrelation_time([values], 1.0) < 1.2
    correlated = autoregressive(0.8, 4000, 5)
    correlated[::500] = 1e6
    assert autocorrelation_time([correlated], 1.0) == pytest.approx(9.0, rel=0.25)
    assert autocorrelation_time([np.full(1000, 1e-9)], 1e-6, floor=1e-6) < 1.01


def test_predictions_residuals_and_weights_are_those_of_the_point() -> None:
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(200, 2))
    measured = matrix @ [1.0, 2.0] + 0.1 * rng.normal(size=200)
    measured[5] += 50.0
    one = problem([linear(matrix, measured)], Space.of([1.0, 1.0]))
    found = solve(one, np.zeros((2, 2)))
    explained = explain(one, found, 1)[0]
    assert explained.predicted == pytest.approx(matrix @ found.points[1])
    assert explained.residuals == pytest.approx(explained.predicted - measured)
    assert (explained.weights < 0.1).nonzero()[0].tolist() == [5]


def test_a_problem_takes_the_correlation_of_what_is_left() -> None:
    rng = np.random.default_rng(4)
    measured = np.concatenate((rng.normal(size=2000), autoregressive(0.8, 2000, 5)))
    channel = np.repeat([0, 1], 2000)
    part = linear(np.ones((4000, 1)), measured, channel=channel)
    one = problem([part], Space.of([1.0]), channels=2)
    correlation = with_correlation(one, solve(one, np.zeros((1, 1))), 0).correlation
    assert correlation[0] < 1.2
    assert correlation[1] == pytest.approx(9.0, rel=0.25)
