"""Each published covariance is the sample covariance of many seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.geometry import Pose, Transform
from vds_gz.core.parameters.node import AmclParameters, LocalizationParameters, MeasurementNoiseParameters
from vds_gz.core.sensing.body import BodyState
from vds_gz.core.sensing.drift import DriftCovariance, PoseCovariance
from vds_gz.core.sensing.estimate import StateEstimator
from vds_gz.core.sensing.sensors.gnss import Gnss, GnssModel
from vds_gz.core.sensing.sensors.imu import Imu, ImuModel
from vds_gz.core.world.geodesy import GRAVITY, NULL_ISLAND, LocalFrame

SEEDS = 200

#: Bound of a deviation in standard deviations of a sample covariance.
BOUND = 4.5

Sample = tuple[Sequence[float], np.ndarray]  # errors and their covariance, as published


def matrix(c: PoseCovariance) -> np.ndarray:
    return np.array([[c.xx, c.xy, c.x_yaw], [c.xy, c.yy, c.y_yaw], [c.x_yaw, c.y_yaw, c.yaw]])


def errors_of(estimate: Pose, truth: Pose) -> tuple[float, float, float]:
    return estimate.x - truth.x, estimate.y - truth.y, math.remainder(estimate.heading - truth.heading, math.tau)


def odometry(path: list[Pose], **localization: float) -> Callable[[int], Sample]:
    """The last estimate of a vehicle that follows a path."""

    def sample(seed: int) -> Sample:
        estimator = StateEstimator(LocalizationParameters(seed=seed, **localization), start=path[0])
        for k, pose in enumerate(path):
            estimate = estimator.update(20_000_000 * k, pose, 0.0, 0.0, 0.02)
        return errors_of(estimate.T_odom_base, path[-1]), matrix(estimate.odom_covariance)

    return sample


def measured(seed: int) -> Sample:
    """The first estimate of a standing vehicle with measurement noise: pose and speed."""
    noise = MeasurementNoiseParameters(True, 0.5, 0.2, 0.1, seed=seed)
    estimate = StateEstimator(noise=noise).update(0, START, 1.0, 0.0, 0.02)
    covariance = np.zeros((4, 4))
    covariance[:3, :3], covariance[3, 3] = matrix(estimate.odom_covariance), estimate.speed_variance
    return (*errors_of(estimate.T_odom_base, START), estimate.speed - 1.0), covariance


def amcl(deviations: tuple[float, float, float]) -> Callable[[int], Sample]:
    """AMCL's last estimate on a curve, with a random initial pose of these standard deviations [m, m, rad]."""

    def sample(seed: int) -> Sample:
        settings = AmclParameters(position_std=0.1, heading_std=0.05, correlation_distance=8.0)
        localization = LocalizationParameters(seed=seed, style="amcl", amcl=settings)
        estimator = StateEstimator(localization, start=START)
        drawn = np.clip(np.random.default_rng(seed).standard_normal(3), -2.9, 2.9) * deviations
        estimator.amcl.initialise(Pose(START.x + drawn[0], START.y + drawn[1], START.heading + drawn[2]), deviations)
        for k, truth in enumerate(CURVE):
            for scan in estimator.update(100_000_000 * k, truth, 0.0, 0.0, 0.1).scans:
                if scan.T_map_base is not None:
                    last = errors_of(scan.T_map_base, truth), np.diag(scan.variances)
        return last

    return sample


def imu(seed: int) -> Sample:
    """The last sample of a unit with white noise and biases that walk."""
    parameters = Imu(
        angular_velocity_white_noise=0.01,
        angular_velocity_bias=0.02,
        angular_velocity_bias_stddev=0.01,
        angular_velocity_random_walk=0.01,
        linear_acceleration_white_noise=0.1,
        linear_acceleration_random_walk=0.1,
        bias_correlation_time=2.0,
    )
    model = ImuModel(parameters, "imu", seed)
    for k in range(60):
        reading = model.measure(BodyState(50_000_000 * k, Transform()), GRAVITY)
    x, y, z = reading.linear_acceleration
    covariance = np.diag([reading.rate_variance] * 3 + [reading.acceleration_variance] * 3)
    return (*reading.angular_velocity, x, y, z + GRAVITY[2]), covariance


