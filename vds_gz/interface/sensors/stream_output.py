"""The topic of a sensor that has one, whose messages differ in their stamps and some numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vds_gz.ros.graph import Graph, QoS
from vds_gz.ros.messages.packed import PackedMessage
from vds_gz.sensing.streams import STREAMS


class StreamOutput:
    """A topic.

    Attributes:
        message: What is to be filled with all that stays as it is, before :meth:`pack`.
    """

    def __init__(self, graph: Graph, name: str, kind: str, frame_prefix: str) -> None:
        """Announce the topic of a sensor of this name and type."""
        (self._stream,) = STREAMS[kind]
        self._graph = graph
        self.message: Any = graph.message(self._stream.ros_type)
        self.message.header.frame_id = frame_prefix + self._stream.frame(name)
        self._publisher = graph.publisher(
            self._stream.topic(name), self._stream.ros_type, QoS(depth=self._stream.depth)
        )

    def pack(self, numbers: Sequence[str]) -> None:
        """Serialize the message; from now on only the stamp and the numbers at these paths change."""
        self._packed = PackedMessage(self._graph, self._stream.ros_type, self.message, ["header.stamp"], numbers)

    @property
    def heard(self) -> bool:
        """Whether anybody listens."""
        return self._publisher.subscription_count() > 0

    def publish(self, time: int, values: Sequence[float]) -> None:
        """Send the numbers of an instant [ns], in the order of their paths."""
        self._packed.write(time, values)
        self._publisher.publish_raw(self._packed.data)
