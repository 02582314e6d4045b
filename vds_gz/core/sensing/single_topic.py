"""The base class of sensors with one topic, whose messages differ in numbers only."""

from __future__ import annotations

from collections.abc import Sequence

from vds_gz.core.ros.graph import Message
from vds_gz.core.ros.messages.packed import PackedTopic
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.sensor import SensorSetup
from vds_gz.core.world.scene import Scene


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
