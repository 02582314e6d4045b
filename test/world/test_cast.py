"""What rays meet: closed forms, and a second implementation on random scenes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.world import bvh
from vds_gz.world import scene as scenes
from vds_gz.world.frames import matrix, rotation_of_angles
from vds_gz.world.packing import Thing
from vds_gz.world.scene import RayCaster
from vds_gz.world.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Mesh,
    extruded,
    rectangle,
    sphere,
)

trimesh = pytest.importorskip("trimesh", reason="the second implementation")

ANGLES = st.floats(-math.pi, math.pi)
SIZES = st.floats(0.05, 5.0)
PLACES = st.floats(-10.0, 10.0)


def at(x=0.0, y=0.0, z=0.0, roll=0.0, pitch=0.0, yaw=0.0):
    return matrix(rotation_of_angles(roll, pitch, yaw), np.array((x, y, z)))


def directions(count, seed=0):
    found = np.random.default_rng(seed).normal(size=(count, 3))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def around(count):
    angles = np.linspace(-math.pi, math.pi, count, endpoint=False)
    return np.column_stack([np.cos(angles), np.sin(angles), np.zeros(count)])


def one(shape, pose, origin, direction, max_range=math.inf):
    caster = RayCaster([Thing("one", shape, pose)])
    ranges, shapes = caster.cast(np.array(origin, float), np.array([direction], float), max_range)
    return float(ranges[0]), caster.hits(np.array(origin), np.array([direction], float), ranges, shapes)


# ---------------------------------------------------------------------- closed forms


@given(ANGLES, st.floats(0.5, 50.0))
def test_a_wall_at_a_known_place(angle, distance):
    """A ray at an angle to a wall's normal runs d / cos(angle)."""
    direction = (math.cos(angle), math.sin(angle), 0.0)
    found, hits = one(Box((2.0, 1e4, 10.0)), at(x=distance + 1.0), (0.0, 0.0, 1.0), direction)
    if math.cos(angle) > 0.02:
        assert found == pytest.approx(distance / math.cos(angle), abs=1e-9, rel=1e-9)
        assert hits.normals[0] == pytest.approx((-1.0, 0.0, 0.0))
    elif math.cos(angle) < 0.0:
        assert found == math.inf
        assert hits.things[0] == -1


@given(PLACES, st.floats(0.1, 3.0), st.floats(0.0, 0.999))
def test_a_cylinder_and_a_sphere_beside_the_middle(y, radius, part):
    """A ray that passes the axis at a distance b meets the surface sqrt(r^2 - b^2) before it."""
    b = part * radius
    before = 20.0 - math.sqrt(radius * radius - b * b)
    for shape in (Cylinder(radius, 4.0), sphere(radius), Capsule(radius, 4.0)):
        found, hits = one(shape, at(x=20.0, y=y, z=1.0), (0.0, y + b, 1.0), (1.0, 0.0, 0.0))
        assert found == pytest.approx(before, abs=1e-9)
        assert hits.normals[0] == pytest.approx((-math.sqrt(1.0 - part * part), part, 0.0), abs=1e-6)


def test_caps_and_half_spheres_close_what_they_should():
    down = (0.0, 0.0, -1.0)
    assert one(Cylinder(1.0, 2.0), at(), (0.5, 0.0, 5.0), down)[0] == pytest.approx(4.0)
    assert one(Capsule(1.0, 2.0), at(), (0.6, 0.0, 5.0), down)[0] == pytest.approx(5.0 - 1.0 - 0.8)
    assert one(Ellipsoid((1.0, 2.0, 3.0)), at(), (0.0, 0.0, 5.0), down)[0] == pytest.approx(2.0)
    assert one(Cylinder(1.0, 2.0), at(), (1.5, 0.0, 5.0), down)[0] == math.inf


def test_from_inside_a_solid_its_far_side_is_met():
    for shape in (Box((2.0, 2.0, 2.0)), Cylinder(1.0, 2.0), sphere(1.0), Capsule(1.0, 1.0)):
        assert one(shape, at(), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))[0] == pytest.approx(1.0)


