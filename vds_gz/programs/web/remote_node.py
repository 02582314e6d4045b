"""A client of a vehicle's node: its parameters and services. For use in the graph's thread only."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping

from vds_gz.core.parameters.declaration import WORDS, ParameterType
from vds_gz.core.ros.graph import Client, Graph, Message, QoS
from vds_gz.core.ros.messages.fields import BOOL, DOUBLE, DOUBLE_ARRAY, FIELDS, INTEGER, KINDS, STRING, python_value
from vds_gz.programs.interface import topics

#: Called with the result of a request: the reason why it failed, or empty.
ResultCallback = Callable[[str], None]

#: Time after which the list of parameters is requested again [s].
RETRY = 3.0

EVENTS = topics.Topic("/parameter_events", "rcl_interfaces/msg/ParameterEvent", QoS(depth=100))

_TYPES: dict[int, ParameterType] = {number: name for name, number in KINDS.items()}
_PYTHON_TYPES = {BOOL: bool, INTEGER: int, STRING: str}


class RemoteNode:
    """The parameters and services of a vehicle's node.

    Attributes:
        table: Descriptions of the parameters, ready for JSON, in the node's own order.
        values: Their present values.
        described, changed: Number of changes of the table, and of the values.
    """

    def __init__(self, graph: Graph, node: str) -> None:
        self.table: list[dict[str, object]] = []
        self.values: dict[str, object] = {}
        self.described = self.changed = 0
        self._node = node
        self._graph = graph
        self._types: dict[str, int] = {}
        self._outdated = True
        self._requested = -math.inf
        self._list = graph.client(f"{node}/list_parameters", "rcl_interfaces/srv/ListParameters")
        self._describe = graph.client(f"{node}/describe_parameters", "rcl_interfaces/srv/DescribeParameters")
        self._get = graph.client(f"{node}/get_parameters", "rcl_interfaces/srv/GetParameters")
        self._set = graph.client(f"{node}/set_parameters_atomically", "rcl_interfaces/srv/SetParametersAtomically")
        self._refused_lists: dict[str, object] = {}
        self._reset = graph.client(f"{node}/{topics.RESET[0][2:]}", topics.RESET[1])
        self._pause = graph.client(f"{node}/{topics.PAUSE[0][2:]}", topics.PAUSE[1])
        graph.subscribe(EVENTS.name, EVENTS.type, EVENTS.qos, self._on_event)

    def fault(self) -> str:
        """The reason why the parameters are not known; empty if they are."""
        if not self._list.ready():
            return (
                f"node '{self._node}' offers no services here. Is that its name (--node)? Where no ROS is sourced, "
                "only nodes with rmw_cyclonedds_cpp, and those that run without ROS, can be called"
            )
        return "asking the node for its parameters ..." if self._outdated else ""

    def look_again(self) -> None:
        """Request the parameters again: the node may be another one now."""
        self._outdated = True
        self._requested = -math.inf

    def tick(self) -> None:
        """Request the parameters if they are outdated, at most once in :data:`RETRY`."""
        now = time.monotonic()
        services = (self._list, self._describe, self._get)
        if self._outdated and now - self._requested > RETRY and all(service.ready() for service in services):
            self._requested = now
            self._list.call(self._list.request(), self._on_list)

    def set_parameter(self, name: str, value: object, done: ResultCallback) -> None:
        """Request another value of a parameter. The node checks the bounds.

        Two lists that must have equal lengths can only change together. So a list that the node refuses is sent again
        together with the one of its group that was refused before.
        """
        kind = self._types.get(name)
        if kind is None:
            done(f"there is no parameter '{name}'")
            return
        fitting = _fitting(value, kind)
        if fitting is None:
            right = WORDS[_TYPES[kind]] if kind in _TYPES else "a value of another type"
            done(f"parameter '{name}' is {value!r}; it must be {right}")
            return
        group = name.rpartition(".")[0]
        before = {other: v for other, v in self._refused_lists.items() if other.rpartition(".")[0] == group}
        before.pop(name, None)

        def on_response(result: Message) -> None:
            if kind == DOUBLE_ARRAY:
                self._refused_lists = {} if result.successful else {name: fitting}
            if not result.successful and kind == DOUBLE_ARRAY and before:
                self._request_values(before | {name: fitting}, on_pair, done)
            else:
                done(_reason(result))

        def on_pair(result: Message) -> None:
            if result.successful:
                self._refused_lists = {}
            done(_reason(result))

        self._request_values({name: fitting}, on_response, done)

    def _request_values(
        self, values: Mapping[str, object], on_result: Callable[[Message], None], done: ResultCallback
    ) -> None:
        request = self._set.request()
        request.parameters = [self._parameter(name, value) for name, value in values.items()]
        self._call(self._set, request, lambda response: on_result(response.result), done)

    def pause(self, paused: bool, done: ResultCallback) -> None:
        """Hold the vehicle, or release it."""
        request = self._pause.request()
        request.data = paused
        self._call(self._pause, request, _succeeded(done), done)

    def reset(self, done: ResultCallback) -> None:
        """Put the vehicle where it began."""
        self._call(self._reset, self._reset.request(), _succeeded(done), done)

    def _parameter(self, name: str, value: object) -> Message:
        parameter = self._graph.message("rcl_interfaces/msg/Parameter")
        parameter.name, parameter.value.type = name, self._types[name]
        setattr(parameter.value, FIELDS[self._types[name]], value)
        return parameter

    def _call(
        self, client: Client, request: Message, on_response: Callable[[Message], None], done: ResultCallback
    ) -> None:
        if client.ready():
            client.call(request, on_response)
        else:
            done(f"no one offers the service '{client.name}'")

    def _on_list(self, response: Message) -> None:
        names = list(response.result.names)
        describe, get = self._describe.request(), self._get.request()
        describe.names = get.names = names

        def on_values(described: Message, got: Message) -> None:
            if len(got.values) == len(names):  # else it is another node by now, and the request is repeated
                values = dict(zip(names, got.values, strict=True))
                self._types = {name: int(value.type) for name, value in values.items()}
                self.values = {name: _plain(python_value(value)) for name, value in values.items()}
                known = [(descriptor, self._types.get(descriptor.name)) for descriptor in described.descriptors]
                self.table = [_described(descriptor, kind) for descriptor, kind in known if kind in _TYPES]
                self._outdated = False
                self.described += 1
                self.changed += 1

        self._describe.call(describe, lambda described: self._get.call(get, lambda got: on_values(described, got)))

    def _on_event(self, event: Message, arrival: int) -> None:
        if event.node == self._node and not self._outdated:
            for parameter in event.changed_parameters:
                self.values[parameter.name] = _plain(python_value(parameter.value))
            self.changed += 1


def _reason(result: Message) -> str:
    """Why a node has refused parameters; empty if it has not."""
    return "" if result.successful else result.reason or "the node gives no reason"


def _succeeded(done: ResultCallback) -> Callable[[Message], None]:
    return lambda response: done("" if response.success else response.message or "the node gives no reason")


def _described(descriptor: Message, kind: int | None) -> dict[str, object]:
    """A ``ParameterDescriptor`` for JSON. A bound that is infinite, or at the end of the type's range, is None."""
    low = high = None
    for bounds in (*descriptor.floating_point_range, *descriptor.integer_range):
        low, high = _bound(bounds.from_value), _bound(bounds.to_value)
    text, _, unit = descriptor.description.rpartition(" [")
    has_unit = bool(text) and unit.endswith("]")
    constraints = descriptor.additional_constraints
    return {
        "name": descriptor.name,
        "type": _TYPES[kind or 0],
        "text": text if has_unit else descriptor.description,
        "unit": unit[:-1] if has_unit else "",
        "read_only": bool(descriptor.read_only),
        "minimum": low,
        "maximum": high,
        "constraints": constraints,
        "choices": constraints.removeprefix("one of ").split(", ") if constraints.startswith("one of ") else [],
    }


def _bound(value: float) -> float | None:
    return value if abs(value) < 2**62 else None


def _fitting(value: object, kind: int) -> object:
    """The value in its field's type; None if it does not fit."""
    if kind == DOUBLE:
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if kind == DOUBLE_ARRAY:
        return list(value) if isinstance(value, tuple) else None
    return value if type(value) is _PYTHON_TYPES.get(kind) else None


def _plain(value: object) -> object:
    """A value for JSON, which has no infinite numbers."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    number = float(value)  # type: ignore[arg-type]
    return number if math.isfinite(number) else str(number)
