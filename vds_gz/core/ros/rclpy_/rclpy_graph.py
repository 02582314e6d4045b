"""The graph over rclpy, where ROS 2 is installed.

A thread receives messages, and an executor in another one serves requests. Both fill a queue, which
:meth:`RclpyGraph.wait` empties in the node's own thread. So stepping never waits for them, and callbacks never run at
the same time.
"""

# ruff: noqa: D102  # vds_gz.core.ros.graph documents the methods
from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import rclpy
from rcl_interfaces.msg import SetParametersResult
from rclpy.action import ActionServer
from rclpy.action.server import ServerGoalHandle
from rclpy.client import Client
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from rclpy.task import Future as Response

from vds_gz.core.errors import MalformedMessageError, VdsGzError
from vds_gz.core.parameters.declaration import Description, ParameterError, Value
from vds_gz.core.ros.arguments import Arguments, full_node_name, is_topic
from vds_gz.core.ros.graph import Deliver, Endpoint, Message, Offer, QoS, Severity, refuse_two_types, spellings
from vds_gz.core.ros.messages.fields import descriptor_of
from vds_gz.core.ros.messages.installed_types import InstalledTypes, interface
from vds_gz.core.ros.program_shell import WorkQueue
from vds_gz.core.ros.rclpy_.receiver import Receiver

Returned = TypeVar("Returned")

#: A request without a response for this long is dropped [s].
RESPONSE_TIMEOUT = 10.0

#: Maximum time for the acknowledgement of all last messages together [s]. They were sent, so they arrive without it
#: unless one was lost; nodes that stop at the same time never acknowledge.
ACKNOWLEDGED_WITHIN = 0.1


#: The name that rclpy gives to nodes whose names it does not know.
UNKNOWN_NODE = "_NODE_NAME_UNKNOWN_"


class ClosedError(VdsGzError, RuntimeError):
    """The node leaves the graph and serves no further requests."""

    def __init__(self) -> None:
        super().__init__("the node is stopping")


class RclpyPublisher:
    """An output topic."""

    def __init__(self, publisher: Publisher, close: Callable[[], None]) -> None:
        self._publisher = publisher
        #: Withdraw the topic; nothing can be sent any more.
        self.close = close
        self.topic: str = publisher.topic_name
        self.publish: Callable[[Message], None] = publisher.publish
        # Called for every message; without rclpy's wrapper it takes half as long.
        self._publish_raw: Callable[[bytes], None] = publisher.handle.publish_raw
        #: Number of subscriptions in the graph now.
        self.subscription_count: Callable[[], int] = publisher.handle.get_subscription_count

    def publish_raw(self, data: bytearray) -> None:
        self._publish_raw(bytes(data))

    def flush(self, seconds: float) -> None:
        """Wait at most ``seconds`` until all published messages have arrived."""
        self._publisher.wait_for_all_acked(Duration(seconds=seconds))


class RclpySubscription:
    """An input topic."""

    def __init__(self, node: Node, subscription: Subscription) -> None:
        self._node = node
        self.topic: str = subscription.topic_name

    def publisher_count(self) -> int:
        return int(self._node.count_publishers(self.topic))


class RclpyClient:
    """A service of another node."""

    def __init__(self, client: Client, queue: WorkQueue) -> None:
        self._client = client
        self._queue = queue
        self._pending: dict[Response, float] = {}
        self.name: str = client.srv_name
        self.request: Callable[[], Message] = client.srv_type.Request

    def ready(self) -> bool:
        return bool(self._client.service_is_ready())

    def call(self, request: Message, done: Callable[[Message], None]) -> None:
        self._forget_lost()
        response = self._client.call_async(request)
        self._pending[response] = time.monotonic()
        response.add_done_callback(lambda response: self._queue.put(lambda: done(response.result())))

    def _forget_lost(self) -> None:
        """Forget the requests that will not be answered any more."""
        now = time.monotonic()
        for response, sent in list(self._pending.items()):
            if response.done() or now - sent > RESPONSE_TIMEOUT:
                self._client.remove_pending_request(response)
                del self._pending[response]