def test_the_ground_has_no_end_and_a_drawn_plane_has():
    direction = np.array((1.0, 0.0, -0.01)) / math.hypot(1.0, 0.01)
    assert one(HalfSpace(), at(), (0.0, 0.0, 10.0), direction)[0] == pytest.approx(10.0 / -direction[2])
    assert one(rectangle(100.0, 100.0), at(), (0.0, 0.0, 10.0), direction)[0] == math.inf
    assert one(rectangle(100.0, 100.0), at(), (0.0, 0.0, 10.0), (0.0, 0.0, -1.0))[0] == pytest.approx(10.0)


def test_nothing_is_met_beyond_the_range():
    assert one(Box((1.0, 1.0, 1.0)), at(x=5.5), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 4.9)[0] == math.inf
    assert one(Box((1.0, 1.0, 1.0)), at(x=5.5), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 5.1)[0] == pytest.approx(5.0)


def test_what_was_met_is_told():
    things = [Thing("near", sphere(1.0), at(x=5.0), retro=3.0), Thing("far", sphere(1.0), at(x=-9.0), retro=7.0)]
    caster = RayCaster(things)
    rays = np.array([(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
    ranges, shapes = caster.cast(np.zeros(3), rays)
    hits = caster.hits(np.zeros(3), rays, ranges, shapes)
    assert ranges.tolist() == pytest.approx([4.0, 8.0, math.inf])
    assert hits.things.tolist() == [0, 1, -1]
    assert hits.retro.tolist() == [3.0, 7.0, 0.0]
    assert hits.normals == pytest.approx(np.array([(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)]))


def test_an_empty_world_is_empty():
    ranges, shapes = RayCaster([]).cast(np.zeros(3), around(7))
    assert np.isinf(ranges).all()
    assert (shapes == -1).all()


# ---------------------------------------------------------------------- a second implementation


def as_mesh(shape, pose):
    """The same shape as triangles of trimesh, for flat shapes exactly."""
    if isinstance(shape, Box):
        mesh = trimesh.creation.box(shape.size)
    else:
        mesh = trimesh.Trimesh(shape.vertices, shape.faces, process=False)
    return mesh.apply_transform(pose)


@st.composite
def flat_things(draw):
    """Boxes, prisms and rectangles of any size, anywhere, turned anyhow."""
    things = []
    for index in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(["box", "prism", "rectangle"]))
        if kind == "box":
            shape = Box((draw(SIZES), draw(SIZES), draw(SIZES)))
        elif kind == "rectangle":
            shape = rectangle(draw(SIZES), draw(SIZES))
        else:
            corners = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)])
            shape = extruded(corners * draw(SIZES), draw(SIZES))
        pose = at(draw(PLACES), draw(PLACES), draw(PLACES), draw(ANGLES), draw(ANGLES), draw(ANGLES))
        things.append(Thing(str(index), shape, pose))
    return things


@settings(max_examples=30)
@given(flat_things(), st.integers(0, 1000))
def test_flat_shapes_are_met_where_trimesh_meets_them(things, seed):
    rays = directions(200, seed)
    ranges, _ = RayCaster(things).cast(np.zeros(3), rays)
    mesh = trimesh.util.concatenate([as_mesh(thing.shape, thing.pose) for thing in things])
    places, which, _ = mesh.ray.intersects_location(np.zeros((len(rays), 3)), rays, multiple_hits=True)
    expected = np.full(len(rays), np.inf)
    np.minimum.at(expected, which, np.linalg.norm(places, axis=1))
    same = np.isfinite(ranges) & np.isfinite(expected)
    # Whether a ray that grazes an edge meets the shape is a matter of rounding; there are few of them.
    assert (np.isfinite(ranges) == np.isfinite(expected)).mean() > 0.99
    assert (np.abs(ranges[same] - expected[same]) > 1e-4).sum() <= 0.01 * len(rays)


