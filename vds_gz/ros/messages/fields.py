"""Messages: their fields, times as ``builtin_interfaces/Time`` holds them, and values of parameters."""

from __future__ import annotations

from typing import NamedTuple

from vds_gz.ros.graph import Message
from vds_gz.vehicle.vehicle import NANOSECONDS


class Field(NamedTuple):
    """A field in the definition of a type.

    Attributes:
        name: Its name.
        type: ``float64``, ``string`` or the name of a type; for an array or a sequence, the type of its items.
        length: None for a single value, the number of items of an array, 0 for a sequence.
    """

    name: str
    type: str
    length: int | None


#: The first and the last time of a stamp [ns].
FIRST, LAST = -(2**31) * NANOSECONDS, 2**31 * NANOSECONDS - 1


def within_stamps(time: int) -> int:
    """The nearest time [ns] that a stamp can hold."""
    return min(max(time, FIRST), LAST)


def seconds_and_nanoseconds(time: int) -> tuple[int, int]:
    """The fields of a stamp of a time [ns]; a time that a stamp cannot hold saturates."""
    return divmod(within_stamps(time), NANOSECONDS)


BOOL, INTEGER, DOUBLE, STRING = 1, 2, 3, 4
DOUBLE_ARRAY = 8

#: The field of ``rcl_interfaces/msg/ParameterValue`` that holds a value of each type.
FIELDS = {
    BOOL: "bool_value",
    INTEGER: "integer_value",
    DOUBLE: "double_value",
    STRING: "string_value",
    5: "byte_array_value",
    6: "bool_array_value",
    7: "integer_array_value",
    DOUBLE_ARRAY: "double_array_value",
    9: "string_array_value",
}


def python_value(value: Message) -> object:
    """The value in a ``rcl_interfaces/msg/ParameterValue``; None where there is none."""
    field = FIELDS.get(value.type)
    content = getattr(value, field) if field else None
    return content if value.type <= STRING else list(content) if content is not None else None
