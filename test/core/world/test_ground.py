"""The plane below wheels: closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.geometry import Pose, into_world, quaternion
from vds_gz.core.world.geometry_reader import matrix, rotation_of_angles
from vds_gz.core.world.ground import Plane, ground_below, plane_through, room_on, surface_near
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.ray_caster import RayCaster
from vds_gz.core.world.shapes import Box, HalfSpace, Mesh

SLOPES = st.floats(-1.0, 1.0)
PLACES = st.floats(-100.0, 100.0)
GROUND = Thing("ground", HalfSpace(), np.eye(4))


def at(x=0.0, y=0.0, z=0.0, pitch=0.0):
    return matrix(rotation_of_angles(0.0, pitch, 0.0), np.array((x, y, z)))


def caster(*things):
    return RayCaster(things, compiled=False)


@given(SLOPES, SLOPES, PLACES, st.floats(-3.0, 3.0), PLACES, PLACES)
def test_the_attitude_on_a_plane_has_its_normal(slope_x, slope_y, height, heading, x, y):
    attitude = Plane(height, slope_x, slope_y).attitude(Pose(x, y, heading))
    up = into_world(quaternion(attitude.roll, attitude.pitch, heading), (0.0, 0.0, 1.0))
    normal = np.array((-slope_x, -slope_y, 1.0))
    assert up == pytest.approx(normal / np.linalg.norm(normal), abs=1e-9)
    assert attitude.z == pytest.approx(height + slope_x * x + slope_y * y)


@given(SLOPES, SLOPES, PLACES, PLACES, PLACES)
def test_a_plane_is_fitted_exactly_to_its_points(slope_x, slope_y, height, x, y):
    plane = Plane(height, slope_x, slope_y)
    points = [(x + a, y + b, plane.at(x + a, y + b)) for a, b in ((0.0, 0.7), (0.0, -0.7), (2.0, 0.7), (2.0, -0.7))]
    for some in (points, points[:3]):
        result = plane_through(some)
        for px, py, pz in points:
            assert result.at(px, py) == pytest.approx(pz, abs=1e-9)


def test_four_points_are_fitted_by_least_squares_and_points_on_a_line_do_not_tilt_across():
    plane = plane_through([(1.0, 1.0, 0.1), (1.0, -1.0, 0.0), (-1.0, 1.0, 0.0), (-1.0, -1.0, 0.0)])
    assert (plane.height, plane.slope_x, plane.slope_y) == pytest.approx((0.025, 0.025, 0.025))
    line = plane_through([(0.0, 0.0, 0.0), (2.0, 0.0, 1.0)])
    assert (line.slope_x, line.slope_y) == pytest.approx((0.5, 0.0))
    assert plane_through([(3.0, 4.0, 5.0)]) == Plane(5.0)


def test_heights_below_points():
    result = ground_below(caster(GROUND, Thing("box", Box((1.0, 1.0, 1.0)), at(5.0))), [(0, 0, 1), (5, 0, 1)], 2.0)[0]
    assert result.tolist() == [0.0, 0.5]
    assert ground_below(caster(GROUND), [(0.0, 0.0, 3.0)], 2.0)[0].tolist() == [-math.inf]
    with np.errstate(invalid="raise"):
        assert ground_below(caster(GROUND), [(0.0, 0.0, math.inf)], 2.0)[0].tolist() == [-math.inf]


def test_the_ground_nearest_to_a_height():
    deck = Thing("deck", Box((4.0, 4.0, 1.0)), at(z=4.5))
    roof = Thing(
        "roof", Mesh(np.array([(-9.0, -9.0, 8.0), (9.0, -9.0, 8.0), (0.0, 9.0, 8.0)]), np.array([(0, 1, 2)])), at()
    )
    assert surface_near(caster(GROUND, deck), (0.0, 0.0, 0.1)) == 0.0
    assert surface_near(caster(GROUND, deck), (0.0, 0.0, 6.0)) == 5.0
    assert surface_near(caster(GROUND, deck), (0.0, 0.0, 4.5)) == 5.0  # from within it
    assert surface_near(caster(deck), (0.0, 0.0, 0.1)) == pytest.approx(5.0)  # not its lower side
    assert surface_near(caster(roof), (0.0, 0.0, 0.1)) == pytest.approx(8.0)
    assert surface_near(caster(), (0.0, 0.0, 0.1)) == math.inf


def test_room_ends_at_the_next_thing_that_could_be_ground():
    box, high = Thing("box", Box((2.0, 2.0, 2.0)), at(9.0)), Thing("high", Box((2.0, 2.0, 2.0)), at(5.0, 0.0, 3.0))
    assert room_on(caster(GROUND, box, high), Plane(), (0.0, 0.0), -1.0, 0.2) == pytest.approx(8.0)
    assert room_on(caster(GROUND), Plane(), (0.0, 0.0), -1.0, 0.2) == math.inf
    assert room_on(caster(GROUND), Plane(0.1), (0.0, 0.0), -1.0, 0.2) == 0.0  # stands on something else
    assert room_on(caster(box), Plane(), (0.0, 0.0), -1.0, 0.2) == 0.0
    upright = Thing("upright", HalfSpace(), at(9.0, pitch=0.5 * math.pi))
    assert room_on(caster(upright, box), Plane(), (0.0, 0.0), -1.0, 0.2) == 0.0
    ramp = Thing("ramp", HalfSpace(), at(pitch=-0.1))
    assert room_on(caster(GROUND, ramp), Plane(), (-50.0, 0.0), -1.0, 0.2) == 0.0
