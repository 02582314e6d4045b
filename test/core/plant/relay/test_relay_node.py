"""The relay as the graph sees it: a second node is the robot."""

from __future__ import annotations

import json
import math
import random
import signal
from contextlib import suppress
from time import sleep

import numpy as np
import pytest
from helpers.hostile import message_bytes
from helpers.live_node import numbers
from helpers.processes import Program

from vds_gz import ackermann, twist
from vds_gz.cli import main
from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.ros.graph import Topic
from vds_gz.core.ros.messages.portable import MessageTypes
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.vehicle.vehicle import NANOSECONDS
from vds_gz.programs.interface import topics
from vds_gz.programs.nodes.preparation import prepare
from vds_gz.programs.nodes.sim_node import SimNode

pytestmark = pytest.mark.graph

DRIVE = "model_params.differential.drive_actuators."
#: A robot that does at once what it is told, and goes on for long without commands.
NEUTRAL = {
    "model": "differential",
    "twist_reference_max_oldness": 1000.0,
    DRIVE + "dead_time": 0.0,
    DRIVE + "time_constant": 0.0,
    DRIVE + "max_acceleration": 0.0,
}
RESPONSE = {
    "model": "differential",
    "backend": "relay",
    DRIVE + "dead_time": 0.2,
    DRIVE + "time_constant": 0.4,
    DRIVE + "max_acceleration": 0.0,
    "relay.topic": "/robot/twist_reference",
    "relay.odometry": "/robot/odom",
}
ODOM = Topic("/robot/odom", topics.ODOM.type)
CMD_VEL = Topic("/robot/twist_reference", topics.TWIST_REFERENCE.type)


def arguments(values: dict) -> list[str]:
    return ["--ros-args", *(word for name, value in values.items() for word in ("-p", f"{name}:={value}"))]


@pytest.fixture
def programs(domain):
    """Robot and relay; the relay ends first."""
    robot = Program("vds_gz.programs.nodes.sim_node", *arguments(NEUTRAL), "-r", "__ns:=/robot")
    relay = Program("vds_gz.programs.nodes.sim_node", *arguments(RESPONSE))
    yield robot, relay
    relay.stop()
    robot.stop()


def drives(speed: float):
    def fill(message) -> None:
        message.linear.x = speed

    return fill


def test_only_what_the_robot_does_not_publish_itself_is_published(domain):
    graph = open_graph([], "sim_node")
    try:
        SimNode(graph, prepare([Override(name, value) for name, value in RESPONSE.items()]))
        published = {endpoint.topic for endpoint in graph.opened if endpoint.publishes}
        taken = {endpoint.topic for endpoint in graph.opened if not endpoint.publishes}
    finally:
        graph.close()
    ours = {"/twist_actual", "/actuator_references", "/actuator_states", "/diagnostics", "/robot/twist_reference"}
    assert published - {"/rosout", "/parameter_events"} == ours
    assert taken == {"/twist_reference", "/twist_stamped_reference", "/robot/odom"}


@pytest.mark.parametrize(
    ("output", "published"),
    [
        ("twist_stamped", {"/robot/cmd": "geometry_msgs/msg/TwistStamped"}),
        ("ackermann", {"/robot/cmd": "ackermann_msgs/msg/AckermannDriveStamped"}),
        ("steering_and_speed", {"/s": "std_msgs/msg/Float64", "/v": "std_msgs/msg/Float64"}),
    ],
)
def test_the_command_has_the_type_and_the_topics_that_were_asked_for(domain, output, published):
    values = {"model": "bicycle", "backend": "relay", "relay.output": output, "relay.topic": "/robot/cmd"}
    values |= {"relay.steering_topic": "/s", "relay.speed_topic": "/v"}
    graph = open_graph([], "sim_node")
    try:
        node = SimNode(graph, prepare([Override(name, value) for name, value in values.items()]))
        opened = {endpoint.topic: endpoint.type for endpoint in graph.opened if endpoint.publishes}
        assert published.items() <= opened.items()
        got = []
        for name, kind in published.items():
            graph.subscribe(name, kind, Topic(name, kind).qos, lambda message, _: got.append(message))
        plant = node.simulation.plant
        plant.vehicle.configure_commands(math.inf, 0.0)
        plant.vehicle.enter(ackermann(0.5, 0.25), 0)
        plant.advance(NANOSECONDS * 30)
        while len(got) < len(published):
            plant.command(NANOSECONDS * 30)
            graph.wait(0.05)
        speed, angle = dict(numbers(got[-1])), dict(numbers(got[0]))
        if output == "twist_stamped":
            assert speed[".twist.linear.x"] == pytest.approx(0.5)
            assert speed[".twist.angular.z"] == pytest.approx(
                0.5 * math.tan(0.25) / plant.vehicle.parameters.wheel_base
            )
        elif output == "ackermann":
            assert speed[".drive.speed"] == pytest.approx(0.5)
            assert speed[".drive.steering_angle"] == pytest.approx(0.25)
        else:
            assert (angle[".data"], speed[".data"]) == (pytest.approx(0.25), pytest.approx(0.5))
    finally:
        graph.close()


def test_a_node_that_would_hear_itself_is_refused(domain):
    graph = open_graph([], "sim_node")
    try:
        loop = {**RESPONSE, "relay.topic": "twist_reference"}
        with pytest.raises(ArgumentError, match="would be a loop"):
            SimNode(graph, prepare([Override(name, value) for name, value in loop.items()]))
    finally:
        graph.close()


