"""Command lines with ROS 2's arguments: ``--ros-args -r from:=to -p name:=value --params-file FILE ... --``.

ROS names are checked, expanded and remapped here too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.yaml_reader import parse_value, read_parameter_file
from vds_gz.core.ros.graph import Severity

RuleKind = Literal["name", "topic", "service", "node", "namespace"]

TOKEN = r"[A-Za-z_][A-Za-z0-9_]*"
_NODE_NAME = re.compile(TOKEN)
_ABSOLUTE = re.compile(rf"(/{TOKEN})+")
_TYPE = re.compile(rf"{TOKEN}/{TOKEN}/{TOKEN}")
_GIVEN = re.compile(rf"~|(~/|/)?{TOKEN}(/{TOKEN})*")
_IGNORED_WITH_VALUE = frozenset(["-e", "--enclave", "--log-config-file", "--log-file-name"])
_IGNORED = re.compile(r"--(enable|disable)-(rosout|stdout|external-lib)-logs")
_NODE_PREFIX = re.compile(rf"({TOKEN}):(?!//)")
_PARAMETER = re.compile(r"[\w/]+(\.[\w/]+)*")
_URLS: dict[str, RuleKind] = {"rostopic://": "topic", "rosservice://": "service"}


@dataclass(frozen=True, slots=True)
class Remap:
    """One remap rule; ``name`` renames topics and services alike."""

    kind: RuleKind
    old: str
    new: str
    node: str = ""  # the only node that it applies to


def check_node_name(name: str, where: str) -> str:
    """Check the name of a node."""
    if not _NODE_NAME.fullmatch(name):
        raise ArgumentError(f"node name '{name}' ({where}) must be letters, digits and '_', not starting with a digit")
    return name


def check_namespace(name: str, where: str) -> str:
    """An absolute namespace without a slash at its end, ``/`` for none."""
    if name == "/":
        return name
    stripped = name.removesuffix("/")
    if not _ABSOLUTE.fullmatch(stripped):
        right = f"; '/{stripped}' would be right" if _ABSOLUTE.fullmatch(f"/{stripped}") else ""
        raise ArgumentError(f"namespace '{name}' ({where}) must start with '/' and be names joined by '/'{right}")
    return stripped


def is_topic(name: str, type_name: str) -> bool:
    """Whether these are an absolute topic name and a type name such as ``nav_msgs/msg/Odometry``.

    Other nodes may announce any text.
    """
    return bool(_ABSOLUTE.fullmatch(name) and _TYPE.fullmatch(type_name))


def check_name(name: str, where: str) -> str:
    """Check the name of a topic or service: relative, ``/absolute`` or ``~/private``."""
    if not _GIVEN.fullmatch(name):
        raise ArgumentError(
            f"name '{name}' ({where}) must be names of letters, digits and '_' joined by single '/', none starting "
            "with a digit; it may begin with '/' or '~/'"
        )
    return name


def full_node_name(node: str, namespace: str) -> str:
    """The name of a node in its namespace, e.g. ``/robot/sim_node``."""
    return f"{namespace.rstrip('/')}/{node}"


def expand(name: str, node: str, namespace: str) -> str:
    """The absolute form of a name."""
    check_name(name, "in the program")
    if name.startswith("/"):
        return name
    if name.startswith("~"):
        return full_node_name(node, namespace) + name[1:]
    return f"{namespace.rstrip('/')}/{name}"


def remap(name: str, node: str, namespace: str, rules: Iterable[Remap], kind: Literal["topic", "service"]) -> str:
    """The absolute name of a topic or service after remapping: the first rule that fits is applied once."""
    full = expand(name, node, namespace)
    for rule in rules:
        fits = rule.kind in ("name", kind) and rule.node in ("", node)
        if fits and expand(rule.old, node, namespace) == full:
            return expand(rule.new, node, namespace)
    return full


@dataclass(frozen=True, slots=True)
class Arguments:
    """A node's arguments from the command line."""

    name: str
    namespace: str = "/"
    remaps: tuple[Remap, ...] = ()
    overrides: tuple[Override, ...] = ()
    log_level: Severity = Severity.INFO
    rest: tuple[str, ...] = ()  # those that are not for ROS
    given: tuple[str, ...] = ()  # all of them, as given

    @property
    def full_name(self) -> str:
        """The node with its namespace, e.g. ``/robot/sim_node``."""
        return full_node_name(self.name, self.namespace)

    @property
    def use_sim_time(self) -> bool | None:
        """The given value of the parameter ``use_sim_time``; None if it was not given."""
        for override in reversed(self.overrides):
            if override.name == "use_sim_time":
                if not isinstance(override.value, bool):
                    place = f" ({override.origin})" if override.origin else ""
                    raise ArgumentError(
                        f"parameter 'use_sim_time' is '{override.value}'{place}; it must be true or false"
                    )
                return override.value
        return None

    def refuse_parameters(self) -> None:
        """Check the overrides for a program without its own parameters."""
        for override in self.overrides:
            if override.name != "use_sim_time":
                raise ArgumentError(
                    f"unknown parameter '{override.name}' ({override.origin}); '{self.name}' has only 'use_sim_time'"
                )

    def topic(self, name: str) -> str:
        """The absolute, remapped name of a topic."""
        return remap(name, self.name, self.namespace, self.remaps, "topic")

    def service(self, name: str) -> str:
        """The absolute, remapped name of a service."""
        return remap(name, self.name, self.namespace, self.remaps, "service")


