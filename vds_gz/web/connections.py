"""Limits of the number of connections and of their idle time."""

from __future__ import annotations

import asyncio
import time

from aiohttp import web
from aiohttp.typedefs import Handler

#: Maximum number of connections. A further one replaces the one that has been idle for longest.
MOST = 256

#: A connection without a complete request for this long is closed [s].
PATIENCE = 10.0

#: Period of checking them [s].
PERIOD = 1.0


class Connections:
    """Makes the server's connections, and closes idle ones."""

    def __init__(self) -> None:
        self._server: web.Server | None = None
        self._idle: dict[web.RequestHandler, float] = {}  # start of idle time; the longest first

    async def listen(self, runner: web.AppRunner, **where: object) -> asyncio.Server:
        """Accept connections for an application that is set up; ``where`` as in ``loop.create_server``."""
        self._server = runner.server
        return await asyncio.get_running_loop().create_server(self._accept, **where)  # type: ignore[call-overload, no-any-return]

    def _accept(self) -> asyncio.Protocol:
        assert self._server is not None
        if len(self._server.connections) >= MOST and self._idle:
            self._close(next(iter(self._idle)))
        connection = self._server()
        self._idle[connection] = time.monotonic()
        return connection

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """A connection is not idle while it has a request that is complete."""
        self._idle.pop(request.protocol, None)
        try:
            return await handler(request)
        finally:
            self._idle[request.protocol] = time.monotonic()

    async def watch(self) -> None:
        """Close idle connections, until cancelled."""
        assert self._server is not None
        while True:
            await asyncio.sleep(PERIOD)
            open_, latest = set(self._server.connections), time.monotonic() - PATIENCE
            for connection, since in list(self._idle.items()):
                if since < latest or connection not in open_:
                    self._close(connection)

    def _close(self, connection: web.RequestHandler) -> None:
        del self._idle[connection]
        connection.force_close()
