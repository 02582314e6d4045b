"""Work that threads and handlers of signals leave for the thread that waits for it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Lock


class WorkQueue:
    """Functions that the thread that runs the queue calls in their order.

    ``queue.SimpleQueue`` is not used because in CPython 3.10 to 3.12 its ``get(timeout=...)`` hangs if a signal comes
    as the timeout ends. A timed wait for a lock does not. The lock is an event: it is free when there is work.
    """

    def __init__(self) -> None:
        self._work: deque[Callable[[], object]] = deque()
        self._come = Lock()
        self._come.acquire()

    def put(self, work: Callable[[], object]) -> None:
        """Add a function. Safe to call from any thread and from a signal's handler."""
        self._work.append(work)
        with suppress(RuntimeError):  # free already
            self._come.release()

    def run(self, timeout: float) -> None:
        """Call all waiting functions; if there are none, wait at most so many seconds for one."""
        end = time.monotonic() + timeout
        while not self._work and (left := end - time.monotonic()) > 0.0:
            self._come.acquire(timeout=left)
        for _ in range(len(self._work)):  # later ones wait, so that a flood of messages cannot keep this from returning
            self._work.popleft()()
