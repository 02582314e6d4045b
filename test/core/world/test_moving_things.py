"""Scenes with moving things, compared with one tree of all things."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.world.geometry_reader import matrix, rotation_of_angles
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.ray_caster import NOTHING, RayCaster
from vds_gz.core.world.scene import Scene
from vds_gz.core.world.shapes import Box, Cylinder, HalfSpace, extruded, sphere

SHAPES = [
    Box((1.0, 2.0, 3.0)),
    Cylinder(0.5, 2.0),
    sphere(0.7),
    extruded(np.array([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]), 1.0),
]


def things(random, prefix, retro):
    """Up to six shapes of all kinds at random poses, away from the origin of the rays."""
    result = []
    for index in range(random.integers(7)):
        place = random.normal(size=3)
        place *= random.uniform(4.0, 9.0) / np.linalg.norm(place)
        pose = matrix(rotation_of_angles(*random.uniform(-3.0, 3.0, 3)), place)
        result.append(Thing(f"{prefix}{index}", SHAPES[random.integers(len(SHAPES))], pose, retro))
    return result


def scene_of(still):
    return Scene("test", RayCaster(still), RayCaster(still))


@given(st.integers(0, 1000))
def test_hits_are_those_of_one_tree(seed):
    random = np.random.default_rng(seed)
    still, moving = things(random, "still", 1.0), things(random, "moving", 2.0)
    still = [*still, Thing("ground", HalfSpace(), matrix(np.eye(3), np.array((0.0, 0.0, -9.0))))]
    rays = random.normal(size=(50, 3))
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    scene = scene_of(still).with_moving(moving, [])
    ranges, hits = scene.cast(np.zeros(3), rays)
    expected, expected_hits = scene_of([*still, *moving]).cast(np.zeros(3), rays)
    np.testing.assert_array_equal(ranges, expected)
    np.testing.assert_array_equal(hits.normals, expected_hits.normals)
    np.testing.assert_array_equal(hits.retro, expected_hits.retro)
    np.testing.assert_array_equal(scene.visuals.retro(scene.visuals.cast(np.zeros(3), rays)[1]), expected_hits.retro)
    names = [thing.name for thing in [*still, *moving]]
    assert [scene.visuals.things[k].name for k in hits.things if k != NOTHING] == [
        names[k] for k in expected_hits.things if k != NOTHING
    ]
    np.testing.assert_array_equal(hits.things == NOTHING, np.isinf(ranges))


def test_moving_things_replace_earlier_ones():
    """Without moving things, the scene is the fixed one again."""
    wall = Thing("wall", Box((1.0, 1.0, 1.0)), matrix(np.eye(3), np.array((10.0, 0.0, 0.0))))
    ahead = np.array([[1.0, 0.0, 0.0]])
    scene = scene_of([wall])
    for place in (3.0, 5.0, 7.0):
        ball = Thing("ball", sphere(0.5), matrix(np.eye(3), np.array((place, 0.0, 0.0))))
        scene = scene.with_moving([ball], [])
        ranges, hits = scene.cast(np.zeros(3), ahead)
        assert ranges[0] == place - 0.5
        assert scene.visuals.things[hits.things[0]].name == "ball"
        assert [thing.name for thing in scene.collisions.things] == ["wall"]
    scene = scene.with_moving([], [])
    assert scene.cast(np.zeros(3), ahead)[0][0] == 9.5
