"""A topic whose messages differ in their stamps and some numbers only."""

from __future__ import annotations

from collections.abc import Sequence

from vds_gz.interface.topics import Topic
from vds_gz.ros.graph import Graph
from vds_gz.ros.messages.packed import PackedMessage


class PackedTopic:
    """A topic that goes out."""

    def __init__(
        self, graph: Graph, topic: Topic, message: object, numbers: Sequence[str], stamp: str = "header.stamp"
    ) -> None:
        """Announce the topic.

        Args:
            graph: Where to publish.
            topic: The topic.
            message: A message with all that stays as it is.
            numbers: Paths of its numbers that change.
            stamp: Path of its time.
        """
        self._message = PackedMessage(graph, topic.type, message, [stamp], numbers)
        self._publisher = graph.publisher(topic.name, topic.type, topic.qos)

    @property
    def subscribed(self) -> bool:
        """Whether anybody listens."""
        return self._publisher.subscription_count() > 0

    def publish(self, time: int, values: Sequence[float]) -> None:
        """Send the numbers of an instant [ns], in the order of their paths."""
        self._message.write(time, values)
        self._publisher.publish_raw(self._message.data)
