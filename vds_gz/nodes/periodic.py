"""Points in simulated time at a regular rate."""

from __future__ import annotations

from vds_gz.vehicle.vehicle import NANOSECONDS


class PeriodicTimer:
    """A rate and where in it we are. Each point is computed from the first one, so that none drifts."""

    def __init__(self, start: int, rate: float) -> None:
        """The first point is ``start`` [ns]; ``rate`` in Hz."""
        self.begin(start, rate)

    def begin(self, start: int, rate: float) -> None:
        """Start anew."""
        self._start = start
        self._rate = rate
        self._count = 0

    @property
    def rate(self) -> float:
        """Points per second."""
        return self._rate

    @property
    def next(self) -> int:
        """The next point [ns]."""
        return self._start + round(self._count * NANOSECONDS / self._rate)

    def done(self) -> None:
        """The next point has been served."""
        self._count += 1

    def skip(self, now: int) -> int:
        """Leave out all points up to the last one at or before ``now`` and return how many that were."""
        before = self._count
        self._count = max(before, int((now - self._start) * self._rate / NANOSECONDS))
        return self._count - before
