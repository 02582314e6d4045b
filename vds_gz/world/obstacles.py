"""What a vehicle meets on its way: a box that is moved among things until it touches one.

The box moves in its own plane, along a straight line while it turns about the plane's normal. Between it and a
shape that is some distance away there is a plane that parts them; as long as no corner of the box has come so far along
the plane's normal, nothing is met. Where a corner has, the box is moved as far as is surely free, and the distance is
taken again (conservative advancement: Mirtich, Impulse-based Dynamic Simulation, 1996).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vds_gz.geometry import Transform, Vector, axes, into_body, product, quaternion
from vds_gz.world.distance import Row, Separation, along, separation
from vds_gz.world.packing import Thing
from vds_gz.world.ray_caster import JoinedCaster, RayCaster
from vds_gz.world.shapes import Array, Indices

#: What is nearer than this touches [m]. The box is stopped between half of it and all of it before a shape.
SKIN = 1e-4

#: A box that overlaps a shape may come so much deeper in a piece, which is rounding [m].
DEEPER = 1e-9

#: Distances taken on one piece at most; then the box stops where it is.
ITERATIONS = 64

#: Contacts that are noted at most.
CONTACTS = 16


def place(start: Row, way: Row, body: Row, part: float) -> Row:
    """The box's row at a part of its way, see :mod:`vds_gz.world.intersection`."""
    cosine, sine = math.cos(part * way[3]), math.sin(part * way[3])
    box = [0.0] * 9 + body
    for d in range(3):
        x, y, z = start[d], start[3 + d], start[6 + d]
        box[d], box[3 + d], box[6 + d] = cosine * x + sine * y, cosine * y - sine * x, z
        box[9 + d] = start[9 + d] + part * way[d] + body[0] * box[d] + body[1] * box[3 + d] + body[2] * z
    return box


def extent(box: Row, x: float, y: float, z: float) -> float:
    """How far a box reaches along a direction of length 1 [m]."""
    reach = box[9] * x + box[10] * y + box[11] * z
    for k in range(3):
        reach += box[12 + k] * abs(along(box, 3 * k, x, y, z))
    return float(reach)


def room(gap: float) -> float:
    """How far the box may come nearer to a shape that is so far away [m]."""
    return max(gap - 0.5 * SKIN, 1e-6 * gap) if gap > 0.0 else DEEPER


def sweep(
    kinds: list[int],
    rows: list[Row],
    shapes: list[int],
    start: Row,
    way: Row,
    body: Row,
    end: float,
    *,
    stops: bool,
) -> tuple[float, float, dict[int, Separation]]:
    """Move a box along its way until it meets a shape."""
    turn = abs(way[3])
    reach = math.hypot(abs(body[0]) + body[3], abs(body[1]) + body[4])
    moved = math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]) + reach * turn
    free, touching = HORIZON, dict[int, Separation]()
    for shape in shapes:
        part = 0.0
        for iteration in range(ITERATIONS):
            box = place(start, way, body, part)
            found = separation(box, kinds[shape], rows[shape])
            gap, nx, ny, nz, _, _, _ = found
            height = nx * start[6] + ny * start[7] + nz * start[8]
            planar = math.sqrt(max(1e-18, 1.0 - height * height))
            if gap <= SKIN and (shape in touching or len(touching) < CONTACTS):
                touching[shape] = found
            left = end - part
            allowed = room(gap)
            if left * moved * planar <= allowed:
                free = min(free, allowed / planar - left * moved)
                break
            approach = extent(place(start, way, body, end), nx, ny, nz) - extent(box, nx, ny, nz)
            bulge = reach * planar * (left * turn) * (left * turn) / 8.0
            if approach <= allowed and (gap <= 0.0 or approach + bulge <= max(allowed, 0.5 * gap)):
                free = min(free, max(0.0, allowed - max(0.0, approach)) / planar)
                break
            if gap <= SKIN or iteration == ITERATIONS - 1:
                free = 0.0
                if stops:
                    end = part
                break
            toward = max(0.0, way[0] * nx + way[1] * ny + way[2] * nz) + reach * turn * planar
            part = min(end, part + allowed / toward)
    return end, max(0.0, free), touching


#: What is farther away is not looked at until the vehicle has come nearer [m].
HORIZON = 1.0

#: Shapes are looked for among those within so much more of the vehicle [m].
REGION = 20.0


@dataclass(frozen=True, slots=True)
class CollisionBox:
    """The box of a vehicle that collides, in ``base_link`` [m]."""

    lower: Vector
    upper: Vector

    @property
    def reach(self) -> float:
        """Its farthest part from the origin, seen from above [m]."""
        return math.hypot(*(max(abs(a), abs(b)) for a, b in zip(self.lower[:2], self.upper[:2], strict=True)))

    @property
    def numbers(self) -> list[float]:
        """Middle and half sizes."""
        pairs = list(zip(self.lower, self.upper, strict=True))
        return [0.5 * (a + b) for a, b in pairs] + [0.5 * (b - a) for a, b in pairs]

    def approach(self, pose: Transform, way: Vector, turn: float, direction: Vector) -> float:
        """How much farther it reaches along a direction of length 1 at the end of a way than at its beginning [m]."""
        after = Transform(way, product(pose.orientation, quaternion(0.0, 0.0, turn)))
        return self._extent(after, direction) - self._extent(Transform((0.0, 0.0, 0.0), pose.orientation), direction)

    def _extent(self, pose: Transform, direction: Vector) -> float:
        local = into_body(pose.orientation, direction)
        corner = [b if d > 0.0 else a for a, b, d in zip(self.lower, self.upper, local, strict=True)]
        return sum(a * b for a, b in zip((*corner, *pose.position), (*local, *direction), strict=True))


