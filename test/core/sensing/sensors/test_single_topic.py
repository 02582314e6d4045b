"""Sensors with one topic: messages without a header too, and numbers that a message lacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from vds_gz import measuring
from vds_gz.core.errors import ArgumentError
from vds_gz.programs.interface.topics import Topic

pytestmark = pytest.mark.graph

PRESSED = measuring.Stream("pressed", "std_msgs/msg/Bool")


@dataclass(frozen=True, slots=True)
class Switch(measuring.ParameterGroup):
    """A contact switch."""

    type: str = measuring.kind("switch")
    rate: float = measuring.rate(10.0)


class SwitchOutput(measuring.SingleTopicOutput):
    """A switch that is pressed behind the origin, and its topic."""

    def __init__(self, setup: measuring.SensorSetup, number: str = "data") -> None:
        super().__init__(setup, setup.message(PRESSED), [number])

    def values(self, state: measuring.BodyState, scene: object) -> tuple[bool]:
        return (state.pose.position[0] < 0.0,)


SWITCH = measuring.SensorType(Switch, (PRESSED,), SwitchOutput)


def test_a_message_needs_no_header(probe: Any) -> None:
    switch = SwitchOutput(measuring.SensorSetup(probe.graph, "front", SWITCH, Switch()))
    topic = Topic("front/pressed", PRESSED.ros_type)
    probe.listen(topic)
    probe.until(lambda: switch.subscribed, "a subscription")
    for x in (1.0, -1.0):
        switch.measure([measuring.BodyState(0, measuring.Transform((x, 0.0, 0.0)))], None)
    probe.until(lambda: len(probe.received[topic.name]) == 2, "two messages")
    assert [message.data for message in probe.received[topic.name]] == [False, True]


def test_a_number_that_the_message_lacks_is_named(probe: Any) -> None:
    with pytest.raises(ArgumentError, match="the message has no number 'dat'; its numbers are data"):
        SwitchOutput(measuring.SensorSetup(probe.graph, "front", SWITCH, Switch()), "dat")
