"""The line of a run shows the newest messages."""

import math
import time

import pytest

from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.programs.interface import topics
from vds_gz.tools.study.session import RunMonitor, TrackedQuantity

TYPES = open_types()


def heard() -> RunMonitor:
    """A car that turns left at (1, 2)."""
    monitor = RunMonitor()
    for topic, fill in ((topics.GROUND_TRUTH, truth), (topics.ACKERMANN_CMD, command), (topics.DIAGNOSTICS, status)):
        message = TYPES.new(topic.type)
        fill(message)
        monitor.take(topic.name, bytes(TYPES.codec(topic.type).encode(message)), time.monotonic_ns())
    for topic, speed, angle in ((topics.ACTUATOR_REFERENCES, 1.5, 0.4), (topics.ACTUATOR_STATES, 1.2, 0.3)):
        message = TYPES.new(topic.type)
        message.name = ["drive", "steering"]
        message.position, message.velocity = (TYPES.array("float64", pair) for pair in ((0.0, angle), (speed, 0.0)))
        monitor.take(topic.name, bytes(TYPES.codec(topic.type).encode(message)), time.monotonic_ns())
    monitor.update()
    return monitor


def truth(message):
    message.header.stamp.sec = 5
    message.pose.pose.position.x, message.pose.pose.position.y = 1.0, 2.0
    message.pose.pose.orientation.z = message.pose.pose.orientation.w = math.sqrt(0.5)
    message.twist.twist.linear.x, message.twist.twist.angular.z = 1.2, 0.25


def command(message):
    message.drive.speed, message.drive.steering_angle = 1.5, 0.4


def status(message):
    one = TYPES.new("diagnostic_msgs/msg/DiagnosticStatus")
    one.message = "driving"
    pair = TYPES.new("diagnostic_msgs/msg/KeyValue")
    pair.key, pair.value = "refused messages", "7"
    one.values = [pair]
    message.status = [one]


def test_the_newest_messages_are_shown():
    monitor = heard()
    assert monitor.pairs() == [
        TrackedQuantity("speed", "m/s", 1.5, 1.2),
        TrackedQuantity("yaw rate", "rad/s", None, 0.25),
        TrackedQuantity("drive", "m/s", 1.5, 1.2),
        TrackedQuantity("steering", "rad", 0.4, 0.3),
    ]
    pose = monitor.pose()
    assert (pose.x, pose.y) == (1.0, 2.0)
    assert pose.heading == pytest.approx(math.pi / 2)
    assert monitor.refused() == 7


def test_a_value_that_the_newest_diagnostics_lack_is_unknown():
    monitor = heard()
    monitor.take(
        topics.DIAGNOSTICS.name,
        bytes(TYPES.codec(topics.DIAGNOSTICS.type).encode(TYPES.new(topics.DIAGNOSTICS.type))),
        0,
    )
    monitor.update()
    assert monitor.refused() is None
    assert "refused" not in monitor.line()


def test_the_line_shows_motion_and_pose(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monitor = heard()
    monitor.show()
    monitor.show()
    expected = "   0.0 s  speed  1.50 ->  1.20  steering  0.40 ->  0.30  7 refused  at 1.0, 2.0\n"
    assert capsys.readouterr().out == expected


def test_nothing_is_shown_before_the_vehicle_is_heard(capsys):
    RunMonitor().show()
    assert capsys.readouterr().out == ""


def test_what_does_not_fit_the_terminal_is_left_out(monkeypatch):
    """An omni vehicle has one speed more; its command has a yaw rate and no steering angle."""
    monitor = heard()
    message = TYPES.new(topics.TWIST_REFERENCE.type)
    message.linear.x, message.linear.y, message.angular.z = -1.5, 0.5, 0.25
    monitor.take(topics.TWIST_REFERENCE.name, bytes(TYPES.codec(topics.TWIST_REFERENCE.type).encode(message)), 0)
    monitor.update()
    motion = "   0.0 s  speed -1.50 ->  1.20  lateral  0.50 ->  0.00  yaw rate  0.25 ->  0.25"
    for columns, line in ((80, motion), (120, f"{motion}  7 refused  at 1.0, 2.0"), (40, motion[:32])):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert monitor.line() == line.rstrip()
