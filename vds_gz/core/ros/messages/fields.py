"""Fields of messages and their conversions: times, headings, values of parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, MutableSequence
from typing import NamedTuple

from vds_gz.core.geometry import Transform
from vds_gz.core.parameters.declaration import Description, ParameterType
from vds_gz.core.ros.graph import Message
from vds_gz.core.vehicle.vehicle import NANOSECONDS


class Field(NamedTuple):
    """A field in the definition of a type."""

    name: str
    type: str  # ``float64``, ``string`` or the name of a type; for an array or a sequence, the type of its items
    length: int | None  # None for a single value, the number of items of an array, 0 for a sequence


#: Formats of numbers for :mod:`struct` and numpy. Without ``<``, all but that of ``bool`` are type codes of ``array``.
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

#: The earliest and the latest time that a stamp can hold [ns].
FIRST, LAST = -(2**31) * NANOSECONDS, 2**31 * NANOSECONDS - 1


def within_stamps(time: int) -> int:
    """The nearest time [ns] that a stamp can hold."""
    return min(max(time, FIRST), LAST)


def seconds_and_nanoseconds(time: int) -> tuple[int, int]:
    """The fields of a stamp of a time [ns]; a time that a stamp cannot hold saturates."""
    return divmod(within_stamps(time), NANOSECONDS)


#: Types in ``rcl_interfaces/msg/ParameterType``.
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

#: The type in ``rcl_interfaces/msg/ParameterType`` of each type of :class:`Description`.
KINDS: dict[ParameterType, int] = {
    "bool": BOOL,
    "integer": INTEGER,
    "double": DOUBLE,
    "string": STRING,
    "double_array": DOUBLE_ARRAY,
}


def descriptor_of(new: Callable[[str], Message], parameter: Description) -> Message:
    """A ``rcl_interfaces/msg/ParameterDescriptor``; ``new`` makes messages."""
    descriptor = new("rcl_interfaces/msg/ParameterDescriptor")
    unit = f" [{parameter.unit}]" if parameter.unit else ""
    descriptor.name, descriptor.description = parameter.name, f"{parameter.doc}{unit}"
    descriptor.type, descriptor.read_only = KINDS[parameter.type], parameter.read_only
    if parameter.choices:  # a range cannot express choices
        descriptor.additional_constraints = f"one of {', '.join(parameter.choices)}"
    if parameter.type == "integer":
        integers = new("rcl_interfaces/msg/IntegerRange")
        integers.from_value, integers.to_value = int(parameter.minimum), int(parameter.maximum)
        descriptor.integer_range = [integers]
    elif parameter.type == "double":
        numbers = new("rcl_interfaces/msg/FloatingPointRange")
        numbers.from_value, numbers.to_value = parameter.minimum, parameter.maximum
        descriptor.floating_point_range = [numbers]
    return descriptor


def python_value(value: Message) -> object:
    """The value in a ``rcl_interfaces/msg/ParameterValue``; None where there is none."""
    field = FIELDS.get(value.type)
    content = getattr(value, field) if field else None
    return content if value.type <= STRING else list(content) if content is not None else None


#: Diagonal of a covariance of exact values; a 0 would make the matrix singular.
EXACT = 1e-9

#: Places of the diagonal of a 3x3 covariance.
DIAGONAL = (0, 4, 8)


def stamp_ns(stamp: Message) -> int:
    """Nanoseconds of a ``builtin_interfaces/Time``, whose field ``nanosec`` may exceed a second."""
    return within_stamps(int(stamp.sec) * NANOSECONDS + int(stamp.nanosec))


def set_stamp(stamp: Message, time: int) -> None:
    """Write nanoseconds into a ``builtin_interfaces/Time``."""
    stamp.sec, stamp.nanosec = seconds_and_nanoseconds(time)


def yaw_of(orientation: Message) -> float:
    """Heading [rad] of a ``Quaternion``; NaN if it is not a rotation."""
    x, y, z, w = orientation.x, orientation.y, orientation.z, orientation.w
    norm = x * x + y * y + z * z + w * w
    if not 1e-12 < norm < math.inf:
        return math.nan
    return math.atan2(2.0 * (w * z + x * y), norm - 2.0 * (y * y + z * z))


def transform_of(position: Message, orientation: Message) -> Transform:
    """The transform with the position and the orientation of a message."""
    turn = orientation
    return Transform((position.x, position.y, position.z), (turn.x, turn.y, turn.z, turn.w))


def exact_covariance(covariance: MutableSequence[float]) -> None:
    """Fill a 6x6 covariance of exact values."""
    for i in range(6):
        covariance[7 * i] = EXACT
