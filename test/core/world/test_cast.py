"""Ray casting against closed forms, and against trimesh on random scenes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.core.errors import WorldError
from vds_gz.core.world import bvh
from vds_gz.core.world.geometry_reader import matrix, rotation_of_angles
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.ray_caster import COMPILED, RayCaster
from vds_gz.core.world.shapes import (
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

needs_compiler = pytest.mark.skipif(not COMPILED, reason="numba is not installed or switched off")

ANGLES = st.floats(-math.pi, math.pi)
PLACES = st.floats(-10.0, 10.0)


def at(x=0.0, y=0.0, z=0.0, roll=0.0, pitch=0.0, yaw=0.0):
    return matrix(rotation_of_angles(roll, pitch, yaw), np.array((x, y, z)))


def directions(count, seed=0):
    result = np.random.default_rng(seed).normal(size=(count, 3))
    return result / np.linalg.norm(result, axis=1, keepdims=True)


def around(count):
    angles = np.linspace(-math.pi, math.pi, count, endpoint=False)
    return np.column_stack([np.cos(angles), np.sin(angles), np.zeros(count)])


def cast_one(shape, pose, origin, direction, max_range=math.inf):
    caster = RayCaster([Thing("one", shape, pose)])
    ranges, shapes = caster.cast(np.array(origin, float), np.array([direction], float), max_range)
    return float(ranges[0]), caster.hits(np.array(origin), np.array([direction], float), ranges, shapes)


# ---------------------------------------------------------------------- closed forms


@given(ANGLES, st.floats(0.5, 50.0))
def test_a_wall_at_a_known_place(angle, distance):
    """A ray at an angle to a wall's normal runs d / cos(angle)."""
    direction = (math.cos(angle), math.sin(angle), 0.0)
    result, hits = cast_one(Box((2.0, 1e4, 10.0)), at(x=distance + 1.0), (0.0, 0.0, 1.0), direction)
    if math.cos(angle) > 0.02:
        assert result == pytest.approx(distance / math.cos(angle), abs=1e-9, rel=1e-9)
        assert hits.normals[0] == pytest.approx((-1.0, 0.0, 0.0))
    elif math.cos(angle) < 0.0:
        assert result == math.inf
        assert hits.things[0] == -1


@given(PLACES, st.floats(0.1, 3.0), st.floats(0.0, 0.999))
def test_a_cylinder_and_a_sphere_beside_the_middle(y, radius, part):
    """A ray that passes the axis at a distance b meets the surface sqrt(r^2 - b^2) before it."""
    b = part * radius
    before = 20.0 - math.sqrt(radius * radius - b * b)
    for shape in (Cylinder(radius, 4.0), sphere(radius), Capsule(radius, 4.0)):
        result, hits = cast_one(shape, at(x=20.0, y=y, z=1.0), (0.0, y + b, 1.0), (1.0, 0.0, 0.0))
        assert result == pytest.approx(before, abs=1e-9)
        assert hits.normals[0] == pytest.approx((-math.sqrt(1.0 - part * part), part, 0.0), abs=1e-6)


def test_rays_from_above_hit_caps_and_half_spheres():
    down = (0.0, 0.0, -1.0)
    assert cast_one(Cylinder(1.0, 2.0), at(), (0.5, 0.0, 5.0), down)[0] == pytest.approx(4.0)
    assert cast_one(Capsule(1.0, 2.0), at(), (0.6, 0.0, 5.0), down)[0] == pytest.approx(5.0 - 1.0 - 0.8)
    assert cast_one(Ellipsoid((1.0, 2.0, 3.0)), at(), (0.0, 0.0, 5.0), down)[0] == pytest.approx(2.0)
    assert cast_one(Cylinder(1.0, 2.0), at(), (1.5, 0.0, 5.0), down)[0] == math.inf


def test_a_ray_from_inside_a_solid_hits_its_far_side():
    for shape in (Box((2.0, 2.0, 2.0)), Cylinder(1.0, 2.0), sphere(1.0), Capsule(1.0, 1.0)):
        assert cast_one(shape, at(), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))[0] == pytest.approx(1.0)


def test_a_half_space_is_infinite_and_a_rectangle_is_not():
    direction = np.array((1.0, 0.0, -0.01)) / math.hypot(1.0, 0.01)
    assert cast_one(HalfSpace(), at(), (0.0, 0.0, 10.0), direction)[0] == pytest.approx(10.0 / -direction[2])
    assert cast_one(rectangle(100.0, 100.0), at(), (0.0, 0.0, 10.0), direction)[0] == math.inf
    assert cast_one(rectangle(100.0, 100.0), at(), (0.0, 0.0, 10.0), (0.0, 0.0, -1.0))[0] == pytest.approx(10.0)


