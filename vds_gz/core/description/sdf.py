"""The SDF model of a vehicle for Gazebo, from its parameters: its URDF, with plugins for commands and states.

The node simulates the actuators' dynamics, so Gazebo's joints have none: a wheel reaches its velocity, and a steering
joint its angle, within one physics step. All joints listen to one topic, so one message moves them in the same step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from xml.etree.ElementTree import Element, SubElement, fromstring, indent, register_namespace, tostring

from vds_gz.core.description import gz_topics as topics
from vds_gz.core.description.urdf_to_sdf import model as sdf_model
from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.parameters.declaration import ParameterGroup
from vds_gz.core.parameters.sensor_parameters import SensorParameters
from vds_gz.core.vehicle.vehicle_model import AnyModel, Joint

SDF_VERSION = "1.9"  # version of the format, which every release since Fortress reads
BODY = "base_link"  # the link of the body
CASTER = "caster"  # start of the names of its collisions that touch the ground

register_namespace("gz", "http://gazebosim.org/schema")


def sdf(
    model: AnyModel,
    parameters: ParameterGroup,
    name: str = "vehicle",
    sensors: Mapping[str, SensorParameters] | None = None,
    rate: float = 200.0,
) -> str:
    """The SDF of a vehicle, whose frame is base_link, without other files; ``rate`` of joint states and pose [Hz]."""
    vehicle = sdf_model(urdf(model.name, parameters, model.xacro, sensors), name)
    for topic in vehicle.iterfind("link/sensor/topic"):
        topic.text = topics.of_sensor(name, topic.text or "")
    _feel_contacts(vehicle, topics.contacts(name))
    vehicle.extend(list(joint_plugins(model.joints(parameters), name)))
    vehicle.extend(list(state_plugins(name, rate)))
    root = Element("sdf", version=SDF_VERSION)
    root.append(vehicle)
    indent(root)
    return '<?xml version="1.0"?>\n' + tostring(root, encoding="unicode") + "\n"


def _feel_contacts(vehicle: Element, topic: str) -> None:
    """Add a sensor of the body's contacts; wheels and casters are left out, because they always touch the ground."""
    body = vehicle.find(f"link[@name='{BODY}']")
    collisions = [] if body is None else [collision.get("name", "") for collision in body.findall("collision")]
    felt = [name for name in collisions if not name.startswith(CASTER)]
    if body is None or not felt:
        return
    sensor = SubElement(body, "sensor", name="contacts", type="contact")
    SubElement(sensor, "always_on").text = "true"
    contact = SubElement(sensor, "contact")
    for name in felt:
        SubElement(contact, "collision").text = name
    SubElement(contact, "topic").text = topic


def joint_plugins(joints: Iterable[Joint], name: str) -> Iterable[Element]:
    """A controller for each commanded joint; the n-th one of a kind follows the n-th number of its kind."""
    numbers = {"velocity": 0, "position": 0}
    for joint in joints:
        if joint.command is None:
            continue
        number = numbers[joint.command]
        numbers[joint.command] += 1
        settings = {
            "joint_name": joint.name,
            "topic": topics.actuators(name),
            "use_actuator_msg": "true",
            "actuator_number": str(number),
        }
        if joint.command == "position":
            yield plugin("JointPositionController", use_velocity_commands="true", **settings)
        else:
            yield plugin("JointController", **settings)


def moved_by(text: str, *systems: Element) -> str:
    """The SDF of a vehicle with other systems in place of :func:`joint_plugins`."""
    root = fromstring(text)
    model = root.find("model")
    assert model is not None
    for system in model.findall("plugin"):
        if system.get("name", "").endswith(("::JointController", "::JointPositionController")):
            model.remove(system)
    model.extend(systems)
    return tostring(root, encoding="unicode")


def state_plugins(name: str, rate: float) -> Iterable[Element]:
    """The plugins that report joint states and the true pose in the world."""
    yield plugin("JointStatePublisher", topic=topics.joint_state(name), update_rate=f"{rate:g}")
    yield plugin(
        "OdometryPublisher",
        # With two dimensions, velocities on slopes would be those on the map instead of along the vehicle.
        dimensions="3",
        odom_topic=topics.odometry(name),
        odom_publish_frequency=f"{rate:g}",
        odom_frame="map",
        robot_base_frame="base_link",
    )


def plugin(kind: str, **settings: str) -> Element:
    """The plugin of a system that comes with Gazebo, such as ``JointController``."""
    words = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in kind)
    element = Element("plugin", filename=f"gz-sim{words}-system", name=f"gz::sim::systems::{kind}")
    for key, value in settings.items():
        SubElement(element, key).text = value
    return element
