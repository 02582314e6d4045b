"""The simulated localization: variances, frames and repeatability."""

import dataclasses
import math
from itertools import pairwise

import numpy as np
import pytest

from vds_gz.core.geometry import Pose
from vds_gz.core.parameters.node import LocalizationParameters
from vds_gz.core.sensing.drift import PoseCovariance
from vds_gz.core.sensing.localization import Localization

EXACT = LocalizationParameters(
    odom_walk_velocity_translation=0.0,
    odom_walk_velocity_rotation=0.0,
    map_sample_noise_translation=0.0,
    map_sample_noise_rotation=0.0,
)
INTERVAL = 0.02  # time between two updates [s]
SAMPLES = 4000
#: Tolerance of estimated variances: four times their relative standard deviation.
SPREAD = 4.0 * math.sqrt(2.0 / SAMPLES)


def close(pose: Pose, other: Pose, tolerance: float = 1e-9) -> bool:
    return dataclasses.astuple(pose) == pytest.approx(dataclasses.astuple(other), abs=tolerance)


def along_a_curve(steps: int, distance: float = 0.02, turn: float = 0.01) -> list[Pose]:
    """Poses with equal steps between them."""
    poses = [Pose(1.0, -2.0, 0.5)]
    for _ in range(steps):
        poses.append(poses[-1].then(Pose(distance, 0.0, turn)))
    return poses


def columns(poses: list[Pose]) -> np.ndarray:
    return np.array([dataclasses.astuple(pose) for pose in poses]).T


def drifts(parameters, distance: float) -> np.ndarray:
    """Errors that the odometry added to each true step: x, y, heading, one column per step."""
    poses = along_a_curve(SAMPLES, distance)
    localization = Localization(parameters, poses[0])
    result = []
    for before, pose in pairwise(poses):
        odom = localization.T_odom_base
        localization.update(pose, INTERVAL)
        result.append(localization.T_odom_base.seen_from(odom).seen_from(pose.seen_from(before)))
    return columns(result)


def map_errors(parameters, interval: float) -> np.ndarray:
    """Errors of the pose by map -> odom -> base_link, in the axes of the true pose."""
    poses = along_a_curve(SAMPLES)
    localization = Localization(parameters, poses[0])
    result = []
    for pose in poses[1:]:
        localization.update(pose, interval)
        result.append(localization.T_map_odom.then(localization.T_odom_base).seen_from(pose))
    return columns(result)


# Without noise


def test_without_noise_odometry_is_the_true_pose():
    path = along_a_curve(500)
    localization = Localization(EXACT, path[0])
    for pose in path[1:]:
        localization.update(pose, INTERVAL)
        assert close(localization.T_odom_base, pose)


def test_without_noise_map_to_odom_times_odom_is_the_true_pose():
    path = along_a_curve(500)
    localization = Localization(EXACT, path[0])
    for pose in path[1:]:
        localization.update(pose, INTERVAL)
        assert close(localization.T_map_odom.then(localization.T_odom_base), pose)
        assert close(localization.T_map_odom, Pose())


def test_the_heading_counts_full_turns():
    path = along_a_curve(1000, turn=0.05)
    localization = Localization(EXACT, path[0])
    for pose in path[1:]:
        localization.update(pose, INTERVAL)
    assert localization.T_odom_base.heading == pytest.approx(path[0].heading + 50.0)


# Variances


@pytest.mark.parametrize("distance", [0.005, 0.02, 0.08])
def test_the_variance_of_drift_is_proportional_to_the_distance(distance):
    p = LocalizationParameters(odom_walk_velocity_translation=0.0025, odom_walk_velocity_rotation=0.0076)
    x, y, heading = drifts(p, distance)
    # The distance driven counts along chords, which here are the steps.
    assert np.var(x) == pytest.approx(0.0025 * distance, rel=SPREAD)
    assert np.var(y) == pytest.approx(0.0025 * distance, rel=SPREAD)
    assert np.var(heading) == pytest.approx(0.0076 * distance, rel=SPREAD)


def test_drift_has_no_bias_and_no_correlation():
    result = drifts(LocalizationParameters(), 0.02)
    scaled = result / result.std(axis=1, keepdims=True)
    limit = 4.0 / math.sqrt(SAMPLES)
    assert np.abs(scaled.mean(axis=1)).max() < limit
    assert np.abs(np.corrcoef(scaled) - np.eye(3)).max() < limit
    after_one_another = [np.corrcoef(row[:-1], row[1:])[0, 1] for row in scaled]
    assert np.abs(after_one_another).max() < limit