def test_nothing_is_hit_beyond_the_maximum_range():
    assert cast_one(Box((1.0, 1.0, 1.0)), at(x=5.5), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 4.9)[0] == math.inf
    assert cast_one(Box((1.0, 1.0, 1.0)), at(x=5.5), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 5.1)[0] == pytest.approx(5.0)


def test_hits_have_the_thing_its_reflectivity_and_the_normal():
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

CORNERS = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)])
BALL = trimesh.creation.icosphere(6)
COARSE_BALL = trimesh.creation.icosphere(3)
TUBE = trimesh.creation.cylinder(1.0, 2.0, sections=1024)


def mesh_of(flat):
    return trimesh.Trimesh(flat.vertices, flat.faces, process=False)


#: For each kind, a shape of the scale (x, y, z), and a mesh that is this shape after scaling.
SHAPES = {
    "box": (lambda x, y, z: Box((x, y, z)), trimesh.creation.box((1.0, 1.0, 1.0))),
    "prism": (lambda x, y, z: extruded(CORNERS * (x, y), z), mesh_of(extruded(CORNERS, 1.0))),
    "rectangle": (lambda x, y, z: rectangle(x, y), mesh_of(rectangle(1.0, 1.0))),
    "ellipsoid": (lambda x, y, z: Ellipsoid((x, y, z)), BALL),
    "cylinder": (lambda x, y, z: Cylinder(x, 2.0 * z), TUBE),
    "mesh": (
        lambda x, y, z: Mesh(np.asarray(COARSE_BALL.vertices) * (x, y, z), np.asarray(COARSE_BALL.faces)),
        COARSE_BALL,
    ),
}
SCALES = st.floats(0.1, 2.0)


@st.composite
def placed_shapes(draw):
    """A shape of random size and pose, its mesh and its scale."""
    kind = draw(st.sampled_from(list(SHAPES)))
    make, mesh = SHAPES[kind]
    x, y, z = (draw(SCALES) for _ in range(3))
    scale = np.array((x, x if kind == "cylinder" else y, z))
    pose = at(draw(PLACES), draw(PLACES), draw(PLACES), draw(ANGLES), draw(ANGLES), draw(ANGLES))
    return Thing(kind, make(*scale), pose), mesh, scale


def met_by_trimesh(mesh, scale, pose, origin, rays):
    """Ranges of rays to a mesh, cast in the frame of the mesh, so that trimesh builds its tree once."""
    begin, going = ((origin - pose[:3, 3]) @ pose[:3, :3]) / scale, (rays @ pose[:3, :3]) / scale
    places, index, _ = mesh.ray.intersects_location(np.tile(begin, (len(rays), 1)), going, multiple_hits=True)
    expected = np.full(len(rays), np.inf)
    np.minimum.at(expected, index, np.linalg.norm((places.reshape(-1, 3) - begin) * scale, axis=1))
    return expected


@settings(max_examples=8)
@given(st.lists(placed_shapes(), min_size=1, max_size=4), st.integers(0, 1000))
def test_ranges_are_those_of_trimesh(placed, seed):
    random = np.random.default_rng(seed)
    origin = random.uniform(-15.0, 15.0, 3)
    aims = np.concatenate([thing.pose[:3, 3] + random.normal(0.0, 1.0, (25, 3)) for thing, _, _ in placed])
    rays = (aims - origin) / np.linalg.norm(aims - origin, axis=1, keepdims=True)
    caster = RayCaster([thing for thing, _, _ in placed])
    ranges, shapes = caster.cast(origin, rays)
    normals = caster.hits(origin, rays, ranges, shapes).normals
    expected = np.min([met_by_trimesh(mesh, scale, thing.pose, origin, rays) for thing, mesh, scale in placed], axis=0)
    # Meshes of round shapes lie inside them, so a ray that grazes them, or an edge, may hit only one of both.
    clear = np.abs(np.einsum("ij,ij->i", normals, rays)) > 0.7
    assert (np.isfinite(ranges) == np.isfinite(expected)).mean() > 0.98
    both = clear & np.isfinite(expected)
    # The distance of a mesh from a round shape of 1 m.
    tolerance = 1e-4 * max(1.0, *(scale.max() for _, _, scale in placed))
    assert (np.abs(ranges[both] - expected[both]) > tolerance).sum() <= 0.01 * len(rays)
    # Every ray to the middle of a convex shape hits it.
    for thing, _, _ in placed:
        if thing.name not in ("prism", "rectangle"):
            through = (thing.pose[:3, 3] - origin) / np.linalg.norm(thing.pose[:3, 3] - origin)
            assert np.isfinite(caster.cast(origin, through[None])[0]).all()


