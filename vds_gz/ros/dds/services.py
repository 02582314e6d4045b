"""Services of a node, in the wire form of ``rmw_cyclonedds``.

A request and its reply are messages on two topics, each with a header of 16 bytes before the fields: the identity of
the client's writer and the number of the request. Other ROS middlewares put these elsewhere and cannot call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from vds_gz.ros.dds.endpoints import Channel, Reader, Writer
from vds_gz.ros.dds.publications import Report
from vds_gz.ros.graph import QoS
from vds_gz.ros.messages.portable import MalformedMessageError, MessageTypes

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
        malformed: How many samples were no request of the service's type.
    """

    def __init__(
        self,
        library: Any,
        participant: int,
        types: MessageTypes,
        name: str,
        type_name: str,
        qos: QoS,
        identity: str,
        callback: Callable[[Any, Any], None],
        report: Report,
    ) -> None:
        """Offer a service.

        Args:
            library: Cyclone DDS.
            participant: The node's participant.
            types: Message types.
            name: Absolute name of the service.
            type_name: Its type, e.g. ``std_srvs/srv/Trigger``.
            qos: Quality of service of both topics.
            identity: By what a client knows that the two topics belong together.
            callback: Gets the request and fills the response.
            report: Told of malformed requests.
        """
        request, response = f"{type_name}_Request", f"{type_name}_Response"
        asked = {"serviceid": identity, "typehash": types.hash(request)}
        replied = {"serviceid": identity, "typehash": types.hash(response)}
        self.name = name
        self.malformed = 0
        self.writer = Writer(library, participant, Channel(f"rr{name}Reply", response, qos, replied))
        self.reader = Reader(library, participant, Channel(f"rq{name}Request", request, qos, asked))
        self._request, self._response = types.codec(request), types.codec(response)
        self._new_response = lambda: types.new(response)
        self._callback = callback
        self._report = report
        self._waiting: list[_Reply] = []

    def deliver(self, _arrival: int) -> None:
        """Answer every request that has arrived."""
        for data, client in self.reader.take():
            try:
                request = self._request.decode(data, _HEADER)
            except MalformedMessageError as error:
                self.malformed += 1
                if self.malformed == 1:
                    self._report(f"service '{self.name}': {error}. Ignored, as any more like it will be")
                continue
            response = self._new_response()
            self._callback(request, response)
            self._reply(self._response.encode(response, bytes(data[4 : 4 + _HEADER])), client)

    @property
    def waits(self) -> bool:
        """Whether a reply waits for its client to be known."""
        return bool(self._waiting)

    def retry(self) -> None:
        """Send the replies whose clients are known by now."""
        now = time.monotonic_ns()
        waiting, self._waiting = self._waiting, []
        for reply in waiting:
            if self.writer.knows_reader("clientid", reply.client):
                self.writer.write(reply.data)
            elif now < reply.given_up_at:
                self._waiting.append(reply)

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
        self._waiting.append(_Reply(data, identity, time.monotonic_ns() + _PATIENCE_NS))
        self.retry()
