"""Outward unit normals of shapes at points on them."""

from __future__ import annotations

import numpy as np

from vds_gz.world.intersection import BOX, CAPSULE, CYLINDER, ELLIPSOID, HALF_SPACE, TRIANGLE
from vds_gz.world.packing import Packed
from vds_gz.world.shapes import Array, Indices


def normals(packed: Packed, shapes: Indices, points: Array) -> Array:
    """The normals at points.

    Args:
        packed: All shapes.
        shapes: Which shape each point lies on, of shape (n,).
        points: Of shape (n, 3) [m].
    """
    found = np.empty(points.shape)
    kinds = packed.kinds[shapes]
    for kind in np.unique(kinds).tolist():
        members = np.flatnonzero(kinds == kind)
        rows = packed.rows[shapes[members]]
        found[members] = _of_triangles(rows) if kind == TRIANGLE else _of_solids(kind, rows, points[members])
    return found


def _of_triangles(rows: Array) -> Array:
    corner = rows[:, 0:3]
    return _unit(np.cross(rows[:, 3:6] - corner, rows[:, 6:9] - corner))


def _of_solids(kind: int, rows: Array, points: Array) -> Array:
    """Of solids of one kind, whose rows hold their axes in the world, their middle and their sizes."""
    axes, sizes = rows[:, :9].reshape(-1, 3, 3), rows[:, 12:15]
    if kind == HALF_SPACE:
        return axes[:, 2]
    local = np.einsum("nij,nj->ni", axes, points - rows[:, 9:12])
    if kind == BOX:
        return _of_largest(axes, local / sizes)
    inner = {ELLIPSOID: _of_ellipsoids, CYLINDER: _of_cylinders, CAPSULE: _of_capsules}[kind](local, sizes)
    return np.asarray(np.einsum("nji,nj->ni", axes, _unit(inner)))


def _of_largest(axes: Array, vectors: Array) -> Array:
    """Of three axes, the one along which a vector reaches farthest, to that side."""
    one, largest = np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)
    return np.asarray(np.sign(vectors[one, largest])[:, None] * axes[one, largest])


def _of_ellipsoids(local: Array, sizes: Array) -> Array:
    return local / sizes**2


def _of_cylinders(local: Array, sizes: Array) -> Array:
    """Of the tube, or of a cap, whichever is nearer in parts of radius and length."""
    radius, length = np.maximum(sizes[:, 0], 1e-300), np.maximum(sizes[:, 2], 1e-300)
    side = np.hypot(local[:, 0], local[:, 1]) / radius >= np.abs(local[:, 2]) / length
    return np.where(side[:, None], local * (1.0, 1.0, 0.0), np.sign(local) * (0.0, 0.0, 1.0))


def _of_capsules(local: Array, sizes: Array) -> Array:
    on_axis = np.clip(local[:, 2], -sizes[:, 2], sizes[:, 2])
    return local - on_axis[:, None] * (0.0, 0.0, 1.0)


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None])
