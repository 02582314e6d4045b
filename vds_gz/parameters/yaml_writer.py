"""Writing values into a parameter file whose comments, order and quoting stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import yaml

from vds_gz.errors import ArgumentError
from vds_gz.parameters.declaration import Override
from vds_gz.parameters.yaml_reader import SECTION, compose, pattern

_LINE_END = re.compile(r"( #.*)?\n *")


class _Place(NamedTuple):
    """A parameter's place: the groups around it, its name in the last one, and its key and value if it is there."""

    groups: list[yaml.Node]
    name: str
    pair: tuple[yaml.Node, yaml.Node] | None


def with_values(text: str, overrides: Iterable[Override], full_name: str) -> str:
    """A parameter file with some values of a node replaced or added; the rest stays as it is.

    A value's origin becomes its remark at the end of the line, after the remark that is there. A group in braces that
    a value is put into is written line by line and loses the remarks between its braces.
    """
    text = text.removeprefix("\ufeff")  # a byte order mark, which PyYAML does not count
    for override in overrides:
        place = _find(text, override.name, full_name)
        while braces := next((group for group in place.groups if getattr(group, "flow_style", False)), None):
            text = _unfolded(text, braces, _step(place.groups))
            place = _find(text, override.name, full_name)
        text = _replaced(text, place.pair, override) if place.pair else _added(text, place, override)
    return text


def _find(text: str, name: str, full_name: str) -> _Place:
    """The place that counts: the last one in the node's sections."""
    root = compose(text, "parameter file")
    # As they are read: what is said of the node by name comes last and counts.
    sections = sorted(_sections([root], "", full_name), key=lambda section: "*" not in section[0])
    if not sections:
        raise ArgumentError(f"parameter file: no section for node '{full_name}'")
    places = [_place(groups, name) for _, groups in sections]
    return next((place for place in reversed(places) if place.pair), places[-1])


def _sections(groups: list[yaml.Node], path: str, full_name: str) -> Iterator[tuple[str, list[yaml.Node]]]:
    """Name and nested groups of each section for the node."""
    for key, value in groups[-1].value:
        if key.value == SECTION and pattern(path).fullmatch(full_name):
            yield path, [*groups, _group(key, value)]
        elif key.value != SECTION and isinstance(value, yaml.MappingNode):
            yield from _sections([*groups, value], f"{path}/{str(key.value).strip('/')}", full_name)


def _place(groups: list[yaml.Node], name: str) -> _Place:
    """The last place of a parameter in these groups, or the deepest group that it can be added to."""
    place = _Place(groups, name, None)
    for key, value in groups[-1].value if isinstance(groups[-1], yaml.MappingNode) else ():
        if key.value == name:
            place = _Place(groups, name, (key, value))
        elif name.startswith(f"{key.value}."):
            inner = _place([*groups, _group(key, value)], name.removeprefix(f"{key.value}."))
            place = inner if inner.pair or not place.pair else place
    return place


def _group(key: yaml.Node, value: yaml.Node) -> yaml.Node:
    """A group of parameters; its key where it is empty."""
    return value if isinstance(value, yaml.MappingNode) else key


def _replaced(text: str, pair: tuple[yaml.Node, yaml.Node], override: Override) -> str:
    key, value = pair
    begin = f"{text[: value.start_mark.index]}{_text(override.value)}"
    if isinstance(value, yaml.SequenceNode) and not value.flow_style:  # a line for each item
        begin = f"{text[: key.end_mark.index]}: {_text(override.value)}"
    end = len(text[: _end(value)].rstrip())  # a text in a block ends behind its last line
    line, newline, rest = text[end:].partition("\n")
    space, _, remark = line.partition("#")
    remarks = "; ".join(part for part in (remark.strip(), override.origin) if part)
    return begin + (f"{space.rstrip() or space or '  '}# {remarks}" if remarks else line) + newline + rest


def _added(text: str, place: _Place, override: Override) -> str:
    """With a new line behind the last value of a group, and lines for groups that are missing."""
    group, step = place.groups[-1], _step(place.groups)
    empty = isinstance(group, yaml.ScalarNode)
    column = group.start_mark.column + (step if empty else 0)
    *missing, name = place.name.split(".")
    lines = [f"{' ' * (column + step * depth)}{key}:\n" for depth, key in enumerate(missing)]
    remark = f"  # {override.origin}" if override.origin else ""
    lines.append(f"{' ' * (column + step * len(missing))}{name}: {_text(override.value)}{remark}\n")
    before, rest = text[: _end(group)], text[_end(group) :]
    if not before.endswith("\n"):
        line, _, rest = rest.partition("\n")
        before += line + "\n"
    return before + "".join(lines) + rest


def _unfolded(text: str, group: yaml.Node, step: int) -> str:
    """With a group in braces written line by line."""
    before, (remark, _, after) = text[: group.start_mark.index], text[group.end_mark.index :].partition("\n")
    line = before.rpartition("\n")[2]
    column = len(line) - len(line.lstrip()) + (step if line.strip() else 0)
    head = f"{before.rstrip(' ')}{'  ' if line.strip() and remark.strip() else ''}{remark.strip()}"
    return head + ("\n" if head else "") + _lines(text, group, column, step) + after


def _lines(text: str, group: yaml.Node, column: int, step: int) -> str:
    lines = ""
    for key, value in group.value:
        lines += f"{' ' * column}{text[key.start_mark.index : key.end_mark.index]}:"
        content = text[value.start_mark.index : value.end_mark.index]
        if isinstance(value, yaml.MappingNode) and value.value:
            lines += "\n" + _lines(text, value, column + step, step)
        else:
            lines += (" " + _LINE_END.sub(" ", content)).rstrip() + "\n"
    return lines


def _end(node: yaml.Node) -> int:
    """Where the last value in a node ends; a block of PyYAML ends where the next token begins."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        node = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
    return int(node.end_mark.index)


def _step(groups: list[yaml.Node]) -> int:
    """By how much the file indents."""
    root, first = groups[:2]
    return 2 if getattr(first, "flow_style", False) else first.start_mark.column - root.start_mark.column or 2


def _text(value: object) -> str:
    """A value as it stands in a file; a list in one line."""
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value).lower() if isinstance(value, bool) else repr(value)
