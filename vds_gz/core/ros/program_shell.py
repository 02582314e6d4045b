"""Common parts of all programs: command line, exit code, end on a signal.

A program makes its :class:`StopRequest` with :func:`on_signals` before it joins the graph, lets it end the program's
waits, and checks it after every wait. No wait should be longer than :data:`LONGEST_SLEEP`, because a signal that comes
just before a wait is only handled when that wait ends.
"""

from __future__ import annotations

import argparse
import difflib
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import wraps
from threading import Lock
from typing import NoReturn, Protocol

from vds_gz.core.errors import FailureError, VdsGzError

#: Longest single wait, so that signals are handled soon [s].
LONGEST_SLEEP = 0.1

#: Signals of Ctrl-C, another process, and a closed terminal, as far as this system has them.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class StopRequest:
    """A request to end the program; ``requested`` is true once it was made."""

    def __init__(self) -> None:
        self.requested = False
        self._wake: Callable[[], object] | None = None

    def wakes(self, wake: Callable[[], object]) -> None:
        """Call ``wake`` at every request, also in a signal handler, so it must not wait for a lock of this thread."""
        self._wake = wake

    def request(self) -> None:
        """Ask the program to end. Safe to call from any thread and from a signal handler."""
        self.requested = True
        if self._wake is not None:
            self._wake()


def on_signals() -> StopRequest:
    """A request that each of the :data:`SIGNALS` makes from now on. Must be called in the main thread.

    SIGHUP stays ignored if it was, so that a program under ``nohup`` outlives its terminal.
    """
    stop = StopRequest()
    for number in SIGNALS:
        ignored = number == getattr(signal, "SIGHUP", None) and signal.getsignal(number) is signal.SIG_IGN
        if not ignored:
            signal.signal(number, lambda number, frame: stop.request())
    return stop


class WorkQueue:
    """Functions that threads and signal handlers leave for the thread that runs the queue.

    ``queue.SimpleQueue`` is not used because in CPython 3.10 to 3.12 its ``get(timeout=...)`` hangs if a signal comes
    as the timeout ends. A timed wait for a lock does not. The lock is an event: it is free when there is work.
    """

    def __init__(self) -> None:
        self._work: deque[Callable[[], object]] = deque()
        self._available = Lock()
        self._available.acquire()

    def put(self, work: Callable[[], object]) -> None:
        """Add a function. Safe to call from any thread and from a signal handler."""
        self._work.append(work)
        with suppress(RuntimeError):  # free already
            self._available.release()

    def run(self, timeout: float) -> None:
        """Call all waiting functions; if there are none, wait at most ``timeout`` [s] for one."""
        end = time.monotonic() + timeout
        while not self._work and (left := end - time.monotonic()) > 0.0:
            self._available.acquire(timeout=left)
        for _ in range(len(self._work)):  # later ones wait, so that a flood of messages cannot keep this from returning
            self._work.popleft()()


DONE, FAILED, WRONG_USE = 0, 1, 2

#: For descriptions with a fixed layout.
RAW = argparse.RawDescriptionHelpFormatter

Main = Callable[[list[str]], int]

#: Options of ROS that users write without ``--ros-args``.
_OF_ROS = frozenset(["-p", "--param", "-r", "--remap", "--params-file", "--log-level"])


class ConsoleFunction(Protocol):
    """The function that a console script calls."""

    def __call__(self, argv: Sequence[str] | None = None) -> int:
        """Run, by default with ``sys.argv``; return the exit code."""


def command(name: str) -> Callable[[Main], ConsoleFunction]:
    """Make a command of a function that takes a command line without the program's name.

    An error of this package, or of a file, is printed with one line per fault, after the command's name. The exit code
    is then 1 if the request was valid but failed, else 2.
    """

    def decorate(main: Main) -> ConsoleFunction:
        @wraps(main)
        def guarded(argv: Sequence[str] | None = None) -> int:
            try:
                return main(list(sys.argv[1:] if argv is None else argv))
            except BrokenPipeError:  # the reader of the output has gone; no file is at fault
                raise
            except (VdsGzError, OSError) as error:
                complain(name, str(error) if isinstance(error, VdsGzError) or _in_folder() else NO_FOLDER)
                return FAILED if isinstance(error, FailureError) else WRONG_USE

        return guarded

    return decorate


#: The message on an operating system's error in a working directory that no longer exists.
NO_FOLDER = "the working directory has been deleted; change to one that exists"


def _in_folder() -> bool:
    """Whether the working directory exists."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def complain(name: str, text: str) -> None:
    """Print errors, one a line, each after the program's name; indented lines continue an error."""
    for line in text.splitlines():
        print(line if line.startswith(" ") else f"{name}: {line}", file=sys.stderr)


def nearest(word: str, known: Collection[str]) -> str:
    """The end of a message that proposes the word nearest to an unknown one; empty if there is none."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


#: A command line that asks for the program's parser, with :func:`parser_of`.
_PARSER_WANTED = ["--parser-wanted"]


class _ParserFoundError(Exception):
    """Carries the parser of a program to :func:`parser_of`."""

    def __init__(self, parser: CommandLine) -> None:
        super().__init__()
        self.parser = parser


def parser_of(main: ConsoleFunction) -> CommandLine:
    """The parser of a program, which does not run."""
    try:
        main(_PARSER_WANTED)
    except _ParserFoundError as found:
        return found.parser
    raise TypeError(f"{main} has not parsed its command line")


class CommandLine(argparse.ArgumentParser):
    """A parser whose errors are one line with exit code 2. For an unknown option it proposes the nearest one."""

    def __init__(self, prog: str, *, description: str = "", epilog: str = "", usage: str | None = None) -> None:
        laid_out = "\n" in description or "\n" in epilog
        super().__init__(
            prog,
            usage=usage,
            description=description,
            epilog=epilog,
            formatter_class=RAW if laid_out else argparse.HelpFormatter,
            allow_abbrev=False,
        )

    def parse_args(self, args: Sequence[str], namespace: None = None) -> argparse.Namespace:  # type: ignore[override]
        """Parse a command line; end the program if anything is left over."""
        words = list(args)
        if words == _PARSER_WANTED:
            raise _ParserFoundError(self)
        for word in words[: words.index("--") if "--" in words else None]:
            option = word.partition("=")[0]
            if option in _OF_ROS - self._option_string_actions.keys():
                self.error(f"option '{option}' belongs to ROS and must follow --ros-args")
            if option.startswith("--") and option not in self._option_string_actions:
                self.error(f"option '{option}' is unknown{nearest(option, self._option_string_actions)}")
        options, rest = self.parse_known_args(words)
        if rest:
            self.error(f"argument '{rest[0]}' is not expected")
        return options

    @property
    def arguments(self) -> list[argparse.Action]:
        """All options and positional arguments, for which argparse has no public name."""
        return self._actions

    def error(self, message: str) -> NoReturn:
        """End the program with a message."""
        self.exit(WRONG_USE, f"{self.prog}: {message} (see {self.prog} --help)\n")
