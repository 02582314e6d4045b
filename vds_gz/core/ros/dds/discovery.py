"""Discovery on the graph: a node's own announcement, and what it finds about others.

On the topic ``ros_discovery_info`` ROS nodes announce which endpoints belong to which node. DDS itself reports every
endpoint with its topic, type and quality of service.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vds_gz.core.errors import MalformedMessageError
from vds_gz.core.ros import graph
from vds_gz.core.ros.arguments import full_node_name, is_topic
from vds_gz.core.ros.dds.cyclone_library import BuiltinTopicEndpoint, SampleInfo
from vds_gz.core.ros.dds.domain import Context
from vds_gz.core.ros.dds.endpoints import EndpointProperties, Reader, Writer
from vds_gz.core.ros.graph import QoS

_TYPE = "rmw_dds_common/msg/ParticipantEntitiesInfo"
_NODE = "rmw_dds_common/msg/NodeEntitiesInfo"
_GID = "rmw_dds_common/msg/Gid"

# Cyclone DDS's numbers, instead of names, of the topics on which it reports all writers and readers.
_WRITERS, _READERS = 0x7FFF0000 + 3, 0x7FFF0000 + 4
_ALIVE = 16
#: Maximum number of endpoints that are read at once.
_MAX_ENDPOINTS = 4096


class _Found(NamedTuple):
    """An endpoint without the name of its node, and the identities of its participant and of itself."""

    endpoint: graph.Endpoint
    participant: bytes
    key: bytes


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


class GraphTable:
    """Knows the publishers and subscriptions of all nodes of the domain. It is as new as the last :meth:`look`."""

    def __init__(self, context: Context) -> None:
        self._library = library = context.library
        self._readers = [
            (
                library.check(library.c.dds_create_reader(context.participant, topic, None, None), "no discovery"),
                publishes,
            )
            for topic, publishes in ((_WRITERS, True), (_READERS, False))
        ]
        self._found: dict[int, _Found] = {}
        channel = EndpointProperties(
            "ros_discovery_info",
            _TYPE,
            QoS(_MAX_ENDPOINTS, transient_local=True),
            {"typehash": context.types.hash(_TYPE)},
        )
        self._nodes_reader = Reader(context, channel)
        self._decode = context.types.codec(_TYPE).decode
        #: For each participant the names of its nodes, by their endpoints.
        self._nodes: dict[bytes, dict[bytes, str]] = {}

    def look(self) -> Iterable[_Found]:
        """All endpoints of ROS topics now."""
        for reader, publishes in self._readers:
            self._take(reader, publishes)
        for data, _ in self._nodes_reader.take():
            with suppress(MalformedMessageError):
                self._note_nodes(self._decode(data))
        alive = {found.participant for found in self._found.values()}
        self._nodes = {participant: nodes for participant, nodes in self._nodes.items() if participant in alive}
        return self._found.values()

    def named(self, found: _Found) -> graph.Endpoint:
        """An endpoint with the name of its node, if that is known by now."""
        return replace(found.endpoint, node=self._nodes.get(found.participant, {}).get(found.key, ""))

    def _take(self, reader: int, publishes: bool) -> None:
        """Note what has changed about the publishers, or about the subscriptions."""
        library = self._library
        samples, infos = (c.c_void_p * _MAX_ENDPOINTS)(), (SampleInfo * _MAX_ENDPOINTS)()
        taken = library.c.dds_take(reader, samples, infos, _MAX_ENDPOINTS, _MAX_ENDPOINTS)
        count = library.check(taken, "discovery cannot be read")
        for sample, info in zip(samples[:count], infos, strict=False):
            if not (sample and info.valid_data and info.instance_state == _ALIVE):
                self._found.pop(info.instance_handle, None)
                continue
            found = BuiltinTopicEndpoint.from_address(sample)
            topic = found.topic_name.decode("ascii", "replace")
            name = topic.removeprefix("rt")
            type_name = ros_type_name(found.type_name.decode("ascii", "replace"))
            if name != topic and is_topic(name, type_name):  # else its topic or type is none of ROS's
                endpoint = graph.Endpoint("", name, type_name, self._qos(found.qos), publishes)
                self._found[info.instance_handle] = _Found(endpoint, bytes(found.participant_key), bytes(found.key))
        if count:
            library.c.dds_return_loan(reader, samples, count)

    def _note_nodes(self, message: Any) -> None:
        """Note which endpoints belong to which nodes of a participant."""
        nodes: dict[bytes, str] = {}
        for node in message.node_entities_info_seq:
            name = full_node_name(node.node_name, node.node_namespace)
            if name.isprintable():
                nodes.update((bytes(gid.data[:16]), name) for gid in (*node.reader_gid_seq, *node.writer_gid_seq))
        self._nodes[bytes(message.gid.data[:16])] = nodes

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
