"""Parameters of a node for ROS tools: the six services and the events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from vds_gz.parameters.declaration import Description, ParameterError, Value
from vds_gz.ros.graph import spellings
from vds_gz.ros.messages.portable import MessageTypes
from vds_gz.ros.parameter_values import BOOL, DOUBLE, DOUBLE_ARRAY, FIELDS, INTEGER, STRING, python_value

Change = Callable[[Mapping[str, Value]], None]

_KINDS = {
    "bool": BOOL,
    "integer": INTEGER,
    "double": DOUBLE,
    "string": STRING,
    "double_array": DOUBLE_ARRAY,
}


class Parameters:
    """The declared parameters, and the services for them.

    Attributes:
        services: The six services: last part of the name, type, and callback.
    """

    def __init__(
        self, types: MessageTypes, descriptions: Iterable[Description], change: Change, changed: Callable[[Any], None]
    ) -> None:
        """Declare parameters.

        Args:
            types: Message types.
            descriptions: The parameters; each ``default`` is the present value.
            change: Applies new values, or raises ParameterError.
            changed: Gets the changes, as ``rcl_interfaces/msg/ParameterEvent`` without stamp and node.
        """
        self._types = types
        self._spellings = spellings(descriptions)
        self._descriptions = {one.name: one for same in self._spellings.values() for one in same}
        self._values = {name: description.default for name, description in self._descriptions.items()}
        self._change = change
        self._changed = changed
        self.services = (
            ("describe_parameters", "rcl_interfaces/srv/DescribeParameters", self._describe),
            ("get_parameter_types", "rcl_interfaces/srv/GetParameterTypes", self._get_types),
            ("get_parameters", "rcl_interfaces/srv/GetParameters", self._get),
            ("list_parameters", "rcl_interfaces/srv/ListParameters", self._list),
            ("set_parameters", "rcl_interfaces/srv/SetParameters", self._set),
            ("set_parameters_atomically", "rcl_interfaces/srv/SetParametersAtomically", self._set_atomically),
        )

    def declared(self) -> Any:
        """The event in which all parameters are new."""
        event = self._types.new("rcl_interfaces/msg/ParameterEvent")
        event.new_parameters = [self._parameter(name) for name in self._values]
        return event

    def set(self, wanted: Mapping[str, object]) -> None:
        """Set all of several parameters, or none.

        Raises:
            ParameterError: None was set.
        """
        checked = {name: self._checked(name, value) for name, value in wanted.items()}
        self._change({self._spellings[name][0].name: value for name, value in checked.items()})
        values = {one.name: value for name, value in checked.items() for one in self._spellings[name]}
        self._values.update(values)
        event = self._types.new("rcl_interfaces/msg/ParameterEvent")
        event.changed_parameters = [self._parameter(name) for name in values]
        self._changed(event)

    def _checked(self, name: str, value: object) -> Value:
        description = self._descriptions.get(name)
        if description is None:
            raise ParameterError(f"parameter '{name}' is not declared; 'ros2 param list' shows those that are")
        if value is None:
            raise ParameterError(f"parameter '{name}' cannot be deleted")
        if description.read_only:
            present = self._values[name]
            raise ParameterError(f"parameter '{name}' is read-only; it stays {present!r} while the node runs")
        return description.check(value)

    def _describe(self, request: Any, response: Any) -> None:
        response.descriptors = [self._descriptor(name) for name in request.names]

    def _get_types(self, request: Any, response: Any) -> None:
        response.types = self._types.array("uint8", [self._kind(name) for name in request.names])

    def _get(self, request: Any, response: Any) -> None:
        response.values = [self._value(name) for name in request.names]

    def _list(self, request: Any, response: Any) -> None:
        names = [name for name in self._values if _listed(name, request.prefixes, request.depth)]
        response.result.names = names
        response.result.prefixes = list(dict.fromkeys(name.rpartition(".")[0] for name in names if "." in name))

    def _set(self, request: Any, response: Any) -> None:
        response.results = [self._result({p.name: python_value(p.value)}) for p in request.parameters]

    def _set_atomically(self, request: Any, response: Any) -> None:
        response.result = self._result({p.name: python_value(p.value) for p in request.parameters})

    def _result(self, wanted: Mapping[str, object]) -> Any:
        """Set parameters; the result."""
        result = self._types.new("rcl_interfaces/msg/SetParametersResult")
        try:
            self.set(wanted)
            result.successful = True
        except ParameterError as error:
            result.reason = str(error)
        return result

    def _kind(self, name: str) -> int:
        description = self._descriptions.get(name)
        return _KINDS[description.type] if description else 0

    def _value(self, name: str) -> Any:
        value = self._types.new("rcl_interfaces/msg/ParameterValue")
        value.type = self._kind(name)
        content: Any = self._values.get(name)
        if value.type:
            numbers = value.type == DOUBLE_ARRAY
            setattr(value, FIELDS[value.type], self._types.array("float64", content) if numbers else content)
        return value

    def _parameter(self, name: str) -> Any:
        parameter = self._types.new("rcl_interfaces/msg/Parameter")
        parameter.name, parameter.value = name, self._value(name)
        return parameter

    def _descriptor(self, name: str) -> Any:
        descriptor = self._types.new("rcl_interfaces/msg/ParameterDescriptor")
        descriptor.name = name
        description = self._descriptions.get(name)
        if description is None:
            return descriptor
        unit = f" [{description.unit}]" if description.unit else ""
        descriptor.type = _KINDS[description.type]
        descriptor.description = f"{description.doc}{unit}"
        descriptor.read_only = description.read_only
        if description.choices:  # a range cannot express choices
            descriptor.additional_constraints = f"one of {', '.join(description.choices)}"
        if description.type == "integer":
            bounds = self._types.new("rcl_interfaces/msg/IntegerRange")
            bounds.from_value, bounds.to_value = int(description.minimum), int(description.maximum)
            descriptor.integer_range = [bounds]
        elif description.type == "double":
            bounds = self._types.new("rcl_interfaces/msg/FloatingPointRange")
            bounds.from_value, bounds.to_value = description.minimum, description.maximum
            descriptor.floating_point_range = [bounds]
        return descriptor


def _listed(name: str, prefixes: list[str], depth: int) -> bool:
    """Whether a name is listed, by the rules of ``rcl_interfaces/srv/ListParameters``; depth 0 is unlimited."""
    if not prefixes:
        return depth == 0 or name.count(".") < depth
    below = [name[len(prefix) + 1 :] for prefix in prefixes if name.startswith(f"{prefix}.")]
    return name in prefixes or any(depth == 0 or rest.count(".") < depth for rest in below)
