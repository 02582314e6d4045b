"""The solver finds the maximum likelihood, from far away too, within bounds, and whatever the data do not determine."""

import numpy as np
import pytest
from helpers.forward_models import FunctionPart, linear, problem, step_responses

from vds_gz.errors import ArgumentError
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.protocol import Array, Noise, Space

TIME = np.linspace(0.0, 10.0, 600)
RESPONSE = step_responses(TIME)
TRUTH = np.array([1.2, 0.3, 0.25])
SPACE = Space.of([1.0, 0.2, 0.2], [-np.inf, 0.0, 1e-3])


def far_starts(count: int) -> Array:
    rng = np.random.default_rng(3)
    return rng.uniform([0.5, 0.0, 0.02], [2.0, 1.0, 1.0], (count, 3))


def noisy(seed: int, sigma: float = 0.02, outliers: float = 0.0) -> Array:
    rng = np.random.default_rng(seed)
    measured = RESPONSE(TRUTH, np.zeros(0)) + sigma * rng.normal(size=len(TIME))
    out = rng.random(len(TIME)) < outliers
    return np.asarray(measured + np.where(out, 100.0 * sigma * rng.normal(size=len(TIME)), 0.0))


def test_clean_data_are_explained_to_the_last_digits_from_every_start() -> None:
    part = FunctionPart(RESPONSE, RESPONSE(TRUTH, np.zeros(0)))
    found = solve(problem([part], SPACE), far_starts(10))
    assert found.converged.all()
    assert np.abs(found.points - TRUTH).max() < 1e-10
    assert (found.noise.scale == 1e-6).all()
    assert np.isinf(found.noise.nu).all()


def test_a_start_that_has_converged_is_evaluated_no_more() -> None:
    part = FunctionPart(RESPONSE, noisy(0))
    found = solve(problem([part], SPACE), far_starts(6))
    assert part.lanes == found.iterations.sum() + 2 * len(found.points)


def test_one_evaluation_serves_all_starts_of_an_iteration() -> None:
    part = FunctionPart(RESPONSE, noisy(0))
    found = solve(problem([part], SPACE), far_starts(6))
    assert part.calls == found.iterations.max() + 2


def test_all_starts_find_the_same_in_noise() -> None:
    found = solve(problem([FunctionPart(RESPONSE, noisy(1))], SPACE), far_starts(10))
    deviations = np.sqrt(np.diag(np.linalg.inv(found.information[found.best])))
    assert found.converged.all()
    assert (np.abs(found.points - found.points[found.best]) < 0.05 * deviations).all()
    assert (np.abs(found.points[found.best] - TRUTH) < 4.0 * deviations).all()
    assert found.noise.scale[found.best, 0] == pytest.approx(0.02, rel=0.1)


def test_equal_inputs_give_equal_bits() -> None:
    one, other = (solve(problem([FunctionPart(RESPONSE, noisy(2))], SPACE), far_starts(4)) for _ in range(2))
    assert one.points.tobytes() == other.points.tobytes()
    assert one.deviance.tobytes() == other.deviance.tobytes()


def test_a_linear_model_gives_least_squares() -> None:
    rng = np.random.default_rng(4)
    matrix, measured = rng.normal(size=(80, 5)), rng.normal(size=80)
    known = Noise(np.full((1, 1), 0.7), np.full((1, 1), np.inf))
    found = solve(problem([linear(matrix, measured)], Space.of(np.full(5, 10.0))), np.zeros((1, 5)), noise=known)
    expected, squares, _, _ = np.linalg.lstsq(matrix, measured)
    assert found.points[0] == pytest.approx(expected, abs=1e-6)
    assert found.information[0] == pytest.approx(matrix.T @ matrix / 0.49, rel=1e-6)
    assert found.deviance[0] == pytest.approx(float(squares[0]) / 0.49 + 80 * np.log(2 * np.pi * 0.49))


def test_a_narrow_curved_valley_is_followed_to_its_end() -> None:
    banana = FunctionPart(lambda x, _: np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]]), np.zeros(2))
    known = Noise(np.full((3, 1), 0.1), np.full((3, 1), np.inf))
    starts = np.array([[-1.2, 1.0], [-3.0, 4.0], [2.0, -2.0]])
    found = solve(problem([banana], Space.of([1.0, 1.0])), starts, noise=known, iterations=100)
    assert found.converged.all()
    assert np.abs(found.points - 1.0).max() < 1e-4


