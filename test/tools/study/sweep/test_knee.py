"""Knees of curves in closed form: where a corner, a step or a valley is."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.tools.study.sweep.knee import knee

X = np.linspace(0.0, 0.5, 51)
CORNER = np.maximum(X - 0.25, 0.0)
STEP = np.where(X > 0.305, 3.0 + 0.05 * np.sin(40.0 * X), 0.2 * X)


@pytest.mark.parametrize(
    ("measured", "at"),
    [
        (CORNER, 0.25),
        (STEP, 0.3),
        (np.where(X > 0.305, math.inf, 0.2), 0.3),
        (np.where(X > 0.305, math.nan, STEP), None),  # what was not measured is no rise
        (X**4, 0.31),  # slope of the line up to 0.95 of the range: 4 x^3 = 0.95^(3/4), in parts of the range
        (X, None),
        (X**2, None),
        (np.sqrt(X), None),
        (np.abs(X - 0.2), None),  # a valley
        (np.full(51, 0.3), None),
        (np.full(51, math.inf), None),
        (np.full(51, math.nan), None),
    ],
)
def test_a_knee_is_the_last_point_before_a_steep_rise(measured, at):
    found = knee("a", X, measured)
    assert (found and (found.parameter, found.value, found.above)) == (at and ("a", pytest.approx(at), True))
    mirrored = knee("a", -X, measured)
    assert (mirrored and (mirrored.value, mirrored.above)) == (at and (pytest.approx(-at), False))
    margin = knee("a", X, -measured, -1.0)
    assert (margin and margin.value) == (found and found.value)


@given(st.sampled_from([CORNER, STEP]), st.floats(0.01, 100.0), st.floats(0.01, 100.0), st.permutations(range(51)))
def test_units_and_order_do_not_move_a_knee(measured, across, up, order):
    found = knee("a", across * X[order], 5.0 + up * measured[order])
    assert found.value == pytest.approx(across * knee("a", X, measured).value)
    assert found.sentence("path.peak", {"a": "s", "path.peak": "m"}).startswith("path.peak gets worse steeply above a ")


def test_repeated_values_count_by_their_median():
    """As of a sweep that begins with runs of one value, with different noise."""
    values = np.concatenate([np.zeros(9), X, X[::10]])
    measured = np.concatenate([[0.1, 0.2, 0.0, 0.0, 0.0, 0.0, 0.2, math.inf, 0.0], CORNER, CORNER[::10]])
    result = knee("a", values, measured)
    assert result == knee("a", X, CORNER)
    assert knee("a", np.zeros(60), np.linspace(0.0, 1.0, 60)) is None


@pytest.mark.parametrize("slope", [0.0, 4.0])
def test_an_infinite_margin_is_better_than_all_others(slope):
    """As the time until a path is left, infinite if it never is."""
    left = np.where(X > 0.305, 4.0 - slope * (X - 0.3), math.inf)
    result = knee("dead_time", X, left, -1.0)
    assert (result.value, result.above) == (pytest.approx(0.3), True)
    words = "left gets worse steeply above dead_time 0.3 s (knee), where it is infinite."
    assert result.sentence("left", {"dead_time": "s", "left": "s"}) == words
