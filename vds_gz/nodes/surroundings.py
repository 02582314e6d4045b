"""What stands and moves around the vehicle of a node: a scene, obstacles on paths, other vehicles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from vds_gz.world.packing import Thing
from vds_gz.world.scene import Scene


class Movers(Protocol):
    """Things that move.

    Attributes:
        changes: Counts up when one of them has changed its way.
    """

    changes: int

    @property
    def top_speed(self) -> float:
        """How fast the fastest part of them is [m/s]."""

    def visuals(self, time: int) -> list[Thing]:
        """What of them is seen at a point in simulated time [ns]."""

    def collisions(self, time: int) -> list[Thing]:
        """What of them bumps then [ns]."""


class Surroundings:
    """The scene of a world at any time, with all that moves in it.

    Attributes:
        still: What stands still.
    """

    def __init__(self, still: Scene, movers: Sequence[Movers] = ()) -> None:
        self.still = still
        self._movers = movers
        self._last: tuple[tuple[int, int, Scene], Scene] | None = None

    @property
    def changes(self) -> int:
        """Counts up when something that moves has changed its way."""
        return sum(one.changes for one in self._movers)

    @property
    def drift(self) -> float:
        """How fast the fastest of what moves is [m/s]."""
        return max((one.top_speed for one in self._movers), default=0.0)

    def scene_at(self, time: int, still: Scene | None = None) -> Scene:
        """The scene at a point in simulated time.

        Args:
            time: [ns].
            still: What stands still, the same things, where rays are to be cast another way.
        """
        still = still or self.still
        if not self._movers:
            return still
        known = time, self.changes, still
        if self._last is None or self._last[0] != known:
            visuals = [thing for one in self._movers for thing in one.visuals(time)]
            collisions = [thing for one in self._movers for thing in one.collisions(time)]
            self._last = known, still.with_moving(visuals, collisions)
        return self._last[1]
