"""Selects the message types and their definitions by what is installed."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

from vds_gz.core.errors import UnknownTypeError

if TYPE_CHECKING:
    from vds_gz.core.ros.messages.installed_types import InstalledTypes
    from vds_gz.core.ros.messages.portable import MessageTypes

#: All message types, by names such as ``nav_msgs/msg/Odometry``.
Types: TypeAlias = "InstalledTypes | MessageTypes"


@cache
def open_types() -> Types:
    """The types that rosbags knows and those of this package; without rosbags, those that ROS has installed."""
    if find_spec("rosbags") is None and find_spec("rclpy") is not None:
        from vds_gz.core.ros.messages.installed_types import InstalledTypes

        return InstalledTypes()
    from vds_gz.core.ros.messages.portable import MessageTypes

    return MessageTypes()


_SEPARATOR = "=" * 80 + "\n"


@cache
def definition(type_name: str) -> str:
    """The text of a message type with all types in it, in MCAP's format; empty if the type is not known.

    It comes from rosbags' definitions of Jazzy and this package's files, else from the installed ROS packages.
    """
    try:
        return open_types().definition(type_name)
    except UnknownTypeError:
        from vds_gz.core.ros.messages.installed_types import installed_definitions

        head, *others = installed_definitions(type_name).items() or [("", "")]
        return head[1] + "".join(f"{_SEPARATOR}MSG: {name.replace('/msg/', '/')}\n{text}" for name, text in others)
