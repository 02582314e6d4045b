"""Sources of simulated time: the system, another node's clock, or this node; and periods in simulated time.

Every clock turns a reading of the monotonic clock [ns] into simulated time [ns].
"""

from __future__ import annotations

import math
import time

from vds_gz.core.parameters.live_parameters import LiveParameters
from vds_gz.core.vehicle.vehicle import NANOSECONDS

#: A system clock that differs by more than this was set, not slewed [ns].
SET_CLOCK = 5_000_000


class Clock:
    """The time last received from ``/clock`` or from Gazebo, and the base class of the other clocks.

    Attributes:
        owns_time: The node gives the time, so it can be set, held and paced; otherwise these do nothing.
        waits: A node that falls behind catches up in full; otherwise overdue outputs are left out.
        speed: Simulated seconds per second; infinite for as fast as possible, 0 if another node decides.
    """

    owns_time = False
    waits = True
    speed = 0.0

    def __init__(self) -> None:
        self._time: int | None = None

    def now(self, monotonic: int) -> int | None:
        """Simulated time at a reading of the monotonic clock; None while it is not known."""
        return self._time

    def set(self, moment: int, monotonic: int) -> None:
        """Set the present to ``moment``."""
        self._time = moment

    def hold(self, held: bool, monotonic: int) -> None:
        """Stand still, or resume."""


class SystemClock(Clock):
    """The system's time, read from the monotonic clock, so that only setting it makes a jump."""

    waits = False
    speed = 1.0

    def __init__(self) -> None:
        self._offset = _system_offset()

    def now(self, monotonic: int) -> int:
        """Simulated time at a reading of the monotonic clock."""
        offset = time.time_ns() - time.monotonic_ns()
        if abs(offset - self._offset) > SET_CLOCK:  # or the process was interrupted between the readings
            offset = _system_offset()
            self._offset = offset if abs(offset - self._offset) > SET_CLOCK else self._offset
        return monotonic + self._offset

    def set(self, moment: int, monotonic: int) -> None:
        """Do nothing: this time cannot be set."""


def _system_offset() -> int:
    """The system's time less the monotonic clock's [ns], by readings without an interruption between them."""
    while True:
        before, now, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        if after - before < SET_CLOCK // 2:
            return now - after


class ReferenceClock(Clock):
    """The node's own time, from 1 s on, at any pace. (In ROS, a time of 0 means no time.)"""

    BEGIN = NANOSECONDS

    owns_time = True

    def __init__(self, speed_factor: float) -> None:
        self._held = False
        self.set(self.BEGIN, time.monotonic_ns())
        self.speed = speed_factor or math.inf

    def now(self, monotonic: int) -> int:
        """Simulated time at a reading of the monotonic clock; as fast as possible, it is where it was last set."""
        if self._held or self.speed == math.inf:
            return self._origin
        return self._origin + round((monotonic - self._begun) * self.speed)

    def set(self, moment: int, monotonic: int) -> None:
        """Continue from ``moment``, or stand still there."""
        self._origin = moment
        self._begun = monotonic

    def hold(self, held: bool, monotonic: int) -> None:
        """Stand still, or resume."""
        self.set(self.now(monotonic), monotonic)
        self._held = held

    def set_speed(self, speed_factor: float, monotonic: int) -> None:
        """Continue from the present at another pace; 0 is as fast as possible."""
        self.set(self.now(monotonic), monotonic)
        self.speed = speed_factor or math.inf


def make_clock(live: LiveParameters, *, follows: bool) -> Clock:
    """The clock that the parameters select; with ``follows`` the plant gives the time instead."""
    if live.now.use_sim_time or follows:
        return Clock()
    if live.now.be_reference_clock:
        clock = ReferenceClock(live.now.speed_factor)
        live.follow(lambda new: new.speed_factor, lambda factor: clock.set_speed(factor, time.monotonic_ns()))
        return clock
    return SystemClock()


class PeriodicTimer:
    """Points in time at a constant rate. Each is computed from the first one, so that they do not drift.

    ``next`` is the next point [ns]. Times are integers: at the system's time, floating-point numbers are 256 ns apart.
    """

    def __init__(self, start: int, rate: float) -> None:
        self.begin(start, rate)

    def begin(self, start: int, rate: float) -> None:
        """Restart: the first point is ``start`` [ns]."""
        self._start = start
        self.rate = rate
        # self._points points take self._nanoseconds, both whole numbers, so that rounding does not add up.
        self._points, seconds = rate.as_integer_ratio()
        self._nanoseconds = seconds * NANOSECONDS
        self._count = 0
        self.advance(0)

    def advance(self, points: int = 1) -> None:
        """Advance by ``points``."""
        self._count += points
        self.next = self._start + (2 * self._count * self._nanoseconds + self._points) // (2 * self._points)

    def skip(self, now: int) -> int:
        """Skip all points up to ``now`` but the last one; return how many were skipped."""
        points = max(0, (now - self._start) * self._points // self._nanoseconds - self._count)
        self.advance(points)
        return points
