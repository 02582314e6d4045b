"""Parameter values and parameter files, in the YAML that ROS reads and writes.

ROS has its own rules for bare words: ``1e3`` is a number, ``y`` is true, ``010`` is eight. The same rules apply here,
so a file means the same to every node.

Files from ``vds-gz identify`` have confidence intervals in comments at the ends of lines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from vds_gz.core import files
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import Faults, Override

Scalar = bool | int | float | str
ParameterValue = Scalar | list[Scalar]

#: Key above the parameters of a node.
SECTION = "ros__parameters"
#: Maximum depth of nested lists and mappings.
DEEPEST = 50
#: Maximum length of a whole number, with its sign and prefix; Python itself reads at most 4300 digits.
LONGEST_INTEGER = 1000
_FASTEST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TRUE = frozenset(["Y", "y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"])
_FALSE = frozenset(["N", "n", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"])
_INTEGER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_REAL = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])")
_SPECIAL = re.compile(r"([+-]?)\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class _Loader(_FASTEST):  # type: ignore[misc]  # the C loader where libyaml is
    """A loader that does not interpret bare words and keeps explicit tags."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: object) -> str:
        """The tag of a node without an explicit one, which is empty."""
        return ""


def parse_value(text: str, where: str) -> ParameterValue:
    """One value: a boolean, a number, a text, or a list of values of one of these types."""
    return _value(compose(text, where), where)


def read_parameter_file(path: str, *full_names: str, faults: Faults | None = None) -> list[Override]:
    """The values in a parameter file for a node with these names.

    Later sections override earlier ones: those with wildcards come first, then those by name, in the order of
    ``full_names``. The value of a parameter whose name ends in ``_path`` may be relative to the file; it becomes
    absolute.
    """
    where = f"file {path}"
    values = faults or Faults()
    folder = Path(path).resolve().parent
    nodes = [node for _, node in _sections_for(path, full_names)]
    given = (_each_once(_parameters(node, "", where, values)) for node in nodes)
    overrides = [_located(override, folder) for override in chain.from_iterable(given)]
    if faults is None and values.messages:
        raise ArgumentError("\n".join(values.messages))
    return overrides


def section_of(path: str, full_name: str) -> str:
    """The widest section of a parameter file for a node: with wildcards if there is one, else by its name."""
    section = _sections_for(path, (full_name,))[0][0]
    return section if "*" in section else section.removeprefix("/")


def read_sections(path: str) -> list[tuple[str, list[Override]]]:
    """The names of all sections of any nodes' parameter file, and their values, without those that ROS refuses."""
    where, refused = f"file {path}", Faults()
    sections = _all_sections(path, "controller_manager")
    return [(name, list(_parameters(node, "", where, refused))) for name, node in sections]


def _sections_for(path: str, full_names: Sequence[str]) -> list[tuple[str, yaml.Node]]:
    """The names and contents of a parameter file's sections for a node, the most specific one last."""
    sections = _all_sections(path, full_names[-1])
    ranked: list[tuple[int, str, yaml.Node]] = []
    for section, node in sections:
        ranks = [rank for rank, name in enumerate(full_names) if pattern(section).fullmatch(name)]
        if ranks:
            ranked.append((-1 if "*" in section else ranks[0], section, node))
    if not ranked:
        names = ", ".join(f"'{section}'" for section, _ in sections) or f"no '{SECTION}' at all"
        raise ArgumentError(
            f"file {path}: no section for node '{full_names[-1]}'; the file has {names}; '{full_names[-1]}:' or '/**:' "
            "would be right"
        )
    ranked.sort(key=itemgetter(0))
    return [(section, node) for _, section, node in ranked]


def _all_sections(path: str, node: str) -> list[tuple[str, yaml.Node]]:
    """The names and contents of all sections of a parameter file, which should be for ``node``."""
    where = f"file {path}"
    try:
        text = files.read_text(Path(path), largest=files.LARGEST_YAML)
    except FileNotFoundError:
        raise ArgumentError(f"parameter file '{path}' does not exist (looked in {Path.cwd()})") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"parameter file '{path}' cannot be read: {error}") from None
    root = compose(text, where)
    if not isinstance(root, yaml.MappingNode):
        raise ArgumentError(f"{where}: the file must hold '{node}:' and under it '{SECTION}:'")
    sections = list(_sections(root, "", where))
    lines: dict[str, int] = {}
    for section, content in sections:
        if section in lines:
            first = lines[section]
            raise ArgumentError(f"{_line(content, where)}: section '{section}' is there twice; first in line {first}")
        lines[section] = content.start_mark.line + 1
    return sections


