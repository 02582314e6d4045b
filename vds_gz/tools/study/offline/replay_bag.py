"""A replay as a recording with all topics of the node.

The messages are those of the node's own outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.errors import UnknownTypeError
from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.ros.graph import Message, QoS, Severity
from vds_gz.core.ros.messages.message_types import definition, open_types
from vds_gz.core.ros.messages.packed import MessageLayout
from vds_gz.programs.bags.mcap_writer import Rows, RowWriter, Template
from vds_gz.programs.bags.recorder import about
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.commands import CommandType, Gear, command_types, gear_type
from vds_gz.programs.interface.model_reports import report_outputs
from vds_gz.programs.interface.outputs import FrameNames, Output, Outputs
from vds_gz.programs.interface.world_topics import ContactsOutput
from vds_gz.tools.study.offline.offline_replay import BEGIN, Replay, ReplayBlock
from vds_gz.tools.study.progress import Advance


def write_mcap(replay: Replay, path: Path, parameters: NodeParameters, advance: Advance) -> int:
    """Write a replay as a recording with all topics of the node; return its number of samples."""
    samples = 0
    with closing(RowWriter(path)) as writer:
        latched, outputs = _outputs(replay, parameters)
        once = Rows([(_channel(writer, topic), Template(data)) for topic, data in latched])
        every = Rows([_output_template(writer, output) for output in outputs])
        topic, variants = replay.command_type.topic.name, ("", parameters.actuation_messages)
        command = next(kind for kind in command_types() if kind.variant in variants and kind.topic.name == topic)
        commands = Rows([_template(writer, command)])
        setter = gear_type() if command.geared else None
        inputs = commands, Rows([_template(writer, setter)]) if setter else None
        touched = _Contacts(writer, replay, parameters) if replay.in_world else None
        writer.write([(once, np.array([BEGIN]), np.empty((1, 0)))])
        for block in replay.blocks():
            parts = _inputs(block, inputs)
            if block.samples:
                times = np.array([sample.time for sample in block.samples], np.int64)
                values = (output.values(sample) for sample in block.samples for output in outputs)
                numbers = np.fromiter(chain.from_iterable(values), float)
                parts.append((every, times, numbers.reshape(len(times), -1)))
            if touched is not None:
                parts += touched.parts(block)
            writer.write(parts)
            samples += len(block.samples)
            advance(len(block.samples))
    return samples


#: Channels with templates of their messages, times [ns], and a row of numbers for each time.
RowBatch = tuple[Rows, NDArray[np.int64], NDArray[np.float64]]


def _template(writer: RowWriter, command: CommandType) -> tuple[int, Template]:
    """Channel and message of a command."""
    topic, types = command.topic, open_types()
    message = types.new(topic.type)
    layout = MessageLayout.of(topic.type, message)
    stamps = [layout.stamp(command.stamp)] if command.stamp else []
    numbers = [(place.offset, place.format) for place in layout.numbers(command.fields)]
    data = bytes(types.codec(topic.type).encode(message))
    return _channel(writer, topic), Template(data, stamps, numbers)


def _inputs(block: ReplayBlock, inputs: tuple[Rows, Rows | None]) -> list[RowBatch]:
    """The commands of a block, and its gears before them."""
    commands, gears = inputs
    parts: list[RowBatch] = []
    times, values = np.array(block.command_times, np.int64), list(block.commands)
    if gears is not None:
        shifts = np.array([isinstance(command, Gear) for command in values], bool)
        if shifts.any():
            parts.append(
                (gears, times[shifts], np.array([command for command in values if isinstance(command, Gear)], float))
            )
        times, values = times[~shifts], [command for command in values if not isinstance(command, Gear)]
    if values:
        parts.append((commands, times, np.array(values, float)))
    return parts


def _outputs(replay: Replay, parameters: NodeParameters) -> tuple[list[tuple[topics.Topic, bytes]], list[Output]]:
    """The node's latched messages, and the topics that it publishes at every sample."""
    model = replay.model
    graph: Any = _CapturingGraph()
    joints = [joint.name for joint in model.joints(parameters.vehicle)]
    frames = FrameNames.of(parameters)
    node = Outputs(
        graph,
        frames,
        joints,
        model.actuators_of(parameters.vehicle),
        parameters.fixed_odom,
        flat=not replay.in_world,
        localized_elsewhere=parameters.localization.external,
        publish_tf=parameters.publish_tf,
    )
    node.publish_latched(BEGIN, urdf(model.name, parameters.vehicle, model.xacro, parameters.sensors))
    outputs = list(node.outputs)
    outputs += report_outputs(graph, replay.reports, frames.base)
    return graph.taken(), outputs


def _output_template(writer: RowWriter, output: Output) -> tuple[int, Template]:
    """Channel and message of a topic of the node."""
    numbers = [(place.offset, place.format) for place in output.numbers]
    return _channel(writer, output.topic), Template(bytes(output.data), output.stamps, numbers)


class _Contacts:
    """The topic of contacts, which is missing if ROS is sourced without its type."""

    def __init__(self, writer: RowWriter, replay: Replay, parameters: NodeParameters) -> None:
        graph: Any = _CapturingGraph()
        self._graph = graph
        self._output: ContactsOutput | None = None
        try:
            self._output = ContactsOutput(graph, FrameNames.of(parameters).map, replay.model.name)
        except UnknownTypeError:
            return
        self._channel = _channel(writer, topics.CONTACTS)

    def parts(self, block: ReplayBlock) -> Iterator[RowBatch]:
        """The messages of a block."""
        for sample, contacts in zip(block.samples, block.contacts, strict=True):
            if self._output is not None:
                self._output.publish(sample.time, contacts)
            for _, data in self._graph.taken():
                yield Rows([(self._channel, Template(data))]), np.array([sample.time]), np.empty((1, 0))


def _channel(writer: RowWriter, topic: topics.Topic) -> int:
    name = "/" + topic.name.lstrip("/")
    return writer.channel(name, topic.type, definition(topic.type), about(topic, open_types()))


class _CapturingGraph:
    """Stands in for the graph: it keeps what is published."""

    def __init__(self) -> None:
        self._types = open_types()
        self._taken: list[tuple[topics.Topic, bytes]] = []

    def taken(self) -> list[tuple[topics.Topic, bytes]]:
        """The messages published since the last call."""
        taken, self._taken = self._taken, []
        return taken

    def keep(self, topic: topics.Topic, data: bytes) -> None:
        """Take a serialized message."""
        self._taken.append((topic, data))

    def serialize(self, message: Message, type_name: str) -> bytes:
        """A message as CDR with its header."""
        return bytes(self._types.codec(type_name).encode(message))

    def message(self, type_name: str) -> Message:
        """A new message."""
        return self._types.new(type_name)

    def numbers(self, count: int) -> Any:
        """An array of zeros."""
        return self._types.array("float64", (0.0,) * count)

    def log(self, severity: Severity, text: str) -> None:
        """Ignore a log message."""

    def publisher(self, name: str, type_name: str, qos: QoS) -> _CapturingPublisher:
        """Announce a topic."""
        return _CapturingPublisher(topics.Topic(name, type_name, qos), self)


class _CapturingPublisher:
    """A publisher that always has a subscriber, and passes its messages to the listener."""

    def __init__(self, topic: topics.Topic, listener: _CapturingGraph) -> None:
        self._topic, self._listener = topic, listener

    def subscription_count(self) -> int:
        return 1

    def publish(self, message: Message) -> None:
        self.publish_raw(self._listener.serialize(message, self._topic.type))

    def publish_raw(self, data: bytes) -> None:
        self._listener.keep(self._topic, bytes(data))
