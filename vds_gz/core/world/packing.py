"""Things as rows of numbers for the ray caster; their outward unit normals, outlines from above and heights.

:mod:`vds_gz.core.world.intersection` defines the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array, Integers
from vds_gz.core.errors import WorldError
from vds_gz.core.world.intersection import BOX, CAPSULE, CYLINDER, ELLIPSOID, HALF_SPACE, TRIANGLE
from vds_gz.core.world.shapes import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Mesh, Shape

DEFAULT_COLOUR = (0.7, 0.7, 0.7)  # diffuse colour of things without one

#: Margin of bounds [m, and parts of their distance from the origin], so that no ray misses a box by rounding.
MARGIN = 1e-9

FARTHEST = 1e13  # maximum distance from the origin [m]; numbers in files are limited to a tenth of it


@dataclass(frozen=True, eq=False, slots=True)
class Thing:
    """A shape somewhere in the world."""

    name: str  # names of model, link and visual or collision, with ``::`` between them
    shape: Shape  # its shape in its own frame
    pose: Array  # from its own frame to the world's, a homogeneous matrix of shape (4, 4) [m]
    retro: float = 0.0  # retro-reflectivity for lidars, SDF's ``laser_retro``
    colour: tuple[float, float, float] = DEFAULT_COLOUR  # red, green and blue of its diffuse colour, 0 to 1
    friction: float = math.inf  # its friction coefficient as ground


class Packed(NamedTuple):
    """Shapes for the ray caster; ``owner`` is the index of each shape's thing."""

    kinds: Integers
    rows: Array
    lower: Array
    upper: Array
    centres: Array
    owner: Integers


def packed(things: Sequence[Thing]) -> Packed:
    """All shapes of all things; a mesh becomes its triangles."""
    meshes = [index for index, thing in enumerate(things) if isinstance(thing.shape, Mesh)]
    solids = [index for index, thing in enumerate(things) if not isinstance(thing.shape, Mesh)]
    parts = [_triangles(things[index], index) for index in meshes]
    if solids:
        parts.append(_solids([things[index] for index in solids], np.array(solids)))
    if not parts:
        empty = np.empty((0, 3))
        return Packed(np.empty(0, int), np.empty((0, 15)), empty, empty, empty, np.empty(0, int))
    kinds, rows, lower, upper, owner = (np.concatenate(column) for column in zip(*parts, strict=True))
    with np.errstate(invalid="ignore"):
        centres = 0.5 * (lower + upper)
        margin = MARGIN * (1.0 + np.maximum(np.abs(lower), np.abs(upper)))
        near = ((lower > -FARTHEST) & (upper < FARTHEST)).all(axis=1) | (kinds == HALF_SPACE)
    if not near.all():
        raise WorldError(f"'{things[owner[near.argmin()]].name}' reaches farther than {FARTHEST:g} m from the origin")
    return Packed(kinds, rows, lower - margin, upper + margin, centres, owner)


_PackedShapes = tuple[Integers, Array, Array, Array, Integers]


def _triangles(thing: Thing, owner: int) -> _PackedShapes:
    assert isinstance(thing.shape, Mesh)
    vertices = thing.shape.vertices @ thing.pose[:3, :3].T + thing.pose[:3, 3]
    corners = vertices[thing.shape.faces]
    count = len(corners)
    rows = np.zeros((count, 15))
    rows[:, :9] = corners.reshape(-1, 9)
    return np.full(count, TRIANGLE), rows, corners.min(axis=1), corners.max(axis=1), np.full(count, owner)


def _solids(things: Sequence[Thing], owners: Integers) -> _PackedShapes:
    """All solids together, because moving obstacles are packed at every instant."""
    shapes = [_sizes(thing.shape) for thing in things]
    kinds, sizes = np.array([kind for kind, _ in shapes]), np.array([size for _, size in shapes])
    poses = np.array([thing.pose for thing in things])
    rotations, positions = poses[:, :3, :3], poses[:, :3, 3]
    rows = np.concatenate([rotations.transpose(0, 2, 1).reshape(-1, 9), positions, sizes], axis=1)
    reach = _reach(kinds, rotations, sizes)
    return kinds, rows, positions - reach, positions + reach, owners


def _sizes(shape: Shape) -> tuple[int, tuple[float, float, float]]:
    """A solid's kind and its three sizes: half lengths or radii."""
    match shape:
        case Box((x, y, z)):
            return BOX, (0.5 * x, 0.5 * y, 0.5 * z)
        case Cylinder(radius, length):
            return CYLINDER, (radius, radius, 0.5 * length)
        case Capsule(radius, length):
            return CAPSULE, (radius, radius, 0.5 * length)
        case Ellipsoid(radii):
            return ELLIPSOID, radii
        case HalfSpace():
            return HALF_SPACE, (np.inf, np.inf, np.inf)
    raise TypeError(f"{type(shape).__name__} is no solid")


def _reach(kinds: Integers, rotations: Array, sizes: Array) -> Array:
    """Half extents of solids along the axes of the world, of shape (n, 3)."""
    kind = kinds[:, None]
    finite = np.where(kind == HALF_SPACE, 0.0, sizes)
    box = np.einsum("nij,nj->ni", np.abs(rotations), finite)
    ellipsoid = np.sqrt(np.einsum("nij,nj->ni", rotations * rotations, finite * finite))
    axis = rotations[:, :, 2]
    along, radius = np.abs(axis) * finite[:, 2:], finite[:, :1]
    cylinder = along + radius * np.sqrt(np.maximum(0.0, 1.0 - axis * axis))
    kinds_of = [kind == BOX, kind == ELLIPSOID, kind == CAPSULE, kind == HALF_SPACE]
    return np.asarray(np.select(kinds_of, [box, ellipsoid, along + radius, np.inf], cylinder))


