"""launch/gazebo.launch.py with a real Gazebo."""

from __future__ import annotations

import os
import shutil

import pytest

launch_pytest = pytest.importorskip("launch_pytest", reason="needs ROS 2 (launch_pytest)")

from geometry_msgs.msg import Twist  # noqa: E402
from helpers.launches import launching  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402

from vds_gz.core.plant.gazebo.links.bindings import bindings_fault  # noqa: E402
from vds_gz.programs.launching.actions import installed  # noqa: E402

pytestmark = [
    pytest.mark.ros,
    pytest.mark.gazebo,
    pytest.mark.skipif(shutil.which("gz") is None or bool(bindings_fault()), reason="no Gazebo with Python bindings"),
]


def need(*packages):
    """Skips where one of these ROS packages is not installed."""
    missing = [package for package in packages if not installed(package)]
    return pytest.mark.skipif(bool(missing), reason=f"the ROS packages {', '.join(missing)} are not installed")


@launch_pytest.fixture(
    params=[
        "transport",
        "system",
        pytest.param("bridge", marks=need("ros_gz_bridge")),
        pytest.param("ros2_control", marks=need("ros_gz_bridge", "gz_ros2_control", "controller_manager")),
    ]
)
def robot(request, domain, exits, monkeypatch):
    monkeypatch.setenv("GZ_PARTITION", f"vds_gz_launch_{os.getpid()}_{request.param}")
    monkeypatch.setenv("GZ_IP", "127.0.0.1")
    return launching("gazebo", exits, headless="true", preset="indoor_robot", x="2.0", link=request.param)


@pytest.mark.launch(fixture=robot)
def test_a_robot_drives_in_gazebo(robot, request, ears, exits):
    listener = ears(sim_time=True)
    assert listener.hear(Clock, "/clock").clock.sec < 1000
    assert listener.hear(Odometry, "/ground_truth").pose.pose.position.x == pytest.approx(2.0, abs=0.01)
    command = Twist()
    command.linear.x = 0.5
    listener.say(
        command,
        "/twist_reference",
        lambda: listener.hear(Odometry, "/ground_truth").pose.pose.position.x > 2.5,
        "driving half a metre",
    )
    listener.transform("map", "base_link")
    yield
    if request.node.callspec.params["robot"] == "ros2_control":
        exits.codes.pop("gazebo")  # gz_ros2_control lets the server crash when it ends
    assert all(code == 0 for codes in exits.codes.values() for code in codes), dict(exits.codes)
