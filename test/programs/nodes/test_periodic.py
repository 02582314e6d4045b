"""Points in time at a regular rate."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.programs.nodes.clock import PeriodicTimer

SECOND = 10**9
#: The system's time, where floating-point numbers are 256 ns apart [ns].
NOW = 1_795_000_000 * SECOND


@given(st.floats(0.01, 1e5), st.integers(0, 2 * NOW))
def test_every_point_is_the_nearest_nanosecond(rate, now):
    timer = PeriodicTimer(0, rate)
    timer.skip(now)
    for _ in range(3):
        count = timer._count
        assert abs(timer.next - count * SECOND / Fraction(rate)) <= Fraction(1, 2)
        timer.advance()


@pytest.mark.parametrize("rate", [100.0, 20.0, 1.0])
def test_whole_periods_of_the_systems_time_are_whole(rate):
    timer = PeriodicTimer(0, rate)
    timer.skip(NOW + 1)
    points = []
    for _ in range(500):
        points.append(timer.next)
        timer.advance()
    assert points[0] == NOW
    assert {b - a for a, b in pairwise(points)} == {round(SECOND / rate)}


def test_skipped_points_are_counted():
    timer = PeriodicTimer(NOW, 50.0)
    assert timer.skip(NOW + SECOND) == 50
    assert timer.next == NOW + SECOND
    assert timer.skip(NOW) == 0
