"""Where things of an SDF file stand: poses relative to frames that are named, in models that nest."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from vds_gz.world.shapes import Array
from vds_gz.world.xml_reader import Node

IDENTITY = np.eye(4)
IDENTITY.flags.writeable = False

#: A shorter quaternion has no direction.
SHORTEST = 1e-6

#: So many names are listed in a message.
SHOWN = 20


def matrix(rotation: Array, position: Array) -> Array:
    """A homogeneous matrix of shape (4, 4)."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose


def rotation_of_angles(roll: float, pitch: float, yaw: float) -> Array:
    """Turns about z by the yaw, the new y by the pitch, the new x by the roll [rad]."""
    (sr, cr), (sp, cp), (sy, cy) = ((math.sin(a), math.cos(a)) for a in (roll, pitch, yaw))
    return np.array(
        [
            (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
            (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
            (-sp, cp * sr, cp * cr),
        ]
    )


def rotation_of_quaternion(x: float, y: float, z: float, w: float) -> Array:
    """The rotation of a quaternion of any length but about 0."""
    scale = 2.0 / (x * x + y * y + z * z + w * w)
    return np.array(
        [
            (1.0 - scale * (y * y + z * z), scale * (x * y - z * w), scale * (x * z + y * w)),
            (scale * (x * y + z * w), 1.0 - scale * (x * x + z * z), scale * (y * z - x * w)),
            (scale * (x * z - y * w), scale * (y * z + x * w), 1.0 - scale * (x * x + y * y)),
        ]
    )


def pose_of(node: Node | None) -> Array:
    """The pose in a ``<pose>``, of shape (4, 4); the identity where there is none.

    Raises:
        WorldError: It is no pose.
    """
    if node is None or not (node.text or "").strip():
        return IDENTITY
    if node.get("rotation_format", "euler_rpy") == "quat_xyzw":
        x, y, z, *turn = node.numbers(7)
        if math.hypot(*turn) < SHORTEST:
            node.fail(f"the quaternion of <pose> is {' '.join(f'{part:g}' for part in turn)}; its length must be 1")
        rotation = rotation_of_quaternion(*turn)
    else:
        x, y, z, *angles = node.numbers(6)
        if node.get("degrees", "false") in ("true", "1"):
            angles = [math.radians(angle) for angle in angles]
        rotation = rotation_of_angles(*angles)
    return matrix(rotation, np.array((x, y, z)))


class _Frame(NamedTuple):
    """A frame by its pose in another one."""

    of: str
    pose: Array
    node: Node


@dataclass(slots=True)
class Frames:
    """The frames of one model or of the world, each by its pose in a frame of the same scope.

    Attributes:
        root: Name of the scope's own frame, ``__model__`` or ``world``.
        nested: Frames of the models inside, by name.
    """

    root: str
    nested: dict[str, Frames] = field(default_factory=dict)
    _frames: dict[str, _Frame] = field(default_factory=dict)
    _known: dict[str, Array] = field(default_factory=dict)

    def add(self, name: str, node: Node, relative_to: str = "", foot: Array = IDENTITY) -> None:
        """Enter a frame by the ``<pose>`` of its element, relative to the frame that it names, else to this one.

        Args:
            name: Of the frame.
            node: Its element.
            relative_to: Where it stands if its pose does not say; empty: in the scope's own frame.
            foot: What of it stands in this pose, in the frame itself.

        Raises:
            WorldError: It has no name, or the name is taken.
        """
        if not name:
            node.fail(f"<{node.tag}> has no name")
        if name in self._frames or name == self.root:
            node.fail(f"<{node.tag}> '{name}': the name is taken in its model or world")
        pose = node.child("pose")
        given = pose.get("relative_to", "") if pose is not None else ""
        local = pose_of(pose) if foot is IDENTITY else pose_of(pose) @ np.linalg.inv(foot)
        self._frames[name] = _Frame(given or relative_to or self.root, local, node)

    def find(self, name: str, node: Node) -> Array:
        """Where a frame stands in this scope, of shape (4, 4); ``node`` names it, for messages.

        Raises:
            WorldError: There is no such frame, or frames stand relative to each other in a circle.
        """
        chain: dict[str, Array] = {}
        while name != self.root and name not in self._known:
            if name in chain:
                node.fail(f"frame '{name}' stands relative to itself, by way of others")
            frame = self._frame(name, node)
            chain[name] = frame.pose
            name, node = frame.of, frame.node
        found = self._known.get(name, IDENTITY)
        for link in reversed(chain):
            found = self._known[link] = found @ chain[link]
        return found

    def _frame(self, name: str, node: Node) -> _Frame:
        if name in self._frames:
            return self._frames[name]
        model, _, inner = name.partition("::")
        if inner and model in self.nested:
            return _Frame(model, self.nested[model].find(inner, node), node)
        known = [self.root, *self._frames]
        more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
        node.fail(f"there is no frame '{name}'; there are {', '.join(known[:SHOWN])}{more}")
