"""Recording topics of the graph, with the definitions of their types, to an MCAP file that ROS 2 tools open."""

from __future__ import annotations

import re
import struct
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import vds_gz.ros.messages
from vds_gz.bags.mcap_reader import MESSAGE, RECORD, Opcode
from vds_gz.bags.mcap_writer import McapWriter
from vds_gz.errors import UnknownTypeError
from vds_gz.interface.topics import Topic
from vds_gz.ros.graph import Graph, QoS, Subscription
from vds_gz.ros.messages.factory import Types, open_types
from vds_gz.ros.messages.installed import installed_files

_OWN = Path(vds_gz.ros.messages.__file__).parent / "msg"

_SEPARATOR = "=" * 80 + "\n"

#: Types of fields that are no messages.
_PLAIN = {"bool", "byte", "char", "float32", "float64", "string", "wstring"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


@cache
def definition(type_name: str) -> str:
    """The text of a message type with all types in it, as MCAP wants it.

    From Jazzy's common interfaces, from this package's files, or from the ROS packages installed here. Empty where none
    of them knows the type.
    """
    text = _by_rosbags(type_name) if find_spec("rosbags") else ""
    if text:
        return text
    texts = _by_files(type_name)
    head, *others = texts.items() or [("", "")]
    return head[1] + "".join(f"{_SEPARATOR}MSG: {name.replace('/msg/', '/')}\n{text}" for name, text in others)


def _by_rosbags(type_name: str) -> str:
    """The text of a type of Jazzy, or of this package."""
    store = _store()
    if type_name not in store.fielddefs:
        return ""
    text, _ = store.generate_msgdef(type_name, ros_version=2)
    return str(text)


@cache
def _store() -> Any:
    """The types of Jazzy and those of this package."""
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    own: dict[str, Any] = {}
    for path in sorted(_OWN.glob("*/msg/*.msg")):
        name = f"{path.parent.parent.name}/msg/{path.stem}"
        if name not in store.fielddefs:
            own.update(get_types_from_msg(path.read_text(encoding="utf-8"), name))
    store.register(own)
    return store


def _by_files(type_name: str) -> dict[str, str]:
    """The texts of a type and of all types in it, it first; empty if the package of any is not installed."""
    texts: dict[str, str] = {}
    needed = [type_name]
    while needed:
        name = needed.pop()
        if name in texts:
            continue
        package, _, rest = name.partition("/")
        places = [*installed_files(package, f"{rest}.msg"), *_OWN.glob(f"{name}.msg")]
        if not places:
            return {}
        texts[name] = places[0].read_text(encoding="utf-8").rstrip() + "\n"
        needed += _used_in(texts[name], package)
    return texts


def _used_in(text: str, package: str) -> list[str]:
    """The message types of the fields in the text of a message of this package."""
    first = (re.match(r"\s*([A-Za-z][\w/]*)", line) for line in text.splitlines())
    names = [match[1] for match in first if match and match[1] not in _PLAIN]
    qualified = [name if "/" in name else f"{package}/{name}" for name in names]
    return [name if "/msg/" in name else name.replace("/", "/msg/") for name in qualified]


#: A recorder that is killed loses no more than this [s].
FLUSH_PERIOD = 0.75

#: Between two looks at what is new on the graph [s].
LOOK_PERIOD = 0.5

#: Size from which on messages are written before that time has passed [bytes].
CHUNK = 256 * 1024

#: Messages of a topic that wait for the recorder at most; of large ones fewer, for the sake of memory.
DEPTH = 1000
DEPTH_OF_LARGE = 20
LARGE = ("sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/Image")

Listener = Callable[[str, bytes, int], None]

#: Time [ns] and place of a message, as a chunk's index has them.
_PLACE = struct.Struct("<QQ")


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
        wanted: Callable[[str], bool] | None = None,
        metadata: Mapping[str, str] | None = None,
        listen: Listener | None = None,
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
        self._recorded: set[str] = set()
        for topic in topics:
            self.add(topic)

    def add(self, topic: Topic) -> None:
        """Record one more topic."""
        channels: list[int] = []

        def receive(data: bytes, arrival: int) -> None:
            if self._file.closed:
                return
            now = arrival + self._to_wall
            self.counts[topic.name] += 1
            data = bytes(data)
            self._write(channels[0], now, data, self.counts[topic.name])
            if self._listen is not None:
                self._listen(topic.name, data, arrival)

        qos = replace(topic.qos, depth=max(topic.qos.depth, DEPTH_OF_LARGE if topic.type in LARGE else DEPTH))
        subscription = self._graph.subscribe(topic.name, topic.type, qos, receive, raw=True)
        self.subscriptions[topic.name] = subscription
        self._recorded.add(subscription.topic)
        channels.append(self._channel(subscription.topic, topic))

    def by_topic(self) -> Counter[str]:
        """Messages written so far, by the absolute names of the topics that had any."""
        return Counter({self.subscriptions[name].topic: count for name, count in self.counts.items()})

    def tick(self) -> None:
        """Put on the disk what is due, and listen to what is new; to be called a few times a second."""
        self._flush_if_due()
        now = time.monotonic()
        if self._wanted is not None and now - self._looked >= LOOK_PERIOD:
            self._looked = now
            self._look(self._wanted)

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

    def _look(self, wanted: Callable[[str], bool]) -> None:
        """Record the topics that are wanted and have come."""
        for name, offer in self._graph.offers().items():
            if name in self._recorded or name in self.left_out or not wanted(name):
                continue
            try:
                self.add(Topic(name, offer.type, offer.qos))
            except UnknownTypeError as error:
                self.left_out[name] = str(error)

    def _channel(self, name: str, topic: Topic) -> int:
        text = definition(topic.type)
        if not text:
            self.undefined.add(topic.type)
        return self._file.channel(name, topic.type, text, about(topic, self._types))


def about(topic: Topic, types: Types) -> dict[str, str]:
    """What rosbag2 notes of a topic in a bag: its quality of service, and the hash of its type where it is known."""
    notes = {"offered_qos_profiles": qos_profile(topic.qos)}
    with suppress(UnknownTypeError):
        notes["topic_type_hash"] = types.hash(topic.type)
    return notes


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
