"""An SDF world as things in their places: http://sdformat.org/spec. What is not understood is refused, not skipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vds_gz.geometry.so3 import Vector
from vds_gz.world.earth import gravity_of, origin_of
from vds_gz.world.frames import Frames, matrix, pose_of
from vds_gz.world.geodesy import Origin
from vds_gz.world.geometry_reader import read_geometry
from vds_gz.world.packing import DEFAULT_COLOUR, Thing
from vds_gz.world.resources import Resources
from vds_gz.world.shapes import Array
from vds_gz.world.xml_reader import Node, read_xml

#: Children that say nothing of what stands where, by their parent.
WITHOUT_BEARING = {
    "world": {
        "atmosphere",
        "audio",
        "gravity",
        "gui",
        "light",
        "magnetic_field",
        "physics",
        "plugin",
        "scene",
        "spherical_coordinates",
        "wind",
    },
    "model": {"allow_auto_disable", "enable_wind", "gripper", "plugin", "pose", "self_collide", "static"},
    "link": {
        "audio_sink",
        "audio_source",
        "battery",
        "enable_wind",
        "gravity",
        "inertial",
        "kinematic",
        "light",
        "must_be_base_link",
        "particle_emitter",
        "plugin",
        "pose",
        "projector",
        "self_collide",
        "sensor",
        "velocity_decay",
    },
    "visual": {
        "cast_shadows",
        "geometry",
        "laser_retro",
        "material",
        "meta",
        "plugin",
        "pose",
        "transparency",
        "visibility_flags",
    },
    "collision": {
        "density",
        "auto_inertia_params",
        "geometry",
        "laser_retro",
        "max_contacts",
        "plugin",
        "pose",
        "surface",
    },
    "include": {"name", "plugin", "placement_frame", "pose", "static", "uri"},
}

#: Models may include models so deep.
DEEPEST = 32


@dataclass(slots=True)
class SdfWorld:
    """What an SDF file holds.

    Attributes:
        name: Of its world or model.
        visuals: What is seen.
        collisions: What bumps.
        gravity: In the world's axes [m/s^2].
        origin: Where on Earth the world's origin lies.
    """

    name: str
    gravity: Vector
    origin: Origin
    visuals: list[Thing] = field(default_factory=list)
    collisions: list[Thing] = field(default_factory=list)


def read_sdf(path: Path, resources: Resources) -> SdfWorld:
    """Everything that stands in a world, or in the model of a file.

    Raises:
        WorldError: The file is no SDF, holds what is not understood, or names what is not here.
    """
    root = read_xml(path)
    if root.tag != "sdf":
        root.fail(f"the root element is <{root.tag}>; it must be <sdf>")
    worlds = root.children("world")
    outer = worlds[0] if worlds else root
    if not worlds and not root.children("model"):
        root.fail("there is no <world> and no <model>")
    found = SdfWorld(outer.get("name", path.stem), gravity_of(outer), origin_of(outer))
    scope = Frames("world")
    placed = list(_models(outer, scope, resources, 0))
    if worlds:
        _refuse_unknown(outer, {"model", "include", "frame", "joint"})
        _enter_frames(outer, scope)
    for model in placed:
        pose = scope.find(model.name, model.node)
        _take(model, pose, model.name, found, resources)
    return found


@dataclass(frozen=True, slots=True)
class _Model:
    """A model with its frames, before it is known where it stands."""

    name: str
    node: Node
    frames: Frames
    inside: tuple[_Model, ...]


def _models(outer: Node, scope: Frames, resources: Resources, depth: int) -> Iterator[_Model]:
    """The models in a world or model, with their frames entered into its scope."""
    if depth > DEEPEST:
        outer.fail(f"models include models more than {DEEPEST} deep")
    for node in outer.children("model", "include"):
        if node.tag == "include":
            _refuse_unknown(node, {"merge"})
            if node.value("merge") in ("true", "1") or node.get("merge") in ("true", "1"):
                node.fail("<include merge='true'> is not read; include the model without merging")
            model = _included(node, resources)
        else:
            model = node
        name = node.value("name") if node.tag == "include" else ""
        name = name or model.get("name", "")
        if not name:
            node.fail(f"<{node.tag}> has no name")
        yield _entered(name, model, node, scope, resources, depth)


def _entered(name: str, model: Node, placing: Node, scope: Frames, resources: Resources, depth: int) -> _Model:
    """Enter a model's frames; ``placing`` says where it stands: itself, or the ``<include>`` that brought it."""
    _refuse_unknown(model, {"model", "include", "frame", "joint", "link"})
    frames = Frames("__model__")
    inside = tuple(_models(model, frames, resources, depth + 1))
    for link in model.children("link"):
        frames.add(link.get("name", ""), link)
    _enter_frames(model, frames)
    scope.nested[name] = frames
    where = placing if placing.child("pose") is not None else model
    scope.add(name, where)
    frame = placing.value("placement_frame") or model.get("placement_frame", "")
    if frame:
        placed = scope.poses[name]
        scope.poses[name] = lambda: placed() @ np.linalg.inv(frames.find(frame, placing))
    return _Model(name, model, frames, inside)


