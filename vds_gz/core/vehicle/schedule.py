"""Command sequences as arrays, with the number of steps each command is held."""

from __future__ import annotations

import dataclasses
from operator import attrgetter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vds_gz.core.arrays import Integers
from vds_gz.core.errors import ArgumentError
from vds_gz.core.vehicle.command import (
    ENDED,
    KEEP_GEAR,
    KINDS,
    LIMITS,
    MAXIMUM,
    MAXIMUM_GEAR,
    MEASURES,
    STOP,
    Command,
    CommandKind,
    fault,
)

Records = NDArray[np.void]

#: The numbers of a command, in the order of the fields of its record.
fields_of = attrgetter(*(field.name for field in dataclasses.fields(Command)))

#: The record of a command, with the fields of :class:`~vds_gz.core.vehicle.command.Command`.
COMMAND = np.dtype(
    [(field.name, np.float64 if field.type == "float" else np.int64) for field in dataclasses.fields(Command)],
    align=True,
)


def command_records(**numbers: ArrayLike) -> Records:
    """Commands as records.

    Args:
        numbers: Fields of :class:`~vds_gz.core.vehicle.command.Command`: one number for all commands, or an array with
            one per command. Omitted fields are as in ``Command()``.

    >>> command_records(v_x=[1.0, 2.0], yaw_rate=0.3)["v_x"].tolist()
    [1.0, 2.0]
    """
    first, *columns = np.broadcast_arrays(np.zeros(1), *map(np.atleast_1d, numbers.values()))
    records: Records = np.full(len(first), np.array(fields_of(Command()), COMMAND))
    for name, column in zip(numbers, columns, strict=True):
        records[name] = column
    return records


def check(commands: Records, times: Integers) -> None:
    """Refuse commands that are invalid or depend on earlier ones, and times that decrease."""
    if commands.shape != times.shape or not times.size:
        raise ArgumentError(
            f"there are {commands.size} commands and {times.size} times; the numbers must be equal and at least 1"
        )
    back = np.flatnonzero(np.diff(times) < 0)
    if back.size:
        k = int(back[0]) + 1
        raise ArgumentError(
            f"time {k} is {times[k]} ns, and the one before it {times[k - 1]} ns; times must not decrease"
        )
    kinds = commands["kind"]
    halves = np.isin(kinds, [kind for kind in KINDS.values() if kind.part != "whole"])
    halves |= np.isin(kinds, geared_kinds()) & (commands["gear"] == KEEP_GEAR)
    for k in np.flatnonzero(halves)[:1].tolist():
        numbers = f"kind {kinds[k]}, gear {commands['gear'][k]}"
        raise ArgumentError(
            f"command {k} ({numbers}) is a gear, half a command or without a gear, so it depends on earlier commands; "
            "give it to enter()"
        )
    faulty = ~(np.abs([commands[name] for name in MEASURES]).sum(axis=0) <= MAXIMUM)
    faulty |= np.any([~(commands[name] >= 0.0) for name in LIMITS], axis=0) | ~np.isin(kinds, list(KINDS))
    faulty |= (commands["gear"] < KEEP_GEAR) | (commands["gear"] > MAXIMUM_GEAR)
    for k in np.flatnonzero(faulty).tolist():
        if reason := fault(Command(*commands[k].item())):
            raise ArgumentError(f"command {k}: {reason}")


def geared_kinds() -> list[CommandKind]:
    """The kinds that have a gear."""
    return [kind for kind in KINDS.values() if kind.geared]


def geared_before(command: np.void, earlier: Records) -> bool:
    """Whether a command of a kind without gears follows one that set a gear, which it keeps."""
    geared = geared_kinds()
    return int(command["kind"]) not in geared and bool(np.isin(earlier["kind"], geared).any())


def timed_out_records(commands: Records) -> Records:
    """:func:`~vds_gz.core.vehicle.command.timed_out` for all of these commands, with speed and steering."""
    expired: Records = commands.copy()
    for name, value in (ENDED["speed"] | ENDED["steering"]).items():
        expired[name] = value
    expired["kind"][np.isin(commands["kind"], [kind for kind in KINDS.values() if kind.stops])] = STOP
    return expired


def segments(commands: Records, begins: Integers, expiries: Integers) -> tuple[Records, Integers]:
    """Commands and the number of steps for which each holds, until the last one begins.

    ``begins`` has the first step of each, ``expiries`` the first step at which each is too old.
    """
    ends = begins[1:]
    old = np.clip(expiries[:-1], begins[:-1], ends)
    numbers = np.stack([commands[:-1], timed_out_records(commands[:-1])], axis=1).ravel()
    steps = np.stack([old - begins[:-1], ends - old], axis=1).ravel()
    holding = steps > 0
    return numbers[holding], steps[holding]
