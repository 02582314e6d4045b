"""Intervals of data whose errors are no independent noise: of one block together, or larger for some samples."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.forward_models import linear, problem

from vds_gz.study.identify.solver.clusters import widened
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.intervals import Intervals, linear_intervals
from vds_gz.study.identify.solver.protocol import Array, Problem, Space

BLOCKS, LENGTH = 30, 20
BLOCK = np.repeat(np.arange(BLOCKS), LENGTH)
LEVELS = np.column_stack((np.ones(len(BLOCK)), np.random.default_rng(0).normal(size=BLOCKS)[BLOCK]))
TRUE = np.array([1.0, -2.0])


def both(measured: Array) -> tuple[Intervals, Intervals]:
    one = problem([linear(LEVELS, measured)], Space.of([1.0, 1.0]))
    free = np.ones(2, bool)
    plain = linear_intervals(one, solve(one, TRUE[None]), 0, free)
    return plain, widened(one, plain, free, [BLOCK])


def holding(every: list[Intervals]) -> float:
    return float(np.mean([(one.low <= TRUE) & (one.high >= TRUE) for one in every]))


def test_where_blocks_err_together_intervals_hold_the_true_value_all_the_same() -> None:
    rng = np.random.default_rng(1)
    draws = [LEVELS @ TRUE + rng.normal(size=BLOCKS)[BLOCK] + 0.1 * rng.normal(size=len(BLOCK)) for _ in range(100)]
    plain, wide = zip(*map(both, draws), strict=True)
    assert holding(list(plain)) < 0.6
    assert holding(list(wide)) > 0.9


def test_independent_noise_widens_them_little_and_none_becomes_narrower() -> None:
    rng = np.random.default_rng(2)
    plain, wide = zip(*(both(LEVELS @ TRUE + rng.normal(size=len(BLOCK))) for _ in range(50)), strict=True)
    ratios = np.array([(w.high - w.low) / (p.high - p.low) for p, w in zip(plain, wide, strict=True)])
    assert (ratios >= 1.0).all()
    assert np.mean(ratios) < 1.25


def test_samples_weigh_by_their_sizes() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.uniform(1.0, 10.0, len(BLOCK))
    measured = LEVELS @ TRUE + sizes * rng.normal(size=len(BLOCK))
    one: Problem = replace(problem([linear(LEVELS, measured)], Space.of([1.0, 1.0])), sizes=[sizes])
    found = solve(one, np.zeros((1, 2)))
    expected, *_ = np.linalg.lstsq(LEVELS / sizes[:, None], measured / sizes, rcond=None)
    assert found.points[0] == pytest.approx(expected, abs=1e-3)
    assert found.noise.scale[0, 0] == pytest.approx(1.0, rel=0.1)
