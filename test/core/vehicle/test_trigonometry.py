"""Sine, cosine, direction and exponential against the C library's, and exactly where they are exact."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vds_gz.core.vehicle.trigonometry import direction, exponential, sine_cosine

reals = st.floats(-1e6, 1e6)


def near(number: float, expected: float) -> bool:
    """Within two units of the last digit."""
    return abs(number - expected) <= 2.0 * math.ulp(expected)


@given(reals)
@example(math.pi)
@example(0.5 * math.pi)
@example(-1.5 * math.pi)
@example(710449.7)
def test_sine_and_cosine_are_right_to_the_last_two_units(angle):
    sine, cosine = sine_cosine(angle)
    assert near(sine, math.sin(angle))
    assert near(cosine, math.cos(angle))


@given(st.floats(-1e9, 1e9))
def test_sine_is_odd_and_cosine_even_to_the_bit(angle):
    sine, cosine = sine_cosine(angle)
    assert sine_cosine(-angle) == (-sine, cosine)


def test_an_angle_of_zero_is_exact():
    assert sine_cosine(0.0) == (0.0, 1.0)


@given(st.floats(1e6, 1e12))
def test_far_angles_stay_on_the_circle(angle):
    assert math.hypot(*sine_cosine(angle)) == pytest.approx(1.0, abs=1e-9)


@given(reals, reals)
@example(1e300, 1e300)
@example(-5e-324, -1.0)
def test_a_direction_is_right_to_the_last_two_units(y, x):
    if y or x > 0.0:
        assert near(direction(y, x), math.atan2(y, x))


@pytest.mark.parametrize(("y", "x"), [(1.0, math.nan), (0.0, math.nan), (math.nan, 1.0), (math.nan, 0.0)])
def test_nan_has_no_direction(y, x):
    assert math.isnan(direction(y, x))


def test_the_direction_of_the_zero_vector_is_0_and_along_minus_x_pi():
    assert [direction(y, x) for y, x in ((0.0, 0.0), (0.0, -1.0), (-0.0, -1.0))] == [0.0, math.pi, math.pi]


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
