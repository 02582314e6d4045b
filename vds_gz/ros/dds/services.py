"""Services of a node, in the wire form of ``rmw_cyclonedds``.

A request and its reply are messages on two topics, each with a header of 16 bytes before the fields: the identity of
the client's writer and the number of the request. Other ROS middlewares put these elsewhere and cannot call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from vds_gz.ros.dds.context import Context
from vds_gz.ros.dds.decoding import Decoder
from vds_gz.ros.dds.endpoints import Channel, Reader, Writer
from vds_gz.ros.graph import QoS

_HEADER = 16
_PATIENCE_NS = 1_000_000_000


class _Reply(NamedTuple):
    """A reply whose client's reader is not known yet."""

    data: bytearray
    client: str
    given_up_at: int


class Service:
    """One service that is offered.

    Attributes:
        name: Absolute name.
        decoder: Decodes its requests.
        waiting: Replies whose clients are not known yet.
    """

    def __init__(
        self,
        context: Context,
        name: str,
        type_name: str,
        qos: QoS,
        identity: str,
        callback: Callable[[Any, Any], None],
    ) -> None:
        """Offer a service.

        Args:
            context: The node's place on the graph.
            name: Absolute name of the service.
            type_name: Its type, e.g. ``std_srvs/srv/Trigger``.
            qos: Quality of service of both topics.
            identity: By what a client knows that the two topics belong together.
            callback: Gets the request and fills the response.
        """
        types = context.types
        request, response = f"{type_name}_Request", f"{type_name}_Response"
        requests = {"serviceid": identity, "typehash": types.hash(request)}
        replies = {"serviceid": identity, "typehash": types.hash(response)}
        self.name = name
        self.writer = Writer(context, Channel(f"rr{name}Reply", response, qos, replies))
        self.reader = Reader(context, Channel(f"rq{name}Request", request, qos, requests))
        self.decoder = Decoder(f"service '{name}'", types.codec(request).decode, context.warn)
        self._response = types.codec(response)
        self._new_response = partial(types.new, response)
        self._callback = callback
        self.waiting: list[_Reply] = []

    def deliver(self, _arrival: int) -> None:
        """Respond to every request that has arrived."""
        for data, client in self.reader.take():
            request = self.decoder(data, _HEADER)
            if request is None:
                continue
            response = self._new_response()
            self._callback(request, response)
            self._reply(self._response.encode(response, bytes(data[4 : 4 + _HEADER])), client)

    def retry(self) -> None:
        """Send the replies whose clients are known by now."""
        now = time.monotonic_ns()
        waiting, self.waiting = self.waiting, []
        for reply in waiting:
            if self.writer.knows_reader("clientid", reply.client):
                self.writer.write(reply.data)
            elif now < reply.given_up_at:
                self.waiting.append(reply)

    def _reply(self, data: bytearray, client: int) -> None:
        """Send a reply, now or when it can reach the client.

        A request may arrive before this node knows the reader that waits for the reply, and would be lost.
        """
        user_data = self.reader.writer_user_data(client)
        if user_data is None:
            return
        identity = user_data.get("clientid")
        if identity is None:
            self.writer.write(data)
            return
        self.waiting.append(_Reply(data, identity, time.monotonic_ns() + _PATIENCE_NS))
        self.retry()
