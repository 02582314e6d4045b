"""The server of the page: its files, and a socket for each open page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib.resources import files
from time import monotonic
from typing import TypeVar

from aiohttp import WSCloseCode, WSMsgType, web

from vds_gz.core.errors import VdsGzError
from vds_gz.core.vehicle.command import SteadyMotion
from vds_gz.programs.web.access import HEADERS, SOCKET, Access, Connections, only_asks, printable
from vds_gz.programs.web.deadman import MessageLateness
from vds_gz.programs.web.graph_thread import GraphThread
from vds_gz.programs.web.page_messages import MAX_LENGTH, MessageError, PageMessage, read
from vds_gz.programs.web.remote_node import ResultCallback
from vds_gz.programs.web.watched_vehicle import WatchedVehicle

T = TypeVar("T")

#: Frames per second.
RATE = 30.0
PERIOD = 1.0 / RATE

#: Maximum number of frames in flight to a page. A slow or hidden page gets fewer frames; none are queued.
FRAMES_IN_FLIGHT = 3

#: Maximum numbers of open pages, of messages per second from each, and of pending requests of each.
MAX_PAGES = 16
MAX_MESSAGES = 200
MAX_REQUESTS = 20

#: A request without a response of the vehicle's node for this long has failed [s].
RESPONSE_TIMEOUT = 5.0

#: Time for a page to close its socket when the server ends [s].
CLOSE_TIMEOUT = 1.0

_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class PageServer:
    """Serves the pages of vehicles."""

    def __init__(self, graph: GraphThread, vehicles: Mapping[str, WatchedVehicle], access: Access) -> None:
        self._graph = graph
        self._vehicles = vehicles
        self._pages: set[OpenPage] = set()
        self.connections = Connections()
        self.application = web.Application(middlewares=[self.connections.middleware, access.middleware])
        self.application.add_routes([web.get(SOCKET, self._serve_socket)])
        for name, content, kind in _files():
            path = "/" if name == "index.html" else f"/{name}"
            self.application.router.add_get(path, _sender(content, kind))
        self.application.on_response_prepare.append(_add_headers)
        self.application.on_shutdown.append(self._close_pages)

    async def _serve_socket(self, request: web.Request) -> web.StreamResponse:
        namespace = request.query.get("vehicle", next(iter(self._vehicles)))
        if namespace not in self._vehicles:
            raise web.HTTPNotFound(text=f"no vehicle '{printable(namespace)}'; there are {', '.join(self._vehicles)}")
        if len(self._pages) >= MAX_PAGES:
            raise web.HTTPServiceUnavailable(text=f"{MAX_PAGES} pages are shown already; close one of them")
        if only_asks(request.headers):  # nothing refuses a socket now
            return web.Response()
        socket = web.WebSocketResponse(
            max_msg_size=MAX_LENGTH, heartbeat=10.0, timeout=CLOSE_TIMEOUT, compress=False, autoping=False
        )
        await socket.prepare(request)
        page = OpenPage(socket, self._graph, self._vehicles[namespace], list(self._vehicles))
        self._pages.add(page)
        try:
            await page.run()
        finally:
            self._pages.discard(page)
        return socket

    async def _close_pages(self, application: web.Application) -> None:
        await asyncio.gather(*(page.close(WSCloseCode.GOING_AWAY, "the server ends") for page in self._pages))


class OpenPage:
    """The server's side of an open page."""

    def __init__(
        self, socket: web.WebSocketResponse, graph: GraphThread, vehicle: WatchedVehicle, vehicles: list[str]
    ) -> None:
        self.socket = socket
        self._graph = graph
        self._vehicle = vehicle
        self._vehicles = vehicles
        self._in_flight = 0
        self._sent_stamp = -1
        # Version 0 of each: the page has nothing yet.
        self._sent: dict[str, object] = dict.fromkeys(
            ("layout", "parameters", "values", "world", "points", "contacts"), 0
        )
        self._messages = (0.0, 0)
        self._lateness = MessageLateness()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve the page until it is closed."""
        await self._tell("hello", vehicles=self._vehicles, vehicle=self._vehicle.namespace, rate=RATE)
        sending = asyncio.create_task(self._send())
        try:
            async for text in self._texts():
                await self._handle(text)
        finally:
            self._graph.submit(lambda: self._vehicle.driver.leave(self))
            for task in (sending, *self._tasks):
                task.cancel()

    async def close(self, code: WSCloseCode, reason: str) -> None:
        """Close the socket."""
        with suppress(ConnectionError):  # a page that has gone
            await self.socket.close(code=code, message=reason.encode())

    # ------------------------------------------------------------------ to the page

    async def _send(self) -> None:
        """Send changes at a steady rate."""
        due = monotonic()
        try:
            while True:
                due = max(due + PERIOD, monotonic() - PERIOD)  # at most one period is made up
                await asyncio.sleep(max(0.0, due - monotonic()))
                await self._send_new()
        except ConnectionError:
            return
        except VdsGzError as error:
            await self._tell("refused", reason=str(error))

    async def _send_new(self) -> None:
        """Send all changes since the last time."""
        with_frame = self._in_flight < FRAMES_IN_FLIGHT
        texts, frame = await self._in_graph(
            lambda: (list(self._changes(quick=with_frame)), self._frame() if with_frame else None)
        )
        for text in texts:
            await self.socket.send_str(text)
        if frame is not None:
            self._in_flight += 1
            await self.socket.send_bytes(frame)

    def _frame(self) -> bytes | None:
        """The present frame, unless it was sent already. Runs in the graph's thread, as :meth:`_changes`."""
        frame = self._vehicle.telemetry.frame()
        if frame is None or frame.stamp == self._sent_stamp:
            return None
        self._sent_stamp = frame.stamp
        return frame.data

    def _changes(self, *, quick: bool) -> Iterator[str]:
        """All changes besides the frame; with ``quick`` also the points, which change often."""
        vehicle, node, around = self._vehicle, self._vehicle.node, self._vehicle.surroundings
        status, fault = vehicle.telemetry.status(), node.fault()
        contents: tuple[tuple[str, object, Callable[[], Mapping[str, object]]], ...] = (
            ("layout", vehicle.telemetry.version, vehicle.layout),
            ("parameters", node.described, lambda: {"table": node.table}),
            ("values", node.changed, lambda: {"values": node.values}),
            ("status", (status, fault), lambda: {**asdict(status), "parameters": fault}),
            ("world", around.polygons_version, lambda: {"polygons": around.polygons}),
            ("contacts", around.contacts_version, lambda: around.contacts),
            *([("points", around.points_version, lambda: around.points)] if quick else []),
        )
        for kind, version, content in contents:
            if self._sent.get(kind) != version:
                self._sent[kind] = version
                yield _message(kind, **content())

    async def _tell(self, kind: str, **content: object) -> None:
        with suppress(ConnectionError):  # a page that has gone
            await self.socket.send_str(_message(kind, **content))

    async def _in_graph(self, job: Callable[[], T]) -> T:
        """The result of a job that runs in the graph's thread."""
        return await asyncio.wrap_future(self._graph.submit(job))

    # ------------------------------------------------------------------ from the page

    async def _texts(self) -> AsyncIterator[str]:
        """The messages of the page, at a limited rate; pings count too."""
        async for message in self.socket:
            (begin, count), now = self._messages, monotonic()
            self._messages = (begin, count + 1) if now - begin < 1.0 else (now, 1)
            if self._messages[1] > MAX_MESSAGES:
                await self.close(WSCloseCode.POLICY_VIOLATION, f"more than {MAX_MESSAGES} messages in a second")
                return
            if message.type == WSMsgType.PING:
                with suppress(ConnectionError):
                    await self.socket.pong(message.data)
            elif message.type == WSMsgType.TEXT:
                yield message.data
            elif message.type == WSMsgType.BINARY:
                await self._tell("refused", reason="the message is bytes; it must be JSON text")

    async def _handle(self, text: str) -> None:
        try:
            message = read(text)
        except MessageError as error:
            await self._tell("refused", reason=str(error))
            return
        if message.kind == "seen":
            self._in_flight = max(0, self._in_flight - 1)
        elif message.kind == "drive":
            self._start(self._drive(**message.fields))
        elif len(self._tasks) < MAX_REQUESTS:
            self._start(self._request(message))
        else:
            await self._respond(message.fields["number"], f"{MAX_REQUESTS} requests wait for their responses already")

    def _start(self, work: Coroutine[object, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drive(self, *, time: float | None = None, **numbers: float) -> None:
        def drive() -> None:
            late = 0.0 if time is None else self._lateness.of(time, monotonic())
            self._vehicle.driver.drive(self, SteadyMotion(**numbers), late)

        try:
            await self._in_graph(drive)
        except VdsGzError as error:
            await self._tell("refused", reason=str(error))

    async def _request(self, message: PageMessage) -> None:
        """Send a request to the vehicle's node, and its result to the page."""
        loop = asyncio.get_running_loop()
        response: asyncio.Future[str] = loop.create_future()

        def settle(reason: str) -> None:
            if not response.done():
                response.set_result(reason)

        def done(reason: str) -> None:
            with suppress(RuntimeError):  # the server has ended, and its loop is closed
                loop.call_soon_threadsafe(settle, reason)

        try:
            await self._in_graph(lambda: _request(self._vehicle, message, done))
            reason = await asyncio.wait_for(response, RESPONSE_TIMEOUT)
        except asyncio.TimeoutError:
            reason = f"the vehicle's node has not responded within {RESPONSE_TIMEOUT:g} s"
        except VdsGzError as error:
            reason = str(error)
        await self._respond(message.fields["number"], reason)

    async def _respond(self, number: int, reason: str) -> None:
        await self._tell("response", number=number, reason=reason)


def _request(vehicle: WatchedVehicle, message: PageMessage, done: ResultCallback) -> None:
    fields = message.fields
    if message.kind == "set":
        vehicle.node.set_parameter(fields["name"], fields["value"], done)
    elif message.kind == "pause":
        vehicle.node.pause(fields["paused"], done)
    else:
        vehicle.node.reset(done)


def _message(kind: str, **content: object) -> str:
    return json.dumps({"kind": kind, **content}, allow_nan=False)


def _files() -> list[tuple[str, bytes, str]]:
    """Name, content and type of each file of the page, read once: no other file of this machine is served."""
    served = []
    for file in (files(__package__) / "static").iterdir():
        suffix = file.name[file.name.rfind(".") :]
        if suffix in _TYPES:
            served.append((file.name, file.read_bytes(), _TYPES[suffix]))
    return served


def _sender(content: bytes, kind: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def send(request: web.Request) -> web.StreamResponse:
        return web.Response(body=content, content_type=kind, charset="utf-8")

    return send


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)
