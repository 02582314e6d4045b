"""Services of a node, including those of its parameters, and clients of other nodes' services.

All have the wire form of ``rmw_cyclonedds``. A request and its reply are messages on two topics, each with a header of
16 bytes before the fields: the identity of the client's writer and the number of the request. Other ROS middlewares put
these elsewhere and cannot call.
"""

# ruff: noqa: D102  # vds_gz.core.ros.graph documents the methods
from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from vds_gz.core.parameters.declaration import Description, ParameterError, Value
from vds_gz.core.ros.dds.domain import Context
from vds_gz.core.ros.dds.endpoints import EndpointProperties, Inbox, Input, Reader, Writer
from vds_gz.core.ros.graph import Message, QoS, spellings
from vds_gz.core.ros.messages.fields import DOUBLE_ARRAY, FIELDS, KINDS, descriptor_of, python_value
from vds_gz.core.ros.messages.portable import MessageTypes

_HEADER = 16

#: A reply whose client's reader is not found for this long is dropped [ns].
_PATIENCE_NS = 1_000_000_000

#: A request without a response for this long is dropped [ns].
_RESPONSE_TIMEOUT = 10_000_000_000


class _Reply(NamedTuple):
    """A reply whose client's reader is not known yet."""

    data: bytearray
    client: str
    given_up_at: int


class _Pending(NamedTuple):
    done: Callable[[Message], None]
    at: int


class Service(Input):
    """A service that the node offers."""

    def __init__(
        self,
        context: Context,
        inbox: Inbox,
        name: str,
        type_name: str,
        qos: QoS,
        identity: str,
        callback: Callable[[Message, Message], None],
    ) -> None:
        types = context.types
        request, response = f"{type_name}_Request", f"{type_name}_Response"
        requests = {"serviceid": identity, "typehash": types.hash(request)}
        replies = {"serviceid": identity, "typehash": types.hash(response)}
        self.writer = Writer(context, EndpointProperties(f"rr{name}Reply", response, qos, replies))
        reader = Reader(context, EndpointProperties(f"rq{name}Request", request, qos, requests))
        super().__init__(reader, f"service '{name}'", context.warn)
        self._inbox = inbox
        self._decode = types.codec(request).decode
        self._response = types.codec(response)
        self._new_response = partial(types.new, response)
        self._callback = callback
        inbox.add(self)

    def receive(self, data: bytearray, writer: int, arrival: int) -> None:
        """Respond to a request."""
        request, response = self._decode(data, _HEADER), self._new_response()
        self._callback(request, response)
        self._reply(self._response.encode(response, bytes(data[4 : 4 + _HEADER])), writer)

    def _waits(self, reply: _Reply) -> bool:
        """Send a reply if its client is known by now; return whether it still waits."""
        if self.writer.knows_reader("clientid", reply.client):
            self.writer.write(reply.data)
            return False
        return time.monotonic_ns() < reply.given_up_at

    def _reply(self, data: bytearray, client: int) -> None:
        """Send a reply, now or as soon as it can reach the client.

        A request may arrive before this node knows the client's reader; a reply sent then would be lost.
        """
        user_data = self.reader.writer_user_data(client)
        if user_data is None:
            return
        identity = user_data.get("clientid")
        if identity is None:
            self.writer.write(data)
            return
        reply = _Reply(data, identity, time.monotonic_ns() + _PATIENCE_NS)
        if self._waits(reply):
            self._inbox.holding.append(partial(self._waits, reply))


class ServiceClient(Input):
    """Client of one service."""

    def __init__(self, context: Context, name: str, type_name: str) -> None:
        types = context.types
        request, response = f"{type_name}_Request", f"{type_name}_Response"
        # The mark identifies the client in headers, and its text identifies the client as the owner of both endpoints.
        self._mark = os.urandom(8)
        owner = {"clientid": ".".join(f"{byte:x}" for byte in self._mark)}
        requests = {**owner, "typehash": types.hash(request)}
        responses = {**owner, "typehash": types.hash(response)}
        self.name = name
        reader = Reader(context, EndpointProperties(f"rr{name}Reply", response, QoS(), responses))
        super().__init__(reader, f"service '{name}'", context.warn)
        self.writer = Writer(context, EndpointProperties(f"rq{name}Request", request, QoS(), requests))
        self._decode = types.codec(response).decode
        self._request = types.codec(request)
        self._new_request = partial(types.new, request)
        self._pending: dict[bytes, _Pending] = {}
        self._number = 0

    def ready(self) -> bool:
        return self.writer.matched() > 0 and self.reader.matched() > 0

    def request(self) -> Message:
        return self._new_request()

    def call(self, request: Message, done: Callable[[Message], None]) -> None:
        now = time.monotonic_ns()
        self._pending = {key: sent for key, sent in self._pending.items() if now - sent.at < _RESPONSE_TIMEOUT}
        self._number += 1
        header = self._mark + self._number.to_bytes(8, "little")
        self._pending[header] = _Pending(done, now)
        self.writer.write(self._request.encode(request, header))

    def receive(self, data: bytearray, writer: int, arrival: int) -> None:
        """Process a response to this client: all clients of a service receive all responses."""
        pending = self._pending.pop(bytes(data[4 : 4 + _HEADER]), None)
        if pending is not None:
            pending.done(self._decode(data, _HEADER))


