"""The shapes in a ``<geometry>`` of SDF, and the poses of named frames in nested models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.geometry import Vector
from vds_gz.core.world.meshes import read_heightmap, read_mesh
from vds_gz.core.world.sdf_files import Node, Resources
from vds_gz.core.world.shapes import (
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

IDENTITY = np.eye(4)
IDENTITY.flags.writeable = False

SHORTEST = 1e-6  # a shorter quaternion has no direction
SHOWN = 20  # maximum number of names in a message


def matrix(rotation: Array, position: Array) -> Array:
    """A homogeneous matrix of shape (4, 4)."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose


def rotation_of_angles(roll: float, pitch: float, yaw: float) -> Array:
    """The rotation about z by the yaw, then the new y by the pitch, then the new x by the roll [rad]."""
    (sr, cr), (sp, cp), (sy, cy) = ((math.sin(a), math.cos(a)) for a in (roll, pitch, yaw))
    return np.array(
        [
            (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
            (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
            (-sp, cp * sr, cp * cr),
        ]
    )


def _rotation_of_quaternion(x: float, y: float, z: float, w: float) -> Array:
    """The rotation of a quaternion, whose length must not be near 0."""
    scale = 2.0 / (x * x + y * y + z * z + w * w)
    return np.array(
        [
            (1.0 - scale * (y * y + z * z), scale * (x * y - z * w), scale * (x * z + y * w)),
            (scale * (x * y + z * w), 1.0 - scale * (x * x + z * z), scale * (y * z - x * w)),
            (scale * (x * z - y * w), scale * (y * z + x * w), 1.0 - scale * (x * x + y * y)),
        ]
    )


def placed(node: Node) -> tuple[Array, str]:
    """The ``<pose>`` of an element, of shape (4, 4), and the frame that it refers to; the identity without one."""
    pose = node.child("pose")
    if pose is None:
        return IDENTITY, ""
    frame = pose.get("relative_to", "")
    if not (pose.text or "").strip():
        return IDENTITY, frame
    if pose.get("rotation_format", "euler_rpy") == "quat_xyzw":
        x, y, z, *turn = pose.numbers(7)
        if math.hypot(*turn) < SHORTEST:
            pose.fail(f"the quaternion of <pose> is {' '.join(f'{part:g}' for part in turn)}; its length must be 1")
        rotation = _rotation_of_quaternion(*turn)
    else:
        x, y, z, *angles = pose.numbers(6)
        if pose.get("degrees", "false") in ("true", "1"):
            angles = [math.radians(angle) for angle in angles]
        rotation = rotation_of_angles(*angles)
    return matrix(rotation, np.array((x, y, z))), frame


@dataclass(slots=True)
class Frames:
    """The frames of one model or of the world, each by its pose in a frame of the same scope."""

    root: str  # name of the scope's own frame, ``__model__`` or ``world``
    nested: dict[str, Frames] = field(default_factory=dict)  # frames of the models inside, by name
    _frames: dict[str, tuple[str, Array, Node]] = field(default_factory=dict)  # parent, pose in it, and element
    _known: dict[str, Array] = field(default_factory=dict)

    def add(self, name: str, node: Node, relative_to: str = "", foot: Array = IDENTITY) -> None:
        """Add a frame by its ``<pose>``, which is relative to ``relative_to`` unless it names another frame.

        The pose is that of ``foot``, which has a pose in the added frame; by default it is the frame itself.
        """
        if not name:
            node.fail(f"<{node.tag}> has no name")
        if name in self._frames or name == self.root:
            node.fail(f"<{node.tag}> '{name}': the name is taken in its model or world")
        pose, parent = placed(node)
        local = pose if foot is IDENTITY else pose @ np.linalg.inv(foot)
        self._frames[name] = parent or relative_to or self.root, local, node

    def find(self, name: str, node: Node) -> Array:
        """The pose of a frame in this scope, of shape (4, 4); ``node`` is where it is named, for messages."""
        chain: dict[str, Array] = {}
        while name != self.root and name not in self._known:
            if name in chain:
                node.fail(f"frame '{name}' is relative to itself, through other frames")
            parent, chain[name], node = self._frame(name, node)
            name = parent
        pose = self._known.get(name, IDENTITY)
        for link in reversed(chain):
            pose = self._known[link] = pose @ chain[link]
        return pose

    def _frame(self, name: str, node: Node) -> tuple[str, Array, Node]:
        if name in self._frames:
            return self._frames[name]
        model, _, inner = name.partition("::")
        if inner and model in self.nested:
            return model, self.nested[model].find(inner, node), node
        known = [self.root, *self._frames]
        more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
        node.fail(f"there is no frame '{name}'; there are {', '.join(known[:SHOWN])}{more}")


Placed = tuple[Shape, Array]

MOST_POINTS = 1000  # maximum number of points of a polyline


def read_geometry(geometry: Node, resources: Resources, *, seen: bool) -> Iterator[Placed]:
    """Every shape of a geometry, with its pose in it of shape (4, 4).

    In a visual (``seen``) a plane has its ``size``; in a collision it is infinite.
    """
    if len(geometry.children("polyline")) > 1:
        geometry.fail("<geometry> has more than one <polyline>; holes are not supported")
    for node in geometry:
        assert isinstance(node, Node)
        if node.tag == "empty" or ":" in node.tag:
            continue
        if node.tag == "plane":
            yield _plane(node, seen)
        elif node.tag == "mesh":
            yield read_mesh(node, resources), IDENTITY
        elif node.tag == "heightmap":
            yield read_heightmap(node, resources), IDENTITY
        elif node.tag in SOLIDS:
            yield SOLIDS[node.tag](node), IDENTITY
        else:
            known = ", ".join(sorted((*SOLIDS, "heightmap", "mesh", "plane")))
            node.fail(f"<{node.tag}> in <geometry> is not known; shapes are {known}")


def _positive(node: Node, tag: str, count: int = 1) -> list[float]:
    values = node.needed(tag).numbers(count)
    if min(values) <= 0.0:
        node.fail(f"<{tag}> of <{node.tag}> is {' '.join(f'{value:g}' for value in values)}; it must be greater than 0")
    return values


def _sizes(node: Node, tag: str) -> Vector:
    x, y, z = _positive(node, tag, 3)
    return x, y, z


def _polyline(node: Node) -> Shape:
    points = np.array([point.numbers(2) for point in node.children("point")]).reshape(-1, 2)
    if len(points) > 1 and (points[0] == points[-1]).all():
        points = points[:-1]
    if not 3 <= len(points) <= MOST_POINTS:
        node.fail(f"<polyline> has {len(points)} points; it must have 3 to {MOST_POINTS}")
    try:
        return extruded(points, *_positive(node, "height"))
    except ValueError as error:
        node.fail(f"<polyline>: {error}")


#: How each solid is read.
SOLIDS: dict[str, Callable[[Node], Shape]] = {
    "box": lambda node: Box(_sizes(node, "size")),
    "cylinder": lambda node: Cylinder(*_positive(node, "radius"), *_positive(node, "length")),
    "capsule": lambda node: Capsule(*_positive(node, "radius"), *_positive(node, "length")),
    "sphere": lambda node: sphere(*_positive(node, "radius")),
    "ellipsoid": lambda node: Ellipsoid(_sizes(node, "radii")),
    "cone": lambda node: cone(*_positive(node, "radius"), *_positive(node, "length")),
    "polyline": _polyline,
}


def _plane(node: Node, seen: bool) -> Placed:
    normal = np.array(node.vector("normal", (0.0, 0.0, 1.0)))
    length = math.sqrt(float(normal @ normal))
    if length == 0.0:
        node.fail("<normal> of <plane> is 0 0 0; its length must not be 0")
    pose = matrix(_turn_from_z(normal / length), np.zeros(3))
    if not seen:
        return HalfSpace(), pose
    width, depth = _positive(node, "size", 2) if node.child("size") is not None else (1.0, 1.0)
    return rectangle(width, depth), pose


def _turn_from_z(normal: Array) -> Array:
    """The smallest rotation from the z axis to a unit vector; half a turn about x for the opposite direction."""
    x, y, z = normal
    across = x * x + y * y
    if z < 0.0 and across == 0.0:
        return np.diag((1.0, -1.0, -1.0))
    k = 1.0 / (1.0 + z) if z >= 0.0 else (1.0 - z) / across  # the same, without cancellation near -1
    return np.array([(1.0 - k * x * x, -k * x * y, x), (-k * x * y, 1.0 - k * y * y, y), (-x, -y, z)])
