"""What a vehicle touched on its way, and when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

#: Who touches the same thing again within this has never left it [s].
AGAIN = 0.5


@dataclass(frozen=True, slots=True)
class Touch:
    """A thing that a vehicle touched for some time.

    Attributes:
        thing: Its name.
        begin, end: From the first to the last sample in which it was touched [s].
        x, y: Where it was touched first, on the map [m].
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
    """All touches of a run, sample by sample."""

    def __init__(self) -> None:
        """Nothing was touched yet."""
        self._touches: list[Touch] = []
        self._last: dict[str, int] = {}

    def note(self, time: float, points: Iterable[tuple[str, float, float]]) -> None:
        """Take a sample.

        Args:
            time: When it was [s].
            points: The name of each thing that is touched, ``::`` and what follows left out, and where (x, y) [m].
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
        """In the order of their beginnings."""
        return tuple(self._touches)
