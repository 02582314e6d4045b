"""Messages of which only numbers change: serialized once, then written in place.

Filling and serializing a message costs a Python node more than everything else it does at a publish instant. The layout
of a message, from its definition, never changes while its texts and lengths stay the same, so its bytes are kept and
only the stamp and the numbers in them are overwritten.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from vds_gz.ros.graph import Graph, Topic
from vds_gz.ros.messages.factory import open_types
from vds_gz.ros.messages.fields import FIRST, LAST
from vds_gz.vehicle.vehicle import NANOSECONDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Formats of numbers, as :mod:`struct` and numpy know them.
FORMATS = {
    "bool": "<?",
    "byte": "<B",
    "char": "<B",
    "int8": "<b",
    "uint8": "<B",
    "int16": "<h",
    "uint16": "<H",
    "int32": "<i",
    "uint32": "<I",
    "int64": "<q",
    "uint64": "<Q",
    "float32": "<f",
    "float64": "<d",
}

#: Serialized messages begin with four bytes that say how they are encoded; alignment counts from behind them.
HEADER = 4


class Place(NamedTuple):
    """Where a number stands: offset in the bytes, and format."""

    offset: int
    format: str


class ArrayPlace(NamedTuple):
    """Where an array or a sequence of numbers stands: offset of the first, format of each, and how many there are."""

    offset: int
    format: str
    length: int

    def item(self, index: int) -> Place:
        """Where one of them stands."""
        return Place(self.offset + index * struct.calcsize(self.format), self.format)


@dataclass(frozen=True, slots=True)
class MessageLayout:
    """Places in a serialized message (XCDR1, little endian), which move only with the lengths of texts and sequences.

    Attributes:
        places: Those of single numbers by their paths, as in ``transforms[0].transform.translation.x``.
        arrays: Those of arrays and sequences of numbers, as in ``pose.covariance``.
        length: Bytes up to the end of the last field.
    """

    places: dict[str, Place]
    arrays: dict[str, ArrayPlace]
    length: int

    @classmethod
    def of(cls, type_name: str, message: object) -> MessageLayout:
        """The layout of messages with texts and sequences as long as those of this one.

        Raises:
            UnknownTypeError: There is no such type.
        """
        places: dict[str, Place] = {}
        arrays: dict[str, ArrayPlace] = {}
        return cls(places, arrays, HEADER + _message(type_name, message, "", 0, places, arrays))

    def numbers(self, paths: Iterable[str]) -> list[Place]:
        """Where the numbers at these paths stand; ``covariance[7]`` is one of an array."""
        return [self.places[path] if path in self.places else self._item(path) for path in paths]

    def _item(self, path: str) -> Place:
        array, _, index = path.removesuffix("]").rpartition("[")
        return self.arrays[array].item(int(index))

    def stamp(self, path: str) -> int:
        """Where the ``builtin_interfaces/Time`` at this path begins: its two numbers follow on each other."""
        return self.places[f"{path}.sec"].offset


def _message(
    type_name: str,
    message: object,
    prefix: str,
    at: int,
    places: dict[str, Place],
    arrays: dict[str, ArrayPlace],
) -> int:
    """Note all places in a message that begins behind ``at``; where it ends."""
    for field in open_types().fields(type_name):
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
    """The bytes of a message.

    Attributes:
        data: CDR with its header.
        stamps: Where its times stand in them.
        numbers: Where its numbers stand.
    """

    def __init__(
        self, graph: Graph, type_name: str, message: object, stamps: Sequence[str], numbers: Sequence[str]
    ) -> None:
        """Serialize a message and look up where its changing parts stand.

        Args:
            graph: Serializes the message.
            type_name: The message's type.
            message: The message with all that stays as it is.
            stamps: Paths of its times (``builtin_interfaces/Time``) that change, all to the same.
            numbers: Paths of its numbers that change, as in ``pose.covariance[7]``.
        """
        self._layout = layout = MessageLayout.of(type_name, message)
        self.data = bytearray(graph.serialize(message, type_name))
        # Encoders may fill up to a multiple of four; anything else is a message of another definition.
        if not layout.length <= len(self.data) < layout.length + 4:
            raise ValueError(f"a {type_name} of {len(self.data)} bytes must have {layout.length} by its definition")
        self.stamps = [layout.stamp(path) for path in stamps]
        self.numbers: list[Place] = layout.numbers(numbers)
        kept = bytearray(self.data)
        for offset in self.stamps:  # zeros as yet, but not to stay so
            _STAMP.pack_into(kept, offset, -1, 1)
        self._runs = list(_runs(self.numbers, kept))

    def array(self, path: str) -> NDArray[Any]:
        """The array or sequence of numbers at a path, to be written in place: a view of the message's bytes.

        Raises:
            ValueError: It lies between changing numbers, which are written together with the zeros between them.
        """
        import numpy as np  # only sensors with arrays need it

        place = self._layout.arrays[path]
        if any(begin <= place.offset < begin + run.size for run, begin, _ in self._runs):
            raise ValueError(f"the numbers of '{path}' lie between those that change; it cannot be written in place")
        return np.frombuffer(self.data, place.format, place.length, place.offset)

    def write(self, time: int, values: Sequence[float]) -> bytearray:
        """Write the time [ns] and all numbers, in the order of their paths; the bytes of the message."""
        second, nanosecond = divmod(min(max(time, FIRST), LAST), NANOSECONDS)
        data = self.data
        for offset in self.stamps:
            _STAMP.pack_into(data, offset, second, nanosecond)
        for run, offset, which in self._runs:
            run.pack_into(data, offset, *values[which])
        return data


class PackedTopic(PackedMessage):
    """A topic that goes out, whose messages differ in their stamps and some numbers only.

    Attributes:
        topic: The topic.
        subscribed: How many subscriptions there are.
        send: Send a serialized message.
    """

    def __init__(
        self, graph: Graph, topic: Topic, message: object, stamps: Sequence[str], numbers: Sequence[str]
    ) -> None:
        """Announce the topic.

        Args:
            graph: Where to publish.
            topic: The topic.
            message: A message with all that stays as it is.
            stamps: Paths of its times.
            numbers: Paths of its numbers that change.
        """
        super().__init__(graph, topic.type, message, stamps, numbers)
        self._publisher = publisher = graph.publisher(topic.name, topic.type, topic.qos)
        self.topic = topic
        self.subscribed: Callable[[], int] = publisher.subscription_count
        self.send = publisher.publish_raw

    def publish(self, time: int, values: Sequence[float] = ()) -> None:
        """Send the numbers of an instant [ns], in the order of their paths."""
        self.send(self.write(time, values))


def _runs(places: Sequence[Place], data: bytearray) -> Iterator[tuple[struct.Struct, int, slice]]:
    """Formats of runs of numbers with nothing but zeros between them, where each begins, and which numbers they are.

    The last one wants all that are left, so that too many are an error.
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
