"""Construction of the sensors that the node simulates, and the base class of those with one topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vds_gz.core.parameters.node import NodeParameters
from vds_gz.core.parameters.sensor_parameters import SensorParameters
from vds_gz.core.ros.graph import Graph, Message, Publisher, QoS, Topic
from vds_gz.core.ros.messages.packed import PackedTopic
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.sensor import SensorType, SensorTypes, Stream
from vds_gz.core.vehicle.vehicle_model import Joint
from vds_gz.core.world.scene import Scene


@dataclass(frozen=True, slots=True)
class SensorSetup:
    """A sensor on a vehicle.

    Attributes:
        graph: The graph on which it publishes.
        name: Its name.
        type: Its type.
        parameters: Its parameters, of the type's group.
        joints: The vehicle's joints, in the order of ``BodyState.joints``.
        frame_prefix: Prefix of the names of frames.
        seed: Seed of its noise, together with its name.
    """

    graph: Graph
    name: str
    type: SensorType
    parameters: SensorParameters
    joints: Sequence[Joint] = ()
    frame_prefix: str = ""
    seed: int = 0

    def frame(self, stream: Stream) -> str:
        """The frame of a topic's messages."""
        return self.frame_prefix + stream.frame(self.name)

    def message(self, stream: Stream) -> Message:
        """An empty message of a topic, in its frame if it has a header."""
        message = self.graph.message(stream.ros_type)
        if hasattr(message, "header"):
            message.header.frame_id = self.frame(stream)
        return message

    def topic(self, stream: Stream) -> Topic:
        """The topic of one of the sensor's streams."""
        return Topic(stream.topic(self.name), stream.ros_type, QoS(stream.depth))

    def publisher(self, stream: Stream, qos: QoS | None = None) -> Publisher:
        """Announce a topic, with the quality of service of the bridge if none is given."""
        return self.graph.publisher(stream.topic(self.name), stream.ros_type, qos or QoS(stream.depth))


class SingleTopicOutput:
    """Base class of sensors that measure at one instant and have one topic; a derived class has :meth:`values`.

    Attributes:
        rate, rays, span: See :class:`~vds_gz.core.sensing.sensor.SensorOutput`.
        stateful: A measurement depends on earlier ones, as with a random walk of a bias, so none may be left out.
    """

    rays = span = 0
    stateful = False

    def __init__(self, setup: SensorSetup, message: Message, numbers: Sequence[str]) -> None:
        """Announce the topic.

        Args:
            setup: The sensor.
            message: A message with its constant fields, as from ``setup.message``.
            numbers: Paths of its numbers that change, such as ``angular_velocity.x``.
        """
        (stream,) = setup.type.streams
        self.rate = setup.parameters.rate
        stamps = ["header.stamp"] if hasattr(message, "header") else []
        self._topic = PackedTopic(setup.graph, setup.topic(stream), message, stamps, numbers)

    @property
    def subscribed(self) -> bool:
        """Whether the topic has subscribers."""
        return self._topic.subscribed() > 0

    def measure(self, states: Sequence[BodyState], scene: Scene | None) -> None:
        """Measure, and publish if there are subscribers."""
        subscribed = self.subscribed
        if not (subscribed or self.stateful):
            return
        values = self.values(states[-1], scene)
        if subscribed:
            self._topic.publish(states[-1].time, values)

    def values(self, state: BodyState, scene: Scene | None) -> Sequence[float]:
        """The numbers of a measurement, in the order of their paths.

        Args:
            state: The body's state now.
            scene: The visible scene; None without a world.
        """
        raise NotImplementedError


def sensor_setups(
    graph: Graph, parameters: NodeParameters, joints: Sequence[Joint] = (), *, beside_gazebo: bool = False
) -> list[SensorSetup]:
    """All sensors that the node simulates; beside Gazebo, those that Gazebo lacks."""
    types = SensorTypes()
    setups = [
        SensorSetup(graph, name, types[sensor.type], sensor, joints, parameters.frame_prefix, parameters.random_seed)
        for name, sensor in parameters.sensors.items()
    ]
    return [setup for setup in setups if not (beside_gazebo and setup.type.gazebo)]
