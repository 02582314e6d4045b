"""How far two convex shapes are apart, and along which direction.

Shapes are rows of numbers as in :mod:`vds_gz.world.intersection`. The distance is that of Gilbert, Johnson and Keerthi
(A Fast Procedure for Computing the Distance Between Complex Objects in Three-Dimensional Space, 1988): the point of the
difference of both shapes that is nearest to the origin, by way of points farthest along a direction. Each of these
gives a plane between the shapes, so that what is returned is never more than the true distance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from vds_gz.world.intersection import BOX, CAPSULE, CYLINDER, HALF_SPACE, TRIANGLE

Row = list[float]
Point = tuple[float, float, float]

#: A difference of points of both shapes, and the point of the other shape.
Pair = tuple[Point, Point]

#: Distance, direction and point, as :func:`separation` gives them.
Separation = tuple[float, float, float, float, float, float, float]

#: Distances are exact to this [m], and far ones to this part.
EXACT = 1e-8
NEAR_ENOUGH = 1e-3

#: So near, the faces themselves are tried too [m].
FACE_TO_FACE = 0.01

#: Shapes that come no nearer by then are as far apart as is known.
ITERATIONS = 64


def along(p: Row, k: int, x: float, y: float, z: float) -> float:
    """A vector along an axis of a shape's own frame."""
    return float(p[k] * x + p[k + 1] * y + p[k + 2] * z)


def farthest(kind: int, p: Row, dx: float, dy: float, dz: float) -> Point:
    """The point of a shape that lies farthest along a direction of any length."""
    if kind == TRIANGLE:
        a, b, c = along(p, 0, dx, dy, dz), along(p, 3, dx, dy, dz), along(p, 6, dx, dy, dz)
        k = 0 if a >= max(b, c) else 3 if b >= c else 6
        return p[k], p[k + 1], p[k + 2]
    x, y, z = local_farthest(kind, p, along(p, 0, dx, dy, dz), along(p, 3, dx, dy, dz), along(p, 6, dx, dy, dz))
    return (
        p[9] + p[0] * x + p[3] * y + p[6] * z,
        p[10] + p[1] * x + p[4] * y + p[7] * z,
        p[11] + p[2] * x + p[5] * y + p[8] * z,
    )


def local_farthest(kind: int, p: Row, x: float, y: float, z: float) -> Point:
    """The same in a solid's own frame."""
    a, b, c = p[12], p[13], p[14]
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


def middle(kind: int, p: Row) -> Point:
    """A point in a shape."""
    if kind == TRIANGLE:
        return (p[0] + p[3] + p[6]) / 3.0, (p[1] + p[4] + p[7]) / 3.0, (p[2] + p[5] + p[8]) / 3.0
    return p[9], p[10], p[11]


def separation(box: Row, kind: int, p: Row) -> Separation:
    """How far a box and a shape are apart."""
    if kind == HALF_SPACE:
        bx, by, bz = farthest(BOX, box, -p[6], -p[7], -p[8])
        gap = p[6] * (bx - p[9]) + p[7] * (by - p[10]) + p[8] * (bz - p[11])
        return gap, -p[6], -p[7], -p[8], bx - gap * p[6], by - gap * p[7], bz - gap * p[8]
    mx, my, mz = middle(kind, p)
    vx, vy, vz = box[9] - mx, box[10] - my, box[11] - mz
    simplex: list[Pair] = []
    weights: tuple[float, ...] = ()
    gap, nx, ny, nz = -math.inf, 0.0, 0.0, 0.0
    for _ in range(ITERATIONS):
        length = math.sqrt(vx * vx + vy * vy + vz * vz)
        if length < EXACT:
            break
        ax, ay, az = farthest(BOX, box, -vx, -vy, -vz)
        bx, by, bz = farthest(kind, p, vx, vy, vz)
        bound = (vx * (ax - bx) + vy * (ay - by) + vz * (az - bz)) / length
        if bound > gap:
            gap, nx, ny, nz = bound, -vx / length, -vy / length, -vz / length
        if simplex and length - gap <= EXACT + NEAR_ENOUGH * max(0.0, gap):
            break
        simplex, weights = nearest([*simplex, ((ax - bx, ay - by, az - bz), (bx, by, bz))])
        vx, vy, vz = mean([difference for difference, _ in simplex], weights)
        if len(simplex) == 4:
            break
    if gap <= 0.0:
        return overlap(box, kind, p)
    px, py, pz = mean([point for _, point in simplex], weights)
    if gap < FACE_TO_FACE:
        gap, nx, ny, nz = best_face(box, kind, p, gap, nx, ny, nz)
    return gap, nx, ny, nz, px, py, pz


def best_face(
    box: Row, kind: int, p: Row, gap: float, nx: float, ny: float, nz: float
) -> tuple[float, float, float, float]:
    """The direction along which both are farthest apart, of one that is known and those of their faces.

    Between large faces that nearly touch, the difference of points far away has too few digits for a direction.
    """
    for k in range(6):
        if k < 3:
            dx, dy, dz = box[3 * k], box[3 * k + 1], box[3 * k + 2]
        elif kind == TRIANGLE:
            dx, dy, dz = normal(p)
        else:
            dx, dy, dz = p[3 * k - 9], p[3 * k - 8], p[3 * k - 7]
        for sign in (1.0, -1.0):
            x, y, z = sign * dx, sign * dy, sign * dz
            ax, ay, az = farthest(BOX, box, x, y, z)
            bx, by, bz = farthest(kind, p, -x, -y, -z)
            apart = x * (bx - ax) + y * (by - ay) + z * (bz - az)
            if apart > gap:
                gap, nx, ny, nz = apart, x, y, z
    return gap, nx, ny, nz


