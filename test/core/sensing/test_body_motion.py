"""Poses between known states, and the motion distortion of spinning lidars."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.scenes import at, driven, scene, standing
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.geometry import Transform, quaternion
from vds_gz.core.sensing.body import BodyState, matrix, mounted, placement, placements
from vds_gz.core.sensing.lidar import LidarModel
from vds_gz.core.sensing.sensors.ouster_os1 import OusterOs1
from vds_gz.core.sensing.sensors.rplidar_a2 import RplidarA2
from vds_gz.core.sensing.sensors.velodyne_vlp16 import VelodyneVlp16
from vds_gz.core.world.shapes import Box, Cylinder

NUMBERS = st.floats(-3.0, 3.0)
POSES = st.builds(
    lambda x, y, z, r, p, h: Transform((x, y, z), quaternion(r, p, h)), *[NUMBERS] * 4, st.floats(-1.5, 1.5), NUMBERS
)
WALL = scene(at(Box((1.0, 1000.0, 100.0)), x=20.5))


@given(st.lists(POSES, min_size=1, max_size=5), st.integers(1, 10**8))
def test_poses_are_exact_at_the_given_states(poses, step):
    states = [BodyState(10**18 + k * step, pose) for k, pose in enumerate(poses)]
    result = placements(states, np.array([state.time for state in states]))
    assert result.rotation == pytest.approx(np.array([matrix(pose.orientation) for pose in poses]), abs=1e-12)
    assert result.position == pytest.approx(np.array([pose.position for pose in poses]), abs=1e-12)


@given(st.lists(POSES, min_size=2, max_size=4), st.lists(st.integers(-(10**8), 5 * 10**8), min_size=1, max_size=9))
def test_poses_are_rotations_and_within_the_positions_of_the_states(poses, times):
    states = [BodyState(k * 10**8, pose) for k, pose in enumerate(poses)]
    result = placements(states, np.array(times))
    assert result.rotation @ result.rotation.swapaxes(1, 2) == pytest.approx(
        np.broadcast_to(np.eye(3), result.rotation.shape), abs=1e-12
    )
    assert np.linalg.det(result.rotation) == pytest.approx(1.0)
    positions = np.array([pose.position for pose in poses])
    assert (result.position >= positions.min(axis=0) - 1e-12).all()
    assert (result.position <= positions.max(axis=0) + 1e-12).all()


@given(st.floats(-20.0, 20.0), st.floats(0.0, 1.0))
def test_a_constant_turn_is_exact_between_the_states(rate, part):
    """The axis is inclined."""

    def pose(time: float) -> Transform:
        return Transform((1.0, 2.0, 3.0), quaternion(0.3, -0.2, 0.5)).then(
            Transform((0.0, 0.0, 0.0), quaternion(rate * time, 0.0, 0.0))
        )

    time = round(1e9 * (1.0 - 0.02 * part))
    result = placements(driven(pose, 1.0, 0.1), np.array([time]))
    assert result.rotation[0] == pytest.approx(matrix(pose(time * 1e-9).orientation), abs=1e-9)


def test_of_states_at_the_same_time_the_last_counts():
    """There are two after a vehicle was placed elsewhere."""
    states = [*standing(1.0), *standing(1.0, x=5.0)]
    assert placements(states, np.array([10**9])).position.tolist() == [[5.0, 0.0, 0.0]]


@given(POSES, NUMBERS, NUMBERS)
def test_a_mount_is_a_transform_on_the_body(pose, x, roll):
    result = placement(pose).then(mounted((x, 0.5, 1.0), (roll, 0.1, -0.4)))
    expected = pose.then(Transform((x, 0.5, 1.0), quaternion(roll, 0.1, -0.4)))
    assert result.position == pytest.approx(expected.position)
    assert result.rotation == pytest.approx(matrix(expected.orientation), abs=1e-12)


# ---------------------------------------------------------------------- motion distortion


def columns(lidar: LidarModel, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Azimuths [rad] and times [s] of the columns of a turn that ends at a time [s]."""
    return lidar.grid.azimuths, lidar.column_times(round(end * 1e9)) * 1e-9


@pytest.mark.parametrize("rate", [-3.0, 0.5, 3.0])
@pytest.mark.parametrize("group", [RplidarA2, VelodyneVlp16, OusterOs1])
def test_turning_before_a_wall(group, rate):
    """At the time t, a column at the azimuth a points along a + w t and has the range d / cos(a + w t)."""
    sensor = group(layout="driver", std_noise=0.0, xyz=(0.0, 0.0, 0.5), max_range=60.0)
    lidar = LidarModel("a", sensor, 0)
    states = driven(lambda time: Transform((0.0, 0.0, 0.0), quaternion(0.0, 0.0, rate * time)), 1.0, 0.1)
    result = lidar.measure(states, WALL).ranges[:, 0]
    azimuths, times = columns(lidar, 1.0)
    assert times[-1] == 1.0
    assert times[0] == pytest.approx(0.9, abs=2e-3)
    cosine = np.cos(azimuths + rate * times) * np.cos(lidar.grid.elevations[0])
    expected = np.where(60.0 * cosine > 20.0, 20.0 / cosine, np.inf)
    sure = np.abs(60.0 * cosine - 20.0) > 1e-6
    assert result[sure] == pytest.approx(expected[sure], abs=1e-5)


@given(st.floats(-30.0, 30.0))
def test_driving_toward_a_wall(speed):
    """At the time t, the wall is v t nearer."""
    lidar = LidarModel("a", RplidarA2(layout="driver", std_noise=0.0, xyz=(0.0, 0.0, 0.5), max_range=60.0), 0)
    result = lidar.measure(driven(lambda time: Transform((speed * (time - 1.0), 0.0, 0.0)), 1.0, 0.1), WALL).ranges[
        :, 0
    ]
    azimuths, times = columns(lidar, 1.0)
    ahead, cosine = 20.0 - speed * (times - 1.0), np.cos(azimuths)
    expected = np.where(ahead < 60.0 * cosine, ahead / cosine, np.inf)
    sure = np.abs(60.0 * cosine - ahead) > 1e-6
    assert result[sure] == pytest.approx(expected[sure], abs=1e-5)


def test_a_standing_vehicle_has_no_distortion():
    around = scene(at(Cylinder(5.0, 10.0)))
    lidar = LidarModel("a", VelodyneVlp16(layout="driver", std_noise=0.0, xyz=(0.0, 0.0, 0.5)), 0)
    result = lidar.measure(standing(1.0), around).ranges
    assert result * np.cos(lidar.grid.elevations) == pytest.approx(np.full(result.shape, 5.0), abs=1e-5)


def test_a_lidar_on_an_arm_is_swung_around():
    """Rays begin at the moving mount of a turning vehicle."""
    arm, rate = 2.0, 1.0
    lidar = LidarModel("a", RplidarA2(layout="driver", std_noise=0.0, xyz=(arm, 0.0, 0.5), max_range=60.0), 0)
    states = driven(lambda time: Transform((0.0, 0.0, 0.0), quaternion(0.0, 0.0, rate * time)), 0.2, 0.1)
    result = lidar.measure(states, WALL).ranges[:, 0]
    azimuths, times = columns(lidar, 0.2)
    cosine = np.cos(azimuths + rate * times)
    ahead = 20.0 - arm * np.cos(rate * times)
    sure = np.abs(60.0 * cosine - ahead) > 1e-6
    expected = np.where(ahead < 60.0 * cosine, ahead / cosine, np.inf)
    assert result[sure] == pytest.approx(expected[sure], abs=1e-5)
    assert math.isfinite(result[400])
