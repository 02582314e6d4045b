"""Selects the message types by what is installed."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from vds_gz.ros.messages.installed import InstalledCodec, InstalledTypes
    from vds_gz.ros.messages.portable import Codec, MessageTypes

#: All message types, by names such as ``nav_msgs/msg/Odometry``, and one of them as bytes.
Types: TypeAlias = "InstalledTypes | MessageTypes"
TypeCodec: TypeAlias = "InstalledCodec | Codec"


@cache
def open_types() -> Types:
    """The types that rosbags knows and those of this package; without rosbags, those that ROS has installed."""
    if find_spec("rosbags") is None and find_spec("rclpy") is not None:
        from vds_gz.ros.messages.installed import InstalledTypes

        return InstalledTypes()
    from vds_gz.ros.messages.portable import MessageTypes

    return MessageTypes()
