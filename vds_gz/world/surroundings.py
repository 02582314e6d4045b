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
        """Speed of their fastest part [m/s]."""

    def next_turn(self, time: int) -> float:
        """When one of them next turns or jumps at once, after a simulated time [ns]; infinity if none does."""

    def visuals(self, time: int) -> list[Thing]:
        """Their visible shapes at a point in simulated time [ns]."""

    def collisions(self, time: int) -> list[Thing]:
        """Their collision shapes then [ns]."""


class Surroundings:
    """The scene of a world at any time, with all that moves in it.

    Attributes:
        still: What stands still.
    """

    def __init__(self, still: Scene, movers: Sequence[Movers] = (), look: Callable[[], None] = lambda: None) -> None:
        """Put a scene and its movers together.

        Args:
            still: What stands still.
            movers: What moves.
            look: Looks for vehicles that have come or gone.
        """
        self.still = still
        self.look = look
        self._movers = movers
        self._last: tuple[tuple[int, int], RayCaster | JoinedCaster] | None = None

    @property
    def changes(self) -> int:
        """Counts up when something that moves has changed its way."""
        return sum(mover.changes for mover in self._movers)

    @property
    def drift(self) -> float:
        """Speed of the fastest mover [m/s]."""
        return max((mover.top_speed for mover in self._movers), default=0.0)

    def next_turn(self, time: int) -> float:
        """When something next turns or jumps at once, after a simulated time [ns]; infinity if nothing does."""
        return min((mover.next_turn(time) for mover in self._movers), default=math.inf)

    def scene_at(self, time: int, still: Scene) -> Scene:
        """What can be seen at a point in simulated time; moving things have no collisions in it.

        Args:
            time: [ns].
            still: What stands still, as rays are to be cast at it.
        """
        return still.with_moving([thing for mover in self._movers for thing in mover.visuals(time)], ())

    def collisions_at(self, time: int) -> RayCaster | JoinedCaster:
        """All collision shapes at a point in simulated time [ns]."""
        known = time, self.changes
        if self._last is None or self._last[0] != known:
            moving = [thing for mover in self._movers for thing in mover.collisions(time)]
            self._last = known, self.still.with_moving((), moving).collisions
        return self._last[1]


def obstacles_of(file: str) -> list[Movers]:
    """What moves on paths, by a file of moving obstacles; nothing where none is named.

    Raises:
        WorldError: The file cannot be read.
    """
    return [read_obstacles(file)] if file else []
