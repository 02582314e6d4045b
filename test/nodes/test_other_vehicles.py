"""Two nodes in one world: each sees the other and cannot drive through it; where another one is between messages."""

import math

import numpy as np
import pytest

from vds_gz.configuration import load_parameters
from vds_gz.description.urdf_writer import urdf
from vds_gz.geometry.so3 import angles, quaternion
from vds_gz.interface import topics
from vds_gz.interface.topics import Topic
from vds_gz.nodes.other_vehicles import OtherVehicle
from vds_gz.ros.errors import UnknownTypeError
from vds_gz.ros.factory import open_graph
from vds_gz.ros.graph import QoS
from vds_gz.vehicle.catalogue import models

PARAMETERS = """
/**:
  ros__parameters:
    world: empty
    model: bicycle
    sensors:
      flat: {type: rplidar_a2, xyz: [0.0, 0.0, 0.3]}
"""

SECOND = 1_000_000_000


@pytest.fixture
def message(domain):
    graph = open_graph([], "messages")
    yield graph.message("nav_msgs/msg/Odometry")
    graph.close()


def odometry(message, time, x, y, heading, speed, rate):
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(time, SECOND)
    message.pose.pose.position.x, message.pose.pose.position.y = x, y
    turn = message.pose.pose.orientation
    turn.x, turn.y, turn.z, turn.w = quaternion(0.0, 0.0, heading)
    message.twist.twist.linear.x, message.twist.twist.angular.z = speed, rate
    return message


def test_between_messages_it_goes_on_along_its_curve(message):
    """A circle of speed 2 m/s and 0.5 rad/s, heard of every 20 ms."""
    other = OtherVehicle("other")
    other.place(odometry(message, 5 * SECOND, 4.0, 0.0, 0.5 * math.pi, 2.0, 0.5), 0)
    for later in (0.0, 0.01, 0.02):
        pose = other.pose_at(5 * SECOND + round(later * SECOND))
        angle = 0.5 * later
        assert pose.position == pytest.approx((4.0 * math.cos(angle), 4.0 * math.sin(angle), 0.0), abs=1e-6)
        assert angles(pose.orientation)[2] == pytest.approx(0.5 * math.pi + angle)
    assert other.pose_at(9 * SECOND).position == (4.0, 0.0, 0.0)  # a guess for too long is none


def test_what_is_no_pose_is_not_taken(message):
    other = OtherVehicle("other")
    other.place(odometry(message, SECOND, 1.0, 0.0, 0.0, 0.0, 0.0), 0)
    other.place(odometry(message, SECOND, math.nan, 0.0, 0.0, 0.0, 0.0), 0)
    assert other.pose_at(SECOND).position == (1.0, 0.0, 0.0)


def test_it_has_the_shapes_of_its_description_and_is_gone_when_it_is_silent(message):
    parameters = load_parameters("ackermann_car")
    model = models()[parameters.model]
    other = OtherVehicle("other")
    assert not other.present
    other.describe(urdf(model.name, parameters.vehicle, model.xacro))
    assert not other.present
    other.place(odometry(message, SECOND, 10.0, 0.0, 0.0, 0.0, 0.0), 0)
    assert not other.present  # that was long ago
    names = {thing.name for thing in other.collisions(SECOND)}
    assert {"other::chassis", "other::fixed_wheel_left"} <= names
    (chassis,) = [thing for thing in other.collisions(SECOND) if thing.name == "other::chassis"]
    assert chassis.pose[:3, 3] == pytest.approx((10.0 + 1.35, 0.0, 0.325), abs=0.02)


def known(graph, topic):
    """Whether its type is here: with ROS, a package brings it."""
    try:
        graph.message(topic.type)
    except UnknownTypeError:
        return False
    return True


def test_two_nodes_see_and_meet_each_other(start, probe, tmp_path):
    file = tmp_path / "vehicles.yaml"
    file.write_text(PARAMETERS, encoding="utf-8")
    nodes = [start("--params-file", str(file), "-r", f"__ns:=/{name}") for name in ("one", "two")]
    sensor = QoS(5, reliable=False)
    scans = [Topic(f"/{name}/flat/scan", "sensor_msgs/msg/LaserScan", sensor) for name in ("one", "two")]
    contacts = Topic("/two/contacts", topics.CONTACTS.type)
    truth = Topic("/two/ground_truth", topics.GROUND_TRUTH.type)
    probe.listen(*scans, truth)
    told = known(probe.graph, contacts)
    if told:
        probe.listen(contacts)

    def put(message):
        message.pose.pose.position.x = 6.0
        message.pose.pose.orientation.z, message.pose.pose.orientation.w = 1.0, 0.0

    probe.send(Topic("/two/initialpose", topics.INITIALPOSE.type), put)

    def nearest(topic):
        received = probe.received[topic.name]
        return min(received[-1].ranges) if received else math.inf

    probe.until(lambda: all(1.0 < nearest(topic) < 6.0 for topic in scans), "scans with the other vehicle in them")
    ahead = [np.argmin(probe.received[topic.name][-1].ranges) for topic in scans]
    count = len(probe.received[scans[0].name][-1].ranges)
    assert [abs(k - count / 2) < count / 8 for k in ahead] == [True, True]  # both look at each other

    def forwards(message):
        message.linear.x = 2.0

    probe.send(Topic("/two/twist_reference", topics.TWIST_REFERENCE.type), forwards, seconds=4.0)
    if told:
        probe.until(lambda: probe.received[contacts.name], "a contact")
        (contact, *_) = probe.received[contacts.name][0].contacts
        assert contact.collision1.name == "two"
        assert contact.collision2.name.startswith("one::")
        assert contact.depths[0] < 0.01
    front = probe.received[truth.name][-1].pose.pose.position.x
    probe.serve(0.5)
    assert probe.received[truth.name][-1].pose.pose.position.x == pytest.approx(front, abs=1e-3)
    assert 0.5 < front < 6.0
    assert [node.stop() for node in nodes] == [0, 0], nodes[0].output