@dataclass(frozen=True, eq=False, slots=True)
class Contact:
    """A thing that a vehicle touches."""

    thing: Thing  # what it is
    point: Vector  # where, on the thing, in the world [m]
    normal: Vector  # away from the thing, out of its surface, of length 1
    gap: float  # between it and the vehicle [m]; negative where the vehicle stands in it

    @property
    def depth(self) -> float:
        """How far the vehicle stands in it: so far along the normal it would be clear [m]; 0 where it only touches."""
        return max(0.0, -self.gap)

    def stops(self, body: CollisionBox, pose: Transform, way: Vector, turn: float) -> bool:
        """Whether a way from where it is touched leads into it at once; see :meth:`Obstacles.pass_by`."""
        x, y, z = self.normal
        return body.approach(pose, way, turn, (-x, -y, -z)) > room(self.gap)


@dataclass(frozen=True, eq=False, slots=True)
class Passage:
    """How a piece of a way went."""

    part: float  # which part of it is free, 0 to 1
    #: How far any part of the vehicle may move from there, in its own plane, and surely meets nothing new [m].
    free: float
    contacts: tuple[Contact, ...]  # what was touched


class Obstacles:
    """The things of a tree, as what a vehicle meets."""

    def __init__(self, caster: RayCaster) -> None:
        """Take the things of a tree."""
        self._caster = caster
        packed = caster.packed
        self._kinds, self._rows = packed.kinds.tolist(), packed.rows.tolist()
        self._region = np.full((2, 3), np.nan)

    def pass_by(
        self, pose: Transform, way: Vector, turn: float, body: CollisionBox, *, stops: bool, end: float = 1.0
    ) -> Passage:
        """Move a body."""
        start = np.array((*axes(pose.orientation), pose.position))
        shapes = self._shapes(*_space(start, np.array(way), turn, body))
        if not len(shapes):
            return Passage(end, HORIZON, ())
        part, free, touched = sweep(
            self._kinds,
            self._rows,
            shapes.tolist(),
            start.ravel().tolist(),
            [*way, turn],
            body.numbers,
            end,
            stops=stops,
        )
        return Passage(part, free, tuple(self._contact(shape, found) for shape, found in touched.items()))

    def _shapes(self, low: Array, high: Array) -> Indices:
        """Those that may reach into a space along the axes."""
        if not (self._region[0] <= low).all() or not (high <= self._region[1]).all():
            self._region = np.array((low - REGION, high + REGION))
            packed = self._caster.packed
            self._members = _within(packed.lower, packed.upper, *self._region)
            self._lower, self._upper = packed.lower[self._members], packed.upper[self._members]
        return self._members[_within(self._lower, self._upper, low, high)]

    def _contact(self, shape: int, found: Separation) -> Contact:
        gap, nx, ny, nz, px, py, pz = found
        return Contact(self._caster.things[self._caster.packed.owner[shape]], (px, py, pz), (-nx, -ny, -nz), gap)


def _within(lower: Array, upper: Array, low: Array, high: Array) -> Indices:
    """Indices of bounds that reach into others."""
    return np.flatnonzero((lower <= high).all(axis=1) & (upper >= low).all(axis=1))


def _space(start: Array, way: Array, turn: float, body: CollisionBox) -> tuple[Array, Array]:
    """Bounds of where a body may be on its way, and wherever it can come from there within the horizon."""
    x, y, z, origin = start
    middle, half = np.array(body.numbers[:3]), np.array(body.numbers[3:])
    lows, highs = [], []
    for part in (0.0, 1.0):
        cosine, sine = math.cos(part * turn), math.sin(part * turn)
        turned = np.array((cosine * x + sine * y, cosine * y - sine * x, z))
        centre, reach = origin + part * way + middle @ turned, half @ np.abs(turned)
        lows.append(centre - reach)
        highs.append(centre + reach)
    margin = HORIZON + body.reach * turn * turn
    tilt = math.sqrt(max(0.0, 1.0 - float(z[2] * z[2])))
    wider = np.array((margin, margin, margin * tilt))
    return np.minimum(*lows) - wider, np.maximum(*highs) + wider


def casters_of(caster: RayCaster | JoinedCaster) -> tuple[RayCaster, ...]:
    """The trees of a caster: what stands still, and what moves if anything does."""
    return (caster.still, caster.moving) if isinstance(caster, JoinedCaster) else (caster,)
