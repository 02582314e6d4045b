"""launch/kinematic.launch.py on the real graph."""

from __future__ import annotations

import math
import subprocess

import pytest

launch_pytest = pytest.importorskip("launch_pytest", reason="needs ROS 2 (launch_pytest)")
rclpy = pytest.importorskip("rclpy", reason="needs ROS 2 (rclpy)")

from ackermann_msgs.msg import AckermannDriveStamped  # noqa: E402
from geometry_msgs.msg import Twist  # noqa: E402
from helpers.launches import launching, links  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from vds_gz.core.errors import ArgumentError  # noqa: E402
from vds_gz.core.share import share  # noqa: E402
from vds_gz.programs.interface import topics  # noqa: E402
from vds_gz.programs.launching.vehicle_launch import LaunchedVehicle  # noqa: E402

pytestmark = pytest.mark.ros

OUTPUTS = (
    topics.TWIST_ACTUAL,
    topics.ODOM,
    topics.GROUND_TRUTH,
    topics.JOINT_STATES,
    topics.ROBOT_DESCRIPTION,
    topics.ACTUATOR_REFERENCES,
    topics.ACTUATOR_STATES,
)


@launch_pytest.fixture
def car(domain, exits):
    return launching("kinematic", exits)


@pytest.mark.launch(fixture=car)
def test_a_car_is_on_the_graph_and_drives(car, ears, exits):
    listener = ears()
    description = listener.hear(String, "/robot_description", latched=True).data
    for topic in OUTPUTS:
        assert listener.topics()[f"/{topic.name}"] == [topic.type]
    for link in links(description):
        listener.transform("map", link)

    command = AckermannDriveStamped()
    command.drive.speed, command.drive.steering_angle = 3.0, 0.2
    driven = lambda: listener.hear(Odometry, "/odom").pose.pose.position.x > 1.0  # noqa: E731
    listener.say(command, "/ackermann_cmd", driven, "driving a metre")
    assert listener.transform("odom", "base_link").translation.x > 1.0
    assert listener.transform("base_link", "steering_left_knuckle").rotation.z > math.sin(0.05)
    yield
    exits.assert_clean("sim_node", "robot_state_publisher")


def test_a_frame_that_the_description_lacks_needs_another_description():
    vehicle = LaunchedVehicle(str(share("config", "indoor_robot.yaml")), overrides={"base_frame": "base_footprint"})
    with pytest.raises(ArgumentError, match=r"'base_frame' is 'base_footprint', but .* begins at 'base_link'"):
        vehicle.actions()
    assert [action.node_executable for action in vehicle.actions(robot_state_publisher=False)] == ["sim_node"]


@launch_pytest.fixture
def reference_clock(domain, exits):
    return launching("kinematic", exits, preset="indoor_robot", reference_clock="true", speed_factor="3.0")


@pytest.mark.launch(fixture=reference_clock)
def test_nodes_follow_the_clock_of_the_vehicle(reference_clock, ears, exits):
    listener, watch = ears(sim_time=True), ears()
    now = lambda: listener.node.get_clock().now().nanoseconds * 1e-9  # noqa: E731
    listener.until(lambda: now() > 0.0, "the first message on /clock")
    listener.transform("map", "wheel_left")
    begin, real = now(), watch.node.get_clock().now()
    listener.until(lambda: now() > begin + 6.0, "six simulated seconds")
    took = (watch.node.get_clock().now() - real).nanoseconds * 1e-9
    assert took > 1.0  # two at the pace of three; a busy machine may take longer

    command = Twist()
    command.linear.x = 0.5
    moving = lambda: listener.hear(Odometry, "/odom").twist.twist.linear.x > 0.4  # noqa: E731
    listener.say(command, "/twist_reference", moving, "moving")
    wheel = listener.buffer.lookup_transform("map", "wheel_left", rclpy.time.Time())
    assert now() - wheel.header.stamp.sec - wheel.header.stamp.nanosec * 1e-9 < 1.0
    yield
    exits.assert_clean("sim_node", "robot_state_publisher")


@launch_pytest.fixture
def named(domain, exits):
    return launching(
        "kinematic", exits, preset="forklift", namespace="yard/truck", tf="tf", simulate_localization="true"
    )


@pytest.mark.launch(fixture=named)
def test_a_namespace_holds_everything_and_the_preset_still_counts(named, ears, exits):
    listener = ears(tf="/yard/truck/tf")
    description = listener.hear(String, "/yard/truck/robot_description", latched=True).data
    for link in links(description):
        listener.transform("map", link)
    for topic in OUTPUTS:
        assert listener.topics()[f"/yard/truck/{topic.name}"] == [topic.type]
    assert listener.node.count_publishers("/tf") == 0
    # A forklift steers with its one wheel behind.
    assert listener.transform("base_link", "steered_wheel").translation.x == pytest.approx(-2.0)
    yield
    exits.assert_clean("sim_node", "robot_state_publisher")


@launch_pytest.fixture
def placed(domain, exits):
    return launching("kinematic", exits, x="3.0", y="-1.0", yaw="1.5", robot_state_publisher="false", frame_prefix="a/")


@pytest.mark.launch(fixture=placed)
def test_a_vehicle_starts_where_it_is_put(placed, ears, exits):
    listener = ears()
    there = lambda: listener.hear(Odometry, "/ground_truth").pose.pose.position.x == pytest.approx(3.0)  # noqa: E731
    listener.until(there, "standing at x = 3 m")
    pose = listener.transform("a/map", "a/base_link")
    assert pose.translation.y == pytest.approx(-1.0)
    assert 2.0 * math.atan2(pose.rotation.z, pose.rotation.w) == pytest.approx(1.5)
    listener.until(lambda: exits.codes["initialpose"], "the end of placing")
    yield
    exits.assert_clean("sim_node", "initialpose")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("speed_factor:=fast",), "launch argument 'speed_factor' is 'fast'; it must be a finite number"),
        (("params_file:=/nowhere.yaml",), "parameter file '/nowhere.yaml' does not exist"),
        (("namespace:=a-b",), "namespace '/a-b' (launch argument 'namespace') must start with '/'"),
        (("use_sim_time:=true", "reference_clock:=true"), "'use_sim_time' and 'be_reference_clock' are both true"),
        (("rviz:=true", "frame_prefix:=a/"), "launch with rviz:=false"),
    ],
)
def test_invalid_arguments_are_refused_before_anything_starts(domain, arguments, message):
    done = subprocess.run(
        ["ros2", "launch", "vds_gz", "kinematic.launch.py", *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert message in done.stderr + done.stdout
    assert "process started" not in done.stderr + done.stdout
