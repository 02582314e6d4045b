"""The live view: what it draws is what was heard."""

import math
import time

import pytest

from vds_gz.geometry import Pose
from vds_gz.interface import topics
from vds_gz.ros.messages.factory import open_types
from vds_gz.study.session.newest import Pair, Telemetry
from vds_gz.study.session.terminal_view import BAR, LineView, PictureView, bar, chart

TYPES = open_types()


def heard() -> Telemetry:
    """A car that turns left at (1, 2)."""
    telemetry = Telemetry()
    for topic, fill in ((topics.GROUND_TRUTH, truth), (topics.ACKERMANN_CMD, command), (topics.DIAGNOSTICS, status)):
        message = TYPES.new(topic.type)
        fill(message)
        telemetry.take(topic.name, bytes(TYPES.codec(topic.type).encode(message)), time.monotonic_ns())
    for topic, speed, angle in ((topics.ACTUATOR_REFERENCES, 1.5, 0.4), (topics.ACTUATOR_STATES, 1.2, 0.3)):
        message = TYPES.new(topic.type)
        message.name = ["drive", "steering"]
        message.position, message.velocity = (TYPES.array("float64", pair) for pair in ((0.0, angle), (speed, 0.0)))
        telemetry.take(topic.name, bytes(TYPES.codec(topic.type).encode(message)), time.monotonic_ns())
    telemetry.update()
    return telemetry


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


def test_telemetry():
    telemetry = heard()
    assert telemetry.pairs() == [
        Pair("speed", "m/s", 1.5, 1.2),
        Pair("yaw rate", "rad/s", None, 0.25),
        Pair("drive", "m/s", 1.5, 1.2),
        Pair("steering", "rad", 0.4, 0.3),
    ]
    assert (telemetry.pose.x, telemetry.pose.y) == (1.0, 2.0)
    assert telemetry.pose.heading == pytest.approx(math.pi / 2)
    assert (telemetry.refused, telemetry.verdict) == (7, "driving")


def test_the_picture():
    rich_console = pytest.importorskip("rich.console")
    view = PictureView(heard(), "a car")
    view.close()
    console = rich_console.Console(width=140, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(view.picture())
    text = console.export_text()
    for part in (
        "a car",
        "driving",
        "7 refused",
        "1.50 m/s",
        "1.20",
        "steering",
        "0.40 rad",
        "x 1.00 m",
        "90 deg",
        "↑",
    ):
        assert part in text


def test_the_lines(capsys):
    view = LineView(heard())
    view._next = 0.0
    view.refresh()
    view.refresh()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    for part in ("speed   1.50 ->   1.20", "steering   0.40 ->   0.30", "at (1.00, 2.00), 90 deg"):
        assert part in lines[0]


@pytest.mark.parametrize(
    ("value", "left", "right"),
    [(None, 0, 0), (0.0, 0, 0), (2.0, 0, BAR // 2), (-2.0, BAR // 2, 0), (1.0, 0, BAR // 4), (99.0, 0, BAR // 2)],
)
def test_bars(value, left, right):
    text = bar(value, 2.0)
    assert len(text) == BAR
    assert (text.split("│")[0].count("█"), text.split("│")[1].count("█")) == (left, right)


def test_the_chart_fits_whatever_the_path():
    for path in ([], [(0.0, 0.0), (1e4, -3.0)], [(0.0, float(i)) for i in range(100)]):
        lines, width = chart(path, Pose(1.0, 1.0, -3.0))
        assert len({len(line) for line in lines}) == 1
        assert sum(line.count("←") + line.count("↙") for line in lines) == 1
        assert width >= 4.0
