"""Points in simulated time at a regular rate."""

from __future__ import annotations

from vds_gz.vehicle.vehicle import NANOSECONDS


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
        self._go_to(0)

    def done(self) -> None:
        """The next point has been served."""
        self._go_to(self._count + 1)

    def skip(self, now: int) -> int:
        """Leave out all points up to the last one at or before ``now`` and return how many that were."""
        before = self._count
        self._go_to(max(before, (now - self._start) * self._points // self._nanoseconds))
        return self._count - before

    def _go_to(self, count: int) -> None:
        self._count = count
        self.next = self._start + (2 * count * self._nanoseconds + self._points) // (2 * self._points)
