"""The messages of ``rcl_interfaces`` about parameters, as far as they are read or written here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class ParameterValue(Protocol):
    """``rcl_interfaces/ParameterValue``; beside its type it has a field for each."""

    type: int


class Parameter(Protocol):
    """``rcl_interfaces/Parameter``."""

    name: str
    value: ParameterValue  #: Its value


class Range(Protocol):
    """``rcl_interfaces/FloatingPointRange`` and ``IntegerRange``."""

    from_value: float
    to_value: float


class ParameterDescriptor(Protocol):
    """``rcl_interfaces/ParameterDescriptor``."""

    name: str
    description: str
    additional_constraints: str
    read_only: bool
    floating_point_range: Sequence[Range]  #: At most one
    integer_range: Sequence[Range]  #: At most one


class ParameterEvent(Protocol):
    """``rcl_interfaces/ParameterEvent``."""

    node: str
    changed_parameters: Sequence[Parameter]  #: Those that have another value now


class SetParametersResult(Protocol):
    """``rcl_interfaces/SetParametersResult``."""

    successful: bool
    reason: str


class ListParametersResult(Protocol):
    """``rcl_interfaces/ListParametersResult``."""

    names: Sequence[str]


class ListResponse(Protocol):
    """The response of ``rcl_interfaces/ListParameters``."""

    result: ListParametersResult  #: The names


class GetResponse(Protocol):
    """The response of ``rcl_interfaces/GetParameters``."""

    values: Sequence[ParameterValue]


class SetResponse(Protocol):
    """The response of ``rcl_interfaces/SetParameters``."""

    results: Sequence[SetParametersResult]


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


def python_value(value: ParameterValue) -> object:
    """The value in a ``rcl_interfaces/msg/ParameterValue``; None where there is none."""
    field = FIELDS.get(value.type)
    content = getattr(value, field) if field else None
    return content if value.type <= STRING else list(content) if content is not None else None