def normal(p: Row) -> Point:
    """Of a triangle, of length 1; 0 where it has no area."""
    ex, ey, ez = p[3] - p[0], p[4] - p[1], p[5] - p[2]
    fx, fy, fz = p[6] - p[0], p[7] - p[1], p[8] - p[2]
    x, y, z = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    length = math.sqrt(x * x + y * y + z * z)
    return (x / length, y / length, z / length) if length > 0.0 else (0.0, 0.0, 0.0)


def mean(points: Sequence[Point], weights: Sequence[float]) -> Point:
    """The weighted mean of points."""
    x, y, z = 0.0, 0.0, 0.0
    for (a, b, c), weight in zip(points, weights, strict=True):
        x += weight * a
        y += weight * b
        z += weight * c
    return x, y, z


def nearest(simplex: list[Pair]) -> tuple[list[Pair], tuple[float, ...]]:
    """Reduce up to four differences to those whose weighted mean is nearest to the origin, with their weights.

    Every corner, edge, triangle and the whole is tried for the point of its plane that is nearest to the origin; of
    those that lie inside, the nearest one is it. Four are left if the origin lies inside.
    """
    best, left, weights = math.inf, simplex[:1], tuple[float, ...]()
    for count in range(1, len(simplex) + 1):
        for subset in combinations(simplex, count):
            differences = [difference for difference, _ in subset]
            trial = inner_weights(differences)
            if trial is not None:
                x, y, z = mean(differences, trial)
                square = x * x + y * y + z * z
                if square < best:
                    best, left, weights = square, list(subset), trial
    return left, weights


def inner_weights(w: Sequence[Point]) -> tuple[float, ...] | None:
    """Weights of the point nearest to the origin in the plane of some points; None if it is not between them."""
    if len(w) == 1:
        return (1.0,)
    (ix, iy, iz), (jx, jy, jz) = w[:2]
    ex, ey, ez = jx - ix, jy - iy, jz - iz
    ee, ei = ex * ex + ey * ey + ez * ez, ex * ix + ey * iy + ez * iz
    if len(w) == 2:
        second = -ei / ee if ee > 0.0 else -1.0
        return inside(second)
    fx, fy, fz = w[2][0] - ix, w[2][1] - iy, w[2][2] - iz
    if len(w) == 3:
        ff, ef = fx * fx + fy * fy + fz * fz, ex * fx + ey * fy + ez * fz
        fi = fx * ix + fy * iy + fz * iz
        area = ee * ff - ef * ef
        return inside((ef * fi - ff * ei) / area, (ef * ei - ee * fi) / area) if area > 1e-14 * ee * ff else None
    gx, gy, gz = w[3][0] - ix, w[3][1] - iy, w[3][2] - iz
    cx, cy, cz = fy * gz - fz * gy, fz * gx - fx * gz, fx * gy - fy * gx
    volume = ex * cx + ey * cy + ez * cz
    if abs(volume) <= 1e-14 * math.sqrt(ee * (cx * cx + cy * cy + cz * cz)):
        return None
    second = -(ix * cx + iy * cy + iz * cz) / volume
    cx, cy, cz = gy * ez - gz * ey, gz * ex - gx * ez, gx * ey - gy * ex
    third = -(ix * cx + iy * cy + iz * cz) / volume
    cx, cy, cz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    return inside(second, third, -(ix * cx + iy * cy + iz * cz) / volume)


def inside(*weights: float) -> tuple[float, ...] | None:
    """All weights, the first of which completes the sum to 1; None if one is not positive."""
    first = 1.0
    for weight in weights:
        first -= weight
    return (first, *weights) if min(first, *weights) > 0.0 else None


def overlap(box: Row, kind: int, p: Row) -> Separation:
    """How far a box that overlaps a shape has to be moved in its own plane, along the best of some directions.

    They are the box's own axes, those of the shape, and the direction between the middles, each in the box's plane.
    """
    best, ux, uy, uz = math.inf, 0.0, 0.0, 0.0
    mx, my, mz = middle(kind, p)
    for k in range(6):
        if k == 0:
            dx, dy, dz = mx - box[9], my - box[10], mz - box[11]
        elif k <= 2:
            dx, dy, dz = box[3 * k - 3], box[3 * k - 2], box[3 * k - 1]
        elif kind == TRIANGLE:  # across its edges, seen from above
            i, j = 3 * k - 9, 3 * (k - 2) % 9
            ex, ey, ez = p[j] - p[i], p[j + 1] - p[i + 1], p[j + 2] - p[i + 2]
            dx, dy, dz = box[7] * ez - box[8] * ey, box[8] * ex - box[6] * ez, box[6] * ey - box[7] * ex
        else:
            dx, dy, dz = p[3 * k - 9], p[3 * k - 8], p[3 * k - 7]
        height = box[6] * dx + box[7] * dy + box[8] * dz
        dx, dy, dz = dx - height * box[6], dy - height * box[7], dz - height * box[8]
        length = math.sqrt(dx * dx + dy * dy + dz * dz)
        if length < 1e-9:
            continue
        for sign in (1.0, -1.0):
            x, y, z = sign * dx / length, sign * dy / length, sign * dz / length
            ax, ay, az = farthest(BOX, box, x, y, z)
            bx, by, bz = farthest(kind, p, -x, -y, -z)
            depth = x * (ax - bx) + y * (ay - by) + z * (az - bz)
            if depth < best:
                best, ux, uy, uz = depth, x, y, z
    px, py, pz = farthest(kind, p, -ux, -uy, -uz)
    return -best, ux, uy, uz, px, py, pz
