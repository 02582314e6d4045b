"""Wrong and hostile worlds are refused with a reason, or read."""

from __future__ import annotations

import pytest
from helpers.worlds import BALL, geometry, model, refusal, world, write_map
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.errors import WorldError
from vds_gz.core.share import share
from vds_gz.core.world import sdf_scene
from vds_gz.core.world.load_world import load_world


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("<actor name='a'/>", r"world.sdf, line 4: <actor> in <world> is not known"),
        (geometry("<torus><radius>1</radius></torus>"), r"<torus> in <geometry> is not known; shapes are box, capsule"),
        (geometry("<box><size>1 2</size></box>"), r"<size> is '1 2'; it must be 3 numbers"),
        (
            geometry("<box><size>1 2 nan</size></box>"),
            r"<size> is '1 2 nan'; it must be 3 numbers, smaller than 1e",
        ),
        (geometry("<sphere><radius>-1</radius></sphere>"), r"<radius> of <sphere> is -1; it must be greater than 0"),
        (geometry("<plane><normal>0 0 0</normal></plane>"), r"<normal> of <plane> is 0 0 0"),
        (geometry("<mesh><uri>model://gone/a.stl</uri></mesh>"), r"'model://gone/a.stl' is not on this machine"),
        (geometry("<mesh><uri>../../etc/passwd</uri></mesh>"), r"must name a file without '..'"),
        (model("m", BALL.format(pose="<pose relative_to='x'/>")), r"there is no frame 'x'; there are __model__, l"),
        (
            "<frame name='a'><pose relative_to='b'/></frame><frame name='b'><pose relative_to='a'/></frame>"
            "<model name='m'><pose relative_to='a'/></model>",
            r"frame '\w' is relative to itself",
        ),
        (
            "<include><uri>model://gone</uri></include>",
            r"'model://gone' is not on this machine, and nothing is downloaded",
        ),
        ("<model><link name='l'/></model>", r"<model> has no name"),
        ("<model name='m'><link/></model>", r"<link> has no name"),
        (
            model("m", BALL.format(pose="<pose rotation_format='quat_xyzw'>0 0 0 0 0 0 1e-200</pose>")),
            r"the quaternion of <pose> is 0 0 0 1e-200; its length must be 1",
        ),
        (
            model("m", BALL.format(pose="<pose>9e11 0 0 0 0 0</pose>"), "9e11 0 0 0 0 0"),
            r"<visual> is farther than 1e\+12 m from the origin",
        ),
        (geometry("<mesh><uri>package://</uri></mesh>"), r"<uri> is 'package://'; it must name a file"),
        (geometry("<mesh><uri>https://[x</uri></mesh>"), r"'https://\[x' is not on this machine"),
        (geometry("<mesh><uri>https://../1.0/a/models/b</uri></mesh>"), r"must name a file without '..'"),
        (geometry("<mesh><uri>model://a%2F..%2F..%2Fb.stl</uri></mesh>"), r"must name a file without '..'"),
        (geometry(f"<mesh><uri>{'a' * 300}</uri></mesh>"), r"a' is not on this machine"),
        (geometry("<mesh><uri>file:///dev/zero</uri></mesh>"), r"'file:///dev/zero' is not on this machine"),
        (geometry("<polyline><point>0 0</point></polyline>" * 2), r"more than one <polyline>; holes are not supported"),
        ("<include><uri>a</uri><merge>true</merge></include>", r"<include merge='true'> is not supported"),
        (model("m", "") + model("m", ""), r"<model> 'm': the name is taken"),
    ],
)
def test_errors_name_file_and_line(tmp_path, inside, message):
    with pytest.raises(WorldError, match=message):
        world(tmp_path, inside)


def test_entities_are_refused(tmp_path):
    file = tmp_path / "bomb.sdf"
    file.write_text("<!DOCTYPE sdf [<!ENTITY a 'aaa'>]>\n<sdf version='1.9'><world name='&a;'/></sdf>")
    with pytest.raises(WorldError, match=r"bomb.sdf, line 1: entity 'a'; entities are not supported"):
        load_world(file)


def test_the_folder_of_a_model_is_not_left(tmp_path):
    folder = tmp_path / "ball"
    folder.mkdir()
    outside = tmp_path / "outside.sdf"
    outside.write_text(f"<sdf version='1.9'>{model('ball', BALL.format(pose=''))}</sdf>")
    for name in ("../outside.sdf", str(outside)):
        (folder / "model.config").write_text(f"<model><sdf version='1.9'>{name}</sdf></model>")
        with pytest.raises(WorldError, match=r"has neither a model.config that names an SDF file in it"):
            world(tmp_path, "<include><uri>ball</uri></include>")


