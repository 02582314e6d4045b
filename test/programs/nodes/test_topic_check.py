"""What a node says about messages that do not arrive, or come from two nodes."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from helpers.live_node import level, live_node

from vds_gz.core.ros.arguments import parse
from vds_gz.core.ros.graph import QoS
from vds_gz.core.ros.open_graph import open_graph

pytestmark = pytest.mark.graph

RELIABLE, BEST_EFFORT, LATCHED = QoS(), QoS(reliable=False), QoS(transient_local=True)
TWIST, STAMPED = "geometry_msgs/msg/Twist", "geometry_msgs/msg/TwistStamped"
POSE, WITH_COVARIANCE = "geometry_msgs/msg/PoseStamped", "geometry_msgs/msg/PoseWithCovarianceStamped"
ODOMETRY, CLOCK = "nav_msgs/msg/Odometry", "rosgraph_msgs/msg/Clock"


def status(live) -> object:
    (array,) = live.received["/diagnostics"][-1:]
    return array.status[0]


@pytest.fixture
def peer(domain):
    graph = open_graph(parse(["--ros-args", "-r", "__ns:=/other"], "talker"), "talker")
    yield graph
    graph.close()


#: What a peer opens, what the node has, and what is said.
FAULTS = [
    (
        "publisher",
        "/twist_reference",
        TWIST,
        BEST_EFFORT,
        {},
        ["/other/talker", "reliability", "let it offer reliable"],
    ),
    pytest.param(
        *("publisher", "/clock", TWIST, RELIABLE, {"use_sim_time": True}, ["/other/talker", f"reads {CLOCK}"]),
        marks=pytest.mark.skipif(bool(find_spec("rclpy")), reason="Fast DDS crashes if one process has both types"),
    ),
    ("publisher", "/twist_reference", STAMPED, RELIABLE, {}, [f"publishes {STAMPED}", "'/twist_stamped_reference'"]),
    ("publisher", "/initialpose", POSE, RELIABLE, {}, [f"publishes {POSE}", f"reads {WITH_COVARIANCE}"]),
    ("publisher", "/initial_pose", WITH_COVARIANCE, RELIABLE, {}, ["no node reads", "on '/initialpose'"]),
    ("publisher", "/goal_pose", POSE, RELIABLE, {}, ["no node reads", "Nav2", "on '/initialpose'"]),
    ("publisher", "/cmd_vel", TWIST, RELIABLE, {}, ["no node reads", "-r twist_reference:=/cmd_vel"]),
    ("subscription", "/odom", POSE, RELIABLE, {}, [f"reads {POSE}", f"publishes {ODOMETRY}"]),
    ("subscription", "/odom", ODOMETRY, LATCHED, {}, ["durability", "let it request volatile"]),
    (
        "publisher",
        "/clock",
        CLOCK,
        RELIABLE,
        {"be_reference_clock": True},
        ["2 publishers", "/other/talker", "/sim_node"],
    ),
]


@pytest.mark.parametrize(("kind", "topic", "type_name", "qos", "parameters", "said"), FAULTS)
def test_a_fault_is_logged_once_with_its_remedy_and_stays_in_the_diagnostics(
    peer, capfd, kind, topic, type_name, qos, parameters, said
):
    with live_node(model="bicycle", **parameters) as live:
        check = live.node._check
        sender = peer.publisher(topic, type_name, qos) if kind == "publisher" else None
        if sender is None:
            peer.subscribe(topic, type_name, qos, lambda message, _: None)

        def send() -> None:
            if sender is not None:
                sender.publish(peer.message(type_name))
            check.look()

        live.turn_until(lambda: check.faults and "without a name" not in check.faults[0], send)
        (fault,) = check.faults
        assert all(words in fault for words in (topic, *said)), fault
        for _ in range(5):
            send()
        assert capfd.readouterr().err.count(fault) == 1
        live.graph.subscribe("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", QoS(), live._keeper("/diagnostics"))
        live.turn_until(lambda: live.received["/diagnostics"])
        assert level(status(live)) == 1
        assert status(live).message.endswith(f"; {fault}")
        assert fault in [pair.value for pair in status(live).values]


def test_two_clocks_of_one_node_are_one_name(peer):
    with live_node(model="bicycle", use_sim_time=True) as live:
        check = live.node._check
        clocks = [peer.publisher("/clock", CLOCK, RELIABLE) for _ in range(2)]

        def send() -> None:
            for clock in clocks:
                clock.publish(peer.message(CLOCK))
            check.look()

        live.turn_until(lambda: check.faults and "without a name" not in check.faults[0], send)
        assert "'/clock' has 2 publishers, node '/other/talker'; time jumps" in check.faults[0]


RIGHT = [
    ("publisher", "/twist_reference", TWIST, RELIABLE),
    ("publisher", "/twist_reference", TWIST, LATCHED),
    ("publisher", "/clock", CLOCK, BEST_EFFORT),
    ("publisher", "/other/cmd_vel", TWIST, RELIABLE),
    ("publisher", "/slam_pose", POSE, RELIABLE),
    ("publisher", "/wheel_speed", STAMPED, RELIABLE),
    ("publisher", "/number", "std_msgs/msg/Float64", RELIABLE),
    ("subscription", "/odom", ODOMETRY, BEST_EFFORT),
    ("subscription", "/robot_description", "std_msgs/msg/String", RELIABLE),
]


def test_what_is_right_is_not_a_fault(peer):
    with live_node(model="bicycle", use_sim_time=True) as live:
        check = live.node._check
        senders = []
        for kind, topic, type_name, qos in RIGHT:
            if kind == "subscription":
                peer.subscribe(topic, type_name, qos, lambda message, _: None)
            else:
                senders.append((peer.publisher(topic, type_name, qos), peer.message(type_name)))
        announced = {topic for _, topic, *_ in RIGHT}
        live.turn_until(lambda: announced <= live.graph.topic_types().keys())
        for _ in range(5):
            for publisher, message in senders:
                publisher.publish(message)
            live.graph.wait(0.05)
            check.look()
        assert check.faults == ()


def test_goals_of_rviz_are_a_finding_because_it_announces_them_from_the_start(domain):
    rviz = open_graph(parse(["--ros-args", "-r", "__node:=rviz2"], "rviz2"), "rviz2")
    with live_node(model="bicycle") as live:
        check = live.node._check
        rviz.publisher("/goal_pose", POSE, RELIABLE)
        live.turn_until(lambda: check.findings, check.look)
        assert "node '/rviz2' publishes" in check.findings[0]
        assert check.faults == ()
    rviz.close()
