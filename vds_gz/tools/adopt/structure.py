"""Joints of a robot with their poses, and the collisions of their links.

All poses are in the model's frame with every joint at 0. http://sdformat.org/tutorials?tut=pose_frame_semantics
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.errors import ArgumentError
from vds_gz.core.geometry import Vector
from vds_gz.core.world.geometry_reader import matrix, rotation_of_angles
from vds_gz.tools.adopt.robot_drive import NamedJoint, fail, listed
from vds_gz.tools.adopt.robot_files import RobotFiles
from vds_gz.tools.adopt.xml_text import Tag

#: Joints that turn about one axis.
TURNING = ("revolute", "continuous")

#: Maximum number of links and of joints, and of names in a message.
MOST, SHOWN = 3000, 20


@dataclass(frozen=True, slots=True)
class RoundShape:
    """A sphere or cylinder among the collisions of a link: radius [m], length [m], pose in the model."""

    radius: float
    length: float  # 0 for a sphere
    pose: Array

    @property
    def centre(self) -> Array:
        """Its centre in the model's frame [m]."""
        return self.pose[:3, 3]


@dataclass(frozen=True, slots=True)
class StructureJoint:
    """A joint of the robot."""

    name: str
    kind: str
    parent: str
    child: str
    position: Array  # in the model's frame [m]
    axis: Array  # unit vector in the model's frame
    lower: float  # stops [rad or m]; infinite without one
    upper: float
    velocity: float  # limit [rad/s or m/s]; infinite without one
    tag: Tag
    stuck: bool = False  # a limit of effort or velocity is 0, with which Gazebo cannot move it

    @property
    def turns(self) -> bool:
        """Whether it turns about one axis."""
        return self.kind in TURNING


@dataclass(slots=True)
class Structure:
    """Joints and round collisions of a robot.

    Attributes:
        joints: The joints, by name.
        links: The links in the order of the file.
        round: Spheres and cylinders, by link.
        meshes: Meshes, by link: their elements and poses.
        library: Finds the files of meshes.
        canonical: The canonical link; the first one if it is empty.
    """

    library: RobotFiles
    joints: dict[str, StructureJoint] = field(default_factory=dict)
    links: dict[str, Array] = field(default_factory=dict)
    round: dict[str, list[RoundShape]] = field(default_factory=dict)
    meshes: dict[str, list[tuple[Tag, Array]]] = field(default_factory=dict)
    canonical: str = ""

    def joint(self, named: NamedJoint) -> StructureJoint:
        """A joint that a plugin or controller names; it must turn about one axis."""
        joint = self.joints.get(named.joint)
        if joint is None:
            known = sorted(name for name, joint in self.joints.items() if joint.turns)
            more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
            fail(
                named.place,
                f"there is no joint '{named.joint}' in the model; joints that turn are {listed(known[:SHOWN])}{more}",
            )
        if not joint.turns:
            fail(named.place, f"joint '{named.joint}' is of type '{joint.kind}'; it must turn: revolute or continuous")
        return joint

    def below(self, link: str) -> list[StructureJoint]:
        """The joints below a link, through fixed joints too."""
        found: list[StructureJoint] = []
        waiting, seen = [link], {link}
        while waiting:
            current = waiting.pop()
            for joint in self.joints.values():
                if joint.parent == current and joint.child not in seen:
                    if joint.kind == "fixed":
                        seen.add(joint.child)
                        waiting.append(joint.child)
                    else:
                        found.append(joint)
        return found

    def rigid_with(self, link: str) -> list[str]:
        """A link and those fixed to it from below."""
        links = [link]
        for current in links:
            links += [
                joint.child
                for joint in self.joints.values()
                if joint.kind == "fixed" and joint.parent == current and joint.child not in links
            ]
        return links

    def turned(self, yaw: float) -> Structure:
        """The same robot in a frame that is turned by ``yaw`` about z [rad]."""
        back = matrix(rotation_of_angles(0.0, 0.0, -yaw), np.zeros(3))
        turn = back[:3, :3]
        return Structure(
            self.library,
            {
                name: replace(joint, position=turn @ joint.position, axis=turn @ joint.axis)
                for name, joint in self.joints.items()
            },
            {name: back @ pose for name, pose in self.links.items()},
            {link: [replace(shape, pose=back @ shape.pose) for shape in shapes] for link, shapes in self.round.items()},
            {link: [(tag, back @ pose) for tag, pose in meshes] for link, meshes in self.meshes.items()},
            self.canonical,
        )

    def add_link(self, name: str, tag: Tag, pose: Array) -> None:
        """Add a link."""
        if name in self.links:
            tag.fail(f"the model has two links '{name}'; each needs its own name")
        if len(self.links) >= MOST:
            tag.fail(f"the model has more than {MOST} links")
        self.links[name] = pose

    def add_joint(self, joint: StructureJoint) -> None:
        """Add a joint."""
        if joint.name in self.joints:
            first = self.joints[joint.name].tag.place
            joint.tag.fail(f"the model has two joints '{joint.name}', first in {first}; each needs its own name")
        if len(self.joints) >= MOST:
            joint.tag.fail(f"the model has more than {MOST} joints")
        for link in (joint.parent, joint.child):
            if link not in self.links and link != "world":
                joint.tag.fail(f"joint '{joint.name}' joins link '{link}', which the model does not have")
        self.joints[joint.name] = joint

    def add_collision(self, link: str, geometry: Tag | None, pose: Array) -> None:
        """Add a collision of a link; spheres, cylinders and meshes give a wheel's radius."""
        for shape in geometry.tags() if geometry is not None else ():
            if shape.tag in ("sphere", "cylinder", "capsule"):
                radius = _size(shape, "radius")
                length = _size(shape, "length") if shape.tag == "cylinder" else 0.0
                self.round.setdefault(link, []).append(RoundShape(radius, length, pose))
            elif shape.tag == "mesh":
                self.meshes.setdefault(link, []).append((shape, pose))


def _size(shape: Tag, name: str) -> float:
    """A length of a shape, an element in SDF and an attribute in URDF."""
    text = shape.get(name) or shape.value(name)
    value = number(text, shape, name)
    if not value > 0.0:
        shape.fail(f"<{shape.tag}> has {name} '{text}'; it must be greater than 0 [m]")
    return value


def number(text: str, tag: Tag, name: str) -> float:
    """A finite number that an element has in its attribute or child ``name``."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        tag.fail(f"<{tag.tag}> has {name} '{text.strip()}'; it must be a finite number")
    return value


def limit_of(text: str, default: float, tag: Tag, name: str) -> float:
    """A limit, which may be infinite. Very large ones stand for none."""
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        tag.fail(f"<{tag.tag}> has {name} '{text}'; it must be a number")
    return math.copysign(math.inf, value) if abs(value) >= 1e9 else value


def unit(axis: Array, tag: Tag) -> Array:
    """An axis as a unit vector."""
    length = float(np.linalg.norm(axis))
    if length < 1e-9:
        tag.fail(f"<{tag.tag}> has the axis 0 0 0; it must have a direction")
    return axis / length


def vector(text: str, tag: Tag, name: str) -> Vector:
    """Three finite numbers of an attribute."""
    words = text.split()
    if len(words) != 3:
        tag.fail(f"<{tag.tag}> has {name} '{text}'; it must be three numbers")
    x, y, z = (number(word, tag, name) for word in words)
    return x, y, z


def root_of(structure: Structure) -> str:
    """The canonical link, whose name stands in the default frame of odometry."""
    if not structure.links:
        raise ArgumentError("the model has no link; a robot must have one")
    return structure.canonical or next(iter(structure.links))
