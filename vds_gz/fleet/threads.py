"""Shares vehicles among threads: compiled programs do not need Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise

import numba

#: Number of vehicle steps that take longer than waking a thread.
WORTH_A_THREAD = 6_400


def share(run: Callable[[int, int], None], items: int, steps: int) -> None:
    """Process a range of items in parts, on as many of numba's threads as are useful.

    Args:
        run: Processes the items from its first argument up to the one before its second.
        items: Number of items.
        steps: Number of vehicle steps of all items together.
    """
    threads = max(1, min(numba.get_num_threads(), items, steps // WORTH_A_THREAD))
    cuts = [items * k // threads for k in range(threads + 1)]
    first, *others = pairwise(cuts)
    waiting = [_pool(os.getpid()).submit(run, *part) for part in others]
    try:
        run(*first)
    finally:  # no thread may use the arrays after the return
        wait(waiting)
    for one in waiting:
        one.result()


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of all fleets of a process; a forked process makes new ones."""
    return ThreadPoolExecutor(numba.config.NUMBA_NUM_THREADS)
