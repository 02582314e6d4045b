"""``vds-gz model``."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
import yaml

from vds_gz.cli.model import main
from vds_gz.core.configuration import preset_names

WITH_SENSORS = """
sim_node:
  ros__parameters:
    model: differential
    frame_prefix: robo/
    sensors:
      lidar1: {type: rplidar_a2, xyz: [0.1, 0.0, 0.2], rate: 5.0}
      imu: {type: imu}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "robot.yaml"
    path.write_text(WITH_SENSORS)
    return path


@pytest.mark.parametrize("preset", preset_names())
@pytest.mark.parametrize(("form", "root"), [("urdf", "robot"), ("sdf", "sdf")])
def test_every_preset(preset, form, root, capsys):
    assert main([preset, "--format", form]) == 0
    assert ElementTree.fromstring(capsys.readouterr().out).tag == root


def test_a_file_with_sensors(file, tmp_path):
    out = tmp_path / "robot.sdf"
    assert main([str(file), "--name", "robo", "-o", str(out)]) == 0
    robot = ElementTree.parse(out).getroot().find("model")
    assert robot.get("name") == "robo"
    topics = {sensor.get("type"): sensor.findtext("topic") for sensor in robot.iter("sensor")}
    assert topics.pop("contact", "") is None  # that of the body has its topic further in
    assert [*topics.values()] == [
        "/model/robo/lidar1/scan",
        "/model/robo/imu/imu",
    ]


def test_a_bridge(file, capsys):
    assert main([str(file), "--format", "bridge"]) == 0
    entries = yaml.safe_load(capsys.readouterr().out)
    assert [entry["ros_topic_name"] for entry in entries][-2:] == ["lidar1/scan", "imu/data"]
    assert entries[-1]["frame_id"] == "robo/imu"


def test_a_list_of_sensors_is_the_same_as_a_mapping(file, tmp_path, capsys):
    listed = tmp_path / "list.yaml"
    text = WITH_SENSORS.replace("lidar1: {", "- {name: lidar1, ").replace("imu: {", "- {name: imu, ")
    listed.write_text(text)
    for one in (file, listed):
        assert main([str(one), "--format", "bridge"]) == 0
    out = capsys.readouterr().out
    assert out[: len(out) // 2] == out[len(out) // 2 :]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sim_node: {ros__parameters: {sensors: [{type: imu}]}}", "must be a mapping with its own 'name'"),
        ("sim_node: {ros__parameters: {sensors: [{name: a}, {name: a}]}}", "with its own 'name'"),
        ("sim_node: {ros__parameters: {model: bicycel}}", "'bicycel'"),
        ("sim_node: {ros__parameters: {sensors: {a: {rate: 1.0}}}}", "sensor 'a' .* has no type"),
        (
            "sim_node: {ros__parameters: {sensors: {chassis: {type: imu}}}}",
            "sensor 'chassis' has the name of a link",
        ),
    ],
)
def test_wrong_parameters(text, words, tmp_path, capsys):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    assert main([str(path)]) == 2
    assert re.search(words, capsys.readouterr().err)


def test_unknown_preset(capsys):
    assert main(["deepraser"]) == 2
    assert "and no preset; presets are ackermann_car" in capsys.readouterr().err


def test_nowhere_to_write(tmp_path, capsys):
    assert main(["deepracer", "-o", str(tmp_path / "no" / "where")]) == 2
    assert "where" in capsys.readouterr().err
