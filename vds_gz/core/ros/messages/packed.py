"""Messages in which only numbers change: serialized once, then written in place.

Filling and serializing a message costs a Python node more than everything else it does at a publish instant. The layout
of a message, from its definition, never changes while its texts and lengths stay the same, so its bytes are kept and
only the stamp and the numbers in them are overwritten.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from vds_gz.core.errors import ArgumentError
from vds_gz.core.ros.graph import Graph, Message, Topic
from vds_gz.core.ros.messages.fields import FIRST, FORMATS, LAST
from vds_gz.core.ros.messages.installed_types import fields_of
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.vehicle.vehicle import NANOSECONDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Serialized messages begin with four bytes for the encoding; alignment counts from their end.
HEADER = 4


class Place(NamedTuple):
    """Position of a number: offset in the bytes, and format."""

    offset: int
    format: str


class ArrayPlace(NamedTuple):
    """Position of an array or a sequence of numbers: offset of the first, format of each, and their number."""

    offset: int
    format: str
    length: int

    def item(self, index: int) -> Place:
        """Position of one of the numbers."""
        return Place(self.offset + index * struct.calcsize(self.format), self.format)


@dataclass(frozen=True, slots=True)
class MessageLayout:
    """Positions in a serialized message (XCDR1, little endian), which depend on the lengths of texts and sequences."""

    # positions of single numbers by their paths, such as ``transforms[0].transform.translation.x``
    places: dict[str, Place]
    arrays: dict[str, ArrayPlace]  # positions of arrays and sequences of numbers, such as ``pose.covariance``
    length: int  # bytes up to the end of the last field

    @classmethod
    def of(cls, type_name: str, message: Message) -> MessageLayout:
        """The layout of messages whose texts and sequences have the same lengths as in this one."""
        places: dict[str, Place] = {}
        arrays: dict[str, ArrayPlace] = {}
        return cls(places, arrays, HEADER + _message(type_name, message, "", 0, places, arrays))

    def numbers(self, paths: Iterable[str]) -> list[Place]:
        """Positions of the numbers at these paths; ``covariance[7]`` is a number of an array.

        Raises:
            ArgumentError: There is no such number.
        """
        return [self.places[path] if path in self.places else self._item(path) for path in paths]

    def _item(self, path: str) -> Place:
        item = re.fullmatch(r"(.+)\[([0-9]+)\]", path)
        if item is None or item[1] not in self.arrays or int(item[2]) >= self.arrays[item[1]].length:
            items = (f"{name}[0 to {place.length - 1}]" for name, place in self.arrays.items() if place.length)
            known = ", ".join([*self.places, *items])
            raise ArgumentError(f"the message has no number '{path}'; its numbers are {known}")
        return self.arrays[item[1]].item(int(item[2]))

    def stamp(self, path: str) -> int:
        """Offset of the ``builtin_interfaces/Time`` at this path, which has two consecutive numbers."""
        return self.places[f"{path}.sec"].offset


def _message(
    type_name: str,
    message: Message,
    prefix: str,
    at: int,
    places: dict[str, Place],
    arrays: dict[str, ArrayPlace],
) -> int:
    """Collect all positions in a message that begins at offset ``at``; return the offset of its end."""
    # A message that ROS made knows its fields, so that the definitions of other packages need not be read.
    installed = hasattr(message, "get_fields_and_field_types")
    for field in fields_of(message) if installed else open_types().fields(type_name):
        value, path = getattr(message, field.name), prefix + field.name
        if field.length == 0:
            at = _aligned(at, 4) + 4
        if field.length is None:
            at = _value(field.type, value, path, at, places, arrays)
        elif field.type in FORMATS:
            at = _numbers(FORMATS[field.type], len(value), path, at, arrays)
        else:
            for number, item in enumerate(value):
                at = _value(field.type, item, f"{path}[{number}]", at, places, arrays)
    return at


def _numbers(number: str, length: int, path: str, at: int, arrays: dict[str, ArrayPlace]) -> int:
    size = struct.calcsize(number)
    begin = _aligned(at, size) if length else at
    arrays[path] = ArrayPlace(HEADER + begin, number, length)
    return begin + length * size


def _value(
    type_name: str, value: Any, path: str, at: int, places: dict[str, Place], arrays: dict[str, ArrayPlace]
) -> int:
    if type_name == "string":
        return _aligned(at, 4) + 4 + len(value.encode()) + 1
    number = FORMATS.get(type_name)
    if number is None:
        return _message(type_name, value, f"{path}.", at, places, arrays)
    size = struct.calcsize(number)
    begin = _aligned(at, size)
    places[path] = Place(HEADER + begin, number)
    return begin + size


def _aligned(at: int, size: int) -> int:
    return -(-at // size) * size


_STAMP = struct.Struct("<iI")


class PackedMessage:
    """The bytes of a message, in which stamps and numbers are written."""

    def __init__(
        self, graph: Graph, type_name: str, message: Message, stamps: Sequence[str], numbers: Sequence[str]
    ) -> None:
        self._layout = layout = MessageLayout.of(type_name, message)
        self.data = bytearray(graph.serialize(message, type_name))
        # Encoders may pad the end to a multiple of four. Fast DDS also counts four bytes for each sequence of numbers
        # that is empty, as if numbers followed. Any other length belongs to another definition.
        empty = sum(place.length == 0 for place in layout.arrays.values())
        if not layout.length <= len(self.data) < layout.length + 4 + 4 * empty:
            raise ValueError(f"a {type_name} of {len(self.data)} bytes must have {layout.length} by its definition")
        del self.data[_aligned(layout.length, 4) :]
        self.stamps = [layout.stamp(path) for path in stamps]
        self.numbers: list[Place] = layout.numbers(numbers)
        kept = bytearray(self.data)
        for offset in self.stamps:  # zero now, but not constant
            _STAMP.pack_into(kept, offset, -1, 1)
        for offset, kind in self.numbers:
            kept[offset : offset + struct.calcsize(kind)] = b"\1" * struct.calcsize(kind)
        self._runs = list(_runs(self.numbers, kept))

    def array(self, path: str) -> NDArray[Any]:
        """A view of the message's bytes: the array or sequence at a path, to be written in place."""
        import numpy as np  # only sensors with arrays need it

        place = self._layout.arrays[path]
        if any(begin <= place.offset < begin + run.size for run, begin, _ in self._runs):
            raise ValueError(f"the numbers of '{path}' lie between those that change; it cannot be written in place")
        return np.frombuffer(self.data, place.format, place.length, place.offset)

    def write(self, time: int, values: Sequence[float]) -> bytearray:
        """Write the time [ns] and all numbers, in the order of their paths; return the bytes of the message."""
        second, nanosecond = divmod(min(max(time, FIRST), LAST), NANOSECONDS)
        data = self.data
        for offset in self.stamps:
            _STAMP.pack_into(data, offset, second, nanosecond)
        for run, offset, positions in self._runs:
            run.pack_into(data, offset, *values[positions])
        return data


