"""Descriptions for ``ros2_control``: hardware in the URDF, controllers, and a plugin in the SDF.

Wheels are commanded by velocity and steering joints by position, each kind by one forward command controller that lists
the joints in the order of ``VehicleModel.joints``. Documentation:
https://control.ros.org/jazzy/doc/gz_ros2_control/doc/index.html
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import yaml

from vds_gz.core.description.sdf import moved_by
from vds_gz.core.vehicle.vehicle_model import Joint

VELOCITY_CONTROLLER = "forward_velocity_controller"
POSITION_CONTROLLER = "forward_position_controller"
BROADCASTER = "joint_state_broadcaster"

HARDWARE = "gz_ros2_control/GazeboSimSystem"
PLUGIN = ("gz_ros2_control-system", "gz_ros2_control::GazeboSimROS2ControlPlugin")

#: Rate of the controllers [Hz]: one cycle per physics step, so that a steering joint arrives after one step.
UPDATE_RATE = 1000

STATE_RATE = 200  # approximate rate of messages of joint states [Hz]


def with_hardware(urdf: str, joints: Iterable[Joint]) -> str:
    """A URDF with the block that lists the joints for ``controller_manager``.

    Every description on the topic ``robot_description`` must have it, because one without it ends the server that runs
    gz_ros2_control.
    """
    root = ElementTree.fromstring(urdf)
    block = SubElement(root, "ros2_control", name="vehicle", type="system")
    SubElement(SubElement(block, "hardware"), "plugin").text = HARDWARE
    for joint in joints:
        element = SubElement(block, "joint", name=joint.name)
        if joint.command is not None:
            SubElement(element, "command_interface", name=joint.command)
        for state in ("position", "velocity"):
            SubElement(element, "state_interface", name=state)
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def controllers(joints: Iterable[Joint], update_rate: int = UPDATE_RATE) -> str:
    """The parameter file of ``controller_manager`` and its controllers, for any namespace."""
    joints = list(joints)
    commanded = {
        name: {
            "joints": [joint.name for joint in joints if joint.command == interface],
            "interface_name": interface,
        }
        for name, interface in ((VELOCITY_CONTROLLER, "velocity"), (POSITION_CONTROLLER, "position"))
    }
    forward = {name: values for name, values in commanded.items() if values["joints"]}
    manager: dict[str, object] = {"update_rate": update_rate}
    manager |= {name: {"type": "forward_command_controller/ForwardCommandController"} for name in forward}
    manager[BROADCASTER] = {"type": "joint_state_broadcaster/JointStateBroadcaster"}
    # Local topics, because the node itself publishes joint_states.
    rate = update_rate // max(1, update_rate // STATE_RATE)
    broadcaster = {"use_local_topics": True, "update_rate": rate}
    nodes = {"controller_manager": manager, **forward, BROADCASTER: broadcaster}
    return yaml.safe_dump(
        {f"/**/{name}": {"ros__parameters": values} for name, values in nodes.items()}, sort_keys=False
    )


def names(joints: Iterable[Joint]) -> list[str]:
    """Names of the controllers to spawn for a vehicle."""
    steers = any(joint.command == "position" for joint in joints)
    return [BROADCASTER, VELOCITY_CONTROLLER, *([POSITION_CONTROLLER] if steers else [])]


def with_plugin(sdf: str, parameters: str, gain: float = 1.0, namespace: str = "") -> str:
    """The SDF of a vehicle whose joints ros2_control moves; ``parameters`` is the path of :func:`controllers`' file."""
    plugin = Element("plugin", filename=PLUGIN[0], name=PLUGIN[1])
    SubElement(plugin, "parameters").text = parameters
    SubElement(plugin, "position_proportional_gain").text = repr(gain)
    if namespace:
        SubElement(SubElement(plugin, "ros"), "namespace").text = namespace
    return moved_by(sdf, plugin)
