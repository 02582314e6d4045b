"""The server of the page: its files, and a socket per page that shows it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from importlib.resources import files
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from vds_gz.teleop.drive import Drive
from vds_gz.web.access import HEADERS, SOCKET, Access
from vds_gz.web.graph_thread import Link
from vds_gz.web.messages import LONGEST, Message, MessageError, Pause, Reset, Seen, SetParameter, read
from vds_gz.web.watched_vehicle import Vehicle

#: Frames per second.
RATE = 30.0
PERIOD = 1.0 / RATE

#: So many frames may be on their way to a page. One that draws slowly, or is hidden, gets fewer; none are queued.
ON_THEIR_WAY = 3

#: Pages that are shown at a time, messages per second from each, and requests of each that wait for their answers.
MOST_PAGES = 16
MOST_MESSAGES = 200
MOST_REQUESTS = 20

#: A request that the vehicle's node has not answered by then has failed [s].
ANSWERED_WITHIN = 5.0

#: A page has so long to close its socket when the server ends [s].
GOODBYE = 1.0

_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class Server:
    """Serves pages that show vehicles."""

    def __init__(self, link: Link, vehicles: Mapping[str, Vehicle], access: Access) -> None:
        """Make the application.

        Args:
            link: The graph's thread.
            vehicles: The vehicles by namespace.
            access: Who may see and use the page.
        """
        self._link = link
        self._vehicles = vehicles
        self._pages: set[Page] = set()
        self.application = web.Application(middlewares=[access.middleware])
        self.application.add_routes([web.get(SOCKET, self._serve_socket)])
        for name, content, kind in _files():
            path = "/" if name == "index.html" else f"/{name}"
            self.application.router.add_get(path, _sender(content, kind))
        self.application.on_response_prepare.append(_add_headers)
        self.application.on_shutdown.append(self._close_pages)

    async def _serve_socket(self, request: web.Request) -> web.StreamResponse:
        namespace = request.query.get("vehicle", next(iter(self._vehicles)))
        if namespace not in self._vehicles:
            raise web.HTTPNotFound(text=f"no vehicle '{namespace}'; there are {', '.join(self._vehicles)}")
        if len(self._pages) >= MOST_PAGES:
            raise web.HTTPServiceUnavailable(text=f"{MOST_PAGES} pages are shown already; close one of them")
        socket = web.WebSocketResponse(max_msg_size=LONGEST, heartbeat=10.0, timeout=GOODBYE, compress=False)
        await socket.prepare(request)
        page = Page(socket, self._link, self._vehicles[namespace], list(self._vehicles))
        self._pages.add(page)
        try:
            await page.run()
        finally:
            self._pages.discard(page)
        return socket

    async def _close_pages(self, application: web.Application) -> None:
        for page in list(self._pages):
            await page.socket.close(code=WSCloseCode.GOING_AWAY, message=b"the server ends")


class Page:
    """One page that is shown, behind its socket."""

    def __init__(self, socket: web.WebSocketResponse, link: Link, vehicle: Vehicle, vehicles: list[str]) -> None:
        self.socket = socket
        self._link = link
        self._vehicle = vehicle
        self._vehicles = vehicles
        self._on_their_way = 0
        self._sent_stamp = -1
        self._sent: dict[str, object] = {"layout": 0, "parameters": 0, "values": 0}  # nothing is known yet
        self._messages = (0.0, 0)
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve the page until it goes."""
        await self._tell("hello", vehicles=self._vehicles, vehicle=self._vehicle.namespace, rate=RATE)
        sending = asyncio.create_task(self._send())
        try:
            async for text in self._texts():
                await self._take(text)
        finally:
            self._link.submit(lambda: self._vehicle.driver.leave(self))
            for task in (sending, *self._tasks):
                task.cancel()

    # ------------------------------------------------------------------ to the page

    async def _send(self) -> None:
        """Send what is new, at a steady rate."""
        due = time.monotonic()
        try:
            while True:
                due = max(due + PERIOD, time.monotonic() - PERIOD)  # a little late is caught up with, not more
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                await self._send_news()
                await self._send_frame()
        except ConnectionError:
            return

    async def _send_frame(self) -> None:
        if self._on_their_way >= ON_THEIR_WAY:
            return
        frame = self._vehicle.telemetry.frame()
        if frame is not None and frame.stamp != self._sent_stamp:
            self._sent_stamp = frame.stamp
            self._on_their_way += 1
            await self.socket.send_bytes(frame.data)

    async def _send_news(self) -> None:
        """Send everything that changes seldom and has changed."""
        vehicle, node = self._vehicle, self._vehicle.node
        await self._tell_changed("layout", vehicle.telemetry.version, vehicle.layout)
        await self._tell_changed("parameters", node.described, lambda: {"table": node.table})
        await self._tell_changed("values", node.changed, lambda: {"values": node.values})
        status = vehicle.telemetry.status()
        state = (status, node.fault())
        await self._tell_changed("status", state, lambda: {**_status_dict(status), "parameters": state[1]})

    async def _tell_changed(self, kind: str, version: object, content: Callable[[], Mapping[str, Any]]) -> None:
        if self._sent.get(kind) != version:
            self._sent[kind] = version
            await self._tell(kind, **content())

    async def _tell(self, kind: str, **content: Any) -> None:
        await self.socket.send_str(json.dumps({"kind": kind, **content}, allow_nan=False))

    # ------------------------------------------------------------------ from the page

    async def _texts(self) -> AsyncIterator[str]:
        """The messages of the page, as long as they do not come too fast."""
        async for message in self.socket:
            if not self._in_time():
                text = f"more than {MOST_MESSAGES} messages in a second"
                await self.socket.close(code=WSCloseCode.POLICY_VIOLATION, message=text.encode())
                return
            if message.type == WSMsgType.TEXT:
                yield message.data
            elif message.type == WSMsgType.BINARY:
                await self._tell("refused", reason="the message is bytes; it must be JSON text")

    def _in_time(self) -> bool:
        begin, count = self._messages
        now = time.monotonic()
        self._messages = (begin, count + 1) if now - begin < 1.0 else (now, 1)
        return self._messages[1] <= MOST_MESSAGES

    async def _take(self, text: str) -> None:
        try:
            message = read(text)
        except MessageError as error:
            await self._tell("refused", reason=str(error))
            return
        if isinstance(message, Seen):
            self._on_their_way = max(0, self._on_their_way - 1)
        elif isinstance(message, Drive):
            self._start(self._drive(message))
        elif len(self._tasks) < MOST_REQUESTS:
            self._start(self._request(message))
        else:
            await self._answer(message.number, f"{MOST_REQUESTS} requests wait for their answers already")

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drive(self, drive: Drive) -> None:
        reason = await asyncio.wrap_future(self._link.submit(lambda: self._vehicle.driver.drive(self, drive)))
        if reason:
            await self._tell("refused", reason=reason)

    async def _request(self, message: SetParameter | Pause | Reset) -> None:
        """Ask the vehicle's node, and tell the page how it went."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str] = loop.create_future()

        def settle(reason: str) -> None:
            if not answer.done():
                answer.set_result(reason)

        def done(reason: str) -> None:
            loop.call_soon_threadsafe(settle, reason)

        try:
            await asyncio.wrap_future(self._link.submit(lambda: _ask(self._vehicle, message, done)))
            reason = await asyncio.wait_for(answer, ANSWERED_WITHIN)
        except asyncio.TimeoutError:
            reason = f"the vehicle's node has not answered within {ANSWERED_WITHIN:g} s"
        await self._answer(message.number, reason)

    async def _answer(self, number: int, reason: str) -> None:
        await self._tell("answer", number=number, reason=reason)


def _ask(vehicle: Vehicle, message: Message, done: Callable[[str], None]) -> None:
    if isinstance(message, SetParameter):
        vehicle.node.set_parameter(message.name, message.value, done)
    elif isinstance(message, Pause):
        vehicle.node.pause(message.paused, done)
    else:
        vehicle.node.reset(done)


def _status_dict(status: Any) -> dict[str, Any]:
    return {"alive": status.alive, "level": status.level, "text": status.text, "values": status.values}


def _files() -> list[tuple[str, bytes, str]]:
    """Name, content and type of each file of the page, read once: nothing else of this machine can be asked for."""
    found = []
    for file in (files(__package__) / "static").iterdir():
        suffix = file.name[file.name.rfind(".") :]
        if suffix in _TYPES:
            found.append((file.name, file.read_bytes(), _TYPES[suffix]))
    return found


def _sender(content: bytes, kind: str) -> Callable[[web.Request], Coroutine[Any, Any, web.StreamResponse]]:
    async def send(request: web.Request) -> web.StreamResponse:
        return web.Response(body=content, content_type=kind, charset="utf-8")

    return send


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)
