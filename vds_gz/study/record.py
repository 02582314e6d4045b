"""Recording topics of the graph to an MCAP file that ROS 2 tools open."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcap.writer import CompressionType, Writer

import vds_gz
from vds_gz.ros.errors import UnknownTypeError
from vds_gz.ros.graph import Graph, QoS, Subscription
from vds_gz.ros.topics import Topic
from vds_gz.ros.types import MessageTypes
from vds_gz.study.definitions import KNOWN, UNKNOWN, definition

#: A recorder that is killed loses no more than this [s].
FLUSH_PERIOD = 0.75

#: Between two looks at what is new on the graph [s].
LOOK_PERIOD = 0.5

#: Size from which on messages are written before that time has passed [bytes].
CHUNK = 256 * 1024

#: Messages of a topic that wait for the recorder at most.
DEPTH = 1000

Listener = Callable[[str, bytes, int], None]


def nothing_else(topic: str) -> bool:
    """Wants no topic."""
    return False


class Recorder:
    """Writes everything that comes by some topics to a file, as it came.

    No message is kept in memory for more than a second, so a recording may go on for days, and what is on the disk
    is readable at any time.

    Attributes:
        counts: Messages written so far, by the names of the topics as they were given.
        subscriptions: What is listened to, by the same names.
        left_out: Topics that cannot be recorded, and why.
        undefined: Types of messages that are recorded without their definition, because it is not known.
    """

    def __init__(
        self,
        graph: Graph,
        path: str | Path,
        topics: Iterable[Topic] = (),
        *,
        wanted: Callable[[str], bool] = nothing_else,
        metadata: Mapping[str, str] | None = None,
        listen: Listener | None = None,
    ) -> None:
        """Open the file and listen.

        Args:
            graph: Where to listen; callbacks run in its ``wait``.
            path: The file, ``.mcap``. Its folder must exist.
            topics: What to record, from now on and whoever publishes it.
            wanted: Which other topics, by their absolute names, to record as soon as somebody publishes them.
            metadata: Texts that tell what was recorded.
            listen: Also called with each message: the topic's name as given, the CDR bytes, the arrival
                (``time.monotonic_ns``).
        """
        self.counts: Counter[str] = Counter()
        self.subscriptions: dict[str, Subscription] = {}
        self.left_out: dict[str, str] = {}
        self.undefined: set[str] = set()
        self._graph = graph
        self._wanted = wanted
        self._listen = listen
        self._file = Path(path).open("wb")  # noqa: SIM115, closed by close()
        self._writer = Writer(self._file, chunk_size=CHUNK, compression=CompressionType.ZSTD)
        self._writer.start(profile="ros2", library=f"vds_gz {vds_gz.__version__}")
        if metadata:
            self._writer.add_metadata("vds_gz", dict(metadata))
        self._to_wall = time.time_ns() - time.monotonic_ns()
        self._flushed = time.monotonic()
        self._looked = 0.0
        self._schemas: dict[str, int] = {}
        self._types = MessageTypes()
        self._recorded: set[str] = set()
        for topic in topics:
            self.add(topic)

    def add(self, topic: Topic) -> None:
        """Record one more topic.

        Raises:
            UnknownTypeError: Its type is not installed, and the graph cannot do without.
        """
        channels: list[int] = []

        def receive(data: Any, arrival: int) -> None:
            if self._file.closed:
                return
            now = arrival + self._to_wall
            self.counts[topic.name] += 1
            data = bytes(data)
            self._writer.add_message(channels[0], now, data, now, self.counts[topic.name])
            self._flush()
            if self._listen is not None:
                self._listen(topic.name, data, arrival)

        qos = replace(topic.qos, depth=max(topic.qos.depth, DEPTH))
        subscription = self._graph.subscribe(topic.name, topic.type, qos, receive, raw=True)
        self.subscriptions[topic.name] = subscription
        self._recorded.add(subscription.topic)
        channels.append(self._channel(subscription.topic, topic))

    def by_topic(self) -> Counter[str]:
        """Messages written so far, by the absolute names of the topics that had any."""
        return Counter({self.subscriptions[name].topic: count for name, count in self.counts.items()})

    def tick(self) -> None:
        """Put on the disk what is due, and listen to what is new; to be called a few times a second."""
        self._flush()
        now = time.monotonic()
        if self._wanted is not nothing_else and now - self._looked >= LOOK_PERIOD:
            self._looked = now
            self._look()

    def close(self) -> None:
        """Finish the file."""
        if not self._file.closed:
            self._writer.finish()
            self._file.close()

    def _flush(self) -> None:
        if time.monotonic() - self._flushed >= FLUSH_PERIOD:
            self._flushed = time.monotonic()
            self._writer.flush()

    def _look(self) -> None:
        """Record the topics that are wanted and have come."""
        for name, offer in self._graph.offers().items():
            if name in self._recorded or name in self.left_out or not self._wanted(name):
                continue
            try:
                self.add(Topic(name, offer.type, offer.qos))
            except UnknownTypeError as error:
                self.left_out[name] = str(error)

    def _channel(self, name: str, topic: Topic) -> int:
        if topic.type not in self._schemas:
            text = definition(topic.type)
            if not text:
                self.undefined.add(topic.type)
            encoding = KNOWN if text else UNKNOWN
            self._schemas[topic.type] = self._writer.register_schema(topic.type, encoding, text.encode())
        about = {"offered_qos_profiles": qos_profile(topic.qos)}
        with suppress(UnknownTypeError):
            about["topic_type_hash"] = self._types.hash(topic.type)
        return self._writer.register_channel(name, "cdr", self._schemas[topic.type], about)


def qos_profile(qos: QoS) -> str:
    """A quality of service as rosbag2 writes it into a bag, so that playing it back offers the same."""
    unset = "{sec: 9223372036, nsec: 854775807}"
    return (
        f"- history: keep_last\n  depth: {qos.depth}\n"
        f"  reliability: {'reliable' if qos.reliable else 'best_effort'}\n"
        f"  durability: {'transient_local' if qos.transient_local else 'volatile'}\n"
        f"  deadline: {unset}\n  lifespan: {unset}\n  liveliness: automatic\n"
        f"  liveliness_lease_duration: {unset}\n  avoid_ros_namespace_conventions: false\n"
    )
