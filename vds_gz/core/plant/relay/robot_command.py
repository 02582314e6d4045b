"""The command of a relay, as a message."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vds_gz.core.parameters.relay import RelayParameters
from vds_gz.core.ros.graph import Graph, QoS, Topic
from vds_gz.core.ros.messages.packed import PackedTopic
from vds_gz.core.vehicle.command import SteadyMotion

#: Names of the types of messages, by ``relay.output``.
TYPES = {
    "twist": "geometry_msgs/msg/Twist",
    "twist_stamped": "geometry_msgs/msg/TwistStamped",
    "ackermann": "ackermann_msgs/msg/AckermannDriveStamped",
    "steering_and_speed": "std_msgs/msg/Float64",
}

_TWIST = ("linear.x", "linear.y", "angular.z")


class RelayedCommand:
    """The topics on which the command goes on.

    Attributes:
        topics: Their absolute names.
    """

    def __init__(self, graph: Graph, relay: RelayParameters, frame: str) -> None:
        """Announce the topics; ``frame`` is that of headers."""
        kind, qos = TYPES[relay.output], QoS()
        stamps = ["header.stamp"]
        self._outputs: list[tuple[PackedTopic, Callable[[SteadyMotion], Sequence[float]]]]
        message = graph.message(kind)
        if relay.output == "twist":
            topic = PackedTopic(graph, Topic(relay.topic, kind, qos), message, [], _TWIST)
            self._outputs = [(topic, _twist)]
        elif relay.output == "twist_stamped":
            message.header.frame_id = frame
            paths = [f"twist.{path}" for path in _TWIST]
            self._outputs = [(PackedTopic(graph, Topic(relay.topic, kind, qos), message, stamps, paths), _twist)]
        elif relay.output == "ackermann":
            message.header.frame_id = frame
            paths = ["drive.speed", "drive.steering_angle"]
            self._outputs = [(PackedTopic(graph, Topic(relay.topic, kind, qos), message, stamps, paths), _ackermann)]
        else:  # the steering first, so that the wheels never act earlier than it
            self._outputs = [
                (PackedTopic(graph, Topic(name, kind, qos), message, [], ["data"]), value)
                for name, value in ((relay.steering_topic, _steering), (relay.speed_topic, _speed))
            ]
        self.topics = [topic.publisher.topic for topic, _ in self._outputs]

    def send(self, time: int, drive: SteadyMotion) -> None:
        """Send the command of an instant [ns]."""
        for topic, values in self._outputs:
            topic.publish(time, values(drive))

    def messages(self, drive: SteadyMotion) -> list[tuple[str, str, bytes]]:
        """Topic, type and bytes of the messages of a command, without a time, so that they are never too old."""
        return [
            (topic.publisher.topic, topic.topic.type, bytes(topic.write(0, values(drive))))
            for topic, values in self._outputs
        ]

    def unheard(self) -> list[str]:
        """The topics without a subscriber."""
        return [topic.publisher.topic for topic, _ in self._outputs if not topic.subscribed()]


def _twist(drive: SteadyMotion) -> Sequence[float]:
    return drive[:3]


def _ackermann(drive: SteadyMotion) -> Sequence[float]:
    return drive.v_x, drive.steering_angle


def _steering(drive: SteadyMotion) -> Sequence[float]:
    return (drive.steering_angle,)


def _speed(drive: SteadyMotion) -> Sequence[float]:
    return (drive.v_x,)
