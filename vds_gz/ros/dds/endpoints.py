"""Writers and readers of one DDS topic each, for bytes; their quality of service as ROS's own nodes set it."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from vds_gz.ros.dds.context import Context
from vds_gz.ros.dds.library import ANY_STATE, DATA, INFINITE, Bytes, Library, Matched, OnMatched, SampleInfo
from vds_gz.ros.graph import QoS

_UNLIMITED = -1
_BATCH = 32
_WOKEN = -1


@dataclass(frozen=True, slots=True)
class Channel:
    """What an endpoint is made for.

    Attributes:
        topic: DDS name of the topic, e.g. ``rt/odom``.
        type_name: ROS name of the type, e.g. ``nav_msgs/msg/Odometry``.
        qos: Quality of service.
        user_data: What the endpoint announces to its peers, ``key=value;`` each.
        lifespan: Seconds after which a message is dropped; infinite if None.
    """

    topic: str
    type_name: str
    qos: QoS
    user_data: Mapping[str, str]
    lifespan: float | None = None


#: How many readers each writer has, by the handles of the library, which are the process's: the library calls back for
#: as long as it has the writer, even where nothing else refers to it.
_readers: dict[int, int] = {}


def _count(writer: int, status: Matched, argument: int | None) -> None:
    _readers[writer] = status.current


_on_matched = OnMatched(_count)


class Writer:
    """Sends bytes on one topic."""

    def __init__(self, context: Context, channel: Channel) -> None:
        """Announce the topic.

        Raises:
            GraphError: It cannot be announced.
        """
        self.topic = channel.topic
        self._library = library = context.library
        self._data = bytearray()
        self._serialized, self._send = library.c.ddsi_serdata_from_ser_iov, library.c.dds_writecdr
        listener = library.c.dds_create_listener(None)
        library.c.dds_lset_publication_matched(listener, _on_matched)
        self._entity = _create(context, library.c.dds_create_writer, channel, listener)
        library.c.dds_delete_listener(listener)
        self._kind = c.c_void_p()
        library.c.dds_get_entity_sertype(self._entity, c.byref(self._kind))
        self.gid = library.identity(self._entity)

    def write(self, data: bytearray) -> None:
        """Send bytes that begin with the CDR header; their number is a multiple of four.

        Raises:
            GraphError: They were not accepted.
        """
        if data is not self._data:  # most are one message, written in place
            self._data, self._memory = data, c.byref(Bytes.of(data))
        sample = self._serialized(self._kind, DATA, 1, self._memory, len(data))
        if result := self._send(self._entity, sample):
            self._library.check(result, f"nothing can be sent on '{self.topic}'")

    def matched(self) -> int:
        """How many readers there are."""
        return _readers.get(self._entity, 0)

    def knows_reader(self, key: str, value: str) -> bool:
        """Whether a reader is matched whose user data holds this value."""
        handles = (c.c_uint64 * self.matched())()
        count = self._library.c.dds_get_matched_subscriptions(self._entity, handles, len(handles))
        read = self._library.c.dds_get_matched_subscription_data
        return any(
            _user_data(self._library, read(self._entity, handle)).get(key) == value for handle in handles[:count]
        )

    def wait_for_readers(self, seconds: float) -> None:
        """Wait until all reliable readers have acknowledged everything, so many seconds at most."""
        self._library.c.dds_wait_for_acks(self._entity, int(seconds * 1e9))

    def close(self) -> None:
        """Withdraw the topic."""
        self._library.c.dds_delete(self._entity)
        _readers.pop(self._entity, None)


class Reader:
    """Receives bytes on one topic."""

    def __init__(self, context: Context, channel: Channel) -> None:
        """Listen to the topic.

        Raises:
            GraphError: It cannot be listened to.
        """
        self.topic = channel.topic
        self._library = library = context.library
        self._entity = _create(context, library.c.dds_create_reader, channel)
        self._samples = (c.c_void_p * _BATCH)()
        self._infos = (SampleInfo * _BATCH)()
        self.gid = library.identity(self._entity)
        self.condition = library.check(library.c.dds_create_readcondition(self._entity, ANY_STATE), self.topic)

    def take(self) -> Iterator[tuple[bytearray, int]]:
        """What has arrived, in order: the bytes, and a handle of the writer they came from."""
        library, samples, infos = self._library, self._samples, self._infos
        count = _BATCH
        while count == _BATCH:
            count = library.c.dds_takecdr(self._entity, samples, _BATCH, infos, ANY_STATE)
            # A sample that is not valid has no bytes: it only says that a writer has gone.
            yield from [
                (data, info.publication_handle)
                for sample, info in zip(samples[: max(count, 0)], infos, strict=False)
                if (data := library.give_back(sample, info.valid_data)) is not None
            ]

    def matched(self) -> int:
        """How many writers there are."""
        count: int = self._library.c.dds_get_matched_publications(self._entity, None, 0)
        return max(0, count)

    def writer_user_data(self, writer: int) -> dict[str, str] | None:
        """The user data of a matched writer; None where it has gone."""
        endpoint = self._library.c.dds_get_matched_publication_data(self._entity, writer)
        return _user_data(self._library, endpoint) if endpoint else None


class WaitSet:
    """Waits until any of several readers has something."""

    def __init__(self, context: Context) -> None:
        """An empty one."""
        self._library = library = context.library
        self._entity = library.check(library.c.dds_create_waitset(context.participant), "no wait set can be made")
        self._guard = library.check(library.c.dds_create_guardcondition(context.participant), "no guard can be made")
        library.check(library.c.dds_waitset_attach(self._entity, self._guard, _WOKEN), "the node cannot be woken")
        self._ready = (c.c_ssize_t * 1)()

    def attach(self, reader: Reader) -> None:
        """Wait for this reader too; it gets the next number, from 0."""
        number = len(self._ready) - 1
        result = self._library.c.dds_waitset_attach(self._entity, reader.condition, number)
        self._library.check(result, f"nothing can be received on '{reader.topic}'")
        self._ready = (c.c_ssize_t * (number + 2))()

    def wake(self) -> None:
        """Let :meth:`wait` return now. Safe to call from any thread."""
        self._library.c.dds_set_guardcondition(self._guard, True)

    def wait(self, seconds: float) -> tuple[list[int], bool]:
        """The numbers of the readers that have something, in order, and whether :meth:`wake` was called.

        None and false when the time is over.
        """
        count = self._library.c.dds_waitset_wait(self._entity, self._ready, len(self._ready), int(seconds * 1e9))
        if count <= 0:
            return [], False
        ready = sorted(self._ready[:count])
        if ready[0] != _WOKEN:
            return ready, False
        self._library.c.dds_take_guardcondition(self._guard, c.byref(c.c_bool()))
        return ready[1:], True


def dds_type_name(name: str) -> str:
    """The name of a ROS type on the wire: ``nav_msgs/msg/Odometry`` is ``nav_msgs::msg::dds_::Odometry_``."""
    package, kind, short = name.split("/")
    return f"{package}::{kind}::dds_::{short}_"


def _create(
    context: Context, create: Callable[[int, int, int, int | None], int], channel: Channel, listener: int | None = None
) -> int:
    """A writer or a reader, with its topic."""
    library = context.library
    topic = library.create_topic(context.participant, channel.topic, dds_type_name(channel.type_name))
    with _qos(library, channel) as qos:
        entity = create(context.participant, topic, qos, listener)
    return library.check(entity, f"endpoint of topic '{channel.topic}' cannot be made")


@contextmanager
def _qos(library: Library, channel: Channel) -> Iterator[int]:
    qos = library.c.dds_create_qos()
    wanted = channel.qos
    user_data = "".join(f"{key}={value};" for key, value in channel.user_data.items()).encode()
    library.set_representation(qos)
    library.c.dds_qset_writer_data_lifecycle(qos, False)
    library.c.dds_qset_history(qos, 0, wanted.depth)
    library.c.dds_qset_reliability(qos, int(wanted.reliable), INFINITE if wanted.reliable else 0)
    library.c.dds_qset_durability(qos, int(wanted.transient_local))
    if wanted.transient_local:
        library.c.dds_qset_durability_service(qos, 0, 0, wanted.depth, _UNLIMITED, _UNLIMITED, _UNLIMITED)
    if channel.lifespan is not None:
        library.c.dds_qset_lifespan(qos, int(channel.lifespan * 1e9))
    library.c.dds_qset_userdata(qos, user_data, len(user_data))
    try:
        yield qos
    finally:
        library.c.dds_delete_qos(qos)


def _user_data(library: Library, endpoint: Any) -> dict[str, str]:
    """The user data of a remote endpoint, which is freed."""
    if not endpoint:
        return {}
    value, size = c.c_void_p(), c.c_size_t()
    text = ""
    if library.c.dds_qget_userdata(endpoint.contents.qos, c.byref(value), c.byref(size)) and value:
        text = c.string_at(value, size.value).decode("ascii", "replace")
        library.c.dds_free(value)
    library.c.dds_builtintopic_free_endpoint(endpoint)
    return dict(part.split("=", 1) for part in text.split(";") if "=" in part)
