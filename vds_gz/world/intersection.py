"""Where a ray enters a shape: one formula a shape, over numbers, compiled where numba is and interpreted elsewhere.

A ray is ``origin + t * direction`` with a direction of length 1, so ``t`` is a distance [m]. Of a solid that the origin
lies in, the far side is met. A shape that is missed gives infinity. Shapes are rows of numbers as
:mod:`vds_gz.world.packing` lays them out: for triangles a corner and two edges, else a rotation into the shape's own
frame (row by row), the position of its origin, and three sizes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float64]

TRIANGLE, BOX, CYLINDER, CAPSULE, ELLIPSOID, HALF_SPACE = range(6)

#: Edges of triangles are this much wider [parts of an edge], so that no ray slips between two that share one.
SEAM = 1e-9

#: Directions are never nearer to parallel than this, so that nothing is divided by zero.
PARALLEL = 1e-300


def away_from_zero(x: float) -> float:
    """The number, kept so far from zero that one can divide by it."""
    return math.copysign(PARALLEL, x) if abs(x) < PARALLEL else x


def first_of(near: float, far: float) -> float:
    """Where a line that is inside from ``near`` to ``far`` is met, going forwards."""
    if near > far or far < 0.0:
        return math.inf
    return near if near > 0.0 else far


def ray_triangle(p: Row, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float) -> float:
    """Möller and Trumbore's test (Fast, Minimum Storage Ray/Triangle Intersection, 1997), both sides."""
    px, py, pz = dy * p[8] - dz * p[7], dz * p[6] - dx * p[8], dx * p[7] - dy * p[6]
    determinant = p[3] * px + p[4] * py + p[5] * pz
    if determinant == 0.0:
        return math.inf
    inverse = 1.0 / determinant
    sx, sy, sz = ox - p[0], oy - p[1], oz - p[2]
    u = (sx * px + sy * py + sz * pz) * inverse
    if u < -SEAM or u > 1.0 + SEAM:
        return math.inf
    qx, qy, qz = sy * p[5] - sz * p[4], sz * p[3] - sx * p[5], sx * p[4] - sy * p[3]
    v = (dx * qx + dy * qy + dz * qz) * inverse
    if v < -SEAM or u + v > 1.0 + SEAM:
        return math.inf
    t = (p[6] * qx + p[7] * qy + p[8] * qz) * inverse
    return t if t > 0.0 else math.inf


def ray_box(p: Row, x: float, y: float, z: float, ux: float, uy: float, uz: float) -> float:
    """Slabs: inside from the last entry to the first exit."""
    ix, iy, iz = 1.0 / away_from_zero(ux), 1.0 / away_from_zero(uy), 1.0 / away_from_zero(uz)
    a, b = (-p[12] - x) * ix, (p[12] - x) * ix
    near, far = min(a, b), max(a, b)
    a, b = (-p[13] - y) * iy, (p[13] - y) * iy
    near, far = max(near, min(a, b)), min(far, max(a, b))
    a, b = (-p[14] - z) * iz, (p[14] - z) * iz
    return first_of(max(near, min(a, b)), min(far, max(a, b)))


def ray_cylinder(p: Row, x: float, y: float, z: float, ux: float, uy: float, uz: float) -> float:
    """Inside the tube and between the caps."""
    square = ux * ux + uy * uy
    excess = x * x + y * y - p[12] * p[12]
    near, far = -math.inf, math.inf
    if square > 0.0:
        half = x * ux + y * uy
        discriminant = half * half - square * excess
        if discriminant < 0.0:
            return math.inf
        root = math.sqrt(discriminant)
        near, far = (-half - root) / square, (root - half) / square
    elif excess > 0.0:
        return math.inf
    iz = 1.0 / away_from_zero(uz)
    a, b = (-p[14] - z) * iz, (p[14] - z) * iz
    return first_of(max(near, min(a, b)), min(far, max(a, b)))


def ray_ellipsoid(p: Row, x: float, y: float, z: float, ux: float, uy: float, uz: float) -> float:
    """A unit sphere, seen in a frame that is stretched by the radii."""
    x, y, z, ux, uy, uz = x / p[12], y / p[13], z / p[14], ux / p[12], uy / p[13], uz / p[14]
    square = ux * ux + uy * uy + uz * uz
    nearest = -(x * ux + y * uy + z * uz) / square
    # The distance of the line from the middle, from the point nearest to it: exact from far away too.
    a, b, c = x + nearest * ux, y + nearest * uy, z + nearest * uz
    rest = 1.0 - (a * a + b * b + c * c)
    if rest < 0.0:
        return math.inf
    root = math.sqrt(rest / square)
    return first_of(nearest - root, nearest + root)


def ray_capsule(p: Row, x: float, y: float, z: float, ux: float, uy: float, uz: float) -> float:
    """The union of a cylinder and two spheres is convex, so it is left where the last of them is."""
    near, far = math.inf, -math.inf
    radius, half_length = p[12], p[14]
    square = ux * ux + uy * uy
    half = x * ux + y * uy
    discriminant = half * half - square * (x * x + y * y - radius * radius)
    if square > 0.0 and discriminant >= 0.0:
        root = math.sqrt(discriminant)
        iz = 1.0 / away_from_zero(uz)
        a, b = (-half_length - z) * iz, (half_length - z) * iz
        begin = max((-half - root) / square, min(a, b))
        end = min((root - half) / square, max(a, b))
        if begin <= end:
            near, far = begin, end
    for centre in (-half_length, half_length):
        height = z - centre
        along = -(x * ux + y * uy + height * uz)
        a, b, c = x + along * ux, y + along * uy, height + along * uz
        rest = radius * radius - (a * a + b * b + c * c)
        if rest >= 0.0:
            root = math.sqrt(rest)
            near, far = min(near, along - root), max(far, along + root)
    return first_of(near, far)


def ray_half_space(z: float, uz: float) -> float:
    """The plane that bounds it, from either side."""
    t = -z / away_from_zero(uz)
    return t if t > 0.0 else math.inf


def ray_shape(kind: int, p: Row, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float) -> float:
    """Distance [m] at which a ray meets a shape; infinity if it does not.

    Args:
        kind: One of the constants above.
        p: The shape's row.
        ox, oy, oz: Where the ray begins [m].
        dx, dy, dz: Where it goes, of length 1.
    """
    if kind == TRIANGLE:
        return ray_triangle(p, ox, oy, oz, dx, dy, dz)
    sx, sy, sz = ox - p[9], oy - p[10], oz - p[11]
    x = p[0] * sx + p[1] * sy + p[2] * sz
    y = p[3] * sx + p[4] * sy + p[5] * sz
    z = p[6] * sx + p[7] * sy + p[8] * sz
    ux = p[0] * dx + p[1] * dy + p[2] * dz
    uy = p[3] * dx + p[4] * dy + p[5] * dz
    uz = p[6] * dx + p[7] * dy + p[8] * dz
    if kind == BOX:
        return ray_box(p, x, y, z, ux, uy, uz)
    if kind == CYLINDER:
        return ray_cylinder(p, x, y, z, ux, uy, uz)
    if kind == CAPSULE:
        return ray_capsule(p, x, y, z, ux, uy, uz)
    if kind == ELLIPSOID:
        return ray_ellipsoid(p, x, y, z, ux, uy, uz)
    return ray_half_space(z, uz)