Change = Callable[[Mapping[str, Value]], None]


class Parameters:
    """The declared parameters, and the services for them."""

    def __init__(
        self,
        types: MessageTypes,
        descriptions: Iterable[Description],
        change: Change,
        changed: Callable[[Message], None],
    ) -> None:
        self._types = types
        self._spellings = spellings(descriptions)
        self._descriptions = {spelling.name: spelling for same in self._spellings.values() for spelling in same}
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

    def declared(self) -> Message:
        """The event in which all parameters are new."""
        event = self._types.new("rcl_interfaces/msg/ParameterEvent")
        event.new_parameters = [self._parameter(name) for name in self._values]
        return event

    def set(self, wanted: Mapping[str, object]) -> None:
        """Set several parameters, all or none."""
        checked = {name: self._checked(name, value) for name, value in wanted.items()}
        self._change({self._spellings[name][0].name: value for name, value in checked.items()})
        values = {description.name: value for name, value in checked.items() for description in self._spellings[name]}
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

    def _describe(self, request: Message, response: Message) -> None:
        response.descriptors = [self._descriptor(name) for name in request.names]

    def _get_types(self, request: Message, response: Message) -> None:
        response.types = self._types.array("uint8", [self._kind(name) for name in request.names])

    def _get(self, request: Message, response: Message) -> None:
        response.values = [self._value(name) for name in request.names]

    def _list(self, request: Message, response: Message) -> None:
        names = [name for name in self._values if _listed(name, request.prefixes, request.depth)]
        response.result.names = names
        response.result.prefixes = list(dict.fromkeys(name.rpartition(".")[0] for name in names if "." in name))

    def _set(self, request: Message, response: Message) -> None:
        response.results = [self._result({p.name: python_value(p.value)}) for p in request.parameters]

    def _set_atomically(self, request: Message, response: Message) -> None:
        response.result = self._result({p.name: python_value(p.value) for p in request.parameters})

    def _result(self, wanted: Mapping[str, object]) -> Message:
        """Set parameters; a refusal is in the result."""
        result = self._types.new("rcl_interfaces/msg/SetParametersResult")
        try:
            self.set(wanted)
            result.successful = True
        except ParameterError as error:
            result.reason = str(error)
        return result

    def _kind(self, name: str) -> int:
        description = self._descriptions.get(name)
        return KINDS[description.type] if description else 0

    def _value(self, name: str) -> Message:
        value = self._types.new("rcl_interfaces/msg/ParameterValue")
        value.type = self._kind(name)
        content: Any = self._values.get(name)
        if value.type:
            numbers = value.type == DOUBLE_ARRAY
            setattr(value, FIELDS[value.type], self._types.array("float64", content) if numbers else content)
        return value

    def _parameter(self, name: str) -> Message:
        parameter = self._types.new("rcl_interfaces/msg/Parameter")
        parameter.name, parameter.value = name, self._value(name)
        return parameter

    def _descriptor(self, name: str) -> Message:
        description = self._descriptions.get(name)
        if description is not None:
            return descriptor_of(self._types.new, description)
        descriptor = self._types.new("rcl_interfaces/msg/ParameterDescriptor")
        descriptor.name = name
        return descriptor


def _listed(name: str, prefixes: list[str], depth: int) -> bool:
    """Whether a name is listed, by the rules of ``rcl_interfaces/srv/ListParameters``; depth 0 is unlimited."""
    if not prefixes:
        return depth == 0 or name.count(".") < depth
    below = [name[len(prefix) + 1 :] for prefix in prefixes if name.startswith(f"{prefix}.")]
    return name in prefixes or any(depth == 0 or rest.count(".") < depth for rest in below)
