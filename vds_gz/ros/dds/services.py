"""Services of a node and clients of other nodes' services, in the wire form of ``rmw_cyclonedds``.

A request and its reply are messages on two topics, each with a header of 16 bytes before the fields: the identity of
the client's writer and the number of the request. Other ROS middlewares put these elsewhere and cannot call.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from vds_gz.ros.dds.domain import Context
from vds_gz.ros.dds.endpoints import Channel, Inbox, Input, Reader, Writer
from vds_gz.ros.graph import QoS

_HEADER = 16
_PATIENCE_NS = 1_000_000_000

#: A request without a response for this long is dropped [ns].
_RESPONSE_TIMEOUT = 10_000_000_000


class _Reply(NamedTuple):
    """A reply whose client's reader is not known yet."""

    data: bytearray
    client: str
    given_up_at: int


class _Pending(NamedTuple):
    done: Callable[[Any], None]
    at: int


class Service(Input):
    """A service that the node offers."""

    def __init__(
        self,
        context: Context,
        inbox: Inbox,
        name: str,
        type_name: str,
        qos: QoS,
        identity: str,
        callback: Callable[[Any, Any], None],
    ) -> None:
        """Offer a service.

        Args:
            context: The node's place on the graph.
            inbox: Receives requests, and holds replies to clients that are not known yet.
            name: Absolute name of the service.
            type_name: Its type, e.g. ``std_srvs/srv/Trigger``.
            qos: Quality of service of both topics.
            identity: Shows clients that the two topics belong together.
            callback: Gets the request and fills the response.
        """
        types = context.types
        request, response = f"{type_name}_Request", f"{type_name}_Response"
        requests = {"serviceid": identity, "typehash": types.hash(request)}
        replies = {"serviceid": identity, "typehash": types.hash(response)}
        self.writer = Writer(context, Channel(f"rr{name}Reply", response, qos, replies))
        reader = Reader(context, Channel(f"rq{name}Request", request, qos, requests))
        super().__init__(reader, f"service '{name}'", context.warn)
        self._inbox = inbox
        self._decode = types.codec(request).decode
        self._response = types.codec(response)
        self._new_response = partial(types.new, response)
        self._callback = callback
        inbox.add(self)

    def _receive(self, data: bytearray, writer: int) -> None:
        """Respond to a request."""
        request, response = self._decode(data, _HEADER), self._new_response()
        self._callback(request, response)
        self._reply(self._response.encode(response, bytes(data[4 : 4 + _HEADER])), writer)

    def _waits(self, reply: _Reply) -> bool:
        """Send a reply if its client is known by now; return whether it still waits."""
        if self.writer.knows_reader("clientid", reply.client):
            self.writer.write(reply.data)
            return False
        return time.monotonic_ns() < reply.given_up_at

    def _reply(self, data: bytearray, client: int) -> None:
        """Send a reply, now or as soon as it can reach the client.

        A request may arrive before this node knows the client's reader; a reply sent then would be lost.
        """
        user_data = self.reader.writer_user_data(client)
        if user_data is None:
            return
        identity = user_data.get("clientid")
        if identity is None:
            self.writer.write(data)
            return
        reply = _Reply(data, identity, time.monotonic_ns() + _PATIENCE_NS)
        if self._waits(reply):
            self._inbox.holding.append(partial(self._waits, reply))


class ServiceClient(Input):
    """Client of one service.

    Attributes:
        name: Absolute name of the service.
    """

    def __init__(self, context: Context, name: str, type_name: str) -> None:
        """Look for a service.

        Args:
            context: The node's place on the graph.
            name: Absolute name of the service.
            type_name: Its type, e.g. ``std_srvs/srv/Trigger``.
        """
        types = context.types
        request, response = f"{type_name}_Request", f"{type_name}_Response"
        # The mark identifies the client in headers, and its text identifies the client as the owner of both endpoints.
        self._mark = os.urandom(8)
        owner = {"clientid": ".".join(f"{byte:x}" for byte in self._mark)}
        requests = {**owner, "typehash": types.hash(request)}
        responses = {**owner, "typehash": types.hash(response)}
        self.name = name
        reader = Reader(context, Channel(f"rr{name}Reply", response, QoS(), responses))
        super().__init__(reader, f"service '{name}'", context.warn)
        self.writer = Writer(context, Channel(f"rq{name}Request", request, QoS(), requests))
        self._decode = types.codec(response).decode
        self._request = types.codec(request)
        self._new_request = partial(types.new, request)
        self._pending: dict[bytes, _Pending] = {}
        self._number = 0

    def ready(self) -> bool:
        """Whether the service is available now."""
        return self.writer.matched() > 0 and self.reader.matched() > 0

    def request(self) -> Any:
        """A new request, every field at its default."""
        return self._new_request()

    def call(self, request: Any, done: Callable[[Any], None]) -> None:
        """Send a request; ``done`` gets the response, and is never called if none comes."""
        now = time.monotonic_ns()
        self._pending = {key: one for key, one in self._pending.items() if now - one.at < _RESPONSE_TIMEOUT}
        self._number += 1
        header = self._mark + self._number.to_bytes(8, "little")
        self._pending[header] = _Pending(done, now)
        self.writer.write(self._request.encode(request, header))

    def _receive(self, data: bytearray, writer: int) -> None:
        """Process a response to this client: all clients of a service receive all responses."""
        pending = self._pending.pop(bytes(data[4 : 4 + _HEADER]), None)
        if pending is not None:
            pending.done(self._decode(data, _HEADER))
