"""The copy has the drive's plugin exchanged, and every other byte is the original's."""

import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from helpers import robot_files as robots
from hypothesis import given, settings
from hypothesis import strategies as st

from vds_gz.tools.adopt.write import adopt
from vds_gz.tools.adopt.xml_text import document_of

#: Pieces between elements that a copy must keep: comments with plugins in them, odd blanks, CDATA, other letters.
PIECES = (
    "\n",
    "\r\n\t",
    "<!-- <plugin name='x'/> -- > -->",
    "<!-- ä -- b -->",
    "<plugin filename='a>b' name='other'/>",
    "<static>false</static><!---->",
    "<![CDATA[ <plugin> ]]>",
    '<frame name="f"/>',
)


@given(st.lists(st.sampled_from(PIECES), max_size=6), st.lists(st.sampled_from(PIECES), max_size=6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_everything_but_the_plugin_is_kept_byte_for_byte(tmp_path_factory, before, after, mark):
    drive = robots.diff_drive(robots.DIFF + "<!-- > -->")
    pieces = [*before, "\0", *after]
    if pieces.count('<frame name="f"/>') > 1:
        pieces = [piece for piece in pieces if piece != '<frame name="f"/>']
    head, tail = robots.sdf("".join(pieces)).encode().split(b"\0")
    head = b"\xef\xbb\xbf" * mark + head
    folder = tmp_path_factory.mktemp("robot")
    (folder / "robot.sdf").write_bytes(head + drive.encode() + tail)
    copy = adopt(folder / "robot.sdf", folder / "out")[0].files["model.sdf"]
    assert copy.startswith(head)
    assert copy.endswith(tail)
    middle = copy[len(head) : len(copy) - len(tail)].decode()
    added = ElementTree.fromstring(f"<model>{middle}</model>")
    names = [element.get("name", "").rpartition(":")[2] for element in added]
    assert names == ["JointController", "JointController", "JointStatePublisher", "OdometryPublisher"]


def test_elements_know_their_bytes():
    text = "<a>é<b x=\">\"/><c y='/>'>t</c ></a>".encode()
    root = document_of("file", text).root
    spans = {tag.tag: text[tag.start : tag.end].decode() for tag in root.iter()}
    assert spans == {"a": text.decode(), "b": '<b x=">"/>', "c": "<c y='/>'>t</c >"}


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
def test_the_diff_has_only_the_plugin(tmp_path):
    (tmp_path / "robot.sdf").write_text(robots.sdf(robots.diff_drive()), encoding="utf-8")
    diff = adopt(tmp_path / "robot.sdf", tmp_path / "out")[0].diff
    removed = [line for line in diff.splitlines() if line.startswith("-") and not line.startswith("---")]
    assert len(removed) == 1
    assert "DiffDrive" in removed[0]
    copy = tmp_path / "copy.sdf"
    copy.write_text(robots.sdf(robots.diff_drive()), encoding="utf-8")
    subprocess.run(["patch", "--silent", str(copy)], input=diff, text=True, check=True)
    assert copy.read_bytes() == adopt(tmp_path / "robot.sdf", tmp_path / "out")[0].files["model.sdf"]


@pytest.mark.parametrize("included", [False, True])
def test_robots_in_a_world(tmp_path, included):
    other = robots.sdf("", name="box").partition("<model")[2].rpartition("</model>")[0]
    robot = robots.sdf(robots.diff_drive())
    inner = (
        "<include><uri>model://rover</uri><name>mine</name></include>"
        if included
        else ("<model" + robot.partition("<model")[2].rpartition("</sdf>")[0])
    )
    world = f'<sdf version="1.9"><world name="w"><model{other}</model>\n{inner}\n</world></sdf>'
    (tmp_path / "rover").mkdir()
    (tmp_path / "rover" / "model.sdf").write_text(robot, encoding="utf-8")
    (tmp_path / "world.sdf").write_text(world, encoding="utf-8")
    adoption, folder = adopt(tmp_path / "world.sdf", tmp_path / "out")
    assert adoption.start.world == "world.sdf"
    assert adoption.start.name == ("mine" if included else "rover")
    copy = adoption.files["world.sdf"].decode()
    if included:
        assert copy == world.replace("model://rover", str(folder / "model.sdf"))
        assert b"JointController" in adoption.files["model.sdf"]
    else:
        assert "JointController" in copy
        assert adoption.start.model == "world.sdf"
