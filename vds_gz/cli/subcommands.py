"""``vds-gz``: selects and runs a subcommand.

A subcommand is a line in :data:`OWN`, or an entry point of a guest or of another package. Its module, imported when the
subcommand is called, has a function of ``argv`` that returns the exit code.
"""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from types import FunctionType
from typing import NamedTuple

import vds_gz
from vds_gz.cli import ends_at_once
from vds_gz.core.errors import ArgumentError
from vds_gz.core.ros.program_shell import WRONG_USE, CommandLine, ConsoleFunction, complain, nearest
from vds_gz.core.share import extensions, offered

#: Entry point group under which a guest or an installed package offers a subcommand.
ENTRY_POINTS = "vds_gz.subcommands"

#: Module, function and description of the subcommands here, by name.
OWN = {
    "run": ("vds_gz.cli.run", "main", "start a vehicle, drive it, record it and show its response"),
    "drive": ("vds_gz.cli.drive", "main", "send a command log to a vehicle"),
    "record": ("vds_gz.cli.record", "main", "record the topics of a running vehicle"),
    "replay": ("vds_gz.cli.replay", "main", "simulate a model with a command log, offline and fast"),
    "profile": ("vds_gz.cli.profile", "main", "make an informative command log for a vehicle"),
    "compare": ("vds_gz.cli.compare", "main", "compare two recordings or models"),
    "sweep": ("vds_gz.cli.sweep", "main", "run a vehicle many times with varied parameters"),
    "identify": ("vds_gz.cli.identify", "main", "identify a vehicle's parameters from recordings"),
    "node": ("vds_gz.programs.nodes.sim_node", "main", "the vehicle alone, as `ros2 run vds_gz sim_node`"),
    "keys": ("vds_gz.cli.keys", "main", "drive from the keyboard of this terminal"),
    "view": ("vds_gz.cli.view", "main", "show a running vehicle in the browser, and drive it from there"),
    "adopt": ("vds_gz.cli.adopt", "main", "put the actuators in front of a robot of Gazebo, from its own model"),
    "gazebo": ("vds_gz.cli.gazebo", "main", "start a Gazebo world, a vehicle in it and its node"),
    "model": ("vds_gz.cli.model", "main", "write a vehicle's URDF or SDF"),
    "world": ("vds_gz.cli.world", "main", "check a world, list its contents, and draw it from above"),
    "new": ("vds_gz.cli.new", "main", "print a commented parameter file to start from"),
    "check": ("vds_gz.cli.check", "main", "check parameter files"),
    "completion": ("vds_gz.cli.completion", "main", "print a script that completes commands in a shell"),
    "parameters": ("vds_gz.cli.check", "reference", "print the reference of all parameters"),
}

#: Module and function of programs that have a console script and are not listed as subcommands.
PROGRAMS = {"joystick_teleop": ("vds_gz.programs.nodes.joystick_teleop", "main")}


def main(argv: Sequence[str] | None = None) -> int:
    """Call a subcommand."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments:
        _parser().print_help(sys.stderr)
        return WRONG_USE
    name = arguments[0]
    try:
        known = subcommands()
        if name not in {*known, *PROGRAMS}:
            name = _parser().parse_args(arguments[:1]).command
            complain("vds-gz", f"there is no command '{name}'{nearest(name, known)} (see vds-gz --help)")
            return WRONG_USE
        with ends_at_once():
            program = known[name].load() if name in known else _function(*PROGRAMS[name])
        return int(program(arguments[1:]))
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "vds_gz":
            raise
        print(
            f"vds-gz {name}: needs the Python package '{error.name}'; pip install '.[all]' in a checkout",
            file=sys.stderr,
        )
        return 1
    except ArgumentError as error:  # an entry point that is wrong
        complain("vds-gz", str(error))
        return WRONG_USE
    except BrokenPipeError:  # as with `| head`; the rest of the output is dropped
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


class Subcommand(NamedTuple):
    """A subcommand: how its function is imported, and its description."""

    load: Callable[[], ConsoleFunction]
    own_words: str = ""

    @property
    def description(self) -> str:
        """What it does; of a guest's, the first line of its function's docstring."""
        if self.own_words:
            return self.own_words
        line = (self.load().__doc__ or "").partition("\n")[0]
        return line[:1].lower() + line[1:].rstrip(".")


def subcommands() -> dict[str, Subcommand]:
    """All subcommands by name.

    Raises:
        ArgumentError: An entry point has a name that is taken.
    """
    commands = {name: Subcommand(partial(_function, *place), words) for name, (*place, words) in OWN.items()}
    for entry in extensions(ENTRY_POINTS):
        if entry.name in {*commands, *PROGRAMS}:
            raise ArgumentError(
                f"entry point '{entry.name}' of {ENTRY_POINTS}: there is a command of this name already"
            )
        commands[entry.name] = Subcommand(partial(offered, entry, FunctionType))
    return commands


def _function(module: str, name: str) -> ConsoleFunction:
    function: ConsoleFunction = getattr(import_module(module), name)
    return function


def _parser() -> CommandLine:
    listed = subcommands()
    width = max(map(len, listed))
    commands = "\n".join(f"  {name:{width}}  {command.description}" for name, command in listed.items())
    parser = CommandLine(
        "vds-gz",
        usage="vds-gz COMMAND ...",
        description="Realistic actuation for wheeled robots in ROS 2.",
        epilog=f"commands:\n{commands}\n\n`vds-gz COMMAND --help` shows the options of each.",
    )
    parser.add_argument("--version", action="version", version=f"vds_gz {vds_gz.__version__}")
    parser.add_argument("command", metavar="COMMAND", help=SUPPRESS)
    return parser
