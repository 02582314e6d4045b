"""The distance between a box and a convex shape, and its direction.

Shapes are rows of numbers as in :mod:`vds_gz.core.world.intersection`. The algorithm is that of Gilbert, Johnson and
Keerthi (A Fast Procedure for Computing the Distance Between Complex Objects in Three-Dimensional Space, 1988). It
searches the difference of both shapes for the point nearest to the origin, by points that are farthest along a
direction. Each of these gives a plane between the shapes, so the result never exceeds the true distance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from operator import itemgetter
from typing import NamedTuple

from vds_gz.core.geometry import Vector, cross
from vds_gz.core.world.intersection import BOX, CAPSULE, CYLINDER, HALF_SPACE, TRIANGLE

Row = list[float]

SupportPoint = tuple[Vector, Vector]  # a difference of points of both shapes, and the point of the other shape
EXACT = 1e-8  # maximum error of a distance [m]
NEAR_ENOUGH = 1e-3  # additional error, as a part of the distance
FACE_TO_FACE = 0.01  # below this distance, the normals of faces are tried as directions too [m]
ITERATIONS = 64  # maximum number of iterations


class Separation(NamedTuple):
    """The separation of a box and a shape: along the direction, no points of them are closer than the gap."""

    #: The distance [m]; if they overlap, minus the distance that the box must move against the direction to be clear.
    gap: float
    # unit vector from box to shape; if they overlap, in the plane of the box's x and y axes, except for a half space
    direction: Vector
    point: Vector  # the nearest point of the shape [m]


def dot(a: Vector, b: Vector) -> float:
    """The dot product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def minus(a: Vector, b: Vector) -> Vector:
    """The difference of two vectors."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _scaled(a: Vector, factor: float) -> Vector:
    return a[0] * factor, a[1] * factor, a[2] * factor


def vector(p: Row, k: int) -> Vector:
    """Three numbers of a row: an axis, a corner or a position."""
    return p[k], p[k + 1], p[k + 2]


def farthest(kind: int, p: Row, d: Vector) -> Vector:
    """The point of a shape that lies farthest along a direction of any length."""
    u, v, w = dot(vector(p, 0), d), dot(vector(p, 3), d), dot(vector(p, 6), d)
    if kind == TRIANGLE:
        return vector(p, 0 if u >= max(v, w) else 3 if v >= w else 6)
    x, y, z = _farthest_of_solid(kind, p[12], p[13], p[14], u, v, w)
    return (
        p[9] + p[0] * x + p[3] * y + p[6] * z,
        p[10] + p[1] * x + p[4] * y + p[7] * z,
        p[11] + p[2] * x + p[5] * y + p[8] * z,
    )


def _farthest_of_solid(kind: int, a: float, b: float, c: float, x: float, y: float, z: float) -> Vector:
    """The same in the frame of a solid with the sizes ``a``, ``b`` and ``c``, along (x, y, z)."""
    if kind == BOX:
        return math.copysign(a, x), math.copysign(b, y), math.copysign(c, z)
    if kind == CYLINDER:
        length = math.hypot(x, y)
        scale = a / length if length > 0.0 else 0.0
        return x * scale, y * scale, math.copysign(c, z)
    if kind == CAPSULE:
        length = math.sqrt(x * x + y * y + z * z)
        scale = a / length if length > 0.0 else 0.0
        return x * scale, y * scale, z * scale + math.copysign(c, z)
    x, y, z = a * x, b * y, c * z
    length = math.sqrt(x * x + y * y + z * z)
    scale = 1.0 / length if length > 0.0 else 0.0
    return a * x * scale, b * y * scale, c * z * scale


def _middle(kind: int, p: Row) -> Vector:
    if kind == TRIANGLE:
        return (p[0] + p[3] + p[6]) / 3.0, (p[1] + p[4] + p[7]) / 3.0, (p[2] + p[5] + p[8]) / 3.0
    return vector(p, 9)


def separation(box: Row, kind: int, p: Row) -> Separation:
    """The separation of a box and a shape."""
    if kind == HALF_SPACE:
        normal = vector(p, 6)
        corner = farthest(BOX, box, _scaled(normal, -1.0))
        gap = dot(normal, minus(corner, vector(p, 9)))
        return Separation(gap, _scaled(normal, -1.0), minus(corner, _scaled(normal, gap)))
    v = minus(vector(box, 9), _middle(kind, p))
    simplex: list[SupportPoint] = []
    weights: tuple[float, ...] = ()
    gap, direction = -math.inf, (0.0, 0.0, 0.0)
    for _ in range(ITERATIONS):
        length = math.sqrt(dot(v, v))
        if length < EXACT:
            break
        point = farthest(kind, p, v)
        difference = minus(farthest(BOX, box, _scaled(v, -1.0)), point)
        bound = dot(v, difference) / length
        if bound > gap:
            gap, direction = bound, (-v[0] / length, -v[1] / length, -v[2] / length)
        if simplex and length - gap <= EXACT + NEAR_ENOUGH * max(0.0, gap):
            break
        simplex, weights = _nearest([*simplex, (difference, point)])
        v = _mean([difference for difference, _ in simplex], weights)
        if len(simplex) == 4:
            break
    if gap <= 0.0:
        axis = _deepest_axis(box, kind, p, _exit_directions(box, kind, p))
        return Separation(*axis, farthest(kind, p, _scaled(axis[1], -1.0)))
    if gap < FACE_TO_FACE:
        # Between large faces that nearly touch, rounding spoils a direction from the difference of distant points.
        gap, direction = max((gap, direction), _deepest_axis(box, kind, p, _faces(box, kind, p)), key=itemgetter(0))
    return Separation(gap, direction, _mean([point for _, point in simplex], weights))


def _deepest_axis(box: Row, kind: int, p: Row, directions: Iterable[Vector]) -> tuple[float, Vector]:
    """The largest distance along one of some directions or against it, and that direction."""
    gap, axis = -math.inf, (0.0, 0.0, 0.0)
    for direction in directions:
        for n in (direction, _scaled(direction, -1.0)):
            distance = dot(n, minus(farthest(kind, p, _scaled(n, -1.0)), farthest(BOX, box, n)))
            if distance > gap:
                gap, axis = distance, n
    return gap, axis


def _faces(box: Row, kind: int, p: Row) -> list[Vector]:
    """The axes of the box, and those of a solid or the normal of a triangle."""
    if kind != TRIANGLE:
        return [vector(row, k) for row in (box, p) for k in (0, 3, 6)]
    normal = cross(minus(vector(p, 3), vector(p, 0)), minus(vector(p, 6), vector(p, 0)))
    length = math.sqrt(dot(normal, normal))
    return [vector(box, k) for k in (0, 3, 6)] + [(normal[0] / length, normal[1] / length, normal[2] / length)] * (
        length > 0.0
    )


def _exit_directions(box: Row, kind: int, p: Row) -> list[Vector]:
    """Candidates for the way out, in the box's plane: between the middles, along axes, across a triangle's edges."""
    up, corners = vector(box, 6), [vector(p, k) for k in (0, 3, 6)]
    features = corners
    if kind == TRIANGLE:
        features = [cross(up, minus(corners[k - 2], corners[k])) for k in range(3)]
    candidates = [minus(_middle(kind, p), vector(box, 9)), vector(box, 0), vector(box, 3), *features]
    planar = [minus(candidate, _scaled(up, dot(up, candidate))) for candidate in candidates]
    lengths = [math.sqrt(dot(candidate, candidate)) for candidate in planar]
    return [
        (x / length, y / length, z / length)
        for (x, y, z), length in zip(planar, lengths, strict=True)
        if length >= 1e-9
    ]


def _mean(points: Sequence[Vector], weights: Sequence[float]) -> Vector:
    """The weighted mean of points."""
    x, y, z = 0.0, 0.0, 0.0
    for (a, b, c), weight in zip(points, weights, strict=True):
        x += weight * a
        y += weight * b
        z += weight * c
    return x, y, z


def _nearest(simplex: list[SupportPoint]) -> tuple[list[SupportPoint], tuple[float, ...]]:
    """Reduce up to four differences to those whose weighted mean is nearest to the origin, with their weights.

    For each corner, edge, triangle and the whole, the point of its plane nearest to the origin is computed. The nearest
    of those points that lie inside is the result. Four differences remain if the origin is inside.
    """
    least_square, nearest, weights = math.inf, simplex[:1], tuple[float, ...]()
    for count in range(1, len(simplex) + 1):
        for subset in combinations(simplex, count):
            differences = [difference for difference, _ in subset]
            trial = _inner_weights(differences)
            if trial is not None:
                mean = _mean(differences, trial)
                square = dot(mean, mean)
                if square < least_square:
                    least_square, nearest, weights = square, list(subset), trial
    return nearest, weights


def _inner_weights(w: Sequence[Vector]) -> tuple[float, ...] | None:
    """Weights of the point nearest to the origin in the plane of some points; None if it is not between them."""
    origin = w[0]
    if len(w) == 1:
        return (1.0,)
    e = minus(w[1], origin)
    ee, ei = dot(e, e), dot(e, origin)
    if len(w) == 2:
        return _inside(-ei / ee if ee > 0.0 else -1.0)
    f = minus(w[2], origin)
    if len(w) == 3:
        ff, ef, fi = dot(f, f), dot(e, f), dot(f, origin)
        area = ee * ff - ef * ef
        return _inside((ef * fi - ff * ei) / area, (ef * ei - ee * fi) / area) if area > 1e-14 * ee * ff else None
    g = minus(w[3], origin)
    normal = cross(f, g)
    volume = dot(e, normal)
    if abs(volume) <= 1e-14 * math.sqrt(ee * dot(normal, normal)):
        return None
    return _inside(*(-dot(origin, normal) / volume for normal in (normal, cross(g, e), cross(e, f))))


def _inside(*weights: float) -> tuple[float, ...] | None:
    """Weights with a first one that completes their sum to 1; None if one is not positive."""
    first = 1.0
    for weight in weights:
        first -= weight
    return (first, *weights) if min(first, *weights) > 0.0 else None
