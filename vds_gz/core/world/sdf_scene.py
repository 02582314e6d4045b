"""Things and their poses from an SDF world: http://sdformat.org/spec. Unknown elements are refused, not skipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vds_gz.core.arrays import Array
from vds_gz.core.world.geodesy import GRAVITY, origin_of
from vds_gz.core.world.geometry_reader import IDENTITY, Frames, placed, read_geometry
from vds_gz.core.world.meshes import MOST_TRIANGLES
from vds_gz.core.world.packing import DEFAULT_COLOUR, Thing
from vds_gz.core.world.ray_caster import RayCaster
from vds_gz.core.world.scene import Scene
from vds_gz.core.world.sdf_files import FARTHEST, Node, Resources, read_xml
from vds_gz.core.world.shapes import Mesh

DEFAULT_FRICTION = 1.0  # SDF's default for collisions

#: Children that are ignored, by their parent.
IGNORED = {
    parent: set(children.split())
    for parent, children in {
        "world": "atmosphere audio gravity gui light magnetic_field physics plugin scene spherical_coordinates wind",
        "model": "allow_auto_disable enable_wind gripper plugin pose self_collide static",
        "link": "audio_sink audio_source battery enable_wind gravity inertial kinematic light must_be_base_link "
        "particle_emitter plugin pose projector self_collide sensor velocity_decay",
        "visual": "cast_shadows geometry laser_retro material meta plugin pose transparency visibility_flags",
        "collision": "density auto_inertia_params geometry laser_retro max_contacts plugin pose surface",
        "include": "name plugin placement_frame pose static uri",
    }.items()
}

#: Maximum depth of includes and number of models, so that files which include each other do not grow without end.
DEEPEST, MOST_MODELS = 32, 200_000


def read_sdf(path: Path, resources: Resources) -> Scene:
    """The scene of the first world in a file, or of its models if it has no world."""
    root = read_xml(path)
    if root.tag != "sdf":
        root.fail(f"the root element is <{root.tag}>; it must be <sdf>")
    worlds = root.children("world")
    outer = worlds[0] if worlds else root
    if not worlds and not root.children("model"):
        root.fail("there is no <world> and no <model>")
    gravity, origin = outer.vector("gravity", GRAVITY), origin_of(outer)
    reader = _SdfReader(resources)
    reader.read(outer)
    seen, felt = RayCaster(reader.visuals), RayCaster(reader.collisions)
    return Scene(outer.get("name", path.stem), seen, felt, gravity, origin)


class _Model(NamedTuple):
    """A model with its frames, before its pose is known."""

    name: str
    node: Node
    frames: Frames
    inside: tuple[_Model, ...]


@dataclass(slots=True)
class _SdfReader:
    """Collects the shapes of all models, with their poses."""

    resources: Resources
    visuals: list[Thing] = field(default_factory=list)
    collisions: list[Thing] = field(default_factory=list)
    models: int = 0  # number of models so far
    triangles: int = 0  # number of triangles of their meshes so far

    def read(self, outer: Node) -> None:
        """Read a world, or the root element of a file without one."""
        scope = Frames("world")
        models = list(self._models(outer, scope, 0))
        if outer.tag == "world":
            _refuse_unknown(outer, {"model", "include", "frame", "joint"})
            _enter_frames(outer, scope)
        for model in models:
            self._take(model, scope.find(model.name, model.node), model.name)

    def _models(self, outer: Node, scope: Frames, depth: int) -> Iterator[_Model]:
        """The models in a world or model; their frames are added to its scope."""
        if depth > DEEPEST:
            outer.fail(f"models include models more than {DEEPEST} deep")
        for node in outer.children("model", "include"):
            self.models += 1
            if self.models > MOST_MODELS:
                node.fail(f"the world has more than {MOST_MODELS} models")
            if node.tag == "include":
                _refuse_unknown(node, {"merge"})
                model = self.resources.model(node)
                yield self._entered(node.value("name") or model.get("name", ""), model, node, scope, depth)
            else:
                yield self._entered(node.get("name", ""), node, node, scope, depth)

    def _entered(self, name: str, model: Node, placing: Node, scope: Frames, depth: int) -> _Model:
        """Add a model's frames; ``placing`` is the element with its pose: the model, or its ``<include>``."""
        _refuse_unknown(model, {"model", "include", "frame", "joint", "link"})
        frames = Frames("__model__")
        inside = tuple(self._models(model, frames, depth + 1))
        for link in model.children("link"):
            frames.add(link.get("name", ""), link)
        _enter_frames(model, frames)
        foot = placing.value("placement_frame") or model.get("placement_frame", "")
        where = placing if placing.child("pose") is not None else model
        scope.add(name, where, foot=frames.find(foot, placing) if foot else IDENTITY)
        scope.nested[name] = frames
        return _Model(name, model, frames, inside)

    def _take(self, model: _Model, pose: Array, name: str) -> None:
        """Add the shapes of a model with a pose in the world."""
        for link in model.node.children("link"):
            _refuse_unknown(link, {"visual", "collision"})
            for part in link.children("visual", "collision"):
                _refuse_unknown(part, set())
                local, frame = placed(part)
                here = pose @ model.frames.find(frame or link.get("name", ""), part) @ local
                if not (np.abs(here) < FARTHEST).all():
                    part.fail(f"<{part.tag}> is farther than {FARTHEST:g} m from the origin")
                into = self.visuals if part.tag == "visual" else self.collisions
                into.extend(self._things(part, f"{name}::{link.get('name', '')}::{part.get('name', '')}", here))
        for inner in model.inside:
            self._take(inner, pose @ model.frames.find(inner.name, inner.node), f"{name}::{inner.name}")

    def _things(self, part: Node, name: str, pose: Array) -> Iterator[Thing]:
        """The things of a visual or a collision."""
        geometry = part.needed("geometry")
        retro, colour, friction = part.number("laser_retro"), _colour(part), _friction(part)
        for shape, local in read_geometry(geometry, self.resources, seen=part.tag == "visual"):
            self.triangles += len(shape.faces) if isinstance(shape, Mesh) else 0
            if self.triangles > MOST_TRIANGLES:
                part.fail(f"the world has more than {MOST_TRIANGLES} triangles")
            yield Thing(name, shape, pose @ local, retro, colour, friction)


