"""A graph in its own thread, for a program whose main thread does something else."""

from __future__ import annotations

import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from vds_gz.core.errors import VdsGzError
from vds_gz.core.ros.graph import Graph
from vds_gz.core.ros.program_shell import StopRequest

T = TypeVar("T")

#: Maximum time between two calls of ``due`` [s].
LONGEST_WAIT = 0.05


class GraphEndedError(VdsGzError, RuntimeError):
    """The graph's thread has ended and takes no more jobs."""


class GraphThread:
    """Runs a graph; all access to the graph must go through :meth:`submit`."""

    def __init__(self, graph: Graph, due: Callable[[], None], end: Callable[[], None], stop: StopRequest) -> None:
        self._graph = graph
        self._due = due
        self._end = end
        self._stop = stop
        self._jobs: deque[tuple[Callable[[], object], Future[object]]] = deque()
        self._closing = False
        self._open = True
        self._opening = threading.Lock()  # no one may wake a graph that is being closed
        self.failed = False
        self._thread = threading.Thread(target=self._run, name="graph", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Run a job in the graph's thread soon. Safe to call from any thread, at any time."""
        future: Future[T] = Future()
        with self._opening:
            if self._open:
                self._jobs.append((job, future))  # type: ignore[arg-type]  # a future of anything is not one of ``object``
                self._graph.wake()
            else:
                future.set_exception(GraphEndedError("the graph's thread has ended"))
        return future

    def close(self) -> None:
        """Leave the graph."""
        self._closing = True
        with self._opening:
            if self._open:
                self._graph.wake()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._closing:
                self._graph.wait(LONGEST_WAIT)
                self._do_jobs()
                self._due()
            self._do_jobs()
            self._end()
        except Exception:
            traceback.print_exc()
            self.failed = True
            with suppress(Exception):  # the graph may be what has failed
                self._end()
            self._stop.request()
        finally:
            with self._opening:
                self._open = False
            for _, future in self._waiting():
                if future.set_running_or_notify_cancel():  # a page that has gone cancels its jobs
                    future.set_exception(GraphEndedError("the graph's thread has ended"))
            self._graph.close()

    def _do_jobs(self) -> None:
        for job, future in self._waiting():
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(job())
                except Exception as error:
                    future.set_exception(error)

    def _waiting(self) -> Iterator[tuple[Callable[[], object], Future[object]]]:
        """The jobs that have been submitted by now; later ones wait, so they do not delay ``due``."""
        for _ in range(len(self._jobs)):
            yield self._jobs.popleft()
