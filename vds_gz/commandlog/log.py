"""Command logs: what a vehicle was commanded, and when."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from vds_gz.errors import VdsGzError
from vds_gz.interface.commands import CommandType, Values, command_type


class CommandLogError(VdsGzError, ValueError):
    """A command log cannot be used. The message says what was found, where, and what is needed."""


@dataclass(frozen=True, slots=True)
class CommandLog:
    """Commands in the order of time.

    Attributes:
        kind: Name of the command type that they came in, or should go out in.
        times: When each was given [s], counted from the first.
        commands: The numbers of each; where the type is geared, gears may stand among them.
        note: What was noticed while reading, for people; empty for nothing.
    """

    kind: str
    times: tuple[float, ...]
    commands: tuple[Values, ...]
    note: str = field(default="", compare=False)

    @property
    def type(self) -> CommandType:
        """The command type."""
        return command_type(self.kind)

    @property
    def duration(self) -> float:
        """From the first command to the last [s]."""
        return self.times[-1]

    def stream(self) -> CommandStream:
        """The log command by command."""
        return CommandStream(self.type, iter(zip(self.times, self.commands, strict=True)), self.note)


@dataclass(frozen=True, slots=True)
class CommandStream:
    """A log that is read while it is gone through, so that its length does not matter.

    Attributes:
        type: The command type that the commands came in, or should go out in.
        entries: Time since the first command [s] and command, in the order of time; it raises
            :class:`CommandLogError` where the log is at fault.
        note: What was noticed while opening, for people; empty for nothing.
    """

    type: CommandType
    entries: Iterator[tuple[float, Values]]
    note: str = ""

    def collect(self) -> CommandLog:
        """The whole log."""
        times, commands = zip(*self.entries, strict=True)
        return CommandLog(self.type.name, times, commands, self.note)


def checked(
    entries: Iterable[tuple[int, float, Values]], where: Callable[[int], str]
) -> Iterator[tuple[float, Values]]:
    """Time since the first entry [s] and command of every (place, time, command).

    Raises:
        CommandLogError: A number is not finite, or time decreases; ``where`` gives a place in words.
    """
    begin = last = None
    finite = math.isfinite
    for place, time, command in entries:
        if not (finite(time) and all(map(finite, command))):
            named = zip(("time", *command._fields), (time, *command), strict=True)
            name, value = next(pair for pair in named if not finite(pair[1]))
            raise CommandLogError(f"{where(place)}: '{name}' is {value}; it must be a finite number")
        if begin is None or last is None:
            begin = last = time
        if time < last:
            raise CommandLogError(
                f"{where(place)}: 'time' is {time:.9g} s, {last - time:g} s less than before; time must not decrease. "
                "Is another column in its place?"
            )
        last = time
        yield time - begin, command
