"""Idle connections, over real sockets."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from helpers.pages import Look
from helpers.processes import PATIENCE

from vds_gz.programs.web import access as connections
from vds_gz.programs.web.access import Connections

#: A request that never ends.
BEGUN = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


@asynccontextmanager
async def serving() -> AsyncIterator[int]:
    """A server in this process; its port."""
    ours = Connections()

    async def page(request: web.Request) -> web.Response:
        await asyncio.sleep(float(request.query.get("takes", "0")))
        return web.Response(text="here")

    application = web.Application(middlewares=[ours.middleware])
    application.router.add_get("/", page)
    runner = web.AppRunner(application)
    await runner.setup()
    listener = await ours.listen(runner, host="127.0.0.1", port=0)
    watching = asyncio.create_task(ours.watch())
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        watching.cancel()
        listener.close()
        await runner.cleanup()


async def begin(port: int, text: bytes = BEGUN) -> asyncio.StreamReader:
    """A connection that sends this."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text)
    await writer.drain()
    reader.keep = writer  # type: ignore[attr-defined]  # a writer that is forgotten closes the connection
    return reader


def run(test: object) -> None:
    asyncio.run(asyncio.wait_for(test, PATIENCE))  # type: ignore[arg-type]


@pytest.mark.parametrize("sent", [b"", BEGUN, BEGUN + b"\r\n" + BEGUN], ids=["nothing", "a part", "one and a part"])
def test_a_connection_whose_request_does_not_end_is_closed(monkeypatch, sent):
    monkeypatch.setattr(connections, "PATIENCE", 0.2)
    monkeypatch.setattr(connections, "PERIOD", 0.05)

    async def test() -> None:
        async with serving() as port:
            reader = await begin(port, sent)
            answer = await reader.read()  # to its end
            assert answer.count(b"here") == sent.count(b"\r\n\r\n")

    run(test())


def test_a_request_may_take_its_time_to_be_answered(monkeypatch):
    monkeypatch.setattr(connections, "PATIENCE", 0.1)
    monkeypatch.setattr(connections, "PERIOD", 0.02)

    async def test() -> None:
        async with serving() as port:
            reader = await begin(port, b"GET /?takes=0.5 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert b"here" in await reader.read()

    run(test())


def test_of_too_many_connections_the_one_that_has_waited_longest_is_closed(monkeypatch):
    monkeypatch.setattr(connections, "MOST", 20)

    async def test() -> None:
        async with serving() as port:
            waiting = [await begin(port) for _ in range(50)]
            answer = await begin(port, BEGUN + b"Connection: close\r\n\r\n")
            assert b"here" in await answer.read()  # a complete request finds room
            for reader in waiting[:31]:
                assert await reader.read() == b""
            assert not any(reader.at_eof() for reader in waiting[31:])

    run(test())


HOSTILE = """
import asyncio, sys, aiohttp
async def ping(origin):
    async with aiohttp.ClientSession() as session:
        while True:
            try:
                async with session.ws_connect(f"{origin}/socket", headers={"Origin": origin}) as page:
                    while not page.closed:
                        await page.ping()
            except (aiohttp.ClientError, OSError):
                await asyncio.sleep(0.01)
async def main():
    print("on", flush=True)
    await asyncio.gather(*(ping(sys.argv[1]) for _ in range(8)))
asyncio.run(main())
"""


def test_a_page_ends_without_a_traceback_under_a_hostile_load(start, view):
    """A page drives, and sockets flood the server with pings and break off."""
    start("-p", "model:=differential")
    served = view()
    hostile = subprocess.Popen([sys.executable, "-c", HOSTILE, served.origin], stdout=subprocess.PIPE)
    begun = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(20)]
    try:
        assert hostile.stdout is not None
        hostile.stdout.readline()

        async def look() -> int:
            async with Look(served) as looker:
                for _ in range(40):
                    await looker.drive(v_x=0.5)
                    await asyncio.sleep(0.05)
                return await asyncio.to_thread(served.program.stop)

        assert asyncio.run(look()) == 0
    finally:
        hostile.kill()
        hostile.wait()
        for connection in begun:
            connection.close()
    assert len(served.program.lines) == 1, served.program.output
