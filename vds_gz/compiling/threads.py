"""How many threads compiled code uses."""

from __future__ import annotations

import numba


def use_one_thread() -> None:
    """Let nothing that this thread calls start other threads, as its process is one of several."""
    numba.set_num_threads(1)
