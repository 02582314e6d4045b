"""Where simulated time comes from: the system, a clock on the graph, or ourselves.

Every clock turns a reading of the monotonic clock [ns] into simulated time [ns].
"""

from __future__ import annotations

import math
import time
from typing import Protocol

from vds_gz.vehicle.vehicle import NANOSECONDS

#: A system clock that is off by more than this has been set, not slewed [ns].
SET_CLOCK = 5_000_000


class Clock(Protocol):
    """A source of simulated time."""

    def now(self, monotonic: int) -> int | None:
        """Simulated time at a reading of the monotonic clock; None while it is not known."""

    def seconds_until(self, moment: int, monotonic: int) -> float:
        """Real seconds until simulated time will be ``moment``; infinite if only a message can tell."""


class SystemClock:
    """The system's time, read from the monotonic clock, so that only setting it makes a jump."""

    def __init__(self) -> None:
        """Read both clocks."""
        self._offset = time.time_ns() - time.monotonic_ns()

    def now(self, monotonic: int) -> int:
        """Simulated time at a reading of the monotonic clock."""
        offset = time.time_ns() - time.monotonic_ns()
        if abs(offset - self._offset) > SET_CLOCK:
            self._offset = offset
        return monotonic + self._offset

    def seconds_until(self, moment: int, monotonic: int) -> float:
        """Real seconds until simulated time will be ``moment``."""
        return (moment - self.now(monotonic)) * 1e-9


class FollowedClock:
    """The time that ``/clock`` last told."""

    def __init__(self) -> None:
        """Wait for the first message."""
        self._time: int | None = None

    def tell(self, moment: int) -> None:
        """A message of ``/clock`` came."""
        self._time = moment

    def now(self, monotonic: int) -> int | None:
        """The last time told; None before the first message."""
        return self._time

    def seconds_until(self, moment: int, monotonic: int) -> float:
        """Infinite: only a message can tell."""
        return math.inf


class ReferenceClock:
    """Time that we give ourselves, from 1 s on, at any pace. (A time of 0 means none in ROS.)"""

    BEGIN = NANOSECONDS

    def __init__(self, speed_factor: float) -> None:
        """Begin now.

        Args:
            speed_factor: Simulated seconds per second; 0 for as fast as possible.
        """
        self.speed_factor = speed_factor
        self._origin = self.BEGIN
        self._begun = time.monotonic_ns()

    def now(self, monotonic: int) -> int:
        """Simulated time at a reading of the monotonic clock; as fast as possible, where it was last put."""
        return self._origin + round((monotonic - self._begun) * self.speed_factor)

    def seconds_until(self, moment: int, monotonic: int) -> float:
        """Real seconds until simulated time will be ``moment``."""
        if self.speed_factor == 0.0:
            return 0.0
        return (moment - self.now(monotonic)) * 1e-9 / self.speed_factor

    def put(self, moment: int, monotonic: int) -> None:
        """Go on from ``moment``."""
        self._origin = moment
        self._begun = monotonic

    def set_speed(self, speed_factor: float, monotonic: int) -> None:
        """Go on from the present at another pace."""
        self.put(self.now(monotonic), monotonic)
        self.speed_factor = speed_factor
