"""Things as they look from above."""

from __future__ import annotations

import math

import numpy as np

from vds_gz.world.packing import Thing
from vds_gz.world.shapes import Array, Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Mesh, Shape

#: Corners of what is round.
ROUND = 32

#: So many rings of points stand for a ball.
RINGS = 9


def outlines(thing: Thing) -> list[Array]:
    """The polygons that a thing covers seen from above; one of a solid, one a triangle of a mesh, none of a half space.

    Returns:
        Corners [m], each of shape (n, 2), counter-clockwise.
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
    """The lowest and the highest point of a thing [m]; a half space has neither."""
    if isinstance(thing.shape, HalfSpace):
        return -math.inf, math.inf
    z = _points(thing.shape) @ thing.pose[2, :3] + thing.pose[2, 3]
    return float(z.min()), float(z.max())


def _points(shape: Shape) -> Array:
    """Points of a shape's surface, in its own frame, whose convex hull is the shape, or nearly so."""
    match shape:
        case Box(size):
            signs = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
            return signs * size
        case Cylinder(radius, length):
            return _stretched(_ring() * (radius, radius, 0.0), length)
        case Ellipsoid(radii):
            return _ball() * radii
        case Capsule(radius, length):
            return _stretched(_ball() * radius, length)
        case Mesh(vertices, _):
            return vertices
    raise TypeError(f"{type(shape).__name__} has no surface that ends")


def _stretched(points: Array, length: float) -> Array:
    """Points at both ends of a length along z."""
    end = np.array((0.0, 0.0, 0.5 * length))
    return np.concatenate([points - end, points + end])


def _ring() -> Array:
    angles = np.linspace(0.0, 2.0 * math.pi, ROUND, endpoint=False)
    return np.column_stack([np.cos(angles), np.sin(angles), np.zeros(ROUND)])


def _ball() -> Array:
    tilts = np.linspace(-0.5 * math.pi, 0.5 * math.pi, RINGS)
    return np.concatenate([_ring() * math.cos(tilt) + (0.0, 0.0, math.sin(tilt)) for tilt in tilts])


def hull(points: Array) -> Array:
    """The convex hull of points in the plane, counter-clockwise (Andrew's monotone chain, 1979).

    Args:
        points: Of shape (n, 2).
    """
    ordered = sorted(set(map(tuple, points.tolist())))
    return np.array([*_chain(ordered)[:-1], *_chain(ordered[::-1])[:-1]]).reshape(-1, 2)


def _chain(ordered: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The side of a hull that lies to the right, on the way through sorted points."""
    chain: list[tuple[float, float]] = []
    for x, y in ordered:
        while len(chain) > 1:
            (ax, ay), (bx, by) = chain[-2:]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                break
            chain.pop()
        chain.append((x, y))
    return chain