def _located(override: Override, folder: Path) -> Override:
    """An override with the whole path of a file in the folder; other paths are relative to the working directory."""
    value = override.value
    if override.name.endswith("_path") and isinstance(value, str) and value and (folder / value).is_file():
        return override._replace(value=str(folder / value))
    return override


def compose(text: str, where: str) -> yaml.Node:
    """The root node of a YAML text; its nodes have their places in the text."""
    try:
        _check_events(yaml.parse(text, Loader=_Loader), where)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        raise ArgumentError(f"{where}{line}: not valid YAML: {problem}") from None
    if node is None:
        raise ArgumentError(f"{where}: it is empty")
    _check_keys(node, where)
    return node


def _check_keys(node: yaml.Node, where: str) -> None:
    """Refuse mappings with a key that occurs twice, of which YAML would use the last."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _check_keys(item, where)
    elif isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                line = key.start_mark.line + 1
                if key.value in lines:
                    first = lines[key.value]
                    raise ArgumentError(f"{where}, line {line}: '{key.value}' is there twice; first in line {first}")
                lines[key.value] = line
            _check_keys(value, where)


def _check_events(events: Iterable[yaml.Event], where: str) -> None:
    """Refuse content that could need unlimited memory or stack."""
    depth = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            raise ArgumentError(f"{where}: it has aliases ('*name'), which are not read")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ArgumentError(f"{where}: lists and mappings are nested more than {DEEPEST} deep")


def _line(node: yaml.Node, where: str) -> str:
    return f"{where}, line {node.start_mark.line + 1}"


def _sections(node: yaml.MappingNode, path: str, where: str) -> Iterator[tuple[str, yaml.Node]]:
    """The sections of a file: the node's name or pattern, and the mapping of its parameters."""
    for key, value in node.value:
        if key.value == SECTION:
            if not path:
                raise ArgumentError(f"{_line(key, where)}: '{SECTION}' must stand under the name of a node, or '/**'")
            yield path, value
        elif isinstance(value, yaml.MappingNode):
            yield from _sections(value, f"{path}/{str(key.value).strip('/')}", where)
        else:
            raise ArgumentError(
                f"{_line(key, where)}: '{key.value}' has a value where a node's name is expected; "
                f"parameters stand under '{SECTION}:'"
            )


def _parameters(node: yaml.Node, prefix: str, where: str, faults: Faults) -> Iterator[Override]:
    if isinstance(node, yaml.ScalarNode) and not node.value and not prefix:
        return
    if not isinstance(node, yaml.MappingNode):
        raise ArgumentError(f"{_line(node, where)}: '{SECTION}' must hold 'name: value' pairs")
    for key, value in node.value:
        name = f"{prefix}{key.value}"
        if isinstance(value, yaml.SequenceNode) and any(isinstance(item, yaml.MappingNode) for item in value.value):
            value = _by_name(value, f"parameter '{name}', {where}")
        if isinstance(value, yaml.MappingNode):
            yield from _parameters(value, f"{name}.", where, faults)
        else:
            origin = _line(key, where)
            with faults.caught():
                yield Override(name, _value(value, f"parameter '{name}', {origin}"), origin)


def _each_once(overrides: Iterable[Override]) -> Iterator[Override]:
    """The values of one section; refuses a name that is there twice, such as ``a.b`` beside ``b`` below ``a``."""
    origins: dict[str, str] = {}
    for override in overrides:
        if override.name in origins:
            first = origins[override.name].rpartition(", ")[2]
            raise ArgumentError(f"{override.origin}: '{override.name}' is there twice; first in {first}")
        origins[override.name] = override.origin
        yield override


def _by_name(node: yaml.Node, where: str) -> yaml.MappingNode:
    """A list of mappings, converted to a mapping by each item's ``name``, the only form that ROS's reader knows."""
    members: dict[str, tuple[yaml.Node, yaml.Node]] = {}
    for item in node.value:
        entries = item.value if isinstance(item, yaml.MappingNode) else []
        names = [value for key, value in entries if key.value == "name"]
        if len(names) != 1 or names[0].value in members:
            raise ArgumentError(f"{_line(item, where)}: each entry of this list must be a mapping with its own 'name'")
        rest = [pair for pair in entries if pair[0].value != "name"]
        members[names[0].value] = names[0], yaml.MappingNode(item.tag, rest, item.start_mark)
    return yaml.MappingNode("tag:yaml.org,2002:map", list(members.values()), node.start_mark)


def pattern(name: str) -> re.Pattern[str]:
    """A pattern for the nodes of a section: ``/*`` stands for one part of a name, ``/**`` for any number of parts."""
    return re.compile(re.escape(name).replace(r"/\*\*", r"(/\w+)*").replace(r"/\*", r"/\w+"))


