"""Outputs of a vehicle that leaves the plane, received over the graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from helpers.processes import Probe

from vds_gz.core.geometry import Attitude, Pose
from vds_gz.core.ros.messages.fields import EXACT
from vds_gz.core.sensing.drift import PoseCovariance
from vds_gz.core.sensing.estimate import StateEstimate
from vds_gz.core.vehicle.vehicle import Motion
from vds_gz.core.vehicle.vehicle_model import JointStates
from vds_gz.programs.interface import topics
from vds_gz.programs.interface.outputs import FrameNames, Outputs, Snapshot

pytestmark = pytest.mark.graph

POSTURE = Attitude(z=1.6, roll=0.1, pitch=-0.3, v_z=0.04, roll_rate=0.05, pitch_rate=0.06)
TRUTH = Pose(3.0, -2.0, 2.5)
MAP_TO_ODOM = Pose(1.0, 0.5, -0.7)


def matrix(translation: Any, rotation: Any) -> np.ndarray:
    """A transform as 4x4 matrix."""
    x, y, z, w = rotation.x, rotation.y, rotation.z, rotation.w
    assert math.hypot(x, y, z, w) == pytest.approx(1.0)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), translation.x],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x), translation.y],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y), translation.z],
            [0, 0, 0, 1],
        ]
    )


@pytest.mark.parametrize("T_map_odom", [None, MAP_TO_ODOM])
def test_the_frames_and_odometry_agree_in_space(probe: Probe, T_map_odom: Pose | None):
    odom = TRUTH if T_map_odom is None else TRUTH.seen_from(T_map_odom)
    motion = Motion(TRUTH.x, TRUTH.y, TRUTH.heading, 1.0, 0.02, 0.03)
    outputs = Outputs(probe.graph, FrameNames("map", "odom", "base_link"), [], [], T_map_odom is None, flat=False)
    probe.listen(topics.TF, topics.ODOM, topics.GROUND_TRUTH)
    joints = JointStates((), ())
    covariance = PoseCovariance(xx=0.5, yy=0.4, yaw=0.25, xy=0.1, x_yaw=-0.2, y_yaw=0.3)
    estimate = StateEstimate(odom, covariance, T_map_odom, 1.0, 0.04, 0.0)
    snapshot = Snapshot(7, motion, estimate, joints, (), (), POSTURE)

    def complete() -> bool:
        for output in outputs.outputs:
            if output.subscribed():
                output.publish(snapshot.time, output.values(snapshot))
        return len(probe.received) == 3

    probe.until(complete, "messages on all three topics")

    truth, measured = (probe.received[topic.name][-1] for topic in (topics.GROUND_TRUTH, topics.ODOM))
    chain = np.eye(4)
    for transform in probe.received[topics.TF.name][-1].transforms:
        chain = chain @ matrix(transform.transform.translation, transform.transform.rotation)
    true = matrix(truth.pose.pose.position, truth.pose.pose.orientation)
    assert chain == pytest.approx(true, abs=1e-12)
    assert true[:3, 3] == pytest.approx((3.0, -2.0, 1.6))
    # The nose is up by 0.3 rad, and the left side is the higher one.
    assert true[2, 0] == pytest.approx(math.sin(0.3))
    assert true[2, 1] == pytest.approx(math.sin(0.1) * math.cos(0.3))
    assert math.atan2(true[1, 0], true[0, 0]) == pytest.approx(2.5)

    assert measured.pose.pose.position.z == 1.6
    for message in (truth, measured):
        linear, angular = message.twist.twist.linear, message.twist.twist.angular
        assert (linear.x, linear.y, linear.z) == (1.0, 0.02, 0.04)
        assert (angular.x, angular.y, angular.z) == (0.05, 0.06, 0.03)
    expected = EXACT * np.eye(6)
    expected[np.ix_([0, 1, 5], [0, 1, 5])] += [[0.5, 0.1, -0.2], [0.1, 0.4, 0.3], [-0.2, 0.3, 0.25]]
    assert np.reshape(measured.pose.covariance, (6, 6)) == pytest.approx(expected)
    assert list(measured.twist.covariance[::7]) == pytest.approx([EXACT + 0.04] + [EXACT] * 5)
    for exact in (truth.pose.covariance, truth.twist.covariance):
        assert np.reshape(exact, (6, 6)) == pytest.approx(EXACT * np.eye(6))
