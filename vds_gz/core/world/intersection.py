"""Distance at which a ray hits a shape: one formula for each shape.

A ray is ``origin + t * direction`` with a direction of length 1, so ``t`` is a distance [m]. A ray that starts inside a
solid hits its far side. A miss gives infinity. Shapes are rows of numbers as :mod:`vds_gz.core.world.packing` lays them
out: for triangles three corners, else a rotation into the shape's own frame (row by row), the position of its origin,
and three sizes.

numba compiles these functions, and Python runs them where it cannot. Python refuses a division by zero and the root of
a negative number, so both are left out before they can occur; then both give the same bits.
"""

from __future__ import annotations

from math import copysign, inf, sqrt

from vds_gz.core.arrays import Array

TRIANGLE, BOX, CYLINDER, CAPSULE, ELLIPSOID, HALF_SPACE = range(6)

PARALLEL = 1e-300  # minimum component of a direction, to avoid division by zero


def away_from_zero(x: float) -> float:
    """The number, moved away from zero so far that one can divide by it."""
    return copysign(PARALLEL, x) if abs(x) < PARALLEL else x


def first_of(near: float, far: float) -> float:
    """The first hit of a ray whose line is inside from ``near`` to ``far``; infinity if both are behind."""
    if near > far or far < 0.0:
        return inf
    return near if near > 0.0 else far


def slab(half: float, x: float, ux: float) -> tuple[float, float]:
    """The start and end of a ray's part between the planes at ``-half`` and ``half``."""
    inverse = 1.0 / away_from_zero(ux)
    a, b = (-half - x) * inverse, (half - x) * inverse
    return min(a, b), max(a, b)


def tube(
    radius: float, half: float, x: float, y: float, z: float, ux: float, uy: float, uz: float
) -> tuple[float, float]:
    """The start and end of a ray's part in a tube with ends; infinity and minus infinity for a miss."""
    square = ux * ux + uy * uy
    parallel = square <= 0.0
    # By the point of the line nearest to the axis, which is exact from far away too.
    nearest = 0.0 if parallel else -(x * ux + y * uy) / square
    a, b = x + nearest * ux, y + nearest * uy
    rest = radius * radius - (a * a + b * b)
    if not rest >= 0.0:
        return inf, -inf
    root = inf if parallel else sqrt(rest / square)
    begin, end = slab(half, z, uz)
    return max(nearest - root, begin), min(nearest + root, end)


def ray_box(a: float, b: float, c: float, x: float, y: float, z: float, ux: float, uy: float, uz: float) -> float:
    """A box: the ray is inside from its last entry between two planes to its first exit."""
    x_near, x_far = slab(a, x, ux)
    y_near, y_far = slab(b, y, uy)
    z_near, z_far = slab(c, z, uz)
    return first_of(max(max(x_near, y_near), z_near), min(min(x_far, y_far), z_far))


def ray_cylinder(a: float, b: float, c: float, x: float, y: float, z: float, ux: float, uy: float, uz: float) -> float:
    """A cylinder: the ray's part in a tube with ends."""
    near, far = tube(a, c, x, y, z, ux, uy, uz)
    return first_of(near, far)


def ray_capsule(a: float, b: float, c: float, x: float, y: float, z: float, ux: float, uy: float, uz: float) -> float:
    """A capsule: a cylinder and two spheres, whose union is convex, so the first entry and the last exit count."""
    near, far = tube(a, c, x, y, z, ux, uy, uz)
    if not (near <= far and ux * ux + uy * uy > 0.0):
        near, far = inf, -inf
    for centre in (-c, c):
        height = z - centre
        along = -(x * ux + y * uy + height * uz)
        px, py, pz = x + along * ux, y + along * uy, height + along * uz
        rest = a * a - (px * px + py * py + pz * pz)
        if rest >= 0.0:
            root = sqrt(rest)
            near, far = min(near, along - root), max(far, along + root)
    return first_of(near, far)


