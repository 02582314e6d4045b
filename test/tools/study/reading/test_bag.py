"""Bags: topics that give channels, and topics that must not."""

import math

import pytest
from helpers.bag_files import write_bag
from helpers.guest import needs_autoware

from vds_gz.cli import main
from vds_gz.core.ros.messages.fields import set_stamp
from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.core.vehicle.command import ACKERMANN, DRIVE, REVERSE
from vds_gz.programs.interface.commands import Ackermann, command_type
from vds_gz.tools.study.reading.bag import read_signals

ODOMETRY, TWIST, JOINTS, IMU = (
    "nav_msgs/msg/Odometry",
    "geometry_msgs/msg/TwistStamped",
    "sensor_msgs/msg/JointState",
    "sensor_msgs/msg/Imu",
)


def instant(k):
    return 1_000_000_000_000 + k * 20_000_000


def stamped(kind, k):
    message = open_types().new(kind)
    set_stamp(message.header.stamp, instant(k))
    return message


def odometry(k, speed=0.0):
    message = stamped(ODOMETRY, k)
    message.twist.twist.linear.x = 0.1 * k + speed
    message.pose.pose.position.x, message.pose.pose.position.y = 1.0 * k, 2.0
    message.pose.pose.orientation.z, message.pose.pose.orientation.w = math.sin(0.2 * k), math.cos(0.2 * k)
    return message


def twist(k, kind=TWIST):
    message = stamped(kind, k)
    message.twist.linear.x = 0.1 * k
    return message


def joints(k, names, positions, velocities=()):
    message = stamped(JOINTS, k)
    message.name = list(names)
    message.position = open_types().array("float64", positions)
    message.velocity = open_types().array("float64", velocities)
    return message


def command(name, values, k):
    kind = command_type(name)
    message = open_types().new(kind.topic.type)
    kind.encode(message, values, instant(k))
    return message


ACKERMANN_TYPE = command_type("ackermann").topic.type


def write(path, topics, makers, count=30):
    write_bag(path, "mcap", topics, ((t, instant(k), make(k)) for k in range(count) for t, make in makers.items()))
    return path


@pytest.mark.parametrize(("variance", "channels"), [(0.01, ["imu yaw_rate"]), (0.0, ["imu yaw_rate"]), (-1.0, [])])
def test_an_imu_may_say_that_it_measures_no_yaw_rate(tmp_path, variance: float, channels: list[str]):
    def imu(k):
        message = stamped(IMU, k)
        message.angular_velocity.z, message.angular_velocity_covariance[0] = 0.1 * k, variance
        return message

    topics = {"/ackermann_cmd": ACKERMANN_TYPE, "/odom": ODOMETRY, "/imu": IMU}
    makers = {"/ackermann_cmd": lambda k: command("ackermann", Ackermann(1.0, 0.2, 0.0, 0.5), k)}
    signals = read_signals(write(tmp_path / "bag", topics, {**makers, "/odom": odometry, "/imu": imu}))
    assert [channel.name for channel in signals.channels if channel.name.startswith("imu")] == channels


def test_every_measurement_is_a_channel_and_commands_are_not(tmp_path):
    names = "steering_left", "steering_right", "steered_wheel_left_joint", "fixed_wheel_joint"
    topics = {"/ackermann_cmd": ACKERMANN_TYPE, "/odom": ODOMETRY, "/twist_actual": TWIST, "/wheel_odom": ODOMETRY}
    topics |= {"/joint_states": JOINTS, "/imu/data": IMU, "/cmd_vel_smoothed": TWIST, "/actuator_references": JOINTS}
    makers = {
        "/ackermann_cmd": lambda k: command("ackermann", Ackermann(1.0, 0.2, 0.0, 0.5), k),
        "/odom": odometry,
        "/twist_actual": twist,
        "/wheel_odom": lambda k: odometry(k, 0.01 * (k % 3)),
        "/joint_states": lambda k: joints(k, names, (0.1, 0.3, 4.0 * k, 5.0), (9.0, 9.0, 0.5 * k)),
        "/imu/data": lambda k: stamped(IMU, k),
        "/cmd_vel_smoothed": twist,
        "/actuator_references": lambda k: joints(k, ("steering",), (0.2,)),
    }
    signals = read_signals(write(tmp_path / "bag", topics, makers))
    channels = {channel.name: channel for channel in signals.channels}
    assert list(channels) == [
        "v_x",
        "v_y",
        "yaw_rate",
        "steering",
        *(f"joint_states {name}" for name in names),
        "odom x",
        "odom y",
        "odom heading",
        "wheel_odom v_x",
    ], "odom's twist is that of twist_actual, wheel_odom's pose that of odom, and its yaw rate and the IMU's are theirs"
    assert signals.sources == dict.fromkeys(("v_x", "v_y", "yaw_rate"), "/twist_actual") | {"steering": "/joint_states"}
    assert signals.findings[0] == (
        "topics: commands '/ackermann_cmd', velocities '/twist_actual', steering '/joint_states', "
        "also measured '/odom', '/wheel_odom'"
    ), "further channels of the main topics are not named again"
    assert channels["steering"].series.value == pytest.approx([0.2] * 30), "the mean of the hinges"
    assert channels["joint_states steering_left"].quantity == "joint_position"
    speed, angle = (channels[f"joint_states {name}"] for name in names[2:])
    assert (speed.quantity, speed.joint, angle.quantity) == ("joint_velocity", names[2], "joint_position")
    assert speed.series.value == pytest.approx([0.5 * k for k in range(30)])
    assert channels["odom heading"].series.value[-1] == pytest.approx(0.4 * 29), "without jumps of a turn"
    assert set(signals.commands.records["kind"]) == {ACKERMANN}
    assert signals.commands.records["acceleration"] == pytest.approx([0.5] * 30)
    assert signals.commands.records["steering_rate"].tolist() == [math.inf] * 30


