"""The node with a localization in AMCL's style, as Nav2 and its scripts see it: real processes, real messages."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from helpers.stamps import assert_on_the_grid

from vds_gz.core.ros.messages.fields import stamp_ns, yaw_of
from vds_gz.programs.interface import topics

STYLE = ("-p", "simulate_localization:=true", "-p", "localization.style:=amcl", "-p", "model:=differential")
AHEAD = 1_000_000_000
#: Period of map -> odom [ns].
PERIOD = 100_000_000


def forward(message: Any) -> None:
    message.linear.x = 1.0


def transforms(probe: Any, child: str) -> list[Any]:
    every = (transform for message in probe.received[topics.TF.name] for transform in message.transforms)
    return [transform for transform in every if transform.child_frame_id == child]


def place(probe: Any, x: float, y: float, placed: Callable[[], Any], variance: float = 0.25) -> None:
    """Send an initial pose until the vehicle is placed."""

    def fill(message: Any) -> None:
        message.header.frame_id = "map"
        message.pose.pose.position.x, message.pose.pose.position.y = x, y
        message.pose.covariance[0] = message.pose.covariance[7] = variance

    probe.hold(topics.INITIALPOSE, fill, placed, f"the vehicle at x = {x} m")


def truth(probe: Any) -> tuple[float, float]:
    position = probe.next(topics.GROUND_TRUTH).pose.pose.position
    return position.x, position.y


def found(probe: Any, x: float, y: float) -> bool:
    """Whether AMCL's last pose is about this one."""
    poses = probe.received[topics.AMCL_POSE.name]
    position = poses[-1].pose.pose.position if poses else None
    return position is not None and (position.x, position.y) == pytest.approx((x, y), abs=0.15)


def variance(probe: Any) -> float:
    """The variance of x in AMCL's last pose [m^2]."""
    return float(probe.received[topics.AMCL_POSE.name][-1].pose.covariance[0])


def call(probe: Any, service: tuple[str, str], **fields: Any) -> Any:
    """The response to a request; ``__`` in the names of fields separates the parts of a path."""
    client = probe.graph.client(*service)
    probe.until(client.ready, service[0])
    request, responses = client.request(), []
    for name, value in fields.items():
        part = request
        for step in name.split("__")[:-1]:
            part = getattr(part, step)
        setattr(part, name.split("__")[-1], value)
    client.call(request, responses.append)
    probe.until(lambda: responses, service[0])
    return responses[0]


def test_map_to_odom_is_dated_ahead_and_changes_only_with_amcl_pose(start, probe):
    start(*STYLE)
    probe.listen(topics.TF, topics.AMCL_POSE, topics.ODOM)
    probe.until(lambda: transforms(probe, "odom"), "map -> odom")
    enough = lambda: len(probe.received["amcl_pose"]) > 8  # noqa: E731
    probe.hold(topics.TWIST_REFERENCE, forward, enough, "eight updates")
    last = stamp_ns(probe.received["amcl_pose"][-1].header.stamp) + AHEAD
    probe.until(lambda: stamp_ns(transforms(probe, "odom")[-1].header.stamp) > last, "what the last one has changed")
    held, odometry = transforms(probe, "odom"), transforms(probe, "base_link")
    assert {transform.header.frame_id for transform in held} == {"map"}
    stamps = [stamp_ns(transform.header.stamp) for transform in held]
    assert_on_the_grid(stamps, PERIOD)
    # Each belongs to an instant of the odometry. The probe may lack the odometry of the first ones and of the last one.
    instants = {stamp_ns(transform.header.stamp) for transform in odometry}
    first, last = min(instants), max(instants)
    assert {stamp - AHEAD for stamp in stamps if first <= stamp - AHEAD <= last} <= instants

    updates = {stamp_ns(message.header.stamp): message for message in probe.received["amcl_pose"]}
    values = [
        (transform.transform.translation.x, transform.transform.translation.y, transform.transform.rotation.z)
        for transform in held
    ]
    changes = zip(itertools.pairwise(stamps), itertools.pairwise(values), strict=True)
    steps = [now - AHEAD for (before, now), (a, b) in changes if now - before == PERIOD and a != b]
    odom = {stamp_ns(message.header.stamp): message.pose.pose for message in probe.received["odom"]}
    # A delayed listener misses some messages, mostly poses, because the publisher keeps only the last pose.
    heard = [at for at in steps if at in updates and at in odom]
    assert len(heard) >= 5
    assert len(heard) > len(steps) / 2
    for at in heard:
        pose, base = updates[at].pose.pose, odom[at]
        turned = yaw_of(held[stamps.index(at + AHEAD)].transform.rotation)
        x, y, _ = values[stamps.index(at + AHEAD)]
        far, to = math.hypot(base.position.x, base.position.y), math.atan2(base.position.y, base.position.x)
        assert (pose.position.x, pose.position.y) == pytest.approx(
            (x + far * math.cos(turned + to), y + far * math.sin(turned + to)), abs=1e-9
        )
    for before, now in itertools.pairwise(heard):
        assert math.dist(*((odom[at].position.x, odom[at].position.y) for at in (before, now))) > 0.24
    assert updates[heard[-1]].header.frame_id == "map"
    covariance = list(updates[heard[-1]].pose.covariance)
    assert covariance[0] == covariance[7] > 0.0 < covariance[35]
    assert sum(map(bool, covariance)) == 3


