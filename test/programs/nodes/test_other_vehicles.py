"""Two nodes in one world: each sees the other and cannot drive through it; poses between messages."""

import math

import numpy as np
import pytest

from vds_gz.core.configuration import load_parameters
from vds_gz.core.description.footprint import footprint_of
from vds_gz.core.description.urdf_reader import DescriptionError
from vds_gz.core.description.urdf_writer import urdf
from vds_gz.core.errors import ArgumentError, UnknownTypeError, WorldError
from vds_gz.core.geometry import angles, quaternion
from vds_gz.core.plant.in_world import WorldPlant
from vds_gz.core.ros.graph import QoS
from vds_gz.core.ros.open_graph import open_graph
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.vehicle.command import twist
from vds_gz.core.vehicle.make_vehicle import make_guarded_vehicle
from vds_gz.core.world.load_world import load_world
from vds_gz.core.world.surroundings import Surroundings
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.topics import Topic
from vds_gz.programs.nodes.other_vehicles import SILENCE, OtherVehicle, OtherVehicles

pytestmark = pytest.mark.graph

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


def test_between_messages_the_pose_continues_along_its_curve(message):
    """A circle at 2 m/s and 0.5 rad/s, with a message every 20 ms."""
    other = OtherVehicle("other")
    other.place(odometry(message, 5 * SECOND, 4.0, 0.0, 0.5 * math.pi, 2.0, 0.5), 0)
    for later in (0.0, 0.01, 0.02):
        pose = other.pose_at(5 * SECOND + round(later * SECOND))
        angle = 0.5 * later
        assert pose.position == pytest.approx((4.0 * math.cos(angle), 4.0 * math.sin(angle), 0.0), abs=1e-6)
        assert angles(pose.orientation)[2] == pytest.approx(0.5 * math.pi + angle)
    assert other.pose_at(9 * SECOND).position == (4.0, 0.0, 0.0)  # too long to extrapolate


WRONG = [
    (math.nan, 0.0, 0.0, 0.0, 0.0),
    (1e14, 0.0, 0.0, 0.0, 0.0),
    (2.0, 0.0, math.nan, 0.0, 0.0),
    (2.0, 0.0, 0.0, 1e300, 0.0),
    (2.0, 0.0, 0.0, 0.0, math.inf),
]


@pytest.mark.parametrize("numbers", WRONG)
def test_an_invalid_pose_is_ignored(message, numbers):
    other = OtherVehicle("other")
    other.place(odometry(message, SECOND, 1.0, 0.0, 0.0, 0.0, 0.0), 0)
    other.place(odometry(message, SECOND, *numbers), 0)
    assert other.pose_at(SECOND).position == (1.0, 0.0, 0.0)
    assert other.speed == 0.0


def robot(geometry, place="0 0 0"):
    parts = "".join(
        f"<{tag}><origin xyz='{place}'/><geometry>{geometry}</geometry></{tag}>" for tag in ("visual", "collision")
    )
    return f"<robot name='robot'><link name='body'>{parts}</link></robot>"


@pytest.mark.parametrize("description", [robot("<box size='1e12 1 1'/>"), robot("<sphere radius='1'/>", "0 1e300 0")])
def test_an_excessive_shape_is_refused(description):
    other = OtherVehicle("other")
    with pytest.raises((DescriptionError, WorldError), match="reaches"):
        other.describe(description)
    assert other.collisions(0) == []


@pytest.mark.parametrize(
    "geometry", ["<box size='0 1 1'/>", "<sphere radius='-1'/>", "<cylinder radius='0' length='1'/>"]
)
def test_shapes_without_a_size_are_left_out(geometry):
    other = OtherVehicle("other")
    other.describe(robot(geometry))
    assert other.visuals(0) == other.collisions(0) == []


def test_the_speed_of_a_turning_vehicle_is_that_of_its_corners(message):
    other = OtherVehicle("other")
    other.describe(robot("<box size='4 3 1'/>"))
    other.place(odometry(message, SECOND, 0.0, 0.0, 0.0, 0.0, 2.0), 0)
    assert other.speed == pytest.approx(2.0 * 2.5)


def description_of(parameters):
    model = models()[parameters.model]
    return urdf(model.name, parameters.vehicle, model.xacro)


