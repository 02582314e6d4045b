"""A vehicle's surroundings on the page, from valid and invalid messages."""

import time

import numpy as np
import pytest
from helpers.processes import PATIENCE

from vds_gz.programs.web.page_scene import CLOUD, FLOAT32, LOOK_PERIOD, NEWEST, SCAN, WorldView


def show(around, graph, publisher, message) -> None:
    """Publish a message often enough that the view has received it."""
    end = time.monotonic() + PATIENCE
    while not publisher.subscription_count() and time.monotonic() < end:
        around.tick()
        graph.wait(0.1 * LOOK_PERIOD)
    assert publisher.subscription_count()
    for _ in range(10):
        publisher.publish(message)
        graph.wait(0.05)


@pytest.mark.parametrize(
    ("base", "frame", "met"),
    [
        ("base_link", "base_link", 2),
        ("red/base_link", "red/base_link", 2),
        ("red_base_footprint", "red_base_footprint", 2),
        ("base_link", "velodyne_base_link", 0),
    ],
)
def test_points_are_drawn_at_their_frame_and_not_while_its_pose_is_unknown(probe, base, frame, met):
    graph = probe.graph
    truth = graph.message("nav_msgs/msg/Odometry")
    truth.child_frame_id, truth.pose.pose.orientation.w = base, 1.0
    around = WorldView(graph, "/red", lambda: truth)
    publisher = graph.publisher("/red/scan", SCAN, NEWEST)
    message = graph.message(SCAN)
    message.header.frame_id, message.ranges = frame, graph.numbers(2, "float32")
    show(around, graph, publisher, message)
    assert len(around.points["x"]) == met


def test_ranges_of_a_scan_outside_of_its_limits_are_not_drawn(probe):
    graph = probe.graph
    truth = graph.message("nav_msgs/msg/Odometry")
    truth.child_frame_id, truth.pose.pose.orientation.w = "base_link", 1.0
    around = WorldView(graph, "/red", lambda: truth)
    message = graph.message(SCAN)
    message.header.frame_id, message.range_min, message.range_max = "base_link", 0.1, 10.0
    message.ranges = [0.0, 0.05, 0.2, 5.0, 9.5, 10.5, np.inf, np.nan]
    show(around, graph, graph.publisher("/red/scan", SCAN, NEWEST), message)
    assert around.points["x"] == [0.2, 5.0, 9.5]


@pytest.mark.parametrize("point_step", [0, 8, 25, 2**32 - 1])
def test_a_cloud_whose_points_are_shorter_than_their_fields_or_longer_than_the_cloud_is_ignored(probe, point_step):
    graph = probe.graph
    around = WorldView(graph, "/red", lambda: None)
    publisher = graph.publisher("/red/points", CLOUD, NEWEST)
    message = graph.message(CLOUD)
    message.point_step = point_step
    for offset, axis in enumerate("xyz"):
        field = graph.message("sensor_msgs/msg/PointField")
        field.name, field.offset, field.datatype, field.count = axis, 4 * offset, FLOAT32, 1
        message.fields.append(field)
    message.data = graph.numbers(24, "uint8")
    show(around, graph, publisher, message)
    assert around.points_version == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 3.4e38])
@pytest.mark.parametrize("field", ["angle_min", "angle_increment", "ranges"])
def test_any_numbers_of_a_scan_or_of_the_truth_are_drawn_or_left_out_in_silence(probe, field, number):
    graph = probe.graph
    truth = graph.message("nav_msgs/msg/Odometry")
    truth.child_frame_id, truth.pose.pose.position.x = "base_link", number
    around = WorldView(graph, "/red", lambda: truth)
    publisher = graph.publisher("/red/scan", SCAN, NEWEST)
    message = graph.message(SCAN)
    message.header.frame_id, message.ranges, message.range_max = "base_link", [1.0, 2.0], np.inf
    setattr(message, field, [number, 1.0] if field == "ranges" else number)
    show(around, graph, publisher, message)
    assert np.isfinite([around.points["x"], around.points["y"]]).all()
