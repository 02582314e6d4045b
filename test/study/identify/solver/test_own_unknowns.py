"""Unknowns of one part alone are eliminated from its equations: what is found is as if all were found together."""

import numpy as np
import pytest
from helpers.forward_models import FunctionPart, problem

from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.intervals import linear_intervals
from vds_gz.study.identify.solver.protocol import Array, Noise, Space

TIME = np.linspace(0.0, 3.0, 40)
RATE, OFFSETS, STARTS = 0.7, [0.3, -0.2, 0.1], [2.0, -1.0, 4.0]


def decay(rate: float, offset: float, start: float) -> Array:
    return offset + start * np.exp(-rate * TIME)


def measured() -> list[Array]:
    rng = np.random.default_rng(0)
    pairs = zip(OFFSETS, STARTS, strict=True)
    return [decay(RATE, offset, start) + 0.05 * rng.normal(size=len(TIME)) for offset, start in pairs]


def own_space(**bounds: float) -> Space:
    return Space.of([1.0, 1.0], **bounds)


def separate(space: Space) -> list[FunctionPart]:
    return [
        FunctionPart(lambda x, o: decay(x[0], o[0], o[1]), one, own_begin=np.ones(2), own=space) for one in measured()
    ]


def together() -> FunctionPart:
    def function(x: Array, _: Array) -> Array:
        return np.concatenate([decay(x[0], x[1 + 2 * i], x[2 + 2 * i]) for i in range(3)])

    return FunctionPart(function, np.concatenate(measured()))


KNOWN = Noise(np.full((1, 1), 0.05), np.full((1, 1), np.inf))
RATE_SPACE = Space.of([0.3], 1e-3, 10.0)


def test_they_are_found_as_if_all_were_shared() -> None:
    one = solve(problem(separate(own_space()), RATE_SPACE), np.array([[1.5]]), noise=KNOWN, tolerance=1e-12)
    space = Space.of([0.3, *[1.0] * 6], [1e-3, *[-np.inf] * 6])
    every = solve(problem([together()], space), np.array([[1.5, *[1.0] * 6]]), noise=KNOWN, tolerance=1e-12)
    assert one.converged.all()
    assert one.points[0, 0] == pytest.approx(every.points[0, 0], abs=1e-6)
    assert np.concatenate([own[0] for own in one.own]) == pytest.approx(every.points[0, 1:], abs=1e-5)
    assert one.deviance[0] == pytest.approx(every.deviance[0], abs=1e-5)
    variance = np.linalg.inv(every.information[0])[0, 0]
    assert 1.0 / one.information[0, 0, 0] == pytest.approx(variance, rel=1e-4)


def test_columns_that_only_some_samples_depend_on_need_not_be_given_whole() -> None:
    windows = np.repeat(np.arange(3), len(TIME))

    def function(x: Array, o: Array) -> Array:
        starts = np.repeat(o[1:], len(TIME))
        return np.asarray(o[0] + starts * np.exp(-x[0] * np.tile(TIME, 3)))

    found = []
    columns = np.column_stack((np.zeros(len(windows), np.intp), 1 + windows))
    for own_columns in (None, columns):
        part = FunctionPart(
            function,
            np.concatenate(measured()),
            own_begin=np.array([0.1, 1.0, 1.0, 1.0]),
            own=Space.of(np.ones(4)),
            own_columns=own_columns,
        )
        found.append(solve(problem([part], RATE_SPACE), np.array([[1.0]])))
    assert found[0].points == pytest.approx(found[1].points, rel=1e-9)
    assert found[0].own[0] == pytest.approx(found[1].own[0], rel=1e-9)
    assert found[0].information == pytest.approx(found[1].information, rel=1e-9)


def test_their_bounds_are_met_and_their_priors_count() -> None:
    space = Space.of([1.0, 1.0], [0.0, -np.inf], np.inf, [0.0, 0.0], [np.inf, 1e-3])
    found = solve(problem(separate(space), RATE_SPACE), np.array([[1.0]]))
    assert found.converged.all()
    offsets = np.array([own[0, 0] for own in found.own])
    assert (offsets >= 0.0).all()
    assert offsets[1] == 0.0
    assert all(abs(own[0, 1]) < 0.1 for own in found.own)


