"""A ROS node over plain DDS: a :class:`vds_gz.core.ros.graph.Graph` without ROS."""

# ruff: noqa: D102  # vds_gz.core.ros.graph documents the methods
from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.errors import UnknownTypeError
from vds_gz.core.parameters.declaration import Description, Value
from vds_gz.core.ros.arguments import Arguments
from vds_gz.core.ros.dds.cyclone_library import CycloneLibrary
from vds_gz.core.ros.dds.discovery import DiscoveryInfo, GraphTable
from vds_gz.core.ros.dds.domain import Context, discovery, interfaces, join, leave
from vds_gz.core.ros.dds.endpoints import EndpointProperties, Inbox, Reader, TopicPublisher, TopicSubscription, Writer
from vds_gz.core.ros.dds.services import Parameters, Service, ServiceClient
from vds_gz.core.ros.graph import Deliver, Endpoint, Message, Offer, QoS, Severity, refuse_two_types
from vds_gz.core.ros.messages.fields import seconds_and_nanoseconds
from vds_gz.core.ros.messages.portable import MessageTypes

_COLOURS = {
    Severity.DEBUG: "\033[32m",
    Severity.WARN: "\033[33m",
    Severity.ERROR: "\033[31m",
    Severity.FATAL: "\033[31m",
}
_PLAIN = "\033[0m"


class Log:
    """The node's logger."""

    def __init__(
        self, name: str, least: Severity, message: Message, publish: Callable[[Message], None], now: Callable[[], int]
    ) -> None:
        self._least = least
        self._message = message
        self._publish = publish
        self._now = now
        self._name = message.name = name
        self._terminal = sys.stderr
        self._coloured = coloured(os.environ, self._terminal)

    def say(self, severity: Severity, text: str) -> None:
        """Log a message, if it is severe enough."""
        if severity < self._least:
            return
        text = text.encode("utf-8", "backslashreplace").decode()
        seconds, nanoseconds = seconds_and_nanoseconds(self._now())
        line = f"[{severity.name}] [{seconds}.{nanoseconds:09d}] [{self._name}]: {text}"
        if self._coloured and severity in _COLOURS:
            line = f"{_COLOURS[severity]}{line}{_PLAIN}"
        with suppress(OSError, ValueError):  # the node goes on without its terminal
            print(line, file=self._terminal, flush=True)
        self._message.stamp.sec, self._message.stamp.nanosec = seconds, nanoseconds
        self._message.level, self._message.msg = int(severity), text
        self._publish(self._message)


def coloured(environment: Mapping[str, str], terminal: TextIO) -> bool:
    """Whether to colour lines: by RCUTILS_COLORIZED_OUTPUT, by default on terminals only."""
    forced = environment.get("RCUTILS_COLORIZED_OUTPUT", "")
    return forced == "1" if forced in ("0", "1") else terminal.isatty()


_ROSOUT = QoS(1000, transient_local=True)
_ROSOUT_LIFESPAN = 10.0
_PARAMETERS = QoS(1000)
_SERVICE = QoS()

#: Maximum time for the acknowledgement of all last messages together [s].
_GOODBYE = 0.3


