"""Distances between a box and a shape: closed forms and properties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.core.world.distance import farthest, separation
from vds_gz.core.world.geometry_reader import matrix, rotation_of_angles
from vds_gz.core.world.intersection import BOX
from vds_gz.core.world.packing import Thing, packed
from vds_gz.core.world.shapes import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Mesh, sphere

ANGLES = st.floats(-3.0, 3.0)
UNIT = Box((2.0, 2.0, 2.0))


def at(x=0.0, y=0.0, z=0.0, roll=0.0, pitch=0.0, yaw=0.0):
    return matrix(rotation_of_angles(roll, pitch, yaw), np.array((x, y, z)))


def row_of(shape, pose):
    shapes = packed([Thing("", shape, pose)])
    return int(shapes.kinds[0]), shapes.rows[0].tolist()


def apart(shape, pose, box=UNIT, box_pose=None):
    return separation(row_of(box, at() if box_pose is None else box_pose)[1], *row_of(shape, pose))


@given(st.floats(1e-6, 20.0), ANGLES)
def test_known_distances_from_a_face(gap, turn):
    """The box is a cube of 2 m around the origin."""
    touching = 1.0 + gap
    cases = [
        (Box((2.0, 3.0, 4.0)), at(x=touching + 1.0)),
        (sphere(0.5), at(x=touching + 0.5, y=0.3)),
        (Cylinder(0.5, 3.0), at(x=touching + 0.5, yaw=turn)),
        (Capsule(0.5, 3.0), at(x=touching + 0.5, yaw=turn)),
        (Ellipsoid((0.5, 2.0, 1.0)), at(x=touching + 0.5)),
        (HalfSpace(), at(x=touching, pitch=-0.5 * math.pi)),
        (Mesh(np.array([(0.0, -5.0, 0.0), (0.0, 5.0, 0.0), (0.0, 0.0, 0.7)]), np.array([(0, 1, 2)])), at(x=touching)),
    ]
    for shape, pose in cases:
        result, normal, (px, _, _) = apart(shape, pose)
        assert result == pytest.approx(gap, rel=2e-3, abs=1e-7)
        assert result <= gap + 1e-12
        assert normal == pytest.approx((1.0, 0.0, 0.0), abs=0.05)
        assert px == pytest.approx(touching, rel=2e-3, abs=1e-3)


@given(st.floats(0.0, 0.9))
def test_a_negative_gap_is_the_way_out(depth):
    shape = Box((2.0, 9.0, 4.0))
    result, (nx, _, _), _ = apart(shape, at(x=2.0 - depth))
    assert result == pytest.approx(-depth, abs=1e-9)
    assert nx == pytest.approx(1.0)


@settings(max_examples=200)
@given(st.integers(0, 100_000))
def test_the_gap_is_measured_along_the_direction_and_close_to_the_distance(seed):
    """A plane across the direction separates both shapes by the gap, and the distance is hardly larger."""
    random = np.random.default_rng(seed)
    shapes = [Box((1.0, 2.0, 0.3)), Cylinder(0.4, 2.0), Capsule(0.4, 1.0), Ellipsoid((0.3, 1.0, 0.6))]
    pose = at(*random.uniform(-4.0, 4.0, 3), *random.uniform(-3.0, 3.0, 3))
    box_pose = at(*random.uniform(-1.0, 1.0, 3), *random.uniform(-3.0, 3.0, 3))
    shape = shapes[random.integers(4)]
    kind, row = row_of(shape, pose)
    box = row_of(UNIT, box_pose)[1]
    gap, direction, point = separation(box, kind, row)
    n = np.array(direction)
    assert np.linalg.norm(n) == pytest.approx(1.0)
    parted = n @ (np.array(farthest(kind, row, tuple(-n))) - np.array(farthest(BOX, box, tuple(n))))
    assert parted == pytest.approx(gap, abs=1e-9)
    if gap > 0.0:
        inside = box_pose[:3, :3].T @ (np.array(point) - box_pose[:3, 3])
        nearest = np.linalg.norm(np.maximum(np.abs(inside) - 1.0, 0.0))  # from the point to the box
        assert gap - 1e-9 <= nearest <= gap * 1.01 + 1e-3