def test_what_nothing_depends_on_stays_where_it_is() -> None:
    part = FunctionPart(lambda x, _: RESPONSE(x[:3], x[3:]), noisy(5))
    start = np.array([[1.0, 0.2, 0.4, 0.123]])
    found = solve(problem([part], Space.of([1.0, 0.2, 0.2, 1.0], [-np.inf, 0.0, 1e-3, 0.0])), start)
    assert found.converged.all()
    assert found.points[0, 3] == 0.123
    assert np.abs(found.points[0, :3] - TRUTH).max() < 0.01
    assert found.information[0, 3, 3] == 0.0


def test_two_that_do_the_same_share_what_is_found() -> None:
    part = FunctionPart(lambda x, _: RESPONSE(np.array([x[0] + x[3], x[1], x[2]]), x), noisy(6))
    found = solve(problem([part], Space.of([1.0, 0.2, 0.2, 1.0], [-np.inf, 0.0, 1e-3, 0.0])), np.full((1, 4), 0.4))
    assert found.converged.all()
    assert found.points[0, 0] + found.points[0, 3] == pytest.approx(1.2, abs=0.01)


def test_held_unknowns_stay_exactly_and_others_find_their_best() -> None:
    starts = np.array([[1.0, 0.2, 0.31], [1.0, 0.37, 0.4]])
    free = np.array([[True, True, False], [True, False, True]])
    found = solve(problem([FunctionPart(RESPONSE, noisy(7))], SPACE), starts, free=free)
    assert found.converged.all()
    assert found.points[0, 2] == 0.31
    assert found.points[1, 1] == 0.37
    assert (found.points[free] != starts[free]).all()
    assert (found.information[0, 2] == 0.0).all()


def test_a_bound_in_the_way_is_held_exactly_and_released_again() -> None:
    rng = np.random.default_rng(8)
    matrix = rng.normal(size=(200, 3))
    measured = matrix @ np.array([1.0, -0.5, 2.0]) + 0.01 * rng.normal(size=200)
    space = Space.of([1.0, 1.0, 1.0], [-10.0, 0.0, 0.0], [10.0, 10.0, 1.5])
    starts = np.array([[0.0, 3.0, 0.5], [0.0, 0.0, 0.0], [-5.0, 1.0, 1.5]])
    found = solve(problem([linear(matrix, measured)], space), starts)
    rest = measured - 1.5 * matrix[:, 2]
    expected = float(matrix[:, 0] @ rest / (matrix[:, 0] @ matrix[:, 0]))
    assert found.converged.all()
    assert (found.points[:, 1] == 0.0).all()
    assert (found.points[:, 2] == 1.5).all()
    assert found.points[:, 0] == pytest.approx(np.full(3, expected), abs=1e-4)


def test_a_prior_is_what_a_measurement_would_be() -> None:
    rng = np.random.default_rng(9)
    matrix = np.column_stack((np.ones(60), np.ones(60) + 1e-3 * rng.normal(size=60)))
    measured = matrix @ np.array([1.0, 2.0]) + 0.1 * rng.normal(size=60)
    space = Space.of([1.0, 1.0], mean=[0.7, 0.0], sigma=[0.05, np.inf])
    known = Noise(np.full((1, 1), 0.1), np.full((1, 1), np.inf))
    found = solve(problem([linear(matrix, measured)], space), np.zeros((1, 2)), noise=known)
    rows = np.vstack((matrix / 0.1, [1.0 / 0.05, 0.0]))
    expected = np.linalg.lstsq(rows, np.append(measured / 0.1, 0.7 / 0.05))[0]
    assert found.points[0] == pytest.approx(expected, abs=1e-5)
    assert found.information[0] == pytest.approx(rows.T @ rows, rel=1e-6)


def test_a_start_without_a_number_does_not_harm_the_others() -> None:
    part = FunctionPart(lambda x, _: RESPONSE(x, x) if x[0] > 0.0 else np.full(len(TIME), np.nan), noisy(10))
    found = solve(problem([part], SPACE), np.array([[-1.0, 0.2, 0.3], [1.0, 0.2, 0.3]]))
    assert np.isinf(found.deviance[0])
    assert not found.converged[0]
    assert found.converged[1]
    assert found.best == 1


def test_outliers_neither_mislead_nor_cost_much() -> None:
    rng = np.random.default_rng(12)
    matrix = rng.normal(size=(150, 2))
    clean = rng.normal(size=(300, 150))
    dirty = np.where(rng.random(clean.shape) < 0.05, 100.0 * rng.normal(size=clean.shape), clean)
    errors = [errors_of(matrix, measured) for measured in (clean, dirty)]
    assert np.square(errors[0]).mean() / np.square(errors[1]).mean() > 0.75


