"""A scene: what stands around the vehicle, and what rays meet in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vds_gz.geometry import Vector
from vds_gz.world.geodesy import GRAVITY, NULL_ISLAND, Origin
from vds_gz.world.packing import Thing
from vds_gz.world.ray_caster import Hits, RayCaster
from vds_gz.world.shapes import Array


@dataclass(frozen=True, eq=False, slots=True)
class Scene:
    """The world around the vehicle.

    Attributes:
        name: Of the world.
        visuals: What lidars and cameras see.
        collisions: What bodies collide with.
        gravity: In the world's axes [m/s^2].
        origin: Where on Earth the world's origin lies.
    """

    name: str
    visuals: RayCaster
    collisions: RayCaster
    gravity: Vector = GRAVITY
    origin: Origin = NULL_ISLAND

    def with_moving(self, visuals: Sequence[Thing], collisions: Sequence[Thing]) -> Scene:
        """This scene with things in it that move, at one instant; those of before are gone.

        Indices of things count those that stand still first, so they stay what they are: ``scene.visuals.things``.

        Args:
            visuals: What of them is seen.
            collisions: What of them bodies collide with.
        """
        seen, felt = self.visuals.with_moving(visuals), self.collisions.with_moving(collisions)
        return replace(self, visuals=seen, collisions=felt)

    def vectorised(self) -> Scene:
        """The same scene, cast at by numpy: to be used at once, while another thread runs :meth:`prepare`."""
        return replace(self, visuals=self.visuals.vectorised(), collisions=self.collisions.vectorised())

    def prepare(self) -> None:
        """Build what rays are cast through, and compile what casts them, so that :meth:`cast` need not."""
        self.visuals.prepare()
        self.collisions.prepare()

    def cast(self, origins: Array, directions: Array, max_range: float = np.inf) -> tuple[Array, Hits]:
        """Send rays at all that can be seen.

        Args:
            origins: Where they begin [m], of shape (3,) or (n, 3).
            directions: Unit vectors, of shape (n, 3).
            max_range: What is not nearer is not met [m].

        Returns:
            Ranges [m] of shape (n,), infinite where nothing is met, and what was met, as indices into the things of
            :attr:`visuals`.
        """
        ranges, shapes = self.visuals.cast(origins, directions, max_range)
        return ranges, self.visuals.hits(origins, directions, ranges, shapes)
