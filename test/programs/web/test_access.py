"""Who may see and use the page: every refusal, over real sockets."""

from __future__ import annotations

import asyncio
import socket
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest
from helpers.pages import Look, Served
from helpers.processes import PATIENCE
from yarl import URL


def ask(served: Served, path: str = "/", method: str = "GET", **headers: str) -> tuple[int, str, Any]:
    """Status, text and headers of the response to a request."""

    async def asking() -> tuple[int, str, Any]:
        url = URL(f"http://127.0.0.1:{served.port}{path}", encoded=True)
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, url, headers=headers, allow_redirects=False) as response,
        ):
            return response.status, await response.text(), response.headers

    return asyncio.run(asking())


def refusal(served: Served, *, query: str = "", **headers: str) -> tuple[int, str]:
    """Status and text of the refusal of a socket."""
    return ask(served, f"/socket{query}", **{**UPGRADE, **headers})[:2]


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
}


def test_the_page_and_its_files_are_served_with_a_strict_policy(alone):
    for path, kind in (("/", "text/html"), ("/main.js", "text/javascript"), ("/style.css", "text/css")):
        status, text, headers = ask(alone, path)
        assert (status, headers["Content-Type"].split(";")[0]) == (200, kind)
        assert text
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
    assert "http:" not in ask(alone, "/")[1]
    assert "https:" not in ask(alone, "/")[1]


@pytest.mark.parametrize("path", ["/server.py", "/../view.py", "/%2e%2e/view.py", "/static/main.js", "/..%2fview.py"])
def test_nothing_but_the_page_is_served(alone, path):
    status, _, headers = ask(alone, path)
    assert status == 404
    assert "default-src 'none'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "127.0.0.1:8088", "LOCALHOST:1"])
def test_this_machine_is_a_fit_host(alone, host):
    assert ask(alone, Host=host)[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "192.168.1.5", "evil.example:80", "[", "0.0.0.0"]
)
def test_a_foreign_host_is_refused(alone, host):
    """An attacker's name that resolves to 127.0.0.1."""
    status, text, _ = ask(alone, Host=host)
    assert status == 403
    assert f"host '{host}' is refused; it must be localhost or 127.0.0.1" in text
    assert refusal(alone, Host=host, Origin=f"http://{host}")[0] == 403


@pytest.mark.parametrize("host", [b"\xff\xfe", "\u00e4.example".encode(), b"\xe4:80", b"a\x80b", b"[\xff]"])
@pytest.mark.parametrize("path", [b"/", b"/socket?vehicle=/\xff"])
def test_a_host_that_is_not_ascii_is_refused(alone, host, path):
    """Over a bare socket: no client library sends such a thing. Aiohttp itself may refuse the path."""
    answer = converse(alone, b"GET " + path + b" HTTP/1.1\r\nHost: " + host + b"\r\nOrigin: \xff\r\n\r\n")
    assert answer.split()[1] in (b"403", b"400")


def converse(served: Served, request: bytes) -> bytes:
    """The response to a request over a bare socket."""
    with socket.create_connection(("127.0.0.1", served.port), PATIENCE) as connection:
        connection.sendall(request)
        return connection.recv(65536)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost", "http://127.0.0.1:1", "file://"])
def test_a_foreign_origin_may_not_open_the_socket(alone, origin):
    status, text = refusal(alone, Origin=origin)
    assert status == 403
    assert text == f"origin '{origin}' is refused; it must be 'http://127.0.0.1:{alone.port}'"


def test_a_socket_without_an_origin_is_refused(alone):
    status, text = refusal(alone)
    assert status == 403
    assert "the header Origin is missing" in text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_only_get_is_served(alone, method):
    for path in ("/", "/socket", "/main.js"):
        status, text, _ = ask(alone, path, method, Origin="http://evil.example")
        assert status == 405
        assert "only GET is served" in text


def test_an_unknown_vehicle_is_named(alone):
    status, text = refusal(alone, query="?vehicle=/other", Origin=alone.origin)
    assert (status, text) == (404, "no vehicle '/other'; there are /")


@pytest.mark.parametrize(
    ("times", "send", "code"),
    [
        (1, lambda looker: looker.socket.send_str("x" * 20_000), aiohttp.WSCloseCode.MESSAGE_TOO_BIG),
        (1000, lambda looker: looker.socket.ping(), aiohttp.WSCloseCode.POLICY_VIOLATION),
        (1000, lambda looker: looker.say("seen"), aiohttp.WSCloseCode.POLICY_VIOLATION),
    ],
    ids=["a message too big", "a flood of pings", "a flood of messages"],
)
def test_what_no_page_sends_ends_the_socket(alone, times, send, code):
    async def shout() -> int:
        async with Look(alone) as looker:
            for _ in range(times):
                await send(looker)
            return await looker.closed()

    assert asyncio.run(shout()) == code


def test_a_ping_is_answered(alone):
    async def ping() -> None:
        session = aiohttp.ClientSession()
        async with (
            session,
            session.ws_connect(f"{alone.origin}/socket", headers={"Origin": alone.origin}, autoping=False) as page,
        ):
            await page.ping(b"here?")
            async for message in page:
                if message.type == aiohttp.WSMsgType.PONG:
                    assert message.data == b"here?"
                    return

    asyncio.run(asyncio.wait_for(ping(), PATIENCE))


