"""A page that is served, and someone who looks at it without a browser."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import aiohttp
import numpy as np

from helpers.processes import PATIENCE, Program


class Served:
    """``vds-gz view`` in its own process.

    Attributes:
        url: The address that it prints.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        end = time.monotonic() + PATIENCE
        while "\n" not in program.output and program.process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        assert "the page is at " in program.output, program.output
        self.url = program.output.partition("the page is at ")[2].split()[0]
        self.port = int(self.url.rpartition(":")[2].partition("/")[0])
        self.origin = f"http://127.0.0.1:{self.port}"


class Looker:
    """What a page does, without a browser.

    Attributes:
        frames: The numbers of the frames that came, in order.
        newest: The newest message of each kind.
        refused: Why messages were refused.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, seeing: bool) -> None:
        self.socket = socket
        self.seeing = seeing
        self.frames: list[Any] = []
        self.newest: dict[str, Any] = {}
        self.refused: list[str] = []
        self._responses: dict[int, str] = {}
        self._number = 0
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self.socket:
            if message.type == aiohttp.WSMsgType.BINARY:
                self.frames.append(np.frombuffer(message.data, "<f8"))
                if self.seeing:
                    await self.say("seen")
            else:
                content = json.loads(message.data, parse_constant=_no_json)
                if content["kind"] == "response":
                    self._responses[content["number"]] = content["reason"]
                elif content["kind"] == "refused":
                    self.refused.append(content["reason"])
                else:
                    self.newest[content["kind"]] = content

    async def say(self, kind: str, **content: Any) -> None:
        await self.socket.send_str(json.dumps({"kind": kind, **content}))

    async def drive(
        self,
        v_x: float = 0.0,
        yaw_rate: float = 0.0,
        steering_angle: float = 0.0,
        age: float = 0.0,
        v_y: float = 0.0,
    ) -> None:
        sent = time.monotonic() - age
        await self.say("drive", v_x=v_x, v_y=v_y, yaw_rate=yaw_rate, steering_angle=steering_angle, time=sent)

    async def ask(self, kind: str, **content: Any) -> str:
        """Ask for something; why it failed, empty if it did not."""
        self._number += 1
        number = self._number
        await self.say(kind, number=number, **content)
        await self.until(lambda: number in self._responses, f"the response to {kind}")
        return self._responses[number]

    async def until(self, condition: Callable[[], Any], what: str = "the condition") -> Any:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if result := condition():
                return result
            await asyncio.sleep(0.01)
        raise AssertionError(f"{what} did not come about; newest: {self.newest}, refused: {self.refused}")

    async def closed(self) -> int:
        """The code with which the server closes the socket."""
        await asyncio.wait_for(self._reading, PATIENCE)
        assert self.socket.close_code is not None
        return self.socket.close_code


def _no_json(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON, and no browser reads it")


class Look:
    """Opens the socket of a page: ``async with look(served) as looker``."""

    def __init__(self, served: Served, *, seeing: bool = True, query: str = "", **headers: str) -> None:
        self._url = f"{served.origin}/socket{query}"
        self._headers = {"Origin": served.origin, **headers}
        self._seeing = seeing

    async def __aenter__(self) -> Looker:
        self._session = aiohttp.ClientSession()
        try:
            return Looker(await self._session.ws_connect(self._url, headers=self._headers), self._seeing)
        except BaseException:
            await self._session.close()
            raise

    async def __aexit__(self, *error: object) -> None:
        await self._session.close()
