"""Vehicles shared among threads: compiled programs do not need Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise

import numba

#: Steps of a vehicle that take longer than to wake a thread.
WORTH_A_THREAD = 6_400


def share(run: Callable[[int, int], None], items: int, steps: int) -> None:
    """Do a range of items in parts, on all threads that numba may use and that are worth it.

    Args:
        run: Does those from the first argument up to the one before the second.
        items: How many there are.
        steps: Steps of vehicles that all take together.
    """
    threads = max(1, min(numba.get_num_threads(), items, steps // WORTH_A_THREAD))
    cuts = [items * k // threads for k in range(threads + 1)]
    first, *others = pairwise(cuts)
    waiting = [_pool(os.getpid()).submit(run, *part) for part in others]
    try:
        run(*first)
    finally:  # none may go on with arrays that the caller takes for its own again
        wait(waiting)
    for one in waiting:
        one.result()


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of all fleets of a process; one that was forked has none of its parent's."""
    return ThreadPoolExecutor(numba.config.NUMBA_NUM_THREADS)
