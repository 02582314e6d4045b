"""Discovery on the graph: a node's own announcement, and what it finds about others.

On the topic ``ros_discovery_info`` ROS nodes announce which endpoints belong to which node. DDS itself reports every
writer with its topic, type and quality of service.
"""

from __future__ import annotations

import ctypes as c
from typing import Any

import numpy as np

from vds_gz.ros.arguments import is_topic
from vds_gz.ros.dds.domain import Context
from vds_gz.ros.dds.endpoints import EndpointProperties, Reader, Writer
from vds_gz.ros.dds.library import Endpoint, SampleInfo
from vds_gz.ros.graph import Offer, QoS

_TYPE = "rmw_dds_common/msg/ParticipantEntitiesInfo"
_NODE = "rmw_dds_common/msg/NodeEntitiesInfo"
_GID = "rmw_dds_common/msg/Gid"

# Cyclone DDS's number, instead of a name, of the topic on which it reports all writers.
_WRITERS = 0x7FFF0000 + 3
_ALIVE = 16
#: Maximum number of writers that are read.
_MAX_WRITERS = 4096


class DiscoveryInfo:
    """Announces a node and its endpoints on the graph."""

    def __init__(self, context: Context, name: str, namespace: str) -> None:
        types = context.types
        channel = EndpointProperties(
            "ros_discovery_info", _TYPE, QoS(1, transient_local=True), {"typehash": types.hash(_TYPE)}
        )
        self._writer = Writer(context, channel)
        self._codec = types.codec(_TYPE)
        self._types = types
        self._message = types.new(_TYPE)
        self._message.gid = self._gid(context.library.identity(context.participant))
        self._node = types.new(_NODE)
        self._node.node_name, self._node.node_namespace = name, namespace
        self._message.node_entities_info_seq = [self._node]
        self._publish()

    def add(self, *endpoints: Reader | Writer) -> None:
        """Announce further endpoints of the node."""
        for endpoint in endpoints:
            reads = isinstance(endpoint, Reader)
            gids = self._node.reader_gid_seq if reads else self._node.writer_gid_seq
            gids.append(self._gid(endpoint.gid))
        self._publish()

    def remove(self, writer: Writer) -> None:
        """Withdraw a writer of the node."""
        gone = self._gid(writer.gid).data
        gids = self._node.writer_gid_seq
        gids[:] = [gid for gid in gids if not np.array_equal(gid.data, gone)]
        self._publish()

    def remove_node(self, seconds: float) -> None:
        """Withdraw the node, and wait at most ``seconds`` until all participants have acknowledged that."""
        self._message.node_entities_info_seq = []
        self._publish()
        self._writer.wait_for_readers(seconds)

    def _publish(self) -> None:
        self._writer.write(self._codec.encode(self._message))

    def _gid(self, data: bytes) -> Any:
        gid = self._types.new(_GID)
        gid.data[: len(data)] = np.frombuffer(data, np.uint8)  # in Humble there is room for 24 bytes
        return gid


class PublishedTopics:
    """Knows all writers of the domain that belong to ROS topics."""

    def __init__(self, context: Context) -> None:
        self._library = library = context.library
        reader = library.c.dds_create_reader(context.participant, _WRITERS, None, None)
        self._reader = library.check(reader, "discovery cannot be read")

    def now(self) -> dict[str, Offer]:
        """The topics published now, by their absolute names. Of several publishers the type is the first one's.

        Writers whose topic or type has no valid ROS name are left out.
        """
        library = self._library
        samples, infos = (c.c_void_p * _MAX_WRITERS)(), (SampleInfo * _MAX_WRITERS)()
        read = library.c.dds_read(self._reader, samples, infos, _MAX_WRITERS, _MAX_WRITERS)
        count = library.check(read, "discovery cannot be read")
        offers: dict[str, Offer] = {}
        for sample, info in zip(samples[:count], infos, strict=False):
            if sample and info.valid_data and info.instance_state == _ALIVE:
                endpoint = Endpoint.from_address(sample)
                topic = endpoint.topic_name.decode("ascii", "replace")
                name = topic.removeprefix("rt")
                type_name = ros_type_name(endpoint.type_name.decode("ascii", "replace"))
                if name != topic and is_topic(name, type_name):
                    offer = Offer(type_name, self._qos(endpoint.qos))
                    offers[name] = offer.together_with(offers[name]) if name in offers else offer
        if count:
            library.c.dds_return_loan(self._reader, samples, count)
        return offers

    def _qos(self, qos: int) -> QoS:
        library, kind, depth = self._library, c.c_int(), c.c_int32(10)
        library.c.dds_qget_history(qos, c.byref(kind), c.byref(depth))
        reliable, durable = c.c_int(), c.c_int()
        library.c.dds_qget_reliability(qos, c.byref(reliable), None)
        library.c.dds_qget_durability(qos, c.byref(durable))
        return QoS(max(depth.value, 1), bool(reliable.value), bool(durable.value))


def ros_type_name(name: str) -> str:
    """The ROS name of a type on the wire: ``nav_msgs::msg::dds_::Odometry_`` is ``nav_msgs/msg/Odometry``.

    Empty for other types than ROS's.
    """
    parts = name.split("::")
    is_ros = len(parts) == 4 and parts[2] == "dds_" and parts[3].endswith("_")
    return f"{parts[0]}/{parts[1]}/{parts[3][:-1]}" if is_ros else ""
