"""Writers and readers of DDS topics with the quality of service of ROS's own nodes, and waiting for messages.

Writers and readers handle bytes. An :class:`Input` decodes them, an :class:`Inbox` waits for all inputs.
"""

# ruff: noqa: D102  # vds_gz.core.ros.graph documents the methods
from __future__ import annotations

import ctypes as c
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from vds_gz.core.errors import MalformedMessageError
from vds_gz.core.ros.dds.cyclone_library import (
    ANY_STATE,
    INFINITE,
    Bytes,
    CycloneLibrary,
    Matched,
    OnMatched,
    SampleInfo,
)
from vds_gz.core.ros.dds.domain import Context
from vds_gz.core.ros.graph import Deliver, Message, QoS
from vds_gz.core.ros.messages.portable import Codec

_UNLIMITED = -1
_BATCH = 32
_WOKEN = -1

#: Longest single wait, so that Ctrl-C is noticed, and period of retries while replies are on hold [s].
_LONGEST_WAIT, _RETRY_WAIT = 0.1, 0.005


@dataclass(frozen=True, slots=True)
class EndpointProperties:
    """Properties of an endpoint: DDS name of its topic, e.g. ``rt/odom``, and ROS name of its type."""

    topic: str
    type_name: str
    qos: QoS
    user_data: Mapping[str, str]
    lifespan: float | None = None  # seconds after which a message is dropped


#: Number of readers of each writer, by the library's handle. It is global because the library calls back as long as it
#: has the writer, even if nothing else refers to it.
_readers: defaultdict[int, int] = defaultdict(int)


def _count(writer: int, status: Matched, argument: int | None) -> None:
    _readers[writer] = status.current


_on_matched = OnMatched(_count)


class Writer:
    """Sends bytes on one topic."""

    def __init__(self, context: Context, channel: EndpointProperties) -> None:
        self.topic = channel.topic
        self._library = library = context.library
        self._data = bytearray()
        listener = library.c.dds_create_listener(None)
        library.c.dds_lset_publication_matched(listener, _on_matched)
        self._entity = _create(context, library.c.dds_create_writer, channel, listener)
        library.c.dds_delete_listener(listener)
        #: Number of readers.
        self.matched: Callable[[], int] = partial(_readers.__getitem__, self._entity)
        self._sample_type = library.sample_type(self._entity)
        self.gid = library.identity(self._entity)

    def write(self, data: bytearray) -> None:
        """Send bytes that begin with the CDR header; their number is a multiple of four."""
        if data is not self._data:  # most buffers hold one message, written in place
            self._data, self._bytes = data, Bytes(data)
        if result := self._library.write(self._entity, self._sample_type, self._bytes):
            self._library.check(result, f"nothing can be sent on '{self.topic}'")

    def knows_reader(self, key: str, value: str) -> bool:
        """Whether the user data of a matched reader have this value."""
        handles = (c.c_uint64 * self.matched())()
        count = self._library.c.dds_get_matched_subscriptions(self._entity, handles, len(handles))
        read = self._library.c.dds_get_matched_subscription_data
        return any(
            _user_data(self._library, read(self._entity, handle)).get(key) == value for handle in handles[:count]
        )

    def wait_for_readers(self, seconds: float) -> None:
        """Wait until all reliable readers have acknowledged everything, for at most ``seconds``."""
        self._library.c.dds_wait_for_acks(self._entity, int(seconds * 1e9))

    def close(self) -> None:
        """Withdraw the topic."""
        self._library.c.dds_delete(self._entity)
        _readers.pop(self._entity, None)


class Reader:
    """Receives bytes on one topic."""

    def __init__(self, context: Context, channel: EndpointProperties) -> None:
        self.topic = channel.topic
        self._library = library = context.library
        self._entity = _create(context, library.c.dds_create_reader, channel)
        self._samples = (c.c_void_p * _BATCH)()
        self._infos = (SampleInfo * _BATCH)()
        self.gid = library.identity(self._entity)
        self.condition = library.check(library.c.dds_create_readcondition(self._entity, ANY_STATE), self.topic)

    def take(self) -> list[tuple[bytearray, int]]:
        """The samples that have arrived, in order: their bytes, and the handle of their writer."""
        return self._library.take(self._entity, self._samples, self._infos)

    def matched(self) -> int:
        """Number of matched writers."""
        count: int = self._library.c.dds_get_matched_publications(self._entity, None, 0)
        return max(0, count)

    def writer_user_data(self, writer: int) -> dict[str, str] | None:
        """The user data of a matched writer; None if it has gone."""
        endpoint = self._library.c.dds_get_matched_publication_data(self._entity, writer)
        return _user_data(self._library, endpoint) if endpoint else None


class TopicPublisher:
    """An output topic."""

    __slots__ = ("_encode", "_write", "close", "publish_raw", "subscription_count", "topic")

    def __init__(self, topic: str, codec: Codec, writer: Writer, close: Callable[[], None]) -> None:
        self.topic = topic
        self._encode = codec.encode
        self._write = writer.write
        #: Send a serialized message.
        self.publish_raw = writer.write
        #: Number of subscriptions in the graph now.
        self.subscription_count = writer.matched
        #: Withdraw the topic.
        self.close = close

    def publish(self, message: Message) -> None:
        self._write(self._encode(message))


class Input:
    """Base class of receivers of one reader's samples; ``malformed`` counts those that could not be used."""

    def __init__(self, reader: Reader, where: str, warn: Callable[[str], None]) -> None:
        self.reader = reader
        self.malformed = 0
        self._where = where
        self._warn = warn

    def receive(self, data: bytearray, writer: int, arrival: int) -> None:
        """Process one sample, which may be malformed."""
        raise NotImplementedError

    def refuse(self, error: MalformedMessageError) -> None:
        """Count a malformed sample, and report the first."""
        self.malformed += 1
        if self.malformed == 1:
            self._warn(f"{self._where}: {error}. Such messages are ignored")


