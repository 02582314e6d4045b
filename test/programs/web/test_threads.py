"""Only the graph's thread touches the graph, whatever the pages do and whenever it ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import aiohttp
import pytest
from aiohttp.test_utils import TestServer
from helpers.pages import Look, Looker
from helpers.processes import PATIENCE

from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.graph import QoS
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.ros.program_shell import StopRequest
from vds_gz.programs.web.access import Access
from vds_gz.programs.web.deadman import DeadMansSwitch
from vds_gz.programs.web.graph_thread import GraphEndedError, GraphThread
from vds_gz.programs.web.page_server import PageServer
from vds_gz.programs.web.watched_vehicle import AUTO, WatchedVehicle

ANY_THREAD = {"wake"}


class Observed:
    """A graph or an object that it has made; records the threads that call its methods, and calls after its end."""

    def __init__(self, inner: Any, calls: set[tuple[str, str]], late: list[str], open_: list[bool]) -> None:
        self.inner, self.calls, self.late, self.open = inner, calls, late, open_

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.inner, name)
        if not callable(attribute):
            return attribute

        def call(*arguments: Any) -> Any:
            self.calls.add((name, threading.current_thread().name))
            if not self.open[0]:
                self.late.append(name)
            if name == "close":
                self.open[0] = False
            result = attribute(*arguments)
            makes = name in ("client", "publisher", "subscribe")
            return Observed(result, self.calls, self.late, self.open) if makes else result

        return call


class Watched:
    """A server over a graph that is observed."""

    def __init__(self) -> None:
        self.graph = Observed(open_graph(parse([], "watching"), "watching"), set(), [], [True])
        self.vehicle = WatchedVehicle(self.graph, "/", "sim_node", AUTO)  # type: ignore[arg-type]
        self.graph.calls.clear()  # it was made by this thread, before the other one began
        self.thread = GraphThread(self.graph, self.vehicle.tick, self.vehicle.driver.end, StopRequest())  # type: ignore[arg-type]

    def look(self, act: Callable[[Looker], Any]) -> None:
        async def run() -> None:
            application = PageServer(self.thread, {"/": self.vehicle}, Access("127.0.0.1")).application
            async with TestServer(application) as served:
                served.origin = f"http://127.0.0.1:{served.port}"  # type: ignore[attr-defined]
                async with Look(served) as looker:  # type: ignore[arg-type]
                    await act(looker)

        asyncio.run(run())


@pytest.fixture
def watched(domain):
    server = Watched()
    yield server
    server.thread.close()


def test_pages_never_touch_the_graph_from_their_own_thread(watched):
    async def act(looker: Looker) -> None:
        await looker.until(lambda: "status" in looker.newest, "a status")
        await looker.drive(v_x=1.0)
        await looker.ask("pause", paused=True)
        await asyncio.sleep(0.3)

    watched.look(act)
    assert ("wait", "graph") in watched.graph.calls
    assert ("ready", "graph") in watched.graph.calls
    assert {(name, thread) for name, thread in watched.graph.calls if thread != "graph"} <= {("wake", "MainThread")}


def test_pages_outlive_the_graph(watched):
    async def act(looker: Looker) -> None:
        await looker.until(lambda: "status" in looker.newest, "a status")
        await asyncio.to_thread(watched.thread.close)
        with suppress(aiohttp.ClientError):
            assert await looker.ask("pause", paused=True) == "the graph's thread has ended"
            await looker.drive(v_x=1.0)
            await looker.until(lambda: looker.refused, "a refusal")
        await asyncio.sleep(0.2)

    watched.look(act)
    with pytest.raises(GraphEndedError):
        watched.thread.submit(lambda: 1).result(PATIENCE)
    assert watched.graph.late == []


def test_a_page_learns_that_its_type_of_commands_is_not_installed(watched):
    graph = watched.graph
    watched.vehicle.driver = DeadMansSwitch(lambda: graph.publisher("cmd", "no_such_msgs/msg/Command", QoS()))

    async def act(looker: Looker) -> None:
        await looker.drive(v_x=1.0)
        await looker.until(lambda: looker.refused, "a refusal")
        assert "no_such_msgs" in looker.refused[0]

    watched.look(act)


def test_a_response_after_the_server_has_ended_does_no_harm(watched, probe):
    begun = threading.Event()
    probe.graph.service("/sim_node/reset", "std_srvs/srv/Trigger", lambda request, response: begun.set())

    async def act(looker: Looker) -> None:
        with suppress(asyncio.TimeoutError):  # it has been sent
            while "no one offers" in await asyncio.wait_for(looker.ask("reset"), 0.5):
                await asyncio.sleep(0.05)

    watched.look(act)
    probe.until(begun.is_set, "the request")
    probe.serve(0.3)
    assert watched.thread.submit(lambda: 1).result(PATIENCE) == 1


def test_a_job_that_is_not_done_before_the_thread_ends_has_an_error(watched):
    begun = threading.Event()
    watched.thread.submit(lambda: begun.wait(PATIENCE))
    jobs = [watched.thread.submit(lambda: 1) for _ in range(50)]
    begun.set()
    watched.thread.close()
    assert all(job.exception(PATIENCE) is None or isinstance(job.exception(), GraphEndedError) for job in jobs)
