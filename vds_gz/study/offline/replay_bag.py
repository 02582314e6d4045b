"""A replay as a recording with all topics of the node.

The node's own outputs publish on a graph that writes into the file.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from vds_gz.bags.mcap_writer import McapWriter
from vds_gz.bags.recorder import about
from vds_gz.description.urdf_writer import urdf
from vds_gz.errors import UnknownTypeError
from vds_gz.interface.commands import GEAR_COMMAND, CommandType, Gear, command_types
from vds_gz.interface.outputs import FrameNames, Output, Outputs
from vds_gz.interface.reports import report_outputs
from vds_gz.interface.world_topics import ContactsOutput
from vds_gz.parameters.node import NodeParameters
from vds_gz.ros.graph import Message, QoS, Severity, Topic
from vds_gz.ros.messages.factory import definition, open_types
from vds_gz.ros.messages.packed import PackedTopic
from vds_gz.study.offline.replay import BEGIN, Replay
from vds_gz.study.progress import Advance


def write_mcap(replay: Replay, path: Path, parameters: NodeParameters, advance: Advance) -> int:
    """Write a replay as a recording with all topics of the node; return its number of samples."""
    samples = 0
    bag = _Bag(path)
    graph: Any = bag
    with closing(bag):
        outputs = _outputs(graph, replay, parameters)
        topic, variants = replay.command_type.topic.name, ("", parameters.actuation_messages)
        kind = next(kind for kind in command_types() if kind.variant in variants and kind.topic.name == topic)
        commands, gears = _input(graph, kind), _input(graph, GEAR_COMMAND) if kind.geared else None
        contacts = _contacts(graph, replay, parameters) if replay.in_world else None
        for block in replay.blocks():
            for bag.time, command in zip(block.command_times, block.commands, strict=True):
                (gears if gears and isinstance(command, Gear) else commands).publish(bag.time, tuple(command))
            for sample, touched in zip(block.samples, block.contacts, strict=True):
                bag.time = sample.time
                for output in outputs:
                    output.publish(sample.time, output.values(sample))
                if contacts is not None:
                    contacts.publish(sample.time, touched)
            samples += len(block.samples)
            advance(len(block.samples))
    return samples


def _input(graph: Any, command: CommandType) -> PackedTopic:
    """The topic of a command."""
    stamps = [command.stamp] if command.stamp else []
    return PackedTopic(graph, command.topic, graph.message(command.topic.type), stamps, command.fields)


def _outputs(graph: Any, replay: Replay, parameters: NodeParameters) -> list[Output]:
    """The node's topics at every sample; its latched messages are published."""
    model = replay.model
    joints = [joint.name for joint in model.joints(parameters.vehicle)]
    frames = FrameNames.of(parameters)
    elsewhere = parameters.localization.external
    flat = not replay.in_world
    node = Outputs(graph, frames, joints, model.actuators, parameters.fixed_odom, flat, localized_elsewhere=elsewhere)
    node.publish_latched(BEGIN, urdf(model.name, parameters.vehicle, model.xacro, parameters.sensors))
    outputs = list(node.outputs)
    if replay.reports:
        outputs += report_outputs(graph, replay.vehicle, frames.base, parameters.actuation_messages)
    return outputs


def _contacts(graph: Any, replay: Replay, parameters: NodeParameters) -> ContactsOutput | None:
    """The topic of contacts; none if ROS is sourced without its type."""
    try:
        return ContactsOutput(graph, FrameNames.of(parameters).map, replay.model.name)
    except UnknownTypeError:
        return None


class _Bag:
    """Stands in for the graph: what is published is written into a file, at ``time`` [ns]."""

    def __init__(self, path: Path) -> None:
        self.time = BEGIN
        self.file = McapWriter(path)
        self._types = open_types()
        self.close = self.file.close

    def message(self, type_name: str) -> Message:
        return self._types.new(type_name)

    def numbers(self, count: int) -> Any:
        return self._types.array("float64", (0.0,) * count)

    def serialize(self, message: Message, type_name: str) -> bytes:
        return bytes(self._types.codec(type_name).encode(message))

    def log(self, severity: Severity, text: str) -> None:
        """Does nothing: no one reads it."""

    def publisher(self, name: str, type_name: str, qos: QoS) -> _BagPublisher:
        notes = about(Topic(name, type_name, qos), self._types)
        channel = self.file.channel("/" + name.lstrip("/"), type_name, definition(type_name), notes)
        return _BagPublisher(self, channel, type_name)


class _BagPublisher:
    """Counts as subscribed, and writes its messages."""

    def __init__(self, bag: _Bag, channel: int, type_name: str) -> None:
        self._bag, self._channel, self._type = bag, channel, type_name

    def subscription_count(self) -> int:
        return 1

    def publish(self, message: Message) -> None:
        self.publish_raw(self._bag.serialize(message, self._type))

    def publish_raw(self, data: bytes | bytearray) -> None:
        self._bag.file.message(self._channel, self._bag.time, data)
