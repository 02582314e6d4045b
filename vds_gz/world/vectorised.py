"""What rays meet first, by numpy, where nothing is compiled, or not yet.

The formulas are those of :mod:`vds_gz.world.intersection`, operation by operation, so that both give the same bits.
Instead of walking down a tree, all rays are held against the bounds of all shapes at once, and what passes there is
computed pair by pair: arrays have one entry a pair of a ray and a shape; ``p`` holds the shapes' rows, ``p[number]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from vds_gz.world.intersection import BOX, CAPSULE, CYLINDER, ELLIPSOID, HALF_SPACE, PARALLEL, TRIANGLE
from vds_gz.world.packing import Packed
from vds_gz.world.shapes import Array, Indices

Flags = NDArray[np.bool_]

#: So many rays times shapes are worked on at once: what they need stays in a processor's cache.
BLOCK = 1 << 16


def cast(packed: Packed, origins: Array, directions: Array, max_range: float, ranges: Array, hits: Indices) -> None:
    """Find what every ray meets first; of shapes that it meets at one distance, the one of the lowest index."""
    none = len(packed.kinds)
    ranges[:], hits[:] = max_range, none
    with np.errstate(all="ignore"):
        for rays, shapes in _pairs(packed, origins, directions, max_range):
            begins = origins[rays] if len(origins) > 1 else np.broadcast_to(origins, (len(rays), 3))
            t = np.empty(len(rays))
            kinds = packed.kinds[shapes]
            for kind in np.unique(kinds):
                of_kind = kinds == kind
                t[of_kind] = distances(kind, packed.rows[shapes[of_kind]], begins[of_kind], directions[rays[of_kind]])
            before = ranges[rays]
            np.minimum.at(ranges, rays, t)
            first = t == ranges[rays]
            hits[rays[ranges[rays] < before]] = none
            np.minimum.at(hits, rays[first & (t < max_range)], shapes[first & (t < max_range)])
    ranges[hits == none] = np.inf
    hits[hits == none] = -1


def _pairs(packed: Packed, origins: Array, directions: Array, max_range: float) -> Iterator[tuple[Indices, Indices]]:
    """Rays, and shapes that they may meet, in parts: those whose bounds they come through."""
    within = _within_reach(packed, origins, directions, max_range)
    # Along an axis along which no ray runs, those within reach are met.
    moving = [axis for axis in range(3) if len(origins) > 1 or directions[:, axis].any()]
    lower, upper = packed.lower[within].T[:, None, :], packed.upper[within].T[:, None, :]
    height = max(1, BLOCK // max(1, len(within)))
    for top in range(0, len(directions), height):
        inverses = 1.0 / _away_from_zero(directions[top : top + height])
        begins = origins[top : top + height] if len(origins) > 1 else origins
        near, far = np.zeros((1, len(within))), np.full((1, len(within)), max_range)
        for axis in moving:
            begin, inverse = begins[:, axis, None], inverses[:, axis, None]
            one, other = (lower[axis] - begin) * inverse, (upper[axis] - begin) * inverse
            near = np.maximum(near, np.minimum(one, other))
            far = np.minimum(far, np.maximum(one, other))
        rays, shapes = np.nonzero(np.broadcast_to(near <= far, (len(inverses), len(within))))
        yield rays + top, within[shapes]


def _within_reach(packed: Packed, origins: Array, directions: Array, max_range: float) -> Indices:
    """The shapes whose bounds come into the box that holds all rays: those of a flat scan pass most of them."""
    if not len(directions):
        return np.empty(0, np.int64)
    ends = origins + np.where(directions == 0.0, 0.0, directions * max_range)
    low = np.minimum(origins.min(axis=0), ends.min(axis=0))
    high = np.maximum(origins.max(axis=0), ends.max(axis=0))
    return np.flatnonzero(((packed.lower <= high) & (packed.upper >= low)).all(axis=1))


def distances(kind: int, rows: Array, origins: Array, directions: Array) -> Array:
    """How far each ray runs to its shape, all of one kind [m]; infinite where it passes."""
    p, o, d = rows.T, origins.T, directions.T
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
    x, y, z = np.abs(d)
    axes = np.where((x > z) & (x >= y), 0, np.where(y > z, 1, 2))
    t = np.empty(d.shape[1])
    for axis in range(3):
        rays = axes == axis
        turn = [(axis + 1) % 3, (axis + 2) % 3, axis]
        corners = [p[3 * corner : 3 * corner + 3, rays][turn] for corner in range(3)]
        t[rays] = _sheared(corners, o[:, rays][turn], d[:, rays][turn])
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
