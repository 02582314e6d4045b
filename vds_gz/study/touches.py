"""Contacts of a vehicle during a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

#: Contacts with the same thing within this time are one [s].
AGAIN = 0.5


@dataclass(frozen=True, slots=True)
class Touch:
    """A contact of a vehicle with a thing.

    Attributes:
        thing: The thing's name.
        begin, end: Times of the first and last sample of the contact [s].
        x, y: Position of the first contact on the map [m].
    """

    thing: str
    begin: float
    end: float
    x: float
    y: float

    def __str__(self) -> str:
        """For people."""
        place = f"touched {self.thing} at {self.begin:.2f} s, at ({self.x:.2f}, {self.y:.2f}) m"
        return f"{place}, for {self.end - self.begin:.2f} s" if self.end > self.begin else place


class TouchLog:
    """Collects all touches of a run, sample by sample."""

    def __init__(self) -> None:
        """Start without touches."""
        self._touches: list[Touch] = []
        self._last: dict[str, int] = {}

    def note(self, time: float, points: Iterable[tuple[str, float, float]]) -> None:
        """Take a sample.

        Args:
            time: Its time [s].
            points: For each contact the name of the thing, up to ``::``, and the position (x, y) [m].
        """
        for name, x, y in points:
            thing = name.partition("::")[0]
            i = self._last.get(thing)
            if i is not None and time - self._touches[i].end <= AGAIN:
                self._touches[i] = replace(self._touches[i], end=time)
            else:
                self._last[thing] = len(self._touches)
                self._touches.append(Touch(thing, time, time, x, y))

    @property
    def touches(self) -> tuple[Touch, ...]:
        """The touches in the order of their beginnings."""
        return tuple(self._touches)
