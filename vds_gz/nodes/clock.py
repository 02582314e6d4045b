"""Sources of simulated time: the system, another node's clock, or this node; and periods in simulated time.

Every clock turns a reading of the monotonic clock [ns] into simulated time [ns].
"""

from __future__ import annotations

import math
import time

from vds_gz.parameters.node import NodeParameters
from vds_gz.vehicle.vehicle import NANOSECONDS

#: A system clock that differs by more than this was set, not slewed [ns].
SET_CLOCK = 5_000_000


class Clock:
    """A source of simulated time: base class. Its setters only affect a clock that owns its time.

    Attributes:
        owns_time: The node gives the time, so it can be set, paused and paced.
        waits: A node that falls behind catches up in full; otherwise overdue outputs are left out.
        flat_out: Time advances as fast as possible.
    """

    owns_time = False
    waits = True
    flat_out = False

    def now(self, monotonic: int) -> int | None:
        """Simulated time at a reading of the monotonic clock; None while it is not known."""
        raise NotImplementedError

    def seconds_until(self, moment: int, monotonic: int) -> float:
        """Real seconds until simulated time is ``moment``; infinite if another node decides."""
        raise NotImplementedError

    def set(self, moment: int, monotonic: int) -> None:
        """Set the present to ``moment``."""

    def pause(self, monotonic: int) -> None:
        """Stand still."""

    def resume(self, monotonic: int) -> None:
        """Resume."""

    def set_speed(self, speed_factor: float, monotonic: int) -> None:
        """Continue from the present at another pace."""


class SystemClock(Clock):
    """The system's time, read from the monotonic clock, so that only setting it makes a jump."""

    waits = False

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
        """Real seconds until simulated time is ``moment``."""
        return (moment - self.now(monotonic)) * 1e-9


class FollowedClock(Clock):
    """The time last received from ``/clock`` or from Gazebo."""

    def __init__(self) -> None:
        """Wait for the first message."""
        self._time: int | None = None

    def set(self, moment: int, monotonic: int) -> None:
        """Take a time that was received."""
        self._time = moment

    def now(self, monotonic: int) -> int | None:
        """The last time received; None before the first."""
        return self._time

    def seconds_until(self, moment: int, monotonic: int) -> float:
        """Infinite: only a message can tell."""
        return math.inf


class ReferenceClock(Clock):
    """The node's own time, from 1 s on, at any pace. (In ROS, a time of 0 means no time.)"""

    BEGIN = NANOSECONDS

    owns_time = True

    def __init__(self, speed_factor: float) -> None:
        """Begin now.

        Args:
            speed_factor: Simulated seconds per second; 0 for as fast as possible.
        """
        self._paused = False
        self.set(self.BEGIN, time.monotonic_ns())
        self._pace(speed_factor)

    def now(self, monotonic: int) -> int:
        """Simulated time at a reading of the monotonic clock."""
        if self._paused:
            return self._origin
        return self._origin + round((monotonic - self._begun) * self._speed_factor)

    def seconds_until(self, moment: int, monotonic: int) -> float:
        """Real seconds until simulated time is ``moment``."""
        if self.flat_out:
            return 0.0
        return (moment - self.now(monotonic)) * 1e-9 / self._speed_factor

    def set(self, moment: int, monotonic: int) -> None:
        """Continue from ``moment``, or stand still there."""
        self._origin = moment
        self._begun = monotonic

    def pause(self, monotonic: int) -> None:
        """Stand still."""
        self.set(self.now(monotonic), monotonic)
        self._paused = True

    def resume(self, monotonic: int) -> None:
        """Resume."""
        self.set(self.now(monotonic), monotonic)
        self._paused = False

    def set_speed(self, speed_factor: float, monotonic: int) -> None:
        """Continue from the present at another pace."""
        self.set(self.now(monotonic), monotonic)
        self._pace(speed_factor)

    def _pace(self, speed_factor: float) -> None:
        self._speed_factor = speed_factor
        self.flat_out = speed_factor == 0.0  # then it is always where it was last set


def make_clock(parameters: NodeParameters, *, follows: bool) -> Clock:
    """The clock that the parameters select; with ``follows`` the plant gives the time instead."""
    if parameters.use_sim_time or follows:
        return FollowedClock()
    if parameters.be_reference_clock:
        return ReferenceClock(parameters.speed_factor)
    return SystemClock()


class PeriodicTimer:
    """Points in time at a constant rate. Each is computed from the first one, so that they do not drift.

    Times are integers: at the system's time, floating-point numbers are 256 ns apart.

    Attributes:
        rate: Points per second.
        next: The next point [ns].
    """

    def __init__(self, start: int, rate: float) -> None:
        """The first point is ``start`` [ns]; ``rate`` in Hz."""
        self.begin(start, rate)

    def begin(self, start: int, rate: float) -> None:
        """Restart."""
        self._start = start
        self.rate = rate
        # So many points take so many nanoseconds.
        self._points, seconds = rate.as_integer_ratio()
        self._nanoseconds = seconds * NANOSECONDS
        self._count = 0
        self.advance(0)

    def advance(self, points: int = 1) -> None:
        """Advance by ``points``."""
        self._count += points
        self.next = self._start + (2 * self._count * self._nanoseconds + self._points) // (2 * self._points)

    def skip(self, now: int) -> int:
        """Skip all points at or before ``now`` and return how many were skipped."""
        points = max(0, (now - self._start) * self._points // self._nanoseconds - self._count)
        self.advance(points)
        return points