def test_a_single_hinge_is_the_steering_even_without_velocities(tmp_path):
    topics = {"/ackermann_cmd": ACKERMANN_TYPE, "/joint_states": JOINTS}
    makers = {
        "/ackermann_cmd": lambda k: command("ackermann", Ackermann(1.0, 0.2), k),
        "/joint_states": lambda k: joints(k, ("steering", "fixed_wheel_joint"), (0.1, 0.0), (0.0, 2.0)),
    }
    signals = read_signals(write(tmp_path / "bag", topics, makers))
    assert [channel.name for channel in signals.channels] == ["steering", "joint_states fixed_wheel_joint"]
    assert signals.findings[0] == "topics: commands '/ackermann_cmd', steering '/joint_states'"


@needs_autoware
def test_gears_are_read_with_autoware_s_commands(tmp_path):
    from vds_gz.autoware.command_types import Control
    from vds_gz.autoware.vehicle.command_kinds import CONTROL

    topics = {"/control/command/control_cmd": command_type("control").topic.type, "/odom": ODOMETRY}
    topics |= {"/control/command/gear_cmd": command_type("gear").topic.type}
    gear = command_type("gear")

    def geared(k):
        message = open_types().new(gear.topic.type)
        gear.encode(message, gear.values(2 if k < 10 else 20), instant(k))
        return message

    makers = {
        "/control/command/control_cmd": lambda k: command("control", Control(1.0, 0.25, 0.5), k),
        "/control/command/gear_cmd": geared,
        "/odom": odometry,
    }
    records = read_signals(write(tmp_path / "bag", topics, makers)).commands.records
    assert set(records["kind"]) == {CONTROL}
    assert records["target_acceleration"] == pytest.approx([0.25] * 30)
    assert records["gear"].tolist() == [DRIVE] * 10 + [REVERSE] * 20


def test_nan_and_infinite_numbers_are_left_out_and_counted(tmp_path):
    topics = {"/ackermann_cmd": ACKERMANN_TYPE, "/odom": ODOMETRY}
    makers = {
        "/ackermann_cmd": lambda k: command("ackermann", Ackermann(math.nan if k == 3 else 1.0, 0.2), k),
        "/odom": lambda k: odometry(k, math.inf if k < 2 else 0.0),
    }
    signals = read_signals(write(tmp_path / "bag", topics, makers))
    assert "1 samples of command v_x are NaN or infinite; they were left out" in signals.findings
    assert "2 samples of velocity v_x are NaN or infinite; they were left out" in signals.findings
    assert signals.commands.records["v_x"].tolist() == [1.0] * 30


def test_copies_in_our_own_recording_are_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["profile", "steps", "--preset", "ackermann_car", "--duration", "3", "-o", "log.csv"]) == 0
    assert main(["replay", "log.csv", "--preset", "ackermann_car", "-o", "robot.mcap"]) == 0
    channels = read_signals("robot.mcap").channels
    assert len({(channel.quantity, channel.joint) for channel in channels}) == len(channels)
    assert {channel.source for channel in channels} == {
        "/twist_actual",
        "/actuator_states",
        "/ground_truth",
        "/joint_states",
    }


def test_the_only_topic_with_velocities_is_the_main_one_whatever_its_name(tmp_path):
    topics = {"/ackermann_cmd": ACKERMANN_TYPE, "/robot/state_of_wheels": ODOMETRY}
    makers = {
        "/ackermann_cmd": lambda k: command("ackermann", Ackermann(1.0, 0.2), k),
        "/robot/state_of_wheels": odometry,
    }
    signals = read_signals(write(tmp_path / "bag", topics, makers))
    assert signals.sources["v_x"] == "/robot/state_of_wheels"
    assert signals.findings[0].endswith("velocities '/robot/state_of_wheels'")
    assert {"v_x", "yaw_rate"} <= signals.measured.keys()


@pytest.mark.parametrize("kind", ["geometry_msgs/msg/PoseStamped", "geometry_msgs/msg/PoseWithCovarianceStamped"])
@pytest.mark.parametrize(("repeated", "count"), [(1, 200), (2, 200), (10, 20)])
def test_poses_are_channels_without_the_positions_that_a_slow_sensor_repeats(tmp_path, kind, repeated: int, count: int):
    def pose(k):
        message = stamped(kind, k)
        place = message.pose if kind.endswith("PoseStamped") else message.pose.pose
        place.position.x, place.position.y = 3e5 + k // repeated, 2.0
        place.orientation.z, place.orientation.w = math.sin(0.05 * k), math.cos(0.05 * k)
        return message

    drive = command_type("twist").topic.type
    topics = {"/cmd_vel": drive, "/mocap/pose": kind, "/goal_pose": kind, "/initialpose": kind}
    makers = {"/cmd_vel": lambda k: command("twist", (0.1 * k, 0.0, 0.0), k)} | dict.fromkeys(list(topics)[1:], pose)
    recording = read_signals(write(tmp_path / "bag", topics, makers, 200))
    x, y, heading = recording.further
    assert [channel.name for channel in (x, y, heading)] == ["mocap/pose x", "mocap/pose y", "mocap/pose heading"]
    assert len(x.series.time) == len(y.series.time) == len(heading.series.time) == count
    assert heading.series.value[-1] == pytest.approx(0.1 * (200 - repeated if count == 20 else 199)), "without jumps"
    left_out = [finding for finding in recording.findings if "positions on" in finding]
    assert (
        left_out == ["positions on '/mocap/pose' are new every 0.2 s only; those between are left out"][: count == 20]
    )
