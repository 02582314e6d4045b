"""The interface to a ROS 2 graph, independent of the library behind it.

Two implementations: :mod:`vds_gz.core.ros.dds` where no ROS is installed, :mod:`vds_gz.core.ros.rclpy_` where it is.
Message objects have the fields of their ROS definitions in both (``message.header.stamp.sec``); sequences of numbers
support indexing and ``len`` in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Protocol

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import Description, Value

#: Takes a message and its arrival (``time.monotonic_ns``).
Deliver = Callable[[Any, int], None]


@dataclass(frozen=True, slots=True)
class QoS:
    """The quality of service of a topic: history is always keep-last.

    Attributes:
        depth: Messages kept.
        reliable: Reliable, else best effort.
        transient_local: Late subscribers get the last messages, else volatile.
    """

    depth: int = 10
    reliable: bool = True
    transient_local: bool = False


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic's name, before namespace and remaps, its type and quality of service."""

    name: str
    type: str
    qos: QoS = QoS()


#: The clock that a node follows. It is read best effort, as ROS clients do; ours is sent reliably, which matches both.
CLOCK_IN = Topic("/clock", "rosgraph_msgs/msg/Clock", QoS(depth=1, reliable=False))


@dataclass(frozen=True, slots=True)
class Offer:
    """The publishers of a topic."""

    type: str  # the type of its messages
    qos: QoS  # the quality of service that all of them offer

    def together_with(self, other: Offer) -> Offer:
        """The offer of two publishers of one topic: what both offer, and the type of ``other``."""
        ours, theirs = self.qos, other.qos
        return Offer(
            other.type,
            QoS(
                max(ours.depth, theirs.depth),
                ours.reliable and theirs.reliable,
                ours.transient_local and theirs.transient_local,
            ),
        )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A publisher or a subscription of a topic.

    Attributes:
        node: Full name of its node; empty while it is unknown.
        topic: Absolute name of its topic.
        type: Type of its messages.
        qos: The quality of service that it offers, or requests.
        publishes: It is a publisher.
    """

    node: str
    topic: str
    type: str
    qos: QoS
    publishes: bool

    def incompatible(self, other: Endpoint) -> str:
        """The policy by which a publisher and a subscription do not match; empty if they do."""
        offered, requested = (self.qos, other.qos) if self.publishes else (other.qos, self.qos)
        if requested.reliable and not offered.reliable:
            return "reliability"
        return "durability" if requested.transient_local and not offered.transient_local else ""


def refuse_two_types(opened: Iterable[Endpoint], topic: str, type_name: str) -> None:
    """Refuse to open a topic that this node has opened with another type, as after a wrong remap.

    Raises:
        ArgumentError: The node has opened the topic with another type.
    """
    for other in opened:
        if other.topic == topic and other.type != type_name:
            verb = "publishes" if other.publishes else "reads"
            raise ArgumentError(
                f"topic '{topic}' would have two types: this node {verb} {other.type} on it, and now {type_name}; "
                "remap one of them (-r) to another name"
            )


class Severity(IntEnum):
    """Levels of a log message, as in ``rcl_interfaces/msg/Log``."""

    DEBUG = 10
    INFO = 20
    WARN = 30
    ERROR = 40
    FATAL = 50


class Message(Protocol):
    """A message, or a part of one: an object with the fields of its ROS definition."""

    def __getattr__(self, name: str, /) -> Any: ...

    def __setattr__(self, name: str, value: Any, /) -> None: ...


class Publisher(Protocol):
    """An output topic."""

    topic: str

    def publish(self, message: Message) -> None:
        """Send a message; the object may be filled and sent again."""

    def publish_raw(self, data: bytearray) -> None:
        """Send a serialized message (CDR with its header); the bytes may be changed and sent again."""

    def subscription_count(self) -> int:
        """Number of subscriptions in the graph now."""

    def close(self) -> None:
        """Withdraw the topic; nothing can be sent any more."""


class Subscription(Protocol):
    """An input topic."""

    topic: str

    def publisher_count(self) -> int:
        """Number of publishers in the graph now."""


class Client(Protocol):
    """A service of another node."""

    name: str

    def ready(self) -> bool:
        """Whether the service is available now."""

    def request(self) -> Message:
        """A new request, every field at its default."""

    def call(self, request: Message, done: Callable[[Message], None]) -> None:
        """Send a request. ``done`` gets the response, inside :meth:`Graph.wait`; it is never called if none comes."""


def spellings(descriptions: Iterable[Description]) -> dict[str, tuple[Description, ...]]:
    """The parameters that a graph declares; one that may change is also declared under each of its aliases.

    Returns:
        For the name of each declared parameter, all parameters with the same value; the first has the proper name.
    """
    every: dict[str, tuple[Description, ...]] = {}
    for description in descriptions:
        others = () if description.read_only else description.other_names
        same = (
            description,
            *(replace(description, name=name, doc=f"the same as {description.name}") for name in others),
        )
        every |= {member.name: same for member in same}
    return every


class Graph(Protocol):
    """A node on the graph.

    All callbacks run inside :meth:`wait`, in the thread that calls it; there is never more than one at a time.
    """

    name: str
    namespace: str
    #: The publishers and subscriptions that this node has opened.
    opened: list[Endpoint]

    def message(self, type_name: str) -> Message:
        """A new message of a type such as ``nav_msgs/msg/Odometry``, every field at its default."""

    def serialize(self, message: Message, type_name: str) -> bytes | bytearray:
        """A message as CDR with its header, little endian."""

    def numbers(self, count: int, kind: str = "float64") -> Any:
        """``count`` zeros of a kind, such as ``uint8``, for an array or a sequence that is written in place later."""

    def publisher(self, topic: str, type_name: str, qos: QoS) -> Publisher:
        """Announce a topic. Its name may be relative, ``/absolute`` or ``~/private``; remaps apply."""

    def subscribe(self, topic: str, type_name: str, qos: QoS, callback: Deliver, raw: bool = False) -> Subscription:
        """Listen to a topic; with ``raw`` the callback gets the serialized message (CDR with its header) as bytes.

        A :class:`~vds_gz.core.errors.MalformedMessageError` of the callback is counted, and the first one reported.
        """

    def offers(self) -> dict[str, Offer]:
        """All topics published now, by their absolute names. New publishers may be missing."""

    def endpoints(self, topic: str) -> list[Endpoint]:
        """All publishers and subscriptions of a topic now, by its absolute name. New ones may be missing."""

    def topic_types(self) -> dict[str, list[str]]:
        """All topics in the graph now, by their absolute names, each with its types."""

    def service(self, name: str, type_name: str, callback: Callable[[Message, Message], None]) -> None:
        """Offer a service such as ``std_srvs/srv/Trigger``. The callback gets the request and fills the response."""

    def client(self, name: str, type_name: str) -> Client:
        """Look for a service of another node."""

    def action(self, name: str, type_name: str, execute: Callable[[Message, Message, Message], Iterator[None]]) -> bool:
        """Offer an action; return whether this graph can.

        ``execute`` gets the goal, a feedback and a result. It does its work in portions and yields after each; then the
        feedback is sent. Like all callbacks it runs inside :meth:`wait`.
        """

    def declare_parameters(
        self, descriptions: Iterable[Description], change: Callable[[Mapping[str, Value]], None]
    ) -> None:
        """Show parameters on the graph; each description's ``default`` is its present value.

        ``change`` gets all new values of one request together; it applies them all, or none and raises
        :class:`~vds_gz.core.parameters.declaration.ParameterError`.
        """

    def wait(self, timeout: float) -> None:
        """Run the callbacks for all that has arrived; if nothing has, wait at most ``timeout`` [s]."""

    def wake(self) -> None:
        """Let :meth:`wait` return now. Safe to call from any thread and from a signal handler."""

    def set_time(self, time_ns: int) -> None:
        """Set the node's ROS time, for the stamps of log messages and parameter events."""

    def log(self, severity: Severity, text: str) -> None:
        """Log a message on the terminal and on ``/rosout``."""

    def close(self) -> None:
        """Leave the graph, after a short wait until published messages have arrived."""
