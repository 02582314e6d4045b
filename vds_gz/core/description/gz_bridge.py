"""Configuration files for ``ros_gz_bridge``, from a vehicle and its sensors.

The clock has its own file and its own bridge, because images and point clouds would delay it.

Bridges know the keys ``frame_id`` and ``qos_profile`` since 2026; older ones ignore them. So the model has the frames
too, and only the clock sets its quality of service.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import yaml

from vds_gz.core.description import gz_topics as topics
from vds_gz.core.parameters.sensor_parameters import SensorParameters
from vds_gz.core.sensing.sensor import Stream
from vds_gz.core.sensing.sensor_types import SensorTypes

Direction = Literal["ROS_TO_GZ", "GZ_TO_ROS"]
BridgeEntry = dict[str, str | int]

#: Types in ROS and in Gazebo of contacts, and of the joints' states.
CONTACTS = ("ros_gz_interfaces/msg/Contacts", "gz.msgs.Contacts")
JOINTS = ("sensor_msgs/msg/JointState", "gz.msgs.Model")


def vehicle_bridge(
    name: str = "vehicle",
    sensors: Mapping[str, SensorParameters] | None = None,
    frame_prefix: str = "",
    *,
    link: Iterable[BridgeEntry] | None = None,
) -> str:
    """The bridge of a vehicle: contacts, sensors, and the topics that a link of the node needs.

    The default is the topics of the link ``bridge``: joint commands, joint states and pose, which have the same names
    in ROS as in Gazebo. Names of contacts and of sensors' topics are relative to the bridge's namespace.
    """
    entries = [*joint_entries(name), odometry_entry(name)] if link is None else [*link]
    contacts = entry("contacts", *CONTACTS, gz_topic=topics.contacts(name))
    entries.append(contacts | {"frame_id": f"{frame_prefix}map", "lazy": True})
    types = SensorTypes()
    entries += [
        sensor_entry(name, sensor, stream, frame_prefix)
        for sensor, parameters in (sensors or {}).items()
        for stream in types[parameters.type].streams
        if types[parameters.type].gazebo
    ]
    return bridge_text(entries)


def joint_entries(name: str) -> list[BridgeEntry]:
    """Commands and states of the joints."""
    return [
        entry(topics.actuators(name), "actuator_msgs/msg/Actuators", "gz.msgs.Actuators", "ROS_TO_GZ", depth=1),
        entry(topics.joint_state(name), *JOINTS),
    ]


def odometry_entry(name: str) -> BridgeEntry:
    """The true pose."""
    return entry(topics.odometry(name), "nav_msgs/msg/Odometry", "gz.msgs.Odometry")


def clock_bridge(topic: str = "/clock") -> str:
    """The bridge of Gazebo's clock, which ticks at every step of the physics, 1000 times a second."""
    clock = entry(topic, "rosgraph_msgs/msg/Clock", "gz.msgs.Clock", gz_topic="/clock", depth=1)
    return bridge_text([clock | {"qos_profile": "CLOCK"}])


def sensor_entry(name: str, sensor: str, stream: Stream, frame_prefix: str) -> BridgeEntry:
    """The configuration of a topic of a sensor."""
    gz_topic = topics.of_sensor(name, f"{sensor}/{stream.gz}")
    topic = entry(stream.topic(sensor), stream.ros_type, stream.gz_type, gz_topic=gz_topic, depth=stream.depth)
    # With "lazy", a topic without subscribers costs nothing.
    return topic | {"frame_id": frame_prefix + stream.frame(sensor), "lazy": True}


def entry(
    topic: str, ros_type: str, gz_type: str, direction: Direction = "GZ_TO_ROS", *, gz_topic: str = "", depth: int = 10
) -> BridgeEntry:
    """The configuration of a topic, whose name in Gazebo is the same by default."""
    return {
        "ros_topic_name": topic,
        "gz_topic_name": gz_topic or topic,
        "ros_type_name": ros_type,
        "gz_type_name": gz_type,
        "direction": direction,
        "publisher_queue": depth,
        "subscriber_queue": depth,
    }


def bridge_text(entries: Iterable[BridgeEntry]) -> str:
    """The configuration file of these topics."""
    head = "# For ros_gz_bridge's parameter_bridge, as its parameter config_file. Made by vds_gz."
    return "\n".join([head, *(yaml.safe_dump([entry], sort_keys=False) for entry in entries)])
