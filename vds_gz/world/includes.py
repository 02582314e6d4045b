"""The models that ``<include>`` brings into an SDF world, each file read once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from vds_gz.world.resources import Resources, is_file
from vds_gz.world.xml_reader import Node, read_xml


@dataclass(frozen=True, slots=True)
class Includes:
    """Models from other files."""

    resources: Resources
    _models: dict[Path, Node] = field(default_factory=dict)

    def model(self, include: Node) -> Node:
        """The model that an ``<include>`` brings.

        Raises:
            WorldError: There is none, or it is to be merged into the model around it.
        """
        if not {"true", "1"}.isdisjoint((include.value("merge"), include.get("merge"))):
            include.fail("<include merge='true'> is not read; include the model without merging")
        uri = include.child("uri")
        if uri is None:
            include.fail("<include> has no <uri>")
        path = self.resources.find(uri)
        if path.is_dir():
            path = _model_file(path, uri)
        if path not in self._models:
            self._models[path] = _model(path)
        return self._models[path]


def _model(path: Path) -> Node:
    root = read_xml(path)
    models = root.children("model")
    if root.tag != "sdf" or len(models) != 1:
        root.fail(f"an included file must be <sdf> with one <model>; it is <{root.tag}> with {len(models)}")
    return models[0]


def _model_file(folder: Path, uri: Node) -> Path:
    """The SDF file of a model's folder, as its ``model.config`` says, of the highest version."""
    config = folder / "model.config"
    named = read_xml(config).children("sdf") if config.is_file() else []
    name = PurePosixPath((max(named, key=_version).text or "").strip() if named else "model.sdf")
    if name.is_absolute() or ".." in name.parts or not is_file(folder / name):
        uri.fail(f"{folder} holds no model.config that names an SDF file in it, and no model.sdf")
    return folder / name


def _version(node: Node) -> tuple[int, ...]:
    """Of SDF: 1.10 is higher than 1.9."""
    return tuple(int(part) for part in node.get("version", "").split(".") if part.isdecimal() and len(part) < 5)