@pytest.mark.parametrize("sigma", [1e-2, 1e-6])
def test_what_they_do_as_well_as_a_shared_one_says_nothing_about_it(sigma: float) -> None:
    """However precise the data are: what rounding leaves of its information is none."""
    times = np.linspace(0.0, 3.0, 5000)
    measured = 2.0 + np.sin(times) + sigma * np.random.default_rng(0).normal(size=len(times))
    part = FunctionPart(
        lambda x, o: x[0] * np.sin(times) + x[1] + o[0], measured, own_begin=np.zeros(1), own=Space.of([1.0])
    )
    one = problem([part], Space.of([1.0, 1.0]), floor=1e-9)
    found = solve(one, np.full((1, 2), 0.5))
    ends = linear_intervals(one, found, 0, np.ones(2, bool))
    assert ends.determined.tolist() == [[True, True], [False, False]]
    assert ends.low[0] < 1.0 < ends.high[0]
    assert (found.information[0, 1] == 0.0).all()


def test_one_that_nothing_depends_on_stays_and_harms_nobody() -> None:
    part = FunctionPart(
        lambda x, o: decay(x[0], o[0], 2.0), measured()[0], own_begin=np.array([0.0, 5.0]), own=own_space()
    )
    found = solve(problem([part], RATE_SPACE), np.array([[1.0]]))
    assert found.converged.all()
    assert found.own[0][0, 1] == 5.0
    assert found.points[0, 0] == pytest.approx(RATE, abs=0.1)


def test_more_starts_than_memory_allows_are_worked_on_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = np.linspace(0.3, 3.0, 7)[:, None]
    whole = solve(problem(separate(own_space()), RATE_SPACE), starts)
    monkeypatch.setattr("vds_gz.study.identify.solver.gauss_newton.KEPT", 250)
    parts = separate(own_space())
    grouped = solve(problem(parts, RATE_SPACE), starts)
    assert parts[0].calls > whole.iterations.max() + 2
    assert grouped.points == pytest.approx(whole.points, abs=1e-9)
    assert grouped.iterations.tolist() == whole.iterations.tolist()


@pytest.mark.parametrize("far", [1.0, 10.0, 1000.0])
def test_however_far_they_begin_they_hold_up_nobody(far: float) -> None:
    parts = [
        FunctionPart(
            lambda x, o: decay(x[0], o[0], o[1]), one + k * far, own_begin=np.array([0.0, 1.0]), own=own_space()
        )
        for k, one in enumerate(measured())
    ]
    found = solve(problem(parts, RATE_SPACE), np.array([[1.5]]))
    near = solve(problem(separate(own_space()), RATE_SPACE), np.array([[1.5]]))
    assert found.converged.all()
    assert found.iterations[0] <= near.iterations[0] + 4
    assert found.points[0, 0] == pytest.approx(near.points[0, 0], abs=1e-3)
    assert [own[0, 0] - k * far for k, own in enumerate(found.own)] == pytest.approx(OFFSETS, abs=0.1)


def test_two_that_nearly_do_the_same_go_together() -> None:
    """Shortened alone, one would leave the other's step to lead upwards."""

    def function(x: Array, o: Array) -> Array:
        return np.asarray(x[0] * TIME**2 + o[0] * np.cos(0.1 * TIME) + o[1] * np.cos(0.5 * TIME))

    own = Space.of([0.1, 1.0])
    part = FunctionPart(function, function(np.array([0.5]), np.array([1.0, -0.9])), own_begin=np.zeros(2), own=own)
    found = solve(problem([part], Space.of([1.0])), np.array([[0.5]]), warm=True, noise=KNOWN)
    assert found.converged.all()
    assert found.deviance[0] < len(TIME) * np.log(2.0 * np.pi * 0.05**2) + 0.01
