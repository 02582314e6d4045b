"""Receives the messages of an rclpy node at a fraction of an executor's cost.

An executor collects all entities of a node (services, timers, guard conditions, ...) again for every message, which
costs more than the message itself. Here a thread waits for the subscriptions only, with the wait set that
``rclpy.wait_for_message`` uses; the executor handles the rest, which is rarely used.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from rclpy.callback_groups import CallbackGroup
from rclpy.context import Context
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.subscription import Subscription

from vds_gz.ros.graph import Message


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


#: Takes a message and its arrival (``time.monotonic_ns``).
Deliver = Callable[[Message, int], None]

#: Longest single wait [ns].
LONGEST_WAIT = 1_000_000_000


class NotForExecutors(CallbackGroup):
    """A callback group that executors ignore."""

    def can_execute(self, entity: Message) -> bool:
        """Never."""
        return False

    def beginning_execution(self, entity: Message) -> bool:
        """Never."""
        return False

    def ending_execution(self, entity: Message) -> None:
        """Nothing was begun."""


class Receiver:
    """A thread that waits for messages and hands them on."""

    def __init__(self, context: Context) -> None:
        """Start it."""
        self.group = NotForExecutors()
        self._context = context
        self._entries: tuple[tuple[Subscription, Deliver], ...] = ()
        self._closing = False
        self._wake = GuardCondition(None, None, context)
        self._thread = threading.Thread(target=self._run, name="receiver", daemon=True)
        self._thread.start()

    def add(self, subscription: Subscription, deliver: Deliver) -> None:
        """Wait for a further subscription."""
        self._entries = (*self._entries, (subscription, deliver))
        self._wake.trigger()

    def close(self) -> None:
        """Stop; after this the subscriptions may be destroyed."""
        self._closing = True
        self._wake.trigger()
        self._thread.join()
        self._wake.destroy()

    def _run(self) -> None:
        while not self._closing:
            entries = self._entries
            with self._context.handle:
                waiting = rclpy_implementation.WaitSet(len(entries), 1, 0, 0, 0, 0, self._context.handle)
                while entries is self._entries and not self._closing:
                    self._wait_once(waiting, entries)

    def _wait_once(self, waiting: Message, entries: tuple[tuple[Subscription, Deliver], ...]) -> None:
        waiting.clear_entities()
        for subscription, _ in entries:
            waiting.add_subscription(subscription.handle)
        waiting.add_guard_condition(self._wake.handle)
        waiting.wait(LONGEST_WAIT)
        arrival = time.monotonic_ns()
        ready = waiting.get_ready_entities("subscription")
        for subscription, deliver in entries:
            if subscription.handle.pointer in ready:
                taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
                if taken is not None:
                    deliver(taken[0], arrival)