@settings(max_examples=30)
@given(
    st.sampled_from([Cylinder(1.0, 3.0), sphere(1.5), Capsule(0.7, 2.0), Ellipsoid((0.5, 1.0, 2.0))]),
    PLACES,
    PLACES,
    ANGLES,
    ANGLES,
    ANGLES,
)
def test_round_shapes_are_met_on_their_surface(shape, x, y, roll, pitch, yaw):
    """The point met satisfies the surface's own equation, and the normal is its gradient."""
    pose = at(x, y, 0.0, roll, pitch, yaw)
    caster, rays = RayCaster([Thing("round", shape, pose)]), directions(300)
    origin = np.array((20.0, 0.0, 0.0))
    towards = rays * 1.5 + pose[:3, 3] - origin
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    ranges, shapes = caster.cast(origin, towards)
    met = np.isfinite(ranges)
    assert met.any()
    points = origin + ranges[met, None] * towards[met]
    local = (points - pose[:3, 3]) @ pose[:3, :3]
    assert np.abs(distance(shape, local)).max() < 1e-5
    normals = caster.hits(origin, towards, ranges, shapes).normals[met]
    assert (np.einsum("ij,ij->i", normals, towards[met]) < 1e-6).all()


def distance(shape, p):
    """How far points are from a shape's surface, or a measure of it that is 0 there."""
    if isinstance(shape, Ellipsoid):
        return ((p / shape.radii) ** 2).sum(axis=1) - 1.0
    tube = np.hypot(p[:, 0], p[:, 1])
    if isinstance(shape, Capsule):
        rest = np.maximum(np.abs(p[:, 2]) - 0.5 * shape.length, 0.0)
        return np.hypot(tube, rest) - shape.radius
    return np.maximum(tube - shape.radius, np.abs(p[:, 2]) - 0.5 * shape.length)


# ---------------------------------------------------------------------- the tree


def test_no_ray_slips_through_a_crack_between_triangles():
    """A closed mesh of 20,480 triangles, seen from inside: every ray meets it, through edges and corners too."""
    ball = trimesh.creation.icosphere(5)
    caster = RayCaster([Thing("ball", Mesh(np.asarray(ball.vertices), np.asarray(ball.faces)), at(0.1, 0.2, 0.3))])
    middles = ball.vertices[ball.edges_unique].mean(axis=1)
    rays = np.concatenate([directions(20_000), ball.vertices, middles / np.linalg.norm(middles, axis=1, keepdims=True)])
    ranges, _ = caster.cast(np.array((0.1, 0.2, 0.3)), rays)
    assert ranges.max() <= 1.0 + 1e-9
    assert ranges.min() > 0.99


def test_the_tree_changes_nothing():
    random = np.random.default_rng(4)
    things = [
        Thing(str(k), Box(tuple(random.uniform(0.1, 2.0, 3))), at(*random.uniform(-9, 9, 3), *random.uniform(-3, 3, 3)))
        for k in range(300)
    ]
    rays = directions(500)
    together, _ = RayCaster(things).cast(np.zeros(3), rays)
    apart = np.min([RayCaster([thing]).cast(np.zeros(3), rays)[0] for thing in things], axis=0)
    assert together.tolist() == apart.tolist()


def test_a_thousand_things_in_one_place_are_sorted_too():
    things = [Thing(str(k), sphere(1.0), at(x=5.0)) for k in range(1000)]
    assert RayCaster(things).cast(np.zeros(3), np.array([(1.0, 0.0, 0.0)]))[0][0] == pytest.approx(4.0)


def test_interpreted_and_compiled_rays_are_equal(monkeypatch):
    pytest.importorskip("numba")
    random = np.random.default_rng(5)
    shapes = [
        Box((1.0, 2.0, 0.5)),
        Cylinder(0.5, 2.0),
        sphere(0.8),
        Capsule(0.3, 1.0),
        rectangle(2.0, 3.0),
        HalfSpace(),
    ]
    things = [
        Thing(str(k), shapes[k % 6], at(*random.uniform(-9, 9, 2), -6.0 if k % 6 == 5 else random.uniform(-3, 3)))
        for k in range(60)
    ]
    rays = np.concatenate([directions(300), around(16)])
    compiled = RayCaster(things).cast(np.zeros(3), rays)
    monkeypatch.setattr(scenes, "_compiled", lambda function: function)
    interpreted = RayCaster(things).cast(np.zeros(3), rays)
    assert compiled[1].tolist() == interpreted[1].tolist()
    assert compiled[0] == pytest.approx(interpreted[0], rel=1e-12)
    assert bvh.cast is scenes._compiled(bvh.cast)
