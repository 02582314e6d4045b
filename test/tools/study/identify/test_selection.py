"""Which of several candidates enters a fit, and the trial values of split limits."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("numba")

from vds_gz.tools.study.identify.residual_noise import Noise
from vds_gz.tools.study.identify.selection import FittedCandidate, _trials_without, simplest
from vds_gz.tools.study.identify.term_kind import SIGNIFICANT, WORTHWHILE
from vds_gz.tools.study.identify.trial_values import LIMITS, SPLITS, UNLIMITED_AT, TrialContext, fall_limits
from vds_gz.tools.study.identify.trials import Candidate
from vds_gz.tools.study.identify.vehicle_fit import Solution

#: The deceleration limit of an actuator with terms of both limits only.
FALL = TrialContext(1, scale=0.3, highest=math.inf, tried=2.0, beside={"rise": 0, "fall": 1}, gains=(), wheel_base=0.0)


def entry(terms: int, squares: list[float], rank: int = 0) -> FittedCandidate:
    """A fit with some terms that leaves some squares in each block, of a candidate at a position in the list."""
    free, ones = np.arange(5) < terms, np.ones(1)
    solution = Solution(np.zeros(5), free, (), np.empty(0), np.empty((0, 5)), 0.0, Noise(ones, ones, ones))
    candidate = Candidate(str(terms), tuple(range(terms)), lambda point: iter(()), (SIGNIFICANT, WORTHWHILE))
    return FittedCandidate(candidate, rank, terms, solution, np.array(squares)[:, np.newaxis])


def test_of_candidates_that_predict_about_as_well_the_one_with_the_fewest_terms_enters():
    few, many = entry(1, [20.0, 20.0, 20.0, 20.0]), entry(4, [25.0, 14.0, 21.0, 18.0])  # better in the sum only
    assert simplest([many, few], 100.0) is few


def test_of_candidates_with_as_many_terms_the_first_in_the_list_enters():
    first, second = entry(1, [20.0, 20.0, 20.0, 20.0], rank=0), entry(1, [25.0, 14.0, 21.0, 18.0], rank=1)
    assert simplest([second, first], 100.0) is first


def test_a_candidate_that_predicts_every_block_better_enters_whatever_its_number_of_terms():
    few, many = entry(1, [20.0, 20.0, 20.0, 20.0]), entry(4, [16.0, 17.0, 15.0, 16.0])
    assert simplest([few, many], 100.0) is many


def test_a_fit_that_leaves_hardly_anything_enters_although_others_leave_little():
    few, many = entry(1, [0.2, 0.2, 0.2, 0.2]), entry(4, [1e-6, 1e-6, 1e-6, 1e-6])
    assert simplest([few, many], 100.0) is many


def test_split_limits_are_tried_around_the_common_limit():
    common = math.log(2.0)
    point = np.array([common, UNLIMITED_AT])
    starts = list(fall_limits(FALL, point))[len(LIMITS) :]
    assert len(starts) == len(SPLITS)
    for start in starts:
        assert start[0] + start[1] == pytest.approx(2.0 * common)
    falls = [start[1] - start[0] for start in starts]
    assert all(before < after for before, after in pairwise(falls))
    assert min(falls) < 0.0 < max(falls)


def test_without_a_common_limit_no_split_is_tried():
    point = np.array([UNLIMITED_AT, UNLIMITED_AT])
    starts = list(fall_limits(FALL, point))
    assert len(starts) == len(LIMITS)
    assert all(list(start) == [1] for start in starts)


@pytest.mark.parametrize(
    ("group", "trials"),
    [
        ([1], [([UNLIMITED_AT, UNLIMITED_AT], [False, False]), ([0.5, UNLIMITED_AT], [True, False])]),
        ([0, 1], [([UNLIMITED_AT, UNLIMITED_AT], [False, False])]),
    ],
)
def test_a_deceleration_limit_leaves_without_successor_or_as_the_common_limit(group, trials):
    """The terms are the acceleration limit, which is the common one without the other, and the deceleration limit."""
    solution = replace(entry(0, [0.0]).trial, point=np.array([UNLIMITED_AT, 0.5]), free=np.array([False, True]))
    tried = _trials_without(group, solution, np.full(2, UNLIMITED_AT), {1: 0})
    assert [(point.tolist(), free.tolist()) for point, free in tried] == trials
