"""Rays and the things that they meet: what stands still in one tree, what moves in another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from types import FunctionType
from typing import Any

import numpy as np

from vds_gz.world import bvh, vectorised
from vds_gz.world.intersection import HALF_SPACE
from vds_gz.world.packing import Thing, normals, packed
from vds_gz.world.shapes import Array, Indices

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


#: Whether rays are cast by compiled loops, where nothing else is said.
COMPILED = find_spec("numba") is not None


class RayCaster:
    """Things, and the rays that meet them.

    Attributes:
        things: All of them.
        packed: Their shapes.
        shapes: How many shapes they have; a mesh has as many as it has triangles.
        compiled: Whether rays are cast by compiled loops through a tree, else by numpy. Both give the same bits.
    """

    def __init__(self, things: Sequence[Thing], *, compiled: bool = COMPILED) -> None:
        """Take things; nothing is compiled before :meth:`prepare` or the first ray."""
        self.things = tuple(things)
        self.compiled = compiled
        self.packed = packed(self.things)
        self.shapes = len(self.packed.kinds)
        retro = np.array([*(thing.retro for thing in self.things), 0.0])
        #: Of each shape, and, as the last one, of nothing.
        self._retro = retro[np.append(self.packed.owner, NOTHING)]
        self._friction = np.array([thing.friction for thing in self.things])[self.packed.owner]

    def vectorised(self) -> RayCaster:
        """The same things, cast at by numpy: to be used at once, while another thread runs :meth:`prepare`."""
        other = copy(self)
        other.compiled = False
        return other

    def prepare(self) -> None:
        """Build the tree, and compile what casts rays, so that :meth:`cast` need not."""
        self.cast(np.zeros(3), np.empty((0, 3)))

    @cached_property
    def _tree(self) -> tuple[Array, Indices, Indices, Indices, Indices]:
        """Bounds, first children, counts and order of the tree around all shapes that have bounds; and the others."""
        packed = self.packed
        unbounded = packed.kinds == HALF_SPACE
        order = np.flatnonzero(~unbounded)
        room = 2 * max(1, len(order))
        bounds, first, count = np.empty((room, 6)), np.zeros(room, np.int64), np.zeros(room, np.int64)
        build = compiled_kernel(bvh.build)
        used = build(packed.lower, packed.upper, packed.centres, order, bounds, first, count) if len(order) else 0
        return bounds[:used].copy(), first[:used].copy(), count[:used].copy(), order, np.flatnonzero(unbounded)

    def cast(self, origins: Array, directions: Array, max_range: float = np.inf) -> tuple[Array, Indices]:
        """Send rays."""
        directions, origins = (np.require(one, np.float64, ["C", "W"]) for one in (directions, np.atleast_2d(origins)))
        if directions.shape[1:] != (3,) or origins.shape not in ((1, 3), directions.shape):
            found = f"rays have origins {origins.shape} and directions {directions.shape}"
            raise ValueError(f"{found}; directions must be (n, 3), origins too, or (3,) where all begin in one place")
        ranges, shapes = np.empty(len(directions)), np.empty(len(directions), np.int64)
        rays, packed = (origins, directions, float(max_range), ranges, shapes), self.packed
        if self.compiled:
            compiled_kernel(bvh.cast)(*self._tree, packed.kinds, packed.rows, *rays)
        else:
            vectorised.cast(packed, *rays)
        return ranges, shapes

    def hits(self, origins: Array, directions: Array, ranges: Array, shapes: Indices) -> Hits:
        """What the rays of :meth:`cast` have met."""
        met = shapes != NOTHING
        things = np.where(met, self.packed.owner[shapes] if len(self.packed.owner) else NOTHING, NOTHING)
        points = np.broadcast_to(origins, directions.shape)[met] + ranges[met, None] * directions[met]
        outward = np.zeros(directions.shape)
        outward[met] = normals(self.packed, shapes[met], points)
        return Hits(things, outward, self.retro(shapes))

    def retro(self, shapes: Indices) -> Array:
        """How strongly a lidar's light comes back from what the rays of :meth:`cast` have met; 0 from nothing."""
        return np.asarray(self._retro[shapes])

    def friction(self, shapes: Indices) -> Array:
        """Friction coefficient of shapes that rays of :meth:`cast` have met."""
        return np.asarray(self._friction[shapes])


class JoinedCaster:
    """What stands still in one tree and what moves in another, which alone is built again when something has moved.

    Attributes:
        still: What stands still; its things come first.
    """

    def __init__(self, still: RayCaster, moving: Sequence[Thing]) -> None:
        self.still = still
        self._moving = tuple(moving)

    @cached_property
    def moving(self) -> RayCaster:
        """What moves; built where somebody looks."""
        return RayCaster(self._moving, compiled=self.still.compiled)

    @cached_property
    def things(self) -> tuple[Thing, ...]:
        """What stands still, then what moves."""
        return self.still.things + self._moving

    @property
    def shapes(self) -> int:
        """How many shapes there are."""
        return self.still.shapes + self.moving.shapes

    @property
    def compiled(self) -> bool:
        """Whether rays are cast by compiled loops."""
        return self.still.compiled

    def vectorised(self) -> JoinedCaster:
        """The same things, cast at by numpy; see :meth:`RayCaster.vectorised`."""
        return JoinedCaster(self.still.vectorised(), self._moving)

    def prepare(self) -> None:
        """Build both trees, and compile; see :meth:`RayCaster.prepare`."""
        self.still.prepare()
        self.moving.prepare()

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

    def retro(self, shapes: Indices) -> Array:
        """How strongly a lidar's light comes back from what the rays of :meth:`cast` have met; 0 from nothing."""
        moves = shapes >= self.still.shapes
        still = self.still.retro(np.where(moves, NOTHING, shapes))
        return np.where(moves, self.moving.retro(np.where(moves, shapes - self.still.shapes, NOTHING)), still)


@cache
def compiled_kernel(function: FunctionType) -> Callable[..., Any]:
    """A function of plain loops, compiled; other threads run meanwhile."""
    from vds_gz.compiling import compiled

    return compiled(function, inlined=True, nogil=True, error_model="numpy")  # type: ignore[no-any-return]
