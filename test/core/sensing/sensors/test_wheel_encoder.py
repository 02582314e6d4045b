"""Wheel encoders: whole ticks, also of a node in another process that drives, is paused and is reset."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from helpers.gazebo import Driver, driver
from helpers.processes import Program
from helpers.sensors import Heard
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.geometry import Transform
from vds_gz.core.ros.messages.fields import stamp_ns
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.sensors.wheel_encoder import STREAM, WheelEncoder, ticks
from vds_gz.core.vehicle.vehicle_model import Joint, JointStates
from vds_gz.programs.interface import topics

pytestmark = pytest.mark.graph

__all__ = ["driver"]

TOPIC = topics.Topic(STREAM.topic("wheels"), STREAM.ros_type)


def quantised(angle: float, resolution: float) -> float:
    return math.floor(angle / resolution) * resolution


@given(st.floats(-1e4, 1e4), st.integers(1, 100_000))
def test_a_count_is_the_whole_part_of_the_angle_in_ticks(angle: float, per_revolution: int) -> None:
    resolution = WheelEncoder(ticks_per_revolution=per_revolution).resolution
    assert resolution == 2.0 * math.pi / per_revolution
    count = ticks(angle, resolution)
    assert count * resolution <= angle + 1e-9
    assert (count + 1) * resolution > angle - 1e-9
    assert isinstance(count, int)


def test_a_turn_has_as_many_ticks_as_its_parameter_says_backward_too() -> None:
    resolution = WheelEncoder(ticks_per_revolution=4).resolution
    angles = (0.0, 1.5, 1.6, 3.2, 6.2, 6.3, -0.1, -1.6)
    assert [ticks(angle, resolution) for angle in angles] == [0, 0, 1, 2, 3, 4, -1, -2]


def test_wheels_are_measured_and_hinges_are_not(probe: Any) -> None:
    joints = (Joint("hinge", "steering"), Joint("left", "wheel"), Joint("right", "wheel"))
    sensor = Heard(probe, WheelEncoder(ticks_per_revolution=100), name="wheels", joints=joints)
    states = [BodyState(3_000_000_000, Transform(), joints=JointStates((9.0, 7.0, -0.05), (0.0, 1.0, -1.0)))]
    (message,) = sensor.measured(states, None)["wheel_angles"]
    resolution = 2.0 * math.pi / 100
    assert list(message.name) == ["left", "right"]
    assert list(message.position) == [quantised(7.0, resolution), -resolution]
    assert (stamp_ns(message.header.stamp), message.header.frame_id) == (3_000_000_000, "")
    assert [len(message.velocity), len(message.effort)] == [0, 0]


def test_a_body_at_rest_keeps_the_angles_of_its_joints() -> None:
    state = BodyState(0, Transform(), (1.0, 0.0, 0.0), joints=JointStates((1.0, 2.0), (3.0, 4.0)))
    assert state.at_rest() == BodyState(0, Transform(), joints=JointStates((1.0, 2.0), [0.0, 0.0]))


def test_a_node_measures_while_it_drives_is_paused_and_is_reset(start: Callable[..., Program], driver: Driver) -> None:
    """At equal stamps the encoders have the angles of ``joint_states``, quantised, to the bit."""
    start("-p", "model:=differential", "-p", "sensors.wheels.type:=wheel_encoder")
    probe = driver.probe
    probe.listen(TOPIC, topics.JOINT_STATES)
    counted, joints = probe.received[TOPIC.name], probe.received[topics.JOINT_STATES.name]
    resolution = WheelEncoder().resolution
    driver.drive(1.0, 1.5, yaw_rate=0.3)
    true = {stamp_ns(message.header.stamp): list(message.position) for message in joints}
    pairs = [(message, true.get(stamp_ns(message.header.stamp))) for message in counted]
    pairs = [(list(message.position), angles) for message, angles in pairs if angles is not None]
    assert len(pairs) > 20
    for measured, angles in pairs:
        assert measured == [quantised(angle, resolution) for angle in angles]
    assert min(pairs[-1][0]) > 1.0

    assert driver.call(topics.PAUSE, data=True).success
    held = list(probe.next(TOPIC).position)
    begin = len(counted)
    probe.until(lambda: len(counted) > begin + 10, "measurements of a paused vehicle")
    assert [list(message.position) for message in counted[begin:]] == [held] * (len(counted) - begin)

    assert driver.call(topics.PAUSE, data=False).success
    assert driver.call(topics.RESET).success
    assert list(probe.next(TOPIC, len(counted) + 2).position) == [0.0, 0.0]