def _colour(part: Node) -> tuple[float, float, float]:
    """Red, green and blue of the diffuse colour of a visual."""
    material = part.child("material")
    diffuse = material.child("diffuse") if material is not None else None
    if diffuse is None:
        return DEFAULT_COLOUR
    red, green, blue, *_ = diffuse.numbers(4 if len((diffuse.text or "").split()) == 4 else 3)
    return red, green, blue


def _friction(part: Node) -> float:
    """The friction coefficient of a collision: the smaller of ``<mu>`` and ``<mu2>``."""
    node: Node | None = part
    for tag in ("surface", "friction", "ode"):
        node = node.child(tag) if node is not None else None
    if node is None:
        return DEFAULT_FRICTION
    coefficients = {tag: node.number(tag, DEFAULT_FRICTION) for tag in ("mu", "mu2")}
    for tag, coefficient in coefficients.items():
        if coefficient < 0.0:
            node.fail(f"<{tag}> is {coefficient:g}; it must be at least 0")
    return min(coefficients.values())


def _enter_frames(outer: Node, frames: Frames) -> None:
    for node in outer.children("frame"):
        frames.add(node.get("name", ""), node, node.get("attached_to", ""))
    for node in outer.children("joint"):
        frames.add(node.get("name", ""), node, node.value("child"))


def _refuse_unknown(node: Node, used: set[str]) -> None:
    """Refuse unknown children, which could have shapes; custom elements ``prefix:name`` are ignored."""
    for child in node:
        assert isinstance(child, Node)
        if child.tag not in used | IGNORED[node.tag] and ":" not in child.tag:
            child.fail(f"<{child.tag}> in <{node.tag}> is not known")
