"""Joints of a robot with their poses, and the collisions of their links, from SDF or URDF.

All poses are in the model's frame with every joint at 0. http://sdformat.org/tutorials?tut=pose_frame_semantics
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from vds_gz.adopt.drive import Named, fail, listed
from vds_gz.adopt.library import Library
from vds_gz.adopt.xml_text import Tag
from vds_gz.errors import ArgumentError
from vds_gz.geometry import Vector
from vds_gz.world.geometry_reader import IDENTITY, Frames, matrix, placed, rotation_of_angles
from vds_gz.world.shapes import Array

#: Joints that turn about one axis.
TURNING = ("revolute", "continuous")

#: Maximum depth of models in models, and number of links and of joints; number of names in a message.
DEEPEST, MOST, SHOWN = 16, 3000, 20


@dataclass(frozen=True, slots=True)
class RoundShape:
    """A ball or cylinder among the collisions of a link: radius [m], length of the cylinder [m], pose in the model."""

    radius: float
    length: float  # 0 for a ball
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
        round: Balls and cylinders, by link.
        meshes: Meshes, by link: their elements and poses.
        library: Finds the files of meshes.
    """

    library: Library
    joints: dict[str, StructureJoint] = field(default_factory=dict)
    links: dict[str, Array] = field(default_factory=dict)
    round: dict[str, list[RoundShape]] = field(default_factory=dict)
    meshes: dict[str, list[tuple[Tag, Array]]] = field(default_factory=dict)

    def joint(self, named: Named) -> StructureJoint:
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
        """Add a collision of a link; balls, cylinders and meshes tell a wheel's radius."""
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


def _limit(text: str, default: float, tag: Tag, name: str) -> float:
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


def _unit(axis: Array, tag: Tag) -> Array:
    length = float(np.linalg.norm(axis))
    if length < 1e-9:
        tag.fail(f"<{tag.tag}> has the axis 0 0 0; it must have a direction")
    return axis / length


# ---------------------------------------------------------------------------------------------------------------- SDF


def of_sdf(model: Tag, version: str, library: Library) -> Structure:
    """The structure of an SDF ``<model>``; ``version`` is that of its file."""
    structure = Structure(library)
    _Sdf(structure, library).add(model, version, "", IDENTITY, 0)
    return structure


