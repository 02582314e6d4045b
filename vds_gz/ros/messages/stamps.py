"""Times in ``builtin_interfaces/Time``, whose seconds have 32 bits, so the last one is in January 2038."""

from __future__ import annotations

from vds_gz.vehicle.vehicle import NANOSECONDS

#: The first and the last time of a stamp [ns].
FIRST, LAST = -(2**31) * NANOSECONDS, 2**31 * NANOSECONDS - 1


def within_stamps(time: int) -> int:
    """The nearest time [ns] that a stamp can hold."""
    return min(max(time, FIRST), LAST)


def seconds_and_nanoseconds(time: int) -> tuple[int, int]:
    """The fields of a stamp of a time [ns]; a time that a stamp cannot hold saturates."""
    return divmod(within_stamps(time), NANOSECONDS)