class TopicSubscription(Input):
    """An input topic."""

    def __init__(
        self,
        topic: str,
        decode: Callable[[bytearray], Any],
        reader: Reader,
        callback: Deliver,
        warn: Callable[[str], None],
    ) -> None:
        super().__init__(reader, f"topic '{topic}'", warn)
        self.topic = topic
        self._decode = decode
        self._callback = callback

    def publisher_count(self) -> int:
        return self.reader.matched()

    def receive(self, data: bytearray, writer: int, arrival: int) -> None:
        self._callback(self._decode(data), arrival)


class Inbox:
    """Waits for all inputs of a node, and lets them deliver their samples.

    Attributes:
        inputs: All of them.
        holding: Functions that try again to send to a peer that is not known yet; each returns whether it still waits.
    """

    def __init__(self, context: Context) -> None:
        self._library = library = context.library
        self._entity = library.check(library.c.dds_create_waitset(context.participant), "no wait set can be made")
        self._guard = library.check(library.c.dds_create_guardcondition(context.participant), "no guard can be made")
        library.check(library.c.dds_waitset_attach(self._entity, self._guard, _WOKEN), "the node cannot be woken")
        self._ready = (c.c_ssize_t * 1)()
        self.inputs: list[Input] = []
        self.holding: list[Callable[[], bool]] = []

    def add(self, source: Input) -> None:
        """Wait for a further input."""
        reader, number = source.reader, len(self.inputs)
        result = self._library.c.dds_waitset_attach(self._entity, reader.condition, number)
        self._library.check(result, f"nothing can be received on '{reader.topic}'")
        self._ready = (c.c_ssize_t * (number + 2))()
        self.inputs.append(source)

    def wake(self) -> None:
        """Let :meth:`wait` return now. Safe to call from any thread."""
        self._library.c.dds_set_guardcondition(self._guard, True)

    def wait(self, timeout: float) -> None:
        """Deliver all samples that have arrived; if there are none, wait at most ``timeout`` [s] for one."""
        c_, ready = self._library.c, self._ready
        end = time.monotonic() + timeout
        while True:
            if self.holding:
                self.holding = [retry for retry in self.holding if retry()]
            longest = _RETRY_WAIT if self.holding else _LONGEST_WAIT
            seconds = min(max(end - time.monotonic(), 0.0), longest)
            count = c_.dds_waitset_wait(self._entity, ready, len(ready), int(seconds * 1e9))
            arrival = time.monotonic_ns()
            for number in sorted(ready[: max(count, 0)]):
                if number == _WOKEN:
                    c_.dds_take_guardcondition(self._guard, c.byref(c.c_bool()))
                    continue
                source = self.inputs[number]
                for data, writer in source.reader.take():
                    try:
                        source.receive(data, writer, arrival)
                    except MalformedMessageError as error:
                        source.refuse(error)
            if count > 0 or arrival * 1e-9 >= end:
                return


def dds_type_name(name: str) -> str:
    """The name of a ROS type on the wire: ``nav_msgs/msg/Odometry`` is ``nav_msgs::msg::dds_::Odometry_``."""
    package, kind, short = name.split("/")
    return f"{package}::{kind}::dds_::{short}_"


def _create(
    context: Context,
    create: Callable[[int, int, int, int | None], int],
    channel: EndpointProperties,
    listener: int | None = None,
) -> int:
    """A writer or a reader, with its topic."""
    library = context.library
    topic = library.create_topic(context.participant, channel.topic, dds_type_name(channel.type_name))
    with _qos(library, channel) as qos:
        entity = create(context.participant, topic, qos, listener)
    return library.check(entity, f"endpoint of topic '{channel.topic}' cannot be made")


@contextmanager
def _qos(library: CycloneLibrary, channel: EndpointProperties) -> Iterator[int]:
    qos = library.c.dds_create_qos()
    service = channel.qos
    user_data = "".join(f"{key}={value};" for key, value in channel.user_data.items()).encode()
    library.set_representation(qos)
    library.c.dds_qset_writer_data_lifecycle(qos, False)
    library.c.dds_qset_history(qos, 0, service.depth)
    library.c.dds_qset_reliability(qos, int(service.reliable), INFINITE if service.reliable else 0)
    library.c.dds_qset_durability(qos, int(service.transient_local))
    if service.transient_local:
        library.c.dds_qset_durability_service(qos, 0, 0, service.depth, _UNLIMITED, _UNLIMITED, _UNLIMITED)
    if channel.lifespan is not None:
        library.c.dds_qset_lifespan(qos, int(channel.lifespan * 1e9))
    library.c.dds_qset_userdata(qos, user_data, len(user_data))
    try:
        yield qos
    finally:
        library.c.dds_delete_qos(qos)


def _user_data(library: CycloneLibrary, endpoint: Message) -> dict[str, str]:
    """The user data of a remote endpoint, whose memory is freed."""
    if not endpoint:
        return {}
    value, size = c.c_void_p(), c.c_size_t()
    text = ""
    if library.c.dds_qget_userdata(endpoint.contents.qos, c.byref(value), c.byref(size)) and value:
        text = c.string_at(value, size.value).decode("ascii", "replace")
        library.c.dds_free(value)
    library.c.dds_builtintopic_free_endpoint(endpoint)
    return dict(part.split("=", 1) for part in text.split(";") if "=" in part)