@settings(max_examples=30)
@given(
    st.sampled_from([Cylinder(1.0, 3.0), sphere(1.5), Capsule(0.7, 2.0), Ellipsoid((0.5, 1.0, 2.0))]),
    PLACES,
    PLACES,
    ANGLES,
    ANGLES,
    ANGLES,
)
def test_hits_are_on_the_surface_of_round_shapes(shape, x, y, roll, pitch, yaw):
    """Hits satisfy the equation of the surface, and their normals face the ray."""
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
    """Distance of points from a shape's surface, or a measure that is 0 on it."""
    if isinstance(shape, Ellipsoid):
        return ((p / shape.radii) ** 2).sum(axis=1) - 1.0
    tube = np.hypot(p[:, 0], p[:, 1])
    if isinstance(shape, Capsule):
        rest = np.maximum(np.abs(p[:, 2]) - 0.5 * shape.length, 0.0)
        return np.hypot(tube, rest) - shape.radius
    return np.maximum(tube - shape.radius, np.abs(p[:, 2]) - 0.5 * shape.length)


# ---------------------------------------------------------------------- the tree


def test_no_ray_slips_through_a_crack_between_triangles():
    """Every ray inside a closed mesh of 20,480 triangles (1,280 by Python) hits it, also at edges and corners."""
    ball = trimesh.creation.icosphere(5 if COMPILED else 3)
    caster = RayCaster([Thing("ball", Mesh(np.asarray(ball.vertices), np.asarray(ball.faces)), at(0.1, 0.2, 0.3))])
    middles = ball.vertices[ball.edges_unique].mean(axis=1)
    rays = np.concatenate([directions(20_000), ball.vertices, middles / np.linalg.norm(middles, axis=1, keepdims=True)])
    ranges, _ = caster.cast(np.array((0.1, 0.2, 0.3)), rays)
    assert ranges.max() <= 1.0 + 1e-9
    assert ranges.min() > 0.99


def test_a_tree_gives_the_ranges_of_its_shapes():
    random = np.random.default_rng(4)
    things = [
        Thing(str(k), Box(tuple(random.uniform(0.1, 2.0, 3))), at(*random.uniform(-9, 9, 3), *random.uniform(-3, 3, 3)))
        for k in range(300)
    ]
    rays = directions(500)
    together, _ = RayCaster(things).cast(np.zeros(3), rays)
    apart = np.min([RayCaster([thing]).cast(np.zeros(3), rays)[0] for thing in things], axis=0)
    assert together.tolist() == apart.tolist()


def test_a_tree_of_a_thousand_things_in_one_place():
    things = [Thing(str(k), sphere(1.0), at(x=5.0)) for k in range(1000)]
    assert RayCaster(things).cast(np.zeros(3), np.array([(1.0, 0.0, 0.0)]))[0][0] == pytest.approx(4.0)


def mixed(random, count):
    """Things of all shapes at random poses."""
    prism = extruded(CORNERS, 1.0)
    shapes = [
        Box((1.0, 2.0, 0.5)),
        Cylinder(0.5, 2.0),
        sphere(0.8),
        Ellipsoid((0.2, 1.0, 0.5)),
        Capsule(0.3, 1.0),
        prism,
    ]
    places = random.uniform(-9.0, 9.0, (count, 3))
    poses = [at(*place, *random.uniform(-3.0, 3.0, 3) * (k % 3)) for k, place in enumerate(places)]
    return [Thing(str(k), shapes[k % len(shapes)], pose, retro=k) for k, pose in enumerate(poses)]


@needs_compiler
@given(st.integers(0, 10_000), st.sampled_from([0.0, 3.0, math.inf]))
def test_python_and_compiled_loops_give_the_same_bits(seed, max_range):
    random = np.random.default_rng(seed)
    things = mixed(random, random.integers(0, 40))
    if seed % 2:
        things.append(Thing("ground", HalfSpace(), at(z=-9.0)))
    rays = np.concatenate([directions(60, seed), around(16), np.repeat(np.eye(3), 2, axis=0) * (1.0, -1.0, 1.0)])
    caster = RayCaster(things, compiled=True)
    for origins in (np.zeros(3), random.uniform(-9.0, 9.0, rays.shape)):
        for interpreted in (RayCaster(things, compiled=False), caster.interpreted()):
            ranges, shapes = interpreted.cast(origins, rays, max_range)
            expected_ranges, expected_shapes = caster.cast(origins, rays, max_range)
            assert ranges.tolist() == expected_ranges.tolist()
            assert shapes.tolist() == expected_shapes.tolist()


