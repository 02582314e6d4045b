"""Where simulated time comes from: the system, a clock that another node gives, or ourselves; and periods in it.

Every clock turns a reading of the monotonic clock [ns] into simulated time [ns].
"""

from __future__ import annotations

import math
import time

from vds_gz.parameters.node import NodeParameters
from vds_gz.vehicle.vehicle import NANOSECONDS

#: A system clock that is off by more than this has been set, not slewed [ns].
SET_CLOCK = 5_000_000


class Clock:
    """A source of simulated time: base class. One that is not ours is changed by nothing that we do.

    Attributes:
        owns_time: The node gives the time, so it can be set, paused and paced.
        waits: Time that the node falls behind is caught up with in full; else what is overdue is left out.
        flat_out: It goes as fast as possible.
    """

    owns_time = False
    waits = True
    flat_out = False

    def now(self, monotonic: int) -> int | None:
        """Simulated time at a reading of the monotonic clock; None while it is not known."""
        raise NotImplementedError

    def seconds_until(self, moment: int, monotonic: int) -> float:
        """Real seconds until simulated time will be ``moment``; infinite if only another node can tell."""
        raise NotImplementedError

    def set(self, moment: int, monotonic: int) -> None:
        """It is ``moment`` now."""

    def pause(self, monotonic: int) -> None:
        """Stand still."""

    def resume(self, monotonic: int) -> None:
        """Go on from there."""

    def set_speed(self, speed_factor: float, monotonic: int) -> None:
        """Go on from the present at another pace."""


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
        """Real seconds until simulated time will be ``moment``."""
        return (moment - self.now(monotonic)) * 1e-9


class FollowedClock(Clock):
    """The time that was last received, from ``/clock`` or from Gazebo."""

    def __init__(self) -> None:
        """Wait for the first message."""
        self._time: int | None = None

    def set(self, moment: int, monotonic: int) -> None:
        """This time was received."""
        self._time = moment

    def now(self, monotonic: int) -> int | None:
        """The last time received; None before the first."""
        return self._time

    def seconds_until(self, moment: int, monotonic: int) -> float:
        """Infinite: only a message can tell."""
        return math.inf


class ReferenceClock(Clock):
    """Time that we give ourselves, from 1 s on, at any pace. (A time of 0 means none in ROS.)"""

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
        """Real seconds until simulated time will be ``moment``."""
        if self.flat_out:
            return 0.0
        return (moment - self.now(monotonic)) * 1e-9 / self._speed_factor

    def set(self, moment: int, monotonic: int) -> None:
        """Go on from ``moment``, or stand there."""
        self._origin = moment
        self._begun = monotonic

    def pause(self, monotonic: int) -> None:
        """Stand still."""
        self.set(self.now(monotonic), monotonic)
        self._paused = True

    def resume(self, monotonic: int) -> None:
        """Go on from there."""
        self.set(self.now(monotonic), monotonic)
        self._paused = False

    def set_speed(self, speed_factor: float, monotonic: int) -> None:
        """Go on from the present at another pace."""
        self.set(self.now(monotonic), monotonic)
        self._pace(speed_factor)

    def _pace(self, speed_factor: float) -> None:
        self._speed_factor = speed_factor
        self.flat_out = speed_factor == 0.0  # then it is always where it was last set


def make_clock(parameters: NodeParameters, *, follows: bool) -> Clock:
    """The clock that the parameters choose; ``follows``: the plant gives the time, whatever they say."""
    if parameters.use_sim_time or follows:
        return FollowedClock()
    if parameters.be_reference_clock:
        return ReferenceClock(parameters.speed_factor)
    return SystemClock()


class PeriodicTimer:
    """A rate and where in it we are. Each point is computed from the first one, so that none drifts.

    It counts in whole numbers: at the system's time those of floating point are 256 ns apart.

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
        # A period is so many nanoseconds over so many points.
        self._points, seconds = rate.as_integer_ratio()
        self._nanoseconds = seconds * NANOSECONDS
        self._count = 0
        self.advance(0)

    def advance(self, points: int = 1) -> None:
        """Go on to the next point, or by so many."""
        self._count += points
        self.next = self._start + (2 * self._count * self._nanoseconds + self._points) // (2 * self._points)

    def skip(self, now: int) -> int:
        """Leave out all points up to the last one at or before ``now`` and return how many that were."""
        points = max(0, (now - self._start) * self._points // self._nanoseconds - self._count)
        self.advance(points)
        return points
