"""Fields of message types, and times as ``builtin_interfaces/Time`` holds them."""

from __future__ import annotations

from typing import NamedTuple

from vds_gz.vehicle.vehicle import NANOSECONDS


class Field(NamedTuple):
    """A field in the definition of a type.

    Attributes:
        name: Its name.
        type: ``float64``, ``string`` or the name of a type; for an array or a sequence, the type of its items.
        length: None for a single value, the number of items of an array, 0 for a sequence.
    """

    name: str
    type: str
    length: int | None


#: The first and the last time of a stamp [ns].
FIRST, LAST = -(2**31) * NANOSECONDS, 2**31 * NANOSECONDS - 1


def within_stamps(time: int) -> int:
    """The nearest time [ns] that a stamp can hold."""
    return min(max(time, FIRST), LAST)


def seconds_and_nanoseconds(time: int) -> tuple[int, int]:
    """The fields of a stamp of a time [ns]; a time that a stamp cannot hold saturates."""
    return divmod(within_stamps(time), NANOSECONDS)
