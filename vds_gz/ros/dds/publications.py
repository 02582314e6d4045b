"""Topics of a node: messages in and out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vds_gz.ros.dds.decoding import Decoder
from vds_gz.ros.dds.endpoints import Reader, Writer
from vds_gz.ros.messages.portable import Codec


class TopicPublisher:
    """One topic that goes out."""

    __slots__ = ("_encode", "_write", "close", "publish_raw", "subscription_count", "topic")

    def __init__(self, topic: str, codec: Codec, writer: Writer, close: Callable[[], None]) -> None:
        """Made by :meth:`DdsGraph.publisher`."""
        self.topic = topic
        self._encode = codec.encode
        self._write = writer.write
        #: Send a serialized message.
        self.publish_raw = writer.write
        #: How many subscriptions there are in the graph now.
        self.subscription_count = writer.matched
        #: Withdraw the topic.
        self.close = close

    def publish(self, message: Any) -> None:
        """Send a message; the object may be filled and sent again.

        Raises:
            GraphError: It was not accepted.
        """
        self._write(self._encode(message))


class TopicSubscription:
    """One topic that comes in.

    Attributes:
        topic: Absolute name.
        decoder: Decodes its messages.
    """

    def __init__(self, topic: str, decoder: Decoder, reader: Reader, callback: Callable[[Any, int], None]) -> None:
        """Made by :meth:`DdsGraph.subscribe`."""
        self.topic = topic
        self.reader = reader
        self.decoder = decoder
        self._callback = callback

    def publisher_count(self) -> int:
        """How many publishers there are in the graph now."""
        return self.reader.matched()

    def deliver(self, arrival: int) -> None:
        """Call back for everything that has arrived.

        Args:
            arrival: When, by ``time.monotonic_ns``.
        """
        for data, _ in self.reader.take():
            message = self.decoder(data)
            if message is not None:
                self._callback(message, arrival)
