"""XML whose elements know where they stand, without entities: no file can be made to grow or to reach out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from vds_gz.errors import WorldError

#: Numbers in a file are smaller than this [m].
FARTHEST = 1e12

#: A world of more bytes than this is a mistake.
LARGEST = 64 * 1024 * 1024


#: A comment, space before the declaration, or text in which nothing is a comment. What does not end goes on to the end
#: of the file, so that no place is looked at twice, and is left for the parser to refuse.
_COMMENT = re.compile(rb"<!--.*?(-->|\Z)|\A\s+<\?xml.*?(\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)


def _blank(match: re.Match[bytes]) -> bytes:
    """Lines without comments: ``--`` in them is no XML, but stands in many a world, as does space at its beginning."""
    return b"\n" * match[0].count(b"\n") if match[1] or match[2] else match[0]


class Node(Element):
    """An element with the file and the line in which it begins."""

    file: Path
    line: int

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{self.file}, line {self.line}"

    def fail(self, reason: str) -> NoReturn:
        """Refuse it.

        Raises:
            WorldError: Always, with file and line.
        """
        raise WorldError(f"{self.place}: {reason}")

    def child(self, tag: str) -> Node | None:
        """The first child of this tag."""
        found = self.find(tag)
        assert found is None or isinstance(found, Node)
        return found

    def children(self, *tags: str) -> list[Node]:
        """All children of these tags, in their order."""
        return [one for one in self if isinstance(one, Node) and one.tag in tags]

    def value(self, tag: str, default: str = "") -> str:
        """The text of a child."""
        return (self.findtext(tag) or default).strip()

    def numbers(self, count: int) -> list[float]:
        """Its text as so many finite numbers.

        Raises:
            WorldError: It is something else.
        """
        words = (self.text or "").split()
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = []
        if len(values) != count or not all(abs(value) < FARTHEST for value in values):
            needed = f"{count} number{'s' * (count > 1)}, smaller than {FARTHEST:g}"
            self.fail(f"<{self.tag}> is '{' '.join(words)}'; it must be {needed}")
        return values

    def required(self, tag: str, count: int) -> list[float]:
        """The numbers of a child that must be there.

        Raises:
            WorldError: It is not there, or something else.
        """
        found = self.child(tag)
        if found is None:
            self.fail(f"<{self.tag}> has no <{tag}>")
        return found.numbers(count)


def read_xml(path: Path) -> Node:
    """The root element of a file.

    Raises:
        WorldError: It cannot be read, is not well-formed, or declares entities.
    """
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= LARGEST and path.is_file() else b""
    except OSError as error:
        raise WorldError(f"world '{path}' cannot be read: {error.strerror or error}") from None
    if not path.is_file():
        raise WorldError(f"world '{path}' is no file")
    if size > LARGEST:
        raise WorldError(f"world '{path}' has {size} bytes; at most {LARGEST} are read")
    data = _COMMENT.sub(_blank, data)
    builder = TreeBuilder(element_factory=Node)
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        node = builder.start(tag, attributes)
        assert isinstance(node, Node)
        node.file, node.line = path, parser.CurrentLineNumber

    def refuse(name: str, *_rest: object) -> None:
        raise WorldError(f"{path}, line {parser.CurrentLineNumber}: entity '{name}'; entities are not read")

    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
        root = builder.close()
    except (expat.ExpatError, ValueError, LookupError) as error:  # the latter of encodings
        if isinstance(error, WorldError):
            raise
        what = expat.ErrorString(error.code) if isinstance(error, expat.ExpatError) else error
        raise WorldError(f"{path}, line {parser.CurrentLineNumber}: it is not well-formed XML: {what}") from None
    assert isinstance(root, Node)
    return root
