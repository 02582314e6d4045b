"""Work that several threads, and handlers of signals, leave for one thread that waits for it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Lock


class WorkQueue:
    """Functions that are called in the order in which they came, by the thread that runs the queue.

    ``queue.SimpleQueue`` would be the obvious choice, but its ``get(timeout=...)`` in CPython 3.10 to 3.12 waits for
    ever when a signal comes as the timeout ends. The timed wait for a lock has no such defect; the lock here is an
    event: free when something has come.
    """

    def __init__(self) -> None:
        self._work: deque[Callable[[], object]] = deque()
        self._come = Lock()
        self._come.acquire()

    def put(self, work: Callable[[], object]) -> None:
        """Leave something to be done. Safe to call from any thread and from a signal's handler."""
        self._work.append(work)
        with suppress(RuntimeError):  # free already
            self._come.release()

    def run(self, timeout: float) -> None:
        """Do what has come; if nothing has, wait so many seconds for the first."""
        end = time.monotonic() + timeout
        while not self._work and (left := end - time.monotonic()) > 0.0:
            self._come.acquire(timeout=left)
        for _ in range(len(self._work)):  # what comes meanwhile waits, so that a flood of messages leaves a way out
            self._work.popleft()()
