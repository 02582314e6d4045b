"""How a program ends on a signal: the one place where signals are taken.

A program makes its :class:`StopRequest` with :func:`on_signals` before it joins the graph, lets it wake whatever the
program waits in, and looks at it after every wait. No wait needs to be longer than :data:`LONGEST_SLEEP`: a signal that
comes just before a wait begins is only handled when that wait ends.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

#: Longest wait in one piece, so that a signal is never kept waiting [s].
LONGEST_SLEEP = 0.1

#: Ctrl-C, another process, and a terminal that is closed, as far as this system knows them.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class StopRequest:
    """Whether a program is to end.

    Attributes:
        requested: It has.
    """

    def __init__(self) -> None:
        self.requested = False
        self._wake: Callable[[], object] | None = None

    def wakes(self, wake: Callable[[], object]) -> None:
        """Call ``wake`` with every request, in a signal's handler too: it must not wait for a lock that is ours."""
        self._wake = wake

    def request(self) -> None:
        """Let the program end. Safe to call from any thread and from a signal's handler."""
        self.requested = True
        if self._wake is not None:
            self._wake()


def on_signals() -> StopRequest:
    """A request that the signals of :data:`SIGNALS` make from now on. To be called in the main thread.

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
    """Let Ctrl-C end the program as the system does it, without a traceback: while it imports, nothing needs an end.

    Where Ctrl-C means something else than Python's :exc:`KeyboardInterrupt`, that stays.
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