def car_among(*movers):
    """A car in an empty world with moving things."""
    parameters = load_parameters("ackermann_car")
    vehicle = make_guarded_vehicle(parameters)
    vehicle.max_command_age = 1e6
    footprint = footprint_of(description_of(parameters), vehicle.model.geometry(parameters.vehicle))
    return WorldPlant(vehicle, footprint, Surroundings(load_world("empty").interpreted(), movers), "stop")


def test_a_vehicle_that_is_gone_is_no_obstacle(probe):
    """A car drives against another one, which then falls silent: no message announces that the way is free."""
    others = OtherVehicles(probe.graph, "other")
    plant = car_among(others)
    plant.vehicle.enter(twist(5.0, 0.0, 0.0), 0)
    truth = Topic("/other/ground_truth", topics.GROUND_TRUTH.type)
    description = topics.ROBOT_DESCRIPTION

    def describe(message):
        message.data = description_of(load_parameters("ackermann_car"))

    def heard():
        probe.send(truth, lambda message: odometry(message, 0, 6.0, 0.0, 0.0, 0.0, 0.0))
        probe.serve(0.05)
        others.look()
        return others.collisions(0)

    probe.send(Topic(f"/other/{description.name}", description.type, description.qos), describe)
    probe.until(heard, "the other vehicle")
    for k in range(1, 41):
        probe.until(heard, "the other vehicle")  # it is there, however long a step takes
        plant.advance(k * SECOND // 10)
    stopped = plant.motion(0).x
    assert [contact.thing.name for contact in plant.contacts] == ["other::chassis"]
    probe.serve(1.2 * SILENCE / SECOND)
    others.look()
    plant.advance(6 * SECOND)
    assert plant.motion(0).x > stopped + 1.0
    assert plant.contacts == ()


def test_a_vehicle_at_rest_is_in_contact_while_another_one_is_placed_at_it(message):
    """The contacts of a vehicle at rest, whose own steps do not search for contacts."""
    other = OtherVehicle("other")
    other.describe(description_of(load_parameters("ackermann_car")))
    moving = OneOther(other)
    plant = car_among(moving)
    for k, (x, touches) in enumerate([(20.0, False), (2.0, True), (20.0, False)]):
        other.place(odometry(message, k * SECOND, x, 0.0, 0.0, 0.0, 0.0), 0)
        moving.changes += 1
        plant.advance((k + 1) * SECOND)
        assert bool(plant.contacts) == touches


@pytest.mark.parametrize("name", ["1abc", "red/blue-green", "a//b", "é"])
def test_an_invalid_namespace_is_refused(probe, name):
    with pytest.raises(ArgumentError, match="parameter 'other_vehicles'"):
        OtherVehicles(probe.graph, f"red {name}")


class OneOther:
    """One other vehicle as a moving thing."""

    top_speed = 0.0

    def __init__(self, other):
        self.changes = 0
        self.visuals, self.collisions = other.visuals, other.collisions

    def next_turn(self, time):
        return math.inf


def test_another_vehicle_has_the_shapes_of_its_description_and_is_gone_when_silent(message):
    other = OtherVehicle("other")
    assert not other.present
    other.describe(description_of(load_parameters("ackermann_car")))
    assert not other.present
    other.place(odometry(message, SECOND, 10.0, 0.0, 0.0, 0.0, 0.0), 0)
    assert not other.present  # that was long ago
    names = {thing.name for thing in other.collisions(SECOND)}
    assert {"other::chassis", "other::fixed_wheel_left"} <= names
    (chassis,) = [thing for thing in other.collisions(SECOND) if thing.name == "other::chassis"]
    assert chassis.pose[:3, 3] == pytest.approx((10.0 + 1.35, 0.0, 0.325), abs=0.02)


def known(graph, topic):
    """Whether the topic's type is installed; with ROS, a package provides it."""
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

    truths = probe.received[truth.name]

    def stopped() -> bool:
        x = truths[-1].pose.pose.position.x
        near = probe.steadily(truth, lambda message: message.pose.pose.position.x == pytest.approx(x, abs=1e-3))
        return near and x < 5.0 and (not told or bool(probe.received[contacts.name]))

    probe.hold(Topic("/two/twist_reference", topics.TWIST_REFERENCE.type), forwards, stopped, "a contact")
    if told:
        (contact, *_) = probe.received[contacts.name][0].contacts
        assert contact.collision1.name == "two"
        assert contact.collision2.name.startswith("one::")
        assert contact.depths[0] < 0.01
    assert truths[-1].pose.pose.position.x > 0.5
    assert [node.stop() for node in nodes] == [0, 0], nodes[0].output
