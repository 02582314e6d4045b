"""Access control of the page.

The page drives a vehicle, so other pages in the same browser must not reach it. There are two ways: a cross-origin
request, which the header ``Origin`` reveals, and an attacker's host name that resolves to this machine («DNS
rebinding»), which the header ``Host`` reveals. Users on other machines also need the token.

The number of connections is limited, and so is the time that one may wait without a complete request.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import secrets
import socket
import time
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.typedefs import Handler

#: Headers of every response.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

SOCKET = "/socket"


class Access:
    """Decides on requests."""

    def __init__(self, host: str, with_token: bool = False) -> None:
        self._local = is_loopback(host)
        self.token = secrets.token_urlsafe(24) if with_token or not self._local else ""
        self._cookie = f"vds_gz_{secrets.token_hex(4)}"
        name = socket.gethostname().lower()
        self._names = {"localhost"} if self._local else {"localhost", name, f"{name}.local"}

    def _check_host(self, host: str) -> None:
        """Refuse requests for hosts that are not this server."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            name = ""
        if name not in self._names and not (_is_address(name) and (is_loopback(name) or not self._local)):
            right = "localhost or 127.0.0.1" if self._local else "an address or the name of this machine"
            raise web.HTTPForbidden(text=f"host '{printable(host)}' is refused; it must be {right}")

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse requests that are not allowed."""
        self._check_host(request.host)
        if request.method not in ("GET", "HEAD"):
            raise web.HTTPMethodNotAllowed(request.method, ["GET"], text="only GET is served; commands go by socket")
        if request.path == SOCKET:
            _check_origin(request.headers, request.host)
        if self.token and not _equal(request.cookies.get(self._cookie, ""), self.token):
            return self._welcome(request)
        return await handler(request)

    def _welcome(self, request: web.Request) -> web.Response:
        """Admit a request with the token, which then becomes a cookie and does not stay in the address."""
        sent = request.query.get("token", "")
        if request.path != "/" or not _equal(sent, self.token):
            wrong = "the token is wrong" if sent else "a token is needed"
            raise web.HTTPUnauthorized(text=f"{wrong}; the address that 'vds-gz view' printed contains the right one")
        kept = [(key, value) for key, value in request.query.items() if key != "token"]
        response = web.Response(
            status=303, headers={"Location": f"/?{urlencode(kept, safe='/', errors='replace')}" if kept else "/"}
        )
        response.set_cookie(self._cookie, self.token, httponly=True, samesite="Strict", path="/")
        return response


def only_asks(headers: Mapping[str, str]) -> bool:
    """Whether a request opens no socket: a page asks why its socket was refused."""
    return "Upgrade" not in headers


def _check_origin(headers: Mapping[str, str], host: str) -> None:
    """Refuse to let a page of another origin drive."""
    origin = headers.get("Origin")
    if origin is None and only_asks(headers):
        return
    if origin is None:
        raise web.HTTPForbidden(text=f"the header Origin is missing; it must be 'http://{host}'")
    if origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
        raise web.HTTPForbidden(text=f"origin '{printable(origin)}' is refused; it must be 'http://{host}'")


def printable(text: str) -> str:
    """A request's text for use in a response: invalid UTF-8 becomes question marks."""
    return text.encode(errors="replace").decode()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _equal(sent: str, token: str) -> bool:
    """Whether texts are equal, in a time that does not depend on the position of a difference."""
    return hmac.compare_digest(sent.encode(errors="replace"), token.encode())


#: Maximum number of connections. A further one replaces the one that has been idle the longest, if any is.
MOST = 256

#: A connection without a complete request for this long is closed [s].
PATIENCE = 10.0

#: Period of the check for idle connections [s].
PERIOD = 1.0


def request_log() -> logging.Logger:
    """The log of the server: errors of ours, but not requests that are not HTTP; the response tells their senders."""
    log = logging.getLogger("vds_gz.programs.web")
    log.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))
    return log


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
        """Count a connection as busy while it handles a complete request."""
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
