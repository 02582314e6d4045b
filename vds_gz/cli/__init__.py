"""``vds-gz``: one file a command. :mod:`vds_gz.cli.program` chooses among them.

The functions here are the console scripts. They import nothing before Ctrl-C ends the program without a traceback.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from vds_gz.ros.programs import ends_at_once

__all__ = ["joystick_teleop", "main", "sim_node"]


def main(argv: Sequence[str] | None = None) -> int:
    """``vds-gz``, with ``sys.argv`` where no command line is given; the exit code."""
    with ends_at_once():
        program = import_module("vds_gz.cli.program")
    return int(program.main(argv))


def sim_node() -> int:
    """``ros2 run vds_gz sim_node``; the exit code."""
    return main(["node", *sys.argv[1:]])


def joystick_teleop() -> int:
    """``ros2 run vds_gz joystick_teleop``; the exit code."""
    return main(["joystick_teleop", *sys.argv[1:]])