def gnss(layout: str) -> Callable[[int], Sample]:
    """The last fix of a receiver with white and correlated noise: to the east, to the north and up."""

    def sample(seed: int) -> Sample:
        origin = replace(NULL_ISLAND, latitude=48.0, longitude=11.0)
        parameters = Gnss(
            layout=layout,
            horizontal_std_noise=1.0,
            vertical_std_noise=2.0,
            correlated_horizontal_std=1.5,
            correlated_vertical_std=0.5,
            xyz=(0.0, 0.0, 0.0),
        )
        model = GnssModel(parameters, "gnss", seed)
        for k in range(5):
            fix = model.measure(BodyState(1_000_000_000 * k, Transform()), origin)
        return enu(fix.position, origin), np.diag(fix.variances)

    return sample


def enu(position: Sequence[float], origin) -> tuple[float, float, float]:
    """A place near the origin in metres to the east, to the north and up."""
    frame, step = LocalFrame(origin), 1.0
    at = np.array(frame.geodetic((0.0, 0.0, 0.0)))
    scale = [np.array(frame.geodetic(tuple(step * np.eye(3)[i]))) - at for i in range(3)]
    return tuple(np.linalg.solve(np.array(scale).T, np.array(position) - at))


START = Pose(1.3, -2.0, 0.5)
STRAIGHT = [START.then(Pose(0.5 * k, 0.0, 0.0)) for k in range(41)]
CURVE = [START.then(Pose(4.0 * math.sin(0.1 * k), 4.0 * (1.0 - math.cos(0.1 * k)), 0.1 * k)) for k in range(45)]


@pytest.mark.parametrize(
    "sample",
    [
        odometry(STRAIGHT),
        odometry(CURVE),
        odometry(CURVE, odom_walk_velocity_rotation=0.03),
        measured,
        amcl((0.5, 0.5, 0.2)),
        amcl((2.0, 0.1, 0.05)),
        imu,
        gnss("driver"),
        gnss("gazebo"),
    ],
    ids=[
        *("straight", "curve", "large drift", "measurement noise", "amcl", "amcl with one uncertain axis"),
        *("imu", "gnss driver", "gnss gazebo"),
    ],
)
def test_the_covariance_is_that_of_many_seeds(sample):
    samples = [sample(seed) for seed in range(SEEDS)]
    errors, published = np.array([error for error, _ in samples]), samples[0][1]
    variances = np.diag(published)
    # The sampling error of an element of the covariance of normal errors.
    deviation = np.sqrt((np.outer(variances, variances) + published**2) / (SEEDS - 1))
    assert np.all(variances > 0.0)
    assert np.all(np.abs(np.cov(errors.T) - published) <= BOUND * deviation)


@given(st.lists(st.tuples(st.floats(-0.1, 0.1), st.floats(-0.1, 0.1)), min_size=1, max_size=50))
def test_small_drift_is_propagated_linearly(steps: list[tuple[float, float]]):
    """P' = F P F^T + Q, to first order."""
    exact, linear = DriftCovariance(), np.zeros((3, 3))
    for dx, dy in steps:
        exact.add(dx, dy, 1e-9, 1e-6)
        f = np.array([[1.0, 0.0, -dy], [0.0, 1.0, dx], [0.0, 0.0, 1.0]])
        linear = f @ linear @ f.T + np.diag((1e-9, 1e-9, 1e-6))
    assert matrix(exact.value) == pytest.approx(linear, rel=1e-3, abs=1e-12)


def test_the_position_variance_of_a_straight_drive():
    """q L^3 / 3 to the side, for a small drift q of the heading [rad^2/m] over a length L."""
    length, rotation, steps = 50.0, 1e-6, 5000
    drift = DriftCovariance()
    for _ in range(steps):
        drift.add(length / steps, 0.0, 0.0, rotation * length / steps)
    assert drift.value.yy == pytest.approx(rotation * length**3 / 3.0, rel=1e-3)
    assert drift.value.y_yaw == pytest.approx(rotation * length**2 / 2.0, rel=1e-3)


@pytest.mark.parametrize("start", [None, START])
def test_nothing_drifts_before_anything_moves(start: Pose | None):
    estimator = StateEstimator(LocalizationParameters(), start=start)
    for k in range(10):
        estimate = estimator.update(20_000_000 * k, START, 0.0, 0.0, 0.02)
        assert errors_of(estimate.T_odom_base, START) == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
    assert estimate.odom_covariance == PoseCovariance()