def test_a_late_subscriber_gets_the_last_pose(start, probe):
    start(*STYLE)
    probe.listen(topics.ODOM)
    probe.until(lambda: len(probe.received["odom"]) > 60, "a while")
    probe.listen(topics.AMCL_POSE)
    probe.until(lambda: probe.received["amcl_pose"], "the latched pose")
    probe.serve(0.5)
    assert len(probe.received["amcl_pose"]) == 1


def test_amcl_waits_for_an_initial_pose_which_also_moves_the_vehicle(start, probe):
    start(*STYLE, "-p", "localization.amcl.set_initial_pose:=false")
    probe.listen(topics.TF, topics.AMCL_POSE, topics.GROUND_TRUTH)
    probe.until(lambda: len(transforms(probe, "base_link")) > 50, "odom -> base_link")
    assert transforms(probe, "odom") == []
    place(probe, 3.0, -2.0, lambda: found(probe, 3.0, -2.0))
    assert variance(probe) == pytest.approx(0.25 + 0.03**2)
    probe.until(lambda: truth(probe) == (3.0, -2.0), "the vehicle there too")
    probe.until(lambda: transforms(probe, "odom"), "map -> odom")


def test_an_initial_pose_may_be_for_amcl_alone(start, probe):
    start(*STYLE, "-p", "localization.amcl.initialpose:=amcl")
    probe.listen(topics.AMCL_POSE, topics.GROUND_TRUTH)
    probe.until(lambda: probe.received["amcl_pose"], "a first pose")
    place(probe, 30.0, -2.0, lambda: found(probe, 30.0, -2.0))
    assert truth(probe) == (0.0, 0.0)
    call(probe, topics.REINITIALIZE_LOCALIZATION)
    probe.until(lambda: variance(probe) == pytest.approx(25.0, rel=0.01), "a pose that is anywhere")
    call(probe, topics.NOMOTION_UPDATE)
    probe.until(lambda: variance(probe) < 20.0, "a pose that is better known")


def test_a_kidnapping_changes_only_the_ground_truth(start, probe):
    start(*STYLE, "-p", "localization.amcl.initialpose:=vehicle")
    probe.listen(topics.AMCL_POSE, topics.GROUND_TRUTH, topics.TF, topics.ODOM)
    probe.until(lambda: probe.received["amcl_pose"] and transforms(probe, "odom"), "a first pose")
    place(probe, 30.0, -2.0, lambda: truth(probe) == (30.0, -2.0))
    seen = len(transforms(probe, "odom"))
    probe.until(lambda: len(transforms(probe, "odom")) > seen + 5, "more of map -> odom")
    assert len(probe.received["amcl_pose"]) == 1
    assert (
        len(
            {
                (transform.transform.translation.x, transform.transform.rotation.z)
                for transform in transforms(probe, "odom")
            }
        )
        == 1
    )
    assert probe.received["odom"][-1].pose.pose.position.x == 0.0


