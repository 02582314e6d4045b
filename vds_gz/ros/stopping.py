"""How a program ends on a signal: the only place that handles signals.

A program makes its :class:`StopRequest` with :func:`on_signals` before it joins the graph, lets it end the program's
waits, and checks it after every wait. No wait should be longer than :data:`LONGEST_SLEEP`, because a signal that comes
just before a wait is only handled when that wait ends.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

#: Longest single wait, so that signals are handled soon [s].
LONGEST_SLEEP = 0.1

#: Signals of Ctrl-C, another process, and a closed terminal, as far as this system has them.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class StopRequest:
    """Whether a program has been asked to end.

    Attributes:
        requested: It has.
    """

    def __init__(self) -> None:
        self.requested = False
        self._wake: Callable[[], object] | None = None

    def wakes(self, wake: Callable[[], object]) -> None:
        """Call ``wake`` at every request, also in a signal's handler, so it must not wait for a lock of this thread."""
        self._wake = wake

    def request(self) -> None:
        """Let the program end. Safe to call from any thread and from a signal's handler."""
        self.requested = True
        if self._wake is not None:
            self._wake()


def on_signals() -> StopRequest:
    """A request that is made by the :data:`SIGNALS` from now on. Must be called in the main thread.

    Under ``nohup`` a program outlives its terminal, so that signal stays ignored.
    """
    stop = StopRequest()
    for number in SIGNALS:
        outlives = number == getattr(signal, "SIGHUP", None) and signal.getsignal(number) is signal.SIG_IGN
        if not outlives:
            signal.signal(number, lambda number, frame: stop.request())
    return stop


@contextmanager
def ends_at_once() -> Iterator[None]:
    """Let Ctrl-C end the program at once, without a traceback, while it imports.

    If Ctrl-C does not raise Python's :exc:`KeyboardInterrupt`, this changes nothing.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    with suppress(ValueError):  # in another thread than the main one
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        with suppress(ValueError):
            signal.signal(signal.SIGINT, signal.default_int_handler)
