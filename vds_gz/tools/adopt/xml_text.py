"""XML whose elements know the bytes from which they were read, so that one of them can be exchanged and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import TreeBuilder
from xml.parsers import expat

from vds_gz.core import files
from vds_gz.core.errors import ArgumentError
from vds_gz.core.world.sdf_files import Node

#: Maximum depth of elements: deeper files are damaged or hostile.
DEEPEST = 200

#: A comment, or a declaration with space before it. Both may be such that Gazebo reads them and expat does not.
_BLANKED = re.compile(rb"<!--.*?(?:-->|\Z)|\A\s+<\?xml.*?(?:\?>|\Z)|(<!\[CDATA\[.*?(?:\]\]>|\Z))", re.DOTALL)


class Tag(Node):
    """An element with its place in the file: ``start`` and ``end`` in bytes."""

    start: int
    end: int

    def tags(self, *names: str) -> list[Tag]:
        """The children of these names, in the order of the file; all without names."""
        return [child for child in self if isinstance(child, Tag) and (not names or child.tag in names)]

    def below(self, name: str) -> Iterator[Tag]:
        """All elements of a name in this one."""
        return (element for element in self.iter(name) if isinstance(element, Tag))


@dataclass(frozen=True, slots=True)
class Document:
    """A file: its bytes, and its root element."""

    path: Path
    data: bytes
    root: Tag

    def text(self, tag: Tag) -> str:
        """The text of an element, as it stands in the file."""
        return self.data[tag.start : tag.end].decode("utf-8")

    def line_start(self, tag: Tag) -> int:
        """Where the line of an element begins, if there are only blanks before the element; else its start."""
        start = self.data.rfind(b"\n", 0, tag.start) + 1
        return start if not self.data[start : tag.start].strip() else tag.start


def read_document(path: Path) -> Document:
    """The elements of a file.

    Raises:
        ArgumentError: It cannot be read, is too large or no XML in UTF-8.
        WorldError: It declares an entity, or is nested too deep.
    """
    try:
        files.check(path, files.LARGEST_TEXT)
        data = path.read_bytes()
    except OSError as error:
        raise ArgumentError(f"'{path}' cannot be read: {error.strerror or error}") from None
    return document_of(path, data)


def document_of(path: Path, data: bytes) -> Document:
    """The elements of the content of a file."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ArgumentError(f"{path}, line {line}: it is no text in UTF-8, which is the only encoding read") from None
    if b"\0" in data:
        raise ArgumentError(f"{path}, line {data.count(bytes(1), 0, data.index(bytes(1))) + 1}: it has a zero byte")
    return Document(path, data, _XmlReader(path, data).root)


class _XmlReader:
    """Builds the tree of a file."""

    def __init__(self, path: Path, data: bytes) -> None:
        self._path, self._data = path, data
        self._open: list[Tag] = []
        self._builder = TreeBuilder(element_factory=Tag)
        self._parser: Any = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._finish
        self._parser.CharacterDataHandler = self._builder.data
        self._parser.EntityDeclHandler = self._entity
        try:
            self._parser.Parse(_BLANKED.sub(_blank, data), True)
            root = self._builder.close()
        except (expat.ExpatError, LookupError, AssertionError) as error:  # LookupError: an unknown encoding
            what = expat.ErrorString(error.code) if isinstance(error, expat.ExpatError) else error
            line = self._parser.CurrentLineNumber
            raise ArgumentError(f"{path}, line {line}: it is not well-formed XML: {what}") from None
        assert isinstance(root, Tag)
        self.root = root

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = self._builder.start(name, attributes)
        assert isinstance(tag, Tag)
        tag.file, tag.line, tag.start = self._path, self._parser.CurrentLineNumber, self._parser.CurrentByteIndex
        self._open.append(tag)
        if len(self._open) > DEEPEST:
            tag.fail(f"elements are nested more than {DEEPEST} deep")

    def _finish(self, name: str) -> None:
        tag = self._open.pop()
        opened = _end_of_tag(self._data, tag.start)
        closes_itself = self._data[opened - 2 : opened] == b"/>"
        tag.end = opened if closes_itself else _end_of_tag(self._data, self._parser.CurrentByteIndex)
        self._builder.end(name)

    def _entity(self, name: str, *_rest: object) -> None:
        raise ArgumentError(
            f"{self._path}, line {self._parser.CurrentLineNumber}: it declares entity '{name}'; entities are not read"
        )


def _blank(match: re.Match[bytes]) -> bytes:
    """Blanks in place of a comment, and the same line breaks, so that every byte keeps its place."""
    return match[0] if match[1] else re.sub(rb"[^\n]", b" ", match[0])


def _end_of_tag(data: bytes, start: int) -> int:
    """The end of a tag that begins at ``start``; its attributes may have ``>``."""
    quote = 0
    for index in range(start, len(data)):
        byte = data[index]
        if quote:
            quote = 0 if byte == quote else quote
        elif byte in b"\"'":
            quote = byte
        elif byte == 0x3E:  # >
            return index + 1
    return len(data)
