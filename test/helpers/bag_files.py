"""Bags as others read and write them: rosbags where it is installed, else ROS's own rosbag2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from vds_gz.core.ros.messages.message_types import definition, open_types
from vds_gz.programs.bags.reader import open_bag

#: What follows where rosbags is not installed.
BY_ROSBAGS = find_spec("rosbags") is not None

#: Storage plugins, and how their files end.
SUFFIXES = {"mcap": ".mcap", "sqlite3": ".db3"}


class Recorded(NamedTuple):
    """A topic in a bag."""

    type: str
    count: int
    reliability: str
    durability: str


def topics_of(path: Path) -> dict[str, Recorded]:
    """All topics of a bag."""
    return _rosbags_topics(path) if BY_ROSBAGS else _rosbag2_topics(path)


def messages_of(path: Path) -> list[tuple[str, int, Any]]:
    """Topic, time [ns] and message of everything in a bag, in the order of time."""
    return _rosbags_messages(path) if BY_ROSBAGS else _rosbag2_messages(path)


def raw_messages(path: Path) -> dict[str, list[bytes]]:
    """Serialized messages by topic, in order, as we read them."""
    result: dict[str, list[bytes]] = {}
    with open_bag(path) as bag:
        for connection, _, data in bag.messages(bag.counts):
            result.setdefault(connection.topic, []).append(bytes(data))
    return result


def write_bag(path: Path, plugin: str, topics: Mapping[str, str], messages: Iterable[tuple[str, int, Any]]) -> None:
    """Write a rosbag2 folder: types by topic; topic, time [ns] and message of everything in it."""
    (_rosbags_write if BY_ROSBAGS else _rosbag2_write)(path, plugin, topics, messages)


def _rosbags_topics(path: Path) -> dict[str, Recorded]:
    from rosbags.highlevel import AnyReader

    with AnyReader([path]) as reader:
        result = {}
        for connection in reader.connections:
            (qos,) = connection.ext.offered_qos_profiles
            result[connection.topic] = Recorded(
                connection.msgtype, connection.msgcount, qos.reliability.name, qos.durability.name
            )
        return result


def _rosbags_messages(path: Path) -> list[tuple[str, int, Any]]:
    from rosbags.highlevel import AnyReader

    with AnyReader([path]) as reader:
        return [
            (connection.topic, time, reader.deserialize(data, connection.msgtype))
            for connection, time, data in reader.messages()
        ]


def _rosbags_write(path: Path, plugin: str, topics: Mapping[str, str], messages: Iterable[Any]) -> None:
    from rosbags.rosbag2 import StoragePlugin, Writer

    types = open_types()
    storage = StoragePlugin.MCAP if plugin == "mcap" else StoragePlugin.SQLITE3
    with Writer(path, version=9, storage_plugin=storage) as writer:
        connections = {
            topic: writer.add_connection(topic, kind, msgdef=definition(kind), rihs01=types.hash(kind))
            for topic, kind in topics.items()
        }
        for topic, time, message in messages:
            writer.write(connections[topic], time, bytes(types.codec(topics[topic]).encode(message)))


def _rosbag2_open(path: Path) -> Any:
    import rosbag2_py

    storages = {suffix: plugin for plugin, suffix in SUFFIXES.items()}
    reader = rosbag2_py.SequentialReader()
    storage = rosbag2_py.StorageOptions(uri=str(path), storage_id=storages.get(path.suffix, ""))
    reader.open(storage, rosbag2_py.ConverterOptions("cdr", "cdr"))
    return reader


def _rosbag2_topics(path: Path) -> dict[str, Recorded]:
    import rosbag2_py

    result = {}
    for one in _rosbag2_open(path).get_metadata().topics_with_message_count:
        topic = one.topic_metadata
        (qos,) = map(rosbag2_py.convert_rclcpp_qos_to_rclpy_qos, topic.offered_qos_profiles)
        result[topic.name] = Recorded(topic.type, one.message_count, qos.reliability.name, qos.durability.name)
    return result


def _rosbag2_messages(path: Path) -> list[tuple[str, int, Any]]:
    types, result, reader = open_types(), [], _rosbag2_open(path)
    kinds = {kind.name: kind.type for kind in reader.get_all_topics_and_types()}
    while reader.has_next():
        topic, data, time = reader.read_next()
        result.append((topic, time, types.codec(kinds[topic]).decode(bytearray(data))))
    return result


def _rosbag2_write(path: Path, plugin: str, topics: Mapping[str, str], messages: Iterable[Any]) -> None:
    import rosbag2_py

    types, writer = open_types(), rosbag2_py.SequentialWriter()
    storage = rosbag2_py.StorageOptions(uri=str(path), storage_id=plugin)
    writer.open(storage, rosbag2_py.ConverterOptions("cdr", "cdr"))
    for number, (topic, kind) in enumerate(topics.items(), start=1):
        writer.create_topic(rosbag2_py.TopicMetadata(number, topic, kind, "cdr"))
    for topic, time, message in messages:
        writer.write(topic, bytes(types.codec(topics[topic]).encode(message)), time)
    writer.close()
