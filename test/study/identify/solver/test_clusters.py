"""Intervals of data whose errors are no independent noise: of one block together, or larger for some samples."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.forward_models import linear, problem

from vds_gz.study.identify.solver.bootstrap import bootstrap
from vds_gz.study.identify.solver.clusters import widened
from vds_gz.study.identify.solver.gauss_newton import solve
from vds_gz.study.identify.solver.intervals import Intervals, linear_intervals
from vds_gz.study.identify.solver.protocol import Array, Problem, Space

BLOCKS, LENGTH = 30, 20
BLOCK = np.repeat(np.arange(BLOCKS), LENGTH)
LEVELS = np.column_stack((np.ones(len(BLOCK)), np.random.default_rng(0).normal(size=BLOCKS)[BLOCK]))
TRUE = np.array([1.0, -2.0])


def both(measured: Array, levels: Array = LEVELS) -> tuple[Intervals, Intervals]:
    one = problem([linear(levels, measured)], Space.of([1.0, 1.0]))
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


def test_what_one_block_alone_determines_is_as_uncertain_as_the_rest() -> None:
    """Nothing is left of it without that block, or next to nothing."""
    rng = np.random.default_rng(4)
    for elsewhere in (0.0, 1e-3):
        once = np.column_stack((LEVELS[:, 0], np.where(BLOCK == 7, 1.0, elsewhere * LEVELS[:, 1])))
        draws = [once @ TRUE + rng.normal(size=BLOCKS)[BLOCK] + 0.1 * rng.normal(size=len(BLOCK)) for _ in range(60)]
        plain, wide = zip(*(both(one, once) for one in draws), strict=True)
        assert holding(list(plain)) < 0.6
        assert holding(list(wide)) > 0.9
        assert max(np.max(w.high - w.low) for w in wide) < 10.0


def test_a_bootstrap_of_blocks_that_err_together_is_as_wide() -> None:
    rng = np.random.default_rng(5)
    measured = LEVELS @ TRUE + rng.normal(size=BLOCKS)[BLOCK] + 0.1 * rng.normal(size=len(BLOCK))
    one, free = problem([linear(LEVELS, measured)], Space.of([1.0, 1.0])), np.ones(2, bool)
    found = solve(one, TRUE[None])
    drawn = bootstrap(one, found, 0, free, count=300, seed=1, clusters=[BLOCK]).points
    low, high = np.percentile(drawn, (2.5, 97.5), axis=0)
    _, wide = both(measured)
    assert high - low == pytest.approx(wide.high - wide.low, rel=0.3)
    assert np.mean(drawn, axis=0) == pytest.approx(found.points[0], abs=0.1)


def test_samples_weigh_by_their_sizes() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.uniform(1.0, 10.0, len(BLOCK))
    measured = LEVELS @ TRUE + sizes * rng.normal(size=len(BLOCK))
    one: Problem = replace(problem([linear(LEVELS, measured)], Space.of([1.0, 1.0])), sizes=[sizes])
    found = solve(one, np.zeros((1, 2)))
    expected, *_ = np.linalg.lstsq(LEVELS / sizes[:, None], measured / sizes, rcond=None)
    assert found.points[0] == pytest.approx(expected, abs=1e-3)
    assert found.noise.scale[0, 0] == pytest.approx(1.0, rel=0.1)
