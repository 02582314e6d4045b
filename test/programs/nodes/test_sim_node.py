"""The node as the graph sees it: real processes, real messages."""

from __future__ import annotations

import math
import signal
import sys
import time
from importlib.util import find_spec
from typing import Any

import pytest
from helpers.live_node import live_node
from helpers.processes import PATIENCE
from helpers.stamps import assert_on_the_grid

from vds_gz.core.errors import UnknownTypeError
from vds_gz.core.ros.messages.fields import stamp_ns, yaw_of
from vds_gz.programs.interface import topics

pytestmark = pytest.mark.graph


def forward(speed: float, yaw_rate: float = 0.0) -> Any:
    def fill(message: Any) -> None:
        message.linear.x = speed
        message.angular.z = yaw_rate

    return fill


def level(message: Any) -> int:
    value = message.status[0].level
    return value[0] if isinstance(value, bytes) else int(value)


@pytest.mark.parametrize("style", ["continuous", "amcl"])
def test_without_transforms_nothing_is_on_their_topics(domain, style):
    localization = {"simulate_localization": True, "localization__style": style}
    with live_node(publish_tf=False, **localization) as live:
        live.turn_until(lambda: live.received["/odom"])
        assert not {"/tf", "/tf_static"} & {endpoint.topic for endpoint in live.graph.opened}


@pytest.mark.ros
def test_only_transforms_need_tf2_msgs(domain, monkeypatch):
    monkeypatch.setitem(sys.modules, "tf2_msgs.msg", None)
    with live_node(publish_tf=False) as live:
        live.turn_until(lambda: live.received["/odom"])
    with pytest.raises(UnknownTypeError, match="install the package 'tf2_msgs'"), live_node():
        pass


@pytest.mark.ros
@pytest.mark.skipif(find_spec("cyclonedds") is None, reason="needs cyclonedds")
def test_a_node_without_ros_is_seen_heard_and_driven_over_rclpy(start, probe, monkeypatch):
    monkeypatch.setenv("VDS_GZ_GRAPH", "dds")  # the probe has joined over rclpy
    start("-p", "model:=differential")
    probe.listen(topics.TWIST_ACTUAL, topics.TF_STATIC)
    twists = probe.received[topics.TWIST_ACTUAL.name]
    probe.hold(topics.TWIST_REFERENCE, forward(0.5), lambda: twists and twists[-1].twist.linear.x > 0.45)
    probe.until(lambda: probe.received["/tf_static"], "the latched transforms")
    ends = [(end.node, end.type) for end in probe.graph.endpoints("/odom")]
    assert ends == [("/sim_node", topics.ODOM.type)]


def test_every_topic_is_there_with_stamps_at_whole_publish_periods(start, probe):
    start()
    probe.listen(
        topics.TWIST_ACTUAL,
        topics.ODOM,
        topics.GROUND_TRUTH,
        topics.TF,
        topics.TF_STATIC,
        topics.JOINT_STATES,
        topics.ROBOT_DESCRIPTION,
        topics.ACTUATOR_REFERENCES,
        topics.ACTUATOR_STATES,
        topics.DIAGNOSTICS,
    )
    probe.until(lambda: len(probe.received) == 10, "a message on each of ten topics")
    for topic in (
        topics.TWIST_REFERENCE,
        topics.TWIST_STAMPED_REFERENCE,
        topics.ACKERMANN_CMD,
        topics.STEERING_ANGLE,
        topics.VELOCITY,
        topics.INITIALPOSE,
    ):
        probe.until_heard(topic)

    odom, truth = probe.next(topics.ODOM), probe.next(topics.GROUND_TRUTH)
    assert (odom.header.frame_id, odom.child_frame_id) == ("odom", "base_link")
    assert (truth.header.frame_id, truth.child_frame_id) == ("map", "base_link")
    assert probe.received[topics.TWIST_ACTUAL.name][-1].header.frame_id == "base_link"
    (moving,) = probe.received["/tf"][-1].transforms
    assert (moving.header.frame_id, moving.child_frame_id) == ("odom", "base_link")
    (fixed,) = probe.received["/tf_static"][-1].transforms
    assert (fixed.header.frame_id, fixed.child_frame_id) == ("map", "odom")
    joints = probe.received["joint_states"][-1]
    assert list(joints.name[:2]) == ["steering_left", "steering_right"]
    assert len(joints.position) == len(joints.velocity) == len(joints.name) == 6
    assert list(probe.received["actuator_states"][-1].name) == ["drive", "steering"]
    assert "steering_left" in probe.received["robot_description"][-1].data
    probe.until(lambda: len(probe.received["odom"]) > 40)
    assert_on_the_grid([stamp_ns(message.header.stamp) for message in probe.received["odom"]], 20_000_000)


