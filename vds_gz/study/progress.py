"""A bar on the terminal for work that takes long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Says that so much more is done.
Advance = Callable[[float], None]


@contextmanager
def progress(what: str, total: float | None) -> Iterator[Advance]:
    """Show how far a piece of work is while the block runs, and how long it will still take.

    The bar stands on standard error and is gone when the work is done. Where standard error is no terminal, or rich is
    not installed, nothing is shown.

    Args:
        what: What is being done, such as ``identifying``.
        total: How much there is to do, in any unit; None where nobody knows.

    Yields:
        A function to call with how much was done since the last call, in the same unit.
    """
    if not sys.stderr.isatty():
        yield _nothing
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
    except ModuleNotFoundError:
        yield _nothing
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda amount: bar.advance(task, amount)


def _nothing(amount: float) -> None:
    """Show nothing."""
