"""Commands and joysticks as messages, which are made once and filled again for each publication."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vds_gz.interface import topics
from vds_gz.interface.commands import Ackermann, Speed, SteeringAngle, Values, Velocity, command_type
from vds_gz.interface.conversions import set_stamp
from vds_gz.ros.graph import Graph, Publisher
from vds_gz.teleop.driver_input import Drive

JOY = topics.Topic("joy", "sensor_msgs/msg/Joy")

#: Outputs that are several command types; any other is the command type of its name.
COMBINED = {"steering_and_velocity": ("steering_angle", "velocity")}

#: The numbers of a command that are a driver's.
VALUES: dict[type[Values], Callable[[Drive], Values]] = {
    Ackermann: lambda drive: Ackermann(drive.v_x, drive.steering_angle),
    Velocity: lambda drive: Velocity(drive.v_x, drive.v_y, drive.yaw_rate),
    Speed: lambda drive: Speed(drive.v_x),
    SteeringAngle: lambda drive: SteeringAngle(drive.steering_angle),
}


class CommandOutput:
    """Sends commands in the messages that a vehicle understands."""

    def __init__(self, graph: Graph, output: str, frame: str, now: Callable[[], int]) -> None:
        """Announce the topics.

        Args:
            graph: Where to publish.
            output: One of ``vds_gz.parameters.teleop.OUTPUTS``.
            frame: The frame_id of stamped messages.
            now: Time for stamps [ns].
        """
        self._now = now
        self._types = [command_type(name) for name in COMBINED.get(output, (output,))]
        offered = [one.topic for one in self._types]
        self._publishers = [graph.publisher(topic.name, topic.type, topic.qos) for topic in offered]
        self._messages = [graph.message(topic.type) for topic in offered]
        for message in self._messages:
            if hasattr(message, "header"):
                message.header.frame_id = frame

    @property
    def topic(self) -> str:
        """Where the commands go, in words."""
        return " and ".join(publisher.topic for publisher in self._publishers)

    @property
    def topics(self) -> list[str]:
        """Full names of the topics."""
        return [publisher.topic for publisher in self._publishers]

    def heard(self) -> bool:
        """Somebody listens."""
        return any(publisher.subscription_count() for publisher in self._publishers)

    def send(self, drive: Drive) -> None:
        """Send a command, stamped with the present."""
        now = self._now()
        for one, publisher, message in zip(self._types, self._publishers, self._messages, strict=True):
            one.encode(message, VALUES[one.values](drive), now)
            publisher.publish(message)

    def close(self) -> None:
        """Withdraw the topics; nothing can be sent any more."""
        for publisher in self._publishers:
            publisher.close()


class JoyOutput:
    """Publishes a joystick as the nodes of package ``joy`` do."""

    def __init__(self, graph: Graph, now: Callable[[], int]) -> None:
        """Announce the topic; ``now`` gives the time for stamps [ns]."""
        self._now = now
        self._publisher: Publisher = graph.publisher(JOY.name, JOY.type, JOY.qos)
        self._message = graph.message(JOY.type)
        self._message.header.frame_id = "joy"

    @property
    def topic(self) -> str:
        """The topic's full name."""
        return self._publisher.topic

    def send(self, axes: Sequence[float], buttons: Sequence[int]) -> None:
        """Send positions of axes [-1 to 1] and buttons [0 or 1]."""
        set_stamp(self._message.header.stamp, self._now())
        fill_joy(self._message, axes, buttons)
        self._publisher.publish(self._message)


def fill_joy(message: Any, axes: Sequence[float], buttons: Sequence[int]) -> None:
    """Write axes and buttons into a ``Joy`` of either graph."""
    message.axes = _like(message.axes, axes)
    message.buttons = _like(message.buttons, buttons)


def _like(before: Any, values: Sequence[float]) -> Any:
    """Numbers in the kind of sequence that the field holds: rclpy's is an array, that of the graph over DDS numpy's."""
    if isinstance(before, array):
        return array(before.typecode, values)
    return np.array(values, before.dtype)
