"""Recording topics of the graph, with the definitions of their types, to an MCAP file that ROS 2 tools open."""

from __future__ import annotations

import struct
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from vds_gz.core.errors import UnknownTypeError
from vds_gz.core.ros.graph import Graph, QoS, Subscription
from vds_gz.core.ros.messages.message_types import Types, definition, open_types
from vds_gz.programs.bags.mcap import MESSAGE, RECORD, Opcode
from vds_gz.programs.bags.mcap_writer import McapWriter
from vds_gz.programs.interface.topics import Topic

#: Maximum loss of a recorder that is killed [s].
FLUSH_PERIOD = 0.75

#: Period of looking for new topics [s].
LOOK_PERIOD = 0.5

#: Size of a chunk that is written before :data:`FLUSH_PERIOD` has passed [bytes].
CHUNK = 256 * 1024

#: Minimum depth of a subscription's history, and that for :data:`LARGE` messages, to limit memory.
DEPTH = 1000
DEPTH_OF_LARGE = 20
LARGE = ("sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/Image")

MessageListener = Callable[[str, bytes, int], None]

#: Policies of history, reliability, durability and liveliness, as in ``rmw/types.h``.
_KEEP_LAST = 1
_RELIABLE, _BEST_EFFORT = 1, 2
_TRANSIENT_LOCAL, _VOLATILE = 1, 2
_AUTOMATIC = 1

#: Time [ns] and place of a message in a chunk's index.
_PLACE = struct.Struct("<QQ")


class Recorder:
    """Writes the messages of topics to a file, unchanged.

    No message is kept in memory for more than a second, so a recording may last for days, and the file is readable at
    any time.

    Attributes:
        counts: Messages written so far, by the absolute names of the topics that had any.
        subscriptions: The subscriptions, by the absolute names of their topics.
        left_out: Types that cannot be recorded, with reasons.
        undefined: Types of messages that are recorded without their definition, because it is not known.
    """

    def __init__(
        self,
        graph: Graph,
        path: str | Path,
        topics: Iterable[Topic] = (),
        *,
        wanted: Callable[[str], bool] | None = None,
        metadata: Mapping[str, str] | None = None,
        listen: MessageListener | None = None,
    ) -> None:
        """Open the file, whose folder must exist, and subscribe to topics.

        ``wanted`` chooses further topics, by their absolute names, once they are published. ``listen`` is called with
        each message: the topic's name as given, the CDR bytes and the arrival (``time.monotonic_ns``).
        """
        self.counts: Counter[str] = Counter()
        self.subscriptions: dict[str, Subscription] = {}
        self.left_out: dict[str, str] = {}
        self.undefined: set[str] = set()
        self._graph = graph
        self._wanted = wanted
        self._listen = listen
        self._file = McapWriter(path)
        if metadata:
            self._file.metadata("vds_gz", metadata)
        self._chunk = bytearray()
        self._index: dict[int, bytearray] = defaultdict(bytearray)
        self._first = self._last = 0
        self._to_wall = time.time_ns() - time.monotonic_ns()
        self._flushed = time.monotonic()
        self._looked = 0.0
        self._types = open_types()
        for topic in topics:
            self.add(topic)

    def add(self, topic: Topic) -> None:
        """Record one more topic; leave it out if the graph does not know its type."""

        def receive(data: bytes, arrival: int) -> None:
            if self._file.closed:
                return
            now = arrival + self._to_wall
            self.counts[subscription.topic] += 1
            data = bytes(data)
            self._write(channel, now, data, self.counts[subscription.topic])
            if self._listen is not None:
                self._listen(topic.name, data, arrival)

        qos = replace(topic.qos, depth=max(topic.qos.depth, DEPTH_OF_LARGE if topic.type in LARGE else DEPTH))
        try:
            subscription = self._graph.subscribe(topic.name, topic.type, qos, receive, raw=True)
        except UnknownTypeError as error:
            self.left_out[topic.type] = str(error)
            return
        self.subscriptions[subscription.topic] = subscription
        text = definition(topic.type)
        if not text:
            self.undefined.add(topic.type)
        channel = self._file.channel(subscription.topic, topic.type, text, about(topic, self._types))

    def tick(self) -> None:
        """Write due messages to the disk and subscribe to new topics. Call it a few times a second."""
        self._flush_if_due()
        now = time.monotonic()
        if self._wanted is not None and now - self._looked >= LOOK_PERIOD:
            self._looked = now
            for name, offer in self._graph.offers().items():
                if name not in self.subscriptions and offer.type not in self.left_out and self._wanted(name):
                    self.add(Topic(name, offer.type, offer.qos))

    def close(self) -> None:
        """Finish the file."""
        if not self._file.closed:
            self._flush()
            self._file.close()

    def _write(self, channel: int, time_ns: int, data: bytes, number: int) -> None:
        """Put a message into the chunk."""
        if not self._chunk:
            self._first = self._last = time_ns
        self._first, self._last = min(self._first, time_ns), max(self._last, time_ns)
        self._index[channel] += _PLACE.pack(time_ns, len(self._chunk))
        length = MESSAGE.size - RECORD.size + len(data)
        self._chunk += MESSAGE.pack(Opcode.MESSAGE, length, channel, number & 0xFFFFFFFF, time_ns, time_ns)
        self._chunk += data
        self._flush_if_due()

    def _flush_if_due(self) -> None:
        if len(self._chunk) >= CHUNK or time.monotonic() - self._flushed >= FLUSH_PERIOD:
            self._flush()

    def _flush(self) -> None:
        """Put the chunk on the disk."""
        self._flushed = time.monotonic()
        if self._chunk:
            index = {channel: bytes(places) for channel, places in self._index.items()}
            self._file.chunk(bytes(self._chunk), self._first, self._last, index)
            self._chunk.clear()
            self._index.clear()


def about(topic: Topic, types: Types) -> dict[str, str]:
    """rosbag2's metadata of a topic: its quality of service, and the hash of its type if known."""
    metadata = {"offered_qos_profiles": qos_profile(topic.qos)}
    with suppress(UnknownTypeError):
        metadata["topic_type_hash"] = types.hash(topic.type)
    return metadata


def qos_profile(qos: QoS) -> str:
    """A quality of service as rosbag2 writes it into a bag, so that playing it back offers the same.

    The policies are numbers, which every rosbag2 reads; it reads names only from ROS 2 Jazzy on.
    """
    unset = "{sec: 9223372036, nsec: 854775807}"
    return (
        f"- history: {_KEEP_LAST}\n  depth: {qos.depth}\n"
        f"  reliability: {_RELIABLE if qos.reliable else _BEST_EFFORT}\n"
        f"  durability: {_TRANSIENT_LOCAL if qos.transient_local else _VOLATILE}\n"
        f"  deadline: {unset}\n  lifespan: {unset}\n  liveliness: {_AUTOMATIC}\n"
        f"  liveliness_lease_duration: {unset}\n  avoid_ros_namespace_conventions: false\n"
    )
