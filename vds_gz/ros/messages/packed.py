"""Messages in which only numbers change: serialized once, then written in place.

Filling and serializing a message costs a Python node more than everything else it does at a publish instant. The layout
of a message never changes while its texts and lengths stay the same, so its bytes are kept and only the stamp and the
numbers in them are overwritten.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from vds_gz.ros.graph import Graph, Topic
from vds_gz.ros.messages.layout import MessageLayout, Place
from vds_gz.ros.messages.stamps import FIRST, LAST
from vds_gz.vehicle.vehicle import NANOSECONDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STAMP = struct.Struct("<iI")


class PackedMessage:
    """The bytes of a message.

    Attributes:
        data: CDR with its header.
        stamps: Positions of its times in them.
        numbers: Positions of its numbers.
    """

    def __init__(
        self, graph: Graph, type_name: str, message: object, stamps: Sequence[str], numbers: Sequence[str]
    ) -> None:
        """Serialize a message and look up the positions of its changing numbers.

        Args:
            graph: Serializes the message.
            type_name: The message's type.
            message: The message with its constant fields.
            stamps: Paths of its varying times (``builtin_interfaces/Time``), which are all equal.
            numbers: Paths of its varying numbers, such as ``pose.covariance[7]``.
        """
        self._layout = layout = MessageLayout.of(type_name, message)
        self.data = bytearray(graph.serialize(message, type_name))
        # Encoders may pad to a multiple of four; any other length belongs to another definition.
        if not layout.length <= len(self.data) < layout.length + 4:
            raise ValueError(f"a {type_name} of {len(self.data)} bytes must have {layout.length} by its definition")
        self.stamps = [layout.stamp(path) for path in stamps]
        self.numbers: list[Place] = layout.numbers(numbers)
        kept = bytearray(self.data)
        for offset in self.stamps:  # zero now, but not constant
            _STAMP.pack_into(kept, offset, -1, 1)
        self._runs = list(_runs(self.numbers, kept))

    def array(self, path: str) -> NDArray[Any]:
        """A view of the message's bytes: the array or sequence at a path, to be written in place.

        Raises:
            ValueError: It lies between varying numbers, which are written together with the zeros between them.
        """
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
        for run, offset, which in self._runs:
            run.pack_into(data, offset, *values[which])
        return data


class PackedTopic(PackedMessage):
    """An output topic whose messages only differ in their stamps and some numbers.

    Attributes:
        topic: The topic.
        subscribed: Number of subscriptions.
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
    """Runs of numbers with only zeros between them: format, offset, and which numbers they are.

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