def ray_ellipsoid(a: float, b: float, c: float, x: float, y: float, z: float, ux: float, uy: float, uz: float) -> float:
    """An ellipsoid: the unit sphere in a frame scaled by the radii."""
    x, y, z, ux, uy, uz = x / a, y / b, z / c, ux / a, uy / b, uz / c
    square = ux * ux + uy * uy + uz * uz
    if square == 0.0:
        return inf
    nearest = -(x * ux + y * uy + z * uz) / square
    px, py, pz = x + nearest * ux, y + nearest * uy, z + nearest * uz
    rest = 1.0 - (px * px + py * py + pz * pz)
    if not rest >= 0.0:
        return inf
    root = sqrt(rest / square)
    return first_of(nearest - root, nearest + root)


def ray_half_space(z: float, uz: float) -> float:
    """A half space: the plane that bounds it, from either side."""
    t = -z / away_from_zero(uz)
    return t if t > 0.0 else inf


def ray_solid(kind: int, p: Array, k: int, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float) -> float:
    """The same as :func:`ray_shape`, for solids."""
    sx, sy, sz = ox - p[k, 9], oy - p[k, 10], oz - p[k, 11]
    x = p[k, 0] * sx + p[k, 1] * sy + p[k, 2] * sz
    y = p[k, 3] * sx + p[k, 4] * sy + p[k, 5] * sz
    z = p[k, 6] * sx + p[k, 7] * sy + p[k, 8] * sz
    ux = p[k, 0] * dx + p[k, 1] * dy + p[k, 2] * dz
    uy = p[k, 3] * dx + p[k, 4] * dy + p[k, 5] * dz
    uz = p[k, 6] * dx + p[k, 7] * dy + p[k, 8] * dz
    if kind == BOX:
        return ray_box(p[k, 12], p[k, 13], p[k, 14], x, y, z, ux, uy, uz)
    if kind == CYLINDER:
        return ray_cylinder(p[k, 12], p[k, 13], p[k, 14], x, y, z, ux, uy, uz)
    if kind == CAPSULE:
        return ray_capsule(p[k, 12], p[k, 13], p[k, 14], x, y, z, ux, uy, uz)
    if kind == ELLIPSOID:
        return ray_ellipsoid(p[k, 12], p[k, 13], p[k, 14], x, y, z, ux, uy, uz)
    return ray_half_space(z, uz)


def ray_triangle(p: Array, k: int, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float) -> float:
    """Woop, Benthin and Wald's test (Watertight Ray/Triangle Intersection, JCGT 2013), both sides.

    The corners are sheared so that the ray becomes an axis. The signs of the edges around it are then exact, so no ray
    passes between triangles that share an edge or a corner.
    """
    ax, ay, az = p[k, 0] - ox, p[k, 1] - oy, p[k, 2] - oz
    bx, by, bz = p[k, 3] - ox, p[k, 4] - oy, p[k, 5] - oz
    cx, cy, cz = p[k, 6] - ox, p[k, 7] - oy, p[k, 8] - oz
    if abs(dx) > abs(dz) and abs(dx) >= abs(dy):
        dx, dy, dz = dy, dz, dx
        ax, ay, az, bx, by, bz, cx, cy, cz = ay, az, ax, by, bz, bx, cy, cz, cx
    elif abs(dy) > abs(dz):
        dx, dy, dz = dz, dx, dy
        ax, ay, az, bx, by, bz, cx, cy, cz = az, ax, ay, bz, bx, by, cz, cx, cy
    if dz == 0.0:
        return inf
    scale = 1.0 / dz
    shear_x, shear_y = dx * scale, dy * scale
    ax, ay = ax - shear_x * az, ay - shear_y * az
    bx, by = bx - shear_x * bz, by - shear_y * bz
    cx, cy = cx - shear_x * cz, cy - shear_y * cz
    u, v, w = cx * by - cy * bx, ax * cy - ay * cx, bx * ay - by * ax
    if min(u, min(v, w)) < 0.0 and max(u, max(v, w)) > 0.0:
        return inf
    volume = u + v + w
    if volume == 0.0:
        return inf
    t = (u * az + v * bz + w * cz) / volume * scale
    return t if t > 0.0 else inf


def ray_shape(kind: int, p: Array, k: int, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float) -> float:
    """Distance [m] at which the ray from ``o`` along ``d`` hits the shape of row ``p[k]``; infinity if it misses."""
    if kind == TRIANGLE:
        return ray_triangle(p, k, ox, oy, oz, dx, dy, dz)
    return ray_solid(kind, p, k, ox, oy, oz, dx, dy, dz)
