"""The files that a robot's files name: included models, model folders, meshes. Nothing is downloaded."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from vds_gz.core.errors import ArgumentError, WorldError
from vds_gz.core.world.sdf_files import LONGEST, Resources
from vds_gz.tools.adopt.packages import Packages
from vds_gz.tools.adopt.xml_text import Document, Tag, read_document

#: A package's folder, as launch files and xacro write it.
_FIND = re.compile(r"\$\(find(?:-pkg-share)?\s+([\w.-]+)\s*\)")

#: Maximum number of included files.
MOST_FILES = 1000


@dataclass(slots=True)
class RobotFiles:
    """Finds the files that others name; ``beside`` is the folder of the robot's own file."""

    beside: Path
    documents: dict[Path, Document] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)  # what is missing, for the user
    _packages: Packages = field(init=False)

    def __post_init__(self) -> None:
        self._packages = Packages(self.beside)

    def read(self, path: Path) -> Document:
        """A file, which is read once."""
        path = path.resolve()
        if path not in self.documents:
            if len(self.documents) >= MOST_FILES:
                raise ArgumentError(f"'{path}': more than {MOST_FILES} files include each other")
            self.documents[path] = read_document(path)
        return self.documents[path]

    def document(self, tag: Tag) -> Document:
        """The file in which an element stands."""
        return self.documents[tag.file]

    def included(self, include: Tag) -> tuple[Tag, str]:
        """The model of an ``<include>``, and the version of SDF of its file."""
        uri = include.needed("uri")
        assert isinstance(uri, Tag)
        path = self.find((uri.text or "").strip(), uri.file.parent)
        if path is None:
            uri.fail(
                f"<uri> '{(uri.text or '').strip()}' is not on this machine, and nothing is downloaded; add the folder "
                "that has it to GZ_SIM_RESOURCE_PATH"
            )
        root = self.read(model_file(path) if path.is_dir() else path).root
        models = root.tags("model")
        if root.tag != "sdf" or len(models) != 1:
            uri.fail(
                f"<uri> names {root.file}, which is <{root.tag}> with {len(models)} models; it must be <sdf> with one"
            )
        return models[0], root.get("version", "")

    def find(self, text: str, beside: Path) -> Path | None:
        """The file or folder of a URI that stands in a file in the folder ``beside``."""
        text = _FIND.sub(r"package://\1", text)
        scheme, _, rest = unquote(text).rpartition("://")
        inner = PurePosixPath(rest)
        if not inner.parts or not text.isprintable() or len(text) > LONGEST:
            return None
        for candidate in self._candidates(scheme.lower(), text, inner, beside):
            if os.path.exists(candidate):
                return candidate
        return None

    def _candidates(self, scheme: str, text: str, inner: PurePosixPath, beside: Path) -> Iterator[Path]:
        if scheme in ("model", "package"):
            name, rest = inner.parts[0], inner.parts[1:]
            find = self._packages.model if scheme == "model" else self._packages.find
            if (folder := find(name)) is not None:
                yield folder.joinpath(*rest)
        elif scheme in ("http", "https"):
            yield from self._downloaded(text)
        elif scheme in ("", "file"):
            yield beside / inner
            if not scheme and (folder := self._packages.model(inner.parts[0])) is not None:
                yield folder.joinpath(*inner.parts[1:])

    def _downloaded(self, text: str) -> Iterator[Path]:
        """A model that Gazebo has downloaded before."""
        include = Tag("include")
        uri = Tag("uri")
        include.file = uri.file = self.beside
        include.line = uri.line = 0
        uri.text = text
        try:
            yield Resources(os.environ).find(uri)
        except WorldError:
            return


def model_file(folder: Path) -> Path:
    """The SDF file in a model's folder: the highest version in its ``model.config``, else ``model.sdf``."""
    config = folder / "model.config"
    if config.is_file():
        named = read_document(config).root.tags("sdf")
        for tag in sorted(named, key=_version, reverse=True):
            name = PurePosixPath((tag.text or "").strip())
            if name.parts and not name.is_absolute() and ".." not in name.parts and (folder / name).is_file():
                return folder / name
    for file in (folder / "model.sdf", folder / "model.urdf"):
        if file.is_file():
            return file
    raise ArgumentError(
        f"folder '{folder}' has neither a model.config that names an SDF file nor a model.sdf; name the robot's file"
    )


def _version(tag: Tag) -> tuple[int, ...]:
    """A version of SDF: 1.10 is higher than 1.9."""
    return tuple(int(part) for part in tag.get("version", "").split(".") if part.isdecimal() and len(part) < 5)