class PackedTopic(PackedMessage):
    """An output topic whose messages only differ in their stamps and some numbers."""

    def __init__(
        self, graph: Graph, topic: Topic, message: Message, stamps: Sequence[str], numbers: Sequence[str]
    ) -> None:
        super().__init__(graph, topic.type, message, stamps, numbers)
        self.publisher = publisher = graph.publisher(topic.name, topic.type, topic.qos)
        self.topic = topic
        self.subscribed: Callable[[], int] = publisher.subscription_count
        self.send = publisher.publish_raw

    def publish(self, time: int, values: Sequence[float] = ()) -> None:
        """Send the numbers of an instant [ns], in the order of their paths."""
        self.send(self.write(time, values))


def _runs(places: Sequence[Place], data: bytearray) -> Iterator[tuple[struct.Struct, int, slice]]:
    """Runs of numbers with only zeros between them: format, offset, and the positions of the numbers in a sequence.

    The last run takes all remaining numbers, so that too many are an error.
    """
    formats: list[str] = []
    first = begin = end = 0
    for number, (offset, kind) in enumerate(places):
        if formats and offset >= end and not any(data[end:offset]):
            formats.append(f"{offset - end}x")
        elif formats:
            yield struct.Struct("<" + "".join(formats)), begin, slice(first, number)
            formats, first, begin = [], number, offset
        else:
            begin = offset
        formats.append(kind.removeprefix("<"))
        end = offset + struct.calcsize(kind)
    yield struct.Struct("<" + "".join(formats)), begin, slice(first, None)
