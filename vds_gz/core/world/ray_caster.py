"""Ray casting, with one tree for fixed things and another for moving ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from vds_gz.core.arrays import Array, Integers
from vds_gz.core.optional_packages import can_compile
from vds_gz.core.world import bvh
from vds_gz.core.world.intersection import HALF_SPACE
from vds_gz.core.world.packing import Packed, Thing, normals, packed

NOTHING = -1  # index for no hit


@dataclass(frozen=True, eq=False, slots=True)
class Hits:
    """The hits of rays; every array has one row per ray."""

    things: Integers  # index of the thing; -1 without a hit
    normals: Array  # outward unit normals of the hits, of shape (n, 3); 0 without a hit
    retro: Array  # retro-reflectivity; 0 without a hit


COMPILED = can_compile()  # whether rays are cast by compiled loops by default

#: Python needs about this long for each shape of a tree that it builds [s].
SECONDS_PER_SHAPE = 3e-4

#: Up to this number of shapes, Python builds a tree within a second: about as long as numba takes to load.
FEW = 3000


#: Bounds, first children, counts and order of a tree around all bounded shapes; and the unbounded ones.
TreeArrays = tuple[Array, Integers, Integers, Integers, Integers]


class ShapeTree:
    """The tree of a caster's fixed shapes, built when it is first needed; all copies of the caster share it.

    Attributes:
        by_python: Whether Python builds it; else Python builds only small trees.
        built: The tree; None before it is needed.
    """

    def __init__(self, shapes: Packed, *, by_python: bool) -> None:
        self.by_python = by_python
        self.built: TreeArrays | None = None
        self._shapes = shapes

    def arrays(self, *, compiled: bool) -> TreeArrays:
        """The tree; ``compiled`` is whether compiled loops are there anyway, which then build small trees too."""
        if self.built is None:
            self.built = self._build(compiled=compiled)
        return self.built

    def _build(self, *, compiled: bool) -> TreeArrays:
        shapes = self._shapes
        unbounded = shapes.kinds == HALF_SPACE
        order = np.flatnonzero(~unbounded)
        capacity = 2 * max(1, len(order))
        bounds, first, count = np.empty((capacity, 6)), np.zeros(capacity, np.int64), np.zeros(capacity, np.int64)
        build = _loops(bvh.build, compiled=compiled or (not self.by_python and len(order) > FEW))
        nodes = build(shapes.lower, shapes.upper, shapes.centres, order, bounds, first, count) if len(order) else 0
        return bounds[:nodes].copy(), first[:nodes].copy(), count[:nodes].copy(), order, np.flatnonzero(unbounded)


class RayCaster:
    """Casts rays at things.

    Attributes:
        things: All things; the moving ones are the last.
        packed: The shapes of the fixed things.
        shapes: The number of all shapes; each triangle of a mesh counts.
        compiled: Whether rays are cast by compiled loops, else by Python. Both give the same bits.
        moving: The caster of the moving things; None without any.
    """

    def __init__(self, things: Sequence[Thing], *, compiled: bool = COMPILED) -> None:
        """Take fixed things; nothing is compiled before :meth:`prepare` or the first ray."""
        self.things = tuple(things)
        self.compiled = compiled
        self.packed = packed(self.things)
        self._tree = ShapeTree(self.packed, by_python=not compiled)
        self.shapes = self._begin = len(self.packed.kinds)
        self.moving: RayCaster | None = None
        self._still: RayCaster | None = None
        retro = np.array([*(thing.retro for thing in self.things), 0.0])
        #: For each shape, and for no hit as the last entry.
        self._retro = retro[np.append(self.packed.owner, NOTHING)]
        self._friction = np.array([thing.friction for thing in self.things])[self.packed.owner]

    @property
    def still(self) -> RayCaster:
        """The fixed things only."""
        return self._still or self

    def with_moving(self, things: Sequence[Thing]) -> RayCaster:
        """The same fixed things with their tree, and other moving ones."""
        if not things:
            return self.still
        caster = copy(self.still)
        caster._still, caster.moving = self.still, RayCaster(things, compiled=self.compiled)
        caster.things, caster.shapes = self.still.things + caster.moving.things, self._begin + caster.moving.shapes
        return caster

    def interpreted(self) -> RayCaster:
        """A caster of the same things and with the same tree that needs no compiled loops to cast rays."""
        still = copy(self.still)
        still.compiled = False
        return still.with_moving(self.moving.things if self.moving else ())

    @property
    def building_time(self) -> float:
        """About how long Python takes to build the tree of the fixed shapes [s]; 0 if numba is there for large ones."""
        return SECONDS_PER_SHAPE * self._begin if self._tree.by_python else 0.0

    def prepare(self) -> None:
        """Build the trees and compile the loops, so that :meth:`cast` need not."""
        self.cast(np.zeros(3), np.empty((0, 3)))

    def cast(self, origins: Array, directions: Array, max_range: float = np.inf) -> tuple[Array, Integers]:
        """Cast rays.

        Args:
            origins: Start points [m], of shape (3,) or (n, 3).
            directions: Unit vectors, of shape (n, 3).
            max_range: Hits must be nearer than this [m].

        Returns:
            Ranges [m], infinite without a hit, and the index of the shape, -1 without a hit. Of several shapes at the
            same distance, the first one counts.
        """
        directions, origins = (
            np.require(vectors, np.float64, ["C", "W"]) for vectors in (directions, np.atleast_2d(origins))
        )
        if directions.shape[1:] != (3,) or origins.shape not in ((1, 3), directions.shape):
            raise ValueError(
                f"rays have origins {origins.shape} and directions {directions.shape}; directions must be (n, 3), "
                "origins the same, or (3,) if all rays begin at one point"
            )
        ranges, shapes = np.empty(len(directions)), np.empty(len(directions), np.int64)
        cast, things = _loops(bvh.cast, compiled=self.compiled), (self.packed.kinds, self.packed.rows)
        cast(*self._tree.arrays(compiled=self.compiled), *things, origins, directions, float(max_range), ranges, shapes)
        if self.moving is None:
            return ranges, shapes
        moving_ranges, moving_shapes = self.moving.cast(origins, directions, max_range)
        nearer = moving_ranges < ranges
        return np.where(nearer, moving_ranges, ranges), np.where(nearer, moving_shapes + self._begin, shapes)

    def hits(self, origins: Array, directions: Array, ranges: Array, shapes: Integers) -> Hits:
        """The hits of the rays of :meth:`cast`."""
        still, moving = self._parted(shapes)
        is_hit = still != NOTHING
        things = np.where(is_hit, self.packed.owner[still] if len(self.packed.owner) else NOTHING, NOTHING)
        points = np.broadcast_to(origins, directions.shape)[is_hit] + ranges[is_hit, None] * directions[is_hit]
        outward = np.zeros(directions.shape)
        outward[is_hit] = normals(self.packed, still[is_hit], points)
        if self.moving is None:
            return Hits(things, outward, self._retro[still])
        moving_hits = self.moving.hits(origins, directions, ranges, moving)
        things = np.where(moving != NOTHING, moving_hits.things + len(self.still.things), things)
        return Hits(things, outward + moving_hits.normals, self._retro[still] + moving_hits.retro)

    def retro(self, shapes: Integers) -> Array:
        """Retro-reflectivities of the hits of :meth:`cast`; 0 without a hit."""
        still, moving = self._parted(shapes)
        retro = np.asarray(self._retro[still])
        return retro if self.moving is None else retro + self.moving.retro(moving)

    def friction(self, shapes: Integers) -> Array:
        """Friction coefficients of the fixed shapes hit by the rays of :meth:`cast`."""
        return np.asarray(self._friction[shapes])

    def _parted(self, shapes: Integers) -> tuple[Integers, Integers]:
        """Indices among the fixed and among the moving shapes; -1 where a shape is one of the others."""
        if self.moving is None:
            return shapes, shapes
        moves = shapes >= self._begin
        return np.where(moves, NOTHING, shapes), np.where(moves, shapes - self._begin, NOTHING)


@cache
def _loops(function: FunctionType, *, compiled: bool) -> Callable[..., Any]:
    """A function of plain loops, compiled or run by Python.

    Compiled loops run without Python's lock, so other threads run meanwhile. Python gets arrays as memoryviews: their
    elements are Python's numbers, which are several times faster than numpy's.
    """
    if compiled:
        from vds_gz.core import compiling

        return compiling.compiled(function, inlined=True, nogil=True, error_model="numpy")
    return lambda *values: function(*(x.data if isinstance(x, np.ndarray) else x for x in values))
