"""A scene: the world around the vehicle, and ray casting in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.geometry import Vector
from vds_gz.core.world.geodesy import GRAVITY, NULL_ISLAND, Origin
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.ray_caster import Hits, RayCaster


@dataclass(frozen=True, eq=False, slots=True)
class Scene:
    """The world around the vehicle.

    Attributes:
        name: Name of the world.
        visuals: The shapes that lidars and cameras see.
        collisions: The shapes that bodies collide with.
        gravity: Acceleration of gravity in the world's axes [m/s^2].
        origin: The place of the world's origin on Earth.
    """

    name: str
    visuals: RayCaster
    collisions: RayCaster
    gravity: Vector = GRAVITY
    origin: Origin = NULL_ISLAND

    def with_moving(self, visuals: Sequence[Thing], collisions: Sequence[Thing]) -> Scene:
        """This scene with moving things at an instant, which replace earlier moving things.

        Fixed things come first in ``scene.visuals.things``, so their indices do not change.

        Args:
            visuals: Their visible shapes.
            collisions: Their collision shapes.
        """
        seen, felt = self.visuals.with_moving(visuals), self.collisions.with_moving(collisions)
        return replace(self, visuals=seen, collisions=felt)

    def interpreted(self) -> Scene:
        """The same scene with ray casting by Python, for few rays and while another thread runs :meth:`prepare`."""
        return replace(self, visuals=self.visuals.interpreted(), collisions=self.collisions.interpreted())

    def prepare(self) -> None:
        """Build the trees and compile the loops, so that :meth:`cast` need not."""
        self.visuals.prepare()
        self.collisions.prepare()

    def cast(self, origins: Array, directions: Array, max_range: float = np.inf) -> tuple[Array, Hits]:
        """Cast rays at the visuals.

        Args:
            origins: Start points [m], of shape (3,) or (n, 3).
            directions: Unit vectors, of shape (n, 3).
            max_range: Hits must be nearer than this [m].

        Returns:
            Ranges [m] of shape (n,), infinite without a hit, and the hits, with indices into the things of
            :attr:`visuals`.
        """
        ranges, shapes = self.visuals.cast(origins, directions, max_range)
        return ranges, self.visuals.hits(origins, directions, ranges, shapes)
