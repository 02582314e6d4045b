"""Shapes of things, each in its own frame, as SDF defines them. Lengths are in metres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vds_gz.core.arrays import Array, Integers

FACETS = 256  # sides of a cone, which are within 1e-4 of the radius from the true shape


@dataclass(frozen=True, slots=True)
class Box:
    """A solid box around the origin; ``size`` along x, y, z."""

    size: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Cylinder:
    """A solid cylinder around the origin, its axis along z, with caps."""

    radius: float
    length: float


@dataclass(frozen=True, slots=True)
class Capsule:
    """A solid cylinder of ``length`` along z between two half spheres."""

    radius: float
    length: float


@dataclass(frozen=True, slots=True)
class Ellipsoid:
    """A solid ellipsoid around the origin; a sphere where all three radii are equal."""

    radii: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class HalfSpace:
    """Everything below the plane z = 0."""


@dataclass(frozen=True, eq=False, slots=True)
class Mesh:
    """Triangles, seen from both sides: ``vertices`` of shape (n, 3), and their indices ``faces`` of shape (m, 3)."""

    vertices: Array
    faces: Integers


Shape = Box | Cylinder | Capsule | Ellipsoid | HalfSpace | Mesh


def sphere(radius: float) -> Ellipsoid:
    """A solid sphere around the origin."""
    return Ellipsoid((radius, radius, radius))


def rectangle(width: float, depth: float) -> Mesh:
    """A thin rectangle in the plane z = 0 around the origin, ``width`` along x and ``depth`` along y."""
    x, y = 0.5 * width, 0.5 * depth
    corners = np.array([(-x, -y, 0.0), (x, -y, 0.0), (x, y, 0.0), (-x, y, 0.0)])
    return Mesh(corners, np.array([(0, 1, 2), (0, 2, 3)]))


def cone(radius: float, length: float) -> Mesh:
    """A solid cone around the origin, its axis along z and its tip up, of :data:`FACETS` sides."""
    angles = np.linspace(0.0, 2.0 * np.pi, FACETS, endpoint=False)
    rim = np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(FACETS, -0.5 * length)])
    ends = [(0.0, 0.0, -0.5 * length), (0.0, 0.0, 0.5 * length)]
    this = np.arange(FACETS)
    following = np.roll(this, -1)
    base = np.column_stack([following, this, np.full(FACETS, FACETS)])
    side = np.column_stack([this, following, np.full(FACETS, FACETS + 1)])
    return Mesh(np.concatenate([rim, ends]), np.concatenate([base, side]))


def extruded(outline: Array, height: float) -> Mesh:
    """A prism that stands on the plane z = 0."""
    x, y = outline.T
    if np.dot(x, np.roll(y, -1)) < np.dot(y, np.roll(x, -1)):  # clockwise
        outline = outline[::-1]
    count = len(outline)
    lower = np.column_stack([outline, np.zeros(count)])
    upper = np.column_stack([outline, np.full(count, height)])
    caps = _ears(outline)
    sides = [
        face for a in range(count) for b in [(a + 1) % count] for face in ((a, b, count + b), (a, count + b, count + a))
    ]
    faces = [*caps[:, ::-1].tolist(), *(caps + count).tolist(), *sides]
    return Mesh(np.concatenate([lower, upper]), np.array(faces))


def _ears(outline: Array) -> Integers:
    """A counter-clockwise polygon, cut into triangles by ear clipping."""
    left = list(range(len(outline)))
    faces, last = [], 0
    while len(left) > 3:
        count = len(left)
        ear = next((k % count for k in range(last, last + count) if _is_ear(outline, left, k % count)), None)
        if ear is None:
            raise ValueError("the outline crosses itself or has no area")
        faces.append((left[ear - 1], left[ear], left[(ear + 1) % count]))
        del left[ear]
        last = ear - 1  # a corner beside an ear is likely an ear too
    return np.array([*faces, tuple(left)])


def _is_ear(outline: Array, left: list[int], k: int) -> bool:
    """Whether the corner ``left[k]`` sticks out, with no other corner inside the triangle with its neighbours."""
    corner = [left[k - 1], left[k], left[(k + 1) % len(left)]]
    a, b, c = outline[corner]
    if _cross(a, b, c) <= 0.0:
        return False
    others = outline[np.setdiff1d(left, corner)].T
    inside = np.minimum(_cross(a, b, others), np.minimum(_cross(b, c, others), _cross(c, a, others))) >= 0.0
    return not inside.any()


def _cross(a: Array, b: Array, c: Array) -> Array:
    return np.asarray((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