def test_the_vehicle_follows_a_twist(start, probe):
    start("-p", "model:=differential", "-p", "model_params.differential.drive_actuators.dead_time:=0.0")
    probe.listen(topics.ODOM, topics.TWIST_ACTUAL, topics.JOINT_STATES)

    def curve(twist: Any) -> bool:
        return (twist.linear.x, twist.angular.z) == pytest.approx((0.5, 0.2), rel=0.05)

    def steady() -> bool:
        told = probe.steadily(topics.TWIST_ACTUAL, lambda message: curve(message.twist))
        return told and probe.steadily(topics.ODOM, lambda message: curve(message.twist.twist))

    probe.hold(topics.TWIST_REFERENCE, forward(0.5, 0.2), steady, "a steady curve")
    odom = probe.received["odom"]
    first, last = odom[-10], odom[-1]
    seconds = (stamp_ns(last.header.stamp) - stamp_ns(first.header.stamp)) * 1e-9
    turned = yaw_of(last.pose.pose.orientation) - yaw_of(first.pose.pose.orientation)
    assert math.remainder(turned, math.tau) == pytest.approx(0.2 * seconds, rel=0.05)
    way = math.dist(
        (last.pose.pose.position.x, last.pose.pose.position.y),
        (first.pose.pose.position.x, first.pose.pose.position.y),
    )
    assert way == pytest.approx(0.5 * seconds, rel=0.05)
    assert min(probe.received["joint_states"][-1].velocity) > 0.0


def test_a_command_times_out(start, probe):
    start("-p", "twist_reference_max_oldness:=0.3", "-p", "model:=omni")
    probe.listen(topics.TWIST_ACTUAL, topics.DIAGNOSTICS)
    twists = probe.received["twist_actual"]
    moving = lambda: twists and twists[-1].twist.linear.x > 0.1  # noqa: E731
    probe.hold(topics.TWIST_REFERENCE, forward(0.5), moving, "motion")
    probe.until(lambda: abs(probe.next(topics.TWIST_ACTUAL).twist.linear.x) < 0.01, "standstill")
    probe.until(lambda: "timed out" in probe.next(topics.DIAGNOSTICS).status[0].message)


def test_the_vehicle_follows_separate_topics_of_speed_and_steering_and_ackermann_commands(start, probe):
    start()
    probe.listen(topics.ACTUATOR_STATES)

    def follows() -> bool:
        probe.send(topics.VELOCITY, lambda message: setattr(message, "data", 1.0))
        probe.send(topics.STEERING_ANGLE, lambda message: setattr(message, "data", -0.3))
        probe.serve(0.05)
        return actuators_follow(probe, 1.0, -0.3)

    probe.until(follows, "the speed and the angle")

    def fill(message: Any) -> None:
        message.drive.speed = -0.5
        message.drive.steering_angle = 0.25

    probe.hold(topics.ACKERMANN_CMD, fill, lambda: actuators_follow(probe, -0.5, 0.25), "the command")


def actuators_follow(probe: Any, speed: float, angle: float) -> bool:
    """Whether drive and steering have settled within 5 %."""
    wanted = pytest.approx((speed, angle), rel=0.05)
    return bool(
        probe.steadily(topics.ACTUATOR_STATES, lambda states: (states.velocity[0], states.position[1]) == wanted)
    )


def test_invalid_commands_are_refused_and_counted(start, probe):
    node = start("-p", "model:=omni")
    probe.listen(topics.TWIST_ACTUAL)
    probe.until_known(topics.TWIST_REFERENCE)
    for k, bad in enumerate((math.nan, math.inf, -math.inf, 1e300), start=1):
        probe.send(topics.TWIST_REFERENCE, forward(bad))
        probe.send(topics.TWIST_REFERENCE, forward(0.0, bad))
        count = str(2 * k)
        probe.until(lambda count=count: probe.diagnosed("refused on twist_reference") == count, "two refusals")
        assert math.isfinite(probe.next(topics.TWIST_ACTUAL).twist.linear.x)
    assert node.stop() == 0
    assert "message on 'twist_reference' refused" in node.output


