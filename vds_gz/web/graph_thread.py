"""A graph in a thread of its own, for a program whose own thread does something else."""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TypeVar

from vds_gz.ros.graph import Graph

Result = TypeVar("Result")

#: What is due is looked at so often at least [s].
LONGEST_WAIT = 0.05


class Link:
    """Lets a graph work; everything that touches the graph must go through :meth:`submit`.

    Attributes:
        failed: The thread has ended by an error; it has asked the process to end, too.
    """

    def __init__(self, graph: Graph, due: Callable[[], None], end: Callable[[], None]) -> None:
        """Start the thread.

        Args:
            graph: The graph; nobody else may use it from now on.
            due: Called in the thread after every wait.
            end: Called in the thread before the graph is closed.
        """
        self._graph = graph
        self._due = due
        self._end = end
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._closing = False
        self.failed = False
        self._thread = threading.Thread(target=self._run, name="graph", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], Result]) -> Future[Result]:
        """Let the graph's thread do something soon. Safe to call from any thread."""
        future: Future[Result] = Future()

        def work() -> None:
            try:
                future.set_result(job())
            except Exception as error:
                future.set_exception(error)

        self._jobs.put(work)
        self._graph.wake()
        return future

    def close(self) -> None:
        """Leave the graph."""
        self._closing = True
        self._graph.wake()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._closing:
                self._graph.wait(LONGEST_WAIT)
                self._do_jobs()
                self._due()
            self._end()
        except Exception:  # a program whose graph is dead must not seem to live
            traceback.print_exc()
            self.failed = True
            signal.raise_signal(signal.SIGTERM)
        finally:
            self._graph.close()

    def _do_jobs(self) -> None:
        try:
            while True:
                self._jobs.get_nowait()()
        except Empty:
            return
