"""The order in which terms enter a fit, and the trial values of split limits."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("numba")

from vds_gz.tools.study.identify.selection import OVERWHELMING, _ScoredCandidate
from vds_gz.tools.study.identify.trial_values import LIMITS, SPLITS, UNLIMITED_AT, TrialContext, fall_limits

#: The deceleration limit of an actuator with terms of both limits only.
FALL = TrialContext(1, scale=0.3, highest=math.inf, tried=2.0, beside={"rise": 0, "fall": 1}, gains=(), wheel_base=0.0)


def entry(*, gain: float, left: float, rank: int) -> _ScoredCandidate:
    return _ScoredCandidate(None, None, gain, left, rank)


def test_the_first_of_equally_good_candidates_enters():
    first, later = entry(gain=1.0, left=50.0, rank=0), entry(gain=1.1, left=50.0, rank=1)
    assert not later.beats(first)
    assert first.beats(later)
    assert entry(gain=1.2, left=50.0, rank=1).beats(first)


def test_a_candidate_that_leaves_ten_times_less_enters_whatever_its_gain():
    good, better = entry(gain=5.0, left=100.0, rank=0), entry(gain=1.0, left=0.9 * OVERWHELMING * 100.0, rank=1)
    assert better.beats(good)
    assert not good.beats(better)


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
