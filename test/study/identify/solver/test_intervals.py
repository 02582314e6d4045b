"""Intervals hold the true value as often as they say, and end nowhere where the data say nothing."""

import numpy as np
import pytest
from helpers.forward_models import FunctionPart, linear, problem
from scipy.stats import t as student

from vds_gz.study.identify.solver.bootstrap import bootstrap
from vds_gz.study.identify.solver.explanation import with_correlation
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.intervals import linear_intervals
from vds_gz.study.identify.solver.profile import profile_intervals
from vds_gz.study.identify.solver.protocol import Array, Evaluation, Mask, Space

TIME = np.linspace(0.0, 4.0, 40)
TRUTH = np.array([2.0, 0.8])


class Decay:
    """x0 * exp(-x1 * t), with derivatives in closed form."""

    own_begin, own, own_columns = np.zeros(0), Space.of([]), None
    channel = np.zeros(len(TIME), np.intp)

    def __init__(self, measured: Array) -> None:
        self.measured = measured

    def evaluate(self, shared: Array, own: Array, wanted: Mask | None) -> Evaluation:
        shape = np.exp(-shared[:, 1:] * TIME)
        predicted = shared[:, :1] * shape
        return Evaluation(predicted, np.stack((shape, -TIME * predicted), axis=2), np.zeros((*predicted.shape, 0)))


FREE = np.ones(2, bool)
SPACE = Space.of([1.0, 0.5])
CLEAN = TRUTH[0] * np.exp(-TRUTH[1] * TIME)


def test_nine_and_a_half_of_ten_hold_the_true_value() -> None:
    rng = np.random.default_rng(0)
    trials, held = 160, np.zeros((2, 2))
    for _ in range(trials):
        one = problem([Decay(CLEAN + 0.3 * rng.normal(size=len(TIME)))], SPACE)
        found = solve(one, np.array([[1.0, 1.0]]), warm=True)
        for kind, intervals in enumerate((profile_intervals, linear_intervals)):
            ends = intervals(one, found, 0, FREE)
            held[kind] += (ends.low <= TRUTH) & (ends.high >= TRUTH)
    assert (held[0] / trials >= 0.92).all()
    assert (held[0] / trials <= 0.98).all()
    assert (held[1] / trials >= 0.90).all()


def test_of_a_linear_model_both_kinds_are_the_closed_form() -> None:
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(12, 3))
    measured = rng.normal(size=12)
    one = problem([linear(matrix, measured)], Space.of(np.full(3, 5.0)))
    found = solve(one, np.zeros((1, 3)))
    assert np.isinf(found.noise.nu[0, 0])
    expected, squares, _, _ = np.linalg.lstsq(matrix, measured)
    variance = float(squares[0]) / 9.0 * np.diag(np.linalg.inv(matrix.T @ matrix))
    half = student.ppf(0.975, 9) * np.sqrt(variance)
    ends = profile_intervals(one, found, 0, np.ones(3, bool))
    assert ends.determined.all()
    assert ends.high - expected == pytest.approx(half, rel=0.02)
    assert expected - ends.low == pytest.approx(half, rel=0.02)


def test_sides_differ_where_the_likelihood_is_not_quadratic() -> None:
    one = problem([Decay(CLEAN + 0.4 * np.random.default_rng(2).normal(size=len(TIME)))], SPACE)
    found = solve(one, np.array([[1.0, 1.0]]))
    ends = profile_intervals(one, found, 0, FREE)
    assert ends.high[1] - found.points[0, 1] > 1.1 * (found.points[0, 1] - ends.low[1])


def test_where_the_data_determine_no_end_the_bound_stands_for_it() -> None:
    limited = FunctionPart(
        lambda x, _: np.minimum(x[0] * TIME, x[1]), 1.5 * TIME + 0.01 * np.random.default_rng(3).normal(size=len(TIME))
    )
    space = Space.of([0.5, 1.0], [-np.inf, 0.0], [np.inf, 50.0])
    one = problem([limited], space)
    found = solve(one, np.array([[1.4, 9.0]]))
    ends = profile_intervals(one, found, 0, FREE)
    assert ends.determined.tolist() == [[True, True], [True, False]]
    assert found.points[0, 1] == 9.0
    assert ends.low[1] == pytest.approx(6.0, abs=0.15)
    assert ends.high[1] == 50.0


def test_what_does_the_same_as_another_has_no_interval() -> None:
    noise = 0.1 * np.random.default_rng(4).normal(size=len(TIME))
    one = problem([FunctionPart(lambda x, _: (x[0] + x[1]) * TIME, 2.0 * TIME + noise)], Space.of([1.0, 1.0]))
    found = solve(one, np.array([[0.5, 0.7]]))
    for intervals in (linear_intervals, profile_intervals):
        ends = intervals(one, found, 0, FREE)
        assert not ends.determined.any()
        assert np.isinf(ends.low).all()


def test_a_held_unknown_has_an_interval_of_no_length() -> None:
    one = problem([Decay(CLEAN + 0.1 * np.random.default_rng(5).normal(size=len(TIME)))], SPACE)
    free = np.array([True, False])
    found = solve(one, np.array([[1.0, 0.8]]), free=free[None])
    for intervals in (linear_intervals, profile_intervals):
        ends = intervals(one, found, 0, free)
        assert ends.low[1] == ends.high[1] == 0.8
        assert ends.low[0] < 2.0 < ends.high[0]


