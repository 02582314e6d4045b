"""Poses in the plane are a group, and act on points as one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.geometry import Pose

METRES = st.floats(-100.0, 100.0)
POSES = st.builds(Pose, METRES, METRES, st.floats(-10.0, 10.0))


def near(pose: Pose) -> object:
    return pytest.approx([pose.x, pose.y, pose.heading], abs=1e-9)


def numbers(pose: Pose) -> list[float]:
    return [pose.x, pose.y, pose.heading]


@given(POSES, POSES, POSES)
def test_composition_is_associative(a, b, c):
    assert numbers(a.then(b).then(c)) == near(a.then(b.then(c)))


@given(POSES)
def test_the_identity_and_the_inverse(a):
    assert numbers(a.then(Pose())) == near(a)
    assert numbers(Pose().then(a)) == near(a)
    assert numbers(a.then(a.inverse())) == near(Pose())
    assert numbers(a.inverse().then(a)) == near(Pose())


@given(POSES, POSES)
def test_a_pose_seen_from_another_leads_back_to_it(a, b):
    assert numbers(b.then(a.seen_from(b))) == near(a)


@given(POSES, POSES, METRES, METRES)
def test_points_follow_both_transforms(a, b, x, y):
    assert a.then(b).apply(x, y) == pytest.approx(a.apply(*b.apply(x, y)), abs=1e-9)
    many = a.apply(np.array([x, 0.0]), np.array([y, 0.0]))
    assert (many[0][0], many[1][0]) == a.apply(x, y)
    assert (many[0][1], many[1][1]) == (a.x, a.y)


@given(POSES, METRES, METRES)
def test_distances_stay(a, x, y):
    moved = a.apply(x, y)
    assert math.hypot(moved[0] - a.x, moved[1] - a.y) == pytest.approx(math.hypot(x, y), abs=1e-9)


def test_a_quarter_turn():
    assert Pose(1.0, 2.0, math.pi / 2.0).apply(0.5, 0.0) == pytest.approx((1.0, 2.5))
