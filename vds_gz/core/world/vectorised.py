"""Ray casting by numpy, without compiled code or before it is ready.

The formulas are those of :mod:`vds_gz.core.world.intersection`, so that both give the same bits. Instead of traversing
a tree, all rays are compared with the bounds of all shapes at once, and the remaining pairs are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType

import numpy as np

from vds_gz.core.arrays import Array, Integers
from vds_gz.core.world import intersection
from vds_gz.core.world.intersection import PARALLEL, TRIANGLE
from vds_gz.core.world.packing import Packed

BLOCK = 1 << 16  # pairs of rays and shapes at a time, whose data fit into a processor's cache


def cast(packed: Packed, origins: Array, directions: Array, max_range: float, ranges: Array, hits: Integers) -> None:
    """The same as :func:`vds_gz.core.world.bvh.cast`."""
    none = len(packed.kinds)
    ranges[:], hits[:] = max_range, none
    with np.errstate(all="ignore"):
        for rays, shapes in _pairs(packed, origins, directions, max_range):
            begins = origins[rays] if len(origins) > 1 else np.broadcast_to(origins, (len(rays), 3))
            t = np.empty(len(rays))
            kinds = packed.kinds[shapes]
            for kind in np.unique(kinds):
                of_kind = kinds == kind
                t[of_kind] = _distances(kind, packed.rows[shapes[of_kind]], begins[of_kind], directions[rays[of_kind]])
            before = ranges[rays]
            np.minimum.at(ranges, rays, t)
            first = t == ranges[rays]
            hits[rays[ranges[rays] < before]] = none
            np.minimum.at(hits, rays[first & (t < max_range)], shapes[first & (t < max_range)])
    ranges[hits == none] = np.inf
    hits[hits == none] = -1


def _pairs(packed: Packed, origins: Array, directions: Array, max_range: float) -> Iterator[tuple[Integers, Integers]]:
    """Pairs of rays and shapes whose bounds they cross, in blocks."""
    within = _within_reach(packed, origins, directions, max_range)
    # Along axes without a ray component, all shapes within reach overlap the rays.
    moving = [axis for axis in range(3) if len(origins) > 1 or directions[:, axis].any()]
    lower, upper = packed.lower[within].T[:, None, :], packed.upper[within].T[:, None, :]
    height = max(1, BLOCK // max(1, len(within)))
    for top in range(0, len(directions), height):
        inverses = 1.0 / _away_from_zero(directions[top : top + height])
        begins = origins[top : top + height] if len(origins) > 1 else origins
        near, far = np.zeros((1, len(within))), np.full((1, len(within)), max_range)
        for axis in moving:
            begin, inverse = begins[:, axis, None], inverses[:, axis, None]
            a, b = (lower[axis] - begin) * inverse, (upper[axis] - begin) * inverse
            near = np.maximum(near, np.minimum(a, b))
            far = np.minimum(far, np.maximum(a, b))
        rays, shapes = np.nonzero(np.broadcast_to(near <= far, (len(inverses), len(within))))
        yield rays + top, within[shapes]


def _within_reach(packed: Packed, origins: Array, directions: Array, max_range: float) -> Integers:
    """The shapes whose bounds overlap the box around all rays, which are few for a flat scan."""
    if not len(directions):
        return np.empty(0, np.int64)
    ends = origins + np.where(directions == 0.0, 0.0, directions * max_range)
    low = np.minimum(origins.min(axis=0), ends.min(axis=0))
    high = np.maximum(origins.max(axis=0), ends.max(axis=0))
    return np.flatnonzero(((packed.lower <= high) & (packed.upper >= low)).all(axis=1))


def _away_from_zero(x: Array) -> Array:
    return np.where(np.abs(x) < PARALLEL, np.copysign(PARALLEL, x), x)


def _first_of(near: Array, far: Array) -> Array:
    return np.where((near > far) | (far < 0.0), np.inf, np.where(near > 0.0, near, far))


def _over_arrays(function: Callable[..., float]) -> Callable[..., Array]:
    """A formula of :mod:`vds_gz.core.world.intersection` for arrays."""
    names = dict(vars(intersection))
    for name, value in vars(intersection).items():
        if isinstance(value, FunctionType):
            names[name] = FunctionType(value.__code__, names)
    names |= {"where": np.where, "min": np.minimum, "max": np.maximum, "sqrt": np.sqrt}
    names |= {"away_from_zero": _away_from_zero, "first_of": _first_of, "misses": lambda rest: False}
    return names[function.__name__]  # type: ignore[no-any-return]


_solids = _over_arrays(intersection.ray_solid)


def _distances(kind: int, rows: Array, origins: Array, directions: Array) -> Array:
    """Distances of rays to their shapes, all of one kind [m]; infinite without a hit."""
    p, o, d = rows.T, origins.T, directions.T
    if kind == TRIANGLE:
        return _triangles(p, o, d)
    t = _solids(kind, p[None], 0, *o, *d)
    t[np.isnan(t)] = np.inf
    return t


def _triangles(p: Array, o: Array, d: Array) -> Array:
    """Distances of rays to triangles, grouped by the axis to which the rays are most parallel."""
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
    """The same for rays that are most parallel to the third axis."""
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
