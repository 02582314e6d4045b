"""Where everything stands in the bytes of a message, by its type's definition."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from vds_gz.ros.messages.factory import open_types

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