@dataclass(slots=True)
class _Sdf:
    structure: Structure
    library: Library

    def add(self, model: Tag, version: str, prefix: str, pose: Array, depth: int) -> Frames:
        """Add a model with a pose in the topmost one; return its frames."""
        if depth > DEEPEST:
            model.fail(f"models are nested more than {DEEPEST} deep")
        frames = Frames("__model__")
        links, joints, inner = self._members(model, frames, "__model__", depth)
        for joint in joints:
            frames.add(joint.get("name", ""), joint, joint.value("child") or "__model__")
        inside = [self._inside(child, version, frames) for child in inner]
        for link in links:
            place = pose @ frames.find(link.get("name", ""), link)
            self._link(link, prefix + link.get("name", ""), place)
        for name, node, node_version in inside:
            local = pose @ frames.find(name, node)
            frames.nested[name] = self.add(node, node_version, f"{prefix}{name}::", local, depth + 1)
        for joint in joints:
            self._joint(joint, version, prefix, pose, frames)
        return frames

    def _members(self, model: Tag, frames: Frames, base: str, depth: int) -> tuple[list[Tag], list[Tag], list[Tag]]:
        """Links, joints and inner models of a model and of those merged into it, whose poses begin at ``base``."""
        if depth > DEEPEST:
            model.fail(f"models are merged more than {DEEPEST} deep")
        links, joints, inner = model.tags("link"), model.tags("joint"), []
        for link in links:
            frames.add(link.get("name", ""), link, base)
        for frame in model.tags("frame"):
            frames.add(frame.get("name", ""), frame, frame.get("attached_to", "") or base)
        for child in model.tags("model", "include"):
            if child.tag == "model" or not _true(child.get("merge", "") or child.value("merge")):
                inner.append(child)
                continue
            merged, _ = self.library.included(child)
            proxy = f"__merged_{child.start}_{depth}__"
            frames.add(proxy, child if child.child("pose") is not None else merged, base)
            for mine, more in zip((links, joints, inner), self._members(merged, frames, proxy, depth + 1), strict=True):
                mine.extend(more)
        return links, joints, inner

    def _inside(self, child: Tag, version: str, frames: Frames) -> tuple[str, Tag, str]:
        """A model in a model: its name, its element and the version of its file."""
        node = child
        if child.tag == "include":
            node, version = self.library.included(child)
        name = (child.value("name") if child is not node else "") or node.get("name", "")
        frames.add(name, child if child.child("pose") is not None else node)
        return name, node, version

    def _link(self, link: Tag, name: str, pose: Array) -> None:
        self.structure.add_link(name, link, pose)
        for collision in link.tags("collision"):
            local, frame = placed(collision)
            if not frame:
                geometry = collision.child("geometry")
                assert geometry is None or isinstance(geometry, Tag)
                self.structure.add_collision(name, geometry, pose @ local)

    def _joint(self, joint: Tag, version: str, prefix: str, pose: Array, frames: Frames) -> None:
        name = joint.get("name", "")
        place = pose @ frames.find(name, joint)
        axis, lower, upper, velocity, stuck = np.array([0.0, 0.0, 1.0]), -math.inf, math.inf, math.inf, False
        element = joint.child("axis")
        if isinstance(element, Tag):
            turn = place[:3, :3]
            xyz = element.child("xyz")
            if isinstance(xyz, Tag):
                axis = np.array(xyz.numbers(3))
                if expressed := xyz.get("expressed_in", ""):
                    turn = pose[:3, :3] @ frames.find(expressed, xyz)[:3, :3]
            if _true(element.value("use_parent_model_frame")) or _before(version, 1, 5):
                turn = pose[:3, :3]
            axis = _unit(turn @ axis, element)
            limit = element.child("limit")
            if isinstance(limit, Tag):
                lower = _limit(limit.value("lower"), -math.inf, limit, "lower")
                upper = _limit(limit.value("upper"), math.inf, limit, "upper")
                velocity = _limit(limit.value("velocity"), math.inf, limit, "velocity")
                stuck = _limit(limit.value("effort"), math.inf, limit, "effort") == 0.0 or velocity == 0.0
        self.structure.add_joint(
            StructureJoint(
                prefix + name,
                joint.get("type", ""),
                self._linked(joint, "parent", prefix),
                self._linked(joint, "child", prefix),
                place[:3, 3],
                axis,
                lower,
                upper,
                velocity if velocity > 0.0 else math.inf,
                joint,
                stuck,
            )
        )

    def _linked(self, joint: Tag, end: str, prefix: str) -> str:
        name = joint.value(end)
        return name if name == "world" else prefix + name


def _true(text: str) -> bool:
    return text.strip().lower() in ("true", "1")


def _before(version: str, major: int, minor: int) -> bool:
    parts = [int(part) for part in version.split(".") if part.isdecimal() and len(part) < 5]
    return bool(parts) and tuple(parts) < (major, minor)


# --------------------------------------------------------------------------------------------------------------- URDF


def of_urdf(robot: Tag, library: Library) -> Structure:
    """The structure of a URDF ``<robot>``, whose frame is its root link: https://wiki.ros.org/urdf/XML"""
    structure = Structure(library)
    links = {_name(link): link for link in reversed(robot.tags("link"))}
    if len(links) < len(robot.tags("link")):
        names = [_name(link) for link in robot.tags("link")]
        again = next(link for index, link in enumerate(robot.tags("link")) if names[index] in names[:index])
        again.fail(f"the robot has two links '{_name(again)}'; each needs its own name")
    joints = robot.tags("joint")
    children: dict[str, list[Tag]] = {}
    parents: dict[str, Tag] = {}
    for joint in joints:
        parent, child = (_end(joint, end) for end in ("parent", "child"))
        for link in (parent, child):
            if link not in links:
                joint.fail(f"joint '{_name(joint)}' joins link '{link}', which the robot does not have")
        if child in parents:
            other = parents[child]
            joint.fail(
                f"link '{child}' is the child of joint '{_name(joint)}' and of '{_name(other)}'; it may have one"
            )
        parents[child] = joint
        children.setdefault(parent, []).append(joint)
    roots = [name for name in links if name not in parents]
    if len(roots) != 1:
        robot.fail(f"the robot has {len(roots)} links that are no joint's child; it must have one, its root")
    waiting = [(roots[0], IDENTITY)]
    while waiting:
        name, pose = waiting.pop()
        _urdf_link(structure, links[name], name, pose)
        for joint in children.get(name, ()):
            place = pose @ _origin(joint)
            waiting.append((_end(joint, "child"), place))
    for joint in joints:
        if _end(joint, "child") in structure.links:
            _urdf_joint(structure, joint)
        else:
            joint.fail(f"joint '{_name(joint)}' is not joined to the root link '{roots[0]}'")
    return structure


