"""Definitions of message types as texts, for files that describe their own content."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import vds_gz.ros.messages
from vds_gz.ros.messages.installed import installed_files

_OWN = Path(vds_gz.ros.messages.__file__).parent / "msg"

_SEPARATOR = "=" * 80 + "\n"

#: Types of fields that are no messages.
_PLAIN = {"bool", "byte", "char", "float32", "float64", "string", "wstring"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


@cache
def definition(type_name: str) -> str:
    """The text of a message type with all types in it, as MCAP wants it.

    From Jazzy's common interfaces, from this package's files, or from the ROS packages installed here. Empty where none
    of them knows the type.
    """
    text = _by_rosbags(type_name) if find_spec("rosbags") else ""
    if text:
        return text
    texts = _by_files(type_name)
    head, *others = texts.items() or [("", "")]
    return head[1] + "".join(f"{_SEPARATOR}MSG: {name.replace('/msg/', '/')}\n{text}" for name, text in others)


def _by_rosbags(type_name: str) -> str:
    """The text of a type of Jazzy, or of this package."""
    store = _store()
    if type_name not in store.fielddefs:
        return ""
    text, _ = store.generate_msgdef(type_name, ros_version=2)
    return str(text)


@cache
def _store() -> Any:
    """The types of Jazzy and those of this package."""
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    own: dict[str, Any] = {}
    for path in sorted(_OWN.glob("*/msg/*.msg")):
        name = f"{path.parent.parent.name}/msg/{path.stem}"
        if name not in store.fielddefs:
            own.update(get_types_from_msg(path.read_text(encoding="utf-8"), name))
    store.register(own)
    return store


def _by_files(type_name: str) -> dict[str, str]:
    """The texts of a type and of all types in it, it first; empty if the package of any is not installed."""
    texts: dict[str, str] = {}
    needed = [type_name]
    while needed:
        name = needed.pop()
        if name in texts:
            continue
        package, _, rest = name.partition("/")
        places = [*installed_files(package, f"{rest}.msg"), *_OWN.glob(f"{name}.msg")]
        if not places:
            return {}
        texts[name] = places[0].read_text(encoding="utf-8").rstrip() + "\n"
        needed += _used_in(texts[name], package)
    return texts


def _used_in(text: str, package: str) -> list[str]:
    """The message types of the fields in the text of a message of this package."""
    first = (re.match(r"\s*([A-Za-z][\w/]*)", line) for line in text.splitlines())
    names = [match[1] for match in first if match and match[1] not in _PLAIN]
    qualified = [name if "/" in name else f"{package}/{name}" for name in names]
    return [name if "/msg/" in name else name.replace("/", "/msg/") for name in qualified]
