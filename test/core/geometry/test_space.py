"""Orientations and poses in space are groups, and act on vectors and points as such."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.geometry import (
    GRAVITY,
    IDENTITY,
    Transform,
    angles,
    axes,
    between,
    into_body,
    into_world,
    inverse,
    of_axes,
    product,
    quaternion,
    slope_acceleration,
    turned,
)

ANGLES = st.floats(-math.pi, math.pi)
ORIENTATIONS = st.builds(quaternion, ANGLES, ANGLES, ANGLES)
VECTORS = st.tuples(*[st.floats(-10.0, 10.0)] * 3)
TRANSFORMS = st.builds(Transform, VECTORS, ORIENTATIONS)


def near(numbers: object) -> object:
    return pytest.approx(numbers, abs=1e-9)


def both(pose: Transform) -> list[float]:
    return [*pose.position, *pose.orientation]


def same(first: object, second: object) -> bool:
    """Whether two orientations are one; a quaternion and its negative are."""
    return abs(float(np.dot(first, second))) == pytest.approx(1.0, abs=1e-12)  # type: ignore[arg-type]


@given(ORIENTATIONS, ORIENTATIONS, ORIENTATIONS)
def test_orientations_are_a_group(a, b, c):
    assert product(product(a, b), c) == near(product(a, product(b, c)))
    assert product(a, IDENTITY) == a
    assert product(IDENTITY, a) == a
    assert product(a, inverse(a)) == near(IDENTITY)
    assert math.hypot(*product(a, b)) == pytest.approx(1.0)


@given(ORIENTATIONS, ORIENTATIONS, VECTORS)
def test_turns_act_on_vectors_one_after_the_other(a, b, v):
    assert into_world(product(a, b), v) == near(into_world(a, into_world(b, v)))
    assert into_body(a, into_world(a, v)) == near(v)


@given(ORIENTATIONS)
def test_axes_are_a_right_handed_system(q):
    matrix = np.array(axes(q)).T
    assert matrix @ matrix.T == near(np.eye(3))
    assert np.linalg.det(matrix) == pytest.approx(1.0)


@given(ORIENTATIONS)
def test_angles_make_the_orientation_again(q):
    assert same(quaternion(*angles(q)), q)


@given(ANGLES, ANGLES, st.sampled_from([1.0, -1.0]))
def test_angles_make_the_orientation_again_where_it_looks_straight_up_or_down(roll, heading, up):
    q = quaternion(roll, up * math.pi / 2.0, heading)
    assert angles(q)[2] == 0.0
    assert same(quaternion(*angles(q)), q)


@given(st.floats(-3.0, 3.0), st.floats(-1.5, 1.5), st.floats(-3.0, 3.0))
def test_an_orientation_has_the_angles_that_made_it(roll, pitch, heading):
    assert angles(quaternion(roll, pitch, heading)) == near((roll, pitch, heading))


@given(ORIENTATIONS, st.floats(-3.0, 3.0), st.sampled_from([0, 1, 2]))
def test_a_turn_about_one_of_its_axes_is_found(q, angle, axis):
    step = [0.0, 0.0, 0.0]
    step[axis] = angle
    after = product(q, quaternion(*step))
    assert turned(q, after) == near(tuple(step))


@given(ORIENTATIONS, ANGLES)
def test_the_way_between_two_orientations_begins_and_ends_there(q, angle):
    after = product(q, quaternion(0.0, 0.0, 0.1 * angle))
    assert same(between(q, after, 0.0), q)
    assert same(between(q, after, 1.0), after)
    assert same(between(q, after, 0.5), product(q, quaternion(0.0, 0.0, 0.05 * angle)))


@given(TRANSFORMS, TRANSFORMS, TRANSFORMS, VECTORS)
def test_poses_are_a_group(a, b, c, point):
    assert both(a.then(b).then(c)) == near(both(a.then(b.then(c))))
    assert both(a.then(a.inverse())) == near(both(Transform()))
    assert both(a.inverse().then(a)) == near(both(Transform()))
    assert a.then(Transform()) == a
    assert a.then(b).apply(point) == near(a.apply(b.apply(point)))


@pytest.mark.parametrize("pitch", [-0.3, 0.0, 0.1, 0.5])
@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_gravity_along_the_vehicle_goes_by_its_pitch(pitch, yaw):
    along = into_body(quaternion(0.0, pitch, yaw), (0.0, 0.0, -GRAVITY))[0]
    assert along == pytest.approx(slope_acceleration(pitch), abs=1e-12)


@given(ORIENTATIONS)
def test_an_orientation_is_that_of_its_axes(q):
    result = of_axes(*axes(q))
    assert min(math.dist(result, q), math.dist(result, [-part for part in q])) < 1e-12