def test_where_nothing_is_free_nothing_is_fitted() -> None:
    part = Decay(CLEAN + 0.1 * np.random.default_rng(5).normal(size=len(TIME)))
    one = problem([part], Space.of([1.0, 0.5], [2.0, 0.8], [2.0, 0.8]))
    for free in (~FREE, FREE):
        found = solve(one, TRUTH[None], free=free[None])
        ends = profile_intervals(one, found, 0, free)
        assert ends.low.tolist() == ends.high.tolist() == TRUTH.tolist()


def test_a_profile_that_falls_below_the_solution_begins_anew_there() -> None:
    one = problem([Decay(CLEAN + 0.1 * np.random.default_rng(6).normal(size=len(TIME)))], SPACE)
    best = solve(one, np.array([[1.0, 1.0]]))
    short = solve(one, np.array([[1.0, 1.0]]), iterations=1)
    assert short.deviance[0] > best.deviance[0] + 10.0
    ends = profile_intervals(one, short, 0, FREE)
    expected = profile_intervals(one, best, 0, FREE)
    assert ends.solution.points == pytest.approx(best.points, abs=1e-3)
    assert ends.low == pytest.approx(expected.low, abs=1e-2)
    assert ends.high == pytest.approx(expected.high, abs=1e-2)


def test_serial_correlation_widens_intervals_as_it_should() -> None:
    rng = np.random.default_rng(7)
    trials, held = 60, 0
    for _ in range(trials):
        noise = np.zeros(400)
        for i in range(1, 400):
            noise[i] = 0.8 * noise[i - 1] + rng.normal()
        one = problem([linear(np.ones((400, 1)), noise)], Space.of([1.0]))
        found = solve(one, np.zeros((1, 1)), warm=True)
        one = with_correlation(one, found, 0)
        ends = profile_intervals(one, solve(one, found.points, warm=True), 0, np.ones(1, bool))
        held += int(ends.low[0] <= 0.0 <= ends.high[0])
    assert held / trials > 0.85


def test_a_bootstrap_scatters_as_the_information_says() -> None:
    one = problem([Decay(CLEAN + 0.1 * np.random.default_rng(8).normal(size=len(TIME)))], SPACE)
    found = solve(one, np.array([[1.0, 1.0]]))
    drawn = bootstrap(one, found, 0, FREE, count=300, seed=1)
    expected = np.sqrt(np.diag(np.linalg.inv(found.information[0])))
    assert drawn.converged.mean() > 0.99
    assert drawn.points.std(axis=0) == pytest.approx(expected, rel=0.3)
    again = bootstrap(one, found, 0, FREE, count=300, seed=1)
    assert drawn.points.tobytes() == again.points.tobytes()
    assert drawn.points.tobytes() != bootstrap(one, found, 0, FREE, count=300, seed=2).points.tobytes()


def test_a_bootstrap_counts_the_unknowns_as_residuals_that_are_missing() -> None:
    """Six unknowns of 16 samples leave residuals that are a fifth smaller than the noise."""
    matrix, measured = np.random.default_rng(1).normal(size=(16, 6)), np.random.default_rng(10).normal(size=16)
    one = problem([linear(matrix, measured)], Space.of(np.full(6, 5.0)))
    drawn = bootstrap(one, solve(one, np.zeros((1, 6))), 0, np.ones(6, bool), count=400, seed=1)
    squares = np.linalg.lstsq(matrix, measured)[1]
    expected = np.sqrt(float(squares[0]) / 10.0 * np.diag(np.linalg.inv(matrix.T @ matrix)))
    assert np.mean(drawn.points.std(axis=0) / expected) == pytest.approx(1.0, abs=0.1)


def test_an_outlier_does_not_move_a_bootstrap() -> None:
    noise = 0.01 * np.random.default_rng(8).normal(size=400)
    noise[7] = 10.0
    one = problem([linear(np.ones((400, 1)), noise)], Space.of([1.0]))
    found = solve(one, np.zeros((1, 1)))
    drawn = bootstrap(one, found, 0, np.ones(1, bool), count=100, seed=1)
    assert np.mean(drawn.points) == pytest.approx(found.points[0, 0], abs=3e-4)


def test_an_end_at_which_the_likelihood_leaps_is_found_by_halves() -> None:
    def leaping(x: Array, _: Array) -> Array:
        return np.asarray(x[0] * np.minimum(TIME, 2.0) + np.where(x[1] > 1.5, 50.0 * (TIME > 3.0), 0.0))

    noise = 0.01 * np.random.default_rng(3).normal(size=len(TIME))
    part = FunctionPart(leaping, leaping(np.array([1.5, 1.0]), TIME) + noise)
    one = problem([part], Space.of([0.5, 0.2], [-np.inf, 0.0], [np.inf, 9.0]))
    found = solve(one, np.array([[1.4, 1.0]]))
    before = part.calls
    ends = profile_intervals(one, found, 0, FREE)
    assert ends.high[1] == pytest.approx(1.5, abs=0.02)
    assert ends.determined.tolist() == [[True, True], [False, True]]
    assert part.calls - before <= 20
