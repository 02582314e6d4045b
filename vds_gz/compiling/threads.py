"""How many threads compiled code uses."""

from __future__ import annotations

import numba


def use_one_thread() -> None:
    """Let what this thread calls from now on start no other threads: whoever calls it has its own processes."""
    numba.set_num_threads(1)
