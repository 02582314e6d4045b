"""A driver's demand and its messages, which are made once and refilled."""

from __future__ import annotations

from collections.abc import Callable

from vds_gz.core.ros.graph import Graph
from vds_gz.core.vehicle.command import SteadyMotion
from vds_gz.programs.interface.commands import command_type

STANDSTILL = SteadyMotion()

#: Number of stop commands; then the output is silent, so that another node can drive.
STOPS = 5

#: Outputs that are several command types; any other is the command type of its name.
COMBINED = {"steering_and_velocity": ("steering_angle", "velocity")}


class CommandOutput:
    """Sends commands in the messages that a vehicle understands."""

    def __init__(self, graph: Graph, output: str, frame: str, now: Callable[[], int]) -> None:
        self._now = now
        self._types = [command_type(name) for name in COMBINED.get(output, (output,))]
        offered = [kind.topic for kind in self._types]
        self._publishers = [graph.publisher(topic.name, topic.type, topic.qos) for topic in offered]
        self._messages = [graph.message(topic.type) for topic in offered]
        for message in self._messages:
            if hasattr(message, "header"):
                message.header.frame_id = frame

    @property
    def topic(self) -> str:
        """The topics of the commands, in words."""
        return " and ".join(publisher.topic for publisher in self._publishers)

    @property
    def topics(self) -> list[str]:
        """Full names of the topics."""
        return [publisher.topic for publisher in self._publishers]

    def heard(self) -> bool:
        """Whether there is a subscriber."""
        return any(publisher.subscription_count() for publisher in self._publishers)

    def send(self, drive: SteadyMotion) -> None:
        """Send a command with what its type takes of a motion, stamped with the present."""
        now = self._now()
        for sent_as, publisher, message in zip(self._types, self._publishers, self._messages, strict=True):
            requested = (getattr(drive, name) for name in sent_as.kind.references)
            sent_as.encode(message, sent_as.values(*requested), now)
            publisher.publish(message)

    def close(self) -> None:
        """Withdraw the topics; nothing can be sent any more."""
        for publisher in self._publishers:
            publisher.close()
