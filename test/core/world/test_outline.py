"""Outlines of things from above and their heights, compared with rays from above."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.world.geometry_reader import matrix, rotation_of_angles
from vds_gz.core.world.packing import Thing, heights, hull, outlines
from vds_gz.core.world.ray_caster import RayCaster
from vds_gz.core.world.shapes import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, cone, extruded, rectangle

CORNERS = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)])
SHAPES = [
    Box((1.0, 2.0, 3.0)),
    Cylinder(0.5, 2.0),
    Capsule(0.5, 2.0),
    Ellipsoid((0.5, 1.0, 2.0)),
    extruded(CORNERS, 1.0),
    rectangle(2.0, 3.0),
    cone(1.0, 2.0),
]
ANGLES = st.floats(-3.0, 3.0)


def inside(polygon, points):
    """Whether points lie in a convex polygon that is given counter-clockwise."""
    after = np.roll(polygon, -1, axis=0)
    (dx, dy), (x, y) = (after - polygon).T, points.T
    return ((dx * (y[:, None] - polygon[:, 1]) - dy * (x[:, None] - polygon[:, 0])) >= 0.0).all(axis=1)


@given(st.sampled_from(SHAPES), ANGLES, ANGLES, ANGLES)
def test_outlines_cover_the_hits_of_rays_from_above(shape, roll, pitch, yaw):
    thing = Thing("one", shape, matrix(rotation_of_angles(roll, pitch, yaw), np.array((1.0, 2.0, 3.0))))
    points = np.random.default_rng(0).uniform((-2.0, -1.0), (4.0, 5.0), (400, 2))
    covered = np.any([inside(polygon, points) for polygon in outlines(thing)], axis=0)
    begins = np.column_stack([points, np.full(400, 10.0)])
    ranges, _ = RayCaster([thing]).cast(begins, np.tile((0.0, 0.0, -1.0), (400, 1)))
    # Outlines of round shapes are polygons, so a few points along the rim differ.
    assert (covered != np.isfinite(ranges)).mean() < 0.04
    met = 10.0 - ranges[np.isfinite(ranges)]
    low, high = heights(thing)
    assert ((met > low - 0.02) & (met < high + 0.02)).all()


def test_the_outline_of_a_box_is_exact():
    thing = Thing("box", Box((2.0, 4.0, 6.0)), matrix(np.eye(3), np.array((1.0, 0.0, 3.0))))
    (corners,) = outlines(thing)
    assert corners.tolist() == [[0.0, -2.0], [2.0, -2.0], [2.0, 2.0], [0.0, 2.0]]
    assert heights(thing) == (0.0, 6.0)


def test_a_half_space_has_no_outline():
    thing = Thing("ground", HalfSpace(), np.eye(4))
    assert outlines(thing) == []
    assert heights(thing) == (-math.inf, math.inf)


@pytest.mark.parametrize("points", [np.zeros((3, 2)), np.array([(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)])])
def test_points_on_a_line_have_no_polygon_as_hull(points):
    assert len(hull(points)) <= 2
