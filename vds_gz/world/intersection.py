"""Where a ray enters a shape: one formula a shape, over numbers, for the compiled ray caster.

A ray is ``origin + t * direction`` with a direction of length 1, so ``t`` is a distance [m]. Of a solid that the origin
lies in, the far side is met. A shape that is missed gives infinity. Shapes are rows of numbers as
:mod:`vds_gz.world.packing` lays them out: for triangles three corners, else a rotation into the shape's own frame (row
by row), the position of its origin, and three sizes.

:mod:`vds_gz.world.vectorised` has the same formulas, operation by operation, over arrays.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]

TRIANGLE, BOX, CYLINDER, CAPSULE, ELLIPSOID, HALF_SPACE = range(6)

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


def ray_triangle(p: Rows, k: int, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float) -> float:
    """Woop, Benthin and Wald's test (Watertight Ray/Triangle Intersection, JCGT 2013), both sides.

    The corners are sheared until the ray is an axis; the signs of the edges around it are then exact, so that no ray
    slips between triangles that share an edge or a corner.
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
    scale = 1.0 / dz
    shear_x, shear_y = dx * scale, dy * scale
    ax, ay = ax - shear_x * az, ay - shear_y * az
    bx, by = bx - shear_x * bz, by - shear_y * bz
    cx, cy = cx - shear_x * cz, cy - shear_y * cz
    u, v, w = cx * by - cy * bx, ax * cy - ay * cx, bx * ay - by * ax
    if min(u, min(v, w)) < 0.0 and max(u, max(v, w)) > 0.0:
        return math.inf
    volume = u + v + w
    if volume == 0.0:
        return math.inf
    t = (u * az + v * bz + w * cz) / volume * scale
    return t if t > 0.0 else math.inf


def ray_box(p: Rows, k: int, x: float, y: float, z: float, ux: float, uy: float, uz: float) -> float:
    """Slabs: inside from the last entry to the first exit."""
    ix, iy, iz = 1.0 / away_from_zero(ux), 1.0 / away_from_zero(uy), 1.0 / away_from_zero(uz)
    a, b = (-p[k, 12] - x) * ix, (p[k, 12] - x) * ix
    near, far = min(a, b), max(a, b)
    a, b = (-p[k, 13] - y) * iy, (p[k, 13] - y) * iy
    near, far = max(near, min(a, b)), min(far, max(a, b))
    a, b = (-p[k, 14] - z) * iz, (p[k, 14] - z) * iz
    return first_of(max(near, min(a, b)), min(far, max(a, b)))


def ray_cylinder(p: Rows, k: int, x: float, y: float, z: float, ux: float, uy: float, uz: float) -> float:
    """Inside the tube and between the caps."""
    radius, half_length = p[k, 12], p[k, 14]
    square = ux * ux + uy * uy
    # The distance of the line from the axis, from the point nearest to it: exact from far away too.
    nearest = -(x * ux + y * uy) / square if square > 0.0 else 0.0
    a, b = x + nearest * ux, y + nearest * uy
    rest = radius * radius - (a * a + b * b)
    if rest < 0.0:
        return math.inf
    root = math.sqrt(rest / square) if square > 0.0 else math.inf
    iz = 1.0 / away_from_zero(uz)
    a, b = (-half_length - z) * iz, (half_length - z) * iz
    return first_of(max(nearest - root, min(a, b)), min(nearest + root, max(a, b)))


def ray_ellipsoid(p: Rows, k: int, x: float, y: float, z: float, ux: float, uy: float, uz: float) -> float:
    """A unit sphere, seen in a frame that is stretched by the radii."""
    x, y, z = x / p[k, 12], y / p[k, 13], z / p[k, 14]
    ux, uy, uz = ux / p[k, 12], uy / p[k, 13], uz / p[k, 14]
    square = ux * ux + uy * uy + uz * uz
    nearest = -(x * ux + y * uy + z * uz) / square
    a, b, c = x + nearest * ux, y + nearest * uy, z + nearest * uz
    rest = 1.0 - (a * a + b * b + c * c)
    if rest < 0.0:
        return math.inf
    root = math.sqrt(rest / square)
    return first_of(nearest - root, nearest + root)


def ray_capsule(p: Rows, k: int, x: float, y: float, z: float, ux: float, uy: float, uz: float) -> float:
    """The union of a cylinder and two spheres is convex: it is entered and left where the first and last of them is."""
    near, far = math.inf, -math.inf
    radius, half_length = p[k, 12], p[k, 14]
    square = ux * ux + uy * uy
    if square > 0.0:
        nearest = -(x * ux + y * uy) / square
        a, b = x + nearest * ux, y + nearest * uy
        rest = radius * radius - (a * a + b * b)
        if rest >= 0.0:
            root = math.sqrt(rest / square)
            iz = 1.0 / away_from_zero(uz)
            a, b = (-half_length - z) * iz, (half_length - z) * iz
            begin, end = max(nearest - root, min(a, b)), min(nearest + root, max(a, b))
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


def ray_shape(kind: int, p: Rows, k: int, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float) -> float:
    """Distance [m] at which a ray meets a shape; infinity if it does not."""
    if kind == TRIANGLE:
        return ray_triangle(p, k, ox, oy, oz, dx, dy, dz)
    sx, sy, sz = ox - p[k, 9], oy - p[k, 10], oz - p[k, 11]
    x = p[k, 0] * sx + p[k, 1] * sy + p[k, 2] * sz
    y = p[k, 3] * sx + p[k, 4] * sy + p[k, 5] * sz
    z = p[k, 6] * sx + p[k, 7] * sy + p[k, 8] * sz
    ux = p[k, 0] * dx + p[k, 1] * dy + p[k, 2] * dz
    uy = p[k, 3] * dx + p[k, 4] * dy + p[k, 5] * dz
    uz = p[k, 6] * dx + p[k, 7] * dy + p[k, 8] * dz
    if kind == BOX:
        return ray_box(p, k, x, y, z, ux, uy, uz)
    if kind == CYLINDER:
        return ray_cylinder(p, k, x, y, z, ux, uy, uz)
    if kind == CAPSULE:
        return ray_capsule(p, k, x, y, z, ux, uy, uz)
    if kind == ELLIPSOID:
        return ray_ellipsoid(p, k, x, y, z, ux, uy, uz)
    return ray_half_space(z, uz)
