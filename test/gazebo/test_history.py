"""Where the vehicle was, between two placements."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.plant.gazebo.history import History
from vds_gz.plant.gazebo.link import Placement
from vds_gz.plant.gazebo.rotation import heading, into_body, turn_about_z

MS = 1_000_000


def circle(time, speed=2.0, yaw_rate=0.5, pitch=0.0):
    """A placement on a circle that begins at the origin along x, on a plane that is pitched."""
    angle = yaw_rate * time * 1e-9
    radius = speed / yaw_rate
    x, y = radius * math.sin(angle), radius * (1.0 - math.cos(angle))
    s, c = math.sin(pitch), math.cos(pitch)
    half, tilt = angle / 2.0, pitch / 2.0
    turn = (
        math.sin(tilt) * math.sin(half),
        math.sin(tilt) * math.cos(half),
        math.cos(tilt) * math.sin(half),
        math.cos(tilt) * math.cos(half),
    )
    return Placement(time, (c * x, y, -s * x), turn)


@given(at=st.integers(10, 100), pitch=st.floats(-0.4, 0.4), every=st.sampled_from([1, 5, 10]))
def test_motion_along_a_circle_also_on_a_slope(at, pitch, every):
    history = History()
    for k in range(0, 130, every):
        history.add(circle(k * MS, pitch=pitch))
    motion = history.motion(at * MS)
    assert motion.v_x == pytest.approx(2.0, rel=1e-3)
    assert motion.v_y == pytest.approx(0.0, abs=0.01)
    assert motion.yaw_rate == pytest.approx(0.5, rel=1e-3)
    true = circle(at * MS, pitch=pitch)
    assert (motion.x, motion.y) == pytest.approx(true.position[:2], abs=1e-4)
    assert motion.heading == pytest.approx(heading(true.orientation), abs=1e-4)


def test_nothing_and_one_placement_are_no_motion():
    history = History()
    assert not history.reaches(0)
    assert history.motion(0).v_x == 0.0
    history.add(circle(5 * MS))
    assert history.reaches(5 * MS)
    assert not history.reaches(6 * MS)
    assert (history.motion(5 * MS).v_x, history.motion(99 * MS).yaw_rate) == (0.0, 0.0)


def test_time_that_goes_back_begins_a_new_history():
    history = History()
    for time in (100 * MS, 105 * MS, 1 * MS):
        history.add(circle(time))
    assert history.reaches(1 * MS)
    assert not history.reaches(100 * MS)


def test_being_lifted_is_no_motion():
    history = History()
    history.add(circle(0))
    history.expect((30.0, 40.0, 0.0))
    history.add(circle(5 * MS))
    history.add(Placement(10 * MS, (30.0, 40.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
    motion = history.motion(10 * MS)
    assert (motion.x, motion.y, motion.v_x, motion.v_y) == (30.0, 40.0, 0.0, 0.0)


def test_the_heading_may_pass_half_a_turn():
    history = History()
    for time, angle in ((0, 3.1), (10 * MS, -3.1)):
        history.add(Placement(time, (0.0, 0.0, 0.0), (0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2))))
    motion = history.motion(5 * MS)
    assert abs(math.remainder(motion.heading - math.pi, math.tau)) < 1e-9
    assert motion.yaw_rate == pytest.approx((math.tau - 6.2) / 0.01)


unit = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: sum(x * x for x in q) > 0.1)


@given(q=unit, v=st.tuples(*[st.floats(-10.0, 10.0)] * 3), angle=st.floats(-1.0, 1.0))
def test_rotations(q, v, angle):
    norm = math.sqrt(sum(x * x for x in q))
    x, y, z, w = (part / norm for part in q)
    turned = into_body((x, y, z, w), v)
    assert math.hypot(*turned) == pytest.approx(math.hypot(*v), abs=1e-9)
    assert into_body((-x, -y, -z, w), turned) == pytest.approx(v, abs=1e-9)
    s, c = math.sin(angle / 2), math.cos(angle / 2)
    after = (x * c + y * s, y * c - x * s, z * c + w * s, w * c - z * s)
    assert turn_about_z((x, y, z, w), after) == pytest.approx(angle, abs=1e-9)