def _value(node: yaml.Node, where: str) -> ParameterValue:
    if isinstance(node, yaml.ScalarNode):
        return scalar_of(node, where)
    if isinstance(node, yaml.MappingNode):
        raise ArgumentError(f"{where}: it is a mapping; it must be a single value or a list")
    items = [scalar_of(item, where) for item in node.value]
    if len({type(item) for item in items}) > 1:
        raise ArgumentError(
            f"{where}: {items} mixes types; all values of a list must be of one type, e.g. [1.0, 2.5] and not [1, 2.5]"
        )
    return items


def scalar_of(node: yaml.Node, where: str) -> Scalar:
    """A single value, as ROS reads it."""
    if not isinstance(node, yaml.ScalarNode):
        raise ArgumentError(f"{where}: a list may hold only single values")
    text = str(node.value)
    if node.style in ("'", '"') or node.tag == "tag:yaml.org,2002:str":
        return text
    if not text:
        raise ArgumentError(f"{where}: it has no value; '' would be an empty text")
    return _bare(text)


def _bare(text: str) -> Scalar:
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INTEGER.fullmatch(text):
        octal = re.fullmatch(r"[+-]?0[0-7]+", text)
        if len(text) <= LONGEST_INTEGER and -(2**63) <= (number := int(text, 8 if octal else 0)) < 2**63:
            return number
    if special := _SPECIAL.fullmatch(text):
        return float((special[1] or "") + (special[2] or special[3]))
    return float(text) if _REAL.fullmatch(text) else text


def parameter_file(overrides: Iterable[Override], section: str) -> str:
    """The text of a parameter file with these values for a node; the origins of values become comments."""
    groups: dict[str, Any] = {}
    for override in overrides:
        *path, name = override.name.split(".")
        group = groups
        for key in path:
            group = group.setdefault(key, {})
        group[name] = override
    return "".join(_lines({section: {SECTION: groups}}, ""))


def _lines(group: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, member in group.items():
        if isinstance(member, Override):
            comment = f"  # {member.origin}" if member.origin else ""
            yield f"{indent}{name}: {yaml_text(member.value)}{comment}\n"
        else:
            yield f"{indent}{name}:\n"
            yield from _lines(member, f"{indent}  ")


def yaml_text(value: object) -> str:
    """A value as YAML, a list in one line."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(yaml_text, value))}]"
    if isinstance(value, str):
        # other readers of YAML interpret a bare null
        plain = re.fullmatch(r"[A-Za-z]\w*", value, re.ASCII) and _bare(value) == value and value.lower() != "null"
        if plain:
            return value
        if value.isprintable():
            return "'" + value.replace("'", "''") + "'"
        return yaml.safe_dump(value, default_style='"', width=math.inf).rstrip()
    return str(value).lower() if isinstance(value, bool) else repr(value)


#: The label of every interval in tables and parameter files.
INTERVAL = "95 % if the model holds"

_COMMENT = re.compile(rf"#.*\b{re.escape(INTERVAL)}: (\S+) to (\S+)")


class Interval(NamedTuple):
    """An identified value and its confidence interval."""

    value: float
    low: float
    high: float


def comment(low: float, high: float) -> str:
    """An interval as a comment in a parameter file."""
    return f"{INTERVAL}: {ends(low, high)}"


def ends(low: float, high: float) -> str:
    """An interval in words; its ends are rounded outwards, so it still contains the same values.

    >>> ends(0.269328, 0.269331)
    '0.2693 to 0.2694'
    """
    return f"{_rounded(low, ROUND_FLOOR)} to {_rounded(high, ROUND_CEILING)}"


def _rounded(value: float, direction: str) -> str:
    return f"{float(Context(4, direction).create_decimal(repr(float(value)))):.4g}"


def read_intervals(path: str | Path, full_name: str) -> dict[str, Interval]:
    """The numbers that have an interval, by their dotted names."""
    intervals: dict[str, Interval] = {}
    overrides = read_parameter_file(str(path), full_name)
    lines = files.read_text(Path(path), largest=files.LARGEST_YAML).splitlines()
    for name, value, origin in overrides:
        line = lines[int(origin.rpartition(" ")[2]) - 1]
        if isinstance(value, float | int) and (match := _COMMENT.search(line)):
            intervals[name] = Interval(float(value), *_ends(match, origin))
    return intervals


def _ends(match: re.Match[str], origin: str) -> tuple[float, float]:
    try:
        low, high = map(files.number, match.groups())
    except ValueError:
        low = high = math.nan
    if not low <= high:
        raise ArgumentError(
            f"{origin}: the interval is '{match[1]} to {match[2]}'; it must be two numbers, low to high"
        )
    return low, high