def test_normal_noise_is_weighed_as_least_squares_do() -> None:
    rng = np.random.default_rng(11)
    matrix, measured = rng.normal(size=(100, 2)), rng.normal(size=(300, 100))
    plain = np.linalg.lstsq(matrix, measured.T)[0]
    assert np.square(plain).mean() / np.square(errors_of(matrix, measured)).mean() > 0.95


def errors_of(matrix: Array, measured: Array) -> Array:
    """What is found of a linear model from many times the same, one start for each."""
    one = problem([linear(matrix, measured[0])], Space.of([1.0, 1.0]))
    found = solve(one, np.zeros((len(measured), 2)), observed=lambda _, starts: measured[starts])
    assert found.converged.all()
    return found.points


@pytest.mark.parametrize("floors", [[0.0], [-1.0]])
def test_floors_must_be_above_zero(floors: list[float]) -> None:
    wrong = problem([FunctionPart(RESPONSE, noisy(0))], SPACE, floors[0])
    with pytest.raises(ArgumentError, match="greater than 0"):
        solve(wrong, far_starts(1))


def test_a_solution_is_gone_on_from_as_it_is() -> None:
    part = FunctionPart(RESPONSE, noisy(13))
    one = problem([part], SPACE)
    found = solve(one, far_starts(3))
    before = part.calls
    again = solve(one, found, warm=True)
    assert part.calls == before + 1
    assert again.points.tobytes() == found.points.tobytes()
    assert again.deviance == pytest.approx(found.deviance)


def test_a_kink_at_the_solution_does_not_keep_a_start_busy() -> None:
    def kinked(x: Array, _: Array) -> Array:
        return np.asarray((np.abs(x[0] - 0.3) + 0.2 * (x[0] - 0.3)) * TIME)

    part = FunctionPart(kinked, 0.02 * np.random.default_rng(14).normal(size=len(TIME)) - 0.002 * TIME)
    found = solve(problem([part], Space.of([0.5])), np.array([[1.0], [0.0]]))
    assert found.points == pytest.approx(np.full((2, 1), 0.3), abs=1e-3)
    assert found.iterations.max() <= 40


def test_dead_times_between_steps_are_found_soon_and_scatter_as_they_should() -> None:
    def in_steps(x: Array, o: Array) -> Array:
        fraction, whole = np.modf(x[1] / 0.02)
        lower, upper = (RESPONSE(np.array([x[0], 0.02 * (whole + k), x[2]]), o) for k in (0, 1))
        return np.asarray(lower + fraction * (upper - lower))

    clean = in_steps(TRUTH, TIME)
    measured = clean + 0.1 * np.random.default_rng(16).normal(size=(100, len(clean)))
    one = problem([FunctionPart(in_steps, clean)], SPACE)
    found = solve(one, np.tile(TRUTH, (100, 1)), observed=lambda _, starts: measured[starts], warm=True)
    assert found.converged.all()
    assert found.iterations.mean() < 8.0
    deviations = np.sqrt(np.linalg.inv(found.information).diagonal(axis1=1, axis2=2))
    assert ((found.points - TRUTH) / deviations).std(axis=0) == pytest.approx(np.ones(3), abs=0.2)


def test_a_start_that_another_one_is_far_ahead_of_is_given_up() -> None:
    def wavy(x: Array, _: Array) -> Array:
        return np.asarray(np.sin(2.0 * x[0] * TIME) + x[1])

    measured = wavy(np.array([1.0, 0.1]), TIME) + 0.1 * np.random.default_rng(15).normal(size=len(TIME))
    starts = np.array([[1.05, 0.0], [3.0, 0.0], [0.97, 0.0]])
    one = problem([FunctionPart(wavy, measured)], Space.of([0.05, 1.0]))
    found = solve(one, starts, margin=10.0)
    assert found.converged.tolist() == [True, False, True]
    assert found.iterations[1] < solve(one, starts).iterations[1]
    nowhere = np.vstack((starts, [np.nan, 0.0]))
    assert solve(one, nowhere, margin=10.0).iterations[1] == found.iterations[1]
    alone = solve(one, starts[1:2], margin=10.0, rival=float(found.deviance[0]))
    assert alone.iterations[0] < solve(one, starts[1:2], margin=10.0).iterations[0]
