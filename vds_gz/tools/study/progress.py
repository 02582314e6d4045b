"""Progress of long work: a bar on the terminal, or lines if rich is not installed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

#: Period of lines on a terminal, and in a log [s].
LINE_PERIOD, LOG_PERIOD = 5.0, 30.0


class Advance(Protocol):
    """Reports progress."""

    def __call__(self, amount: float, detail: str = "") -> None:
        """Report a further amount of work, in the unit of the total, and optionally what is being done."""


def ignore(amount: float, detail: str = "") -> None:
    """Show nothing."""


@contextmanager
def progress(what: str, total: float | None) -> Iterator[Advance]:
    """Show the progress and the remaining time while the block runs.

    The bar is on standard error and disappears at the end. Without rich there is a line every few seconds instead; if
    standard error is not a terminal but a file or a pipe, a line every half minute. The total amount of work is None if
    it is unknown, which only a terminal shows.
    """
    if not sys.stderr.isatty():
        yield ignore if total is None or not _is_file(sys.stderr) else _Lines(what, total, LOG_PERIOD, LOG_PERIOD)
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
    except ModuleNotFoundError:
        yield _Lines(what, total, LINE_PERIOD)
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)

        def advance(amount: float, detail: str = "") -> None:
            bar.update(task, advance=amount, description=f"{what}  {detail}" if detail else what)

        yield advance


def _is_file(stream: TextIO) -> bool:
    """Whether a stream is a file or a pipe, not a text in memory."""
    try:
        stream.fileno()
    except (AttributeError, OSError):
        return False
    return True


class _Lines:
    """Prints a line now and then."""

    def __init__(self, what: str, total: float | None, period: float, first: float = 0.0) -> None:
        self._what, self._total, self._done, self._period = what, total, 0.0, period
        self._next = time.monotonic() + first

    def __call__(self, amount: float, detail: str = "") -> None:
        self._done += amount
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._period
            part = f" {self._done / self._total:.0%}" if self._total else ""
            print(f"{self._what}{part}  {detail}".rstrip(), file=sys.stderr, flush=True)
