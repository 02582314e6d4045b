"""What rays meet first, by numpy: all rays times all shapes, where nothing is compiled, or not yet.

The formulas are those of :mod:`vds_gz.world.intersection`, operation by operation, so that both give the same bits.
Arrays have one row a ray and one column a shape; ``p`` holds the rows of the shapes, as ``p[number]`` of shape (1, m).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from vds_gz.world.intersection import BOX, CAPSULE, CYLINDER, ELLIPSOID, HALF_SPACE, PARALLEL, TRIANGLE
from vds_gz.world.shapes import Array, Indices

Flags = NDArray[np.bool_]

#: So many rays times shapes are worked on at once: what they need stays in a processor's cache.
BLOCK = 1 << 14


def cast(
    kinds: Indices, rows: Array, origins: Array, directions: Array, max_range: float, ranges: Array, hits: Indices
) -> None:
    """Find what every ray meets first; of shapes that it meets at one distance, the one of the lowest index.

    Args:
        kinds, rows: The shapes.
        origins: Where the rays begin [m], of shape (n, 3); (1, 3) where all begin in one place.
        directions: Where they go, of shape (n, 3), of length 1.
        max_range: What is not nearer is not met [m].
        ranges, hits: Filled with the distance [m] and the index of the shape; infinity and -1 where nothing is met.
    """
    ranges[:], hits[:] = max_range, -1
    with np.errstate(all="ignore"):
        for kind in np.unique(kinds):
            for rays, shapes in _blocks(len(directions), np.flatnonzero(kinds == kind)):
                begins = origins[rays] if len(origins) > 1 else origins
                t = distances(kind, rows[shapes], begins, directions[rays])
                nearest = t.argmin(axis=1)
                least, shape = t[np.arange(len(t)), nearest], shapes[nearest]
                better = (least < ranges[rays]) | ((least == ranges[rays]) & (shape < hits[rays]))
                ranges[rays][better], hits[rays][better] = least[better], shape[better]
    ranges[hits < 0] = np.inf


def _blocks(rays: int, shapes: Indices) -> Iterator[tuple[slice, Indices]]:
    """All pairs of rays and shapes, in parts."""
    width = min(len(shapes), BLOCK)
    height = max(1, BLOCK // width)
    for left in range(0, len(shapes), width):
        for top in range(0, rays, height):
            yield slice(top, top + height), shapes[left : left + width]


def distances(kind: int, rows: Array, origins: Array, directions: Array) -> Array:
    """How far each ray runs to each shape of one kind [m], of shape (rays, shapes); infinite where it passes."""
    p = rows.T[:, None, :]
    o, d = origins.T[:, :, None], directions.T[:, :, None]
    if kind == TRIANGLE:
        return _triangles(p, o, d)
    sx, sy, sz = o[0] - p[9], o[1] - p[10], o[2] - p[11]
    inner = (p[3 * k] * sx + p[3 * k + 1] * sy + p[3 * k + 2] * sz for k in range(3))
    turned = (p[3 * k] * d[0] + p[3 * k + 1] * d[1] + p[3 * k + 2] * d[2] for k in range(3))
    t = SOLIDS[kind](p, *inner, *turned)
    t[np.isnan(t)] = np.inf
    return t


def _away_from_zero(x: Array) -> Array:
    return np.where(np.abs(x) < PARALLEL, np.copysign(PARALLEL, x), x)


def _first_of(near: Array, far: Array) -> Array:
    return np.where((near > far) | (far < 0.0), np.inf, np.where(near > 0.0, near, far))


def _slab(half: Array, x: Array, ux: Array) -> tuple[Array, Array]:
    """Where rays are between two planes, from and to."""
    inverse = 1.0 / _away_from_zero(ux)
    a, b = (-half - x) * inverse, (half - x) * inverse
    return np.minimum(a, b), np.maximum(a, b)


def _triangles(p: Array, o: Array, d: Array) -> Array:
    """Rays along one axis of the world after the other, for each of which the axes have an order of their own."""
    x, y, z = np.abs(d[:, :, 0])
    axes = np.where((x > z) & (x >= y), 0, np.where(y > z, 1, 2))
    t = np.empty((d.shape[1], p.shape[2]))
    for axis in range(3):
        rays = np.flatnonzero(axes == axis)
        if len(rays):
            turn = [(axis + 1) % 3, (axis + 2) % 3, axis]
            corners = [p[3 * corner : 3 * corner + 3][turn] for corner in range(3)]
            begins = o if o.shape[1] == 1 else o[:, rays]
            t[rays] = _sheared(corners, begins[turn], d[:, rays][turn])
    return t


def _sheared(corners: list[Array], o: Array, d: Array) -> Array:
    """Of triangles, for rays that run along the third axis most."""
    scale = 1.0 / d[2]
    shear_x, shear_y = d[0] * scale, d[1] * scale
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (
        (x - o[0] - shear_x * (z - o[2]), y - o[1] - shear_y * (z - o[2]), z - o[2]) for x, y, z in corners
    )
    u, v, w = cx * by - cy * bx, ax * cy - ay * cx, bx * ay - by * ax
    passes = (np.minimum(u, np.minimum(v, w)) < 0.0) & (np.maximum(u, np.maximum(v, w)) > 0.0)
    volume = u + v + w
    t = (u * az + v * bz + w * cz) / volume * scale
    return np.where(~passes & (volume != 0.0) & (t > 0.0), t, np.inf)


def _boxes(p: Array, x: Array, y: Array, z: Array, ux: Array, uy: Array, uz: Array) -> Array:
    near, far = _slab(p[12], x, ux)
    for half, position, direction in ((p[13], y, uy), (p[14], z, uz)):
        begin, end = _slab(half, position, direction)
        near, far = np.maximum(near, begin), np.minimum(far, end)
    return _first_of(near, far)


def _tube(p: Array, x: Array, y: Array, z: Array, ux: Array, uy: Array, uz: Array) -> tuple[Array, Array, Flags]:
    """Where rays are inside a tube and between its ends, from and to, and whether they come near its axis at all."""
    square = ux * ux + uy * uy
    parallel = square <= 0.0
    nearest = np.where(parallel, 0.0, -(x * ux + y * uy) / square)
    a, b = x + nearest * ux, y + nearest * uy
    rest = p[12] * p[12] - (a * a + b * b)
    root = np.where(parallel, np.inf, np.sqrt(rest / square))
    begin, end = _slab(p[14], z, uz)
    return np.maximum(nearest - root, begin), np.minimum(nearest + root, end), rest >= 0.0


def _cylinders(p: Array, x: Array, y: Array, z: Array, ux: Array, uy: Array, uz: Array) -> Array:
    near, far, meets = _tube(p, x, y, z, ux, uy, uz)
    return np.where(meets, _first_of(near, far), np.inf)


def _capsules(p: Array, x: Array, y: Array, z: Array, ux: Array, uy: Array, uz: Array) -> Array:
    near, far, meets = _tube(p, x, y, z, ux, uy, uz)
    meets &= (near <= far) & (ux * ux + uy * uy > 0.0)
    near, far = np.where(meets, near, np.inf), np.where(meets, far, -np.inf)
    for centre in (-p[14], p[14]):
        height = z - centre
        along = -(x * ux + y * uy + height * uz)
        a, b, c = x + along * ux, y + along * uy, height + along * uz
        rest = p[12] * p[12] - (a * a + b * b + c * c)
        root = np.sqrt(rest)
        near = np.where(rest >= 0.0, np.minimum(near, along - root), near)
        far = np.where(rest >= 0.0, np.maximum(far, along + root), far)
    return _first_of(near, far)


def _ellipsoids(p: Array, x: Array, y: Array, z: Array, ux: Array, uy: Array, uz: Array) -> Array:
    x, y, z, ux, uy, uz = x / p[12], y / p[13], z / p[14], ux / p[12], uy / p[13], uz / p[14]
    square = ux * ux + uy * uy + uz * uz
    nearest = -(x * ux + y * uy + z * uz) / square
    a, b, c = x + nearest * ux, y + nearest * uy, z + nearest * uz
    rest = 1.0 - (a * a + b * b + c * c)
    root = np.sqrt(rest / square)
    return np.where(rest < 0.0, np.inf, _first_of(nearest - root, nearest + root))


def _half_spaces(_p: Array, _x: Array, _y: Array, z: Array, _ux: Array, _uy: Array, uz: Array) -> Array:
    t = -z / _away_from_zero(uz)
    return np.where(t > 0.0, t, np.inf)


#: Distances to solids, from rays in their own frames.
SOLIDS: dict[int, Callable[..., Array]] = {
    BOX: _boxes,
    CYLINDER: _cylinders,
    CAPSULE: _capsules,
    ELLIPSOID: _ellipsoids,
    HALF_SPACE: _half_spaces,
}
