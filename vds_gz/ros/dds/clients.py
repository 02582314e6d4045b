"""Clients of other nodes' services, in the wire form of ``rmw_cyclonedds``; see :mod:`vds_gz.ros.dds.services`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from vds_gz.ros.dds.context import Context
from vds_gz.ros.dds.decoding import Decoder
from vds_gz.ros.dds.endpoints import Channel, Reader, Writer
from vds_gz.ros.graph import QoS

_HEADER = 16

#: After so long, a request of ours is taken for lost [ns].
_RESPONSE_TIMEOUT = 10_000_000_000


class _Pending(NamedTuple):
    done: Callable[[Any], None]
    at: int


class ServiceClient:
    """Calls one service.

    Attributes:
        name: Absolute name of the service.
        decoder: Decodes its responses.
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
        # By its own mark the client is known in the headers, and by the text of it as the owner of both endpoints.
        self._mark = os.urandom(8)
        owner = {"clientid": ".".join(f"{byte:x}" for byte in self._mark)}
        requests = {**owner, "typehash": types.hash(request)}
        responses = {**owner, "typehash": types.hash(response)}
        self.name = name
        self.reader = Reader(context, Channel(f"rr{name}Reply", response, QoS(), responses))
        self.writer = Writer(context, Channel(f"rq{name}Request", request, QoS(), requests))
        self.decoder = Decoder(f"service '{name}'", types.codec(response).decode, context.warn)
        self._request = types.codec(request)
        self._new_request = partial(types.new, request)
        self._pending: dict[bytes, _Pending] = {}
        self._number = 0

    def ready(self) -> bool:
        """Whether somebody offers the service now."""
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

    def deliver(self, _arrival: int) -> None:
        """Hand on every response that has arrived and is ours: all clients of a service receive all responses."""
        for data, _ in self.reader.take():
            pending = self._pending.pop(bytes(data[4 : 4 + _HEADER]), None)
            if pending is not None and (response := self.decoder(data, _HEADER)) is not None:
                pending.done(response)