def test_stamps_far_from_now_are_refused(start, probe):
    node = start("-p", "model:=omni")
    probe.listen(topics.TWIST_ACTUAL)
    now = stamp_ns(probe.next(topics.TWIST_ACTUAL).header.stamp) // 10**9

    def stamped(seconds: int) -> Any:
        def fill(message: Any) -> None:
            message.header.stamp.sec = now + seconds
            message.twist.linear.x = 0.5

        return fill

    probe.until_known(topics.TWIST_STAMPED_REFERENCE)
    probe.send(topics.TWIST_STAMPED_REFERENCE, stamped(-100))
    probe.send(topics.TWIST_STAMPED_REFERENCE, stamped(+100))
    probe.until(lambda: probe.diagnosed("refused on twist_stamped_reference") == "2", "two refusals")
    assert probe.next(topics.TWIST_ACTUAL).twist.linear.x == 0.0
    node.stop()
    assert "s old; it must be at most 1 s" in node.output


def test_an_initial_pose_places_the_vehicle(start, probe):
    node = start()
    probe.listen(topics.GROUND_TRUTH, topics.DIAGNOSTICS)

    def pose(frame: str, w: float = math.cos(0.5)) -> Any:
        def fill(message: Any) -> None:
            message.header.frame_id = frame
            message.pose.pose.position.x = 3.0
            message.pose.pose.position.y = -4.0
            message.pose.pose.orientation.z = math.sin(0.5)
            message.pose.pose.orientation.w = w

        return fill

    def refused() -> int:
        return int(probe.diagnosed("refused on initialpose", "0"))

    probe.hold(topics.INITIALPOSE, pose("odom"), refused, "a refusal")
    before = refused()
    probe.send(topics.INITIALPOSE, pose("map", math.nan))
    probe.until(lambda: refused() == before + 1, "another refusal")
    assert probe.next(topics.GROUND_TRUTH).pose.pose.position.x == 0.0
    probe.send(topics.INITIALPOSE, pose("map"))
    probe.until(lambda: probe.next(topics.GROUND_TRUTH).pose.pose.position.x == 3.0)
    truth = probe.next(topics.GROUND_TRUTH).pose.pose
    assert truth.position.y == -4.0
    assert yaw_of(truth.orientation) == pytest.approx(1.0)
    node.stop()
    assert "its frame_id is 'odom'; it must be 'map'" in node.output


def test_localization_noise_moves_the_odometry_frame(start, probe):
    start("-p", "simulate_localization:=true", "-p", "model:=omni", "-p", "localization.seed:=3")
    probe.listen(topics.TF, topics.ODOM, topics.GROUND_TRUTH)
    odometry = probe.received["odom"]
    unsure = lambda: odometry and odometry[-1].pose.covariance[0] > 1e-4  # noqa: E731
    probe.hold(topics.TWIST_REFERENCE, forward(1.0), unsure, "an uncertain pose")
    assert odometry[-1].header.frame_id == "odom"
    odom, base = probe.next(topics.TF).transforms
    assert (odom.header.frame_id, odom.child_frame_id) == ("map", "odom")
    assert (base.header.frame_id, base.child_frame_id) == ("odom", "base_link")
    assert odom.transform.translation.y != 0.0


def test_two_publishers_of_commands_are_reported(start, probe):
    start()
    probe.listen(topics.DIAGNOSTICS)
    probe.until_heard(topics.TWIST_REFERENCE)
    probe.until_heard(topics.ACKERMANN_CMD)
    probe.until(lambda: level(probe.next(topics.DIAGNOSTICS)) == 1)
    assert "2 publishers send commands" in probe.received["/diagnostics"][-1].status[0].message


