"""Checks, expands and remaps ROS names. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from vds_gz.errors import ArgumentError

RuleKind = Literal["name", "topic", "service", "node", "namespace"]

TOKEN = r"[A-Za-z_][A-Za-z0-9_]*"
_NODE_NAME = re.compile(TOKEN)
_ABSOLUTE = re.compile(rf"(/{TOKEN})+")
_TYPE = re.compile(rf"{TOKEN}/{TOKEN}/{TOKEN}")
_GIVEN = re.compile(rf"~|(~/|/)?{TOKEN}(/{TOKEN})*")


@dataclass(frozen=True, slots=True)
class Remap:
    """One remap rule.

    Attributes:
        kind: What it renames; ``name`` is topics and services alike.
        old: The name it replaces, as given; empty for ``node`` and ``namespace``.
        new: The name it gives.
        node: The node that it applies to; empty for any.
    """

    kind: RuleKind
    old: str
    new: str
    node: str = ""


def check_node_name(name: str, where: str) -> str:
    """Check the name of a node.

    Raises:
        ArgumentError: It is not.
    """
    if not _NODE_NAME.fullmatch(name):
        raise ArgumentError(f"node name '{name}' ({where}) must be letters, digits and '_', not starting with a digit")
    return name


def check_namespace(name: str, where: str) -> str:
    """An absolute namespace without a slash at its end, ``/`` for none.

    Raises:
        ArgumentError: It is relative or contains invalid characters.
    """
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
    """Check a given name of a topic or service: relative, ``/absolute`` or ``~/private``.

    Raises:
        ArgumentError: It is not valid.
    """
    if not _GIVEN.fullmatch(name):
        raise ArgumentError(
            f"name '{name}' ({where}) must be letters, digits and '_' joined by single '/', no part starting with a "
            "digit, with '/' or '~/' at most in front"
        )
    return name


def full_node_name(node: str, namespace: str) -> str:
    """The name of a node in its namespace, e.g. ``/robot/sim_node``."""
    return f"{namespace.rstrip('/')}/{node}"


def expand(name: str, node: str, namespace: str) -> str:
    """The absolute form of a name.

    Args:
        name: Relative, ``/absolute`` or ``~/private``.
        node: Name of the node that uses it.
        namespace: Absolute namespace of that node.

    Raises:
        ArgumentError: The name is not valid.
    """
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


def node_identity(default_name: str, rules: Iterable[Remap]) -> tuple[str, str]:
    """The name and namespace of a node after remapping: the first rule of each kind is applied.

    Rules for one node are selected by its original name for the name, and by its new name for the namespace.
    """
    rules = tuple(rules)
    name = next((r.new for r in rules if r.kind == "node" and r.node in ("", default_name)), default_name)
    namespace = next((r.new for r in rules if r.kind == "namespace" and r.node in ("", name)), "/")
    return name, namespace
