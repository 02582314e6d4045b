"""Progress of long work: a bar on the terminal, or lines if rich is not installed."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

#: Period of lines [s].
LINE_PERIOD = 5.0


class Advance(Protocol):
    """Reports progress."""

    def __call__(self, amount: float, note: str = "") -> None:
        """Report a further amount of work, in the unit of the total, and optionally what is being done."""


def ignore(amount: float, note: str = "") -> None:
    """Show nothing."""


@contextmanager
def progress(what: str, total: float | None) -> Iterator[Advance]:
    """Show the progress and the remaining time while the block runs.

    The bar is on standard error and disappears at the end. Without rich there is a line every few seconds instead; if
    standard error is not a terminal, nothing. The total amount of work is None if it is unknown.
    """
    if not sys.stderr.isatty():
        yield ignore
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
    except ModuleNotFoundError:
        yield _Lines(what, total)
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)

        def advance(amount: float, note: str = "") -> None:
            bar.update(task, advance=amount, description=f"{what}  {note}" if note else what)

        yield advance


class _Lines:
    """Prints a line now and then."""

    def __init__(self, what: str, total: float | None) -> None:
        self._what, self._total, self._done, self._next = what, total, 0.0, -math.inf

    def __call__(self, amount: float, note: str = "") -> None:
        self._done += amount
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_PERIOD
            part = f" {self._done / self._total:.0%}" if self._total else ""
            print(f"{self._what}{part}  {note}".rstrip(), file=sys.stderr, flush=True)
