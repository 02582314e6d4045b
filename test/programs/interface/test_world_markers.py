"""The world as markers on the graph: number, place and type of its shapes, also for late subscribers."""

import numpy as np
import pytest
from helpers.worlds import geometry

from vds_gz.core.geometry import into_world
from vds_gz.core.share import share
from vds_gz.core.world.load_world import load_world
from vds_gz.core.world.shapes import Box
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.world_topics import CUBE, CYLINDER, SPHERE, TRIANGLE_LIST


def test_markers_have_the_poses_of_things(start, probe):
    start("-p", "world:=hall")
    probe.until(lambda: topics.WORLD.name.join(["/", ""]) in probe.graph.offers(), "the topic of the world")
    probe.listen(topics.WORLD)  # after it was published
    markers = probe.next(topics.WORLD).markers
    things = load_world(share("worlds", "hall.sdf")).visuals.things
    assert len(markers) == len(things)
    assert len({marker.id for marker in markers}) == len(things)
    for marker, thing in zip(markers, things, strict=True):
        assert marker.header.frame_id == "map"
        place, turn = marker.pose.position, marker.pose.orientation
        assert (place.x, place.y, place.z) == pytest.approx(tuple(thing.pose[:3, 3]))
        for axis in np.eye(3):
            turned = into_world((turn.x, turn.y, turn.z, turn.w), tuple(axis))
            assert turned == pytest.approx(tuple(thing.pose[:3, :3] @ axis), abs=1e-9)
        if isinstance(thing.shape, Box):
            assert marker.type == CUBE
            assert (marker.scale.x, marker.scale.y, marker.scale.z) == pytest.approx(thing.shape.size)


@pytest.mark.parametrize(
    ("shape", "types"),
    [
        ("<box><size>1 2 3</size></box>", [CUBE]),
        ("<sphere><radius>1</radius></sphere>", [SPHERE]),
        ("<cylinder><radius>1</radius><length>2</length></cylinder>", [CYLINDER]),
        ("<capsule><radius>1</radius><length>2</length></capsule>", [CYLINDER, SPHERE, SPHERE]),
        ("<plane><normal>0 0 1</normal><size>2 2</size></plane>", [TRIANGLE_LIST]),
    ],
)
def test_every_shape_has_its_markers(start, probe, tmp_path, shape, types):
    file = tmp_path / "world.sdf"
    file.write_text(f"<sdf version='1.9'><world name='w'>{geometry(shape)}</world></sdf>")
    probe.listen(topics.WORLD)
    start("-p", f"world:={file}")
    markers = probe.next(topics.WORLD).markers
    assert [marker.type for marker in markers] == types
    assert [len(marker.points) for marker in markers] == [6 if kind == TRIANGLE_LIST else 0 for kind in types]


def test_without_a_world_there_is_no_such_topic(start, probe):
    start()
    probe.listen(topics.ODOM)
    probe.next(topics.ODOM)
    assert f"/{topics.WORLD.name}" not in probe.graph.offers()
