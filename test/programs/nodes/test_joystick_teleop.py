"""The node joystick_teleop in its own process; the test is the joystick, and sim_node the vehicle."""

from __future__ import annotations

import signal
import time
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from vds_gz.core.ros.messages.fields import set_stamp, stamp_ns
from vds_gz.core.share import share
from vds_gz.programs.interface import topics
from vds_gz.programs.nodes.joystick_teleop import JOY, main

pytestmark = pytest.mark.graph

MODULE = "vds_gz.programs.nodes.joystick_teleop"
XBOX = str(share("config", "joystick", "xbox.yaml"))
#: A joystick is not lost when the test is kept waiting.
PATIENT = ("-p", "joy_timeout:=1000.0")
#: The enabling and the turbo button, the axes of steering and speed of an Xbox controller.
ENABLE, TURBO, STEERING, SPEED = 6, 7, 0, 3


def like(before: Any, values: list[Any]) -> Any:
    """Numbers in a sequence of the field's type: an array in rclpy, a numpy array in the graph over DDS."""
    return array(before.typecode, values) if isinstance(before, array) else np.array(values, before.dtype)


class Stick:
    """Sends a joystick's messages 20 times a second, while the probe is served."""

    def __init__(self, probe: Any) -> None:
        self._probe = probe
        self._publisher = probe.until_heard(JOY)
        self._message = probe.graph.message(JOY.type)

    def say(self, axes: list[float], buttons: list[int]) -> None:
        self._message.axes = like(self._message.axes, axes)
        self._message.buttons = like(self._message.buttons, buttons)
        self._publisher.publish(self._message)

    def hold(
        self,
        until: Callable[[], Any],
        *,
        speed: float = 0.0,
        steering: float = 0.0,
        buttons: tuple[int, ...] = (),
        what: str = "what the joystick wants",
    ) -> None:
        axes = [0.0] * 8
        axes[STEERING], axes[SPEED] = steering, speed
        pressed = [int(i in buttons) for i in range(15)]

        def said() -> bool:
            self.say(axes, pressed)
            self._probe.serve(0.05)
            return bool(until())

        self._probe.until(said, what)


@pytest.fixture
def teleop(run, probe):
    """The node with an Xbox layout, and a stick for it."""

    def start_teleop(*arguments: str) -> tuple[Any, Stick]:
        node = run(MODULE, "--ros-args", "--params-file", XBOX, *arguments)
        return node, Stick(probe)

    return start_teleop


def speeds(probe: Any) -> list[float]:
    return [message.drive.speed for message in probe.received["ackermann_cmd"]]


def assert_stopped(probe: Any) -> None:
    """The last commands are a few stop commands, and then there is silence."""
    probe.until(lambda: speeds(probe)[-5:] == [0.0] * 5, "five commands to stop")
    probe.until_quiet(topics.ACKERMANN_CMD)
    assert speeds(probe)[-1] == 0.0
    assert probe.received["ackermann_cmd"][-1].drive.steering_angle == 0.0


def test_the_vehicle_follows_the_sticks_and_stops_when_the_button_is_released(start, teleop, probe):
    start("-p", "model_params.bicycle.drive_actuator.max_acceleration:=4.0")
    node, stick = teleop("-p", "scale_linear.x:=0.8", *PATIENT)
    probe.listen(topics.TWIST_ACTUAL, topics.ACKERMANN_CMD)
    twist = probe.received["twist_actual"]
    stick.hold(
        lambda: twist and twist[-1].twist.linear.x > 0.75 and twist[-1].twist.angular.z > 0.1,
        speed=1.0,
        steering=1.0,
        buttons=(ENABLE,),
        what="driving to the left",
    )
    command = probe.received["ackermann_cmd"][-1]
    assert command.drive.speed == pytest.approx(0.8)
    assert command.drive.steering_angle == pytest.approx(0.5)
    assert command.header.frame_id == "base_link"
    assert abs(stamp_ns(command.header.stamp) - time.time_ns()) < 5e9
    stick.hold(lambda: speeds(probe)[-1] == 0.0, speed=1.0, what="a stop")
    assert_stopped(probe)
    probe.until(lambda: abs(twist[-1].twist.linear.x) < 0.05, "standstill")
    assert node.stop() == 0


