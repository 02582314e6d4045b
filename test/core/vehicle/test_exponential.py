"""The exponential against the C library's, and exactly where it is exact."""

import math

from hypothesis import example, given
from hypothesis import strategies as st

from vds_gz.core.vehicle.trigonometry import exponential


@given(st.floats(-700.0, 700.0))
@example(-0.5 * math.log(2.0))
@example(-1e-3 / 0.3)
@example(-1e-300)
def test_the_exponential_is_right_to_the_last_unit(x):
    assert abs(exponential(x) - math.exp(x)) <= math.ulp(math.exp(x))


@given(st.floats(-1e300, -700.0))
@example(-745.0)
@example(-math.inf)
def test_the_exponential_vanishes_far_below_zero(x):
    assert 0.0 <= exponential(x) <= 1e-303
    assert abs(exponential(x) - math.exp(x)) <= 5e-324


def test_the_exponential_of_zero_is_one():
    assert exponential(0.0) == 1.0
