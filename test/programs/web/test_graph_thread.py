"""A graph in its own thread."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest
from helpers.processes import PATIENCE

from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.ros.program_shell import StopRequest
from vds_gz.programs.web.graph_thread import GraphEndedError, GraphThread


@pytest.fixture
def make_thread(domain: int) -> Iterator[Callable[..., GraphThread]]:
    made = []

    def make(
        due: Callable[[], None] = lambda: None, end: Callable[[], None] = lambda: None, stop: StopRequest | None = None
    ) -> GraphThread:
        made.append(GraphThread(open_graph(parse([], "threaded"), "threaded"), due, end, stop or StopRequest()))
        return made[-1]

    yield make
    for thread in made:
        thread.close()


def test_jobs_are_done_in_the_thread_of_the_graph_and_their_errors_come_back(make_thread):
    thread = make_thread()
    assert thread.submit(lambda: threading.current_thread().name).result(PATIENCE) == "graph"
    with pytest.raises(ZeroDivisionError):
        thread.submit(lambda: 1 // 0).result(PATIENCE)
    assert thread.submit(lambda: 1).result(PATIENCE) == 1


def test_due_is_called_repeatedly_and_end_once(make_thread):
    calls: list[Any] = []
    thread = make_thread(lambda: calls.append("due"), lambda: calls.append("end"))
    end = time.monotonic() + PATIENCE
    while calls.count("due") < 3:
        assert time.monotonic() < end, "nothing is done again"
        time.sleep(0.01)
    thread.close()
    assert calls[-1] == "end"
    assert calls.count("end") == 1


def test_a_graph_that_fails_asks_the_program_to_end(make_thread, capsys):
    stop, asked, ended = StopRequest(), threading.Event(), threading.Event()
    stop.wakes(asked.set)
    thread = make_thread(lambda: 1 // 0, ended.set, stop)
    assert asked.wait(PATIENCE)
    assert ended.is_set()
    assert thread.failed
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_graph_of_which_even_the_end_fails_asks_the_program_to_end(make_thread):
    stop, asked = StopRequest(), threading.Event()
    stop.wakes(asked.set)
    thread = make_thread(end=lambda: 1 // 0, stop=stop)
    thread.close()
    assert asked.is_set()
    assert thread.failed


FAILING = """
import sys
from vds_gz.cli.view import main
from vds_gz.programs.web.watched_vehicle import WatchedVehicle

WatchedVehicle.tick = lambda vehicle: 1 // 0
sys.exit(main(["--port", "0"]))
"""


def test_a_page_whose_graph_fails_ends(domain):
    done = subprocess.run([sys.executable, "-c", FAILING], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr


def test_a_graph_that_fails_is_left_even_where_a_job_was_given_up(make_thread):
    threads: list[GraphThread] = []
    jobs: list[Future[int]] = []

    def due() -> None:
        if threads:
            jobs.extend(threads[0].submit(lambda: 1) for _ in range(2))
            jobs[0].cancel()
            raise ZeroDivisionError

    stop, asked = StopRequest(), threading.Event()
    stop.wakes(asked.set)
    threads.append(make_thread(due, stop=stop))
    assert asked.wait(PATIENCE)
    with pytest.raises(GraphEndedError):
        jobs[1].result(PATIENCE)
