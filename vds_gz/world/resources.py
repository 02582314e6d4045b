"""Files that an SDF file names: found here by Gazebo's rules, never downloaded; included models are read once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from vds_gz.world.xml_reader import Node, read_xml

#: Where Gazebo keeps what it has downloaded.
FUEL_CACHE = Path(".gz", "fuel")

#: Names of more characters than this are a mistake.
LONGEST = 1000


def is_file(path: Path) -> bool:
    """Whether there is such a file; unlike pathlib, a name that is too long is none."""
    return os.path.isfile(path)


@dataclass(frozen=True, slots=True)
class Resources:
    """Where files are looked for.

    Attributes:
        environment: ``GZ_SIM_RESOURCE_PATH`` for ``model://`` and relative names, ``AMENT_PREFIX_PATH`` for
            ``package://``, ``GZ_FUEL_CACHE_PATH`` for ``https://``.
    """

    environment: Mapping[str, str]

    def find(self, uri: Node) -> Path:
        """The file or folder that the text of an element names.

        Raises:
            WorldError: It is not on this machine, or leads out of the folders named above.
        """
        text = unquote((uri.text or "").strip())
        scheme, _, rest = text.rpartition("://")
        inner = PurePosixPath(rest)
        if not inner.parts or ".." in inner.parts or not text.isprintable() or len(text) > LONGEST:
            uri.fail(f"<{uri.tag}> is '{text[:LONGEST]}'; it must name a file without '..'")
        looked: list[Path] = []
        for candidate in self._candidates(scheme.lower(), inner, uri.file.parent):
            if is_file(candidate) or os.path.isdir(candidate):
                return candidate
            looked.append(candidate)
        places = ", ".join(map(str, looked)) or "nowhere: no folder for such names is set"
        uri.fail(f"<{uri.tag}> '{text}' is not on this machine, and nothing is downloaded; looked for {places}")

    def _candidates(self, scheme: str, inner: PurePosixPath, beside: Path) -> Iterator[Path]:
        if scheme in ("http", "https"):
            yield from self._in_fuel_cache(inner)
        elif scheme == "package":
            name, rest = inner.parts[0], PurePosixPath(*inner.parts[1:])
            for prefix in self._folders("AMENT_PREFIX_PATH"):
                yield prefix / "share" / name / rest
        elif scheme == "file" or inner.is_absolute():
            yield Path(inner)
        else:
            yield beside / inner
            if scheme == "model":
                yield beside.parent / inner
            for folder in self._folders("GZ_SIM_RESOURCE_PATH"):
                yield folder / inner

    def _in_fuel_cache(self, inner: PurePosixPath) -> Iterator[Path]:
        """``https://SERVER/1.0/OWNER/models/NAME[/VERSION][/files/...]``, in its highest version."""
        pattern = r"([^/]+)/1\.0/([^/]+)/models/([^/]+)(?:/(\d{1,9}|tip))?(?:/files/(.+))?"
        match = re.fullmatch(pattern, str(inner), re.IGNORECASE)
        if match is None:
            return
        cache = self.environment.get("GZ_FUEL_CACHE_PATH") or str(Path(self.environment.get("HOME", "")) / FUEL_CACHE)
        host, owner, name, version, rest = match.groups()
        model = Path(cache) / host.lower() / owner.lower() / "models" / name.lower()
        versions = sorted((int(one.name) for one in model.glob("*") if one.name.isdecimal()), reverse=True)
        chosen = int(version) if version and version.isdecimal() else versions[0] if versions else 1
        yield model / str(chosen) / (rest or "")

    def _folders(self, variable: str) -> list[Path]:
        return [Path(part) for part in self.environment.get(variable, "").split(os.pathsep) if part]


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