class RclpyGraph:
    """A node on the graph, by rclpy."""

    def __init__(self, arguments: Arguments, default_name: str) -> None:
        # A context of its own: a process may have several graphs, and beside them a node of its own code.
        self._context = Context()
        command_line = [sys.argv[0], *arguments.given]
        rclpy.init(args=command_line, context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self._node = Node(default_name, context=self._context)
        self.name: str = self._node.get_name()
        self.namespace: str = self._node.get_namespace()
        self._arrived = WorkQueue()
        self._pending: set[Future[Any]] = set()
        self._publishers: list[RclpyPublisher] = []
        self.opened: list[Endpoint] = []
        self._closing = False
        #: Number of malformed messages of all topics.
        self.malformed = 0
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._receiver = Receiver(self._context)
        self._server = threading.Thread(target=self._serve, name="server", daemon=True)
        self._server.start()

    def message(self, type_name: str) -> Message:
        message: Message = interface(type_name)()
        return message

    def serialize(self, message: Message, type_name: str) -> bytes:
        return bytes(serialize_message(message))

    def numbers(self, count: int, kind: str = "float64") -> MutableSequence[float]:
        return InstalledTypes.array(kind, [0]) * count

    def publisher(self, topic: str, type_name: str, qos: QoS) -> RclpyPublisher:
        refuse_two_types(self.opened, self._node.resolve_topic_name(topic), type_name)
        created = self._node.create_publisher(
            interface(type_name),
            topic,
            _profile(qos),
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )

        def close() -> None:
            if publisher in self._publishers:
                self._publishers.remove(publisher)
                self.opened.remove(endpoint)
                self._node.destroy_publisher(created)

        publisher = RclpyPublisher(created, close)
        self._publishers.append(publisher)
        endpoint = self._endpoint(publisher.topic, type_name, qos, publishes=True)
        self.opened.append(endpoint)
        return publisher

    def subscribe(
        self, topic: str, type_name: str, qos: QoS, callback: Deliver, raw: bool = False
    ) -> RclpySubscription:
        # Malformed messages are counted, and the first one is reported.
        reported = False

        def call(message: Message, arrival: int) -> None:
            nonlocal reported
            try:
                callback(message, arrival)
            except MalformedMessageError as error:
                self.malformed += 1
                if not reported:
                    reported = True
                    where = f"topic '{subscription.topic_name}'"
                    self.log(Severity.WARN, f"{where}: {error}. Such messages are ignored")

        def deliver(message: Message, arrival: int) -> None:
            self._arrived.put(partial(call, message, arrival))

        refuse_two_types(self.opened, self._node.resolve_topic_name(topic), type_name)
        subscription = self._node.create_subscription(
            interface(type_name),
            topic,
            lambda message: None,
            _profile(qos),
            callback_group=self._receiver.group,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
            raw=raw,
        )
        self._receiver.add(subscription, deliver)
        self.opened.append(self._endpoint(subscription.topic_name, type_name, qos, publishes=False))
        return RclpySubscription(self._node, subscription)

    def offers(self) -> dict[str, Offer]:
        offers: dict[str, Offer] = {}
        names: list[str] = []
        with suppress(UnicodeDecodeError):  # while another node has names that are no text, rclpy lists no topics
            names = [name for name, _ in self._node.get_topic_names_and_types()]
        for name in names:
            with suppress(UnicodeDecodeError):
                for info in self._node.get_publishers_info_by_topic(name):
                    if not is_topic(name, info.topic_type):  # other nodes may announce any text
                        continue
                    offer = Offer(info.topic_type, _qos(info.qos_profile))
                    offers[name] = offer.together_with(offers[name]) if name in offers else offer
        return offers

    def endpoints(self, topic: str) -> list[Endpoint]:
        found: list[Endpoint] = []
        with suppress(UnicodeDecodeError):  # other nodes may announce any text
            for publishes, infos in (
                (True, self._node.get_publishers_info_by_topic(topic)),
                (False, self._node.get_subscriptions_info_by_topic(topic)),
            ):
                for info in infos:
                    if is_topic(topic, info.topic_type):
                        known = info.node_name != UNKNOWN_NODE and info.node_name.isprintable()
                        node = full_node_name(info.node_name, info.node_namespace) if known else ""
                        found.append(Endpoint(node, topic, info.topic_type, _qos(info.qos_profile), publishes))
        return found

    def topic_types(self) -> dict[str, list[str]]:
        with suppress(UnicodeDecodeError):  # while another node has names that are no text, rclpy lists no topics
            return dict(self._node.get_topic_names_and_types())
        return {}

    def _endpoint(self, topic: str, type_name: str, qos: QoS, *, publishes: bool) -> Endpoint:
        return Endpoint(full_node_name(self.name, self.namespace), topic, type_name, qos, publishes)

    def service(self, name: str, type_name: str, callback: Callable[[Message, Message], None]) -> None:
        def serve(request: Message, response: Message) -> Message:
            with suppress(ClosedError):  # then the response keeps its defaults, such as no success
                self._call(lambda: callback(request, response))
            return response

        self._node.create_service(interface(type_name), name, serve)

    def client(self, name: str, type_name: str) -> RclpyClient:
        return RclpyClient(self._node.create_client(interface(type_name), name), self._arrived)

    def action(self, name: str, type_name: str, execute: Callable[[Message, Message, Message], Iterator[None]]) -> bool:
        """Offer an action; goals are carried out one at a time."""
        kind = interface(type_name)

        def carry_out(handle: ServerGoalHandle) -> Message:
            feedback, result = kind.Feedback(), kind.Result()
            work = execute(handle.request, feedback, result)
            try:
                while self._call(lambda: next(work, work)) is not work:
                    handle.publish_feedback(feedback)
                handle.succeed()
            except ClosedError:
                handle.abort()
            finished: Message = result
            return finished

        ActionServer(self._node, kind, name, carry_out)
        return True

    def declare_parameters(
        self, descriptions: Iterable[Description], change: Callable[[Mapping[str, Value]], None]
    ) -> None:
        """Show parameters on the graph; their values have been checked already."""
        known = spellings(descriptions)
        for description in (description for same in dict.fromkeys(known.values()) for description in same):
            if self._node.has_parameter(description.name):
                continue
            descriptor = descriptor_of(self.message, description)
            if description.default == ():  # rclpy takes an empty list for a list of bytes, and keeps that type
                kind = Parameter.Type.DOUBLE_ARRAY
                self._node.declare_parameter(description.name, kind, descriptor, ignore_override=True)
                self._node.set_parameters([Parameter(description.name, kind, [])])
            else:
                self._node.declare_parameter(description.name, description.default, descriptor, ignore_override=True)
        following: set[str] = set()

        def on_set(parameters: list[Parameter]) -> SetParametersResult:
            requested = {
                parameter.name: parameter.value
                for parameter in parameters
                if parameter.name in known and parameter.name not in following
            }
            try:
                values = {known[name][0].name: known[name][0].check(value) for name, value in requested.items()}
                if values:
                    self._call(lambda: change(values))
            except (ParameterError, ClosedError) as error:
                return SetParametersResult(successful=False, reason=str(error))
            aliases = {
                parameter.name: value
                for name, value in requested.items()
                for parameter in known[name]
                if parameter.name not in requested
            }
            following.update(aliases)
            self._node.set_parameters([Parameter(name, value=value) for name, value in aliases.items()])
            following.clear()
            return SetParametersResult(successful=True)

        self._node.add_on_set_parameters_callback(on_set)

    def wait(self, timeout: float) -> None:
        self._arrived.run(timeout)

    def wake(self) -> None:
        self._arrived.put(_nothing)

    def set_time(self, time_ns: int) -> None:
        """Do nothing: rclpy has the time itself."""

    def log(self, severity: Severity, text: str) -> None:
        logger = self._node.get_logger()
        # rclpy requires one place in the source for each severity.
        if severity is Severity.DEBUG:
            logger.debug(text)
        elif severity is Severity.INFO:
            logger.info(text)
        elif severity is Severity.WARN:
            logger.warning(text)
        elif severity is Severity.ERROR:
            logger.error(text)
        else:
            logger.fatal(text)

    def close(self) -> None:
        self._closing = True
        for call in list(self._pending):
            if not call.done():
                call.set_exception(ClosedError())
        end = time.monotonic() + ACKNOWLEDGED_WITHIN
        for publisher in self._publishers:
            publisher.flush(max(end - time.monotonic(), 0.0))
        self._receiver.close()
        self._executor.create_task(_nothing)  # ends its wait, which ``wake`` does not
        self._server.join()
        self._executor.shutdown()
        self._node.destroy_node()
        self._context.try_shutdown()

    def _serve(self) -> None:
        complained = False
        while not self._closing:
            try:
                self._executor.spin_once(timeout_sec=1.0)
            except Exception as error:  # what rclpy raises for a malformed request
                if not complained:
                    self.log(
                        Severity.WARN,
                        f"a request failed: {type(error).__name__}: {error}. Further failures are not reported",
                    )
                complained = True

    def _call(self, function: Callable[[], Returned]) -> Returned:
        """Let the node's thread call a function, and wait for its result.

        Its errors are raised in :meth:`wait`, as those of all callbacks, and end the node; only a ParameterError is
        raised here, for the sender of the request.
        """
        call: Future[Returned] = Future()

        def work() -> None:
            try:
                call.set_result(function())
            except ParameterError as error:
                call.set_exception(error)

        self._pending.add(call)
        try:
            if self._closing:
                raise ClosedError
            self._arrived.put(work)
            return call.result()
        finally:
            self._pending.discard(call)


def _nothing() -> None:
    """The empty job of :meth:`RclpyGraph.wake`."""


def _profile(qos: QoS) -> QoSProfile:
    return QoSProfile(
        depth=qos.depth,
        reliability=QoSReliabilityPolicy.RELIABLE if qos.reliable else QoSReliabilityPolicy.BEST_EFFORT,
        durability=QoSDurabilityPolicy.TRANSIENT_LOCAL if qos.transient_local else QoSDurabilityPolicy.VOLATILE,
    )


def _qos(profile: QoSProfile) -> QoS:
    return QoS(
        max(profile.depth, 1),
        profile.reliability == QoSReliabilityPolicy.RELIABLE,
        profile.durability == QoSDurabilityPolicy.TRANSIENT_LOCAL,
    )
