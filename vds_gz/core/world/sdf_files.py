"""SDF files, and the files that they name, which are found by Gazebo's rules and never downloaded.

XML is read without entities, so a file can neither grow nor load others. Elements know their file and line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NoReturn
from urllib.parse import unquote
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from vds_gz.core import files
from vds_gz.core.errors import WorldError
from vds_gz.core.geometry import Vector

FARTHEST = 1e12  # bound of numbers in a file [m]

#: A comment, a declaration with space before it, or CDATA, in which nothing is a comment. A match without an end goes
#: to the end of the file, so that no place is searched twice; the parser refuses it.
_COMMENT = re.compile(rb"<!--.*?(-->|\Z)|\A\s+<\?xml.*?(\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)


def _blank(match: re.Match[bytes]) -> bytes:
    """Only the line breaks of a comment or declaration, because many are invalid; CDATA unchanged."""
    return b"\n" * match[0].count(b"\n") if match[1] or match[2] else match[0]


class Node(Element):
    """An element with the file and the line in which it begins."""

    file: Path
    line: int

    @property
    def place(self) -> str:
        """Its file and line, for messages."""
        return f"{self.file}, line {self.line}"

    def fail(self, reason: str) -> NoReturn:
        """Raise a WorldError with file and line."""
        raise WorldError(f"{self.place}: {reason}")

    def child(self, tag: str) -> Node | None:
        """The first child of this tag."""
        node = self.find(tag)
        assert node is None or isinstance(node, Node)
        return node

    def needed(self, tag: str) -> Node:
        """The first child of this tag; raises WorldError without one."""
        node = self.child(tag)
        if node is None:
            self.fail(f"<{self.tag}> has no <{tag}>")
        return node

    def children(self, *tags: str) -> list[Node]:
        """All children of these tags, in the order of the file."""
        return [node for node in self if isinstance(node, Node) and node.tag in tags]

    def value(self, tag: str, default: str = "") -> str:
        """The text of a child; the default without one."""
        return (self.findtext(tag) or default).strip()

    def numbers(self, count: int) -> list[float]:
        """Its text as ``count`` finite numbers."""
        words = (self.text or "").split()
        try:
            values = [files.number(word) for word in words]
        except ValueError:
            values = []
        if len(values) != count or not all(abs(value) < FARTHEST for value in values):
            needed = f"{count} number{'s' * (count > 1)}, smaller than {FARTHEST:g}"
            self.fail(f"<{self.tag}> is '{' '.join(words)}'; it must be {needed}")
        return values

    def vector(self, tag: str, default: Vector) -> Vector:
        """The three numbers of a child; the default without one."""
        node = self.child(tag)
        if node is None:
            return default
        x, y, z = node.numbers(3)
        return x, y, z

    def number(self, tag: str, default: float = 0.0) -> float:
        """The number of a child; the default without one."""
        node = self.child(tag)
        return default if node is None else node.numbers(1)[0]


def read_xml(path: Path) -> Node:
    """The root element of a file, which declares no entities."""
    try:
        files.check(path, files.LARGEST_TEXT)
        data = _COMMENT.sub(_blank, path.read_bytes())
    except OSError as error:
        raise WorldError(f"file '{path}' cannot be read: {error.strerror or error}") from None
    builder = TreeBuilder(element_factory=Node)
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        node = builder.start(tag, attributes)
        assert isinstance(node, Node)
        node.file, node.line = path, parser.CurrentLineNumber

    def refuse(name: str, *_rest: object) -> None:
        raise WorldError(f"{path}, line {parser.CurrentLineNumber}: entity '{name}'; entities are not supported")

    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
        root = builder.close()
    except (expat.ExpatError, ValueError, LookupError) as error:  # LookupError: an unknown encoding
        if isinstance(error, WorldError):
            raise
        what = expat.ErrorString(error.code) if isinstance(error, expat.ExpatError) else error
        raise WorldError(f"{path}, line {parser.CurrentLineNumber}: it is not well-formed XML: {what}") from None
    assert isinstance(root, Node)
    return root


FUEL_CACHE = Path(".gz", "fuel")  # Gazebo's cache of downloads
LONGEST = 1000  # maximum length of a name


def is_file(path: Path) -> bool:
    """Whether a file exists; unlike with pathlib, a name that is too long raises nothing."""
    return os.path.isfile(path)


@dataclass(frozen=True, slots=True)
class Resources:
    """The folders in which files are searched."""

    #: ``GZ_SIM_RESOURCE_PATH`` for ``model://`` and relative names, ``AMENT_PREFIX_PATH`` for ``package://``,
    #: ``GZ_FUEL_CACHE_PATH`` for ``https://``.
    environment: Mapping[str, str]
    _models: dict[Path, Node] = field(default_factory=dict)

    def model(self, include: Node) -> Node:
        """The model of an ``<include>``; each file is read once."""
        if not {"true", "1"}.isdisjoint((include.value("merge"), include.get("merge"))):
            include.fail("<include merge='true'> is not supported; include the model without merging")
        uri = include.needed("uri")
        path = self.find(uri)
        if path.is_dir():
            path = _model_file(path, uri)
        if path not in self._models:
            root = read_xml(path)
            models = root.children("model")
            if root.tag != "sdf" or len(models) != 1:
                root.fail(f"an included file must be <sdf> with one <model>; it is <{root.tag}> with {len(models)}")
            self._models[path] = models[0]
        return self._models[path]

    def find(self, uri: Node) -> Path:
        """The file or folder that the text of an element names."""
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
        places = ", ".join(map(str, looked)) or "nothing, because no folder is known for such names"
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
        """``https://SERVER/1.0/OWNER/models/NAME[/VERSION][/files/...]``; without VERSION, the highest in the cache."""
        pattern = r"([^/]+)/1\.0/([^/]+)/models/([^/]+)(?:/(\d{1,9}|tip))?(?:/files/(.+))?"
        match = re.fullmatch(pattern, str(inner), re.IGNORECASE)
        if match is None:
            return
        cache = self.environment.get("GZ_FUEL_CACHE_PATH") or str(Path(self.environment.get("HOME", "")) / FUEL_CACHE)
        host, owner, name, version, rest = match.groups()
        model = Path(cache) / host.lower() / owner.lower() / "models" / name.lower()
        versions = [int(folder.name) for folder in model.glob("*") if folder.name.isdecimal()]
        chosen = int(version) if version and version.isdecimal() else max(versions, default=1)
        yield model / str(chosen) / (rest or "")

    def _folders(self, variable: str) -> list[Path]:
        return [Path(part) for part in self.environment.get(variable, "").split(os.pathsep) if part]


def _model_file(folder: Path, uri: Node) -> Path:
    """The SDF file in a model's folder: the highest version in its ``model.config``, else ``model.sdf``."""
    config = folder / "model.config"
    named = read_xml(config).children("sdf") if config.is_file() else []
    name = PurePosixPath((max(named, key=_version).text or "").strip() if named else "model.sdf")
    if name.is_absolute() or ".." in name.parts or not is_file(folder / name):
        uri.fail(f"{folder} has neither a model.config that names an SDF file in it nor a model.sdf")
    return folder / name


def _version(node: Node) -> tuple[int, ...]:
    """A version of SDF: 1.10 is higher than 1.9."""
    return tuple(int(part) for part in node.get("version", "").split(".") if part.isdecimal() and len(part) < 5)
