"""Sensors with one topic, whose messages differ in their stamps and some numbers only."""

from __future__ import annotations

from collections.abc import Sequence

from vds_gz.interface.packed_topic import PackedTopic
from vds_gz.interface.sensors.setup import SensorSetup
from vds_gz.sensing.body import BodyState
from vds_gz.world.scene import Scene


class SingleTopicOutput:
    """A sensor that measures at one instant: base class; a derived one gives :meth:`values`.

    Attributes:
        rate, rays, span: See :class:`~vds_gz.sensing.sensor.SensorOutput`.
        stateful: A measurement depends on those before, as where a bias walks, so that none may be left out.
    """

    rays = span = 0
    stateful = False

    def __init__(self, setup: SensorSetup, message: object, numbers: Sequence[str]) -> None:
        """Announce the topic.

        Args:
            setup: The sensor.
            message: A message with all that stays as it is, as from ``setup.message``.
            numbers: Paths of its numbers that change, such as ``angular_velocity.x``.
        """
        (stream,) = setup.type.streams
        self.rate = setup.parameters.rate
        self._topic = PackedTopic(setup.graph, setup.topic(stream), message, numbers)

    @property
    def subscribed(self) -> bool:
        """Whether the topic has subscribers."""
        return self._topic.subscribed

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
            scene: What can be seen; none if there is no world.
        """
        raise NotImplementedError
