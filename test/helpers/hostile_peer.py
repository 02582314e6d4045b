"""A peer that means harm: ``python -m helpers.hostile_peer SEED COUNT TARGET [S]``. Odd names, and many messages.

TARGET: ``node`` sends whatever a vehicle's node listens to, ``page`` whatever the live page listens to, ``teleop`` what
a joystick node does. It stays for S seconds.
"""

from __future__ import annotations

import ctypes as c
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

from helpers.hostile import TEXTS, message_bytes, real
from vds_gz.core.configuration import default_parameters
from vds_gz.core.errors import GraphError
from vds_gz.core.parameters.declaration import describe
from vds_gz.core.ros.dds.cyclone_library import CycloneLibrary, _TypeDescriptor
from vds_gz.core.ros.dds.domain import Context, discovery, interfaces, join
from vds_gz.core.ros.dds.endpoints import EndpointProperties, Writer
from vds_gz.core.ros.graph import QoS
from vds_gz.core.ros.messages.fields import BOOL, DOUBLE, INTEGER, STRING
from vds_gz.core.ros.messages.portable import MessageTypes
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import command_types

Names = list[tuple[str, str]]

#: DDS names of topics and types that ROS could not have.
NAMES = (
    (b"rt/text", b"std_msgs::msg::dds_::\xff\xfe_"),
    (b"rt/kind", b"std_msgs/msg::srv::dds_::String_"),
    (b"rt/empty", b"::::dds_::_"),
    (b"rt/1abc/ground_truth", b"nav_msgs::msg::dds_::Odometry_"),
    (b"rt//ground_truth", b"nav_msgs::msg::dds_::Odometry_"),
    (b"rt/", b"std_msgs::msg::dds_::String_"),
    (b"rt/scan", b"sensor_msgs::msg::dds_::PointCloud2_"),
    (b"rt/rosout", b"a::b::dds_::C_"),
    (b"rt/" + 200 * b"long", b"std_msgs::msg::dds_::String_"),
)

SERVICES = {
    "describe_parameters": "rcl_interfaces/srv/DescribeParameters",
    "get_parameter_types": "rcl_interfaces/srv/GetParameterTypes",
    "get_parameters": "rcl_interfaces/srv/GetParameters",
    "list_parameters": "rcl_interfaces/srv/ListParameters",
    "set_parameters": "rcl_interfaces/srv/SetParameters",
    "set_parameters_atomically": "rcl_interfaces/srv/SetParametersAtomically",
    **{name.removeprefix("~/"): kind for name, kind in (topics.RESET, topics.PAUSE)},
}

#: What the programs listen to: topic and type.
TOPICS = {
    "node": [
        *((f"/{one.topic.name}", one.topic.type) for one in command_types()),
        ("/clock", topics.CLOCK.type),
        ("/initialpose", topics.INITIALPOSE.type),
        ("/other/ground_truth", topics.GROUND_TRUTH.type),
        ("/other/robot_description", topics.ROBOT_DESCRIPTION.type),
        ("/diagnostics", topics.DIAGNOSTICS.type),
    ],
    "page": [
        *(
            (f"/{one.name}", one.type)
            for one in (
                topics.GROUND_TRUTH,
                topics.JOINT_STATES,
                topics.ACTUATOR_REFERENCES,
                topics.ACTUATOR_STATES,
                topics.WORLD,
                topics.ROBOT_DESCRIPTION,
            )
        ),
        *((one.name, one.type) for one in (topics.TF_STATIC, topics.DIAGNOSTICS)),
        ("/points", "sensor_msgs/msg/PointCloud2"),
        ("/scan", "sensor_msgs/msg/LaserScan"),
        ("/parameter_events", "rcl_interfaces/msg/ParameterEvent"),
        *((f"/{one.topic.name}", one.topic.type) for one in command_types()),
    ],
    "teleop": [
        ("/joy", "sensor_msgs/msg/Joy"),
        ("/clock", topics.CLOCK.type),
        ("/diagnostics", topics.DIAGNOSTICS.type),
    ],
}


def announce(library: CycloneLibrary, participant: int) -> None:
    """Announce writers by names as they are."""
    for topic, kind in NAMES:
        octet = (c.c_uint32 * 3)(0x01_01_00_00, 0, 0)
        descriptor = _TypeDescriptor(size=1, align=1, type_name=kind, operation_count=3, operations=octet, meta=b"")
        qos = library.c.dds_create_qos()
        library.set_representation(qos)
        entity = library.c.dds_create_topic(participant, c.byref(descriptor), topic, qos, None)
        assert library.c.dds_create_writer(participant, entity, qos, None) > 0, topic


def channels(target: str) -> Iterator[tuple[EndpointProperties, str, bool]]:
    """What is written, the type of its messages, and whether a service's header stands before them."""
    many, latched = QoS(1000), QoS(10, transient_local=True)
    held = (topics.ROBOT_DESCRIPTION.name, topics.WORLD.name, "tf_static")
    for name, kind in TOPICS[target]:
        yield EndpointProperties(f"rt{name}", kind, latched if name.endswith(held) else many, {}), kind, False
    if target == "teleop":
        return
    for name, service in SERVICES.items():
        kind = f"{service}_Request" if target == "node" else f"{service}_Response"
        topic = f"rq/sim_node/{name}Request" if target == "node" else f"rr/sim_node/{name}Reply"
        yield EndpointProperties(topic, kind, many, {"clientid": "0"}), kind, True


def main(seed: str, count: str, target: str, stays: str = "0") -> None:
    draw = random.Random(int(seed))
    library = CycloneLibrary()
    participant = join(library, discovery(os.environ, interfaces()))
    types = MessageTypes()
    context = Context(library, participant, types, print)
    announce(library, participant)
    writers = [(Writer(context, channel), kind, is_service) for channel, kind, is_service in channels(target)]
    names = known_parameters(types)
    time.sleep(2.0)  # until they are known
    for number in range(int(count)):
        writer, kind, is_service = draw.choice(writers)
        header = draw.randbytes(8) + number.to_bytes(8, "little") if is_service else b""
        data = set_request(draw, types, names, kind, header) if kind.endswith("SetParameters_Request") else None
        with suppress(GraphError):  # Cyclone DDS does not send everything
            writer.write(data or message_bytes(draw, types, kind, header))
        if number % 20 == 19:
            time.sleep(0.002)
    time.sleep(float(stays))


def known_parameters(types: MessageTypes) -> Names:
    """Name and type of every parameter of a node."""
    return [(parameter.name, parameter.type) for parameter in describe(default_parameters())]


def set_request(
    draw: random.Random, types: MessageTypes, names: list[tuple[str, str]], kind: str, header: bytes
) -> bytearray:
    """A request to set parameters that there are."""
    request = types.new(kind)
    for _ in range(draw.choice((1, 1, 3))):
        parameter = types.new("rcl_interfaces/msg/Parameter")
        parameter.name, proper = draw.choice(names)
        wanted = {"double": DOUBLE, "integer": INTEGER, "bool": BOOL, "string": STRING}.get(proper, DOUBLE)
        parameter.value.type = wanted if draw.random() < 0.9 else draw.randrange(12)
        parameter.value.double_value = real(draw)
        parameter.value.integer_value = draw.choice((0, 1, -1, 2**63 - 1, -(2**63)))
        parameter.value.bool_value = draw.random() < 0.5
        parameter.value.string_value = draw.choice(TEXTS)
        request.parameters.append(parameter)
    return types.codec(kind).encode(request, header)


if __name__ == "__main__":
    main(*sys.argv[1:])
