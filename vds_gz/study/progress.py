"""How far a piece of work is that takes long: a bar on the terminal, or lines where rich is not installed."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

#: Between two lines [s].
LINE_PERIOD = 5.0


class Advance(Protocol):
    """Says that so much more is done, in any unit, and what is being done, if that is worth a word."""

    def __call__(self, amount: float, note: str = "") -> None:
        """So much more is done."""


def ignore(amount: float, note: str = "") -> None:
    """Show nothing."""


@contextmanager
def progress(what: str, total: float | None) -> Iterator[Advance]:
    """Show how far a piece of work is while the block runs, and how long it will still take.

    The bar stands on standard error and is gone when the work is done. Where rich is not installed there is a line
    every few seconds instead; where standard error is no terminal, nothing.

    Args:
        what: What is being done, such as ``identifying``.
        total: How much there is to do, in any unit; None if unknown.

    Yields:
        A function to call with how much was done since the last call, in the same unit.
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
    """A line now and then."""

    def __init__(self, what: str, total: float | None) -> None:
        self._what, self._total, self._done, self._next = what, total, 0.0, -math.inf

    def __call__(self, amount: float, note: str = "") -> None:
        self._done += amount
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_PERIOD
            part = f" {self._done / self._total:.0%}" if self._total else ""
            print(f"{self._what}{part}  {note}".rstrip(), file=sys.stderr, flush=True)
