"""What a node publishes with a covariance: exact before anything moves, and covariances that filters can use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.guest import needs_autoware
from helpers.live_node import LiveNode, live_node

from vds_gz.core.ros.messages.fields import EXACT
from vds_gz.core.vehicle.command import twist

IMU_FIELDS = ("orientation", "angular_velocity", "linear_acceleration")


def last_pose(live: LiveNode, topic: str) -> tuple[list[float], np.ndarray]:
    """Position and orientation of the last message, and the covariance."""
    pose = live.received[topic][-1].pose
    at, turn = pose.pose.position, pose.pose.orientation
    return [at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w], np.reshape(pose.covariance, (6, 6))


@pytest.mark.parametrize(
    "parameters",
    [
        {"model": "bicycle", "model_params__bicycle__base_link_offset": 1.3},
        {"model": "bicycle", "model_params__bicycle__base_link_offset": 1.3, "world": "outdoor"},
        {"model": "differential", "model_params__differential__base_link_offset": -0.4, "localization__style": "amcl"},
    ],
    ids=["plane", "world", "amcl"],
)
def test_odometry_is_exact_before_anything_moves(domain, parameters: dict):
    with live_node(simulate_localization=True, be_reference_clock=True, **parameters) as live:
        live.simulation.pause(True)

        def check() -> None:
            live.received.clear()
            live.step(0.1)
            (odom, covariance), (truth, _) = (last_pose(live, topic) for topic in ("/odom", "/ground_truth"))
            assert odom == pytest.approx(truth, abs=1e-9)
            assert covariance == pytest.approx(EXACT * np.eye(6), rel=1e-6, abs=1e-18)

        check()
        live.command(twist(1.0, 0.0, 0.1))
        live.step(3.0)
        assert np.trace(last_pose(live, "/odom")[1]) > 1e-3
        live.simulation.reset(time=False, state=True)
        check()


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param(
            {"model": "delay_steer_vel", "measurement_noise__add_measurement_noise": True}, marks=needs_autoware
        ),
        {"model": "differential", "simulate_localization": True},
        {"model": "differential", "simulate_localization": True, "localization__style": "amcl"},
    ],
    ids=["measurement noise", "drift", "amcl"],
)
def test_every_covariance_is_symmetric_positive_and_never_zero_where_it_is_known(domain, parameters: dict):
    exact_imu = {
        "sensors__exact__type": "imu",
        "sensors__exact__measure_orientation": True,
        "sensors__exact__angular_velocity_white_noise": 0.0,
        "sensors__exact__linear_acceleration_white_noise": 0.0,
    }
    exact_gnss = {
        "sensors__gps__type": "gnss",
        "sensors__gps__layout": "driver",
        "sensors__gps__horizontal_std_noise": 0.0,
        "sensors__gps__vertical_std_noise": 0.0,
    }
    others = {"sensors__imu__type": "imu", "sensors__plain__type": "gnss"}
    certain = {f"localization__amcl__{name}_std": 0.0 for name in ("position", "heading")}
    certain["localization__amcl__correlation_distance"] = 0.02
    with live_node(be_reference_clock=True, **parameters, **exact_imu, **exact_gnss, **others, **certain) as live:
        live.simulation.pause(True)
        live.command(twist(1.0, 0.0, 0.5))
        live.step(3.0)
        seen = set()
        for topic, messages in live.received.items():
            for field, matrix in covariances(messages[-1]):
                seen.add(f"{topic}{field}")
                unknown = -1.0 if topic == "/imu/data" and "orientation" in field else 0.0
                if matrix[0, 0] == unknown:
                    assert topic in ("/imu/data", "/plain/fix")
                    assert np.count_nonzero(matrix) == np.count_nonzero(unknown)
                    continue
                # AMCL estimates a pose in the plane.
                known = matrix[np.ix_([0, 1, 5], [0, 1, 5])] if topic == "/amcl_pose" else matrix
                assert np.array_equal(known, known.T), (topic, field)
                assert np.linalg.eigvalsh(known).min() > 0.5 * EXACT, (topic, field)
        expected = {f"/{topic}.{part}.covariance" for topic in ("odom", "ground_truth") for part in ("pose", "twist")}
        expected |= {f"/{unit}/data.{field}_covariance" for unit in ("imu", "exact") for field in IMU_FIELDS}
        expected |= {f"/{receiver}/fix.position_covariance" for receiver in ("gps", "plain")}
        expected |= {"/amcl_pose.pose.covariance"} if "localization__style" in parameters else set()
        assert seen == expected


def covariances(message: Any, path: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """All covariances of a message by their paths."""
    for field in message.__dataclass_fields__:
        value, place = getattr(message, field), f"{path}.{field}"
        if hasattr(value, "__dataclass_fields__"):
            yield from covariances(value, place)
        elif field.endswith("covariance"):
            side = round(len(value) ** 0.5)
            yield place, np.reshape(np.asarray(value, float), (side, side))
