"""A scene: what stands around the vehicle, and what rays meet in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.util import find_spec
from types import FunctionType
from typing import Any

import numpy as np

from vds_gz.geometry.so3 import Vector
from vds_gz.world import bvh
from vds_gz.world.earth import GRAVITY
from vds_gz.world.geodesy import NULL_ISLAND, Origin
from vds_gz.world.packing import Packed, Thing, normals, packed
from vds_gz.world.shapes import Array, HalfSpace, Indices

#: What a ray meets that meets nothing.
NOTHING = -1


@dataclass(frozen=True, eq=False, slots=True)
class Hits:
    """What rays have met; every array has one row a ray.

    Attributes:
        things: Index into the things that were cast at; -1 where nothing was met.
        normals: Outward unit normals of what was met, of shape (n, 3); 0 where nothing was.
        retro: Its retro-reflectivity; 0 where nothing was met.
    """

    things: Indices
    normals: Array
    retro: Array


class RayCaster:
    """Things in a tree, and the rays that meet them.

    Attributes:
        things: All of them.
        shapes: How many shapes they have; a mesh has as many as it has triangles.
    """

    def __init__(self, things: Sequence[Thing]) -> None:
        """Build the tree; with numba it is compiled at the first use of the process, which takes seconds."""
        self.things = tuple(things)
        self._packed = packed(self.things)
        self.shapes = len(self._packed.kinds)
        self._retro = np.array([0.0, *(thing.retro for thing in self.things)])
        unbounded = np.array([isinstance(self.things[k].shape, HalfSpace) for k in self._packed.owner], bool)
        self._unbounded = np.flatnonzero(unbounded)
        self._tree = _tree(self._packed, np.flatnonzero(~unbounded))

    def cast(self, origins: Array, directions: Array, max_range: float = np.inf) -> tuple[Array, Indices]:
        """Send rays.

        Args:
            origins: Where they begin [m], of shape (3,) or (n, 3).
            directions: Unit vectors, of shape (n, 3).
            max_range: What is farther away is not met [m].

        Returns:
            Ranges [m], infinite where nothing is met, and the index of the shape that is, -1 for nothing.
        """
        directions = np.ascontiguousarray(directions, np.float64)
        origins = np.ascontiguousarray(np.broadcast_to(np.asarray(origins, np.float64), directions.shape))
        ranges, shapes = np.empty(len(directions)), np.empty(len(directions), np.int64)
        packed, tree = self._packed, self._tree
        arguments = (*tree, packed.kinds, packed.rows, self._unbounded, origins, directions, max_range, ranges, shapes)
        if _compiled(bvh.cast) is bvh.cast:  # lists are read far faster than arrays where Python runs
            arguments = (*(_plain(one) for one in arguments[:7]), *arguments[7:])
        _compiled(bvh.cast)(*arguments)
        return ranges, shapes

    def hits(self, origins: Array, directions: Array, ranges: Array, shapes: Indices) -> Hits:
        """What the rays of :meth:`cast` have met."""
        met = shapes != NOTHING
        things = np.where(met, self._packed.owner[shapes] if len(self._packed.owner) else NOTHING, NOTHING)
        points = np.broadcast_to(origins, directions.shape)[met] + ranges[met, None] * directions[met]
        outward = np.zeros(directions.shape)
        outward[met] = normals(self._packed, shapes[met], points)
        return Hits(things, outward, self._retro[things + 1])


class JoinedCaster:
    """What stands still in one tree and what moves in another, which alone is built anew when something has moved.

    Attributes:
        still: What stands still; its things come first.
        moving: What moves.
    """

    def __init__(self, still: RayCaster, moving: RayCaster) -> None:
        self.still = still
        self.moving = moving

    @cached_property
    def things(self) -> tuple[Thing, ...]:
        """What stands still, then what moves."""
        return self.still.things + self.moving.things

    def cast(self, origins: Array, directions: Array, max_range: float = np.inf) -> tuple[Array, Indices]:
        """Send rays at both; see :meth:`RayCaster.cast`. The shapes of what moves are counted after the others."""
        ranges, shapes = self.still.cast(origins, directions, max_range)
        others, moving = self.moving.cast(origins, directions, max_range)
        nearer = others < ranges
        return np.where(nearer, others, ranges), np.where(nearer, moving + self.still.shapes, shapes)

    def hits(self, origins: Array, directions: Array, ranges: Array, shapes: Indices) -> Hits:
        """What the rays of :meth:`cast` have met."""
        begin = self.still.shapes
        still = self.still.hits(origins, directions, ranges, np.where(shapes < begin, shapes, NOTHING))
        moving = self.moving.hits(origins, directions, ranges, np.where(shapes < begin, NOTHING, shapes - begin))
        moves = moving.things != NOTHING
        return Hits(
            np.where(moves, moving.things + len(self.still.things), still.things),
            still.normals + moving.normals,
            still.retro + moving.retro,
        )


@dataclass(frozen=True, eq=False, slots=True)
class Scene:
    """The world around the vehicle.

    Attributes:
        name: Of the world.
        visuals: What lidars and cameras see.
        collisions: What bumps.
        gravity: In the world's axes [m/s^2].
        origin: Where on Earth the world's origin lies.
    """

    name: str
    visuals: RayCaster | JoinedCaster
    collisions: RayCaster | JoinedCaster
    gravity: Vector = GRAVITY
    origin: Origin = NULL_ISLAND

    def with_moving(self, visuals: Sequence[Thing], collisions: Sequence[Thing]) -> Scene:
        """This scene with things in it that move, at one instant; those of before are gone.

        Indices of things count those that stand still first, so they stay what they are: ``scene.visuals.things``.

        Args:
            visuals: What of them is seen.
            collisions: What of them bumps.
        """
        return replace(self, visuals=_joined(self.visuals, visuals), collisions=_joined(self.collisions, collisions))

    def cast(self, origins: Array, directions: Array, max_range: float = np.inf) -> tuple[Array, Hits]:
        """Send rays at all that can be seen.

        Args:
            origins: Where they begin [m], of shape (3,) or (n, 3).
            directions: Unit vectors, of shape (n, 3).
            max_range: What is farther away is not met [m].

        Returns:
            Ranges [m] of shape (n,), infinite where nothing is met, and what was met, as indices into the things of
            :attr:`visuals`.
        """
        ranges, shapes = self.visuals.cast(origins, directions, max_range)
        return ranges, self.visuals.hits(origins, directions, ranges, shapes)


def _joined(caster: RayCaster | JoinedCaster, moving: Sequence[Thing]) -> RayCaster | JoinedCaster:
    still = caster.still if isinstance(caster, JoinedCaster) else caster
    return JoinedCaster(still, RayCaster(moving)) if moving else still


def _tree(packed: Packed, bounded: Indices) -> tuple[Array, Indices, Indices, Indices]:
    """Bounds, first children, counts and order of the tree around these shapes."""
    order = bounded.copy()
    room = 2 * max(1, len(order))
    bounds, first, count = np.full(6 * room, np.nan), np.zeros(room, np.int64), np.zeros(room, np.int64)
    used = 0
    if len(order):
        build = _compiled(bvh.build)
        used = build(packed.lower, packed.upper, packed.centres, order, bounds, first, count)
    return bounds[: 6 * used], first[:used], count[:used], order


def _plain(array: Any) -> Any:
    return array.tolist()


@cache
def _compiled(function: FunctionType) -> Callable[..., Any]:
    """A function of plain loops, compiled where numba is."""
    if find_spec("numba") is None:
        return function
    from vds_gz.compiling.linking import compiled

    return compiled(function)  # type: ignore[no-any-return]
