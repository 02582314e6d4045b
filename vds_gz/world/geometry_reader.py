"""The shapes in a ``<geometry>`` of SDF, each with its pose in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from vds_gz.world.frames import IDENTITY, matrix
from vds_gz.world.meshes import read_heightmap, read_mesh
from vds_gz.world.resources import Resources
from vds_gz.world.shapes import (
    Array,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Shape,
    cone,
    extruded,
    rectangle,
    sphere,
)
from vds_gz.world.xml_reader import Node

Placed = tuple[Shape, Array]

#: A polyline of more points is a mistake.
MOST_POINTS = 1000


def read_geometry(geometry: Node, resources: Resources, *, seen: bool) -> Iterator[Placed]:
    """Every shape of a geometry, with its pose in it of shape (4, 4).

    Args:
        geometry: The element.
        resources: Where meshes are found.
        seen: It is a visual's: a plane ends where it is drawn; that of a collision has no end.

    Raises:
        WorldError: A shape is unknown, or its sizes are not allowed.
    """
    if len(geometry.children("polyline")) > 1:
        geometry.fail("<geometry> has more than one <polyline>; holes are not read")
    for node in geometry:
        assert isinstance(node, Node)
        if node.tag == "empty" or ":" in node.tag:
            continue
        if node.tag == "plane":
            yield _plane(node, seen)
        elif node.tag == "polyline":
            yield _polyline(node)
        elif node.tag == "mesh":
            yield read_mesh(node, resources), IDENTITY
        elif node.tag == "heightmap":
            yield read_heightmap(node, resources), IDENTITY
        elif node.tag in SOLIDS:
            yield SOLIDS[node.tag](node), IDENTITY
        else:
            known = ", ".join(sorted((*SOLIDS, "heightmap", "mesh", "plane", "polyline")))
            node.fail(f"<{node.tag}> in <geometry> is not known; shapes are {known}")


def _positive(node: Node, tag: str, count: int = 1) -> list[float]:
    values = node.required(tag, count)
    if min(values) <= 0.0:
        node.fail(f"<{tag}> of <{node.tag}> is {' '.join(f'{value:g}' for value in values)}; it must be greater than 0")
    return values


def _box(node: Node) -> Shape:
    x, y, z = _positive(node, "size", 3)
    return Box((x, y, z))


def _ellipsoid(node: Node) -> Shape:
    x, y, z = _positive(node, "radii", 3)
    return Ellipsoid((x, y, z))


#: How each solid is read.
SOLIDS: dict[str, Callable[[Node], Shape]] = {
    "box": _box,
    "cylinder": lambda node: Cylinder(*_positive(node, "radius"), *_positive(node, "length")),
    "capsule": lambda node: Capsule(*_positive(node, "radius"), *_positive(node, "length")),
    "sphere": lambda node: sphere(*_positive(node, "radius")),
    "ellipsoid": _ellipsoid,
    "cone": lambda node: cone(*_positive(node, "radius"), *_positive(node, "length")),
}


def _plane(node: Node, seen: bool) -> Placed:
    normal = np.array(node.required("normal", 3) if node.child("normal") is not None else (0.0, 0.0, 1.0))
    length = math.sqrt(float(normal @ normal))
    if length == 0.0:
        node.fail("<normal> of <plane> is 0 0 0; it must have a length")
    pose = matrix(_turn_from_z(normal / length), np.zeros(3))
    if not seen:
        return HalfSpace(), pose
    width, depth = _positive(node, "size", 2) if node.child("size") is not None else (1.0, 1.0)
    return rectangle(width, depth), pose


def _turn_from_z(normal: Array) -> Array:
    """The least rotation that takes the z axis to a unit vector; half a turn about x where that is opposite."""
    x, y, z = normal
    across = x * x + y * y
    if z < 0.0 and across == 0.0:
        return np.diag((1.0, -1.0, -1.0))
    k = 1.0 / (1.0 + z) if z >= 0.0 else (1.0 - z) / across  # the same, without cancellation near -1
    return np.array([(1.0 - k * x * x, -k * x * y, x), (-k * x * y, 1.0 - k * y * y, y), (-x, -y, z)])


def _polyline(node: Node) -> Placed:
    points = np.array([point.numbers(2) for point in node.children("point")]).reshape(-1, 2)
    if len(points) > 1 and (points[0] == points[-1]).all():
        points = points[:-1]
    if not 3 <= len(points) <= MOST_POINTS:
        node.fail(f"<polyline> has {len(points)} different points; it must have 3 to {MOST_POINTS}")
    try:
        return extruded(points, _positive(node, "height")[0]), IDENTITY
    except ValueError as error:
        node.fail(f"<polyline>: {error}")
