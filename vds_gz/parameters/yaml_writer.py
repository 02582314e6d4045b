"""Writing values into a parameter file whose comments, order and quoting stay."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import CommentMark, MarkedYAMLError
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.scalarstring import PlainScalarString, ScalarString, SingleQuotedScalarString
from ruamel.yaml.tokens import CommentToken

from vds_gz.errors import ArgumentError
from vds_gz.parameters.declaration import Override
from vds_gz.parameters.yaml_reader import SECTION, pattern


class _AsWritten(VersionedResolver):
    """Bare words stay as they were written: what they mean to ROS is the reader's business."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        """The tag of a node; that of a text for all scalars."""
        return super().resolve(kind, value, (False, False) if kind is ScalarNode else implicit)


def with_values(text: str, overrides: Iterable[Override], full_name: str) -> str:
    """A parameter file with some values of a node replaced or added; all else stays, but for spaces within a line.

    A value's origin becomes its remark at the end of the line, after what the user remarked there.
    """
    yaml = YAML()
    yaml.Resolver = _AsWritten
    yaml.preserve_quotes = True
    yaml.width = 1_000_000
    yaml.explicit_start = text.startswith("---")
    try:
        tree = yaml.load(text)
    except MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ArgumentError(f"parameter file{line}: {error.problem}; each name may stand once in its group") from None
    # As they are read: what is said of the node by name comes last and counts.
    sections = sorted(_sections(tree, "", full_name), key=lambda section: "*" not in section[0])
    groups = [parameters for _, parameters in sections]
    yaml.map_indent = _indent(tree)
    for override in overrides:
        _put(next((one for one in reversed(groups) if _has(one, override.name)), groups[-1]), override)
    result = io.StringIO()
    yaml.dump(tree, result)
    return result.getvalue()


def _sections(tree: CommentedMap, path: str, full_name: str) -> Iterator[tuple[str, CommentedMap]]:
    for key, value in tree.items():
        if key == SECTION and pattern(path).fullmatch(full_name):
            if not isinstance(value, CommentedMap):
                value = tree[key] = CommentedMap()
            yield path, value
        elif key != SECTION and isinstance(value, CommentedMap):
            yield from _sections(value, f"{path}/{key.strip('/')}", full_name)


def _indent(tree: CommentedMap) -> int:
    """By how much the file indents."""
    first = next(iter(tree.values()))
    return first.lc.col - tree.lc.col if isinstance(first, CommentedMap) and not first.fa.flow_style() else 2


def _place(group: CommentedMap, name: str) -> tuple[list[CommentedMap], str]:
    """The groups around a parameter, as far as there are any, and what its name is in the last of them."""
    deepest = [group], name
    for key, value in group.items():
        if key == name:
            return deepest
        if isinstance(value, CommentedMap) and name.startswith(f"{key}."):
            around, rest = _place(value, name.removeprefix(f"{key}."))
            deepest = [group, *around], rest
            if rest in around[-1]:
                break
    return deepest


def _has(group: CommentedMap, name: str) -> bool:
    around, last = _place(group, name)
    return last in around[-1]


def _put(parameters: CommentedMap, override: Override) -> None:
    """Set a parameter, in its place or at the end of its group."""
    around, name = _place(parameters, override.name)
    for group in around:
        group.fa.set_block_style()  # in one line there is no place for remarks
    group, below = around[-1], ""
    if name not in group:
        below = _take_lines_below(group)
        *missing, name = name.split(".")
        for one in missing:
            group[one] = group = CommentedMap()
    group[name] = _text(override.value)
    remark, column, lines = _comment(group, name)
    own = [part for part in (remark.removeprefix("#").strip(), override.origin) if part]
    text = "# " + "; ".join(own) if own else ""
    _set_comment(group, name, text if column else f" {text}", column, lines + below)


def _text(value: object) -> ScalarString | CommentedSeq:
    """A value as it stands in a file; a list in one line."""
    if isinstance(value, list):
        items = CommentedSeq(map(_text, value))
        items.fa.set_flow_style()
        return items
    scalar: ScalarString
    if isinstance(value, str):
        scalar = SingleQuotedScalarString(value)
    else:
        scalar = PlainScalarString(str(value).lower() if isinstance(value, bool) else repr(value))
    return scalar


def _comment(group: CommentedMap, key: str) -> tuple[str, int, str]:
    """The remark at the end of a line, its column, and the lines of remarks below."""
    token = group.ca.items.get(key, [None] * 3)[2]
    remark, _, lines = token.value.partition("\n") if token else ("", "", "")
    return remark, token.start_mark.column if remark else 0, lines


def _set_comment(group: CommentedMap, key: str, remark: str, column: int, lines: str) -> None:
    text = f"{remark.rstrip()}\n{lines}"
    token = CommentToken(text, CommentMark(column), None) if text.strip(" ") != "\n" else None
    group.ca.items.setdefault(key, [None] * 4)[2] = token


def _take_lines_below(group: CommentedMap) -> str:
    """Remarks below the last value of a group; they belong below what is added."""
    if not group:
        return ""
    key = next(reversed(group))
    if isinstance(group[key], CommentedMap):
        return _take_lines_below(group[key])
    remark, column, lines = _comment(group, key)
    _set_comment(group, key, remark, column, "")
    return lines
