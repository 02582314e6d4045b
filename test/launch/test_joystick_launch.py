"""launch/joystick.launch.py on the real graph; the test plays the driver of package joy."""

from __future__ import annotations

import subprocess

import pytest

launch_pytest = pytest.importorskip("launch_pytest", reason="needs ROS 2 (launch_pytest)")
pytest.importorskip("rclpy", reason="needs ROS 2 (rclpy)")

from ackermann_msgs.msg import AckermannDriveStamped  # noqa: E402
from helpers.launches import launching  # noqa: E402
from sensor_msgs.msg import Joy  # noqa: E402

from vds_gz.programs.launching.actions import installed  # noqa: E402

pytestmark = pytest.mark.ros

COMMAND = ["ros2", "launch", "vds_gz", "joystick.launch.py"]


@launch_pytest.fixture
def teleop(domain, exits):
    return launching("joystick", exits, driver="none", controller="xbox", namespace="car")


@pytest.mark.launch(fixture=teleop)
def test_the_teleop_makes_commands_of_a_joystick(teleop, ears, exits):
    listener = ears()
    listener.until(lambda: listener.node.count_subscribers("/car/joy"), "a subscription of /car/joy")
    joy = Joy(axes=[0.0] * 8, buttons=[0] * 11)
    joy.axes[3], joy.buttons[6] = 1.0, 1  # as config/joystick/xbox.yaml numbers them
    received = listener.received["/car/ackermann_cmd"]
    listener.node.create_subscription(AckermannDriveStamped, "/car/ackermann_cmd", received.append, 10)
    listener.say(joy, "/car/joy", lambda: received and received[-1].drive.speed == 1.0, "a command")
    yield
    exits.assert_clean("joystick_teleop")


def drivers() -> list[object]:
    return [
        pytest.param(name, marks=[] if installed("joy") else pytest.mark.skip(reason="needs the ROS package joy"))
        for name in ("joy_node", "game_controller_node")
    ]


@launch_pytest.fixture(params=drivers())
def driven(request, domain, exits):
    return launching("joystick", exits, driver=request.param, controller="generic", namespace="car", device_id="1")


@pytest.mark.launch(fixture=driven)
def test_the_drivers_of_package_joy_speak_to_the_teleop(driven, request, ears, exits):
    listener = ears()
    driver = request.node.callspec.params["driven"]
    listener.until(lambda: listener.node.count_publishers("/car/joy"), f"{driver}, which publishes joy")
    listener.until(lambda: listener.node.count_subscribers("/car/joy"), "a subscription of /car/joy")
    yield
    exits.assert_clean(driver, "joystick_teleop")


def test_a_missing_driver_is_named(domain):
    if installed("joy"):
        pytest.skip("package joy is installed")
    done = subprocess.run(COMMAND, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "driver:=joy_node needs the ROS package joy: sudo apt install ros-" in done.stdout + done.stderr