class DdsGraph:
    """A node on the graph."""

    def __init__(self, arguments: Arguments, environment: Mapping[str, str] = os.environ) -> None:
        self.arguments = arguments
        self.name, self.namespace = arguments.name, arguments.namespace
        how = discovery(environment, interfaces())
        library = CycloneLibrary()
        self._domain = how.domain
        types = MessageTypes("humble" if environment.get("ROS_DISTRO") == "humble" else "jazzy")
        self.context = Context(library, join(library, how), types, self._warn)
        self._types = self.context.types
        self._joined = True
        self._time: int | None = None
        self._writers: list[Writer] = []
        self._services = 0
        self.opened: list[Endpoint] = []
        self._table: GraphTable | None = None
        self._inbox = Inbox(self.context)
        #: Run the callbacks for all that has arrived; if nothing has, wait at most the timeout [s].
        self.wait = self._inbox.wait
        self._info = DiscoveryInfo(self.context, self.name, self.namespace)
        self._logger = self._make_logger()
        for severity, text in ((Severity.WARN, how.warning), (Severity.DEBUG, how.finding)):
            if text:
                self.log(severity, text)

    @property
    def malformed(self) -> int:
        """Number of malformed samples of all topics and services."""
        return sum(source.malformed for source in self._inbox.inputs)

    def message(self, type_name: str) -> Message:
        return self._types.new(type_name)

    def serialize(self, message: Message, type_name: str) -> bytearray:
        return self._types.codec(type_name).encode(message)

    def numbers(self, count: int, kind: str = "float64") -> NDArray[Any]:
        return np.zeros(count, kind)

    def publisher(self, topic: str, type_name: str, qos: QoS, lifespan: float | None = None) -> TopicPublisher:
        """Announce a topic, whose messages may be dropped after a lifespan [s]."""
        name = self.arguments.topic(topic)
        refuse_two_types(self.opened, name, type_name)
        writer = Writer(self.context, self._channel(name, type_name, qos, lifespan))
        endpoint = Endpoint(self.arguments.full_name, name, type_name, qos, publishes=True)
        self.opened.append(endpoint)
        self._writers.append(writer)
        self._info.add(writer)

        def close() -> None:
            if writer in self._writers:
                self._writers.remove(writer)
                self.opened.remove(endpoint)
                self._info.remove(writer)
                writer.close()

        return TopicPublisher(name, self._types.codec(type_name), writer, close)

    def subscribe(
        self, topic: str, type_name: str, qos: QoS, callback: Deliver, raw: bool = False
    ) -> TopicSubscription:
        """Listen to a topic; raw messages are not checked."""
        name = self.arguments.topic(topic)
        refuse_two_types(self.opened, name, type_name)
        channel = self._channel(name, type_name, qos, unknown=raw)
        reader = Reader(self.context, channel)
        decode: Callable[[bytearray], Any] = bytes if raw else self._types.codec(type_name).decode
        subscription = TopicSubscription(name, decode, reader, callback, self._warn)
        self.opened.append(Endpoint(self.arguments.full_name, name, type_name, qos, publishes=False))
        self._inbox.add(subscription)
        self._info.add(reader)
        return subscription

    def offers(self) -> dict[str, Offer]:
        offers: dict[str, Offer] = {}
        for endpoint, *_ in self._graph_table().look():
            if endpoint.publishes:
                offer, name = Offer(endpoint.type, endpoint.qos), endpoint.topic
                offers[name] = offer.together_with(offers[name]) if name in offers else offer
        return offers

    def endpoints(self, topic: str) -> list[Endpoint]:
        table = self._graph_table()
        return [table.named(found) for found in table.look() if found.endpoint.topic == topic]

    def topic_types(self) -> dict[str, list[str]]:
        types: dict[str, list[str]] = {}
        for endpoint, *_ in self._graph_table().look():
            known = types.setdefault(endpoint.topic, [])
            if endpoint.type not in known:
                known.append(endpoint.type)
        return types

    def _graph_table(self) -> GraphTable:
        if self._table is None:
            self._table = GraphTable(self.context)
        return self._table

    def service(
        self, name: str, type_name: str, callback: Callable[[Message, Message], None], qos: QoS = _SERVICE
    ) -> None:
        # The participant's identity with another number in place of an endpoint's, as in ROS's own nodes.
        self._services = number = self._services + 1
        gid = self.context.library.identity(self.context.participant)
        identity = ".".join(f"{byte:x}" for byte in gid[:12] + number.to_bytes(4, "big"))
        service = Service(self.context, self._inbox, self.arguments.service(name), type_name, qos, identity, callback)
        self._writers.append(service.writer)
        self._info.add(service.writer, service.reader)

    def client(self, name: str, type_name: str) -> ServiceClient:
        """Look for a service of another node, which must use rmw_cyclonedds_cpp or this package."""
        client = ServiceClient(self.context, self.arguments.service(name), type_name)
        self._writers.append(client.writer)
        self._inbox.add(client)
        self._info.add(client.writer, client.reader)
        return client

    def action(self, name: str, type_name: str, execute: Callable[[Message, Message, Message], Iterator[None]]) -> bool:
        """Return False: actions cannot be offered over plain DDS."""
        return False

    def declare_parameters(
        self, descriptions: Iterable[Description], change: Callable[[Mapping[str, Value]], None]
    ) -> None:
        events = self.publisher("/parameter_events", "rcl_interfaces/msg/ParameterEvent", _PARAMETERS)

        def publish(event: Message) -> None:
            event.node = self.arguments.full_name
            event.stamp.sec, event.stamp.nanosec = seconds_and_nanoseconds(self._now())
            events.publish(event)

        parameters = Parameters(self._types, descriptions, change, publish)
        for name, type_name, respond in parameters.services:
            self.service(f"~/{name}", type_name, respond, _PARAMETERS)
        publish(parameters.declared())

    def wake(self) -> None:
        if self._joined:
            self._inbox.wake()

    def set_time(self, time_ns: int) -> None:
        self._time = time_ns

    def log(self, severity: Severity, text: str) -> None:
        self._logger.say(severity, text)

    def close(self) -> None:
        if not self._joined:
            return
        end = time.monotonic() + _GOODBYE
        for writer in self._writers:
            if writer.matched():
                writer.wait_for_readers(max(end - time.monotonic(), 0.0))
        self._info.remove_node(max(end - time.monotonic(), _GOODBYE / 3))
        self._joined = False
        leave(self.context.library, self.context.participant, self._domain)

    def _make_logger(self) -> Log:
        rosout = self.publisher("/rosout", "rcl_interfaces/msg/Log", _ROSOUT, _ROSOUT_LIFESPAN)
        name = self.arguments.full_name[1:].replace("/", ".")
        message = self._types.new("rcl_interfaces/msg/Log")
        return Log(name, self.arguments.log_level, message, rosout.publish, self._now)

    def _now(self) -> int:
        return time.time_ns() if self._time is None else self._time

    def _warn(self, text: str) -> None:
        self.log(Severity.WARN, text)

    def _channel(
        self, name: str, type_name: str, qos: QoS, lifespan: float | None = None, *, unknown: bool = False
    ) -> EndpointProperties:
        """The properties of an endpoint; with ``unknown`` the type may be known by its name only."""
        try:
            user_data = {"typehash": self._types.hash(type_name)}
        except UnknownTypeError:
            if not unknown:
                raise
            user_data = {}
        return EndpointProperties(f"rt{name}", type_name, qos, user_data, lifespan)
