"""Receives the messages of an rclpy node at a fraction of an executor's cost.

An executor collects all entities of a node (services, timers, guard conditions, ...) again for every message, which
costs more than the message itself. Here a thread waits for the subscriptions only, with the wait set that
``rclpy.wait_for_message`` uses; the executor handles the rest, which is rarely used.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.context import Context
from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.subscription import Subscription

from vds_gz.core.ros.graph import Deliver

#: Longest single wait [ns].
LONGEST_WAIT = 1_000_000_000


class NotForExecutors(CallbackGroup):
    """A callback group that executors ignore."""

    def can_execute(self, entity: object) -> bool:
        """Return False, so that no executor runs it."""
        return False

    def beginning_execution(self, entity: object) -> bool:
        """Return False, so that no executor runs it."""
        return False

    def ending_execution(self, entity: object) -> None:
        """Do nothing."""


class Receiver:
    """A thread that waits for messages and hands them on."""

    def __init__(self, context: Context) -> None:
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

    def _wait_once(self, waiting: Any, entries: tuple[tuple[Subscription, Deliver], ...]) -> None:
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
