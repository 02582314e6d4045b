"""Recording topics of the graph to an MCAP file that ROS 2 tools open."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from mcap.writer import CompressionType, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

import vds_gz
import vds_gz.ros
from vds_gz.ros.graph import Graph, QoS, Subscription
from vds_gz.ros.topics import Topic
from vds_gz.ros.types import MessageTypes

#: A recorder that is killed loses no more than this [s].
FLUSH_PERIOD = 0.5

#: Size from which on messages are written before that time has passed [bytes].
CHUNK = 256 * 1024

#: Messages of a topic that wait for the recorder at most.
DEPTH = 1000

Listener = Callable[[str, bytes, int], None]


class Recorder:
    """Writes everything that comes by some topics to a file, as it came.

    Nothing is kept in memory for more than half a second, so a recording may go on for days, and what is on the disk
    is readable at any time.

    Attributes:
        counts: Messages written so far, by the names of the topics as they were given.
        subscriptions: What is listened to, by the same names.
    """

    def __init__(
        self,
        graph: Graph,
        path: str | Path,
        topics: Iterable[Topic],
        *,
        metadata: Mapping[str, str] | None = None,
        listen: Listener | None = None,
    ) -> None:
        """Open the file and listen.

        Args:
            graph: Where to listen; callbacks run in its ``wait``.
            path: The file, ``.mcap``. Its folder must exist.
            topics: What to record.
            metadata: Texts that tell what was recorded.
            listen: Also called with each message: the topic's name as given, the CDR bytes, the arrival
                (``time.monotonic_ns``).
        """
        self.counts: Counter[str] = Counter()
        self.subscriptions: dict[str, Subscription] = {}
        self._listen = listen
        self._file = Path(path).open("wb")  # noqa: SIM115, closed by close()
        self._writer = Writer(self._file, chunk_size=CHUNK, compression=CompressionType.ZSTD)
        self._writer.start(profile="ros2", library=f"vds_gz {vds_gz.__version__}")
        if metadata:
            self._writer.add_metadata("vds_gz", dict(metadata))
        self._to_wall = time.time_ns() - time.monotonic_ns()
        self._flushed = time.monotonic()
        self._schemas: dict[str, int] = {}
        self._hashes = MessageTypes()
        for topic in topics:
            self._record(graph, topic)

    def tick(self) -> None:
        """Put on the disk what is due; to be called a few times a second."""
        if time.monotonic() - self._flushed >= FLUSH_PERIOD:
            self._flushed = time.monotonic()
            self._writer.flush()

    def close(self) -> None:
        """Finish the file."""
        if not self._file.closed:
            self._writer.finish()
            self._file.close()

    def _record(self, graph: Graph, topic: Topic) -> None:
        channels: list[int] = []

        def receive(data: Any, arrival: int) -> None:
            if self._file.closed:
                return
            now = arrival + self._to_wall
            self.counts[topic.name] += 1
            data = bytes(data)
            self._writer.add_message(channels[0], now, data, now, self.counts[topic.name])
            self.tick()
            if self._listen is not None:
                self._listen(topic.name, data, arrival)

        qos = replace(topic.qos, depth=max(topic.qos.depth, DEPTH))
        subscription = graph.subscribe(topic.name, topic.type, qos, receive, raw=True)
        self.subscriptions[topic.name] = subscription
        channels.append(self._channel(subscription.topic, topic))

    def _channel(self, name: str, topic: Topic) -> int:
        if topic.type not in self._schemas:
            text = definition(topic.type).encode()
            self._schemas[topic.type] = self._writer.register_schema(topic.type, "ros2msg", text)
        about = {"offered_qos_profiles": qos_profile(topic.qos), "topic_type_hash": self._hashes.hash(topic.type)}
        return self._writer.register_channel(name, "cdr", self._schemas[topic.type], about)


def definition(type_name: str) -> str:
    """The text of a message type with all types in it, as MCAP wants it."""
    text, _ = _store().generate_msgdef(type_name, ros_version=2)
    return text


@cache
def _store() -> Any:
    """The types of Jazzy and those of this package."""
    store = get_typestore(Stores.ROS2_JAZZY)
    folder = Path(vds_gz.ros.__file__).parent / "msg"
    own: dict[str, Any] = {}
    for path in sorted(folder.glob("*/msg/*.msg")):
        name = f"{path.parent.parent.name}/msg/{path.stem}"
        if name not in store.fielddefs:
            own.update(get_types_from_msg(path.read_text(encoding="utf-8"), name))
    store.register(own)
    return store


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
