"""The topic of a sensor that has one."""

from __future__ import annotations

from typing import Any

from vds_gz.interface.topics import Topic
from vds_gz.ros.graph import Graph, QoS
from vds_gz.sensing.streams import STREAMS


def single_stream(graph: Graph, name: str, kind: str, frame_prefix: str) -> tuple[Topic, Any]:
    """The topic of a sensor of this name and type, and a message of it with its frame."""
    (stream,) = STREAMS[kind]
    message = graph.message(stream.ros_type)
    message.header.frame_id = frame_prefix + stream.frame(name)
    return Topic(stream.topic(name), stream.ros_type, QoS(depth=stream.depth)), message