def normals(packed: Packed, shapes: Integers, points: Array) -> Array:
    """Outward unit normals at points [m] of shape (n, 3); the k-th point is on the shape ``shapes[k]``."""
    outward = np.empty(points.shape)
    kinds = packed.kinds[shapes]
    for kind in np.unique(kinds).tolist():
        members = np.flatnonzero(kinds == kind)
        rows = packed.rows[shapes[members]]
        if kind == TRIANGLE:
            corner = rows[:, 0:3]
            outward[members] = _unit(np.cross(rows[:, 3:6] - corner, rows[:, 6:9] - corner))
        else:
            outward[members] = _of_solids(kind, rows, points[members])
    return outward


def _of_solids(kind: int, rows: Array, points: Array) -> Array:
    """Outward unit normals of solids of one kind."""
    axes, sizes = rows[:, :9].reshape(-1, 3, 3), rows[:, 12:15]
    if kind == HALF_SPACE:
        return axes[:, 2]
    local = np.einsum("nij,nj->ni", axes, points - rows[:, 9:12])
    if kind == BOX:  # along the axis on which the point is farthest out
        parts, index = local / sizes, np.arange(len(rows))
        largest = np.abs(parts).argmax(axis=1)
        return np.asarray(np.sign(parts[index, largest])[:, None] * axes[index, largest])
    if kind == ELLIPSOID:
        local = local / sizes**2
    elif kind == CAPSULE:
        local = local - np.clip(local[:, 2], -sizes[:, 2], sizes[:, 2])[:, None] * (0.0, 0.0, 1.0)
    else:  # a cylinder: of the tube or of a cap, whichever is nearer relative to radius and length
        radius, length = np.maximum(sizes[:, 0], 1e-300), np.maximum(sizes[:, 2], 1e-300)
        side = np.hypot(local[:, 0], local[:, 1]) / radius >= np.abs(local[:, 2]) / length
        local = np.where(side[:, None], local * (1.0, 1.0, 0.0), np.sign(local) * (0.0, 0.0, 1.0))
    return np.asarray(np.einsum("nji,nj->ni", axes, _unit(local)))


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None])


ROUND = 32  # number of points of a circle
RINGS = 9  # number of circles of a ball


def outlines(thing: Thing) -> list[Array]:
    """The polygons [m] that a thing covers seen from above, counter-clockwise.

    A solid has one, a mesh one for each triangle that is not vertical, a half space none.
    """
    if isinstance(thing.shape, HalfSpace):
        return []
    points = (_points(thing.shape) @ thing.pose[:3, :3].T + thing.pose[:3, 3])[:, :2]
    if isinstance(thing.shape, Mesh):
        corners = points[thing.shape.faces]
        (ax, ay), (bx, by) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
        area = ax * by - ay * bx
        corners[area < 0.0] = corners[area < 0.0, ::-1]
        return list(corners[area != 0.0])
    return [hull(points)]


def heights(thing: Thing) -> tuple[float, float]:
    """The lowest and the highest point of a thing [m]; infinite for a half space."""
    if isinstance(thing.shape, HalfSpace):
        return -math.inf, math.inf
    z = _points(thing.shape) @ thing.pose[2, :3] + thing.pose[2, 3]
    return float(z.min()), float(z.max())


def _points(shape: Shape) -> Array:
    """Points of a shape's surface, in its own frame, whose convex hull is the shape or close to it."""
    match shape:
        case Box(size):
            signs = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
            return signs * size
        case Cylinder(radius, length):
            return _at_both_ends(_ring() * (radius, radius, 0.0), length)
        case Ellipsoid(radii):
            return _ball() * radii
        case Capsule(radius, length):
            return _at_both_ends(_ball() * radius, length)
        case Mesh(vertices, _):
            return vertices
    raise TypeError(f"{type(shape).__name__} has no bounded surface")


def _at_both_ends(points: Array, length: float) -> Array:
    end = np.array((0.0, 0.0, 0.5 * length))
    return np.concatenate([points - end, points + end])


def _ring() -> Array:
    angles = np.linspace(0.0, 2.0 * math.pi, ROUND, endpoint=False)
    return np.column_stack([np.cos(angles), np.sin(angles), np.zeros(ROUND)])


def _ball() -> Array:
    tilts = np.linspace(-0.5 * math.pi, 0.5 * math.pi, RINGS)
    return np.concatenate([_ring() * math.cos(tilt) + (0.0, 0.0, math.sin(tilt)) for tilt in tilts])


def hull(points: Array) -> Array:
    """The convex hull of points in the plane, counter-clockwise (Andrew's monotone chain, 1979)."""
    ordered = sorted(set(map(tuple, points.tolist())))
    return np.array([*_chain(ordered)[:-1], *_chain(ordered[::-1])[:-1]]).reshape(-1, 2)


def _chain(ordered: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The hull's side to the right of the way through sorted points."""
    chain: list[tuple[float, float]] = []
    for x, y in ordered:
        while len(chain) > 1:
            (ax, ay), (bx, by) = chain[-2:]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                break
            chain.pop()
        chain.append((x, y))
    return chain