def test_a_flood_of_commands_does_not_stop_the_node(start, probe):
    start("-p", "model:=omni")
    probe.listen(topics.ODOM)
    publisher = probe.until_heard(topics.TWIST_REFERENCE)
    message = probe.graph.message(topics.TWIST_REFERENCE.type)
    message.linear.x = 0.3
    probe.next(topics.ODOM)
    before = len(probe.received["odom"])
    for _ in range(200):
        for _ in range(100):
            publisher.publish(message)
        probe.graph.wait(0.01)
    probe.until(lambda: len(probe.received["odom"]) > before + 50)
    probe.until(lambda: probe.next(topics.ODOM).twist.twist.linear.x > 0.1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_cleanly(start, probe, number):
    node = start()
    probe.listen(topics.ODOM)
    probe.until(lambda: len(probe.received["odom"]) > 5)
    asked = time.time_ns()
    assert node.stop(number) == 0
    assert "Traceback" not in node.output
    odom = probe.received["odom"]
    probe.until(lambda: stamp_ns(odom[-1].header.stamp) >= asked - 40_000_000, "the vehicle as it was at the end")


def test_names_are_remapped_and_frames_prefixed(start, probe):
    frames = ("-p", "frame_prefix:=robot1/", "-p", "base_frame:=base_footprint")
    sensors = ("-p", "sensors.lidar.type:=rplidar_a2", "-p", "sensors.eye.type:=camera")
    start(
        "-r", "__ns:=/robot1", "-r", "odom:=odometry", "-r", "/tf:=tf", "-r", "/tf_static:=tf_static", *frames, *sensors
    )
    probe.listen(topics.ODOM, name="/robot1/odometry")
    probe.listen(topics.TF, name="/robot1/tf")
    probe.listen(topics.TF_STATIC, name="/robot1/tf_static")
    odom = probe.next(topics.ODOM)
    assert (odom.header.frame_id, odom.child_frame_id) == ("robot1/odom", "robot1/base_footprint")
    assert probe.next(topics.TF).transforms[0].child_frame_id == "robot1/base_footprint"
    static = probe.until(lambda: probe.received[topics.TF_STATIC.name], "where the sensors are")[0].transforms
    frames_of = {transform.child_frame_id: transform.header.frame_id for transform in static}
    assert frames_of == {
        "robot1/odom": "robot1/map",
        "robot1/lidar": "robot1/base_footprint",
        "robot1/eye": "robot1/base_footprint",
        "robot1/eye_optical_frame": "robot1/eye",
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-p", "wheelbase:=1.0"), "nearest valid name"),
        (("--params-file", "/nowhere.yaml"), "/nowhere.yaml"),
    ],
)
def test_wrong_use_is_reported_in_one_line_with_exit_code_2(start, arguments, said):
    node = start(*arguments)
    assert node.process.wait(PATIENCE) == 2
    node.stop()
    assert said in node.output
    assert len(node.output.splitlines()) == 1


def test_the_node_takes_a_file_and_logs_what_it_runs(run, probe, tmp_path):
    """In any namespace, and with remaps on the command line."""
    file = tmp_path / "robot.yaml"
    file.write_text("sim_node:\n  ros__parameters:\n    model: omni\n    world: hall\n    pub_rate: 20.0\n")
    node = run("vds_gz.cli", "node", str(file), "--ros-args", "-r", "__ns:=/car", "-r", "twist_reference:=cmd_vel")
    probe.until(lambda: "vds-gz view" in node.output, "the start")
    lines = [line.partition("[car.sim_node]: ")[2] for line in node.output.splitlines()[-3:]]
    assert lines[0] == f"model omni, from {file}"
    assert lines[1] == "plant kinematic, world hall"
    assert lines[2].startswith("commands on /car/cmd_vel, /car/twist_stamped_reference")
    assert lines[2].endswith("; status on /diagnostics, picture by `vds-gz view --namespace /car`")


def test_the_age_limit_of_commands_has_two_names(start, probe):
    start("-p", "command_timeout:=0.25", "-p", "model:=omni")
    client = probe.graph.client("/sim_node/set_parameters", "rcl_interfaces/srv/SetParameters")
    reader = probe.graph.client("/sim_node/get_parameters", "rcl_interfaces/srv/GetParameters")
    probe.until(lambda: client.ready() and reader.ready())
    both = ["command_timeout", "twist_reference_max_oldness"]

    def values() -> list[float]:
        request, got = reader.request(), []
        request.names = both
        reader.call(request, got.append)
        probe.until(lambda: got, "the parameters")
        return [value.double_value for value in got[0].values]

    probe.until(lambda: values() == [0.25, 0.25])
    for name, value in zip(both, (0.75, 0.5), strict=True):
        request, done = client.request(), []
        parameter = probe.graph.message("rcl_interfaces/msg/Parameter")
        parameter.name, parameter.value.type, parameter.value.double_value = name, 3, value
        request.parameters = [parameter]
        client.call(request, done.append)
        probe.until(lambda done=done: done, "the response")
        assert done[0].results[0].successful, done[0].results[0].reason
        assert values() == [value, value]