def _enter_frames(outer: Node, frames: Frames) -> None:
    for one in outer.children("frame"):
        frames.add(one.get("name", ""), one, one.get("attached_to", ""))
    for one in outer.children("joint"):
        frames.add(one.get("name", ""), one, one.value("child"))


def _included(include: Node, resources: Resources) -> Node:
    """The model that an ``<include>`` brings."""
    uri = include.child("uri")
    if uri is None:
        include.fail("<include> has no <uri>")
    path = resources.find(uri)
    if path.is_dir():
        path = _model_file(path, uri)
    root = read_xml(path)
    models = root.children("model")
    if root.tag != "sdf" or len(models) != 1:
        root.fail(f"an included file must be <sdf> with one <model>; it is <{root.tag}> with {len(models)}")
    return models[0]


def _model_file(folder: Path, uri: Node) -> Path:
    """The SDF file of a model's folder, as its ``model.config`` says, of the highest version."""
    config = folder / "model.config"
    if config.is_file():
        files = [(one.get("version", ""), (one.text or "").strip()) for one in read_xml(config).children("sdf")]
        if files and ".." not in Path(max(files)[1]).parts:
            return folder / max(files)[1]
    if not (folder / "model.sdf").is_file():
        uri.fail(f"{folder} holds no model.config that names an SDF file, and no model.sdf")
    return folder / "model.sdf"


def _take(model: _Model, pose: Array, name: str, found: SdfWorld, resources: Resources) -> None:
    """Put the shapes of a model, which stands at a pose in the world, to the others."""
    for link in model.node.children("link"):
        _refuse_unknown(link, {"visual", "collision"})
        prefix = f"{name}::{link.get('name', '')}"
        for part in link.children("visual", "collision"):
            _refuse_unknown(part, set())
            given = part.child("pose")
            frame = given.get("relative_to", "") if given is not None else ""
            here = pose @ model.frames.find(frame or link.get("name", ""), part) @ pose_of(given)
            into = found.visuals if part.tag == "visual" else found.collisions
            into.extend(_things(part, f"{prefix}::{part.get('name', '')}", here, resources))
    for inner in model.inside:
        _take(inner, pose @ model.frames.find(inner.name, inner.node), f"{name}::{inner.name}", found, resources)


def _things(part: Node, name: str, pose: Array, resources: Resources) -> Iterator[Thing]:
    """The things that a visual or a collision shows."""
    geometry = part.child("geometry")
    if geometry is None:
        part.fail(f"<{part.tag}> has no <geometry>")
    retro = part.child("laser_retro")
    material = part.child("material")
    diffuse = material.child("diffuse") if material is not None else None
    red, green, blue = DEFAULT_COLOUR
    if diffuse is not None:
        red, green, blue, *_ = diffuse.numbers(4 if len((diffuse.text or "").split()) == 4 else 3)
    reflectivity = retro.numbers(1)[0] if retro is not None else 0.0
    for shape, local in read_geometry(geometry, resources, seen=part.tag == "visual"):
        yield Thing(name, shape, pose @ local, reflectivity, (red, green, blue))


def _refuse_unknown(node: Node, used: set[str]) -> None:
    """Refuse children that might put something somewhere and are not understood; those of other XML spaces are."""
    for child in node:
        assert isinstance(child, Node)
        if child.tag not in used | WITHOUT_BEARING[node.tag] and ":" not in child.tag:
            child.fail(f"<{child.tag}> in <{node.tag}> is not known")


__all__ = ["SdfWorld", "matrix", "read_sdf"]