def test_a_caster_and_the_interpreted_one_share_their_tree():
    caster = RayCaster(mixed(np.random.default_rng(2), 30))
    interpreted = caster.interpreted()
    interpreted.prepare()
    assert caster._tree.built is interpreted._tree.built is not None


@needs_compiler
@pytest.mark.slow
def test_a_million_triangles_are_one_wavy_ground():
    """Rays straight down hit z = sin(x) cos(y), up to the error of triangles of 14 cm."""
    across = np.linspace(-50.0, 50.0, 709)
    x, y = (part.ravel() for part in np.meshgrid(across, across))
    corner = np.arange(709 * 709).reshape(709, 709)
    a, b, c, d = (part.ravel() for part in (corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]))
    faces = np.concatenate([np.column_stack((a, b, c)), np.column_stack((a, c, d))])
    ground = Mesh(np.column_stack((x, y, np.sin(x) * np.cos(y))), faces)
    assert len(faces) > 1_000_000
    begin = np.random.default_rng(0).uniform(-49.0, 49.0, (20_000, 3)) * (1.0, 1.0, 0.0) + (0.0, 0.0, 10.0)
    ranges, _ = RayCaster([Thing("ground", ground, at())]).cast(begin, np.tile((0.0, 0.0, -1.0), (20_000, 1)))
    assert 10.0 - ranges == pytest.approx(np.sin(begin[:, 0]) * np.cos(begin[:, 1]), abs=0.01)


@pytest.mark.parametrize("compiled", [False, COMPILED])
def test_of_shapes_at_equal_distance_the_first_is_hit(compiled):
    things = [Thing(str(k), sphere(1.0), at(x=5.0)) for k in range(20)]
    assert RayCaster(things, compiled=compiled).cast(np.zeros(3), np.array([(1.0, 0.0, 0.0)]))[1].tolist() == [0]


@pytest.mark.parametrize("compiled", [False, COMPILED])
def test_rays_of_nan_and_negative_ranges_hit_nothing(compiled):
    caster = RayCaster(mixed(np.random.default_rng(0), 12), compiled=compiled)
    rays = directions(20)
    assert np.isinf(caster.cast(np.full(3, np.nan), rays)[0]).all()
    assert np.isinf(caster.cast(np.zeros(3), rays * np.nan)[0]).all()
    assert np.isinf(caster.cast(np.zeros(3), rays, math.nan)[0]).all()
    assert np.isinf(caster.cast(np.zeros(3), rays, -1.0)[0]).all()


def test_arrays_of_wrong_shape_are_refused():
    caster = RayCaster(mixed(np.random.default_rng(0), 3))
    for origins, rays in (((2, 3), (5, 3)), ((3,), (5, 2)), ((1, 1), (5, 3)), ((3,), (3,))):
        with pytest.raises(ValueError, match="rays have origins"):
            caster.cast(np.zeros(origins), np.zeros(rays))


def test_no_tree_is_deeper_than_the_stack_of_a_traversal():
    """Sizes and distances triple, so the surface area heuristic cuts off one shape after the other."""
    scales = 3.0 ** np.arange(-150.0, 100.0).repeat(3)[:, None]
    centres = scales * np.random.default_rng(1).uniform(0.9, 1.1, (750, 3))
    order, bounds, first, count = np.arange(750), np.empty((1500, 6)), np.zeros(1500, int), np.zeros(1500, int)
    bvh.build(centres - 0.1 * scales, centres + 0.1 * scales, centres, order, bounds, first, count)
    level, depth = [0], 0
    while level:
        level = [child for node in level if not count[node] for child in (first[node], first[node] + 1)]
        depth += 1
    assert bvh.UNEVEN < depth < bvh.DEPTH


def test_things_too_far_from_the_origin_are_refused():
    with pytest.raises(WorldError, match=r"'far' reaches farther than 1e\+13 m from the origin"):
        RayCaster([Thing("near", sphere(1.0), at()), Thing("far", sphere(1.0), at(x=1e200))])
