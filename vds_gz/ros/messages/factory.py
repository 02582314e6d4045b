"""Selects the message types by what is installed."""

from __future__ import annotations

from collections.abc import Iterable, MutableSequence, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, Protocol

from numpy.typing import NDArray

from vds_gz.ros.graph import Message
from vds_gz.ros.messages.fields import Field


class TypeCodec(Protocol):
    """One message type as bytes: CDR with its header, little endian."""

    name: str

    def encode(self, message: Message) -> bytes | bytearray:
        """The bytes of a message."""

    def decode(self, data: bytearray) -> Message:
        """The message in these bytes; raises MalformedMessageError for other bytes."""


class Types(Protocol):
    """All message types, by names such as ``nav_msgs/msg/Odometry``. Unknown types raise UnknownTypeError."""

    def new(self, name: str) -> Message:
        """A message with every field at its default."""

    @staticmethod
    def array(kind: str, values: Iterable[float]) -> MutableSequence[float] | NDArray[Any]:
        """Numbers for a sequence field of type ``kind``, e.g. ``uint8``."""

    def codec(self, name: str) -> TypeCodec:
        """The encoding of a type."""

    def fields(self, name: str) -> Sequence[Field]:
        """The fields of a type, in the order of its definition."""

    def hash(self, name: str) -> str:
        """The type hash that ROS nodes exchange, ``RIHS01_`` and 64 hexadecimal digits."""


@cache
def open_types() -> Types:
    """The types that rosbags knows and those of this package; without rosbags, those that ROS has installed."""
    if find_spec("rosbags") is None and find_spec("rclpy") is not None:
        from vds_gz.ros.messages.installed import InstalledTypes

        return InstalledTypes()
    from vds_gz.ros.messages.portable import MessageTypes

    return MessageTypes()