def test_a_lifecycle_manager_activates_and_shuts_down_amcl(start, probe):
    start(*STYLE, "-p", "localization.amcl.lifecycle:=managed", "-r", "__ns:=/car")
    services = [(f"/car/{name}", kind) for name, kind in (topics.AMCL_GET_STATE, topics.AMCL_CHANGE_STATE)]
    probe.listen(topics.TF)

    def change(transition: int) -> tuple[bool, str]:
        success = call(probe, services[1], transition__id=transition).success
        return success, call(probe, services[0]).current_state.label

    assert call(probe, services[0]).current_state.label == "unconfigured"
    assert change(3) == (False, "unconfigured")
    assert change(99) == (False, "unconfigured")
    assert change(1) == (True, "inactive")
    probe.until(lambda: transforms(probe, "base_link"), "odom -> base_link")
    assert transforms(probe, "odom") == []
    assert change(3) == (True, "active")
    probe.until(lambda: transforms(probe, "odom"), "map -> odom")
    assert change(4) == (True, "inactive")
    assert change(2) == (True, "unconfigured")
    assert change(5) == (True, "finalized")


def test_by_default_there_are_no_lifecycle_services(start, probe):
    start(*STYLE)
    probe.listen(topics.AMCL_POSE)
    probe.until(lambda: probe.received["amcl_pose"], "a first pose")
    probe.serve(0.5)
    assert not probe.graph.client(*topics.AMCL_GET_STATE).ready()


#: What ``BasicNavigator.waitUntilNav2Active`` does about its localizer, over rclpy.
WAITING = """
import rclpy
from geometry_msgs.msg import PoseWithCovarianceStamped
from lifecycle_msgs.srv import GetState
from rclpy.qos import QoSDurabilityPolicy, QoSHistoryPolicy, QoSProfile, QoSReliabilityPolicy

rclpy.init()
node = rclpy.create_node("basic_navigator")
qos = QoSProfile(
    durability=QoSDurabilityPolicy.TRANSIENT_LOCAL,
    reliability=QoSReliabilityPolicy.RELIABLE,
    history=QoSHistoryPolicy.KEEP_LAST,
    depth=1,
)
poses = []
node.create_subscription(PoseWithCovarianceStamped, "amcl_pose", poses.append, qos)
client = node.create_client(GetState, "amcl/get_state")
assert client.wait_for_service(timeout_sec=30.0)
label = ""
while label != "active":
    future = client.call_async(GetState.Request())
    rclpy.spin_until_future_complete(node, future, timeout_sec=30.0)
    label = future.result().current_state.label
while not poses:
    rclpy.spin_once(node, timeout_sec=1.0)
print("active", poses[0].header.frame_id)
"""


@pytest.mark.ros
def test_scripts_that_wait_for_amcl_continue(start):
    start(*STYLE, "-p", "localization.amcl.lifecycle:=active")
    done = subprocess.run([sys.executable, "-c", WAITING], capture_output=True, text=True, timeout=90, check=False)
    assert done.stdout.strip() == "active map", done.stderr


@pytest.mark.parametrize("drifts", [False, True])
def test_with_another_localizer_the_node_publishes_no_map_to_odom(start, probe, drifts):
    """No map -> odom from here, moving or fixed; the pose that RViz estimates need not move the vehicle."""
    start(
        *("-p", "localization.style:=external", "-p", "localization.amcl.initialpose:=amcl"),
        *("-p", f"simulate_localization:={str(drifts).lower()}", "-p", "model:=differential"),
    )
    probe.listen(topics.TF, topics.TF_STATIC, topics.ODOM, topics.GROUND_TRUTH)
    unsure = lambda: probe.next(topics.ODOM).pose.covariance[0] > 1e-4  # noqa: E731
    far = lambda: truth(probe)[0] > 0.2  # noqa: E731
    probe.hold(topics.TWIST_REFERENCE, forward, unsure if drifts else far, "a drive")
    seen = len(transforms(probe, "base_link"))
    place(probe, 5.0, 1.0, lambda: len(transforms(probe, "base_link")) > seen + 20)
    assert truth(probe)[0] < 3.0
    assert not transforms(probe, "odom")
    assert not any(
        transform.child_frame_id == "odom" for m in probe.received["/tf_static"] for transform in m.transforms
    )
