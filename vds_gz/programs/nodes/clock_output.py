"""The time of a node that is the reference clock, on ``/clock``."""

from __future__ import annotations

from time import monotonic_ns

from vds_gz.core.ros.graph import Graph
from vds_gz.core.ros.messages.packed import PackedTopic
from vds_gz.core.vehicle.vehicle import NANOSECONDS
from vds_gz.programs.interface import topics

#: Period at which the time is repeated while it stands still [ns].
REPEAT = NANOSECONDS // 10


class ClockOutput:
    """Publishes the time; ``name`` is the name of the topic."""

    def __init__(self, graph: Graph) -> None:
        self._output = PackedTopic(graph, topics.CLOCK, graph.message(topics.CLOCK.type), ["clock"], [])
        self.name = self._output.publisher.topic
        self._published = 0
        self._next_repeat = monotonic_ns()

    def publish(self, time: int) -> None:
        """Publish a time [ns], but never one before the last; only a reset sets the time back."""
        self._published = max(time, self._published)
        self._output.publish(self._published)

    def repeat(self, time: int, monotonic: int) -> None:
        """Publish a time that stands still again, for nodes that start now."""
        if monotonic >= self._next_repeat:
            self._next_repeat = monotonic + REPEAT
            self.publish(time)

    def reset(self) -> None:
        """Let the time be set back."""
        self._published = 0
