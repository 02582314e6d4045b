"""What message types are, as texts: for files that must tell whoever opens them."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

import vds_gz.ros

#: The encoding of a definition in MCAP files, and where there is none.
KNOWN, UNKNOWN = "ros2msg", ""

_SEPARATOR = "=" * 80 + "\n"


@cache
def definition(type_name: str) -> str:
    """The text of a message type with all types in it, as MCAP wants it.

    From Jazzy's common interfaces, from this package's files, or from the ROS packages installed here. Empty where none
    of them knows the type.
    """
    store = _store()
    if type_name in store.fielddefs:
        text, _ = store.generate_msgdef(type_name, ros_version=2)
        return str(text)
    texts = _installed(type_name)
    head, *others = texts.items() or [("", "")]
    return head[1] + "".join(f"{_SEPARATOR}MSG: {name.replace('/msg/', '/')}\n{text}" for name, text in others)


@cache
def _store() -> Any:
    """The types of Jazzy and those of this package."""
    store = get_typestore(Stores.ROS2_JAZZY)
    folder = Path(vds_gz.ros.__file__).parent / "msg"
    own: dict[str, Any] = {}
    for path in sorted(folder.glob("*/msg/*.msg")):
        name = f"{path.parent.parent.name}/msg/{path.stem}"
        if name not in store.fielddefs:
            own.update(get_types_from_msg(path.read_text(encoding="utf-8"), name))
    store.register(own)
    return store


def _installed(type_name: str) -> dict[str, str]:
    """The texts of a type and of all types in it, it first; empty if the package of any is not installed."""
    texts: dict[str, str] = {}
    needed = [type_name]
    while needed:
        name = needed.pop()
        if name in texts:
            continue
        package, _, rest = name.partition("/")
        places = [Path(prefix) / "share" / package / f"{rest}.msg" for prefix in _prefixes()]
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            return {}
        texts[name] = path.read_text(encoding="utf-8").rstrip() + "\n"
        fields = get_types_from_msg(texts[name], name)[name][1]
        needed += [used for _, field in fields if (used := _used_by(field))]
    return texts


def _prefixes() -> list[str]:
    return [prefix for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if prefix]


def _used_by(field: Any) -> str:
    """The message type of a field, or of an array's items; empty for plain values."""
    kind, detail = field if field[0] in (Nodetype.NAME, Nodetype.BASE) else field[1][0]
    return str(detail) if kind == Nodetype.NAME else ""
