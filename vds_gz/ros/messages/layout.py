"""Positions of fields in the bytes of a message, by the definition of its type."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from vds_gz.ros.messages.factory import open_types

#: Formats of numbers for :mod:`struct` and numpy.
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
        """Position of one of them."""
        return Place(self.offset + index * struct.calcsize(self.format), self.format)


@dataclass(frozen=True, slots=True)
class MessageLayout:
    """Positions in a serialized message (XCDR1, little endian). They only depend on the lengths of texts and sequences.

    Attributes:
        places: Positions of single numbers by their paths, such as ``transforms[0].transform.translation.x``.
        arrays: Positions of arrays and sequences of numbers, such as ``pose.covariance``.
        length: Bytes up to the end of the last field.
    """

    places: dict[str, Place]
    arrays: dict[str, ArrayPlace]
    length: int

    @classmethod
    def of(cls, type_name: str, message: object) -> MessageLayout:
        """The layout of messages whose texts and sequences have the same lengths as in this one.

        Raises:
            UnknownTypeError: There is no such type.
        """
        places: dict[str, Place] = {}
        arrays: dict[str, ArrayPlace] = {}
        return cls(places, arrays, HEADER + _message(type_name, message, "", 0, places, arrays))

    def numbers(self, paths: Iterable[str]) -> list[Place]:
        """Positions of the numbers at these paths; ``covariance[7]`` is a number of an array."""
        return [self.places[path] if path in self.places else self._item(path) for path in paths]

    def _item(self, path: str) -> Place:
        array, _, index = path.removesuffix("]").rpartition("[")
        return self.arrays[array].item(int(index))

    def stamp(self, path: str) -> int:
        """Offset of the ``builtin_interfaces/Time`` at this path, which has two consecutive numbers."""
        return self.places[f"{path}.sec"].offset


def _message(
    type_name: str,
    message: object,
    prefix: str,
    at: int,
    places: dict[str, Place],
    arrays: dict[str, ArrayPlace],
) -> int:
    """Collect all positions in a message that begins behind ``at``; return its end."""
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
