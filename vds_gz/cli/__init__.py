"""``vds-gz``: one file for each command. :mod:`vds_gz.cli.subcommands` selects it.

The functions here are the console scripts. They first let Ctrl-C end the program without a traceback, then import the
rest.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module

__all__ = ["joystick_teleop", "main", "sim_node"]


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


def main(argv: Sequence[str] | None = None) -> int:
    """``vds-gz``, by default with ``sys.argv``; return the exit code."""
    # Matrices are small here. Threads of a BLAS wait for each other in loops, on a busy machine most of the time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        with ends_at_once():
            program = import_module("vds_gz.cli.subcommands")
        return int(program.main(argv))
    except KeyboardInterrupt:
        return 130


def sim_node() -> int:
    """``ros2 run vds_gz sim_node``; return the exit code."""
    return main(["node", *sys.argv[1:]])


def joystick_teleop() -> int:
    """``ros2 run vds_gz joystick_teleop``; return the exit code."""
    return main(["joystick_teleop", *sys.argv[1:]])
