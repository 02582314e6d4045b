"""``ros_discovery_info``: the topic on which ROS nodes announce to each other which endpoints belong to which node."""

from __future__ import annotations

from typing import Any

import numpy as np

from vds_gz.ros.dds.context import Context
from vds_gz.ros.dds.endpoints import Channel, Reader, Writer
from vds_gz.ros.graph import QoS

_TYPE = "rmw_dds_common/msg/ParticipantEntitiesInfo"
_NODE = "rmw_dds_common/msg/NodeEntitiesInfo"
_GID = "rmw_dds_common/msg/Gid"


class DiscoveryInfo:
    """Announces on the graph that there is one node, and which endpoints it has."""

    def __init__(self, context: Context, name: str, namespace: str) -> None:
        """Announce a node without endpoints.

        Args:
            context: The node's place on the graph.
            name: The node's name.
            namespace: The node's namespace.
        """
        types = context.types
        channel = Channel("ros_discovery_info", _TYPE, QoS(1, transient_local=True), {"typehash": types.hash(_TYPE)})
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
        """Say that the node has these endpoints, too."""
        for endpoint in endpoints:
            reads = isinstance(endpoint, Reader)
            gids = self._node.reader_gid_seq if reads else self._node.writer_gid_seq
            gids.append(self._gid(endpoint.gid))
        self._publish()

    def remove(self, writer: Writer) -> None:
        """Say that the node has this writer no more."""
        gone = self._gid(writer.gid).data
        gids = self._node.writer_gid_seq
        gids[:] = [gid for gid in gids if not np.array_equal(gid.data, gone)]
        self._publish()

    def remove_node(self, seconds: float) -> None:
        """Say that the node has left, and wait so many seconds for all to know."""
        self._message.node_entities_info_seq = []
        self._publish()
        self._writer.wait_for_readers(seconds)

    def _publish(self) -> None:
        self._writer.write(self._codec.encode(self._message))

    def _gid(self, data: bytes) -> Any:
        gid = self._types.new(_GID)
        gid.data = np.frombuffer(data, np.uint8)
        return gid
