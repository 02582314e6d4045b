"""The layouts for RViz, PlotJuggler and Foxglove name topics that the node publishes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from helpers.sensors import TYPES

from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.share import share
from vds_gz.core.vehicle.catalogue import models
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.topics import Topic

OURS = {topic.name.lstrip("/"): topic for topic in vars(topics).values() if isinstance(topic, Topic)}

#: Topics of Nav2 that the view of a vehicle shows, too.
NAV2 = {
    "map",
    "map_updates",
    "local_costmap/costmap",
    "local_costmap/costmap_updates",
    "local_costmap/published_footprint",
    "plan",
    "goal_pose",
}

#: Topics of a sensor with the name that `vds-gz run` gives its own.
SENSORS = {stream.topic("lidar") for kind in ("rplidar_a2", "velodyne_vlp16") for stream in TYPES[kind].streams}

RVIZ = ("vehicle", "side_by_side")


def rviz(name: str) -> Any:
    return yaml.safe_load(share("config", "rviz", f"{name}.rviz").read_text(encoding="utf-8"))["Visualization Manager"]


def shown(node: Any) -> Iterator[dict]:
    """Every topic property in a layout, with its quality of service."""
    if isinstance(node, dict):
        if "Reliability Policy" in node:
            yield node
        for value in node.values():
            yield from shown(value)
    elif isinstance(node, list):
        for value in node:
            yield from shown(value)


@pytest.mark.parametrize("name", RVIZ)
def test_rviz_shows_topics_that_exist(name):
    robots = ("/ideal/", "/realistic/")
    for topic in shown(rviz(name)):
        plain = topic["Value"]
        for robot in robots:
            plain = plain.removeprefix(robot)
        assert plain in OURS or (name == "vehicle" and plain in NAV2 | SENSORS), plain
        assert plain != topic["Value"] or name == "vehicle"
        if plain in OURS and OURS[plain].qos.transient_local:
            assert topic["Durability Policy"] == "Transient Local"


def test_rviz_has_the_frames_of_both_robots():
    frames = next(one for one in rviz("side_by_side")["Displays"] if one["Name"] == "Frames")["Frames"]
    for robot in ("ideal", "realistic"):
        file = share("config", "side_by_side", f"{robot}.yaml")
        parameters = yaml.safe_load(file.read_text(encoding="utf-8"))["sim_node"]["ros__parameters"]
        assert parameters["frame_prefix"] == f"{robot}/"
        assert f"{robot}/base_link" in frames


@pytest.mark.parametrize("name", RVIZ)
def test_rviz_displays_are_complete(name):
    displays = rviz(name)["Displays"]
    assert {"RobotModel", "TF", "Odometry"} <= {display["Class"].rpartition("/")[2] for display in displays}
    assert len({display["Name"] for display in displays}) == len(displays)


def names() -> tuple[set[str], set[str]]:
    """All joints, and all actuators, of all models."""
    joints: set[str] = set()
    actuators: set[str] = set()
    for model in models().values():
        joints |= {joint.name for joint in model.joints(model.parameters())}
        actuators |= {actuator.name for actuator in model.actuators_of(model.parameters())}
    return joints, actuators


def test_plotjuggler_draws_topics_that_exist():
    joints, actuators = names()
    root = ElementTree.parse(share("config", "plotjuggler", "vehicle.xml")).getroot()
    curves = [value for curve in root.iter("curve") for key, value in curve.attrib.items() if key != "color"]
    series = [value for value in curves if value.startswith("/")]
    for one in series:
        topic, _, rest = one.removeprefix("/").partition("/")
        assert topic in OURS, one
        if topic == "joint_states":
            assert rest.partition("/")[0] in joints | {"steering"}, one
        elif topic.startswith("actuator_"):
            assert rest.partition("/")[0] in actuators, one
    drawn = {one.split("/")[2] for one in series if one.startswith("/actuator_states/")}
    assert {"steering", "drive", "drive_left", "drive_right"} <= drawn


def test_plotjuggler_listens_to_what_it_draws():
    root = ElementTree.parse(share("config", "plotjuggler", "vehicle.xml")).getroot()
    subscriber = next(element for element in root.iter("plugin") if element.attrib["ID"] == "ROS2 Topic Subscriber")
    listened = subscriber.find("selected_topics").attrib["value"].split(";")
    drawn = {
        "/" + value.split("/")[1]
        for curve in root.iter("curve")
        for key, value in curve.attrib.items()
        if key != "color" and value.startswith("/")
    }
    assert drawn <= set(listened)


# ---------------------------------------------------------------------- Foxglove

FOXGLOVE = json.loads(share("config", "foxglove", "vehicle.json").read_text(encoding="utf-8"))


def panels(node: Any) -> Iterator[str]:
    """The panels in a tree of splits."""
    if isinstance(node, str):
        yield node
    else:
        assert node.keys() == {"direction", "splitPercentage", "first", "second"}
        assert node["direction"] in ("row", "column")
        yield from panels(node["first"])
        yield from panels(node["second"])


def test_foxglove_places_every_panel_once():
    assert sorted(panels(FOXGLOVE["layout"])) == sorted(FOXGLOVE["configById"])
    assert {"configById", "globalVariables", "userNodes", "playbackConfig", "layout"} == FOXGLOVE.keys()


def test_foxglove_plots_numbers_of_messages_that_exist():
    paths = [path["value"] for name, panel in FOXGLOVE["configById"].items() for path in panel.get("paths", ())]
    assert len(paths) == 14
    for path in paths:
        topic, *fields = path.removeprefix("/").split(".")
        value = open_types().new(OURS[topic].type)
        for field in fields:
            value = getattr(value, field.partition("[")[0])
        assert isinstance(value, float) or len(value) == 0, path


def test_foxglove_shows_topics_that_exist():
    scene = FOXGLOVE["configById"]["3D!vehicle"]
    assert {topic.removeprefix("/") for topic in scene["topics"]} <= OURS.keys() | SENSORS | NAV2
    assert scene["layers"]["model"]["topic"].removeprefix("/") in OURS
    assert FOXGLOVE["configById"]["DiagnosticSummary!vehicle"]["topicToRender"].removeprefix("/") in OURS
    assert FOXGLOVE["configById"]["Teleop!vehicle"]["topic"].removeprefix("/") in OURS