@pytest.mark.parametrize("interval", [0.005, 0.02, 0.1])
def test_the_variance_of_the_pose_in_the_map_is_the_density_over_the_interval(interval):
    p = dataclasses.replace(EXACT, map_sample_noise_translation=2.5e-5, map_sample_noise_rotation=3.1e-6)
    x, y, heading = map_errors(p, interval)
    assert np.var(x) == pytest.approx(2.5e-5 / interval, rel=SPREAD)
    assert np.var(y) == pytest.approx(2.5e-5 / interval, rel=SPREAD)
    assert np.var(heading) == pytest.approx(3.1e-6 / interval, rel=SPREAD)


def test_the_pose_in_the_map_does_not_drift_with_the_odometry():
    p = LocalizationParameters(odom_walk_velocity_translation=1.0, odom_walk_velocity_rotation=0.5)
    errors = map_errors(p, INTERVAL)
    assert np.abs(errors[:2]).max() < 6.0 * math.sqrt(p.map_sample_noise_translation / INTERVAL)


@pytest.mark.parametrize(
    ("changed", "moves"),
    [("odom_walk_velocity_translation", (True, True, False)), ("odom_walk_velocity_rotation", (False, False, True))],
)
def test_each_parameter_has_its_own_effect_on_the_odometry(changed, moves):
    result = drifts(dataclasses.replace(EXACT, **{changed: 0.01}), 0.02)
    assert tuple(spread > 1e-6 for spread in result.std(axis=1)) == moves


def test_at_rest_there_is_no_drift_but_noise_of_the_pose_in_the_map():
    localization = Localization(LocalizationParameters(), Pose(3.0, 4.0, 1.0))
    seen = set()
    for _ in range(100):
        localization.update(Pose(3.0, 4.0, 1.0), INTERVAL)
        assert close(localization.T_odom_base, Pose(3.0, 4.0, 1.0), 1e-12)
        seen.add(localization.T_map_odom)
    assert len(seen) == 100


def test_the_drift_of_a_step_turns_by_at_most_half_a_turn():
    p = dataclasses.replace(EXACT, odom_walk_velocity_rotation=1e6)
    _, _, heading = drifts(p, 0.02)
    assert np.abs(heading).max() == pytest.approx(math.pi)


# Repeatability


def trace(localization: Localization, path: list[Pose]) -> list:
    out = []
    for pose in path[1:]:
        localization.update(pose, INTERVAL)
        out.append((localization.T_odom_base, localization.T_map_odom, localization.odom_covariance))
    return out


def test_equal_seeds_give_equal_runs_and_other_seeds_give_others():
    path = along_a_curve(50)
    runs = [trace(Localization(LocalizationParameters(seed=seed), path[0]), path) for seed in (3, 3, 4)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_a_reset_repeats_the_noise():
    path = along_a_curve(50)
    localization = Localization(LocalizationParameters(), path[0])
    first = trace(localization, path)
    localization.reset(path[0])
    assert (localization.T_odom_base, localization.T_map_odom) == (path[0], Pose())
    assert localization.odom_covariance == PoseCovariance()
    assert trace(localization, path) == first


def test_a_move_by_hand_changes_the_pose_in_the_map_and_not_the_odometry():
    path = along_a_curve(50)
    localization = Localization(LocalizationParameters(), path[0])
    trace(localization, path)
    odom, variance = localization.T_odom_base, localization.odom_covariance
    there = Pose(-30.0, 7.0, -2.0)
    localization.set_pose(there)
    assert localization.T_odom_base == odom
    assert close(localization.T_map_odom.then(localization.T_odom_base), there)
    localization.update(there, INTERVAL)
    assert close(localization.T_odom_base, odom, 1e-12)
    assert localization.odom_covariance == pytest.approx(variance)


def test_after_a_move_by_hand_the_odometry_continues():
    path = along_a_curve(50)
    localization = Localization(EXACT, path[0])
    trace(localization, path)
    odom = localization.T_odom_base
    localization.set_pose(Pose(-30.0, 7.0, -2.0))
    step = Pose(0.02, 0.0, 0.01)
    localization.update(Pose(-30.0, 7.0, -2.0).then(step), INTERVAL)
    assert close(localization.T_odom_base, odom.then(step))
    assert close(localization.T_map_odom.then(localization.T_odom_base), Pose(-30.0, 7.0, -2.0).then(step))