def parse(given: Sequence[str], default_name: str) -> Arguments:
    """Read a command line, without the program's own name."""
    options, rest = _split(given)
    rules = [_remap_rule(value) for flag, value in options if flag == "remap"]
    # The first rule of each kind applies. A rule for one node gives the node's original name if it changes the name,
    # and its new name if it changes the namespace.
    name = check_node_name(default_name, "in the program")
    name = next((rule.new for rule in rules if rule.kind == "node" and rule.node in ("", name)), name)
    namespace = next((rule.new for rule in rules if rule.kind == "namespace" and rule.node in ("", name)), "/")
    arguments = Arguments(name, namespace)
    overrides: list[Override] = []
    level = Severity.INFO
    for flag, value in options:
        if flag == "param":
            overrides.extend(_parameter(value, name))
        elif flag == "file":
            overrides.extend(read_parameter_file(value, arguments.full_name))
        elif flag == "level":
            level = _log_level(value, arguments) or level
    remaps = tuple(rule for rule in rules if rule.kind not in ("node", "namespace"))
    return Arguments(name, namespace, remaps, tuple(overrides), level, tuple(rest), tuple(given))


def _split(given: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """The options for ROS with their values, and the arguments that are not for ROS."""
    flags = {
        "-r": "remap",
        "--remap": "remap",
        "-p": "param",
        "--param": "param",
        "--params-file": "file",
        "--log-level": "level",
        **dict.fromkeys(_IGNORED_WITH_VALUE, ""),
    }
    options: list[tuple[str, str]] = []
    rest: list[str] = []
    arguments, for_ros = iter(given), False
    for argument in arguments:
        if argument == "--ros-args":
            for_ros = True
        elif not for_ros:
            rest.append(argument)
        elif argument == "--":
            for_ros = False
        elif argument in flags:
            value = next(arguments, None)
            if value is None:
                raise ArgumentError(f"argument '{argument}' is the last one; its value is missing")
            options.append((flags[argument], value))
        elif not _IGNORED.fullmatch(argument):
            raise ArgumentError(
                f"argument '{argument}' after --ros-args is unknown; it must be -r, -p, --params-file or --log-level, "
                "or follow '--', which ends them"
            )
    return options, rest


def _assignment(text: str, flag: str, example: str) -> tuple[str, str, str]:
    """Node, name and value of ``[node:]name:=value``."""
    name, assigned, value = text.partition(":=")
    prefix = _NODE_PREFIX.match(name)
    node = prefix[1] if prefix else ""
    name = name[prefix.end() :] if prefix else name
    if not (assigned and name and value):
        raise ArgumentError(f"argument '{flag} {text}' must have the form '{flag} {example}'")
    return node, name, value


def _remap_rule(text: str) -> Remap:
    where = f"-r {text}"
    node, old, new = _assignment(text, "-r", "from:=to")
    if old in ("__node", "__name"):
        return Remap("node", "", check_node_name(new, where), node)
    if old == "__ns":
        return Remap("namespace", "", check_namespace(new, where), node)
    for url, kind in _URLS.items():
        if old.startswith(url):
            return Remap(kind, check_name(old.removeprefix(url), where), check_name(new, where), node)
    return Remap("name", check_name(old, where), check_name(new, where), node)


def _parameter(text: str, node_name: str) -> Iterator[Override]:
    node, name, value = _assignment(text, "-p", "name:=value")
    if not _PARAMETER.fullmatch(name):
        raise ArgumentError(f"parameter name '{name}' (-p {text}) must be names joined by '.'")
    if node in ("", node_name):
        yield Override(name, parse_value(value, f"parameter '{name}' (-p {text})"), "-p")


def _log_level(text: str, arguments: Arguments) -> Severity | None:
    """The level, or None if it is another logger's."""
    logger, _, level = text.rpartition(":=")
    try:
        severity = Severity[level.upper()]
    except KeyError:
        raise ArgumentError(
            f"argument '--log-level {text}': '{level}' must be one of {', '.join(s.name.lower() for s in Severity)}"
        ) from None
    name = arguments.full_name[1:].replace("/", ".")
    return severity if logger in ("", name) else None
