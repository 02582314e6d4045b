"""What a node of ours needs of a ROS 2 graph, whichever library stands behind it.

Two implementations: :mod:`vds_gz.ros.dds` where no ROS is installed, :mod:`vds_gz.ros.rclpy_` where it is. Message
objects have the fields of their ROS definitions in both (``message.header.stamp.sec``); sequences of numbers support
indexing and ``len`` in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Protocol

from vds_gz.parameters.declaration import Description, Value


@dataclass(frozen=True, slots=True)
class QoS:
    """The quality of service of a topic: history is always keep-last.

    Attributes:
        depth: Messages kept.
        reliable: Reliable, else best effort.
        transient_local: Late joiners get the last messages, else volatile.
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


@dataclass(frozen=True, slots=True)
class Offer:
    """What is published on a topic.

    Attributes:
        type: The type of its messages.
        qos: What all of its publishers offer.
    """

    type: str
    qos: QoS

    def together_with(self, other: Offer) -> Offer:
        """What two publishers of one topic both offer."""
        one, two = self.qos, other.qos
        return Offer(
            other.type,
            QoS(
                max(one.depth, two.depth),
                one.reliable and two.reliable,
                one.transient_local and two.transient_local,
            ),
        )


class Severity(IntEnum):
    """Levels of a log message, as in ``rcl_interfaces/msg/Log``."""

    DEBUG = 10
    INFO = 20
    WARN = 30
    ERROR = 40
    FATAL = 50


class Publisher(Protocol):
    """One topic that goes out."""

    topic: str

    def publish(self, message: Any) -> None:
        """Send a message; the object may be filled and sent again."""

    def publish_raw(self, data: bytearray) -> None:
        """Send a serialized message (CDR with its header); the bytes may be changed and sent again."""

    def subscription_count(self) -> int:
        """How many subscriptions there are in the graph now."""

    def close(self) -> None:
        """Withdraw the topic; nothing can be sent any more."""


class Subscription(Protocol):
    """One topic that comes in."""

    topic: str

    def publisher_count(self) -> int:
        """How many publishers there are in the graph now."""


class Client(Protocol):
    """One service of another node."""

    name: str

    def ready(self) -> bool:
        """Whether somebody offers the service now."""

    def request(self) -> Any:
        """A new request, every field at its default."""

    def call(self, request: Any, done: Callable[[Any], None]) -> None:
        """Send a request. ``done`` gets the response, inside :meth:`Graph.wait`; it is never called if none comes."""


def spellings(descriptions: Iterable[Description]) -> dict[str, tuple[Description, ...]]:
    """What a graph declares: each parameter by its name, and one that may change under each of its aliases, too.

    Returns:
        By the name of each declared parameter, all that have the same value; the first has the proper name.
    """
    every: dict[str, tuple[Description, ...]] = {}
    for one in descriptions:
        others = () if one.read_only else one.other_names
        same = (one, *(replace(one, name=name, doc=f"the same as {one.name}") for name in others))
        every |= {member.name: same for member in same}
    return every


class Graph(Protocol):
    """A node on the graph.

    All callbacks run inside :meth:`wait`, in the thread that calls it; there is never more than one at a time.
    """

    name: str
    namespace: str

    def message(self, type_name: str) -> Any:
        """A new message of a type such as ``nav_msgs/msg/Odometry``, every field at its default."""

    def serialize(self, message: Any, type_name: str) -> bytes | bytearray:
        """A message as CDR with its header, little endian."""

    def numbers(self, count: int, kind: str = "float64") -> Any:
        """So many zeros for a field that is an array of a kind, as ``uint8``, to be written in place later."""

    def publisher(self, topic: str, type_name: str, qos: QoS) -> Publisher:
        """Announce a topic. Relative names, ``/absolute`` and ``~/private`` ones; remaps apply."""

    def subscribe(
        self, topic: str, type_name: str, qos: QoS, callback: Callable[[Any, int], None], raw: bool = False
    ) -> Subscription:
        """Listen to a topic. The callback gets the message and when it arrived (``time.monotonic_ns``).

        ``raw``: it gets the serialized message (CDR with its header) as bytes.
        """

    def offers(self) -> dict[str, Offer]:
        """What is published now, by anyone, by the topics' absolute names. Who has just come may be missing."""

    def service(self, name: str, type_name: str, callback: Callable[[Any, Any], None]) -> None:
        """Offer a service such as ``std_srvs/srv/Trigger``. The callback gets the request and fills the response."""

    def client(self, name: str, type_name: str) -> Client:
        """Look for a service of another node."""

    def action(self, name: str, type_name: str, execute: Callable[[Any, Any, Any], Iterator[None]]) -> bool:
        """Offer an action, if this graph can; whether it can.

        ``execute`` gets the goal, a feedback and a result. It does its work in portions and yields after each; what it
        then has written into the feedback goes out. Like all callbacks it runs inside :meth:`wait`.
        """

    def declare_parameters(
        self, descriptions: Iterable[Description], change: Callable[[Mapping[str, Value]], None]
    ) -> None:
        """Show parameters on the graph; each description's ``default`` is its present value.

        ``change`` gets all new values of one request together; it applies them all, or none and raises
        :class:`~vds_gz.parameters.declaration.ParameterError`.
        """

    def wait(self, timeout: float) -> None:
        """Run the callbacks of whatever has arrived; if nothing has, wait so many seconds for the first."""

    def wake(self) -> None:
        """Let :meth:`wait` return now. Safe to call from any thread and from a signal's handler."""

    def set_time(self, time_ns: int) -> None:
        """The node's ROS time, for the stamps of log messages and parameter events."""

    def log(self, severity: Severity, text: str) -> None:
        """Log a message on the terminal and on ``/rosout``."""

    def close(self) -> None:
        """Leave the graph, after what was published has gone out."""
