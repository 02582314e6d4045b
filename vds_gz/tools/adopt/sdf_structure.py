"""The joints and collisions of an SDF robot, with the models that it includes, nests and merges.

http://sdformat.org/tutorials?tut=pose_frame_semantics and http://sdformat.org/tutorials?tut=composition
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.world.geometry_reader import IDENTITY, Frames, placed
from vds_gz.tools.adopt.robot_files import RobotFiles
from vds_gz.tools.adopt.structure import Structure, StructureJoint, limit_of, unit
from vds_gz.tools.adopt.xml_text import Tag

#: Maximum depth of models in models, and their number.
DEEPEST, MOST_MODELS = 16, 1000


@dataclass(slots=True)
class InnerModel:
    """A model in a model: its name, its own element, the element that places it, and the version of its file."""

    name: str
    node: Tag
    placing: Tag
    version: str
    merged: bool


@dataclass(slots=True)
class _Scope:
    """What shares the names of one model: its own parts, and those of the models merged into it."""

    version: str
    canonical: str
    frames: Frames = field(default_factory=lambda: Frames("__model__"))
    links: dict[str, Tag] = field(default_factory=dict)
    joints: dict[str, Tag] = field(default_factory=dict)
    attached: dict[str, str] = field(default_factory=dict)  # frames, and what each is attached to
    inside: dict[str, tuple[Tag, _Scope]] = field(default_factory=dict)  # with the element that places it

    def link(self, name: str, tag: Tag) -> str:
        """The link that a frame is attached to, below this scope's model; the message is about ``tag``."""
        seen = set()
        while name not in self.links:
            if name in seen:
                tag.fail(f"frame '{name}' is attached to itself, through other frames")
            seen.add(name)
            model, _, inner = name.partition("::")
            if name in self.attached:
                name = self.attached[name]
            elif name in self.joints:
                name = self.joints[name].value("child")
            elif name == "__model__":
                name = self.canonical or next(iter((*self.links, *self.inside)), "")
            elif model in self.inside:
                return f"{model}::{self.inside[model][1].link(inner or '__model__', tag)}"
            else:
                tag.fail(f"<{tag.tag}> '{tag.get('name', '')}' names '{name}', which the model does not have")
        return name


def inner_models(model: Tag, version: str, library: RobotFiles) -> Iterator[InnerModel]:
    """The models in a model, which it nests or includes."""
    for child in model.tags("model", "include"):
        node, own = library.included(child) if child.tag == "include" else (child, version)
        name = (child.value("name") if child is not node else "") or node.get("name", "")
        yield InnerModel(name, node, child, own, _true(child.get("merge", "") or child.value("merge")))


def of_sdf(model: Tag, version: str, library: RobotFiles) -> Structure:
    """The structure of an SDF ``<model>``; ``version`` is that of its file."""
    structure = Structure(library)
    scope = _ModelReader(library).entered(model, version, 0)
    _take(structure, scope, "", IDENTITY)
    if structure.links:
        structure.canonical = scope.link("__model__", model)
    return structure


@dataclass(slots=True)
class _ModelReader:
    """Reads models, and counts them."""

    library: RobotFiles
    models: int = 0

    def entered(self, model: Tag, version: str, depth: int) -> _Scope:
        """The parts and frames of a model."""
        scope = _Scope(version, model.get("canonical_link", ""))
        self._enter(scope, model, version, "__model__", depth)
        return scope

    def _enter(self, scope: _Scope, model: Tag, version: str, base: str, depth: int) -> None:
        """Add a model's parts to a scope in which its own frame is called ``base``."""
        self.models += 1
        if depth > DEEPEST or self.models > MOST_MODELS:
            model.fail(f"models are nested more than {DEEPEST} deep, or are more than {MOST_MODELS}")
        for link in model.tags("link"):
            name = link.get("name", "")
            scope.frames.add(name, link, base)
            scope.links[name] = link
        for frame in model.tags("frame"):
            name, attached = frame.get("name", ""), frame.get("attached_to", "") or base
            scope.frames.add(name, frame, attached)
            scope.attached[name] = attached
        for inner in inner_models(model, version, self.library):
            self._inner(scope, inner, base, depth + 1)
        for joint in model.tags("joint"):
            name = joint.get("name", "")
            if name in scope.links and _before(version, 1, 7):
                name += "_joint"  # as sdformat calls it
            scope.frames.add(name, joint, joint.value("child") or base)
            scope.joints[name] = joint

    def _inner(self, scope: _Scope, inner: InnerModel, base: str, depth: int) -> None:
        """Add a model in a model, or what is merged of it."""
        node, placing = inner.node, inner.placing
        where = placing if placing.child("pose") is not None else node
        placement = placing.value("placement_frame") or node.get("placement_frame", "")
        inside = self.entered(node, inner.version, depth) if placement or not inner.merged else None
        foot = inside.frames.find(placement, placing) if placement and inside else IDENTITY
        if inner.merged:
            name = f"__merged_{placing.start}_{depth}__"
            scope.frames.add(name, where, base, foot)
            first = next((link.get("name", "") for link in node.tags("link")), base)
            scope.attached[name] = node.get("canonical_link", "") or first
            self._enter(scope, node, inner.version, name, depth)
        elif inside:
            scope.frames.add(inner.name, where, base, foot)
            scope.frames.nested[inner.name] = inside.frames
            scope.inside[inner.name] = placing, inside


