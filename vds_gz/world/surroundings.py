"""What stands and moves around a vehicle: a scene, obstacles on paths, other vehicles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

from vds_gz.world.moving import read_obstacles
from vds_gz.world.packing import Thing
from vds_gz.world.ray_caster import JoinedCaster, RayCaster
from vds_gz.world.scene import Scene


class Movers(Protocol):
    """Things that move."""

    @property
    def changes(self) -> int:
        """Counts up when one of them has changed its way."""

    @property
    def top_speed(self) -> float:
        """How fast the fastest part of them is [m/s]."""

    def next_turn(self, time: int) -> float:
        """When one of them next turns or jumps at once, after a simulated time [ns]; infinity if none does."""

    def visuals(self, time: int) -> list[Thing]:
        """What of them is seen at a point in simulated time [ns]."""

    def collisions(self, time: int) -> list[Thing]:
        """What of them bumps then [ns]."""


class Surroundings:
    """The scene of a world at any time, with all that moves in it.

    Attributes:
        still: What stands still.
    """

    def __init__(self, still: Scene, movers: Sequence[Movers] = (), look: Callable[[], None] = lambda: None) -> None:
        """Take them.

        Args:
            still: What stands still.
            movers: What moves.
            look: See who has come or gone.
        """
        self.still = still
        self.look = look
        self._movers = movers
        self._last: tuple[tuple[int, int], RayCaster | JoinedCaster] | None = None

    @property
    def changes(self) -> int:
        """Counts up when something that moves has changed its way."""
        return sum(one.changes for one in self._movers)

    @property
    def drift(self) -> float:
        """How fast the fastest of what moves is [m/s]."""
        return max((one.top_speed for one in self._movers), default=0.0)

    def next_turn(self, time: int) -> float:
        """When something next turns or jumps at once, after a simulated time [ns]; infinity if nothing does."""
        return min((one.next_turn(time) for one in self._movers), default=math.inf)

    def scene_at(self, time: int, still: Scene) -> Scene:
        """What can be seen at a point in simulated time; of what moves it has nothing that bumps.

        Args:
            time: [ns].
            still: What stands still, as rays are to be cast at it.
        """
        return still.with_moving([thing for one in self._movers for thing in one.visuals(time)], ())

    def collisions_at(self, time: int) -> RayCaster | JoinedCaster:
        """What bumps at a point in simulated time [ns]."""
        known = time, self.changes
        if self._last is None or self._last[0] != known:
            moving = [thing for one in self._movers for thing in one.collisions(time)]
            self._last = known, self.still.with_moving((), moving).collisions
        return self._last[1]


def obstacles_of(file: str) -> list[Movers]:
    """What moves on paths, by a file of moving obstacles; nothing where none is named.

    Raises:
        WorldError: The file cannot be read.
    """
    return [read_obstacles(file)] if file else []
