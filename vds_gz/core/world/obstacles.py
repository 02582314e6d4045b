"""Collisions of a vehicle: a box that moves among things until it touches one.

The box moves in its own plane, along a straight line while it turns about the plane's normal. A plane separates the box
from a distant shape; as long as no corner of the box passes this plane, there is no collision. If a corner does, the
box is moved by the distance that is certainly free, and the distance is computed again (conservative advancement:
Mirtich, Impulse-based Dynamic Simulation, 1996).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array, Integers
from vds_gz.core.geometry import Transform, Vector, axes
from vds_gz.core.world.distance import Row, Separation, dot, separation, vector
from vds_gz.core.world.packing import Thing
from vds_gz.core.world.ray_caster import RayCaster

SKIN = 1e-4  # distance of contact [m]; the box stops at half to all of it before a shape
DEEPER = 1e-9  # tolerance for rounding: a box that overlaps a shape may come this much deeper in a piece [m]
ITERATIONS = 64  # maximum number of distances to a shape in a piece; then the box stops
CONTACTS = 16  # maximum number of contacts
HORIZON = 1.0  # farther shapes are ignored until the vehicle has come nearer [m]
REGION = 20.0  # margin within which shapes are selected in advance [m]


@dataclass(frozen=True, slots=True)
class CollisionBox:
    """The box of a vehicle that collides, in ``base_link`` [m]."""

    lower: Vector
    upper: Vector

    @property
    def reach(self) -> float:
        """Distance of its farthest corner from the origin, seen from above [m]."""
        return math.hypot(*(max(abs(a), abs(b)) for a, b in zip(self.lower[:2], self.upper[:2], strict=True)))

    @property
    def numbers(self) -> Row:
        """Middle and half sizes [m]."""
        pairs = list(zip(self.lower, self.upper, strict=True))
        return [0.5 * (a + b) for a, b in pairs] + [0.5 * (b - a) for a, b in pairs]


@dataclass(frozen=True, slots=True)
class SweptBox:
    """A piece of the path of a vehicle's box, in the plane of the vehicle's x and y axes."""

    start: Row  # axes x, y and z of the vehicle at the beginning, and its origin [m], in the world
    way: Row  # displacement of the origin in the world [m], and turn about z [rad]
    body: Row  # middle of the box in the vehicle's frame, and its half sizes [m]

    @classmethod
    def of(cls, T_map_base: Transform, way_map: Vector, turn: float, body: CollisionBox) -> SweptBox:
        """The path of a body from a pose."""
        rows = (*axes(T_map_base.orientation), T_map_base.position)
        return cls([number for row in rows for number in row], [*way_map, turn], body.numbers)

    @property
    def reach(self) -> float:
        """Distance of the box's farthest corner from the origin, in its plane [m]."""
        return math.hypot(abs(self.body[0]) + self.body[3], abs(self.body[1]) + self.body[4])

    def box(self, part: float) -> Row:
        """The box's row at a fraction of its path, see :mod:`vds_gz.core.world.intersection`."""
        start, way, body = self.start, self.way, self.body
        cosine, sine = math.cos(part * way[3]), math.sin(part * way[3])
        box = [0.0] * 9 + body
        for d in range(3):
            x, y, z = start[d], start[3 + d], start[6 + d]
            box[d], box[3 + d], box[6 + d] = cosine * x + sine * y, cosine * y - sine * x, z
            box[9 + d] = start[9 + d] + part * way[d] + body[0] * box[d] + body[1] * box[3 + d] + body[2] * z
        return box

    def approach(self, begin: float, end: float, direction: Vector) -> float:
        """The advance of the box along a direction between two fractions of the path [m]."""
        return _farthest(self.box(end), direction) - _farthest(self.box(begin), direction)

    def space(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the box on its path, widened by the horizon."""
        boxes = np.array([self.box(0.0), self.box(1.0)])
        reach = np.einsum("nj,njd->nd", boxes[:, 12:], np.abs(boxes[:, :9].reshape(-1, 3, 3)))
        margin = HORIZON + self.reach * self.way[3] ** 2
        tilt = math.sqrt(max(0.0, 1.0 - self.start[8] ** 2))
        margins = np.array((margin, margin, margin * tilt))
        return (boxes[:, 9:12] - reach).min(axis=0) - margins, (boxes[:, 9:12] + reach).max(axis=0) + margins

    def go(
        self, kinds: list[int], rows: list[Row], shapes: list[int], end: float, *, stops: bool
    ) -> tuple[float, float, dict[int, Separation]]:
        """Move the box to a fraction of its path; if ``stops``, at most to the first of the shapes with these indices.

        Returns the free fraction of the path; the distance that every part of the box may move from there in its plane
        without a collision [m]; and the separation from each touched shape.
        """
        way, up, turn = vector(self.way, 0), vector(self.start, 6), abs(self.way[3])
        reach = self.reach
        path_length = math.sqrt(dot(way, way)) + reach * turn
        free, touching = HORIZON, dict[int, Separation]()
        for shape in shapes:
            part = 0.0
            for iteration in range(ITERATIONS):
                contact = separation(self.box(part), kinds[shape], rows[shape])
                gap, direction = contact.gap, contact.direction
                planar = math.sqrt(max(1e-18, 1.0 - dot(direction, up) ** 2))
                if gap <= SKIN and (shape in touching or len(touching) < CONTACTS):
                    touching[shape] = contact
                remaining, allowed = end - part, _room(gap)
                if remaining * path_length * planar <= allowed:
                    free = min(free, allowed / planar - remaining * path_length)
                    break
                approach = self.approach(part, end, direction)
                bulge = reach * planar * (remaining * turn) * (remaining * turn) / 8.0
                if approach <= allowed and (gap <= 0.0 or approach + bulge <= max(allowed, 0.5 * gap)):
                    free = min(free, max(0.0, allowed - max(0.0, approach)) / planar)
                    break
                if gap <= SKIN or iteration == ITERATIONS - 1:
                    free = 0.0
                    if stops:
                        end = part
                    break
                part = min(end, part + allowed / (max(0.0, dot(way, direction)) + reach * turn * planar))
        return end, max(0.0, free), touching


def _farthest(box: Row, direction: Vector) -> float:
    """Coordinate of the farthest point of a box along a unit vector [m]."""
    reach = dot(vector(box, 9), direction)
    for k in range(3):
        reach += box[12 + k] * abs(dot(vector(box, 3 * k), direction))
    return reach


def _room(gap: float) -> float:
    """The distance that the box may approach a shape that is ``gap`` away [m]."""
    return max(gap - 0.5 * SKIN, 1e-6 * gap) if gap > 0.0 else DEEPER


@dataclass(frozen=True, eq=False, slots=True)
class Contact:
    """A thing that a vehicle touches."""

    thing: Thing
    point: Vector  # the nearest point of the thing, in the world [m]
    normal: Vector  # the outward unit normal of the thing
    gap: float  # the distance to the vehicle [m]; negative inside the thing

    @property
    def depth(self) -> float:
        """The penetration along the normal [m]; 0 if the vehicle only touches the thing."""
        return max(0.0, -self.gap)

    def stops(self, body: CollisionBox, T_map_base: Transform, way_map: Vector, turn: float) -> bool:
        """Whether a path from the contact leads into the thing; see :meth:`Obstacles.pass_by`."""
        x, y, z = self.normal
        return SweptBox.of(T_map_base, way_map, turn, body).approach(0.0, 1.0, (-x, -y, -z)) > _room(self.gap)


class Passage(NamedTuple):
    """The result of moving along a piece of a path."""

    part: float  # its free fraction, 0 to 1
    #: Distance that any part of the vehicle may move from there, in its own plane, without a new contact [m].
    free: float
    contacts: tuple[Contact, ...]


class Obstacles:
    """The things of a tree, as obstacles of a vehicle."""

    def __init__(self, caster: RayCaster) -> None:
        self._caster = caster
        packed = caster.packed
        self._kinds, self._rows = packed.kinds.tolist(), packed.rows.tolist()
        self._region = np.full((2, 3), np.nan)

    def pass_by(
        self, T_map_base: Transform, way_map: Vector, turn: float, body: CollisionBox, *, stops: bool, end: float = 1.0
    ) -> Passage:
        """Move a body from a pose to the fraction ``end`` of a path, or to an obstacle that stops it.

        ``way_map`` [m] is the displacement of its origin, in the plane of its x and y axes; ``turn`` [rad] is about its
        z axis.
        """
        sweep = SweptBox.of(T_map_base, way_map, turn, body)
        shapes = self._shapes(*sweep.space()).tolist()
        if not shapes:
            return Passage(end, HORIZON, ())
        part, free, touching = sweep.go(self._kinds, self._rows, shapes, end, stops=stops)
        return Passage(part, free, tuple(self._contact(shape, contact) for shape, contact in touching.items()))

    def _shapes(self, low: Array, high: Array) -> Integers:
        """The shapes whose bounds overlap a box along the world's axes."""
        if not (self._region[0] <= low).all() or not (high <= self._region[1]).all():
            self._region = np.array((low - REGION, high + REGION))
            packed = self._caster.packed
            self._members = _overlapping(packed.lower, packed.upper, *self._region)
            self._lower, self._upper = packed.lower[self._members], packed.upper[self._members]
        return self._members[_overlapping(self._lower, self._upper, low, high)]

    def _contact(self, shape: int, distance: Separation) -> Contact:
        x, y, z = distance.direction
        return Contact(
            self._caster.things[self._caster.packed.owner[shape]], distance.point, (-x, -y, -z), distance.gap
        )


def _overlapping(lower: Array, upper: Array, low: Array, high: Array) -> Integers:
    """Indices of the bounds that overlap a box."""
    return np.flatnonzero((lower <= high).all(axis=1) & (upper >= low).all(axis=1))
