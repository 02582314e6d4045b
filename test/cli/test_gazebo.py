"""Parameters of the link, and the files of a server."""

import tempfile
import xml.etree.ElementTree as ElementTree

import pytest

from vds_gz.cli.gazebo import in_step, main
from vds_gz.core.description.sdf import sdf
from vds_gz.core.errors import WorldError
from vds_gz.core.parameters.declaration import ParameterError
from vds_gz.core.parameters.node import GazeboParameters, joint_map
from vds_gz.core.plant.base import LinkError
from vds_gz.core.plant.gazebo.gazebo_server import Server, Spawn, gz_command, populated
from vds_gz.core.share import share
from vds_gz.core.vehicle.bicycle import BICYCLE
from vds_gz.core.world.load_world import world_file


def test_joint_names():
    assert joint_map("") == {}
    assert joint_map(" a = b,c=d ,") == {"a": "b", "c": "d"}


@pytest.mark.parametrize("text", ["a", "a=", "=b", "a=b, a=c", "a=c, b=c", "a=b c=d ,x", "a=-", "a=--b"])
def test_invalid_joint_names_are_refused(text):
    with pytest.raises(ParameterError, match="joint_names"):
        GazeboParameters(joint_names=text)


def vehicle():
    return sdf(BICYCLE, BICYCLE.parameters())


def test_vehicles_are_put_into_a_world():
    spawns = [Spawn(vehicle(), (1.0, 2.0, 3.0, 0.0, 0.0, 0.5)), Spawn(vehicle().replace('"vehicle"', '"other"'))]
    name, text = populated(share("worlds", "empty.sdf"), spawns, 0.0)
    assert name == "empty"
    world = ElementTree.fromstring(text).find("world")
    poses = {model.get("name"): model.findtext("pose") for model in world.findall("model")}
    assert poses["vehicle"] == "1 2 3 0 0 0.5"
    assert poses["other"] == "0 0 0 0 0 0"
    assert world.findtext("physics/real_time_factor") == "0"


def test_files_without_a_world_are_refused(tmp_path):
    for text in ("nothing", "<sdf version='1.9'/>"):
        (tmp_path / "w.sdf").write_text(text)
        with pytest.raises(LinkError, match=r"w\.sdf"):
            populated(tmp_path / "w.sdf", [])
    with pytest.raises(WorldError, match="there is no world 'emty'"):
        world_file("emty")


def test_the_node_inside_gazebo_is_the_only_one_to_move_the_joints():
    text = in_step(vehicle(), ["--ros-args", "-p", "gazebo.model:=a b"], commands="log.csv")
    plugins = ElementTree.fromstring(text).findall("model/plugin")
    names = [plugin.get("name").rpartition("::")[2] for plugin in plugins]
    assert "JointController" not in names
    assert "JointPositionController" not in names
    assert names[-1] == "PythonSystemLoader"
    assert plugins[-1].findtext("arguments") == "--ros-args -p 'gazebo.model:=a b'"
    assert plugins[-1].findtext("commands") == "log.csv"


def test_without_gazebo_there_is_one_clear_message(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["--headless"]) == 2
    said = capsys.readouterr().err
    assert "'gz' is not in the PATH" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(("version", "waits"), [("8.14.0", False), ("10.4.0", True), ("11.0.0", True), ("", False)])
def test_a_server_that_loads_in_the_background_is_told_to_wait(version, waits, monkeypatch, tmp_path):
    program = tmp_path / "gz"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert ("--wait-for-assets" in gz_command(tmp_path / "w.sdf")) is waits


@pytest.mark.parametrize("as_path", [True, False])
def test_a_server_writes_a_file_for_a_text_only(as_path, monkeypatch, tmp_path):
    program, files, world = tmp_path / "gz", tmp_path / "files", tmp_path / "w.sdf"
    program.write_text(f'#!/bin/sh\nfor last; do :; done\ncat "$last" > {tmp_path}/got\n')
    program.chmod(0o755)
    files.mkdir()
    world.write_text("<sdf/>")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(tempfile, "tempdir", str(files))
    server = Server(world if as_path else "<sdf/>")
    assert server.process.wait(20.0) == 0
    assert (tmp_path / "got").read_text() == "<sdf/>"
    assert len(list(files.iterdir())) == (0 if as_path else 1)
    server.stop()
    assert not list(files.iterdir())


@pytest.mark.parametrize("arguments", [["--world", "moon"], ["--ros-args", "-p", "step_rat:=1.0"]])
def test_wrong_use_of_the_command_is_refused(arguments, capsys):
    assert main(["--headless", *arguments]) == 2
    assert capsys.readouterr().err.startswith("vds-gz gazebo: ")