def test_malformed_messages_are_refused_with_a_reason_and_the_socket_stays_open(alone):
    async def mumble() -> list[str]:
        async with Look(alone) as looker:
            await looker.socket.send_bytes(b"\x00")
            await looker.socket.send_str("{")
            await looker.socket.send_str('{"kind": "drive", "v_x": NaN}')
            await looker.drive(v_x=1e30)
            await looker.until(lambda: len(looker.refused) == 4, "four refusals")
            assert await looker.ask("reset")
            return looker.refused

    assert asyncio.run(mumble()) == [
        "the message is bytes; it must be JSON text",
        "the message is not JSON",
        "the message holds NaN; numbers must be finite",
        "v_x is 1e+30; it must be within +-1000",
    ]


def test_a_seventeenth_page_is_refused(view):
    served = view()  # its own: the pages of other tests may count for a moment after they were closed

    async def crowd() -> None:
        assert (await asyncio.to_thread(ask, served, "/socket"))[:2] == (200, "")
        async with AsyncExitStack() as pages:
            for _ in range(16):
                await pages.enter_async_context(Look(served))
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await pages.enter_async_context(Look(served))
            assert refused.value.status == 503
            reason = "16 pages are shown already; close one of them"
            assert (await asyncio.to_thread(ask, served, "/socket"))[:2] == (503, reason)

    asyncio.run(crowd())


def cookie_of(served: Served, token: str) -> str:
    status, _, headers = ask(served, f"/?token={token}")
    assert (status, headers["Location"]) == (303, "/")
    attributes = headers["Set-Cookie"].lower()
    assert "httponly" in attributes
    assert "samesite=strict" in attributes
    return headers["Set-Cookie"].split(";")[0]


def test_from_other_machines_nothing_is_seen_without_the_token(view, domain):
    served = view("--host", "0.0.0.0")
    token = served.url.partition("?token=")[2]
    assert len(token) >= 32
    for path in ("/", "/main.js", "/style.css", "/?token=", f"/?token={token[:-1]}", f"/main.js?token={token}"):
        status, text, _ = ask(served, path)
        assert status == 401, path
        assert "token" in text
        assert token not in text
    assert refusal(served, Origin=served.origin)[0] == 401
    assert ask(served, Cookie="vds_gz_00000000=x")[0] == 401

    cookie = cookie_of(served, token)
    assert ask(served, Cookie=cookie)[0] == 200
    assert ask(served, Cookie=cookie, Host=socket.gethostname())[0] == 200
    assert ask(served, Cookie=cookie, Host="192.168.7.7:8088")[0] == 200
    assert ask(served, Cookie=cookie, Host="evil.example")[0] == 403
    assert refusal(served, Cookie=cookie, Origin="http://evil.example")[0] == 403

    async def look() -> dict[str, Any]:
        async with Look(served, Cookie=cookie) as looker:
            return await looker.until(lambda: looker.newest.get("hello"))

    assert asyncio.run(look())["vehicles"] == ["/"]


def test_on_this_machine_a_token_may_be_required(view, domain):
    served = view("--token")
    assert ask(served)[0] == 401
    token = served.url.partition("?token=")[2]
    assert ask(served, Cookie=cookie_of(served, token))[0] == 200
    assert ask(served, f"/?vehicle=/blue&token={token}")[2]["Location"] == "/?vehicle=/blue"


def test_by_default_there_is_no_token_and_only_the_local_address_is_served(alone):
    assert alone.url == f"http://127.0.0.1:{alone.port}/"
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", alone.port), timeout=2.0)


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["--port", "70000"], 2, "argument --port: '70000' must be a whole number from 0 to 65535"),
        (["--namespace", "red"], 2, "'/red' would be right"),
        (["--node", "a b"], 2, "node name 'a b' (--node)"),
        (["--output", "hover"], 2, "invalid choice: 'hover'"),
        (["--host", "203.0.113.1"], 1, "view: cannot listen at 203.0.113.1, port 8088"),
    ],
)
def test_wrong_use_is_explained(run, arguments, code, reason):
    program = run("vds_gz.cli", "view", *arguments)
    program.process.wait(PATIENCE)
    assert program.stop() == code
    assert reason in program.output


def test_a_port_that_is_taken_is_named(run, alone):
    program = run("vds_gz.cli", "view", "--port", str(alone.port))
    program.process.wait(PATIENCE)
    assert program.stop() == 1
    assert f"port {alone.port}: Address already in use; --port 0 takes any free one" in program.output


@pytest.mark.parametrize(
    "text",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"GET http:// HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nName: " + b"x" * 9000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nCookie: \x01=;\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\n\r\n",
    ],
)
def test_a_request_that_is_no_http_is_answered_and_leaves_no_traceback(alone, text):
    with socket.create_connection(("127.0.0.1", alone.port), PATIENCE) as connection:
        connection.sendall(text)
        assert connection.recv(1000).startswith(b"HTTP/1.0 400 ")
    assert ask(alone)[0] == 200
    assert "Traceback" not in alone.program.output
