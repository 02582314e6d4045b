"""Stamps of what a node sends at a rate, in simulated time."""

from __future__ import annotations

import itertools
from collections.abc import Sequence


def assert_on_the_grid(stamps: Sequence[int], period: int) -> None:
    """Stamps are whole periods and none comes twice: a node leaves out what is overdue, which is seldom [ns]."""
    assert {stamp % period for stamp in stamps} == {0}
    gaps = [b - a for a, b in itertools.pairwise(stamps)]
    assert min(gaps) > 0
    assert gaps.count(period) > len(gaps) / 2, sorted(set(gaps))