def _urdf_link(structure: Structure, link: Tag, name: str, pose: Array) -> None:
    structure.add_link(name, link, pose)
    for collision in link.tags("collision"):
        geometry = collision.child("geometry")
        assert geometry is None or isinstance(geometry, Tag)
        structure.add_collision(name, geometry, pose @ _origin(collision))


def _urdf_joint(structure: Structure, joint: Tag) -> None:
    child, kind = _end(joint, "child"), joint.get("type", "")
    place = structure.links[child]
    axis, limit = joint.child("axis"), joint.child("limit")
    direction = np.array([1.0, 0.0, 0.0])
    if isinstance(axis, Tag):
        direction = np.array(vector(axis.get("xyz", "1 0 0"), axis, "xyz"))
    if kind not in ("fixed", "floating"):
        direction = _unit(place[:3, :3] @ direction, joint)
    values, stuck = (-math.inf, math.inf, math.inf), False
    if isinstance(limit, Tag):
        lower, upper = (0.0, 0.0) if kind in ("revolute", "prismatic") else (-math.inf, math.inf)
        values = (
            _limit(limit.get("lower", ""), lower, limit, "lower"),
            _limit(limit.get("upper", ""), upper, limit, "upper"),
            _limit(limit.get("velocity", ""), math.inf, limit, "velocity"),
        )
        stuck = _limit(limit.get("effort", ""), math.inf, limit, "effort") == 0.0 or values[2] == 0.0
    lower, upper, velocity = values
    if kind == "continuous":
        lower, upper = -math.inf, math.inf
    velocity = velocity if velocity > 0.0 else math.inf  # 0 means that there is none
    structure.add_joint(
        StructureJoint(
            _name(joint),
            kind,
            _end(joint, "parent"),
            child,
            place[:3, 3],
            direction,
            lower,
            upper,
            velocity,
            joint,
            stuck,
        )
    )


def _name(tag: Tag) -> str:
    name = tag.get("name", "")
    if not name:
        tag.fail(f"<{tag.tag}> has no name")
    return name


def _end(joint: Tag, end: str) -> str:
    """The name of a joint's parent or child."""
    tag = joint.child(end)
    name = tag.get("link", "") if tag is not None else ""
    if not name:
        joint.fail(f"joint '{_name(joint)}' has no <{end} link=...>")
    return name


def _origin(tag: Tag) -> Array:
    """The ``<origin>`` of an element, of shape (4, 4)."""
    origin = tag.child("origin")
    if not isinstance(origin, Tag):
        return IDENTITY
    turn, place = (vector(origin.get(key, "0 0 0"), origin, key) for key in ("rpy", "xyz"))
    return matrix(rotation_of_angles(*turn), np.array(place))


def vector(text: str, tag: Tag, name: str) -> Vector:
    """Three finite numbers of an attribute."""
    words = text.split()
    if len(words) != 3:
        tag.fail(f"<{tag.tag}> has {name} '{text}'; it must be three numbers")
    x, y, z = (number(word, tag, name) for word in words)
    return x, y, z


def root_of(structure: Structure) -> str:
    """The first link, which is the model's canonical one."""
    if not structure.links:
        raise ArgumentError("the model has no link; a robot must have one")
    return next(iter(structure.links))