def test_includes_that_double_are_bounded(tmp_path, monkeypatch):
    """Each file includes the next one twice, which gives 2^25 models in all."""
    monkeypatch.setattr(sdf_scene, "MOST_MODELS", 5000)
    for k in range(25):
        twice = "".join(f"<include><uri>{k + 1}.sdf</uri><name>{side}</name></include>" for side in "ab")
        (tmp_path / f"{k}.sdf").write_text(f"<sdf version='1.9'><model name='m'>{twice}</model></sdf>")
    (tmp_path / "25.sdf").write_text("<sdf version='1.9'><model name='m'><link name='l'/></model></sdf>")
    with pytest.raises(WorldError, match=r"the world has more than 5000 models"):
        world(tmp_path, "<include><uri>0.sdf</uri></include>")


def test_lines_are_counted_through_comments(tmp_path):
    with pytest.raises(WorldError, match=r"world.sdf, line 6: <actor>"):
        world(tmp_path, "<!-- a\n -- b -->\n<actor name='a'/>")


@pytest.mark.parametrize("begin", ["<!--", "<![CDATA["])
def test_comments_and_text_without_an_end_are_refused(tmp_path, begin):
    """They are refused at once; a search for the end of each would take hours."""
    with pytest.raises(WorldError, match=r"world.sdf, line \d: it is not well-formed XML"):
        world(tmp_path, begin * 50_000)


def test_a_model_that_includes_itself_is_refused(tmp_path):
    (tmp_path / "model.sdf").write_text(
        "<sdf version='1.9'><model name='m'><include><uri>model.sdf</uri></include></model></sdf>"
    )
    with pytest.raises(WorldError, match=r"models include models more than 32 deep"):
        world(tmp_path, "<include><uri>model.sdf</uri></include>")


@given(st.data())
def test_a_file_that_was_changed_anywhere_is_read_or_refused(tmp_path_factory, data):
    """Random changes of the bytes of a valid world give a scene or a WorldError."""
    text = bytearray(
        share("worlds", "outdoor.sdf").read_bytes()[1500:9000].join([b"<sdf version='1.9'><world name='w'>", b""])
    )
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    file = tmp_path_factory.mktemp("mutated") / "world.sdf"
    file.write_bytes(text)
    refused = refusal(file)
    assert refused is None or str(file) in refused


@given(st.data())
def test_a_map_that_was_changed_anywhere_is_read_or_refused(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("mutated")
    file = write_map(folder, [[0, 254], [254, 0]])
    for path in (file, folder / "map.pgm"):
        text = bytearray(path.read_bytes())
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        path.write_bytes(text)
    refused = refusal(file)
    assert refused is None or "map" in refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[\n" * 1500, "more than 50 deep"),
        (f"image: {'a' * 300}.pgm\norigin: [0, 0, 0]\nresolution: 1", "there is no image"),
        ("a: &a [1]\nb: *c", "it has aliases"),
        ("- 1", "must hold what the YAML file of a map server holds"),
        ("image: ''\norigin: [0, 0, 0]\nresolution: 1", "'image' must be the name of a file"),
        ("origin: [0, 0, 0]\nresolution: 1", "has no 'image'"),
        (
            "image: a.pgm\norigin: [0, 0, 0]\nresolution: .nan",
            "line 3: 'resolution' is '.nan'; it must be a number of at least 0.0001",
        ),
        ("image: a.pgm\norigin: [0, 0, 0]\nresolution: 0", "is '0'; it must be a number of at least 0.0001"),
        ("image: a.pgm\norigin: [0, 0]\nresolution: 1", r"'origin' has 2 items; it must have 3: \[x, y, yaw\]"),
        ("image: a.pgm\norigin: [0, 0, 0]\nresolution: 1\nnegate: x", "'negate' is 'x'; it must be 0 or 1"),
        ("image: a.pgm\norigin: [0, 0, 0]\nresolution: 1\nmode: x", "'mode' is 'x'; it must be trinary, scale, raw"),
        ("image: a.pgm\norigin: [0, 0, 0]\nresolution: 1", "there is no image"),
    ],
)
def test_errors_of_maps_name_the_entry(tmp_path, text, message):
    file = tmp_path / "map.yaml"
    file.write_text(text)
    with pytest.raises(WorldError, match=f"map.yaml.*{message}"):
        load_world(file)


@pytest.mark.parametrize(
    "data",
    [
        b"P5" + b" #" * 60,
        b"P2 1 1 255 " + b"9" * 5000,
        b"P5 99999999999 1 255 0",
        b"P5 3 3 255\n" + bytes(8),
        b"P5 0 3 255\n",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        b"",
    ],
)
def test_broken_images_are_refused(tmp_path, data):
    file = write_map(tmp_path, [[0]])
    (tmp_path / "map.pgm").write_bytes(data)
    with pytest.raises(WorldError, match=r"map.yaml: image '.*map.pgm' (cannot be read|has|is cut short)"):
        load_world(file)


def test_unknown_and_missing_files_are_refused(tmp_path):
    with pytest.raises(WorldError, match=r"world 'a.txt' ends in '.txt'; it must be an SDF file or a map"):
        load_world("a.txt")
    with pytest.raises(WorldError, match=r"file 'gone.sdf' cannot be read: No such file"):
        load_world("gone.sdf")
    with pytest.raises(WorldError, match=r"there is no world 'aaa"):
        load_world("a" * 300)
