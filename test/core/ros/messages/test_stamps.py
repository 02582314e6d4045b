"""Times that a stamp cannot hold saturate."""

from types import SimpleNamespace

import pytest

from vds_gz.core.ros.messages.fields import FIRST, LAST, set_stamp, stamp_ns


@pytest.mark.parametrize(
    ("time", "held"),
    [(0, 0), (-1, -1), (LAST, LAST), (LAST + 1, LAST), (2**80, LAST), (FIRST, FIRST), (FIRST - 1, FIRST)],
)
def test_a_stamp_holds_the_nearest_time(time, held):
    stamp = SimpleNamespace()
    set_stamp(stamp, time)
    assert -(2**31) <= stamp.sec < 2**31
    assert 0 <= stamp.nanosec < 10**9
    assert stamp_ns(stamp) == held


def test_a_stamp_with_nanoseconds_of_more_than_a_second_saturates():
    assert stamp_ns(SimpleNamespace(sec=2**31 - 1, nanosec=2**32 - 1)) == LAST
