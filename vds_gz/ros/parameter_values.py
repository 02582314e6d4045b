"""Values of parameters in ``rcl_interfaces`` messages. Works on the message objects of either graph."""

from __future__ import annotations

from vds_gz.ros.messages.parameters import ParameterValue

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
