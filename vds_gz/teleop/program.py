"""What the programs for driving have in common."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

#: Longest sleep, so that a signal is never kept waiting [s].
LONGEST_SLEEP = 0.1


def on_signals(stop: Callable[[], None]) -> None:
    """Call ``stop`` when the program is told to end, by Ctrl-C, by another process or by its terminal being closed."""

    def handle(number: int, frame: FrameType | None) -> None:
        stop()

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), handle)
