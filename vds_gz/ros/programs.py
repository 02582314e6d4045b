"""What all programs share: their command line, their exit code, and how they end on a signal.

A program makes its :class:`StopRequest` with :func:`on_signals` before it joins the graph, lets it wake whatever the
program waits in, and looks at it after every wait. No wait needs to be longer than :data:`LONGEST_SLEEP`: a signal that
comes just before a wait begins is only handled when that wait ends.
"""

from __future__ import annotations

import argparse
import difflib
import signal
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from typing import NoReturn, Protocol

from vds_gz.errors import FailureError, VdsGzError

#: Longest wait in one piece, so that a signal is never kept waiting [s].
LONGEST_SLEEP = 0.1

#: Ctrl-C, another process, and a terminal that is closed, as far as this system knows them.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class StopRequest:
    """Whether a program is to end.

    Attributes:
        requested: It has.
    """

    def __init__(self) -> None:
        self.requested = False
        self._wake: Callable[[], object] | None = None

    def wakes(self, wake: Callable[[], object]) -> None:
        """Call ``wake`` with every request, in a signal's handler too: it must not wait for a lock that is ours."""
        self._wake = wake

    def request(self) -> None:
        """Let the program end. Safe to call from any thread and from a signal's handler."""
        self.requested = True
        if self._wake is not None:
            self._wake()


def on_signals() -> StopRequest:
    """A request that the signals of :data:`SIGNALS` make from now on. To be called in the main thread.

    Under ``nohup`` a program outlives its terminal, so that signal stays ignored.
    """
    stop = StopRequest()
    for number in SIGNALS:
        outlives = number == getattr(signal, "SIGHUP", None) and signal.getsignal(number) is signal.SIG_IGN
        if not outlives:
            signal.signal(number, lambda number, frame: stop.request())
    return stop


@contextmanager
def ends_at_once() -> Iterator[None]:
    """Let Ctrl-C end the program as the system does it, without a traceback: while it imports, nothing needs an end.

    Where Ctrl-C means something else than Python's :exc:`KeyboardInterrupt`, that stays.
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


DONE, FAILED, WRONG_USE = 0, 1, 2

#: For descriptions that are laid out by hand.
RAW = argparse.RawDescriptionHelpFormatter

Main = Callable[[list[str]], int]

#: Options of ROS that users write without ``--ros-args``.
_OF_ROS = frozenset(["-p", "--param", "-r", "--remap", "--params-file", "--log-level"])


class Command(Protocol):
    """What a console script calls."""

    def __call__(self, argv: Sequence[str] | None = None) -> int:
        """Run, with ``sys.argv`` where no command line is given; the exit code."""


def command(name: str) -> Callable[[Main], Command]:
    """Make a function that takes a command line without the program's name a command.

    An error of this package, or of a file, becomes one line per fault, which begins with the command's name. The exit
    code is 1 if the request was right but failed, else 2.
    """

    def decorate(main: Main) -> Command:
        @wraps(main)
        def guarded(argv: Sequence[str] | None = None) -> int:
            try:
                return main(list(sys.argv[1:] if argv is None else argv))
            except BrokenPipeError:  # the reader of our output has gone; no file is at fault
                raise
            except (VdsGzError, OSError) as error:
                complain(name, str(error))
                return FAILED if isinstance(error, FailureError) else WRONG_USE

        return guarded

    return decorate


def complain(name: str, text: str) -> None:
    """Print errors, one a line, each with the program's name."""
    for line in text.splitlines():
        print(line if line.startswith(" ") else f"{name}: {line}", file=sys.stderr)


def nearest(word: str, known: Collection[str]) -> str:
    """A proposal for a word that is not known, as the end of a message; empty if nothing is near."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


class CommandLine(argparse.ArgumentParser):
    """A parser whose errors are one line with exit code 2. It proposes the nearest option for one it does not know."""

    def __init__(self, prog: str, *, description: str = "", epilog: str = "", usage: str | None = None) -> None:
        """Make a parser.

        Args:
            prog: The program's name.
            description: What it does, laid out by hand where it has several lines.
            epilog: What follows the options, laid out alike.
            usage: In place of the usage that follows from the options.
        """
        by_hand = "\n" in description or "\n" in epilog
        super().__init__(
            prog,
            usage=usage,
            description=description,
            epilog=epilog,
            formatter_class=RAW if by_hand else argparse.HelpFormatter,
            allow_abbrev=False,
        )

    def parse_args(self, args: Sequence[str], namespace: None = None) -> argparse.Namespace:  # type: ignore[override]
        """Parse a command line; end the program if anything is left over."""
        words = list(args)
        for word in words[: words.index("--") if "--" in words else None]:
            option = word.partition("=")[0]
            if option in _OF_ROS - self._option_string_actions.keys():
                self.error(f"option '{option}' belongs to ROS and stands after --ros-args")
            if option.startswith("--") and option not in self._option_string_actions:
                self.error(f"option '{option}' is unknown{nearest(option, self._option_string_actions)}")
        options, rest = self.parse_known_args(words)
        if rest:
            self.error(f"argument '{rest[0]}' is not expected")
        return options

    def error(self, message: str) -> NoReturn:
        """End the program."""
        self.exit(WRONG_USE, f"{self.prog}: {message} (see {self.prog} --help)\n")
