"""Descriptions for ros2_control: hardware, controllers and plugin have the same joints in the same order."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
import yaml

from vds_gz.core.configuration import parameters_of
from vds_gz.core.description import ros2_control
from vds_gz.core.description.sdf import sdf
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.vehicle_model import Joint
from vds_gz.programs.nodes.preparation import description

MODELS = ("bicycle", "differential", "omni")


def parameters(model: str, **gazebo: str) -> NodeParameters:
    overrides = [Override("model", model), *(Override(f"gazebo.{key}", value) for key, value in gazebo.items())]
    overrides.append(Override("backend", "gazebo"))
    return parameters_of(overrides)


@pytest.mark.parametrize("model", MODELS)
def test_controllers_list_the_joints_in_the_order_of_the_model(model: str):
    joints = models()[model].joints(parameters(model).vehicle)
    file = {name: item["ros__parameters"] for name, item in yaml.safe_load(ros2_control.controllers(joints)).items()}
    wheels = [joint.name for joint in joints if joint.kind == "wheel"]
    steering = [joint.name for joint in joints if joint.kind == "steering"]
    assert file["/**/forward_velocity_controller"] == {"joints": wheels, "interface_name": "velocity"}
    if steering:
        assert file["/**/forward_position_controller"] == {"joints": steering, "interface_name": "position"}
    else:
        assert "/**/forward_position_controller" not in file
    assert file["/**/joint_state_broadcaster"]["use_local_topics"] is True
    manager = file["/**/controller_manager"]
    assert (
        set(ros2_control.names(joints))
        == manager.keys() - {"update_rate"}
        == {name[4:] for name in file} - {"controller_manager"}
    )


@pytest.mark.parametrize("model", MODELS)
def test_the_description_has_every_joint(model: str):
    controlled = parameters(model, link="ros2_control")
    kind = models()[model]
    root = ElementTree.fromstring(description(controlled, kind))
    in_urdf = {joint.get("name"): joint.get("type") for joint in root.findall("joint")}
    block = root.find("ros2_control")
    assert block is not None
    assert block.findtext("hardware/plugin") == "gz_ros2_control/GazeboSimSystem"
    joints = kind.joints(controlled.vehicle)
    result = {
        element.get("name"): [entry.get("name") for entry in element.findall("command_interface")]
        for element in block.findall("joint")
    }
    expected = {joint.name: ["velocity" if joint.kind == "wheel" else "position"] for joint in joints}
    assert result == expected
    assert all(in_urdf[name] in ("continuous", "revolute") for name in result)
    assert ElementTree.fromstring(description(parameters(model), kind)).find("ros2_control") is None


def test_passive_joints_have_states_and_no_command():
    joints = (Joint("hitch_1_joint", "hitch"), Joint("trailer_wheel", "wheel", passive=True), Joint("wheel", "wheel"))
    root = ElementTree.fromstring(ros2_control.with_hardware("<robot name='r'/>", joints))
    commands = {joint.get("name"): joint.find("command_interface") is not None for joint in root.iter("joint")}
    assert commands == {"hitch_1_joint": False, "trailer_wheel": False, "wheel": True}
    assert all(len(joint.findall("state_interface")) == 2 for joint in root.iter("joint"))
    controllers = yaml.safe_load(ros2_control.controllers(joints))
    assert controllers["/**/forward_velocity_controller"]["ros__parameters"]["joints"] == ["wheel"]
    assert "/**/forward_position_controller" not in controllers
    assert ros2_control.names(joints) == ["joint_state_broadcaster", "forward_velocity_controller"]


@pytest.mark.parametrize("model", MODELS)
def test_the_plugin_is_the_only_one_that_moves_joints(model: str):
    text = sdf(models()[model], parameters(model).vehicle)
    changed = ros2_control.with_plugin(text, "controllers.yaml", 1.0, "car")
    names = [plugin.get("name", "") for plugin in ElementTree.fromstring(changed).findall("model/plugin")]
    before = [plugin.get("name", "") for plugin in ElementTree.fromstring(text).findall("model/plugin")]
    joints = models()[model].joints(parameters(model).vehicle)
    assert len(before) - len(names) == len(joints) - 1
    assert not any("JointController" in name or "JointPositionController" in name for name in names)
    plugin = ElementTree.fromstring(changed).find(f"model/plugin[@name='{ros2_control.PLUGIN[1]}']")
    assert plugin is not None
    assert plugin.findtext("parameters") == "controllers.yaml"
    assert float(plugin.findtext("position_proportional_gain", "")) == 1.0
    assert plugin.findtext("ros/namespace") == "car"