def test_a_held_stick_sends_commands_at_no_more_than_the_publish_rate(teleop, probe):
    _, stick = teleop("-p", "publish_rate:=100.0", *PATIENT, "-p", "use_sim_time:=false")
    probe.listen(topics.ACKERMANN_CMD)
    stick.hold(lambda: speeds(probe), speed=1.0, buttons=(TURBO,))
    before = len(speeds(probe))
    probe.until(lambda: len(speeds(probe)) >= before + 100, "100 commands without a message from the stick")
    stamps = [stamp_ns(message.header.stamp) * 1e-9 for message in probe.received["ackermann_cmd"]]
    # A command may be late and the next one on time, which shortens the whole by at most one period.
    assert stamps[-1] - stamps[0] >= (len(stamps) - 2) / 100.0 - 0.001
    assert set(speeds(probe)) == {2.0}


def test_a_lost_joystick_stops_the_vehicle_and_may_come_back(teleop, probe):
    node, stick = teleop("-p", "joy_timeout:=0.3")
    probe.listen(topics.ACKERMANN_CMD)
    stick.hold(lambda: speeds(probe) and speeds(probe)[-1] > 0.0, speed=0.5, buttons=(ENABLE,))
    assert_stopped(probe)
    stick.hold(lambda: speeds(probe)[-1] > 0.0, speed=0.5, buttons=(ENABLE,))
    assert node.stop() == 0
    assert "the joystick is lost: no message has come for" in node.output
    assert "the joystick is back" in node.output


def test_a_message_with_too_few_axes_stops_the_vehicle(teleop, probe):
    node, stick = teleop(*PATIENT)
    probe.listen(topics.ACKERMANN_CMD)
    stick.hold(lambda: speeds(probe), speed=1.0, buttons=(ENABLE,))
    stick.say([0.0, 1.0], [1] * 15)
    assert_stopped(probe)
    assert node.stop() == 0
    reason = "it has 2 axes, but axis_linear.x is 3, so 4 are needed"
    assert f"message on 'joy' refused: {reason}. The vehicle is stopped" in node.output


@pytest.mark.parametrize(
    ("output", "wanted", "read"),
    [
        ("twist", (topics.TWIST_REFERENCE,), lambda m: (m.linear.x, m.angular.z)),
        ("twist_stamped", (topics.TWIST_STAMPED_REFERENCE,), lambda m: (m.twist.linear.x, m.twist.angular.z)),
        ("steering_and_velocity", (topics.VELOCITY, topics.STEERING_ANGLE), lambda m: (m.data,)),
    ],
)
def test_every_output(teleop, probe, output, wanted, read):
    _, stick = teleop("-p", f"output:={output}", *PATIENT, "-p", "inverted_reverse:=true")
    probe.listen(*wanted)
    stick.hold(lambda: all(probe.received[topic.name] for topic in wanted), speed=-1.0, steering=1.0, buttons=(ENABLE,))
    values = [value for topic in wanted for value in read(probe.received[topic.name][-1])]
    assert values == pytest.approx([-0.5, 0.5] if len(wanted) == 2 else [-0.5, -1.0])


def test_the_last_command_of_the_node_is_to_stop(teleop, probe):
    node, stick = teleop()
    probe.listen(topics.ACKERMANN_CMD)
    stick.hold(lambda: speeds(probe), speed=1.0, buttons=(ENABLE,))
    assert node.stop(signal.SIGTERM) == 0
    probe.until(lambda: speeds(probe)[-1] == 0.0, "a command to stop")


def test_stamps_are_of_the_clock_that_is_followed(teleop, probe):
    _, stick = teleop("-p", "use_sim_time:=true")
    probe.listen(topics.ACKERMANN_CMD)
    commands = probe.received["ackermann_cmd"]

    def stamped() -> bool:
        probe.send(topics.CLOCK, lambda message: set_stamp(message.clock, 100 * 10**9))
        return bool(commands) and stamp_ns(commands[-1].header.stamp) == 100 * 10**9

    stick.hold(stamped, speed=1.0, buttons=(ENABLE,), what="a command of the time that was given")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "output:=pedals"], "parameter 'output' is 'pedals' (-p); it must be one of ackermann, twist"),
        (["-p", "axis_linear.z:=1"], "unknown parameter 'axis_linear.z' (-p); the nearest valid name is 'axis_linear"),
        (["-p", "dead_zone:=1.5"], "parameter 'dead_zone' is 1.5 (-p); it must be a finite number, at least 0"),
        (["-p", "enable_button:=-1"], "parameter 'enable_button' is -1; it must be a button, 0 or more"),
        (["--params-file", "nowhere.yaml"], "parameter file 'nowhere.yaml' does not exist"),
    ],
)
def test_wrong_use_is_reported_in_one_line(capsys, arguments, message):
    assert main(["--ros-args", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"joystick_teleop: {message}")
    assert said.count("\n") == 1