def _take(structure: Structure, scope: _Scope, prefix: str, pose: Array) -> None:
    """Add the parts of a model with a pose in the topmost one."""
    for name, link in scope.links.items():
        place = pose @ scope.frames.find(name, link)
        structure.add_link(prefix + name, link, place)
        for collision in link.tags("collision"):
            local, frame = placed(collision)
            geometry = collision.child("geometry")
            assert geometry is None or isinstance(geometry, Tag)
            from_frame = pose @ scope.frames.find(frame, collision) if frame else place
            structure.add_collision(prefix + name, geometry, from_frame @ local)
    for name, (placing, inner) in scope.inside.items():
        _take(structure, inner, f"{prefix}{name}::", pose @ scope.frames.find(name, placing))
    for name, joint in scope.joints.items():
        _take_joint(structure, scope, name, joint, prefix, pose)


def _take_joint(structure: Structure, scope: _Scope, name: str, joint: Tag, prefix: str, pose: Array) -> None:
    place = pose @ scope.frames.find(name, joint)
    axis, lower, upper, velocity, stuck = np.array([0.0, 0.0, 1.0]), -math.inf, math.inf, math.inf, False
    element = joint.child("axis")
    if isinstance(element, Tag):
        turn = place[:3, :3]
        xyz = element.child("xyz")
        if isinstance(xyz, Tag):
            axis = np.array(xyz.numbers(3))
            if expressed := xyz.get("expressed_in", ""):
                turn = pose[:3, :3] @ scope.frames.find(expressed, xyz)[:3, :3]
        if _true(element.value("use_parent_model_frame")) or _before(scope.version, 1, 5):
            turn = pose[:3, :3]
        axis = unit(turn @ axis, element)
        limit = element.child("limit")
        if isinstance(limit, Tag):
            lower = limit_of(limit.value("lower"), -math.inf, limit, "lower")
            upper = limit_of(limit.value("upper"), math.inf, limit, "upper")
            velocity = limit_of(limit.value("velocity"), math.inf, limit, "velocity")
            stuck = limit_of(limit.value("effort"), math.inf, limit, "effort") == 0.0 or velocity == 0.0
    parent, child = (_end(scope, joint, end, prefix) for end in ("parent", "child"))
    velocity = velocity if velocity > 0.0 else math.inf
    kind, position = joint.get("type", ""), place[:3, 3]
    structure.add_joint(
        StructureJoint(prefix + name, kind, parent, child, position, axis, lower, upper, velocity, joint, stuck)
    )


def _end(scope: _Scope, joint: Tag, end: str, prefix: str) -> str:
    """The link that a joint's parent or child is, or to which that frame is attached."""
    name = joint.value(end)
    return name if name == "world" else prefix + scope.link(name, joint)


def _true(text: str) -> bool:
    return text.strip().lower() in ("true", "1")


def _before(version: str, major: int, minor: int) -> bool:
    parts = [int(part) for part in version.split(".") if part.isdecimal() and len(part) < 5]
    return bool(parts) and tuple(parts) < (major, minor)
