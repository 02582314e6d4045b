"""Messages of which only numbers change: serialized once, then written in place.

Filling and serializing a message costs a Python node more than everything else it does at a publish instant. The layout
of a message never changes while its texts and lengths stay the same, so its bytes are kept and only the stamp and the
numbers in them are overwritten.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from vds_gz.ros.graph import Graph
from vds_gz.vehicle.vehicle import NANOSECONDS

#: Where a number stands in a message: the object that holds it, and its field or index there.
Place = tuple[Any, str | int]

_NUMBER = struct.Struct("<d")
_STAMP = struct.Struct("<iI")

#: A time that stands for none, to be found in the bytes.
_MARKED_STAMP = (0x5A17C3E1, 0x1E9D2B47)


def _marked(number: int) -> float:
    """A number that stands for none: greater than any that is meant, and each another."""
    return 1e300 * (1.0 + number * 2.0**-30)


class PackedMessage:
    """The bytes of a message.

    Attributes:
        data: CDR with its header.
    """

    def __init__(
        self, graph: Graph, type_name: str, message: Any, stamps: Sequence[Any], numbers: Sequence[Place]
    ) -> None:
        """Serialize a message and find its changing parts in the bytes.

        Args:
            graph: Serializes the message.
            type_name: The message's type.
            message: The message with all that stays as it is.
            stamps: Its times (``builtin_interfaces/Time``) that change, all to the same.
            numbers: Its numbers (``float64``) that change.
        """
        for stamp in stamps:
            stamp.sec, stamp.nanosec = _MARKED_STAMP
        for number, (holder, key) in enumerate(numbers):
            if isinstance(key, int):
                holder[key] = _marked(number)
            else:
                setattr(holder, key, _marked(number))
        self.data = bytearray(graph.serialize(message, type_name))
        self._numbers = [self.data.index(_NUMBER.pack(_marked(number))) for number in range(len(numbers))]
        self._stamps: list[int] = []
        mark = _STAMP.pack(*_MARKED_STAMP)
        for _ in stamps:
            self._stamps.append(self.data.index(mark, self._stamps[-1] + 1 if self._stamps else 0))

    def write(self, time: int, values: Sequence[float]) -> None:
        """Write the time [ns] and all numbers, in the order of their places."""
        second, nanosecond = divmod(time, NANOSECONDS)
        data = self.data
        for place in self._stamps:
            _STAMP.pack_into(data, place, second, nanosecond)
        pack = _NUMBER.pack_into
        for place, value in zip(self._numbers, values, strict=True):
            pack(data, place, value)