def test_hostile_commands_and_odometry_let_nothing_out_that_is_not_finite_and_within_the_limits(probe):
    draw, types = random.Random(5), MessageTypes()
    graph, sent = open_graph([], "sim_node"), []
    hostile = [
        (probe.graph.publisher(topic.name, topic.type, topic.qos), topic.type)
        for topic in (topics.TWIST_REFERENCE, ODOM)
    ]
    try:
        limits = {DRIVE + "max_velocity": 0.7, DRIVE + "dead_time": 0.0, DRIVE + "time_constant": 0.1}
        values = {**RESPONSE, **limits, "relay.time_constant": 0.1}
        node = SimNode(graph, prepare([Override(name, value) for name, value in values.items()]))
        node.begin()
        graph.subscribe(CMD_VEL.name, CMD_VEL.type, CMD_VEL.qos, lambda message, _: sent.append(message))
        for _ in range(2500):
            for publisher, kind in hostile:
                with suppress(Exception):  # neither Cyclone DDS nor rclpy sends everything
                    publisher.publish_raw(message_bytes(draw, types, kind))
            node.simulation.turn(0.001)
        node.simulation.plant.status()
        assert sent
        for message in sent:
            assert abs(message.linear.x) <= 0.7
            assert abs(message.angular.z) <= 0.7 / (0.5 * node.simulation.plant.vehicle.parameters.track)
    finally:
        graph.close()


def test_a_robot_behind_the_relay_is_identified_as_the_vehicle_was_configured(programs, probe, tmp_path):
    probe.listen(ODOM)
    publisher = probe.until_heard(topics.TWIST_REFERENCE)
    probe.next(ODOM)
    log, results = str(tmp_path / "relay.mcap"), tmp_path / "results"
    recorder = Program("vds_gz.cli.record", topics.TWIST_REFERENCE.name, ODOM.name, "-o", log)
    probe.until(lambda: publisher.subscription_count() == 2, "a recorder")
    generator = np.random.default_rng(4)
    message = probe.graph.message(topics.TWIST_REFERENCE.type)
    for _ in range(14):
        message.linear.x, message.angular.z = generator.uniform(-0.8, 0.8), generator.uniform(-1.0, 1.0)
        for _ in range(generator.integers(8, 25)):
            publisher.publish(message)
            probe.serve(0.05)
    assert recorder.stop() == 0
    topic = ["--command", topics.TWIST_REFERENCE.name, "--velocity", ODOM.name]
    assert main(["identify", log, *topic, "-o", str(results)]) == 0
    drive = json.loads((results / "report.json").read_text())["axes"]["v_x"]["numbers"]
    # On an idle machine within 1 %; a late loop adds milliseconds.
    assert drive["dead_time"]["value"] == pytest.approx(0.2, abs=0.005)
    assert drive["time_constant"]["value"] == pytest.approx(0.4, rel=0.01)


def test_the_robot_stops_when_the_node_is_killed(programs, probe):
    _, relay = programs
    probe.listen(ODOM, CMD_VEL)
    probe.hold(topics.TWIST_REFERENCE, drives(0.5), lambda: probe.next(ODOM).twist.twist.linear.x > 0.45)
    relay.process.send_signal(signal.SIGKILL)
    probe.until(lambda: probe.received[ODOM.name][-1].twist.twist.linear.x == 0.0, "a robot that stands")


def test_zero_goes_out_until_everything_stands_and_then_nothing(programs, probe):
    probe.listen(ODOM, CMD_VEL)
    probe.hold(topics.TWIST_REFERENCE, drives(0.5), lambda: probe.next(ODOM).twist.twist.linear.x > 0.45)
    sent = probe.received[CMD_VEL.name]
    probe.until_quiet(CMD_VEL)
    assert max(abs(message.linear.x) for message in sent[-100:]) < 1e-3
    assert probe.received[ODOM.name][-1].twist.twist.linear.x == 0.0


@pytest.mark.parametrize("driven", [False, True])
def test_a_node_that_ends_sends_a_last_zero_if_it_has_driven(probe, driven):
    probe.listen(CMD_VEL)
    graph = open_graph([], "sim_node")
    plant = SimNode(graph, prepare([Override(name, value) for name, value in RESPONSE.items()])).simulation.plant
    received = probe.received[CMD_VEL.name]
    probe.until(lambda: not plant.status().text.startswith("no one listens"), "a subscriber")
    if driven:
        plant.vehicle.enter(twist(0.5, 0.0, 0.0), 0)
        plant.advance(NANOSECONDS)
        plant.command(NANOSECONDS)
        probe.until(lambda: received, "a command")
        assert received[-1].linear.x > 0.1
    plant.close()
    graph.close()
    probe.serve(0.3)
    assert [message.linear.x for message in received[-1:]] == ([0.0] if driven else [])


def test_a_pause_stops_the_robot_whatever_was_due_and_it_stays_until_a_command(domain):
    values = {**RESPONSE, DRIVE + "dead_time": 0.1, "relay.odometry": ""}
    graph, sent = open_graph([], "sim_node"), []
    try:
        node = SimNode(graph, prepare([Override(name, value) for name, value in values.items()]))
        graph.subscribe(CMD_VEL.name, CMD_VEL.type, CMD_VEL.qos, lambda message, _: sent.append(message.linear.x))
        simulation = node.simulation
        simulation.turn(0.01)
        vehicle = simulation.plant.vehicle
        vehicle.configure_commands(1000.0, 0.0)
        vehicle.enter(twist(0.5, 0.0, 0.0), simulation.now)
        while not sent or sent[-1] < 0.3:
            simulation.turn(0.01)
        sleep(0.05)  # commands are due now
        for paused in (True, False):
            simulation.pause(paused)
            while sent[-1]:  # what was sent before the pause arrives
                simulation.turn(0.01)
            sent.clear()
            while len(sent) < 30:
                simulation.turn(0.01)
            assert set(sent) == {0.0}
            sleep(0.05)
    finally:
        node.simulation.plant.close()
        graph.close()
