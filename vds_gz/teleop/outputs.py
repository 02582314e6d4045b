"""Commands and joysticks as messages. They are made once and filled anew."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vds_gz.interface import topics
from vds_gz.interface.conversions import set_stamp
from vds_gz.ros.graph import Graph, Publisher
from vds_gz.teleop.drive import Drive

JOY = topics.Topic("joy", "sensor_msgs/msg/Joy")

#: Topics of each output, all that a command goes to.
TOPICS: dict[str, tuple[topics.Topic, ...]] = {
    "ackermann": (topics.ACKERMANN_CMD,),
    "twist": (topics.TWIST_REFERENCE,),
    "twist_stamped": (topics.TWIST_STAMPED_REFERENCE,),
    "steering_and_velocity": (topics.STEERING_ANGLE, topics.VELOCITY),
}


class CommandOutput:
    """Sends commands in the messages that a vehicle understands."""

    def __init__(self, graph: Graph, output: str, frame: str, now: Callable[[], int]) -> None:
        """Announce the topics.

        Args:
            graph: Where to publish.
            output: One of ``TOPICS``.
            frame: The frame_id of stamped messages.
            now: ROS time [ns].
        """
        self._now = now
        self._publishers = [graph.publisher(topic.name, topic.type, topic.qos) for topic in TOPICS[output]]
        self._messages = [graph.message(topic.type) for topic in TOPICS[output]]
        self._fill: Callable[[Drive], None] = getattr(self, f"_fill_{output}")
        self._stamped = hasattr(self._messages[0], "header")
        if self._stamped:
            self._messages[0].header.frame_id = frame

    @property
    def topic(self) -> str:
        """Where the commands go, in words."""
        return " and ".join(publisher.topic for publisher in self._publishers)

    def heard(self) -> bool:
        """Somebody listens."""
        return any(publisher.subscription_count() for publisher in self._publishers)

    def send(self, drive: Drive) -> None:
        """Send a command, stamped with the present."""
        self._fill(drive)
        if self._stamped:
            set_stamp(self._messages[0].header.stamp, self._now())
        for publisher, message in zip(self._publishers, self._messages, strict=True):
            publisher.publish(message)

    def _fill_ackermann(self, drive: Drive) -> None:
        message = self._messages[0].drive
        message.speed, message.steering_angle = drive.v_x, drive.steering_angle

    def _fill_twist(self, drive: Drive) -> None:
        _set_twist(self._messages[0], drive)

    def _fill_twist_stamped(self, drive: Drive) -> None:
        _set_twist(self._messages[0].twist, drive)

    def _fill_steering_and_velocity(self, drive: Drive) -> None:
        self._messages[0].data, self._messages[1].data = drive.steering_angle, drive.v_x


class JoyOutput:
    """Publishes a joystick as the nodes of package ``joy`` do."""

    def __init__(self, graph: Graph, now: Callable[[], int]) -> None:
        """Announce the topic; ``now`` gives ROS time [ns]."""
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


def _set_twist(message: Any, drive: Drive) -> None:
    message.linear.x, message.linear.y, message.angular.z = drive.v_x, drive.v_y, drive.yaw_rate
