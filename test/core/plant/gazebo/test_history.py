"""Motion and attitude between placements of the vehicle."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.geometry import Transform, angles, between, into_body, product, quaternion, turned
from vds_gz.core.plant.gazebo.links.gazebo_link import Placement
from vds_gz.core.plant.gazebo.monitoring import History

MS = 1_000_000


def circle(time, speed=2.0, yaw_rate=0.5, pitch=0.0):
    """A placement on a circle that begins at the origin along x, on a plane that is pitched."""
    angle = yaw_rate * time * 1e-9
    radius = speed / yaw_rate
    x, y = radius * math.sin(angle), radius * (1.0 - math.cos(angle))
    s, c = math.sin(pitch), math.cos(pitch)
    q_map_base = product(quaternion(0.0, pitch, 0.0), quaternion(0.0, 0.0, angle))
    return Placement(time, Transform((c * x, y, -s * x), q_map_base))


@given(at=st.integers(10, 100), pitch=st.floats(-0.4, 0.4), every=st.sampled_from([1, 5, 10]))
def test_motion_along_a_circle_also_on_a_slope(at, pitch, every):
    history = History()
    for k in range(0, 130, every):
        history.add(circle(k * MS, pitch=pitch))
    motion = history.motion(at * MS)
    assert motion.v_x == pytest.approx(2.0, rel=1e-3)
    assert motion.v_y == pytest.approx(0.0, abs=0.01)
    assert motion.yaw_rate == pytest.approx(0.5, rel=1e-3)
    true = circle(at * MS, pitch=pitch).T_map_base
    assert (motion.x, motion.y) == pytest.approx(true.position[:2], abs=1e-4)
    attitude = history.attitude(at * MS)
    assert (attitude.roll, attitude.pitch, motion.heading) == pytest.approx(angles(true.orientation), abs=1e-4)
    assert attitude.z == pytest.approx(true.position[2], abs=1e-4)
    assert (attitude.v_z, attitude.roll_rate, attitude.pitch_rate) == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)


@given(
    v_z=st.floats(-2.0, 2.0),
    rates=st.tuples(*[st.floats(-1.0, 1.0)] * 3),
    start=st.tuples(st.floats(-3.0, 3.0), st.floats(-1.5, 1.5), st.floats(-3.0, 3.0)),
)
def test_lift_and_turns_about_all_axes(v_z, rates, start):
    """Steady rates about the vehicle's axes are exact at any orientation."""
    rate = math.hypot(*rates)
    history = History()
    for k in range(3):
        half = 0.5 * rate * 0.005 * k
        axis = [math.sin(half) * part / rate if rate else 0.0 for part in rates]
        turn = product(quaternion(*start), (*axis, math.cos(half)))
        history.add(Placement(5 * k * MS, Transform((0.0, 0.0, 0.005 * k * v_z), turn)))
    motion, attitude = history.motion(7 * MS), history.attitude(7 * MS)
    assert (attitude.roll_rate, attitude.pitch_rate, motion.yaw_rate) == pytest.approx(rates, abs=1e-6)
    assert math.hypot(motion.v_x, motion.v_y, attitude.v_z) == pytest.approx(abs(v_z), abs=1e-6)
    assert attitude.z == pytest.approx(0.007 * v_z)


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


def test_a_placement_by_hand_is_no_motion():
    history = History()
    history.add(circle(0))
    history.expect((30.0, 40.0, 0.0))
    history.add(circle(5 * MS))
    history.add(Placement(10 * MS, Transform((30.0, 40.0, 0.0))))
    motion = history.motion(10 * MS)
    assert (motion.x, motion.y, motion.v_x, motion.v_y) == (30.0, 40.0, 0.0, 0.0)


def test_the_heading_may_pass_half_a_turn():
    history = History()
    for time, angle in ((0, 3.1), (10 * MS, -3.1)):
        turn = (0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2))
        history.add(Placement(time, Transform(orientation=turn)))
    motion = history.motion(5 * MS)
    assert abs(math.remainder(motion.heading - math.pi, math.tau)) < 1e-9
    assert motion.yaw_rate == pytest.approx((math.tau - 6.2) / 0.01)


unit = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: sum(x * x for x in q) > 0.1)


@given(q=unit, v=st.tuples(*[st.floats(-10.0, 10.0)] * 3), angle=st.floats(-1.0, 1.0))
def test_rotations(q, v, angle):
    norm = math.sqrt(sum(x * x for x in q))
    x, y, z, w = (part / norm for part in q)
    seen = into_body((x, y, z, w), v)
    assert math.hypot(*seen) == pytest.approx(math.hypot(*v), abs=1e-9)
    assert into_body((-x, -y, -z, w), seen) == pytest.approx(v, abs=1e-9)
    s, c = math.sin(angle / 2), math.cos(angle / 2)
    after = (x * c + y * s, y * c - x * s, z * c + w * s, w * c - z * s)
    assert turned((x, y, z, w), after) == pytest.approx((0.0, 0.0, angle), abs=1e-9)
    part = between((x, y, z, w), after, 0.5)
    assert turned((x, y, z, w), part) == pytest.approx((0.0, 0.0, angle / 2), abs=1e-9)


@given(roll=st.floats(-3.1, 3.1), pitch=st.floats(-1.5, 1.5), yaw=st.floats(-3.1, 3.1))
def test_angles_and_quaternions(roll, pitch, yaw):
    q = quaternion(roll, pitch, yaw)
    assert angles(q) == pytest.approx((roll, pitch, yaw), abs=1e-6)
    turns = (quaternion(0.0, 0.0, yaw), quaternion(0.0, pitch, 0.0), quaternion(roll, 0.0, 0.0))
    assert product(product(turns[0], turns[1]), turns[2]) == pytest.approx(q, abs=1e-12)
