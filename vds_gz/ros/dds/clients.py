"""Clients of other nodes' services, in the wire form of ``rmw_cyclonedds``; see :mod:`vds_gz.ros.dds.services`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from vds_gz.ros.dds.endpoints import Channel, Reader, Writer
from vds_gz.ros.dds.publications import Report
from vds_gz.ros.graph import QoS
from vds_gz.ros.messages.portable import MalformedMessageError, MessageTypes

_HEADER = 16

#: After so long, a request of ours is taken for lost [ns].
_ANSWERED_WITHIN = 10_000_000_000


class _Asked(NamedTuple):
    done: Callable[[Any], None]
    at: int


class ServiceClient:
    """Asks one service.

    Attributes:
        name: Absolute name of the service.
        malformed: How many samples were no response of the service's type.
    """

    def __init__(
        self, library: Any, participant: int, types: MessageTypes, name: str, type_name: str, report: Report
    ) -> None:
        """Look for a service.

        Args:
            library: Cyclone DDS.
            participant: The node's participant.
            types: Message types.
            name: Absolute name of the service.
            type_name: Its type, e.g. ``std_srvs/srv/Trigger``.
            report: Told of malformed responses.
        """
        request, response = f"{type_name}_Request", f"{type_name}_Response"
        # By its own mark the client is known in the headers, and by the text of it as the owner of both endpoints.
        self._mark = os.urandom(8)
        owner = {"clientid": ".".join(f"{byte:x}" for byte in self._mark)}
        asked = {**owner, "typehash": types.hash(request)}
        answered = {**owner, "typehash": types.hash(response)}
        self.name = name
        self.malformed = 0
        self.reader = Reader(library, participant, Channel(f"rr{name}Reply", response, QoS(), answered))
        self.writer = Writer(library, participant, Channel(f"rq{name}Request", request, QoS(), asked))
        self._request, self._response = types.codec(request), types.codec(response)
        self._new_request = lambda: types.new(request)
        self._report = report
        self._pending: dict[bytes, _Asked] = {}
        self._number = 0

    def ready(self) -> bool:
        """Whether somebody offers the service now."""
        return self.writer.matched() > 0 and self.reader.matched() > 0

    def request(self) -> Any:
        """A new request, every field at its default."""
        return self._new_request()

    def call(self, request: Any, done: Callable[[Any], None]) -> None:
        """Ask; ``done`` gets the response, and is never called if none comes."""
        now = time.monotonic_ns()
        self._pending = {key: one for key, one in self._pending.items() if now - one.at < _ANSWERED_WITHIN}
        self._number += 1
        header = self._mark + self._number.to_bytes(8, "little")
        self._pending[header] = _Asked(done, now)
        self.writer.write(self._request.encode(request, header))

    def deliver(self, _arrival: int) -> None:
        """Hand on every response that has arrived and is ours: all clients of a service hear all responses."""
        for data, _ in self.reader.take():
            asked = self._pending.pop(bytes(data[4 : 4 + _HEADER]), None)
            if asked is None:
                continue
            try:
                response = self._response.decode(data, _HEADER)
            except MalformedMessageError as error:
                self.malformed += 1
                if self.malformed == 1:
                    self._report(f"service '{self.name}': {error}. Ignored, as any more like it will be")
                continue
            asked.done(response)
