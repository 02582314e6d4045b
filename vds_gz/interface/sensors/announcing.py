"""Topics of a vehicle's sensors on the graph."""

from __future__ import annotations

from vds_gz.ros.graph import Graph, Publisher, QoS
from vds_gz.sensing.streams import STREAMS, Stream


def streams_of(kind: str) -> dict[str, Stream]:
    """The topics of a type of sensor, by their names after the sensor's."""
    return {stream.ros: stream for stream in STREAMS[kind]}


def announced(graph: Graph, sensor: str, stream: Stream, qos: QoS | None = None) -> Publisher:
    """A publisher for a topic of a sensor, with the quality of service of the bridge if none is given."""
    return graph.publisher(stream.topic(sensor), stream.ros_type, qos or QoS(stream.depth))
